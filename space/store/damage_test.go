package store_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"github.com/wipagent/wipagent/space"
	"github.com/wipagent/wipagent/space/store"
)

// filled returns a file with something in it.
func filled(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "known.db")
	s := open(t, path, store.Limits{})
	tree := &space.TreeChange{Tag: "1", Seen: noon, Documents: []space.KeptDocument{document("lamp.wip", strings.Repeat("text ", 3000))}}
	for i := range 300 {
		tree.Entries = append(tree.Entries, number(i))
	}
	if err := s.KeepTree(house, tree); err != nil {
		t.Fatal(err)
	}
	for _, caller := range []string{"me", "you"} {
		if err := s.KeepKnown(caller, house, &space.TreeChange{Entries: tree.Entries[:50], Documents: tree.Documents}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// refused opens a file that is to be refused, and checks that it stays as it is.
func refused(t *testing.T, path string, want error, says string) {
	t.Helper()
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(path, store.Limits{Wait: 10 * time.Millisecond})
	if err == nil {
		s.Close()
	}
	var e *store.Error
	if !errors.Is(err, want) || !errors.As(err, &e) || e.Path != path || !strings.Contains(err.Error(), says) {
		t.Errorf("Open says %v, expected %v with %q", err, want, says)
	}
	after, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file was changed: %v", err)
	}
}

// TestForeign opens what is no store.
func TestForeign(t *testing.T) {
	database := func(change func(tx *bbolt.Tx) error) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoFreelistSync: true})
			if err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(db.Update(change), db.Close()); err != nil {
				t.Fatal(err)
			}
		}
	}
	text := func(s string) func(t *testing.T, path string) {
		return func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte(s), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, test := range []struct {
		name, says string
		make       func(t *testing.T, path string)
	}{
		{"a text", "choose another file", text("Dear diary,\n")},
		{"a long text", "choose another file", text(strings.Repeat("Dear diary,\n", 10000))},
		{"an empty file", "it is empty", text("")},
		{"a database without anything", "another program", database(func(*bbolt.Tx) error { return nil })},
		{"a database of others", "another program", database(func(tx *bbolt.Tx) error {
			_, err := tx.CreateBucket([]byte("mounts"))
			return err
		})},
		{"a later format", `found format "2", expected "1"`, database(func(tx *bbolt.Tx) error {
			b, err := tx.CreateBucket([]byte("wipagent"))
			if err != nil {
				return err
			}
			return b.Put([]byte("format"), []byte("2"))
		})},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "known.db")
			test.make(t, path)
			refused(t, path, store.ErrForeign, test.says)
		})
	}
	if s, err := store.Open(t.TempDir(), store.Limits{}); !errors.Is(err, store.ErrForeign) {
		t.Errorf("a folder is opened as %v, %v", s, err)
	}
	if s, err := store.Open("", store.Limits{}); err == nil {
		t.Errorf("no name is opened as %v", s)
	}
}

// TestInUse opens a file that is open.
func TestInUse(t *testing.T) {
	path := filled(t)
	s := open(t, path, store.Limits{})
	start := time.Now()
	if other, err := store.Open(path, store.Limits{Wait: 150 * time.Millisecond}); !errors.Is(err, store.ErrInUse) {
		t.Errorf("found %v, %v, expected %v", other, err, store.ErrInUse)
	}
	if waited := time.Since(start); waited < 50*time.Millisecond || waited > 10*time.Second {
		t.Errorf("waited %v, expected about 150ms", waited)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, path, store.Limits{})
}

// TestCut opens files that end early, and one that says it is cut.
func TestCut(t *testing.T) {
	path := filled(t)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{1, 4096, 8192, 12288, 16384, 20480, len(whole) / 2, len(whole) - 16384} {
		if err := os.WriteFile(path, whole[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := store.Open(path, store.Limits{})
		if err == nil {
			// Pages that were allotted and never used may be missing.
			if kept, err := s.Tree(house); err != nil || len(kept.Entries) != 300 {
				t.Errorf("of %d bytes of %d, the tree is %v, %v", size, len(whole), kept, err)
			}
			s.Close()
			continue
		}
		if !errors.Is(err, store.ErrDamaged) && !errors.Is(err, store.ErrForeign) {
			t.Errorf("%d bytes of %d: %v", size, len(whole), err)
		}
	}
	if err := os.WriteFile(path, whole[:len(whole)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, path, store.ErrDamaged, "it was cut")
}

// TestDamaged changes a few bytes anywhere: the file is refused, or nothing in it
// is other than it was.
func TestDamaged(t *testing.T) {
	path := filled(t)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	damaged := 0
	for range runs(t, 200) {
		file := bytes.Clone(whole)
		at := random.IntN(len(file))
		switch random.IntN(3) {
		case 0:
			file[at] ^= 1 << random.IntN(8)
		case 1:
			for i := range min(64, len(file)-at) {
				file[at+i] = byte(random.Int())
			}
		case 2:
			from := random.IntN(len(file) - 4096)
			copy(file[at&^4095:], file[from:from+4096])
		}
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := store.Open(path, store.Limits{})
		if err != nil {
			if damaged++; !errors.Is(err, store.ErrDamaged) && !errors.Is(err, store.ErrForeign) {
				t.Errorf("a damage at %d: %v", at, err)
			}
			continue
		}
		kept, err := s.Tree(house)
		if err != nil || kept == nil || len(kept.Entries) != 300 || kept.Entries[7].Title != number(7).Title {
			t.Errorf("a damage at %d is not seen: %v", at, err)
		}
		s.Close()
	}
	if damaged == 0 {
		t.Error("no damage was found")
	}
	t.Logf("%d damages were found", damaged)
}

package artifact_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/client/artifact"
	"github.com/wipagent/wipagent/space/wip"
)

// list returns a JSON text of n bytes, at least 4.
func list(n int) string { return `["` + strings.Repeat("x", n-4) + `"]` }

// files returns the paths of all files and folders below dir.
func files(t testing.TB, dir string) []string {
	t.Helper()
	found := []string{}
	err := filepath.Walk(dir, func(path string, _ os.FileInfo, err error) error {
		if path != dir {
			found = append(found, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestOwner answers everybody else as if there were nothing (T9).
func TestOwner(t *testing.T) {
	s := open(t, nil)
	k := put(t, s, list(100))
	other := open(t, nil)
	never := put(t, other, list(100)).Path
	for _, who := range []wip.Caller{ben, {}, {ID: "anna "}} {
		for _, path := range []string{k.Path, never, "/", "/x", "", k.Path + "/x", k.Path[1:]} {
			if path == "/" {
				continue
			}
			_, wantErr := s.Fetch(ctx, who, never)
			_, err := s.Fetch(ctx, who, path)
			if err == nil || err.Error() != wantErr.Error() || class(err) != wip.NotFound {
				t.Errorf("fetch of %q by %q: found %v, expected %v", path, who.ID, err, wantErr)
			}
			if _, err := s.FetchTree(ctx, who, path); err == nil || err.Error() != wantErr.Error() {
				t.Errorf("fetch_tree of %q by %q: found %v, expected %v", path, who.ID, err, wantErr)
			}
			for _, op := range []string{"read", "lines", "search", "select", "nothing"} {
				_, wantErr := call(s, who, never, op, `{}`)
				if _, err := call(s, who, path, op, `{}`); err == nil || err.Error() != wantErr.Error() || class(err) != wip.NotFound {
					t.Errorf("%s of %q by %q: found %v, expected %v", op, path, who.ID, err, wantErr)
				}
			}
			if _, _, ok := s.Origin(who, path); ok || s.Gone(who, path) {
				t.Errorf("%q by %q: found an origin, or that it is gone", path, who.ID)
			}
		}
	}
	tree, err := s.FetchTree(ctx, ben, "/")
	if err != nil || len(tree.Children) > 0 || tree.Entry.Object != nil {
		t.Errorf("found the tree %v and error %v, expected the folder alone", tree, err)
	}
	if e, err := s.Fetch(ctx, anna, k.Path); err != nil || e.Indexable || e.Title != "Result of list_things" {
		t.Errorf("found %v and error %v, expected the owner's entry, not indexable", e, err)
	}
}

// TestLifetime drops what is old, also if nobody asks for anything.
func TestLifetime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		s, err := artifact.New(&artifact.Config{Dir: dir, MaxMemory: 100, Lifetime: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		first, second := put(t, s, list(90)), put(t, s, list(500))
		time.Sleep(30 * time.Second)
		third := put(t, s, list(600))
		time.Sleep(30*time.Second - time.Nanosecond)
		must(t, s, first.Path, "read", `{}`)
		must(t, s, second.Path, "read", `{}`)
		time.Sleep(time.Nanosecond)
		for _, k := range []*artifact.Kept{first, second} {
			if _, err := call(s, anna, k.Path, "read", `{}`); class(err) != wip.NotFound {
				t.Errorf("found %v, expected that it has expired, used or not", err)
			}
			if !s.Gone(anna, k.Path) || s.Gone(ben, k.Path) {
				t.Error("expected its owner, and nobody else, to be told that it is gone")
			}
		}
		must(t, s, third.Path, "read", `{}`)
		if s.Gone(anna, third.Path) {
			t.Error("found that what is kept is gone")
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if diff := cmp.Diff(artifact.Usage{Artifacts: 1, DiskBytes: 600}, s.Usage()); diff != "" {
			t.Error(diff)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if diff := cmp.Diff(artifact.Usage{}, s.Usage()); diff != "" {
			t.Error(diff)
		}
		if n := len(files(t, dir)); n != 2 {
			t.Errorf("found %d files and folders, expected the lock and an empty folder", n)
		}
		put(t, s, list(700))
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if u := s.Usage(); u.Artifacts != 0 {
			t.Errorf("found %v, expected that the later ones expire too", u)
		}
	})
}

// TestLimits drops the least recently used, of the owner first.
func TestLimits(t *testing.T) {
	kept := func(s *artifact.Store, who wip.Caller, paths ...string) string {
		var b strings.Builder
		for _, path := range paths {
			if _, _, ok := s.Origin(who, path); ok {
				b.WriteByte('1')
			} else {
				b.WriteByte('0')
			}
		}
		return b.String()
	}
	by := func(t *testing.T, s *artifact.Store, who wip.Caller, n int) string {
		k, err := s.Put(who, []byte(list(n)), artifact.Info{})
		if err != nil {
			t.Fatal(err)
		}
		return k.Path
	}
	t.Run("memory alone", func(t *testing.T) {
		s := open(t, &artifact.Config{MaxMemory: 300})
		a, b, c := by(t, s, anna, 100), by(t, s, anna, 100), by(t, s, anna, 100)
		must(t, s, a, "read", `{}`)
		by(t, s, ben, 150)
		if got := kept(s, anna, a, b, c); got != "100" {
			t.Errorf("found %s, expected the one that was read last", got)
		}
		if _, err := s.Put(anna, []byte(list(301)), artifact.Info{}); !errors.Is(err, artifact.ErrTooLarge) {
			t.Errorf("found %v, expected that it is too large", err)
		}
		if got := kept(s, anna, a); got != "1" {
			t.Error("what cannot be kept drove out what was")
		}
	})
	t.Run("an owner", func(t *testing.T) {
		s := open(t, &artifact.Config{MaxOwner: 250})
		other := by(t, s, ben, 200)
		a, b := by(t, s, anna, 100), by(t, s, anna, 100)
		c := by(t, s, anna, 100)
		if got := kept(s, anna, a, b, c) + kept(s, ben, other); got != "0111" {
			t.Errorf("found %s, expected that the owner's oldest went", got)
		}
		if _, err := s.Put(anna, []byte(list(251)), artifact.Info{}); !errors.Is(err, artifact.ErrTooLarge) {
			t.Errorf("found %v, expected that it is too large", err)
		}
	})
	t.Run("disk", func(t *testing.T) {
		dir := t.TempDir()
		s := open(t, &artifact.Config{Dir: dir, MaxMemory: 100, MaxDisk: 1000})
		inMemory := by(t, s, anna, 100)
		a, b, c := by(t, s, anna, 400), by(t, s, anna, 400), by(t, s, anna, 400)
		if got := kept(s, anna, inMemory, a, b, c); got != "1011" {
			t.Errorf("found %s, expected that the oldest on disk went", got)
		}
		if diff := cmp.Diff(artifact.Usage{Artifacts: 3, MemoryBytes: 100, DiskBytes: 800}, s.Usage()); diff != "" {
			t.Error(diff)
		}
		if n := len(files(t, dir)); n != 4 {
			t.Errorf("found %d files and folders, expected 4", n)
		}
		if _, err := s.Put(anna, []byte(list(1001)), artifact.Info{}); !errors.Is(err, artifact.ErrTooLarge) {
			t.Errorf("found %v, expected that it is too large", err)
		}
	})
	t.Run("number", func(t *testing.T) {
		s := open(t, &artifact.Config{MaxArtifacts: 2})
		a, b, c := by(t, s, anna, 10), by(t, s, ben, 10), by(t, s, anna, 10)
		if got := kept(s, anna, a, c) + kept(s, ben, b); got != "011" {
			t.Errorf("found %s, expected the last two", got)
		}
		if diff := cmp.Diff(artifact.Usage{Artifacts: 2, MemoryBytes: 20}, s.Usage()); diff != "" {
			t.Error(diff)
		}
	})
}

// TestPutRefuses keeps nothing of nobody, of what is too large, and of what is
// no JSON.
func TestPutRefuses(t *testing.T) {
	s := open(t, nil)
	for name, c := range map[string]struct {
		who  wip.Caller
		text string
		want error
	}{
		"nobody":    {wip.Caller{}, `[1]`, artifact.ErrTooLarge},
		"too large": {anna, list(artifact.MaxBytes + 1), artifact.ErrTooLarge},
		"no JSON":   {anna, `[1`, nil},
		"no UTF-8":  {anna, "[\"\xff\"]", nil},
	} {
		if _, err := s.Put(c.who, []byte(c.text), artifact.Info{}); err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: found error %v", name, err)
		}
	}
	if _, err := artifact.New(&artifact.Config{MaxMemory: -1}); err == nil {
		t.Error("found no error of a negative bound")
	}
	if diff := cmp.Diff(artifact.Usage{}, s.Usage()); diff != "" {
		t.Error(diff)
	}
}

// TestFiles keeps files for their owner's eyes, removes them at the end, and
// what dead processes left at the beginning.
func TestFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "made", "here")
	cfg := &artifact.Config{Dir: dir, MaxMemory: 1}
	alive := open(t, cfg)
	k := put(t, alive, list(1000))
	for _, path := range files(t, dir) {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if mode := info.Mode().Perm(); mode != 0o600 && !(info.IsDir() && mode == 0o700) {
			t.Errorf("%s: found mode %o, expected that nobody else can read it", path, mode)
		}
		if strings.Contains(path, k.Path[1:]) && info.Size() != 1000 {
			t.Errorf("found %d bytes, expected 1000", info.Size())
		}
	}
	left := filepath.Join(dir, "wipagent-artifacts-abcdefghijklmnopqrstuvwxyz")
	for _, path := range []string{left + "/x", filepath.Join(dir, "wipagent-artifacts-x/x"), filepath.Join(dir, "mine.lock")} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(left+".lock", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	second := open(t, cfg)
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("found %v, expected that what a dead process left is gone", err)
	}
	for _, path := range []string{filepath.Join(dir, "wipagent-artifacts-x/x"), filepath.Join(dir, "mine.lock")} {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%s is not ours and is gone: %v", path, err)
		}
	}
	must(t, alive, k.Path, "read", `{}`)
	put(t, second, list(1000))
	before := len(files(t, dir))
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	if after := len(files(t, dir)); before-after != 3 {
		t.Errorf("found %d files and folders of %d after the end, expected three fewer", after, before)
	}
	if _, err := second.Put(anna, []byte(`[1]`), artifact.Info{}); err == nil {
		t.Error("kept something after the end")
	}
}

// TestBrokenFile fails cleanly where the disk does.
func TestBrokenFile(t *testing.T) {
	dir := t.TempDir()
	s := open(t, &artifact.Config{Dir: dir, MaxMemory: 1})
	k := put(t, s, list(1000))
	for _, path := range files(t, dir) {
		if strings.HasSuffix(path, k.Path) {
			if err := os.Truncate(path, 500); err != nil {
				t.Fatal(err)
			}
		}
	}
	for op, args := range map[string]string{"read": `{}`, "lines": `{}`, "search": `{"query":"x"}`, "select": `{"path":"0"}`} {
		if _, err := call(s, anna, k.Path, op, args); class(err) != wip.Internal {
			t.Errorf("%s: found %v, expected a defect", op, err)
		}
	}
	for _, path := range files(t, dir) {
		if strings.HasSuffix(path, k.Path) {
			os.Remove(path)
		}
	}
	if _, err := call(s, anna, k.Path, "read", `{}`); class(err) != wip.NotFound {
		t.Errorf("found %v, expected that it is gone", err)
	}
}

// TestConcurrent puts, reads and drops at once.
func TestConcurrent(t *testing.T) {
	s := open(t, &artifact.Config{Dir: t.TempDir(), MaxMemory: 4000, MaxDisk: 8000, MaxOwner: 5000})
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			who := wip.Caller{ID: fmt.Sprint("caller ", w%4)}
			for i := range 100 {
				text := fmt.Sprintf(`["%d %d","%s"]`, w, i, strings.Repeat("x", 100+i*7))
				k, err := s.Put(who, []byte(text), artifact.Info{})
				if errors.Is(err, artifact.ErrTooLarge) {
					continue // others hold all there is, on their way
				}
				if err != nil {
					t.Error(err)
					return
				}
				r, err := call(s, who, k.Path, "read", `{}`)
				if err == nil && r.Get("json").Str != text || err != nil && class(err) != wip.NotFound {
					t.Errorf("found %v and error %v, expected what was put, or nothing", r, err)
				}
				if r, err := call(s, who, k.Path, "search", `{"query":"`+fmt.Sprintf("%d %d", w, i)+`"}`); err == nil && r.Get("total_matching").Int() != 1 {
					t.Errorf("found %v, expected one match", r)
				}
				if u := s.Usage(); u.MemoryBytes > 4000 || u.DiskBytes > 8000 {
					t.Errorf("found %v, expected at most 4000 and 8000 bytes", u)
				}
			}
		})
	}
	wg.Wait()
}

package store_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wipagent/wipagent/space"
	"github.com/wipagent/wipagent/space/store"
)

func keep(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// known lists the paths that are kept of a caller.
func known(t testing.TB, s *store.Store, caller string) (paths []string) {
	t.Helper()
	kept, err := s.Known(caller, house)
	keep(t, err)
	if kept == nil {
		return nil
	}
	for _, e := range kept.Entries {
		paths = append(paths, e.Path)
	}
	return paths
}

// TestKnownLimit checks that those entries go that were seen longest ago.
func TestKnownLimit(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "known.db"), store.Limits{Known: 10})
	for _, i := range []int{5, 1, 2, 3, 4, 6, 7, 8, 9, 10} {
		keep(t, s.KeepKnown("me", house, &space.TreeChange{Entries: []space.KeptEntry{number(i)}}))
	}
	if got := known(t, s, "me"); len(got) != 10 {
		t.Errorf("found %q, expected 10 entries", got)
	}
	again := number(1)
	again.Seen = noon.Add(time.Hour)
	keep(t, s.KeepKnown("me", house, &space.TreeChange{Entries: []space.KeptEntry{again, number(11)}}))
	if got := known(t, s, "me"); len(got) != 9 || slices.Contains(got, number(2).Path) || !slices.Contains(got, again.Path) {
		t.Errorf("found %q, expected 9 entries without the ones seen longest ago", got)
	}
}

// TestCallersLimit checks that the caller goes of whom something was put longest
// ago.
func TestCallersLimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "known.db")
	s := open(t, path, store.Limits{Callers: 3})
	for _, caller := range []string{"a", "b", "c", "a", "d"} {
		keep(t, s.KeepKnown(caller, house, &space.TreeChange{Entries: []space.KeptEntry{number(1)}, Documents: []space.KeptDocument{document("lamp.wip", caller)}}))
	}
	for caller, want := range map[string]int{"a": 1, "b": 0, "c": 1, "d": 1} {
		if got := known(t, s, caller); len(got) != want {
			t.Errorf("of %s there is %q, expected %d entries", caller, got, want)
		}
	}
	keep(t, s.Close())
	open(t, path, store.Limits{}) // the count of the documents' names is right
}

// TestTreeLimit checks that a tree that is too large is not kept, and is told of.
func TestTreeLimit(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "known.db"), store.Limits{Entries: 5})
	c := &space.TreeChange{Tag: "1", Seen: noon}
	for i := range 5 {
		c.Entries = append(c.Entries, number(i))
	}
	keep(t, s.KeepTree(house, c))
	if kept, err := s.Tree(house); err != nil || len(kept.Entries) != 5 {
		t.Errorf("found %v, %v", kept, err)
	}
	keep(t, s.KeepTree(house, &space.TreeChange{Tag: "2", Since: noon, Seen: noon.Add(1), Entries: []space.KeptEntry{number(6)}}))
	if err := s.Sync(); err == nil || !strings.Contains(err.Error(), "6 entries, expected at most 5") {
		// The queue may have been written before Sync was called.
		if err = s.KeepKnown("me", house, &space.TreeChange{}); err == nil {
			t.Error("nobody was told")
		}
	}
	if kept, err := s.Tree(house); kept != nil {
		t.Errorf("found %v, %v", kept, err)
	}
}

// TestBytesLimit checks that the room goes to what was used last, and to trees
// before callers.
func TestBytesLimit(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "known.db"), store.Limits{Bytes: 100_000})
	big := func(i int) *space.TreeChange {
		return &space.TreeChange{Seen: noon, Documents: []space.KeptDocument{document("big.wip", strings.Repeat(fmt.Sprint(i), 30_000))}, Entries: []space.KeptEntry{number(i)}}
	}
	barn := space.Place{Path: "/barn"}
	keep(t, s.KeepTree(house, big(1)))
	keep(t, s.KeepKnown("a", house, big(2)))
	keep(t, s.KeepKnown("b", house, big(3)))
	keep(t, s.KeepTree(barn, big(4)))
	tree := func(at space.Place) bool {
		kept, err := s.Tree(at)
		keep(t, err)
		return kept != nil
	}
	got := []bool{tree(house), tree(barn), len(known(t, s, "a")) > 0, len(known(t, s, "b")) > 0}
	if diff := cmp.Diff([]bool{true, true, false, true}, got); diff != "" {
		t.Errorf("house, barn, a, b:\n%s", diff)
	}
	keep(t, s.KeepTree(space.Place{Path: "/loft"}, big(5)))
	keep(t, s.KeepTree(space.Place{Path: "/shed"}, big(6)))
	if tree(house) || !tree(barn) || len(known(t, s, "b")) > 0 {
		t.Error("other things went than what was used longest ago")
	}
}

// FuzzOpened reads what a file may have as an entry.
func FuzzEntry(f *testing.F) {
	for _, e := range []space.KeptEntry{entry("/a", "A"), {}, number(3)} {
		f.Add([]byte(e.Path), store.EntryValue([]byte(e.Path), &e))
	}
	f.Fuzz(func(t *testing.T, key, value []byte) {
		store.Seal(key, value)
		e, err := store.ReadEntry(key, value)
		if err != nil {
			return
		}
		again, err := store.ReadEntry(key, store.EntryValue(key, &e))
		if diff := cmp.Diff(e, again, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("%v %s", err, diff)
		}
		if cut := bytes.Clone(value[:len(value)-1]); len(cut) > 4 {
			if _, err := store.ReadEntry(key, cut); err == nil {
				t.Error("a value that was cut is read")
			}
		}
	})
}

// BenchmarkKnown writes what callers learn, one entry at a time: in bursts, of
// which one flush of the disk takes many, and each on the disk before the next.
func BenchmarkKnown(b *testing.B) {
	for name, every := range map[string]int{"burst": 1000, "one by one": 1} {
		b.Run(name, func(b *testing.B) {
			s := open(b, filepath.Join(b.TempDir(), "known.db"), store.Limits{})
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				n++
				keep(b, s.KeepKnown(fmt.Sprint("caller ", n%50), house, &space.TreeChange{Entries: []space.KeptEntry{number(n % 900)}}))
				if n%every == 0 {
					keep(b, s.Sync())
				}
			}
			keep(b, s.Sync())
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "entries/s")
		})
	}
}

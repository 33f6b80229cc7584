package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"crypto/sha256"
	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/space"
	"github.com/wipagent/wipagent/space/store"
	"github.com/wipagent/wipagent/space/wip"
)

var (
	house = space.Place{Path: "/house", Identity: "http://house.example"}
	noon  = time.Unix(1_700_000_000, 12345)
)

func open(t testing.TB, path string, limits store.Limits) *store.Store {
	t.Helper()
	s, err := store.Open(path, limits)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func entry(path, title string) space.KeptEntry {
	return space.KeptEntry{Entry: wip.Entry{
		Path: path, Title: title, Summary: "A summary.", Indexable: true, Tag: "tag of " + path,
		Object: &wip.Object{ID: "object " + path, Interfaces: []wip.InterfaceRef{{Document: "lamp.wip", Interface: "Lamp"}}},
	}}
}

func document(name, text string) space.KeptDocument {
	return space.KeptDocument{Name: name, SHA256: sha256.Sum256([]byte(text)), Text: []byte(text)}
}

func seen(e space.KeptEntry, at time.Time) space.KeptEntry {
	e.Seen = at
	return e
}

// TestKept puts a tree, changes it, and finds it in a file that is opened again.
func TestKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "folder", "known.db")
	s := open(t, path, store.Limits{})
	folder := space.KeptEntry{Entry: wip.Entry{Path: "/"}}
	changes := []*space.TreeChange{
		{Tag: "1", Seen: noon, Entries: []space.KeptEntry{folder, entry("/a", "A"), entry("/b", "B")}, Documents: []space.KeptDocument{document("lamp.wip", "one"), document("more.wip", "one")}},
		{Tag: "2", Seen: noon.Add(1), Since: noon, Gone: []string{"/a", "/none"}, Entries: []space.KeptEntry{entry("/b", "B2"), entry("/c", "C")}, Documents: []space.KeptDocument{document("lamp.wip", "two")}},
	}
	for _, c := range changes {
		if err := s.KeepTree(house, c); err != nil {
			t.Fatal(err)
		}
	}
	want := &space.KeptTree{
		Tag: "2", Seen: noon.Add(1), Entries: []space.KeptEntry{folder, entry("/b", "B2"), entry("/c", "C")},
		Documents: []space.KeptDocument{document("lamp.wip", "two"), document("more.wip", "one")},
	}
	expect := func(at space.Place, want *space.KeptTree) {
		t.Helper()
		got, err := s.Tree(at)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	expect(house, want)
	known := &space.TreeChange{Entries: []space.KeptEntry{seen(entry("/d", "D"), noon), seen(entry("/e", "E"), noon)}, Documents: []space.KeptDocument{document("lamp.wip", "one")}}
	if err := s.KeepKnown("me", house, known); err != nil {
		t.Fatal(err)
	}
	if err := s.KeepKnown("me", house, &space.TreeChange{Gone: []string{"/d"}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("found %v, %v, expected a file of mode 0600", info.Mode(), err)
	}
	s = open(t, path, store.Limits{})
	expect(house, want)
	got, err := s.Known("me", house)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&space.KeptTree{Entries: known.Entries[1:], Documents: known.Documents}, got); diff != "" {
		t.Error(diff)
	}
	for name, known := range map[string]func() (*space.KeptTree, error){
		"another caller": func() (*space.KeptTree, error) { return s.Known("other", house) },
		"another mount": func() (*space.KeptTree, error) {
			return s.Known("me", space.Place{Path: "/barn", Identity: house.Identity})
		},
		"another Host": func() (*space.KeptTree, error) { return s.Known("me", space.Place{Path: "/house", Identity: "other"}) },
	} {
		if got, err := known(); got != nil || err != nil {
			t.Errorf("%s: found %v, %v, expected nothing", name, got, err)
		}
	}
	expect(space.Place{Path: "/house", Identity: "other"}, nil)
	// A change of another state than what is kept leaves nothing to be believed.
	if err := s.KeepTree(house, changes[1]); err != nil {
		t.Fatal(err)
	}
	expect(house, nil)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.KeepTree(house, changes[0]); !errors.Is(err, store.ErrClosed) {
		t.Errorf("a closed store says %v, expected %v", err, store.ErrClosed)
	}
}

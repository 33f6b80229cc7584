package space_test

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/space"
	"github.com/wipagent/wipagent/space/store"
	"github.com/wipagent/wipagent/space/wip"
)

// memory is a Store in which what was kept can be changed.
type memory struct {
	trees, known map[string]*space.KeptTree
	err          error
}

func newMemory() *memory {
	return &memory{trees: map[string]*space.KeptTree{}, known: map[string]*space.KeptTree{}}
}

func (m *memory) Tree(at space.Place) (*space.KeptTree, error) {
	return m.trees[at.Path+at.Identity], m.err
}

func (m *memory) Known(caller string, at space.Place) (*space.KeptTree, error) {
	return m.known[caller+at.Path+at.Identity], m.err
}

func (m *memory) KeepTree(at space.Place, c *space.TreeChange) error {
	m.trees[at.Path+at.Identity] = changed(m.trees[at.Path+at.Identity], c)
	return m.err
}

func (m *memory) KeepKnown(caller string, at space.Place, c *space.TreeChange) error {
	m.known[caller+at.Path+at.Identity] = changed(m.known[caller+at.Path+at.Identity], c)
	return m.err
}

func changed(t *space.KeptTree, c *space.TreeChange) *space.KeptTree {
	next := &space.KeptTree{Tag: c.Tag, Seen: c.Seen, Documents: c.Documents}
	if t != nil {
		next.Documents = append(slices.Clone(t.Documents), c.Documents...) // the latest of a name counts
		next.Entries = slices.DeleteFunc(slices.Clone(t.Entries), func(e space.KeptEntry) bool {
			return slices.Contains(c.Gone, e.Path) || slices.ContainsFunc(c.Entries, func(n space.KeptEntry) bool { return n.Path == e.Path })
		})
	}
	next.Entries = append(next.Entries, c.Entries...)
	return next
}

var here = &space.MountOptions{Identity: "http://house.example as nobody"}

// down is a Host that does not answer.
func down() *host {
	h := newHost(nil)
	h.err = &wip.Failure{Class: wip.Transient, Message: "down"}
	return h
}

// TestRestart ends a Space and makes another of the same Store: it has what the
// first one had, as old as it is, without asking the Host.
func TestRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		me := wip.Caller{ID: "me"}
		kept := newMemory()
		h := newSource(lampHost())
		h.entries["/cellar"] = hidden(object("/cellar", "Cellar", "lamp.wip", "Lamp"))
		h.entries["/attic"] = hidden(object("/attic", "Attic", "lamp.wip", "Lamp"))
		s := space.New(&space.Config{Store: kept})
		mount(t, s, "/m", h, &space.MountOptions{Identity: here.Identity, Title: "The House"})
		refresh(t, s)
		before := described(s)
		time.Sleep(time.Minute)
		for _, path := range []string{"/m/cellar", "/m/attic"} {
			if _, err := s.Resolve(t.Context(), me, path); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Minute)
		delete(h.entries, "/attic")
		s.Forget(me, "/m/attic")
		if _, err := s.Resolve(t.Context(), me, "/m/attic"); !errors.Is(err, space.ErrNotFound) {
			t.Fatal(err)
		}

		off := down()
		s = space.New(&space.Config{Store: kept})
		mount(t, s, "/m", off, here)
		if diff := cmp.Diff(before, described(s)); diff != "" {
			t.Errorf("after a restart (- before, + after):\n%s", diff)
		}
		if age := s.View(all).Age("/"); age != 2*time.Minute {
			t.Errorf("what is discoverable is %v old, expected 2m", age)
		}
		if n, err := s.Resolve(t.Context(), me, "/m/cellar"); err != nil || n.Age() != time.Minute || n.Title != "Cellar" || len(n.Interfaces) != 1 {
			t.Errorf("found %+v, %v, expected an entry that is a minute old", n, err)
		}
		if n, err := s.Resolve(t.Context(), wip.Caller{ID: "other"}, "/m/cellar"); err == nil {
			t.Errorf("another caller knows %+v", n)
		}
		if got := paths(s.Children(me, "/m")); !slices.Contains(got, "/m/cellar") || slices.Contains(got, "/m/attic") {
			t.Errorf("the caller knows %q", got)
		}
		if n, err := s.Resolve(t.Context(), me, "/m"); err != nil || n.Title != "House" {
			t.Errorf("the mount has the title %q, expected its Host's", n.Title)
		}
		off.asked = nil
		if err := s.RefreshStale(t.Context(), wip.Caller{}); err != nil || len(off.asked) > 0 {
			t.Errorf("a tree two minutes old was asked for: %v, %q", err, off.asked)
		}
		// The next state is asked for as a change.
		s = space.New(&space.Config{Store: kept})
		mount(t, s, "/m", h, here)
		h.since = nil
		refresh(t, s)
		if diff := cmp.Diff([]string{"state 0"}, h.since); diff != "" {
			t.Error(diff)
		}
	})
}

// TestNotRestored lists what a Store may have that is not to be used.
func TestNotRestored(t *testing.T) {
	lamp := object("/lamp", "Lamp", "lamp.wip", "Lamp")
	tree := func(seen time.Time, text string, entries ...wip.Entry) *space.KeptTree {
		kept := &space.KeptTree{Tag: "1", Seen: seen, Documents: []space.KeptDocument{{Name: "lamp.wip", Text: []byte(text)}}}
		for _, e := range entries {
			kept.Entries = append(kept.Entries, space.KeptEntry{Entry: e, Seen: seen})
		}
		return kept
	}
	now := time.Now()
	long := lamp
	long.Title = strings.Repeat("Lamp ", 100)
	link := lamp
	link.Title = "See http://evil.example/now"
	digest := object("/lamp", "Lamp", "lamp.wip", "Lamp")
	digest.Object.Interfaces[0].SHA256 = strings.Repeat("0", 64)
	for _, test := range []struct {
		name string
		opt  *space.MountOptions
		kept *space.KeptTree
		want string // of the title; "-" for nothing
	}{
		{"as it was", here, tree(now, lampDocument, lamp), "Lamp"},
		{"another Host", &space.MountOptions{Identity: "http://barn.example"}, tree(now, lampDocument, lamp), "-"},
		{"a Host without identity", nil, tree(now, lampDocument, lamp), "-"},
		{"of the future", here, tree(now.Add(time.Hour), lampDocument, lamp), "-"},
		{"of no time", here, tree(time.Time{}, lampDocument, lamp), "-"},
		{"a broken document", here, tree(now, "interface", lamp), "-"},
		{"no document", here, tree(now, "", lamp), "-"},
		{"another digest", here, tree(now, lampDocument, digest), "-"},
		{"a path that escapes", here, tree(now, lampDocument, object("/../lamp", "", "lamp.wip", "Lamp")), "-"},
		{"a long title", here, tree(now, lampDocument, long), strings.TrimSpace(long.Title[:125])},
		{"a link", here, tree(now, lampDocument, link), "See [link removed]"},
	} {
		t.Run(test.name, func(t *testing.T) {
			kept := newMemory()
			kept.trees["/m"+here.Identity] = test.kept
			kept.known["me/m"+here.Identity] = test.kept
			s := space.New(&space.Config{Store: kept})
			mount(t, s, "/m", down(), test.opt)
			found := s.View(all).Search(t.Context(), "/", "lamp").Hits
			got := "-"
			if len(found) > 0 {
				got = found[0].Title
			}
			if !strings.HasPrefix(got, test.want) {
				t.Errorf("found %q, expected %q", got, test.want)
			}
			n, err := s.Resolve(t.Context(), wip.Caller{ID: "me"}, "/m/lamp")
			if (err == nil && len(n.Interfaces) > 0) != (test.want != "-") {
				t.Errorf("known: %+v, %v", n, err)
			}
		})
	}
}

// TestStoreTrouble checks that a Store that fails is told of and harms nothing.
func TestStoreTrouble(t *testing.T) {
	kept := newMemory()
	kept.err = errors.New("no room")
	s := space.New(&space.Config{Store: kept})
	mount(t, s, "/m", lampHost(), here)
	if err := s.Refresh(t.Context(), wip.Caller{}, "/"); err == nil || !strings.Contains(err.Error(), "mount /m: no room") {
		t.Errorf("Refresh says %v", err)
	}
	if len(discoverable(s)) == 0 {
		t.Error("nothing is discoverable")
	}
}

// TestNothingSecret looks into the file for what must not be there.
func TestNothingSecret(t *testing.T) {
	path := filepath.Join(t.TempDir(), "known.db")
	kept, err := store.Open(path, store.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	s := space.New(&space.Config{Store: kept})
	mount(t, s, "/m", lampHost(), &space.MountOptions{Identity: "http://user:password@house.example"})
	refresh(t, s)
	if _, err := s.Resolve(t.Context(), wip.Caller{ID: "somebody@example.com"}, "/m/hall/lamp"); err != nil {
		t.Fatal(err)
	}
	if err := kept.Close(); err != nil {
		t.Fatal(err)
	}
	content := readFile(t, path)
	for _, secret := range []string{"password", "house.example", "somebody"} {
		if strings.Contains(content, secret) {
			t.Errorf("the file has %q", secret)
		}
	}
	if !strings.Contains(content, "/hall/lamp") {
		t.Error("the file has no entry")
	}
}

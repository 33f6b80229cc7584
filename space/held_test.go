package space_test

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space"
	"github.com/wipagent/wipagent/space/store"
	"github.com/wipagent/wipagent/space/wip"
)

// source is a host that tells what has changed.
type source struct {
	*host
	states map[string]map[string]wip.Entry // by tag
	spoil  func(*wip.Change)               // makes of a change what a bad Host says
	since  []string                        // the tags that were asked for
}

func newSource(h *host) *source { return &source{host: h, states: map[string]map[string]wip.Entry{}} }

func (h *source) FetchTreeSince(ctx context.Context, c wip.Caller, path, tag string) (wip.Change, error) {
	tree, err := h.host.FetchTree(ctx, c, path)
	if err != nil {
		return wip.Change{}, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.since = append(h.since, tag)
	change := wip.Change{Tag: fmt.Sprint("state ", len(h.states)), Whole: &tree}
	h.states[change.Tag] = maps.Clone(h.entries)
	old, known := h.states[tag]
	if known {
		change.Whole = nil
		changed := func(at string) bool { return !cmp.Equal(old[at], h.entries[at]) }
		// What is now below an entry that was not there was below another one.
		moved := func(at string) bool {
			return nearestAbove(old, at) != nearestAbove(h.entries, at)
		}
		for _, at := range slices.SortedFunc(maps.Keys(old), space.ComparePaths) {
			if _, ok := h.entries[at]; (!ok || moved(at)) && !slices.ContainsFunc(change.Removed, func(up string) bool { return space.Within(at, up) }) {
				change.Removed = append(change.Removed, at)
			}
		}
		// An entry that stays loses what is below it where something above is removed.
		lost := func(at string) bool {
			return slices.ContainsFunc(change.Removed, func(up string) bool { return space.Within(at, up) })
		}
		var tops []string // those that are replaced with all below
		for _, at := range slices.SortedFunc(maps.Keys(h.entries), space.ComparePaths) {
			if (changed(at) || lost(at)) && (len(tops) == 0 || !space.Within(at, tops[len(tops)-1])) {
				tops = append(tops, at)
				change.Replaced = append(change.Replaced, *find(&tree, at))
			}
		}
		if h.spoil != nil {
			h.spoil(&change)
		}
	}
	return change, nil
}

// find returns the tree at path in a tree.
func find(t *wip.Tree, path string) *wip.Tree {
	if t.Entry.Path == path {
		return t
	}
	for i := range t.Children {
		if found := find(&t.Children[i], path); found != nil {
			return found
		}
	}
	return nil
}

// described tells all that a search can find, and how.
func described(s *space.Space) []string {
	var list []string
	s.View(func(n *space.Node, op *idl.Operation) bool {
		list = append(list, strings.Join([]string{n.Path, n.Title, n.Summary, n.ObjectID, n.Tag, op.Signature()}, "|"))
		return false
	})
	return list
}

func refresh(t testing.TB, s *space.Space) {
	t.Helper()
	if err := s.Refresh(t.Context(), wip.Caller{}, "/"); err != nil {
		t.Fatal(err)
	}
}

const otherDocument = "package other;\ninterface Other {\n  other() -> string;\n}\n"

// TestChangesMakeTheTree lets a Host change at random: whoever is told of changes
// knows what one knows who is told all, and so does who reads what was kept.
func TestChangesMakeTheTree(t *testing.T) {
	path := filepath.Join(t.TempDir(), "known.db")
	kept, err := store.Open(path, store.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kept.Close() })
	runs := 0
	rapid.Check(t, func(r *rapid.T) {
		h := newSource(newHost(map[string]string{"lamp.wip": lampDocument, "other.wip": otherDocument}, folder("/", "")))
		runs++
		place := &space.MountOptions{Identity: fmt.Sprint("run ", runs)}
		s := space.New(&space.Config{Store: kept})
		mount(t, s, "/m", h, place)
		refresh(t, s)
		segments := rapid.SampledFrom([]string{"a", "b", "a b", "a.b", "é"})
		for range rapid.IntRange(1, 6).Draw(r, "refreshes") {
			for range rapid.IntRange(0, 5).Draw(r, "changes") {
				at := "/" + strings.Join(rapid.SliceOfN(segments, 1, 3).Draw(r, "path"), "/")
				h.change(func() {
					switch title := rapid.SampledFrom([]string{"One", "Two", ""}).Draw(r, "title"); rapid.IntRange(0, 4).Draw(r, "kind") {
					case 0:
						delete(h.entries, at)
					case 1:
						h.entries[at] = object(at, title, "other.wip", "Other")
					case 2:
						h.entries[at] = hidden(object(at, title, "lamp.wip", "Lamp"))
					default:
						h.entries[at] = object(at, title, "lamp.wip", "Lamp")
					}
				})
			}
			refresh(t, s)
			fresh := space.New(nil)
			mount(t, fresh, "/m", h.host, nil)
			refresh(t, fresh)
			if diff := cmp.Diff(described(fresh), described(s)); diff != "" {
				r.Fatalf("after a change (- whole, + changes):\n%s", diff)
			}
		}
		again := space.New(&space.Config{Store: kept})
		mount(t, again, "/m", newSource(newHost(nil)), place)
		if diff := cmp.Diff(described(s), described(again)); diff != "" {
			r.Fatalf("of what was kept (- known, + kept):\n%s", diff)
		}
		if len(h.since) > 1 && slices.Contains(h.since[1:], "") {
			r.Fatalf("the tags that were asked for are %q: the whole tree was asked for again", h.since)
		}
	})
}

// TestUnchanged checks that a tree that is as it was makes no new View, and a
// younger one.
func TestUnchanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newSource(lampHost())
		s := space.New(nil)
		mount(t, s, "/m", h, nil)
		refresh(t, s)
		v := s.View(all)
		time.Sleep(time.Minute)
		refresh(t, s)
		if s.View(all) != v || v.Age("/") != 0 {
			t.Errorf("the View is another, or %v old", v.Age("/"))
		}
		// A document's text may change where no entry does.
		h.change(func() { h.documents["lamp.wip"] = strings.Replace(lampDocument, "colour", "hue", 1) })
		refresh(t, s)
		if s.View(all) == v {
			t.Error("another document makes no other View")
		}
		if diff := cmp.Diff([]string{"", "state 0", "state 1"}, h.since); diff != "" {
			t.Error(diff)
		}
	})
}

// TestUnfitChanges lets a Host tell changes that cannot be: the whole tree is
// asked for, and it counts.
func TestUnfitChanges(t *testing.T) {
	for name, spoil := range map[string]func(*wip.Change){
		"the root is removed":  func(c *wip.Change) { c.Removed = []string{"/"} },
		"outside of the mount": func(c *wip.Change) { c.Replaced = []wip.Tree{{Entry: folder("/../other", "")}} },
		"no path":              func(c *wip.Change) { c.Replaced = []wip.Tree{{}} },
		"one within the other": func(c *wip.Change) {
			c.Replaced = []wip.Tree{{Entry: folder("/hall", "")}, {Entry: folder("/hall/x", "")}}
		},
		"the same twice": func(c *wip.Change) { c.Replaced = []wip.Tree{{Entry: folder("/x", "")}, {Entry: folder("/x", "")}} },
		"an entry above what holds it": func(c *wip.Change) {
			c.Replaced = []wip.Tree{branch(folder("/x", ""), wip.Tree{Entry: folder("/", "")})}
		},
		"too many": func(c *wip.Change) {
			for i := range 50 {
				c.Replaced = append(c.Replaced, wip.Tree{Entry: folder(fmt.Sprintf("/x%d", i), "")})
			}
		},
		"a bad identifier": func(c *wip.Change) {
			e := object("/x", "", "lamp.wip", "Lamp")
			e.Object.ID = ""
			c.Replaced = []wip.Tree{{Entry: e}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newSource(lampHost())
			s := space.New(nil)
			mount(t, s, "/m", h, &space.MountOptions{MaxEntries: 40})
			refresh(t, s)
			before := described(s)
			h.spoil = spoil
			if err := s.Refresh(t.Context(), wip.Caller{}, "/"); err == nil || !strings.Contains(err.Error(), "do not fit the tree") {
				t.Errorf("Refresh = %v, expected it to say that the changes do not fit", err)
			}
			if diff := cmp.Diff(before, described(s)); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff([]string{"", "state 0", ""}, h.since); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("unasked", func(t *testing.T) {
		h := &unasked{lampHost()}
		s := space.New(nil)
		mount(t, s, "/m", h, nil)
		if err := s.Refresh(t.Context(), wip.Caller{}, "/"); err == nil || !strings.Contains(err.Error(), "asked for the whole tree") {
			t.Errorf("Refresh says %v", err)
		}
	})
}

// unasked tells changes of nothing.
type unasked struct{ *host }

func (*unasked) FetchTreeSince(context.Context, wip.Caller, string, string) (wip.Change, error) {
	return wip.Change{Tag: "1"}, nil
}

// TestMountLimits checks that a mount's own bounds count.
func TestMountLimits(t *testing.T) {
	var entries []wip.Entry
	for i := range 100 {
		entries = append(entries, object(fmt.Sprintf("/lamp-%02d", i), "", "lamp.wip", "Lamp"))
	}
	for _, test := range []struct {
		name string
		opt  space.MountOptions
		want int
	}{
		{"the space's", space.MountOptions{}, 10},
		{"more", space.MountOptions{MaxEntries: 200}, 101},
		{"fewer", space.MountOptions{MaxEntries: 5}, 5},
		{"operations", space.MountOptions{MaxEntries: 200, MaxOperations: 30}, 16},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := newSource(newHost(map[string]string{"lamp.wip": lampDocument}, append(entries, folder("/", ""))...))
			s := space.New(&space.Config{MaxEntries: 10})
			mount(t, s, "/m", h, &test.opt)
			err := s.Refresh(t.Context(), wip.Caller{}, "/")
			if got := len(s.Children(wip.Caller{}, "/m")) + 1; got != test.want || (err == nil) != (test.want == 101) {
				t.Errorf("found %d entries, %v, expected %d", got, err, test.want)
			}
			// Of a tree that is not all there no changes are asked for.
			_ = s.Refresh(t.Context(), wip.Caller{}, "/")
			if whole := h.since[1] == ""; whole != (test.want != 101) {
				t.Errorf("asked for changes since %q", h.since[1])
			}
		})
	}
}

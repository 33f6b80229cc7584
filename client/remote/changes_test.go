package remote_test

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/wipagent/wipagent/client/remote"
	"github.com/wipagent/wipagent/space/wip"
)

// anyTree draws a tree with few names, so that two are alike.
func anyTree(t *rapid.T, at string, depth int) wip.Tree {
	tree := wip.Tree{Entry: wip.Entry{Path: at, Title: rapid.SampledFrom([]string{"", "", "", "x", "y"}).Draw(t, "title")}}
	if rapid.Bool().Draw(t, "object") {
		tree.Entry.Object = &wip.Object{ID: "o", Interfaces: []wip.InterfaceRef{{Document: "d", Interface: "I"}}}
	}
	if depth == 0 {
		return tree
	}
	for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 0, 4, rapid.ID).Draw(t, "names") {
		tree.Children = append(tree.Children, anyTree(t, path.Join(at, name), depth-1))
	}
	return tree
}

// What the server says has changed makes one tree of the other, whatever they
// are.
func TestChanges(t *testing.T) {
	f := newFake()
	h := served(t, f, nil, nil)
	rapid.Check(t, func(t *rapid.T) {
		set := func(tree wip.Tree) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.tree = tree
		}
		old, now := anyTree(t, "/", 3), anyTree(t, "/", 3)
		set(old)
		first, err := h.FetchTreeSince(context.Background(), wip.Caller{}, "/", "")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(old, *first.Whole); diff != "" {
			t.Fatal(diff)
		}
		same, err := h.FetchTreeSince(context.Background(), wip.Caller{}, "/", first.Tag)
		if diff := cmp.Diff(wip.Change{Tag: first.Tag}, same); err != nil || diff != "" {
			t.Fatalf("unchanged: %v\n%s", err, diff)
		}
		set(now)
		change, err := h.FetchTreeSince(context.Background(), wip.Caller{}, "/", first.Tag)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(now, remote.Apply(*first.Whole, change)); diff != "" {
			t.Fatalf("%+v\n%s", change, diff)
		}
		if (change.Tag == first.Tag) != cmp.Equal(old, now) {
			t.Fatalf("found the tags %s and %s", first.Tag, change.Tag)
		}
	})
}

// naively makes one edit by searching the tree for its place: that of the child
// whose path it has, or which of those above it is nearest.
func naively(t wip.Tree, path string, by *wip.Tree) wip.Tree {
	if t.Entry.Path == path && by != nil {
		return *by
	}
	at := -1
	for i, c := range t.Children {
		if strings.HasPrefix(path+"/", c.Entry.Path+"/") && (at < 0 || len(c.Entry.Path) > len(t.Children[at].Entry.Path)) {
			at = i
		}
	}
	t.Children = slices.Clone(t.Children)
	switch {
	case at < 0 && by != nil:
		t.Children = append(t.Children, *by)
	case at >= 0 && by == nil && t.Children[at].Entry.Path == path:
		t.Children = slices.Delete(t.Children, at, at+1)
	case at >= 0:
		t.Children[at] = naively(t.Children[at], path, by)
	}
	return t
}

// Any changes are made in their order, and leave the tree that was there as it
// was.
func TestApply(t *testing.T) {
	paths := []string{"/", "/a", "/a/b", "/a/b/c", "/b", "/b/b", "/c/a/a/d", "/d", "/e/a", "x"}
	rapid.Check(t, func(t *rapid.T) {
		old := anyTree(t, rapid.SampledFrom([]string{"/", "/a"}).Draw(t, "root"), 3)
		before, want := clone(old), old
		c := wip.Change{Removed: rapid.SliceOfN(rapid.SampledFrom(paths[1:]), 0, 5).Draw(t, "removed")}
		for _, path := range c.Removed {
			want = naively(want, path, nil)
		}
		for _, path := range rapid.SliceOfN(rapid.SampledFrom(paths), 0, 5).Draw(t, "replaced") {
			tree := anyTree(t, path, 2)
			c.Replaced = append(c.Replaced, tree)
			want = naively(want, path, &tree)
		}
		if diff := cmp.Diff(want, remote.Apply(old, c), cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
		if diff := cmp.Diff(before, old); diff != "" {
			t.Fatalf("the tree that was there is another now\n%s", diff)
		}
	})
}

func clone(t wip.Tree) wip.Tree {
	t.Children = slices.Clone(t.Children)
	for i := range t.Children {
		t.Children[i] = clone(t.Children[i])
	}
	return t
}

// large returns a tree of n entries below its root, in folders of 100.
func large(n int) wip.Tree {
	tree := wip.Tree{Entry: wip.Entry{Path: "/"}}
	for i := 0; i < n; i += 100 {
		folder := wip.Tree{Entry: wip.Entry{Path: fmt.Sprintf("/f%d", i/100), Title: "Folder"}}
		for j := range min(99, n-i-1) {
			folder.Children = append(folder.Children, wip.Tree{Entry: wip.Entry{
				Path: fmt.Sprintf("/f%d/e%d", i/100, j), Title: "An entry", Summary: "One of very many, with a sentence about it.", Indexable: true,
				Object: &wip.Object{ID: fmt.Sprint(i + j), Interfaces: []wip.InterfaceRef{{Document: "d.wip", Interface: "I"}}},
			}})
		}
		tree.Children = append(tree.Children, folder)
	}
	return tree
}

// A large tree comes in pages, and a change of it alone. (BenchmarkTree has one
// of 100,000 entries.)
func TestLargeTree(t *testing.T) {
	if testing.Short() {
		t.Skip("one thing at a time, at length: nothing for the race detector")
	}
	f := newFake()
	f.tree = large(25_000)
	h := served(t, f, nil, nil)
	first, err := h.FetchTreeSince(t.Context(), wip.Caller{}, "/", "")
	if err != nil {
		t.Fatal(err)
	}
	if !cmp.Equal(f.tree, *first.Whole) {
		t.Fatal("the tree is another")
	}
	f.mu.Lock()
	f.tree.Children[7].Children[5].Entry.Title = "Changed"
	f.mu.Unlock()
	change, err := h.FetchTreeSince(t.Context(), wip.Caller{}, "/", first.Tag)
	if err != nil || change.Whole != nil || len(change.Replaced) != 1 || change.Replaced[0].Entry.Title != "Changed" || len(change.Removed) != 0 {
		t.Errorf("found %v, %v", change.Replaced, err)
	}
	// What another caller was told is not remembered for this one.
	if change, err := h.FetchTreeSince(t.Context(), wip.Caller{}, "/f7", first.Tag); err == nil && change.Whole == nil {
		t.Errorf("found changes of another path: %+v", change)
	}
}

// A tree over the bound is refused by either end, and one without end too.
func TestTreeBounds(t *testing.T) {
	f := newFake()
	f.tree = large(1000)
	ends := map[string]*remote.Host{
		"server": served(t, f, &remote.ServeOptions{MaxEntries: 999}, nil),
		"client": served(t, f, nil, &remote.Options{MaxEntries: 999}),
	}
	for name, h := range ends {
		if _, err := h.FetchTree(t.Context(), wip.Caller{}, "/"); failureOf(t, err).Class != wip.Internal {
			t.Errorf("%s: found %v", name, err)
		}
	}
	kids := make([]wip.Tree, 1)
	kids[0] = wip.Tree{Entry: wip.Entry{Path: "/x"}, Children: kids}
	f.tree = kids[0]
	if _, err := ends["server"].FetchTree(t.Context(), wip.Caller{}, "/"); failureOf(t, err).Class != wip.Internal {
		t.Errorf("found %v", err)
	}
}

// sourced is a Host that says itself what has changed.
type sourced struct {
	*fake
	change wip.Change
	asked  string
	err    error
}

func (s *sourced) FetchTreeSince(_ context.Context, _ wip.Caller, _, tag string) (wip.Change, error) {
	s.asked = tag
	return s.change, s.err
}

// A Host's own tags and changes go across as they are.
func TestTreeSource(t *testing.T) {
	s := &sourced{fake: newFake()}
	h := served(t, s, nil, nil)
	tree := wip.Tree{Entry: wip.Entry{Path: "/"}}
	for name, want := range map[string]wip.Change{
		"whole":     {Tag: "v1", Whole: &tree},
		"delta":     {Tag: "v2", Removed: []string{"/a"}, Replaced: []wip.Tree{{Entry: wip.Entry{Path: "/b"}}, {Entry: wip.Entry{Path: "/c"}}}},
		"unchanged": {Tag: "v2"},
	} {
		s.change = want
		got, err := h.FetchTreeSince(t.Context(), wip.Caller{}, "/", "v0")
		if diff := cmp.Diff(want, got); err != nil || diff != "" || s.asked != "v0" {
			t.Errorf("%s: asked since %s: %v\n%s", name, s.asked, err, diff)
		}
	}
	s.change = wip.Change{Whole: &tree}
	got, err := h.FetchTreeSince(t.Context(), wip.Caller{}, "/", "")
	if err != nil || got.Tag == "" {
		t.Fatalf("a Host without tags: found %+v, %v", got, err)
	}
	if got, err = h.FetchTreeSince(t.Context(), wip.Caller{}, "/", got.Tag); err != nil || got.Whole != nil || s.asked != "" {
		t.Errorf("the tag that the server made: found %+v, %v, asked since %q", got, err, s.asked)
	}
	s.err = errors.New("no")
	if _, err := h.FetchTree(t.Context(), wip.Caller{}, "/"); failureOf(t, err).Class != wip.Internal {
		t.Errorf("found %v", err)
	}
}

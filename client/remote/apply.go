package remote

import (
	"iter"
	"slices"
	"strings"

	"github.com/wipagent/wipagent/space/wip"
)

// Apply returns what a change makes of an earlier tree, which stays as it is.
// The trees share what has not changed.
func Apply(t wip.Tree, c wip.Change) wip.Tree {
	if c.Whole != nil {
		return *c.Whole
	}
	edits := make([]edit, 0, len(c.Removed)+len(c.Replaced))
	for _, path := range c.Removed {
		edits = append(edits, edit{path, nil})
	}
	for i := range c.Replaced {
		edits = append(edits, edit{c.Replaced[i].Entry.Path, &c.Replaced[i]})
	}
	a := applier{}
	below := edits[:0]
	for _, e := range edits {
		switch {
		case e.path != t.Entry.Path:
			below = append(below, e)
			a.touch(e.path)
		case e.by != nil:
			t, below = *e.by, below[:0]
		}
	}
	if len(below) == 0 {
		return t
	}
	return a.rebuild(t, below)
}

// edit puts a tree in the place of the entry at a path, or nothing.
type edit struct {
	path string
	by   *wip.Tree
}

// applier makes many edits in one pass. It holds all paths at and above which
// there is one.
type applier map[string]bool

func (a applier) touch(path string) {
	for p := range upwards(path) {
		if a[p] {
			return
		}
		a[p] = true
	}
}

// upwards ranges over a path and those above it, but for the root's, and no further
// than a tree is deep.
func upwards(path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for range maxTreeDepth {
			end := strings.LastIndexByte(path, '/')
			if !yield(path) || end <= 0 {
				return
			}
			path = path[:end]
		}
	}
}

// rebuild returns a tree with the edits made in their order, all of which are below
// its root.
func (a applier) rebuild(t wip.Tree, edits []edit) wip.Tree {
	children := slices.Clone(t.Children)
	at := map[string]int{} // of those that are touched
	for i := range children {
		path := children[i].Entry.Path
		if _, twice := at[path]; a[path] && !twice {
			at[path] = i
		}
	}
	inside, gone := map[int][]edit{}, map[int]bool{}
	for _, e := range edits {
		path, i, ok := holder(at, e.path)
		switch {
		case !ok && e.by == nil:
		case !ok:
			at[e.path] = len(children)
			children = append(children, *e.by)
		case path != e.path:
			inside[i] = append(inside[i], e)
		case e.by == nil:
			delete(at, path)
			delete(inside, i)
			gone[i] = true
		default:
			delete(inside, i)
			children[i] = *e.by
		}
	}
	for i, list := range inside {
		children[i] = a.rebuild(children[i], list)
	}
	kept := children[:0]
	for i := range children {
		if !gone[i] {
			kept = append(kept, children[i])
		}
	}
	if t.Children = kept; len(kept) == 0 {
		t.Children = nil
	}
	return t
}

// holder returns which of the paths that there are is another or, nearest to it,
// lies above it.
func holder(at map[string]int, path string) (above string, i int, ok bool) {
	for above = range upwards(path) {
		if i, ok = at[above]; ok {
			break
		}
	}
	return above, i, ok
}

package remote

import (
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
	for _, path := range c.Removed {
		t = edit(t, path, nil, 0)
	}
	for i := range c.Replaced {
		t = edit(t, c.Replaced[i].Entry.Path, &c.Replaced[i], 0)
	}
	return t
}

// edit returns a tree with another in the place of the entry at path, or with
// none there.
func edit(t wip.Tree, path string, by *wip.Tree, level int) wip.Tree {
	if t.Entry.Path == path && by != nil {
		return *by
	}
	if level > maxTreeDepth {
		return t
	}
	at := slices.IndexFunc(t.Children, func(c wip.Tree) bool {
		return c.Entry.Path == path || strings.HasPrefix(path, c.Entry.Path+"/")
	})
	switch {
	case at < 0 && by == nil:
		return t
	case at < 0:
		t.Children = append(slices.Clip(t.Children), *by)
		return t
	}
	children := slices.Clone(t.Children)
	if by == nil && children[at].Entry.Path == path {
		children = slices.Delete(children, at, at+1)
	} else {
		children[at] = edit(children[at], path, by, level+1)
	}
	if t.Children = children; len(children) == 0 {
		t.Children = nil
	}
	return t
}

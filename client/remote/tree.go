package remote

import (
	"errors"
	"fmt"
	"slices"

	"github.com/wipagent/wipagent/space/wip"
)

// flattener makes a list of trees, with every entry before those below it. The
// list shares no memory with the trees, which are their Host's.
type flattener struct {
	nodes   []wireEntry
	objects []wireObject
	refs    []wireRef
}

// flatten returns the entries of trees of at most limit entries.
func flatten(trees []wip.Tree, limit int) ([]wireEntry, error) {
	var total extent
	for i := range trees {
		if err := total.add(&trees[i], 0, limit); err != nil {
			return nil, err
		}
	}
	f := flattener{
		nodes: make([]wireEntry, 0, total.entries), objects: make([]wireObject, 0, total.objects), refs: make([]wireRef, 0, total.refs),
	}
	for i := range trees {
		if err := f.add(&trees[i], 0); err != nil {
			return nil, err
		}
	}
	return f.nodes, nil
}

func (f *flattener) add(t *wip.Tree, depth int) error {
	e := f.toWire(&t.Entry)
	e.Depth = depth
	if err := e.sendable(); err != nil {
		return err
	}
	f.nodes = append(f.nodes, e)
	for i := range t.Children {
		if err := f.add(&t.Children[i], depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (f *flattener) toWire(e *wip.Entry) wireEntry {
	w := wireEntry{Path: e.Path, Title: e.Title, Summary: e.Summary, Indexable: e.Indexable, Tag: e.Tag}
	if e.Object == nil {
		return w
	}
	from := len(f.refs)
	for _, ref := range e.Object.Interfaces {
		f.refs = append(f.refs, wireRef(ref))
	}
	f.objects = append(f.objects, wireObject{e.Object.ID, f.refs[from:len(f.refs):len(f.refs)]})
	w.Object = &f.objects[len(f.objects)-1]
	return w
}

// extent is how much there is in trees.
type extent struct{ entries, objects, refs int }

// add counts a tree, and goes no further than the bounds.
func (n *extent) add(t *wip.Tree, depth, limit int) error {
	n.entries++
	switch {
	case depth > maxTreeDepth:
		return fmt.Errorf("found a tree of more than %d levels", maxTreeDepth)
	case n.entries > limit:
		return fmt.Errorf("found a tree of more than %d entries", limit)
	}
	if o := t.Entry.Object; o != nil {
		n.objects++
		if n.refs += len(o.Interfaces); len(o.Interfaces) > maxInterfaces {
			return fmt.Errorf("found an object with more than %d interfaces", maxInterfaces)
		}
	}
	for i := range t.Children {
		if err := n.add(&t.Children[i], depth+1, limit); err != nil {
			return err
		}
	}
	return nil
}

// grower makes trees of a list of entries as they come. Those of one level are
// gathered until the one that holds them is done.
type grower struct {
	levels [][]wip.Tree // a tree for each entry of the level that no other holds yet
	open   int          // levels in use
}

// add takes the next entry of the list.
func (g *grower) add(depth int, e wip.Entry) error {
	if depth > g.open {
		return fmt.Errorf("found an entry at depth %d, expected at most %d", depth, g.open)
	}
	g.fold(depth + 1)
	if depth == len(g.levels) {
		g.levels = append(g.levels, nil)
	}
	g.levels[depth] = append(g.levels[depth], wip.Tree{Entry: e})
	g.open = depth + 1
	return nil
}

// fold hands over what has been gathered at a level and below.
func (g *grower) fold(level int) {
	for ; g.open > level; g.open-- {
		children := g.levels[g.open-1]
		above := g.levels[g.open-2]
		above[len(above)-1].Children = slices.Clone(children)
		g.levels[g.open-1] = children[:0]
	}
}

// trees returns one for each entry of depth 0.
func (g *grower) trees() []wip.Tree {
	g.fold(1)
	if g.open == 0 {
		return nil
	}
	return g.levels[0]
}

// treeReader reads an answer to fetch_tree, page by page. Entries become trees
// as they come, and are counted.
type treeReader struct {
	limit int // entries

	status, tag string // of all pages
	cursor      string // of the next page; empty behind the last
	removed     []string
	nodes       int
	node        wireEntry // the latest
	grower      grower
}

// page reads the next page, which is a result.
func (r *treeReader) page(d *decoder) error {
	var status, tag, cursor string
	first, before := r.status == "", len(r.removed)+r.nodes
	err := d.members(func(name string) error {
		switch name {
		case "status":
			return d.Decode(&status)
		case "tag":
			return d.Decode(&tag)
		case "next_cursor":
			return d.Decode(&cursor)
		case "removed":
			return d.elements(maxItems, func() error { return r.remove(d) })
		case "nodes":
			return d.elements(maxItems, func() error { return r.add(d) })
		}
		return d.skip()
	})
	switch {
	case err != nil:
		return err
	case status != whole && status != unchanged && status != delta:
		return errors.New("found an answer to fetch_tree whose status is none of whole, unchanged, delta")
	case len(tag) > maxTag || len(cursor) > maxTag:
		return fmt.Errorf("found a tag or cursor of more than %d bytes", maxTag)
	case !first && (status != r.status || tag != r.tag):
		return errors.New("found pages of different answers")
	case cursor != "" && len(r.removed)+r.nodes == before:
		return errors.New("found a page without entries that is not the last")
	}
	r.status, r.tag, r.cursor = status, tag, cursor
	return nil
}

// count reports that there is no room for one more.
func (r *treeReader) count() error {
	if len(r.removed)+r.nodes == r.limit {
		return fmt.Errorf("found a tree of more than %d entries", r.limit)
	}
	return nil
}

func (r *treeReader) remove(d *decoder) error {
	if err := r.count(); err != nil {
		return err
	}
	var path string
	if err := d.Decode(&path); err != nil {
		return err
	}
	if path == "" {
		return errors.New("found a removed entry without a path")
	}
	r.removed = append(r.removed, path)
	return nil
}

func (r *treeReader) add(d *decoder) error {
	if err := r.count(); err != nil {
		return err
	}
	r.node = wireEntry{}
	d.in.allow(maxEntry)
	defer d.in.allow(maxPage)
	if err := d.Decode(&r.node); err != nil {
		return err
	}
	if err := r.node.check(); err != nil {
		return err
	}
	r.nodes++
	return r.grower.add(r.node.Depth, r.node.entry())
}

// change returns what the pages say, in answer to a request with a tag or
// without.
func (r *treeReader) change(asked string) (wip.Change, error) {
	trees := r.grower.trees()
	c := wip.Change{Tag: r.tag}
	switch r.status {
	case whole:
		if len(trees) != 1 || len(r.removed) != 0 {
			return wip.Change{}, fmt.Errorf("found %d trees and %d removed entries, expected one whole tree", len(trees), len(r.removed))
		}
		c.Whole = &trees[0]
		return c, nil
	case unchanged:
		if len(trees)+len(r.removed) != 0 {
			return wip.Change{}, errors.New("found entries in what is said to be unchanged")
		}
	case delta:
		c.Removed, c.Replaced = r.removed, trees
	}
	if asked == "" {
		return wip.Change{}, errors.New("found changes where a whole tree was asked for")
	}
	return c, nil
}

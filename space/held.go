package space

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/wipagent/wipagent/space/wip"
)

// held is a mount's whole tree, as everybody may see it, in the state that its
// Host names by a tag. It is immutable.
type held struct {
	tag   string  // empty: changes of it cannot be asked for
	nodes []*Node // sorted by path, whether indexable or not
	root  words   // the Host's own for its root
	seq   uint64
	seen  time.Time
}

// holds reports whether the growth is of a tree that is held.
func (g *growth) holds() bool { return g.caller == "" && g.path == g.mount.Path }

// errUnfit says that a change cannot be made of what is held.
var errUnfit error = notice("the changes do not fit the tree, which was asked for anew")

// ask fetches what has changed in a mount's tree. What cannot be made of
// changes is made of the whole tree.
func (g *growth) ask(ctx context.Context, source wip.TreeSource) error {
	was := g.mount.held.Load()
	if was == nil {
		was = &held{}
	}
	c, err := g.mount.fetchTreeSince(ctx, source, was.tag)
	if err == nil && c.Whole == nil {
		if was.tag == "" {
			err = &Error{g.mount.Path, notice("the Host answered with changes when it was asked for the whole tree")}
		} else if err = g.apply(ctx, was, &c); errors.Is(err, errUnfit) {
			g.nodes, g.operations, g.partial, g.problems = nil, 0, false, problems{}
			g.problems.add(&Error{g.mount.Path, errUnfit})
			if c, err = g.mount.fetchTreeSince(ctx, source, ""); err == nil && c.Whole == nil {
				err = &Error{g.mount.Path, errUnfit}
			}
		}
	}
	switch {
	case errors.Is(err, ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	if g.tag = c.Tag; len(c.Tag) > maxTag {
		g.tag = ""
		g.problems.add(&Error{g.mount.Path, notice("the tag of a tree is longer than 256 bytes")})
	}
	if c.Whole != nil {
		return g.collect(ctx, c.Whole, false)
	}
	return nil
}

// apply gathers the nodes of what is held with a change.
func (g *growth) apply(ctx context.Context, was *held, c *wip.Change) error {
	if len(c.Removed) > len(was.nodes) || len(c.Replaced) > g.mount.maxEntries {
		return errUnfit
	}
	gone := make(map[string]bool, len(c.Removed)+len(c.Replaced))
	for _, path := range c.Removed {
		gone[join(g.mount.Path, path)] = true
	}
	roots := make([]string, len(c.Replaced))
	for i := range c.Replaced {
		if err := g.collect(ctx, &c.Replaced[i], true); err != nil {
			return err
		}
		roots[i] = join(g.mount.Path, c.Replaced[i].Entry.Path)
		gone[roots[i]] = true
	}
	slices.SortFunc(roots, comparePaths)
	for i := range len(roots) - 1 {
		if within(roots[i+1], roots[i]) { // which of them was there first would count
			return errUnfit
		}
	}
	fresh := g.nodes
	g.nodes = make([]*Node, 0, len(was.nodes)+len(fresh))
	slices.SortFunc(fresh, byPath)
	if g.root == (words{}) {
		g.root = was.root
	}
	below := "" // what is gone
	for _, n := range was.nodes {
		if below != "" && within(n.Path, below) {
			continue
		}
		if below = ""; gone[n.Path] {
			below = n.Path
			continue
		}
		for len(fresh) > 0 && comparePaths(fresh[0].Path, n.Path) < 0 {
			g.nodes, fresh = append(g.nodes, fresh[0]), fresh[1:]
		}
		again, err := g.again(ctx, n)
		if err != nil {
			return err
		}
		g.nodes = append(g.nodes, again)
		g.operations += again.operations()
	}
	g.nodes = append(g.nodes, fresh...)
	// A whole tree that is too large is cut where it is deepest, one that holds
	// what it must not is told of, and a tree has a root.
	if g.partial || len(g.nodes) > g.mount.maxEntries || g.operations > g.mount.maxOperations ||
		len(g.nodes) == 0 || g.nodes[0].Path != g.path || repeats(g.nodes) {
		return errUnfit
	}
	return nil
}

// repeats reports whether two neighbours have one path.
func repeats(nodes []*Node) bool {
	for i := range len(nodes) - 1 {
		if nodes[i].Path == nodes[i+1].Path {
			return true
		}
	}
	return false
}

// again is a node that the Host has now said to be as it was. Its documents may
// be others.
func (g *growth) again(ctx context.Context, n *Node) (*Node, error) {
	again := *n
	again.seq, again.seen, again.from = g.seq, g.seen, g.caller
	if n.kind == nil {
		return &again, nil
	}
	u, err := g.library.understand(ctx, n.kind.refs)
	if err != nil {
		return nil, err
	}
	// It had no problems of its own: of such a tree no changes are asked for.
	again.kind, again.Interfaces, again.Problems = u, u.interfaces, u.problems
	for _, p := range again.Problems {
		g.problems.add(p)
	}
	return &again, nil
}

// hold keeps a growth for the next change, here and in the Store.
func (s *Space) hold(g *growth) {
	if g.partial {
		g.tag = ""
	}
	h := &held{tag: g.tag, nodes: g.nodes, root: g.root, seq: g.seq, seen: g.seen}
	for {
		was := g.mount.held.Load()
		if was != nil && was.seq > h.seq {
			return
		}
		if g.mount.held.CompareAndSwap(was, h) {
			break
		}
	}
	s.keepTree(g.mount, h, g.library)
}

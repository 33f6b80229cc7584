package space

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/wipagent/wipagent/space/wip"
)

func byPath(a, b *Node) int { return comparePaths(a.Path, b.Path) }

// merge makes a growth part of the space, all at once.
func (s *Space) merge(g *growth) {
	if slices.ContainsFunc(g.nodes, func(n *Node) bool { return !n.Indexable }) {
		mine := s.knownTo(wip.Caller{ID: g.caller}, true)
		for _, n := range slices.Backward(g.nodes) { // the first ones are kept longest
			if !n.Indexable {
				mine.keep(n)
			}
		}
	}
	if !slices.IsSortedFunc(g.nodes, byPath) {
		slices.SortFunc(g.nodes, byPath)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.tree.Load()
	from, to := old.reach(g.mount.Path)
	part := s.trim(g, g.over(old.sorted[from:to], s.prune(g)))
	grown := old.grown
	if g.path == g.mount.Path && g.seen.After(grown[g.mount]) {
		if grown = maps.Clone(grown); grown == nil {
			grown = map[*Mount]time.Time{}
		}
		grown[g.mount] = g.seen
	}
	s.replace(old, slices.Concat(old.sorted[:from], part, old.sorted[to:]), grown)
}

// over returns what there is of a mount once nodes, which are sorted, have come.
func (g *growth) over(old, nodes []*Node) []*Node {
	list := make([]*Node, 0, max(len(old), len(nodes)))
	for len(old)+len(nodes) > 0 {
		order := 1
		switch {
		case len(nodes) == 0:
			order = -1
		case len(old) > 0:
			order = byPath(old[0], nodes[0])
		}
		switch {
		case order < 0: // it stays, unless this caller's trees brought it before
			if o := old[0]; o.from != g.caller || o.seq >= g.seq || !within(o.Path, g.path) {
				list = append(list, o)
			}
		case order == 0 && old[0].seq > g.seq:
			list = append(list, old[0])
		case nodes[0].Indexable:
			list = append(list, nodes[0])
		}
		if order <= 0 {
			old = old[1:]
		}
		if order >= 0 {
			nodes = nodes[1:]
		}
	}
	return list
}

// replace makes nodes, which are sorted, the discoverable ones, of mounts whose
// trees were asked for when grown says. The caller holds mu.
func (s *Space) replace(old *tree, nodes []*Node, grown map[*Mount]time.Time) {
	changed := !slices.EqualFunc(old.sorted, nodes, (*Node).same)
	next := *old
	next.sorted, next.grown = nodes, grown
	if changed {
		next.version++
	}
	s.tree.Store(&next)
	if changed {
		s.views.Purge() // no View of an earlier state is asked for again
		s.audiences.Purge()
	}
}

// trim keeps a mount within its bounds when several callers' trees add up:
// what the latest tree did not bring goes first, oldest first.
func (s *Space) trim(g *growth, nodes []*Node) []*Node {
	var others []*Node
	entries, operations := len(nodes), 0
	for _, n := range nodes {
		operations += n.operations()
		if n.seq != g.seq {
			others = append(others, n)
		}
	}
	slices.SortFunc(others, func(a, b *Node) int { return cmp.Or(cmp.Compare(a.seq, b.seq), byPath(b, a)) })
	gone := map[*Node]bool{}
	for _, n := range others {
		if entries <= g.mount.maxEntries && operations <= g.mount.maxOperations {
			break
		}
		entries, operations = entries-1, operations-n.operations()
		gone[n] = true
	}
	if len(gone) == 0 {
		return nodes
	}
	return slices.DeleteFunc(nodes, func(n *Node) bool { return gone[n] })
}

// operations counts the operations of all interfaces.
func (n *Node) operations() int {
	count := 0
	for _, i := range n.Interfaces {
		count += len(i.Operations)
	}
	return count
}

package space

import (
	"slices"

	"github.com/wipagent/wipagent/space/wip"
)

// absence is a path at which a Host said that there is nothing for a caller.
type absence struct{ caller, path string }

// drop takes the Host's answer, numbered seq, that there is nothing at path for
// the caller. Of what is below, it says something only if an entry was at path
// before: a Host may have entries below a path that never was one.
func (s *Space) drop(caller wip.Caller, path string, seq uint64) {
	if mine := s.knownTo(caller, false); s.remove(mine, caller, path, seq) {
		s.forgetKnown(caller, path)
	}
}

// remove is drop but for what was kept. It reports whether the entry was in the
// caller's Known Space.
func (s *Space) remove(mine *knownSpace, caller wip.Caller, path string, seq uint64) (known bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	// The number keeps a tree that is under way from bringing it back.
	for _, id := range []string{caller.ID, ""} {
		if last, ok := s.gone.Peek(absence{id, path}); !ok || last < seq {
			s.gone.Add(absence{id, path}, seq)
		}
	}
	old := s.tree.Load()
	outdated := func(n *Node) bool { return n != nil && n.seq < seq && (n.from == caller.ID || n.from == "") }
	was := outdated(old.at(path))
	if mine != nil {
		if n, ok := mine.nodes.Peek(path); ok && n.seq < seq {
			was, known = true, mine.nodes.Remove(path)
		}
	}
	if !was {
		return known
	}
	gone := func(n *Node) bool { return outdated(n) && within(n.Path, path) }
	from, to := old.reach(path)
	if slices.ContainsFunc(old.sorted[from:to], gone) {
		s.replace(old, slices.DeleteFunc(slices.Clone(old.sorted), gone), old.grown)
	}
	return known
}

// prune returns a growth's nodes without what the Host has said since to be gone,
// and what is below that. The caller holds mu.
func (s *Space) prune(g *growth) []*Node {
	if s.gone.Len() == 0 {
		return g.nodes
	}
	below := ""
	return slices.DeleteFunc(slices.Clone(g.nodes), func(n *Node) bool { // by path: what is above comes first
		if below != "" && within(n.Path, below) {
			return true
		}
		seq, ok := s.gone.Peek(absence{g.caller, n.Path})
		if ok && seq > g.seq {
			below = n.Path
			return true
		}
		return false
	})
}

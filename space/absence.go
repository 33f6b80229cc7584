package space

import (
	"maps"
	"slices"

	"github.com/wipagent/wipagent/space/wip"
)

// absence is a path at which a Host said that there is nothing for a caller.
type absence struct{ caller, path string }

// drop takes the Host's answer, numbered seq, that there is nothing at path for
// the caller. Of what is below, it says something only if an entry was at path
// before: a Host may have entries below a path that never was one.
func (s *Space) drop(caller wip.Caller, path string, seq uint64) {
	mine := s.knownTo(caller, false)
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
	was := outdated(old.nodes[path])
	if mine != nil {
		if known, ok := mine.Peek(path); ok && known.seq < seq {
			was = true
			mine.Remove(path)
		}
	}
	if !was {
		return
	}
	at := append(slices.Clone(old.below(path)), old.nodes[path])
	if !slices.ContainsFunc(at, outdated) {
		return
	}
	nodes := maps.Clone(old.nodes)
	for _, n := range at {
		if outdated(n) {
			delete(nodes, n.Path)
		}
	}
	s.replace(old, nodes, old.grown)
}

// prune removes from a growth what the Host has said since to be gone, and what
// is below that. The caller holds mu.
func (s *Space) prune(g *growth) {
	var gone []string
	g.nodes = slices.DeleteFunc(g.nodes, func(n *Node) bool { // level by level: what is above comes first
		if seq, ok := s.gone.Peek(absence{g.caller, n.Path}); ok && seq > g.seq {
			gone = append(gone, n.Path)
			return true
		}
		return slices.ContainsFunc(gone, func(path string) bool { return within(n.Path, path) })
	})
}

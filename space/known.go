package space

import (
	"sync"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/wipagent/wipagent/space/wip"
)

// knownSpace is what one caller knows beside what is discoverable.
type knownSpace struct {
	nodes *lru.Cache[string, *Node]

	mu       sync.Mutex      // held to restore
	restored map[*Mount]bool // whether what was kept of it is there
}

// keep puts n into a Known Space unless something newer is there.
func (k *knownSpace) keep(n *Node) {
	if old, ok := k.nodes.Peek(n.Path); !ok || old.seq < n.seq {
		k.nodes.Add(n.Path, n)
	}
}

// knownTo returns the caller's Known Space, made if it is missing and wanted, or
// if something may have been kept of it.
func (s *Space) knownTo(caller wip.Caller, wanted bool) *knownSpace {
	s.mu.Lock()
	mine, ok := s.known.Get(caller.ID)
	if !ok && (wanted || s.cfg.Store != nil) {
		mine = &knownSpace{nodes: newCache[string, *Node](s.cfg.MaxKnown)}
		s.known.Add(caller.ID, mine)
	}
	s.mu.Unlock()
	if mine != nil && s.cfg.Store != nil {
		s.restoreKnown(caller, mine)
	}
	return mine
}

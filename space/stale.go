package space

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/wipagent/wipagent/space/wip"
)

// look says how a mount was last asked for its whole tree.
type look struct {
	last time.Time // when, whatever came of it
	busy int       // how many requests are under way
	here bool      // whether that was in this process
}

// RefreshStale is Refresh for the mounts that have not been asked for their whole
// trees within MaxAge, successfully or not, and are not being asked just now. It
// is for calling before each search: mostly it does nothing, and it does not wait
// for what another call has begun.
//
// Where Keep looks at a mount, that has a tree, this leaves it to Keep.
//
// It looks at all mounts, so that the time it takes tells nothing of any scope.
// A mount whose Host did not answer, or not before ctx ended, keeps the tree it
// had until MaxAge has passed again.
func (s *Space) RefreshStale(ctx context.Context, caller wip.Caller) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	t := s.tree.Load()
	errs := make([]error, len(t.mounts))
	var wg sync.WaitGroup
	for i, m := range t.mounts {
		if _, grown := t.grown[m]; grown && !m.quiet && s.keepers.Load() > 0 {
			continue
		}
		if s.beginStale(m, s.cfg.MaxAge) {
			wg.Go(func() { errs[i] = s.growAll(ctx, m, caller) })
		}
	}
	wg.Wait()
	return errors.Join(errs...)
}

// growAll fetches and merges a mount's whole tree, which has begun.
func (s *Space) growAll(ctx context.Context, m *Mount, caller wip.Caller) error {
	defer s.end(m)
	err := s.grow(ctx, m, caller, m.Path)
	m.trouble.Store(&err)
	return err
}

// Trouble returns what the latest look at the whole tree of the mount at path
// found wrong, as Refresh did; nil if nothing was, or nobody has looked.
func (s *Space) Trouble(path string) error {
	for _, m := range s.tree.Load().mounts {
		if err := m.trouble.Load(); m.Path == path && err != nil {
			return *err
		}
	}
	return nil
}

// begin notes that a mount is asked for its whole tree.
func (s *Space) begin(m *Mount) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looks[m] = look{time.Now(), s.looks[m].busy + 1, true}
}

// beginStale is begin if the mount is not being asked and was not within that
// time.
func (s *Space) beginStale(m *Mount, after time.Duration) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.looks[m]
	if l.busy > 0 || time.Since(l.last) < after {
		return false
	}
	s.looks[m] = look{time.Now(), 1, true}
	return true
}

// end notes that begin's request is over.
func (s *Space) end(m *Mount) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.looks[m]
	l.busy--
	s.looks[m] = l
}

package space

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/wipagent/wipagent/space/wip"
)

const (
	lookWithin  = time.Minute // how long a look in the background may take
	looksAtOnce = 4
	firstLooks  = time.Second // within which Keep looks at each mount for the first time
)

// Keep refreshes the trees of all mounts that are not quiet in the background
// until ctx ends, and returns when the last request has ended: each mount soon
// after it was mounted or Keep began, unless it was asked just now, and from then
// on each time that MaxAge, and up to a tenth more, has passed. No mount is asked
// twice at once, and few are at the same time. Trouble goes to report, which is
// called from several goroutines; nil discards it.
func (s *Space) Keep(ctx context.Context, caller wip.Caller, report func(error)) {
	s.keepers.Add(1)
	defer s.keepers.Add(-1)
	var wg sync.WaitGroup
	defer wg.Wait()
	slots := make(chan struct{}, looksAtOnce)
	due := map[*Mount]time.Time{}
	for {
		now := time.Now()
		next := now.Add(s.cfg.MaxAge)
		for _, m := range s.tree.Load().mounts {
			if m.quiet {
				continue
			}
			at, ok := due[m]
			if !ok {
				at = now.Add(s.untilFirst(m, now))
				due[m] = at
			}
			if !at.After(now) {
				at = now.Add(s.cfg.MaxAge + jitter(s.cfg.MaxAge/10))
				due[m] = at
				wg.Go(func() { s.lookAgain(ctx, m, caller, slots, report) })
			}
			if at.Before(next) {
				next = at
			}
		}
		timer := time.NewTimer(time.Until(next))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-s.mounted:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// untilFirst is how long Keep waits before it looks at a mount for the first
// time: not at all, nearly, if nobody has in this process.
func (s *Space) untilFirst(m *Mount, now time.Time) time.Duration {
	s.mu.Lock()
	l := s.looks[m]
	s.mu.Unlock()
	wait := jitter(min(firstLooks, s.cfg.MaxAge/10))
	if l.here {
		wait += max(0, s.cfg.MaxAge-now.Sub(l.last))
	}
	return wait
}

// jitter is a random time below most.
func jitter(most time.Duration) time.Duration { return rand.N(max(most, 1)) }

// lookAgain refreshes a mount unless somebody is at it.
func (s *Space) lookAgain(ctx context.Context, m *Mount, caller wip.Caller, slots chan struct{}, report func(error)) {
	select {
	case slots <- struct{}{}:
	case <-ctx.Done():
		return
	}
	defer func() { <-slots }()
	if !s.beginStale(m, 0) {
		return
	}
	within, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	if err := s.growAll(within, m, caller); err != nil && ctx.Err() == nil && report != nil {
		report(err)
	}
}

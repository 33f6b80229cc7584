package objects

import (
	"context"
	"sync"
	"time"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/objects/world"
)

// Config holds what may be set of a Host; the zero value is that of
// spec/perception.md.
type Config struct {
	// TTL is how long a snapshot may serve further calls; 0 means
	// DefaultTTL, less than 0 means that each call takes its own.
	TTL time.Duration
	// Deadline is how long a call may take, waiting included; 0 means
	// DefaultDeadline.
	Deadline time.Duration
}

// What a Config leaves out.
const (
	DefaultTTL      = 2 * time.Second
	DefaultDeadline = 3 * time.Second
)

// snapshots takes snapshots of a world and keeps the last one. One slot is the
// whole cache: a world has one present, and a snapshot of another stay, which
// a larger cache would keep too, must never be served.
type snapshots struct {
	world observed
	ttl   time.Duration
	limit time.Duration

	// taking holds a token while somebody takes a snapshot. The others wait
	// for it or for the end of their own calls, and then find the new one.
	taking chan struct{}

	mu    sync.Mutex // guards last and taken
	last  *world.Snapshot
	taken time.Time // when the capture of last began
}

// observed is what is asked of a world.
type observed interface {
	Capture(context.Context) (*world.Snapshot, error)
	Fence() (world.Fence, error)
}

// view is what one call is answered from.
type view struct {
	*world.Snapshot
	cached bool // an earlier call was answered from the same snapshot
}

// Observation says what the view rests on.
func (v view) Observation() idl.Observation {
	o := idl.Observation{
		Generation: v.Generation,
		RegionID:   idl.ID(v.Region),
		ObservedAt: v.Observed,
		SnapshotID: v.ID,
		Cached:     v.cached,
		Source:     v.Source,
	}
	if v.Scene.Assumed {
		p := v.Scene.Observer
		o.AssumedObserver = &[3]float64{metres(p.X), metres(p.Y), metres(p.Z)}
	}
	return o
}

func newSnapshots(w observed, cfg *Config) *snapshots {
	s := &snapshots{world: w, ttl: DefaultTTL, limit: DefaultDeadline, taking: make(chan struct{}, 1)}
	if cfg != nil && cfg.TTL != 0 {
		s.ttl = cfg.TTL
	}
	if cfg != nil && cfg.Deadline != 0 {
		s.limit = cfg.Deadline
	}
	return s
}

// deadline bounds one call.
func (s *snapshots) deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, s.limit)
}

// valid reports whether the session and region of the snapshot are still the
// present ones.
func (s *snapshots) valid(snap *world.Snapshot) bool {
	fence, err := s.world.Fence()
	return err == nil && fence == snap.Fence
}

// get returns the last snapshot if it may still serve, or a new one. Errors
// are those of World.Capture.
func (s *snapshots) get(ctx context.Context) (view, error) {
	if v, ok := s.cached(); ok {
		return v, ctx.Err()
	}
	select {
	case s.taking <- struct{}{}:
		defer func() { <-s.taking }()
	case <-ctx.Done():
		return view{}, ctx.Err()
	}
	if v, ok := s.cached(); ok { // somebody was faster
		return v, ctx.Err()
	}
	taken := time.Now()
	snap, err := s.world.Capture(ctx)
	if err != nil {
		return view{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last, s.taken = snap, taken
	return view{Snapshot: snap}, nil
}

func (s *snapshots) cached() (view, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last == nil {
		return view{}, false
	}
	if time.Since(s.taken) >= s.ttl || !s.valid(s.last) {
		s.last = nil // it can never serve again, so let its memory go
		return view{}, false
	}
	return view{Snapshot: s.last, cached: true}, true
}

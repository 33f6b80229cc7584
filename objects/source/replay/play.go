package replay

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/wipagent/wipagent/objects/world"
)

// Config says how to play a recording; nil and the zero value are fine.
type Config struct {
	// Generation is the session generation that the recording's first one
	// becomes; 0 means 1. The world must have seen none or an earlier one.
	Generation uint64
	// Speed is how much faster than it was recorded Play plays; 0 and less
	// mean as it was, and 2 is twice as fast.
	Speed float64
}

// batch is how many updates the world takes in at once, so that its other
// users wait for little.
const batch = 1_024

// sourcePrefix goes before the recorded source's name in a snapshot's.
const sourcePrefix = "recording of "

// Load opens a recording and loads it into w; see Recording.Load.
func Load(ctx context.Context, r io.ReadSeeker, w *world.World, cfg *Config) (*Recording, error) {
	rec, err := Open(ctx, r)
	if err != nil {
		return nil, err
	}
	return rec, rec.Load(ctx, w, cfg)
}

// Load applies the whole recording at once. Times stay as they were recorded,
// and every snapshot says that it is of the recording's last moment, or of the
// one that the recorded session itself had said. The world is complete when
// Load returns.
func (rec *Recording) Load(ctx context.Context, w *world.World, cfg *Config) error {
	p := newPlayer(w, cfg)
	err := rec.each(ctx, func(u world.Update) error {
		if start, ok := u.(world.SessionStarted); ok && start.AsOf.IsZero() {
			start.AsOf = rec.Last
			u = start
		}
		return p.play(u, world.StampOf(u).At)
	})
	if err != nil {
		return err
	}
	p.flush()
	return nil
}

// Play applies the recording at the pace at which it was recorded, times
// Speed, and returns at its end. Times are moved so that what was observed
// first is observed now, and that somebody was in touch as long ago as it was
// then. After the last update the world stands still: it stays as it is, and
// every snapshot is of that moment. If ctx ends before, or reading fails, the
// session counts as disconnected; the error says why.
func (rec *Recording) Play(ctx context.Context, w *world.World, cfg *Config) error {
	p := newPlayer(w, cfg)
	speed := 1.0
	if cfg != nil && cfg.Speed > 0 {
		speed = cfg.Speed
	}
	began := time.Now()
	at := began
	timer := time.NewTimer(0)
	defer timer.Stop()
	err := rec.each(ctx, func(u world.Update) error {
		old := world.StampOf(u).At
		due := began.Add(scale(old.Sub(rec.First), speed))
		if wait := time.Until(due); wait > 0 {
			p.flush()
			timer.Reset(wait)
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-timer.C:
			}
		}
		if due.After(at) {
			at = due
		}
		if heard, ok := u.(world.Heard); ok && !heard.Active.IsZero() {
			heard.Active = due.Add(heard.Active.Sub(old))
			u = heard
		}
		return p.play(u, due)
	})
	p.flush()
	stamp := world.Stamp{Generation: p.generation, At: at}
	switch {
	case p.recorded == 0: // nothing began
	case err == nil && !p.still:
		w.Apply(world.Frozen{Stamp: stamp})
	case err != nil:
		stamp.At = time.Now()
		w.Apply(world.Disconnected{Stamp: stamp})
	}
	return err
}

// scale returns d at a speed, within what a duration can hold.
func scale(d time.Duration, speed float64) time.Duration {
	const longest = float64(1<<63 - 1024)
	return time.Duration(min(max(float64(d)/speed, -longest), longest))
}

// player gives updates to a world.
type player struct {
	w          *world.World
	generation uint64 // of the world's session; before the first, what it will be
	recorded   uint64 // the same in the recording; before the first, 0
	still      bool   // the recorded session says itself of when it is
	pending    []world.Update
}

func newPlayer(w *world.World, cfg *Config) *player {
	p := &player{w: w, generation: 1}
	if cfg != nil && cfg.Generation > 0 {
		p.generation = cfg.Generation
	}
	return p
}

// play gives u to the world as an update of the world's session, observed at a
// time. Some may wait for flush.
func (p *player) play(u world.Update, at time.Time) error {
	region := world.StampOf(u).Region
	start, starts := u.(world.SessionStarted)
	if starts {
		p.flush()
		if p.recorded != 0 {
			p.generation++
		}
		p.recorded = start.Generation
		p.still = !start.AsOf.IsZero()
		start.Source = sourcePrefix + strings.TrimPrefix(start.Source, sourcePrefix)
		u = start
	}
	if _, ok := u.(world.Frozen); ok {
		p.still = true
	}
	p.pending = append(p.pending, world.Restamp(u, world.Stamp{Generation: p.generation, Region: region, At: at}))
	if starts {
		before := p.w.Stats().Stale
		if p.flush(); p.w.Stats().Stale != before {
			p.recorded = 0 // the session is another's
			return fmt.Errorf("found a world that has seen generation %d, expected an earlier one", p.generation)
		}
	}
	if len(p.pending) >= batch {
		p.flush()
	}
	return nil
}

// flush has the world take in what waits.
func (p *player) flush() {
	p.w.Apply(p.pending...)
	p.pending = p.pending[:0]
}

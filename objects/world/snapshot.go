package world

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// Snapshot is the world as it was observed at one moment. It does not change
// and is safe for concurrent use; it may share memory with other snapshots.
// What it hands out must not be changed.
type Snapshot struct {
	Fence
	// ID differs from that of every other snapshot of a world.
	ID string
	// Source is what SessionStarted said.
	Source string
	// Observed is the time of capture, or when the source last heard from the
	// region if it says so (Alive), or when a world that stands still was
	// saved.
	Observed time.Time
	// Agent is whose session it is; zero if there is none.
	Agent UUID
	// Health is 0 to 100; nil if unknown.
	Health *float64
	// RegionName is empty if unknown.
	RegionName string
	// WaterHeight and TerrainHeight are in metres; nil if unknown. The
	// latter is that of the ground at Scene.Observer.
	WaterHeight, TerrainHeight *float64
	// Parcel is the one at Scene.Observer; nil if unknown.
	Parcel *Parcel

	Scene      *Scene
	Belongings *Belongings
	People     *People
}

// Selection is what one call may inspect of a collection: at most MaxInspected
// entries.
type Selection[T any] struct {
	Items []T // shared, not to be changed
	// Truncated says that there were more, here or where they came from.
	Truncated bool
}

func bound[T any](items []T, truncated bool) Selection[T] {
	n := min(len(items), MaxInspected)
	return Selection[T]{slices.Clip(items[:n]), truncated || n < len(items)}
}

// steps are the parts of a capture, in order. Each runs with w.mu held; what
// is applied between two of them either changes the fence or is as well seen
// by the later ones as not.
var steps = [...]struct {
	name string
	take func(w *World, s *Snapshot)
}{
	{"session", func(w *World, s *Snapshot) {
		w.captures++
		s.ID = strconv.FormatInt(s.Observed.UnixMilli(), 36) + "-" + strconv.FormatUint(w.captures, 36)
		switch alive := w.session.alive; {
		case !w.session.asOf.IsZero():
			s.Observed = w.session.asOf
		case !alive.IsZero() && alive.Before(s.Observed):
			s.Observed = alive
		}
		s.Source, s.Agent, s.Health = w.session.source, w.session.agent, w.session.health
	}},
	{"region", func(w *World, s *Snapshot) {
		s.RegionName, s.WaterHeight = w.region.name, w.region.water
	}},
	{"scene", func(w *World, s *Snapshot) {
		s.Scene = w.scene.capture(w.latest, w.session.ownLocalIDs)
	}},
	{"land", func(w *World, s *Snapshot) {
		s.Parcel = w.land.parcelAt(s.Scene.Observer)
		s.TerrainHeight = w.land.heightAt(s.Scene.Observer)
	}},
	{"inventory", func(w *World, s *Snapshot) { s.Belongings = w.inventory.capture() }},
	{"participants", func(w *World, s *Snapshot) { s.People = w.people.capture() }},
}

// Capture returns the world as it is now. It starts nothing and waits for
// nobody but Apply. A capture during which the session or region changed is
// thrown away and made again until ctx ends. Errors: ErrNotReady, ErrMoving,
// ErrDisconnected; ErrStraddled if the deadline came before an undisturbed
// capture; otherwise ctx's own.
func (w *World) Capture(ctx context.Context) (*Snapshot, error) {
	for straddled := false; ; straddled = true {
		s, err := w.capture(ctx)
		switch {
		case err != nil && straddled && errors.Is(err, context.DeadlineExceeded):
			return nil, fmt.Errorf("%w: %w", ErrStraddled, err)
		case err != nil || s != nil:
			return s, err
		}
	}
}

// capture makes one attempt; it returns neither snapshot nor error if the
// fence changed meanwhile.
func (w *World) capture(ctx context.Context) (*Snapshot, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	before, err := w.Fence()
	if err != nil {
		return nil, err
	}
	s := &Snapshot{Fence: before, Observed: time.Now()}
	for _, step := range steps {
		if w.step != nil {
			w.step(step.name)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		w.mu.Lock()
		step.take(w, s)
		w.mu.Unlock()
	}
	if w.step != nil {
		w.step("fence")
	}
	if after, err := w.Fence(); err != nil || after != before {
		return nil, err
	}
	return s, nil
}

// Package demo is a small grid that needs no network: Heron Hollow, a village
// by a lake, where a few people walk about, somebody sits in the tea house
// and strangers have left texts that try to mislead whoever reads them.
//
// Nothing in it is random. What stands there never changes, and where
// somebody walks is a function of the time alone, so two worlds at the same
// time are equal.
package demo

import (
	"context"
	"time"

	"github.com/wipagent/wipagent/objects/world"
)

// Config says how the demo runs; nil and the zero value are fine.
type Config struct {
	// Generation is the session generation; 0 means 1. A world that has seen
	// one already needs a higher one.
	Generation uint64
	// Every is the time between two updates of what moves; 0 means a
	// second, which is what grids do.
	Every time.Duration
}

// Demo is the embedded grid. It is immutable and safe for concurrent use.
type Demo struct {
	generation uint64
	every      time.Duration
}

// Name is the region's name.
const Name = "Heron Hollow"

var (
	// RegionID is the region's UUID.
	RegionID = id(kindRegion, 1)
	// AgentID is the UUID of the agent, whose name is Wip Guide.
	AgentID = id(kindAvatar, 1)
)

// New returns the demo.
func New(cfg *Config) *Demo {
	d := &Demo{generation: 1, every: time.Second}
	if cfg != nil && cfg.Generation > 0 {
		d.generation = cfg.Generation
	}
	if cfg != nil && cfg.Every > 0 {
		d.every = cfg.Every
	}
	return d
}

// Open returns the updates of a session that has been there long enough to
// have seen everything, as of a time.
func (d *Demo) Open(at time.Time) []world.Update {
	s := d.stamp(at)
	updates := []world.Update{
		world.SessionStarted{Stamp: s, Source: "demo", Agent: AgentID},
		world.RegionEntered{Stamp: s, Name: Name, SizeX: size, SizeY: size, WaterHeight: ptr(waterHeight)},
	}
	updates = append(updates, landUpdates(s)...)
	updates = append(updates, objectUpdates(s)...)
	updates = append(updates, peopleUpdates(s, at)...)
	updates = append(updates, inventoryUpdates(s)...)
	for _, c := range []world.Collection{world.Avatars, world.Objects, world.Inventory, world.Participants} {
		updates = append(updates, world.Covered{Stamp: s, Collection: c})
	}
	updates = append(updates, d.Moved(at)...)
	return append(updates, world.RegionReady{Stamp: s})
}

// Moved returns the updates of all that moves, as of a time. It says nothing
// about what stands still.
func (d *Demo) Moved(at time.Time) []world.Update {
	s := d.stamp(at)
	return append(movingUpdates(s, at), coarseUpdate(s, at), smallTalk(s, at))
}

// Start opens the demo in w and keeps it moving until ctx ends; the session
// then counts as disconnected. The world is complete when Start returns. The
// channel is closed when the one goroutine that does this has ended.
func (d *Demo) Start(ctx context.Context, w *world.World) <-chan struct{} {
	w.Apply(d.Open(time.Now())...)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(d.every)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				w.Apply(world.Disconnected{Stamp: d.stamp(time.Now())})
				return
			case at := <-tick.C:
				w.Apply(d.Moved(at)...)
			}
		}
	}()
	return done
}

func (d *Demo) stamp(at time.Time) world.Stamp {
	return world.Stamp{Generation: d.generation, Region: RegionID, At: at}
}

// The first digits of the demo's UUIDs tell what they identify.
const (
	kindRegion uint32 = 0xde300000
	kindAvatar uint32 = 0xa7a7a700
	kindObject uint32 = 0x0b1ec700
	kindFolder uint32 = 0xf01de700
	kindItem   uint32 = 0x17e30000
)

// id returns the UUID of the nth thing of a kind.
func id(kind uint32, n int) world.UUID {
	return world.UUID{
		0: byte(kind >> 24), 1: byte(kind >> 16), 2: byte(kind >> 8), 3: byte(kind),
		6: 0x40, 8: 0x80, 14: byte(n >> 8), 15: byte(n),
	}
}

func ptr[T any](v T) *T { return &v }

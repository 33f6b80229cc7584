package archive

import (
	"fmt"
	"math"

	"github.com/wipagent/wipagent/objects/world"
)

// source is what provenance names.
const source = "archive"

// batch is how many updates the world takes in at once, so that its other
// users wait for little.
const batch = 1_024

// apply tells the world what a session would have observed. r is nil without
// a region archive, inv without an inventory archive. Avatars, health and
// participants are never covered.
func (l *loader) apply(w *world.World, r *region, inv *inventory) error {
	s := &l.summary
	stamp := world.Stamp{Generation: max(1, l.cfg.Generation), At: s.SavedAt}
	if r != nil {
		stamp.Region = r.id
		s.RegionID, s.Region, s.SizeX, s.SizeY = r.id, r.name, r.sizeX, r.sizeY
	} else {
		// A session is always in some region, of which nothing is known here.
		stamp.Region = derive(source)
		l.warn("", "found no region archive: all about a region is unknown, and its UUID stands for none")
	}
	before := w.Stats()
	w.Apply(world.SessionStarted{Stamp: stamp, Source: source, AsOf: s.SavedAt, OwnLocalIDs: true})
	if w.Stats().Stale != before.Stale {
		return fmt.Errorf("found a world that has seen generation %d, expected an earlier one", stamp.Generation)
	}
	out := &sink{w: w}
	if r == nil {
		out.send(world.RegionEntered{Stamp: stamp})
	} else {
		l.sendRegion(out, stamp, r)
	}
	if inv != nil {
		l.sendInventory(out, stamp, inv)
	}
	out.send(world.RegionReady{Stamp: stamp})
	out.flush()
	after := w.Stats()
	if n := after.Malformed - before.Malformed; n > 0 {
		l.warn("", "%d facts left out: they make no sense in themselves", n)
	}
	if n := after.Overflow - before.Overflow; n > 0 {
		l.warn("", "%d facts left out: they are more than a world holds", n)
	}
	return nil
}

// sendRegion sends the region, its land and its objects, and places the
// observer.
func (l *loader) sendRegion(out *sink, stamp world.Stamp, r *region) {
	s := &l.summary
	out.send(world.RegionEntered{Stamp: stamp, Name: r.name, SizeX: r.sizeX, SizeY: r.sizeY, WaterHeight: r.water})
	if r.heights != nil {
		s.Terrain = true
		out.send(world.TerrainUpdated{Stamp: stamp, Width: r.sizeX, Height: r.sizeY, Heights: r.heights})
	}
	for _, p := range r.parcels {
		s.Parcels++
		p.Stamp = stamp
		out.send(p)
	}
	// The numbers only tie children to their roots.
	var local uint32
	for _, linkset := range r.objects {
		s.Objects++
		s.Children += len(linkset) - 1
		rootID := local + 1
		for i, p := range linkset {
			local++
			p.Stamp, p.LocalID = stamp, local
			if i > 0 {
				p.ParentID = rootID
			}
			out.send(p)
		}
	}
	out.send(world.Covered{Stamp: stamp, Collection: world.Objects, Truncated: r.truncated})
	out.send(world.AgentPlaced{Stamp: stamp, Position: l.place(r), Assumed: true})
}

// place returns where the observer stands.
func (l *loader) place(r *region) world.Vec3 {
	if at := l.cfg.At; at != nil {
		return world.Vec3{X: at[0], Y: at[1], Z: at[2]}
	}
	x, y := r.sizeX/2, r.sizeY/2
	z := math.NaN()
	if r.heights != nil {
		z = float64(r.heights[y*r.sizeX+x])
	}
	if math.IsNaN(z) || math.IsInf(z, 0) {
		z = 0
		if r.water != nil {
			z = *r.water
		}
		l.warn("", "found no ground at the region's centre: the observer stands at a height of %g metres", z)
	}
	return world.Vec3{X: float64(x), Y: float64(y), Z: z}
}

// sendInventory sends folders before what lies in them.
func (l *loader) sendInventory(out *sink, stamp world.Stamp, inv *inventory) {
	s := &l.summary
	for _, f := range inv.folders {
		s.Folders++
		f.Stamp = stamp
		out.send(f)
	}
	for _, i := range inv.items {
		s.Items++
		i.Stamp = stamp
		out.send(i)
	}
	out.send(world.Covered{Stamp: stamp, Collection: world.Inventory, Truncated: inv.truncated})
}

// sink hands updates on in batches.
type sink struct {
	w       *world.World
	pending []world.Update
}

func (s *sink) send(u world.Update) {
	if s.pending = append(s.pending, u); len(s.pending) >= batch {
		s.flush()
	}
}

func (s *sink) flush() {
	s.w.Apply(s.pending...)
	clear(s.pending)
	s.pending = s.pending[:0]
}

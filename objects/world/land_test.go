package world_test

import (
	"math"
	"testing"

	"github.com/wipagent/wipagent/objects/world"
)

// placedAt is a world whose agent is at x, y.
func placedAt(x, y float64, updates ...world.Update) *world.World {
	return after(append(updates, world.AgentPlaced{Stamp: in(5), Position: at(x, y, 100)})...)
}

func checkHeight(t *testing.T, w *world.World, want float64) {
	t.Helper()
	got := capture(t, w).TerrainHeight
	switch {
	case math.IsNaN(want):
		if got != nil {
			t.Errorf("found %v, expected an unknown height", *got)
		}
	case got == nil:
		t.Errorf("found an unknown height, expected %v", want)
	case math.Abs(*got-want) > 1e-6:
		t.Errorf("found %v, expected %v", *got, want)
	}
}

func TestTerrain(t *testing.T) {
	nan := float32(math.NaN())
	// One cell whose corners all differ: SW 10, SE 20, NW 40, NE 80.
	cell := world.TerrainUpdated{Stamp: in(1), X: 10, Y: 10, Width: 2, Height: 2, Heights: []float32{10, 20, 40, 80}}
	holed := func(i int) world.TerrainUpdated {
		c := cell
		c.Heights = append([]float32(nil), cell.Heights...)
		c.Heights[i] = nan
		return c
	}
	edge := world.TerrainUpdated{Stamp: in(1), X: 254, Y: 254, Width: 2, Height: 2, Heights: []float32{1, 2, 3, 4}}
	tests := []struct {
		name    string
		terrain world.TerrainUpdated
		x, y    float64
		want    float64
	}{
		{"south-west sample", cell, 10, 10, 10},
		{"north-east sample", cell, 11, 11, 80},
		{"on the split", cell, 10.5, 10.5, 45},
		{"south-east triangle", cell, 10.5, 10.25, 10 + 0.5*10 + 0.25*60},
		{"north-west triangle", cell, 10.25, 10.5, 10 + 0.5*30 + 0.25*40},
		{"south side", cell, 10.75, 10, 17.5},
		{"west side", cell, 10, 10.75, 32.5},
		{"east side", cell, 11, 10.5, 50},
		{"north side", cell, 10.5, 11, 60},
		{"never received", cell, 100, 100, math.NaN()},
		{"beside what was received, nearer to it", cell, 11.25, 11.25, 80},
		{"beside what was received, farther from it", cell, 11.75, 11.75, math.NaN()},
		{"a corner that is not needed", holed(2), 10.75, 10.25, 10 + 0.75*10 + 0.25*60},
		{"a corner that is needed", holed(1), 10.75, 10.25, math.NaN()},
		{"a corner that is needed, near another", holed(1), 10.25, 10, 10},
		{"last sample", edge, 255, 255, 4},
		{"beyond the last sample", edge, 255.9, 255.9, 4},
		{"beyond the last column", edge, 255.9, 254.5, 3},
		{"beyond the region", edge, 300, 254, 2},
		{"before the region", world.TerrainUpdated{Stamp: in(1), Width: 2, Height: 2, Heights: []float32{10, 20, 40, 80}}, -0.5, 0.5, 25},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			checkHeight(t, placedAt(test.x, test.y, test.terrain), test.want)
		})
	}
}

// A plane is interpolated to itself, also across the borders of patches.
func TestTerrainPlane(t *testing.T) {
	var updates []world.Update
	for py := range 16 {
		for px := range 16 {
			u := world.TerrainUpdated{Stamp: in(1), X: 16 * px, Y: 16 * py, Width: 16, Height: 16}
			for j := range 16 {
				for i := range 16 {
					u.Heights = append(u.Heights, float32(0.5*float64(u.X+i)+0.25*float64(u.Y+j)))
				}
			}
			updates = append(updates, u)
		}
	}
	for _, p := range [][2]float64{{15.5, 15.25}, {15.25, 15.5}, {31.75, 128}, {0, 0}, {128, 47.999}, {254.5, 254.25}} {
		checkHeight(t, placedAt(p[0], p[1], updates...), 0.5*p[0]+0.25*p[1])
	}
}

func TestTerrainInLargeRegion(t *testing.T) {
	w := world.New()
	w.Apply(
		world.SessionStarted{Stamp: in(0), Agent: self},
		world.RegionEntered{Stamp: in(0), SizeX: 512, SizeY: 1024},
		world.RegionReady{Stamp: in(0)},
		world.AgentPlaced{Stamp: in(0), Position: at(500, 1000, 25)},
		world.TerrainUpdated{Stamp: in(0), X: 500, Y: 1000, Width: 1, Height: 1, Heights: []float32{33}},
	)
	checkHeight(t, w, 33)
}

func TestMalformedTerrain(t *testing.T) {
	for _, u := range []world.TerrainUpdated{
		{X: -1, Width: 1, Height: 1, Heights: []float32{1}},
		{X: 256, Width: 1, Height: 1, Heights: []float32{1}},
		{Width: 2, Height: 1, Heights: []float32{1}},
		{Width: 0, Height: 0},
		{Width: -1, Height: -1, Heights: []float32{1}},
		{Width: 1 << 40, Height: 1 << 40},
	} {
		u.Stamp = in(1)
		checkStats(t, after(u), world.Stats{Malformed: 1})
	}
	// A rectangle that reaches beyond the region is cut.
	w := placedAt(255, 255, world.TerrainUpdated{Stamp: in(1), X: 255, Y: 255, Width: 2, Height: 2, Heights: []float32{7, 8, 9, 10}})
	checkHeight(t, w, 7)
	checkStats(t, w, world.Stats{})
	// An infinite height is unknown.
	checkHeight(t, placedAt(0, 0, world.TerrainUpdated{Stamp: in(1), Width: 1, Height: 1, Heights: []float32{float32(math.Inf(1))}}), math.NaN())
}

// cells returns a bitmap of a 256 m region with the given cells set.
func cells(marked func(x, y int) bool) []byte {
	b := make([]byte, 512)
	for y := range 64 {
		for x := range 64 {
			if marked(x, y) {
				b[(y*64+x)/8] |= 1 << (x % 8)
			}
		}
	}
	return b
}

func TestParcelAtAgent(t *testing.T) {
	west := world.ParcelUpdated{Stamp: in(1), LocalID: 1, Name: "West", Area: 36864, Bitmap: cells(func(x, _ int) bool { return x < 36 })}
	east := world.ParcelUpdated{Stamp: in(1), LocalID: 2, Name: "East", Area: 28672, Bitmap: cells(func(x, _ int) bool { return x >= 36 })}
	current := func(p world.ParcelUpdated) world.ParcelUpdated { p.Current = true; return p }
	shapeless := func(p world.ParcelUpdated) world.ParcelUpdated { p.Bitmap = nil; return p }
	tests := []struct {
		name    string
		x, y    float64
		parcels []world.Update
		want    string
	}{
		{"none", 1, 1, nil, ""},
		{"by shape", 143.99, 1, []world.Update{west, east}, "West"},
		{"by shape, over the border", 144, 1, []world.Update{west, east}, "East"},
		{"first cell", 0, 0, []world.Update{west, east}, "West"},
		{"last cell", 255.9, 255.9, []world.Update{west, east}, "East"},
		{"outside", 256, 1, []world.Update{west, east}, ""},
		{"outside in the south", 1, -0.1, []world.Update{west, east}, ""},
		{"by mark", 1, 1, []world.Update{current(west), east}, "West"},
		{"by mark without shape", 1, 1, []world.Update{current(shapeless(west)), east}, "West"},
		{"marked last", 200, 1, []world.Update{current(west), current(east)}, "East"},
		{"described again without mark", 1, 1, []world.Update{current(west), west}, "West"},
		{"mark contradicted by the shapes", 200, 1, []world.Update{current(west), east}, "East"},
		{"mark contradicted, the other unknown", 200, 1, []world.Update{current(west)}, ""},
		{"no shape, no mark", 1, 1, []world.Update{shapeless(west)}, ""},
		{"bitmap of another size", 1, 1, []world.Update{world.ParcelUpdated{Stamp: in(1), LocalID: 1, Name: "West", Bitmap: []byte{0xff}}}, ""},
		{"two cover it", 1, 1, []world.Update{
			world.ParcelUpdated{Stamp: in(1), LocalID: 9, Name: "Nine", Bitmap: cells(func(int, int) bool { return true })},
			world.ParcelUpdated{Stamp: in(1), LocalID: 3, Name: "Three", Bitmap: cells(func(int, int) bool { return true })},
		}, "Three"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := ""
			if p := capture(t, placedAt(test.x, test.y, test.parcels...)).Parcel; p != nil {
				got = p.Name
			}
			if got != test.want {
				t.Errorf("found %q, expected %q", got, test.want)
			}
		})
	}
}

func TestParcelWithoutPlace(t *testing.T) {
	w := world.New()
	w.Apply(
		world.SessionStarted{Stamp: in(0), Agent: self},
		world.RegionEntered{Stamp: in(0)},
		world.RegionReady{Stamp: in(0)},
		world.ParcelUpdated{Stamp: in(0), LocalID: 1, Name: "Here", Current: true, Bitmap: cells(func(int, int) bool { return true })},
	)
	s := capture(t, w)
	if s.Parcel == nil || s.Parcel.Name != "Here" || s.TerrainHeight != nil {
		t.Errorf("found parcel %v, terrain %v", s.Parcel, s.TerrainHeight)
	}
}

func TestLandBounds(t *testing.T) {
	w := after()
	for n := range world.MaxParcels + 1 {
		w.Apply(world.ParcelUpdated{Stamp: in(1), LocalID: int32(n)})
	}
	checkStats(t, w, world.Stats{Overflow: 1})
	w.Apply(world.ParcelUpdated{Stamp: in(1), LocalID: 3, Name: "known already"})
	checkStats(t, w, world.Stats{Overflow: 1})

	// Bitmaps count together, and what is replaced counts no more.
	w = after(world.RegionLeaving{Stamp: in(1)}, world.RegionEntered{Stamp: in(1), SizeX: 4096, SizeY: 4096})
	bitmap := make([]byte, 1024*1024/8)
	fit := world.MaxParcelBytes / len(bitmap)
	for range 2 {
		for n := range fit {
			w.Apply(world.ParcelUpdated{Stamp: in(1), LocalID: int32(n), Bitmap: bitmap})
		}
	}
	checkStats(t, w, world.Stats{})
	w.Apply(world.ParcelUpdated{Stamp: in(1), LocalID: int32(fit), Bitmap: bitmap})
	checkStats(t, w, world.Stats{Overflow: 1})
}

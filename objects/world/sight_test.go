package world_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/wipagent/wipagent/objects/world"
)

func TestDirection(t *testing.T) {
	const slight = 1e-9
	eighth := math.Tan(math.Pi / 8)
	tests := []struct {
		dx, dy float64
		want   world.Direction
	}{
		{0, 1, world.North}, {1, 1, world.Northeast}, {1, 0, world.East}, {1, -1, world.Southeast},
		{0, -1, world.South}, {-1, -1, world.Southwest}, {-1, 0, world.West}, {-1, 1, world.Northwest},
		{eighth - slight, 1, world.North}, {eighth + slight, 1, world.Northeast},
		{-eighth + slight, 1, world.North}, {-eighth - slight, 1, world.Northwest},
		{1, eighth + slight, world.Northeast}, {1, eighth - slight, world.East},
		{1, -eighth + slight, world.East}, {1, -eighth - slight, world.Southeast},
		{eighth + slight, -1, world.Southeast}, {eighth - slight, -1, world.South},
		{-eighth + slight, -1, world.South}, {-eighth - slight, -1, world.Southwest},
		{-1, -eighth - slight, world.Southwest}, {-1, -eighth + slight, world.West},
		{-1, eighth - slight, world.West}, {-1, eighth + slight, world.Northwest},
		{0, 0, world.NoDirection}, {0.0099, 0, world.NoDirection}, {0, -0.01, world.South}, {-0.01, 0, world.West},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("%v,%v", test.dx, test.dy), func(t *testing.T) {
			w := after(world.AgentPlaced{Stamp: in(1)}, prim(5, 0, at(test.dx, test.dy, 7)))
			if got := objects(t, w)[0].Direction; got != test.want {
				t.Errorf("found %d, expected %d", got, test.want)
			}
		})
	}
}

func TestRadiusIsInclusive(t *testing.T) {
	w := after(world.AgentPlaced{Stamp: in(1)}, prim(1, 0, at(3, 4, 0)), prim(2, 0, at(0, 0, 5)),
		prim(3, 0, at(3, 4, 0.001)), prim(4, 0, at(0, 0, 0)))
	for _, test := range []struct {
		radius float64
		want   int
	}{{0, 1}, {4.999, 1}, {5, 3}, {5.001, 4}} {
		got, _ := capture(t, w).Scene.Objects(test.radius)
		if len(got.Items) != test.want {
			t.Errorf("radius %v: found %d, expected %d", test.radius, len(got.Items), test.want)
		}
	}
}

// Distances that differ by less than the arithmetic can tell are equal, so that
// UUIDs decide; yet the radius is compared with the exact distance.
func TestNoiseInDistances(t *testing.T) {
	w := after(prim(2, 0, at(127.9, 128, 25)), prim(1, 0, at(128.1, 128, 25)), prim(4, 0, at(128, 127.9, 25)), prim(3, 0, at(128, 128.1, 25)))
	got := objects(t, w)
	for i, o := range got {
		if o.ID != id(i+1) || o.Distance != 0.1 {
			t.Errorf("found %v at %v in place %d", o.ID, o.Distance, i)
		}
	}
	w = after(world.AgentPlaced{Stamp: in(1)}, prim(1, 0, at(64.0000001, 0, 0)), prim(2, 0, at(64, 0, 0)), prim(3, 0, at(1, 0, 0)), prim(4, 0, at(0, 64.0000001, 0)))
	var ids []int
	found, _ := capture(t, w).Scene.Objects(64)
	for _, o := range found.Items {
		ids = append(ids, int(o.ID[15]))
	}
	if !slices.Equal(ids, []int{3, 2}) {
		t.Errorf("found %v inside 64 m", ids)
	}
	if found, _ := capture(t, w).Scene.Objects(64.0000001); len(found.Items) != 4 {
		t.Errorf("found %d inside 64.0000001 m", len(found.Items))
	}
}

// What is of unknown height counts by its horizontal distance, and what is of
// unknown place comes last whatever the radius.
func TestRadiusOfTheUnknown(t *testing.T) {
	w := after(world.AgentPlaced{Stamp: in(1)},
		world.CoarseLocations{Stamp: in(1), You: -1, Entries: []world.CoarseLocation{{ID: id(1), X: 3, Y: 4, Z: 255}, {ID: id(2), X: 6, Y: 8, Z: 0}}},
		avatar(9, 77, at(0, 0, 0)), avatar(8, 77, at(0, 0, 0)))
	for _, test := range []struct {
		radius float64
		want   []int
	}{{4, []int{8, 9}}, {5, []int{1, 8, 9}}, {256, []int{1, 2, 8, 9}}} {
		got, _ := capture(t, w).Scene.Avatars(test.radius)
		var ids []int
		for _, a := range got.Items {
			ids = append(ids, int(a.ID[15]))
		}
		if !slices.Equal(ids, test.want) {
			t.Errorf("radius %v: found %v, expected %v", test.radius, ids, test.want)
		}
	}
}

// The order of world items is total and does not depend on the order in which
// they came, and each radius selects a prefix of it (P12).
func TestOrderOfSightings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		coordinate := rapid.SampledFrom([]float64{100, 101, 102, 103.5, 128, 128.001, 150})
		var updates []world.Update
		for n := range rapid.IntRange(0, 30).Draw(t, "objects") {
			p := at(coordinate.Draw(t, "x"), coordinate.Draw(t, "y"), coordinate.Draw(t, "z"))
			updates = append(updates, prim(uint32(n+1), 0, p))
		}
		first, _ := mustCapture(t, after(updates...)).Scene.Objects(anywhere)
		updates = rapid.Permutation(updates).Draw(t, "order")
		w := after(updates...)
		s := mustCapture(t, w)
		all, _ := s.Scene.Objects(anywhere)
		if len(all.Items) != len(updates) {
			t.Fatalf("found %d of %d", len(all.Items), len(updates))
		}
		for i, o := range all.Items {
			if o.ID != first.Items[i].ID {
				t.Fatalf("the order depends on the order of updates at %d", i)
			}
			want := distance(o.Place.Vec3, at(128, 128, 25))
			if o.Distance != want {
				t.Fatalf("found distance %v, expected %v", o.Distance, want)
			}
			if i == 0 {
				continue
			}
			last := all.Items[i-1]
			if last.Distance > o.Distance || last.Distance == o.Distance && last.ID.Compare(o.ID) >= 0 {
				t.Fatalf("found %v %v before %v %v", last.Distance, last.ID, o.Distance, o.ID)
			}
		}
		radius := rapid.OneOf(rapid.Float64Range(0, 256), rapid.SampledFrom([]float64{0, 0.001, 3, 25})).Draw(t, "radius")
		some, _ := s.Scene.Objects(radius)
		if !slices.Equal(some.Items, all.Items[:len(some.Items)]) {
			t.Fatal("a radius selects no prefix")
		}
		for i, o := range all.Items {
			if (o.Distance <= radius) != (i < len(some.Items)) {
				t.Fatalf("radius %v, distance %v: found inside %v", radius, o.Distance, i < len(some.Items))
			}
		}
	})
}

func mustCapture(t *rapid.T, w *world.World) *world.Snapshot {
	s, err := w.Capture(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func distance(a, b world.Vec3) float64 {
	x, y, z := a.X-b.X, a.Y-b.Y, a.Z-b.Z
	return math.Round(1e6*math.Sqrt(x*x+y*y+z*z)) / 1e6
}

// What one call inspects is bounded after its own selection, and says so only
// if something was left out (P11, P13).
func TestInspectedBound(t *testing.T) {
	for _, n := range []int{2047, 2048, 2049} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			var updates []world.Update
			for i := 1; i <= n; i++ {
				place := at(128, 128, 25+float64(i)/100)
				updates = append(updates, prim(uint32(i), 0, place), avatar(uint32(100_000+i), 0, place),
					item(i, 0, fmt.Sprintf("in %05d", i)), item(100_000+i, 0, "no"),
					world.InventoryItem{Stamp: in(1), ID: id(200_000 + i), Name: fmt.Sprintf("mark %05d", i), AssetType: world.AssetLandmark},
					world.Heard{Stamp: in(float64(i)), ID: id(i), Channel: world.DirectIM})
			}
			s := capture(t, after(updates...))
			want, truncated := min(n, world.MaxInspected), n > world.MaxInspected
			check := func(what string, found int, cut, ok bool) {
				t.Helper()
				if found != want || cut != truncated || !ok {
					t.Errorf("%s: found %d, truncated %v, known %v", what, found, cut, ok)
				}
			}
			a, ok := s.Scene.Avatars(256)
			check("avatars", len(a.Items), a.Truncated, ok)
			o, ok := s.Scene.Objects(256)
			check("objects", len(o.Items), o.Truncated, ok)
			if last := o.Items[len(o.Items)-1]; last.ID != id(want) {
				t.Errorf("the last object inspected is %v, expected the nearest %d", last.ID, want)
			}
			i, ok := s.Belongings.Search("IN ")
			check("items", len(i.Items), i.Truncated, ok)
			l, ok := s.Belongings.Landmarks()
			check("landmarks", len(l.Items), l.Truncated, ok)
			p, ok := s.People.Recent()
			check("participants", len(p.Items), p.Truncated, ok)
			if p.Items[0].ID != id(n) {
				t.Errorf("the first participant is %v, expected the newest", p.Items[0].ID)
			}

			// A selection that leaves out enough is whole again.
			if o, _ := s.Scene.Objects(10); len(o.Items) != 1000 || o.Truncated {
				t.Errorf("within 10 m: found %d, truncated %v", len(o.Items), o.Truncated)
			}
			if i, _ := s.Belongings.Search("in 00001"); len(i.Items) != 1 || i.Truncated {
				t.Errorf("one name: found %d, truncated %v", len(i.Items), i.Truncated)
			}
		})
	}
}

// Avatars of unknown place count towards the bound, after all others.
func TestInspectedBoundOfTheUnknown(t *testing.T) {
	var updates []world.Update
	for i := 1; i <= 2048; i++ {
		updates = append(updates, avatar(uint32(i), 0, at(128, 128, 25)))
	}
	w := after(updates...)
	if a, _ := capture(t, w).Scene.Avatars(0); len(a.Items) != 2048 || a.Truncated {
		t.Errorf("found %d, truncated %v", len(a.Items), a.Truncated)
	}
	w.Apply(avatar(9999, 77_777, at(1, 1, 1)))
	a, _ := capture(t, w).Scene.Avatars(0)
	if len(a.Items) != 2048 || !a.Truncated || !a.Items[2047].Place.Known {
		t.Errorf("found %d, truncated %v", len(a.Items), a.Truncated)
	}
}

func TestSceneBounds(t *testing.T) {
	if testing.Short() {
		t.Skip("one thing at a time, at length: nothing for the race detector")
	}
	w := after()
	for n := range world.MaxObjects {
		w.Apply(prim(uint32(n+1), 0, at(1, 1, 1)))
	}
	checkStats(t, w, world.Stats{})
	if o, _ := capture(t, w).Scene.Objects(0); o.Truncated {
		t.Error("truncated before anything was left out")
	}
	w.Apply(own(1<<20, 0, at(2, 2, 2)), prim(7, 0, at(3, 3, 3))) // the agent itself, and one that is known
	checkStats(t, w, world.Stats{})
	w.Apply(prim(1<<21, 0, at(1, 1, 1)))
	checkStats(t, w, world.Stats{Overflow: 1})
	s := capture(t, w)
	o, _ := s.Scene.Objects(0)
	a, _ := s.Scene.Avatars(0)
	if !o.Truncated || a.Truncated {
		t.Errorf("objects truncated %v, avatars %v", o.Truncated, a.Truncated)
	}
	w.Apply(avatar(1<<22, 0, at(1, 1, 1)))
	if a, _ := capture(t, w).Scene.Avatars(0); !a.Truncated {
		t.Error("an avatar was left out, and nothing says so")
	}
	entries := make([]world.CoarseLocation, world.MaxCoarse+1)
	for i := range entries {
		entries[i].ID = id(i + 1)
	}
	w = after(world.CoarseLocations{Stamp: in(1), You: -1, Entries: entries})
	checkStats(t, w, world.Stats{Overflow: 1})
	if a, _ := capture(t, w).Scene.Avatars(256); !a.Truncated {
		t.Error("coarse entries were left out, and nothing says so")
	}
}

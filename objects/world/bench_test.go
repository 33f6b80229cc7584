package world_test

import (
	"fmt"
	"testing"

	"github.com/wipagent/wipagent/objects/world"
)

// full is a world with n entries in every collection, half of the avatars
// seated.
func full(n int) *world.World {
	var updates []world.Update
	for i := 1; i <= n; i++ {
		place := at(float64(i%256), float64(i*7%256), 20+float64(i%50))
		o := prim(uint32(i), 0, place)
		o.Name, o.HoverText = ptr(fmt.Sprint("object ", i)), ptr("hover")
		a := avatar(uint32(1_000_000+i), 0, place)
		if i%2 == 0 {
			a.ParentID, a.Position = uint32(i), at(0, 0, 1)
		}
		updates = append(updates, o, a, folder(i, i/2, fmt.Sprint("folder ", i)),
			world.InventoryItem{Stamp: in(1), ID: id(10_000_000 + i), ParentID: id(i), Name: fmt.Sprint("Item ", i), AssetType: 3},
			world.Heard{Stamp: in(float64(i)), ID: id(i), Channel: world.DirectIM},
			world.ParcelUpdated{Stamp: in(1), LocalID: int32(i), Bitmap: make([]byte, 512)})
	}
	updates = append(updates, world.TerrainUpdated{Stamp: in(1), Width: 256, Height: 256, Heights: make([]float32, 256*256)})
	return after(updates...)
}

// use asks for everything, so that what a snapshot puts off is done.
func use(b *testing.B, w *world.World) {
	s := capture(b, w)
	a, _ := s.Scene.Avatars(256)
	o, _ := s.Scene.Objects(256)
	i, _ := s.Belongings.Search("item")
	p, _ := s.People.Recent()
	if len(a.Items) == 0 || len(o.Items) == 0 || len(i.Items) == 0 || len(p.Items) == 0 {
		b.Fatal("something is missing")
	}
}

// A fresh capture, with all its orders made, after everything has changed.
func BenchmarkFreshCapture(b *testing.B) {
	for _, n := range []int{2_048, 20_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := full(n)
			b.ReportAllocs()
			for b.Loop() {
				w.Apply(world.ObjectMoved{Stamp: in(1), LocalID: 1, Position: at(1, 1, 1)}, item(1, 1, "new"), world.Heard{Stamp: in(9e6), ID: id(1), Channel: world.Lure})
				use(b, w)
			}
		})
	}
}

// The same after only somebody has moved, as between two calls.
func BenchmarkCaptureAfterMove(b *testing.B) {
	w := full(2_048)
	b.ReportAllocs()
	for b.Loop() {
		w.Apply(world.ObjectMoved{Stamp: in(1), LocalID: 1, Position: at(1, 1, 1)})
		use(b, w)
	}
}

// Terse updates, which are most of what a live region sends.
func BenchmarkApplyMove(b *testing.B) {
	w := full(2_048)
	u := []world.Update{world.ObjectMoved{Stamp: in(1), LocalID: 1_000_001, Position: at(1, 1, 1)}}
	b.ReportAllocs()
	for b.Loop() {
		w.Apply(u...)
	}
}

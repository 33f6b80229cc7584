package world_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/objects/world"
)

func TestTap(t *testing.T) {
	w := world.New()
	var first, second []world.Update
	removeFirst := w.Tap(func(u world.Update) { first = append(first, u) })
	removeSecond := w.Tap(func(u world.Update) { second = append(second, u) })
	want := append(login(), prim(5, 0, at(1, 1, 1)))
	w.Apply(want...)

	stray := in(2)
	stray.Generation = 9
	elsewhere := in(2)
	elsewhere.Region = regionB
	w.Apply(world.AgentHealth{Stamp: stray, Health: 1}, world.ObjectMoved{Stamp: elsewhere, LocalID: 5})
	// The known half of it counts, so it is seen.
	half := world.ObjectsKilled{Stamp: in(3), LocalIDs: []uint32{5, 6}}
	w.Apply(half)
	want = append(want, half)

	// One that comes too late for all it names is not, unless it does for a part.
	again := prim(5, 0, at(1, 1, 1))
	again.Order = 9
	late := world.ObjectsKilled{Stamp: in(4), Order: 8, LocalIDs: []uint32{5}}
	partly := world.ObjectsKilled{Stamp: in(4), Order: 8, LocalIDs: []uint32{6, 5}}
	w.Apply(again, late, partly)
	want = append(want, again, partly)

	removeSecond()
	removeSecond()
	if diff := cmp.Diff(want, second); diff != "" {
		t.Errorf("seen (-want +got):\n%s", diff)
	}
	w.Apply(prim(7, 0, at(1, 1, 1)))
	want = append(want, prim(7, 0, at(1, 1, 1)))
	removeFirst()
	w.Apply(prim(8, 0, at(1, 1, 1)))
	if diff := cmp.Diff(want, first); diff != "" {
		t.Errorf("seen (-want +got):\n%s", diff)
	}
}

// An update without a time is seen with the one that the world gave it.
func TestTapCompletesTheStamp(t *testing.T) {
	w := after()
	var seen []world.Update
	defer w.Tap(func(u world.Update) { seen = append(seen, u) })()
	u := prim(5, 0, at(1, 1, 1))
	u.At = time.Time{}
	before := time.Now()
	w.Apply(u)
	if len(seen) != 1 {
		t.Fatalf("found %d updates", len(seen))
	}
	s := world.StampOf(seen[0])
	if s.At.Before(before) || s.At.After(time.Now()) {
		t.Errorf("found time %v", s.At)
	}
	if diff := cmp.Diff(world.Update(u), world.Restamp(seen[0], u.Stamp)); diff != "" {
		t.Errorf("seen (-want +got):\n%s", diff)
	}
}

package world_test

import (
	"testing"

	"github.com/wipagent/wipagent/objects/world"
)

// TestOrder: what was sent earlier and comes later, as a packet does that was
// lost and sent again, does not undo what is known.
func TestOrder(t *testing.T) {
	put := func(order uint64, x float64, text string) world.ObjectUpdated {
		u := prim(7, 0, at(x, 0, 0))
		u.Order, u.HoverText = order, &text
		return u
	}
	move := func(order uint64, x float64) world.ObjectMoved {
		return world.ObjectMoved{Stamp: in(1), Order: order, LocalID: 7, Position: at(x, 0, 0)}
	}
	kill := func(order uint64) world.ObjectsKilled {
		return world.ObjectsKilled{Stamp: in(1), Order: order, LocalIDs: []uint32{7}}
	}
	for _, test := range []struct {
		name    string
		updates []world.Update
		x       float64 // negative: there is no object
		text    string
	}{
		{"in order", []world.Update{put(1, 10, "old"), move(2, 20), put(3, 30, "new")}, 30, "new"},
		{"a late move", []world.Update{put(1, 10, "old"), move(3, 30), move(2, 20)}, 30, "old"},
		{"a late description", []world.Update{put(3, 30, "new"), put(2, 20, "old")}, 30, "new"},
		{"a description later than a move", []world.Update{put(1, 10, "first"), move(3, 30), put(2, 20, "second")}, 30, "second"},
		{"a move later than a description", []world.Update{put(3, 30, "new"), move(2, 20)}, 30, "new"},
		{"a description of what was killed", []world.Update{put(1, 10, "old"), kill(3), put(2, 20, "ghost")}, -1, ""},
		{"something new after a kill", []world.Update{put(1, 10, "old"), kill(2), put(3, 30, "new")}, 30, "new"},
		{"a late kill", []world.Update{put(1, 10, "old"), put(3, 30, "new"), kill(2)}, 30, "new"},
		{"a kill of what was not seen", []world.Update{kill(3), put(2, 20, "ghost")}, -1, ""},
		{"a move before its description", []world.Update{move(3, 30), put(2, 20, "late")}, 30, "late"},
		{"a move before a later description", []world.Update{move(2, 20), put(3, 30, "new")}, 30, "new"},
		{"without order", []world.Update{put(3, 30, "new"), put(0, 10, "as it comes"), move(0, 20)}, 20, "as it comes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := after(test.updates...)
			found, _ := capture(t, w).Scene.Objects(1_000)
			switch {
			case test.x < 0 && len(found.Items) > 0:
				t.Errorf("found %+v, expected nothing", found.Items[0])
			case test.x >= 0 && (len(found.Items) != 1 || found.Items[0].Place.X != test.x || *found.Items[0].HoverText != test.text):
				t.Errorf("found %+v, expected it at %g with %q", found.Items, test.x, test.text)
			}
		})
	}
}

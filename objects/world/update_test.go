package world_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/objects/world"
)

// Updates are plain data: what is written down of one is all of it.
func TestUpdatesSurviveJSON(t *testing.T) {
	updates := append(login(),
		world.Disconnected{Stamp: in(1)}, world.Frozen{Stamp: in(1)}, world.Alive{Stamp: in(1)}, world.RegionLeaving{Stamp: in(1)}, world.RegionStayed{Stamp: in(1)},
		world.AgentHealth{Stamp: in(1), Health: 50},
		world.ObjectUpdated{Stamp: in(1), LocalID: 1, ID: id(1), PCode: world.PCodeAvatar, ParentID: 2, Position: at(1, 2, 3), Rotation: turned,
			Scale: at(4, 5, 6), HoverText: ptr(""), Name: ptr("n"), Description: ptr("d"), FirstName: "F", LastName: "L", Attachment: true},
		world.ObjectUpdated{Stamp: in(1)},
		world.ObjectMoved{Stamp: in(1), LocalID: 1, Position: at(1, 2, 3), Rotation: turned},
		world.ObjectNamed{Stamp: in(1), ID: id(1), Name: "n", Description: "d"},
		world.ObjectsKilled{Stamp: in(1), LocalIDs: []uint32{1, 2}},
		world.ObjectsOffered{Stamp: in(1), LocalIDs: []uint32{3}},
		world.CoarseLocations{Stamp: in(1), You: -1, Entries: []world.CoarseLocation{{ID: id(1), X: 1, Y: 2, Z: 3}}},
		world.AvatarNamed{Stamp: in(1), ID: id(1), Name: "n", Complete: true},
		world.ParcelUpdated{Stamp: in(1), LocalID: -1, Name: "n", Description: "d", Area: 16, AllowFly: true, AllowBuild: true,
			AllowScripts: true, DamageEnabled: true, Bitmap: []byte{1}, Current: true},
		world.TerrainUpdated{Stamp: in(1), X: 1, Y: 2, Width: 1, Height: 1, Heights: []float32{23.745001}},
		world.InventoryFolder{Stamp: in(1), ID: id(1), ParentID: id(2), Name: "n", Root: true},
		world.InventoryItem{Stamp: in(1), ID: id(1), ParentID: id(2), Name: "n", AssetType: 3, Created: -1},
		world.InventoryMoved{Stamp: in(1), ID: id(1), ParentID: id(2), Name: "n"},
		world.InventoryRemoved{Stamp: in(1), IDs: []world.UUID{id(1)}},
		world.Heard{Stamp: in(1), ID: id(1), Channel: world.Lure, Active: start},
	)
	kinds := map[reflect.Type]bool{}
	for _, u := range updates {
		kinds[reflect.TypeOf(u)] = true
		b, err := json.Marshal(u)
		if err != nil {
			t.Errorf("%T: %v", u, err)
			continue
		}
		again := world.Stamp{Generation: 7, Region: regionB, At: start}
		moved := world.Restamp(u, again)
		if reflect.TypeOf(moved) != reflect.TypeOf(u) || world.StampOf(moved) != again {
			t.Errorf("%T: found %T with %v", u, moved, world.StampOf(moved))
		}
		if diff := cmp.Diff(u, world.Restamp(moved, world.StampOf(u))); diff != "" {
			t.Errorf("%T stamped twice (-want +got):\n%s", u, diff)
		}
		back := reflect.New(reflect.TypeOf(u))
		if err := json.Unmarshal(b, back.Interface()); err != nil {
			t.Errorf("%T: %v", u, err)
		}
		if diff := cmp.Diff(u, back.Elem().Interface()); diff != "" {
			t.Errorf("%T (-want +got):\n%s", u, diff)
		}
	}
	if len(kinds) != 25 {
		t.Errorf("found %d kinds of update here, expected all 25", len(kinds))
	}
}

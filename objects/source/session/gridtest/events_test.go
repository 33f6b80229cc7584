package gridtest_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/objects/source/session/caps"
	"github.com/wipagent/wipagent/objects/source/session/gridtest"
	"github.com/wipagent/wipagent/objects/source/session/llsd"
	"github.com/wipagent/wipagent/objects/source/session/message"
	"github.com/wipagent/wipagent/objects/world"
)

// TestEventsAgainstDecoders holds the events' two sides together.
func TestEventsAgainstDecoders(t *testing.T) {
	bubble(t, testWorld(), func(t *testing.T, g *gridtest.Grid, c *client) {
		item := message.InventoryItem{ID: id(60), FolderID: id(61), Name: "gift <&>", AssetType: 3, Created: 1_700_000_000}
		g.Offer(id(100), id(3), item)
		g.Invite(id(100), id(3), id(90), true, "words")
		g.Region("Alpha").SetParcel(gridtest.Parcel{LocalID: 2, Name: "East", Description: "edited", Flags: 1 << 5})
		settle(time.Second)
		g.Teleport(id(100), "Beta", world.Vec3{X: 1, Y: 2, Z: 30})
		settle(5 * time.Second)
		g.Cross(id(100), "Alpha", world.Vec3{X: 250, Y: 2, Z: 30})
		settle(5 * time.Second)

		last := func(event string) llsd.Value {
			bodies := c.bodies[event]
			if len(bodies) == 0 {
				t.Fatalf("found no %s", event)
			}
			return bodies[len(bodies)-1]
		}
		groups, err := caps.DecodeGroups(last("AgentGroupDataUpdate"))
		check(t, "groups", groups, err, []world.UUID{id(90)})
		bulk, err := caps.DecodeBulkUpdateInventory(last("BulkUpdateInventory"))
		check(t, "inventory", bulk, err, caps.InventoryUpdate{Items: []caps.ItemRow{caps.ItemRow(item)}})
		invitation, err := caps.DecodeChatterBoxInvitation(last("ChatterBoxInvitation"))
		check(t, "invitation", invitation, err, caps.Invitation{SessionID: id(90), FromID: id(3), FromName: "Second Resident", Group: true, Dialog: 17})

		parcel, err := caps.DecodeParcelProperties(c.bodies["ParcelProperties"][1])
		bitmap := make([]byte, 512)
		for k := range 64 * 64 {
			if k%64 >= 36 {
				bitmap[k/8] |= 1 << (k % 8)
			}
		}
		check(t, "parcel", parcel, err, caps.ParcelProperties{
			SequenceID: -10000, LocalID: 2, Name: "East", Description: "edited", Area: 112 * 256, DamageEnabled: true, Bitmap: bitmap,
		})
		if own, err := caps.DecodeParcelProperties(c.bodies["ParcelProperties"][0]); err != nil || !own.Agent || !own.AllowFly || own.Name != "West" {
			t.Errorf("found %+v and %v, expected the agent's own parcel", own, err)
		}

		to, err := caps.DecodeTeleportFinish(last("TeleportFinish"))
		if to.Seed.IsZero() {
			t.Error("found a teleport without a seed")
		}
		check(t, "teleport", to.Simulator, err, netip.MustParseAddrPort("192.0.2.1:13001"))
		if to.SizeX != 512 || to.SizeY != 512 || to.RegionHandle != 256256<<32|256000 {
			t.Errorf("found %+v, expected Beta", to)
		}
		to, err = caps.DecodeCrossedRegion(last("CrossedRegion"))
		check(t, "crossing", to.Simulator, err, netip.MustParseAddrPort("192.0.2.1:13000"))
		if to.Seed.IsZero() || to.Position == nil || *to.Position != (world.Vec3{X: 250, Y: 2, Z: 30}) {
			t.Errorf("found %+v, expected a seed and a place", to)
		}
	})
}

func check(t *testing.T, what string, got any, err error, want any) {
	t.Helper()
	if err != nil {
		t.Errorf("%s: %v", what, err)
	}
	compare := cmp.Comparer(func(a, b netip.AddrPort) bool { return a == b })
	if diff := cmp.Diff(want, got, compare); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

package gridtest_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/objects/source/session/gridtest"
	"github.com/wipagent/wipagent/objects/source/session/message"
	"github.com/wipagent/wipagent/objects/source/session/secret"
	"github.com/wipagent/wipagent/objects/world"
)

func TestMovesBetweenRegions(t *testing.T) {
	for name, move := range map[string]func(g *gridtest.Grid){
		"teleport": func(g *gridtest.Grid) { g.Teleport(id(100), "Beta", world.Vec3{X: 400, Y: 500, Z: 25}) },
		"crossing": func(g *gridtest.Grid) { g.Cross(id(100), "Beta", world.Vec3{X: 400, Y: 500, Z: 25}) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, testWorld(), func(t *testing.T, g *gridtest.Grid, c *client) {
				watcher := inMemory(t, g)
				defer watcher.close()
				req := request(g.LoginURI())
				req.First, req.Last, req.Password = "Other", "Bot", secret.New("hidden")
				watcher.login(req)
				settle(2 * time.Second)
				if watcher.objects(id(100)) != 1 || c.objects(id(101)) != 1 {
					t.Error("found that two agents do not see each other")
				}
				move(g)
				settle(5 * time.Second)
				want := gridtest.Session{Agent: id(100), Name: "Test User", Region: "Beta", Position: world.Vec3{X: 400, Y: 500, Z: 25}, Ready: true}
				if diff := cmp.Diff(want, g.Sessions()[0]); diff != "" {
					t.Errorf("session (-want +got):\n%s", diff)
				}
				messages, _, _ := c.seen()
				if messages["AgentMovementComplete"] != 2 || messages["RegionHandshake"] != 2 || messages["DisableSimulator"] != 1 || messages["KillObject"] != 1 {
					t.Errorf("found messages %v, expected two arrivals, and an end and a kill from the region that was left", messages)
				}
				if c.answers()[404] != 1 {
					t.Errorf("found polls %v, expected one queue to be gone", c.answers())
				}
				if messages, _, _ := watcher.seen(); messages["KillObject"] != 1 {
					t.Errorf("found that the watcher got %v, expected a kill", messages)
				}
				if l := c.bodies["ParcelProperties"]; len(l) != 2 {
					t.Errorf("found %d parcels, expected one a region", len(l))
				} else if b, _ := l[1].Get("ParcelData").Index(0).Get("Bitmap").Bytes(); len(b) != 128*128/8 {
					t.Errorf("found a bitmap of %d bytes, expected one of a 512 m region", len(b))
				}
			})
		})
	}
}

// TestThereAndBack returns before the region that was left has closed.
func TestThereAndBack(t *testing.T) {
	bubble(t, testWorld(), func(t *testing.T, g *gridtest.Grid, c *client) {
		g.Teleport(id(100), "Beta", world.Vec3{X: 400, Y: 500, Z: 25})
		settle(500 * time.Millisecond)
		g.Teleport(id(100), "Alpha", world.Vec3{X: 10, Y: 20, Z: 25})
		settle(100 * time.Millisecond)
		if n := c.answers()[404]; n != 1 {
			t.Errorf("found %d queues gone, expected that of the first visit", n)
		}
		settle(10 * time.Second)
		want := []gridtest.Session{{Agent: id(100), Name: "Test User", Region: "Alpha", Position: world.Vec3{X: 10, Y: 20, Z: 25}, Ready: true}}
		if diff := cmp.Diff(want, g.Sessions()); diff != "" {
			t.Errorf("sessions (-want +got):\n%s", diff)
		}
		if n := c.objects(id(1)); n != 2 {
			t.Errorf("found the chair described %d times, expected once for each visit", n)
		}
	})
}

func TestCoarseLocations(t *testing.T) {
	cfg := testWorld()
	cfg.Accounts[0].Region, cfg.Accounts[0].Position = "Beta", world.Vec3{X: 400, Y: 500, Z: 24}
	cfg.Regions[1].Objects = []gridtest.Object{{Object: message.Object{ID: id(5), Position: world.Vec3{X: 100, Y: 200, Z: 40}}}}
	cfg.Regions[1].Avatars = []gridtest.Avatar{{ID: id(6), First: "High", Position: world.Vec3{X: 2, Z: 3000}}, {ID: id(7), First: "Seated"}}
	bubble(t, cfg, func(t *testing.T, g *gridtest.Grid, c *client) {
		g.Region("Beta").Sit(id(7), id(5), world.Vec3{X: 2, Y: 2, Z: 4})
		settle(10 * time.Second)
		want := message.CoarseLocationUpdate{You: 2, Locations: []world.CoarseLocation{
			{ID: id(6), X: 1}, {ID: id(7), X: 51, Y: 101, Z: 11}, {ID: id(100), X: 200, Y: 250, Z: 6},
		}}
		if diff := cmp.Diff(want, c.coarse); diff != "" {
			t.Errorf("coarse locations (-want +got):\n%s", diff)
		}
	})
}

func TestLostTeleport(t *testing.T) {
	bubble(t, testWorld(), func(t *testing.T, g *gridtest.Grid, c *client) {
		g.SetFaults(gridtest.Faults{LostTeleportFinish: true})
		g.Teleport(id(100), "Beta", world.Vec3{X: 1, Y: 1, Z: 25})
		settle(20 * time.Second)
		messages, _, _ := c.seen()
		if messages["TeleportStart"] != 1 || messages["TeleportProgress"] != 1 || messages["DisableSimulator"] != 1 || len(g.Sessions()) != 0 {
			t.Errorf("found messages %v and sessions %v, expected a start, progress and then the end", messages, g.Sessions())
		}
	})
}

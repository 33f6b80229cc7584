package gridtest_test

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/objects/source/session/gridtest"
	"github.com/wipagent/wipagent/objects/source/session/llsd"
	"github.com/wipagent/wipagent/objects/source/session/lludp"
	"github.com/wipagent/wipagent/objects/source/session/message"
	"github.com/wipagent/wipagent/objects/world"
)

// TestScript plays every step of a script and finds every effect once.
func TestScript(t *testing.T) {
	bubble(t, testWorld(), func(t *testing.T, g *gridtest.Grid, c *client) {
		play(g)
		settle(5 * time.Second)
		exactlyOnce(t, g, c)
		_, _, events := c.seen()
		for _, want := range []string{"BulkUpdateInventory", "ChatterBoxInvitation", "ParcelProperties", "Own"} {
			if !slices.Contains(events, want) {
				t.Errorf("found events %v, expected a %s", events, want)
			}
		}
		if n := len(c.bodies["ParcelProperties"]); n != 3 {
			t.Errorf("found %d parcels, expected one on arrival, one of another place, one after a move", n)
		}
	})
}

// play is a script that has something of everything.
func play(g *gridtest.Grid) {
	agent := g.Agent("Test User")
	alpha := g.Region("Alpha")
	locals := alpha.Put(gridtest.Object{Object: message.Object{ID: id(10), Position: world.Vec3{X: 5, Y: 5, Z: 25}}})
	alpha.Put(gridtest.Object{Object: message.Object{ID: id(11), ParentID: locals[0]}})
	for i := range 20 {
		alpha.Move(id(10), world.Vec3{X: 5 + float64(i)/4, Y: 5, Z: 25})
	}
	walker := alpha.Enter(gridtest.Avatar{ID: id(12), First: "Walker", Last: "Npc", Position: world.Vec3{X: 100, Y: 100, Z: 25}})
	for i := range 20 {
		alpha.Move(walker, world.Vec3{X: 100 + float64(i)/4, Y: 100, Z: 25})
	}
	alpha.Say(walker, "hello")
	alpha.Sit(walker, id(1), world.Vec3{Z: 1})
	alpha.Stand(walker, world.Vec3{X: 119, Y: 119, Z: 25})
	alpha.Leave(walker)
	alpha.Kill(id(10))
	for i := range byte(20) {
		alpha.Chat(message.ChatFromSimulator{FromName: "Ticker", SourceID: id(200 + i), SourceType: message.SourceObject, ChatType: message.ChatSay, Audible: 1}, "")
		g.IM(agent, message.ImprovedInstantMessage{FromID: id(3), FromName: "Second Resident"}, "")
	}
	g.Health(agent, 87.5)
	item := message.InventoryItem{ID: id(60), FolderID: id(61), Name: "gift", AssetType: 3, Created: 1_700_000_000}
	g.Offer(agent, id(3), item)
	g.Give(agent, message.InventoryUpdate{Items: []message.InventoryItem{item}})
	g.Give(agent, message.InventoryUpdate{Folders: []message.InventoryFolder{{ID: id(61), Name: "Gifts", Type: -1}}, Items: []message.InventoryItem{item}})
	g.Discard(agent, id(60))
	g.Invite(agent, id(3), id(90), true, "")
	alpha.SetParcel(gridtest.Parcel{LocalID: 2, Name: "East, edited"})
	g.TeleportLocal(agent, world.Vec3{X: 160, Y: 130, Z: 30})
	g.FailTeleport(agent, "no")
	alpha.Shake("Alpha", 25)
	g.Message(agent, gridtest.EncodeCloseCircuit())
	g.Event(agent, "Own", llsd.Undef())
}

// exactlyOnce fails if anything that was sent took effect never, or twice.
func exactlyOnce(t *testing.T, g *gridtest.Grid, c *client) {
	t.Helper()
	want := map[string]int{}
	for _, s := range g.Sent() {
		if !s.Acked {
			t.Errorf("found %+v, expected it to be acknowledged", s)
		}
		for _, e := range s.Effects {
			want[e]++
		}
	}
	if len(want) < 4 {
		t.Errorf("found %d effects sent, expected more", len(want))
	}
	_, got, _ := c.seen()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("effects (-sent +received):\n%s", diff)
	}
}

// TestFaults plays the script over bad networks: whatever they do, each
// effect comes once.
func TestFaults(t *testing.T) {
	for name, f := range map[string]gridtest.Faults{
		"loss":       {Loss: 0.1},
		"duplicates": {Duplicate: 0.1},
		"reordering": {Reorder: 0.5},
		"delay":      {Delay: 500 * time.Millisecond, Jitter: 50 * time.Millisecond},
		"bursts":     {BurstEvery: 5 * time.Second, BurstLength: 2 * time.Second},
		"mistakes":   {WrongAcks: 0.3, Truncate: 0.3, Overlong: 0.3},
		"everything": {Loss: 0.1, Duplicate: 0.1, Reorder: 0.2, Delay: 200 * time.Millisecond, WrongAcks: 0.1, Truncate: 0.1, Overlong: 0.1},
	} {
		for seed := range uint64(3) {
			t.Run(fmt.Sprintf("%s %d", name, seed), func(t *testing.T) {
				cfg := testWorld()
				cfg.Seed, cfg.Faults = seed, f
				synctest.Test(t, func(t *testing.T) {
					g := gridtest.New(cfg)
					defer g.Close()
					c := inMemory(t, g)
					defer c.close()
					c.login(request(g.LoginURI()))
					settle(30 * time.Second)
					if s := g.Sessions(); len(s) != 1 || !s[0].Ready {
						t.Fatalf("found sessions %+v, expected one that is ready", s)
					}
					play(g)
					settle(time.Minute)
					exactlyOnce(t, g, c)
					if len(g.Sessions()) != 1 {
						t.Error("found no session any more")
					}
				})
			})
		}
	}
}

// TestFaultsHappen makes sure that faults are faults, each by what a circuit
// counts of it.
func TestFaultsHappen(t *testing.T) {
	for name, tt := range map[string]struct {
		faults gridtest.Faults
		so     func(s lludp.Stats, counts map[string]int) bool
	}{
		"none": {gridtest.Faults{}, func(s lludp.Stats, counts map[string]int) bool {
			return s.Duplicates+s.Resent+s.Malformed+s.Resends == 0 && counts["resent"] == 0
		}},
		"loss":       {gridtest.Faults{Loss: 0.2}, func(s lludp.Stats, counts map[string]int) bool { return s.Resent > 10 && counts["resent"] > 0 }},
		"duplicates": {gridtest.Faults{Duplicate: 0.2}, func(s lludp.Stats, _ map[string]int) bool { return s.Duplicates > 10 && s.Resent == 0 }},
		"truncated":  {gridtest.Faults{Truncate: 0.2}, func(s lludp.Stats, _ map[string]int) bool { return s.Malformed > 5 }},
		"overlong":   {gridtest.Faults{Overlong: 0.5}, func(s lludp.Stats, _ map[string]int) bool { return s.Malformed > 3 }},
		"wrong acks": {gridtest.Faults{WrongAcks: 0.5}, func(s lludp.Stats, _ map[string]int) bool { return s.Received > 250 }},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := testWorld()
			cfg.Faults = tt.faults
			bubble(t, cfg, func(t *testing.T, g *gridtest.Grid, c *client) {
				settle(30 * time.Second)
				play(g)
				settle(30 * time.Second)
				c.mu.Lock()
				defer c.mu.Unlock()
				if s := c.root.circuit.Stats(); !tt.so(s, g.Counts()) {
					t.Errorf("found %+v and %d resends of the client", s, g.Counts()["resent"])
				}
			})
		})
	}
}

// TestRequestsTwice: a request that arrives twice is answered once.
func TestRequestsTwice(t *testing.T) {
	bubble(t, testWorld(), func(t *testing.T, g *gridtest.Grid, c *client) {
		g.SetFaults(gridtest.Faults{Duplicate: 1})
		c.send(message.AppendRequestObjectPropertiesFamily(nil, c.session, id(1)))
		settle(5 * time.Second)
		n := 0
		for _, s := range g.Sent() {
			if s.Number == message.NumberObjectPropertiesFamily {
				n++
			}
		}
		if n != 1 {
			t.Errorf("found %d answers, expected 1", n)
		}
	})
}

// TestDeterminism runs the same twice.
func TestDeterminism(t *testing.T) {
	run := func(seed uint64) (counts map[string]int, messages map[string]int) {
		cfg := testWorld()
		cfg.Seed = seed
		cfg.Faults = gridtest.Faults{Loss: 0.1, Duplicate: 0.1, Delay: 20 * time.Millisecond, Jitter: 20 * time.Millisecond, Truncate: 0.1}
		bubble(t, cfg, func(t *testing.T, g *gridtest.Grid, c *client) {
			settle(30 * time.Second)
			counts = g.Counts()
			messages, _, _ = c.seen()
		})
		return counts, messages
	}
	counts, messages := run(1)
	again, messagesAgain := run(1)
	if diff := cmp.Diff(counts, again); diff != "" {
		t.Errorf("counts of two runs:\n%s", diff)
	}
	if diff := cmp.Diff(messages, messagesAgain); diff != "" {
		t.Errorf("messages of two runs:\n%s", diff)
	}
	if other, _ := run(2); cmp.Equal(counts, other) {
		t.Error("found the same counts with another seed")
	}
}

// TestManyObjects describes a full region, over a line that loses packets.
func TestManyObjects(t *testing.T) {
	const n = 5000
	cfg := testWorld()
	for i := range n {
		cfg.Regions[0].Objects = append(cfg.Regions[0].Objects, gridtest.Object{Object: message.Object{
			ID: world.UUID{0xAA, byte(i >> 8), byte(i)}, Position: world.Vec3{X: float64(i % 256), Y: float64(i / 256), Z: 25}, HoverText: "some text",
		}})
	}
	cfg.Faults = gridtest.Faults{Loss: 0.05}
	bubble(t, cfg, func(t *testing.T, g *gridtest.Grid, c *client) {
		settle(time.Minute)
		exactlyOnce(t, g, c)
		if _, effects, _ := c.seen(); len(effects) < n {
			t.Errorf("found %d effects, expected over %d", len(effects), n)
		}
	})
}

// TestSilence: the grid lets go of a client that says nothing, and sends again
// what is not acknowledged.
func TestSilence(t *testing.T) {
	bubble(t, testWorld(), func(t *testing.T, g *gridtest.Grid, c *client) {
		c.mu.Lock()
		c.polite = false
		c.mu.Unlock()
		g.Health(id(100), 50)
		settle(50 * time.Second)
		c.mu.Lock()
		resent := c.root.circuit.Stats().Resent
		c.mu.Unlock()
		if resent < 10 || len(g.Sessions()) != 1 {
			t.Errorf("found %d resends and sessions %v, expected many and one", resent, g.Sessions())
		}
		settle(15 * time.Second)
		if messages, _, _ := c.seen(); messages["DisableSimulator"] != 1 || len(g.Sessions()) != 0 {
			t.Errorf("found messages %v, expected the end", messages)
		}
	})
}

func TestQueueStatuses(t *testing.T) {
	cfg := testWorld()
	cfg.Faults = gridtest.Faults{QueueStatus: []int{502, 499, 503}, SeedStatus: []int{500}, SeedNotReady: 2}
	bubble(t, cfg, func(t *testing.T, g *gridtest.Grid, c *client) {
		settle(100 * time.Second)
		want := map[int]int{200: 1, 499: 1, 500: 1, 502: 2, 503: 3} // one 502 after a hold
		if diff := cmp.Diff(want, c.answers()); diff != "" {
			t.Errorf("statuses (-want +got):\n%s", diff)
		}
		g.SetFaults(gridtest.Faults{QueueStatus: []int{404}})
		settle(time.Second)
		if c.answers()[404] != 1 {
			t.Errorf("found statuses %v, expected the held poll to end with 404", c.answers())
		}
	})
}

func TestHalfOpen(t *testing.T) {
	bubble(t, testWorld(), func(t *testing.T, g *gridtest.Grid, c *client) {
		before, _, _ := c.seen()
		g.SetFaults(gridtest.Faults{HalfOpen: true})
		g.Health(id(100), 50)
		g.Event(id(100), "Lost", llsd.Undef())
		settle(30 * time.Second)
		after, _, events := c.seen()
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("messages before and after the line went dead:\n%s", diff)
		}
		if slices.Contains(events, "Lost") {
			t.Error("found an event that came through")
		}
		settle(time.Minute)
		if s := g.Sessions(); len(s) != 0 {
			t.Errorf("found sessions %v, expected the grid to have given up", s)
		}
	})
}

package session_test

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wipagent/wipagent/objects/source/session"
	"github.com/wipagent/wipagent/objects/source/session/gridtest"
	"github.com/wipagent/wipagent/objects/source/session/message"
	"github.com/wipagent/wipagent/objects/world"
)

// matrix is what a network and a simulator can do to a session.
var matrix = map[string]gridtest.Faults{
	"loss":        {Loss: 0.1},
	"heavy loss":  {Loss: 0.3},
	"duplicates":  {Duplicate: 0.1},
	"reordering":  {Reorder: 0.3},
	"delay":       {Delay: 500 * time.Millisecond},
	"jitter":      {Delay: 100 * time.Millisecond, Jitter: 400 * time.Millisecond},
	"bursts":      {BurstEvery: 10 * time.Second, BurstLength: 2 * time.Second},
	"wrong acks":  {WrongAcks: 0.2},
	"truncated":   {Truncate: 0.2},
	"overlong":    {Overlong: 0.2},
	"queue":       {QueueStatus: []int{404, 502, 502, 200, 499, 500, 503, 502}},
	"seed":        {SeedNotReady: 3, SeedStatus: []int{500, 404}},
	"inventory":   {InventoryStatus: []int{500, 503, 502}},
	"all at once": {Loss: 0.1, Duplicate: 0.1, Reorder: 0.1, Delay: 200 * time.Millisecond, Jitter: 300 * time.Millisecond, WrongAcks: 0.05, Truncate: 0.05, Overlong: 0.05},
}

// tally counts what a world is told.
type tally struct {
	mu    sync.Mutex
	heard map[world.UUID]int
	items map[world.UUID]int
}

func (c *tally) see(u world.Update) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch u := u.(type) {
	case world.Heard:
		c.heard[u.ID]++
	case world.InventoryItem:
		c.items[u.ID]++
	}
}

// TestFaults: whatever the network does, every reliable message takes effect
// once, and once only, and the session lives on.
func TestFaults(t *testing.T) {
	for name, faults := range matrix {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { underFaults(t, faults) })
		})
	}
}

func underFaults(t *testing.T, faults gridtest.Faults) {
	const people = 60
	cfg := village()
	cfg.Faults = faults
	cfg.Seed = 7
	alphaAvatars := &cfg.Regions[0].Avatars
	for i := range people {
		*alphaAvatars = append(*alphaAvatars, gridtest.Avatar{
			ID: world.UUID{0: 0xbb, 14: 1, 15: byte(i)}, First: fmt.Sprint("Guest", i), Last: "Resident",
			Position: world.Vec3{X: 50 + float64(i), Y: 60, Z: 22},
		})
	}
	g := gridtest.New(cfg)
	defer g.Close()
	counts := &tally{heard: map[world.UUID]int{}, items: map[world.UUID]int{}}
	b := start(t, g, nil)
	defer b.world.Tap(counts.see)()
	b.settled()
	alpha, me := g.Region("Alpha"), g.Agent("Test User")
	before := b.snapshot()
	for i := range people {
		guest := (*alphaAvatars)[2+i]
		alpha.Say(guest.ID, "hello")
		alpha.Move(guest.ID, world.Vec3{X: 60 + float64(i), Y: 90, Z: 22})
		g.Give(me, message.InventoryUpdate{Items: []message.InventoryItem{{ID: world.UUID{0: 0xcc, 15: byte(i)}, FolderID: id(0xf1), Name: fmt.Sprint("Gift ", i), AssetType: 3}}})
		alpha.Put(gridtest.Object{Object: message.Object{ID: world.UUID{0: 0xdd, 15: byte(i)}, Position: world.Vec3{X: float64(i), Y: 10, Z: 22}, Scale: world.Vec3{X: 1, Y: 1, Z: 1}}, Encoding: gridtest.Fresh})
		time.Sleep(500 * time.Millisecond)
	}
	g.SetFaults(gridtest.Faults{})
	time.Sleep(90 * time.Second) // for what is to be sent again

	for i := range people {
		guest := (*alphaAvatars)[2+i]
		if n := counts.heard[guest.ID]; n != 1 {
			t.Errorf("%s: found %d effects of one chat", guest.First, n)
		}
		if n := counts.items[world.UUID{0: 0xcc, 15: byte(i)}]; n != 1 {
			t.Errorf("gift %d: found %d effects", i, n)
		}
	}
	after := b.snapshot()
	if after.Fence != before.Fence {
		t.Errorf("found the session lost: %v", b.kinds())
	}
	avatars, _ := after.Scene.Avatars(256)
	for _, a := range avatars.Items {
		if a.ID[0] == 0xbb && (a.Place.Vec3 != world.Vec3{X: 60 + float64(a.ID[15]), Y: 90, Z: 22} || a.Name == "") {
			t.Errorf("found %q at %v", a.Name, a.Place)
		}
	}
	if len(avatars.Items) != people+2 {
		t.Errorf("found %d avatars, expected %d", len(avatars.Items), people+2)
	}
	if objects := objectIDs(t, after, 256); len(objects) != people+2 {
		t.Errorf("found %d objects, expected %d", len(objects), people+2)
	}
	if after.TerrainHeight == nil {
		t.Error("found no ground")
	}
	for _, s := range g.Sent() {
		if !s.Acked {
			t.Errorf("found %v %v unacknowledged", s.Number, s.Effects)
		}
	}
	if b.count(session.Disconnected) > 0 {
		t.Errorf("found notices %v", b.kinds())
	}
	b.close()
}

package session_test

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wipagent/wipagent/objects/source/session"
	"github.com/wipagent/wipagent/objects/source/session/gridtest"
	"github.com/wipagent/wipagent/objects/source/session/message"
	"github.com/wipagent/wipagent/objects/source/session/secret"
	"github.com/wipagent/wipagent/objects/world"
)

// crowd is the village with n more accounts, "Bot 0 Test" and so on.
func crowd(n int) *gridtest.Config {
	cfg := village()
	for i := range n {
		cfg.Accounts = append(cfg.Accounts, gridtest.Account{First: fmt.Sprint("Bot", i), Last: "Test", Password: "secret"})
	}
	return cfg
}

func startCrowd(t testing.TB, g *gridtest.Grid, n int, change func(*session.Config)) (bots []*bot) {
	for i := range n {
		bots = append(bots, start(t, g, func(c *session.Config) {
			c.First, c.Last, c.Password = fmt.Sprint("Bot", i), "Test", secret.New("secret")
			if change != nil {
				change(c)
			}
		}))
	}
	return bots
}

// TestMany: many sessions in one process, each with a world of its own, do not
// get into each other's way.
func TestMany(t *testing.T) {
	const n = 100
	synctest.Test(t, func(t *testing.T) {
		g := gridtest.New(crowd(n))
		defer g.Close()
		bots := startCrowd(t, g, n, nil)
		for _, b := range bots {
			b.settled()
		}
		time.Sleep(20 * time.Second)
		for i, b := range bots {
			s := b.snapshot()
			if want := g.Agent(fmt.Sprintf("Bot%d Test", i)); s.Agent != want || s.RegionName != "Alpha" {
				t.Fatalf("bot %d: found agent %v in %q, expected %v", i, s.Agent, s.RegionName, want)
			}
			if names := avatarNames(t, s); len(names) < n/2 || names[s.Agent] != "" {
				t.Errorf("bot %d: found %d avatars", i, len(names))
			}
		}
		g.Kick(bots[7].snapshot().Agent, "out")
		time.Sleep(5 * time.Second)
		for i, b := range bots {
			if _, err := b.world.Fence(); (err == nil) == (i == 7) {
				t.Errorf("bot %d: found %v", i, err)
			}
		}
		var wg sync.WaitGroup
		for _, b := range bots {
			wg.Go(func() {
				if err := b.stop(); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if left := g.Sessions(); len(left) > 0 {
			t.Errorf("found %d sessions after the logouts", len(left))
		}
	})
}

// BenchmarkObjects brings 15,000 objects in full and reports what they take of
// the heap.
func BenchmarkObjects(b *testing.B) {
	const n = 15_000
	b.ReportAllocs()
	for b.Loop() {
		before := heap()
		w := world.New()
		region := world.UUID{15: 1}
		stamp := world.Stamp{Generation: 1, Region: region, At: time.Now()}
		w.Apply(world.SessionStarted{Stamp: stamp}, world.RegionEntered{Stamp: stamp})
		var m message.ObjectUpdate
		for i := 0; i < n; {
			sent := message.ObjectUpdate{}
			for range 5 {
				i++
				sent.Objects = append(sent.Objects, message.Object{
					LocalID: uint32(i), ID: world.UUID{0: 1, 13: byte(i >> 16), 14: byte(i >> 8), 15: byte(i)}, PCode: 9,
					Position: world.Vec3{X: float64(i % 256), Y: float64(i / 256), Z: 22}, HoverText: fmt.Sprint("object number ", i), Placed: true,
				})
			}
			if err := m.DecodeCompressed(gridtest.EncodeObjectUpdateCompressed(&sent)[1:]); err != nil {
				b.Fatal(err)
			}
			for _, o := range m.Objects {
				text := o.HoverText
				w.Apply(world.ObjectUpdated{Stamp: stamp, LocalID: o.LocalID, ID: o.ID, PCode: o.PCode, Position: o.Position, HoverText: &text})
			}
		}
		b.ReportMetric(float64(heap()-before)/(1<<20), "MiB")
		runtime.KeepAlive(w)
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

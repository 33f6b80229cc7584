package session_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wipagent/wipagent/objects/source/session"
	"github.com/wipagent/wipagent/objects/source/session/gridtest"
	"github.com/wipagent/wipagent/objects/source/session/login"
	"github.com/wipagent/wipagent/objects/source/session/message"
	"github.com/wipagent/wipagent/objects/source/session/secret"
	"github.com/wipagent/wipagent/objects/world"
)

// bot is a session at work on a grid for tests.
type bot struct {
	t       testing.TB
	grid    *gridtest.Grid
	world   *world.World
	session *session.Session
	cancel  context.CancelFunc
	done    chan error

	mu      sync.Mutex
	notices []session.Notice
}

// config is that of the account "Test User" of a grid in memory.
func config(g *gridtest.Grid) session.Config {
	return session.Config{
		LoginURI: g.LoginURI(), First: "Test", Last: "User", Password: secret.New("secret"),
		MAC: strings.Repeat("a", 32), ID0: strings.Repeat("b", 32),
		Transport: g.Transport(), Listen: func() (session.PacketConn, error) { return g.Listen(), nil },
	}
}

// start logs a bot in; change may be nil.
func start(t testing.TB, g *gridtest.Grid, change func(*session.Config)) *bot {
	t.Helper()
	b := &bot{t: t, grid: g, world: world.New(), done: make(chan error, 1)}
	cfg := config(g)
	if change != nil {
		change(&cfg)
	}
	cfg.Notify = func(n session.Notice) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.notices = append(b.notices, n)
	}
	s, err := session.New(&cfg)
	if err != nil {
		t.Fatal(err)
	}
	b.session = s
	ctx, cancel := context.WithCancel(context.Background())
	b.cancel = cancel
	go func() { b.done <- s.Run(ctx, b.world) }()
	return b
}

// settled waits until the region has been seen.
func (b *bot) settled() {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	if err := b.session.Settled(ctx); err != nil {
		b.t.Fatalf("found %v, expected a settled session; notices: %v", err, b.kinds())
	}
}

// stop logs out and returns what Run did.
func (b *bot) stop() error {
	b.cancel()
	return <-b.done
}

// close logs out, and fails if that goes wrong.
func (b *bot) close() {
	b.t.Helper()
	if err := b.stop(); err != nil {
		b.t.Errorf("found %v, expected a clean end", err)
	}
	if left := b.grid.Sessions(); len(left) > 0 {
		b.t.Errorf("found %+v logged in after the logout", left)
	}
}

func (b *bot) kinds() (kinds []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, n := range b.notices {
		s := string(n.Kind)
		if n.Err != nil {
			s += ": " + n.Err.Error()
		}
		kinds = append(kinds, s)
	}
	return kinds
}

func (b *bot) count(kind session.NoticeKind) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, notice := range b.notices {
		if notice.Kind == kind {
			n++
		}
	}
	return n
}

func (b *bot) snapshot() *world.Snapshot {
	b.t.Helper()
	s, err := b.world.Capture(context.Background())
	if err != nil {
		b.t.Fatalf("found %v, expected a snapshot; notices: %v", err, b.kinds())
	}
	return s
}

// eventually waits, on the bubble's clock, until ok.
func eventually(t testing.TB, what string, within time.Duration, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(within); !ok(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Errorf("%s: not within %v", what, within)
			return
		}
	}
}

// village is a grid of two regions with something of everything.
func village() *gridtest.Config {
	chair := id(0xc0)
	return &gridtest.Config{
		Accounts: []gridtest.Account{{
			First: "Test", Last: "User", Password: "secret", Position: world.Vec3{X: 100, Y: 120, Z: 22},
			Folders: []gridtest.Folder{
				{InventoryFolder: message.InventoryFolder{ID: id(0xf0), Name: "My Inventory", Type: 8}},
				{InventoryFolder: message.InventoryFolder{ID: id(0xf1), ParentID: id(0xf0), Name: "Landmarks", Type: 3}},
			},
			Items: []message.InventoryItem{
				{ID: id(0xa1), FolderID: id(0xf1), Name: "Harbour", AssetType: 3, Created: 1_700_000_000},
				{ID: id(0xa2), FolderID: id(0xf0), Name: "Hat", AssetType: 6, Created: 1_600_000_000},
			},
		}},
		Regions: []gridtest.RegionConfig{
			{
				Name: "Alpha", Water: 19.5,
				Objects: []gridtest.Object{
					{Object: message.Object{ID: chair, Position: world.Vec3{X: 104, Y: 120, Z: 22}, Scale: world.Vec3{X: 1, Y: 1, Z: 1}, HoverText: "sit here"}, Name: "Chair", Description: "for sitting"},
					{Object: message.Object{ID: id(0xc1), Position: world.Vec3{X: 100, Y: 150, Z: 25}, Scale: world.Vec3{X: 2, Y: 2, Z: 2}}, Name: "Rock", Encoding: gridtest.Fresh},
				},
				Avatars: []gridtest.Avatar{
					{ID: id(0xe1), First: "Ada", Last: "Resident", Position: world.Vec3{X: 103, Y: 124, Z: 22}},
					{ID: id(0xe2), First: "Bo", Last: "Far", Position: world.Vec3{X: 200, Y: 200, Z: 40}, Far: true},
				},
				Parcels: []gridtest.Parcel{{Name: "West", X1: 128, Y1: 256}, {Name: "East", X0: 128, X1: 256, Y1: 256}},
			},
			{Name: "Beta", Water: 5, SizeX: 512, SizeY: 512, Objects: []gridtest.Object{
				{Object: message.Object{ID: id(0xc9), Position: world.Vec3{X: 400, Y: 400, Z: 25}, Scale: world.Vec3{X: 1, Y: 1, Z: 1}}, Name: "Tower"},
			}},
		},
	}
}

func id(n byte) world.UUID { return world.UUID{0: 0xfa, 6: 0x40, 8: 0x80, 15: n} }

func objectIDs(t testing.TB, s *world.Snapshot, radius float64) map[world.UUID]*world.Object {
	t.Helper()
	found, ok := s.Scene.Objects(radius)
	if !ok || found.Truncated {
		t.Errorf("found objects known %v, truncated %v, expected them to be known as a whole", ok, found.Truncated)
	}
	list := map[world.UUID]*world.Object{}
	for _, o := range found.Items {
		list[o.ID] = o
	}
	return list
}

func avatarNames(t testing.TB, s *world.Snapshot) map[world.UUID]string {
	t.Helper()
	found, ok := s.Scene.Avatars(256)
	if !ok {
		t.Error("found the avatars to be unknown")
	}
	list := map[world.UUID]string{}
	for _, a := range found.Items {
		list[a.ID] = a.Name
	}
	return list
}

// TestLive: what a grid tells is what the world holds, and after the logout
// nothing is left of the session.
func TestLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gridtest.New(village())
		defer g.Close()
		b := start(t, g, nil)
		if _, err := b.world.Fence(); !errors.Is(err, world.ErrNotReady) {
			t.Errorf("found %v before the login, expected it not to be ready", err)
		}
		b.settled()
		eventually(t, "inventory", time.Minute, func() bool { return b.count(session.Crawled) == 1 })
		time.Sleep(10 * time.Second) // names are asked for
		s := b.snapshot()
		if s.RegionName != "Alpha" || *s.WaterHeight != 19.5 || s.Scene.Agent.Vec3 != (world.Vec3{X: 100, Y: 120, Z: 22}) || s.Source != "session" || s.Generation != 1 {
			t.Errorf("found %q, water %v, agent %+v", s.RegionName, *s.WaterHeight, s.Scene.Agent)
		}
		if s.Parcel == nil || s.Parcel.Name != "West" || s.TerrainHeight == nil || *s.TerrainHeight < 20.9 || *s.TerrainHeight > 21.1 {
			t.Errorf("found parcel %+v and ground %v, expected West and 21 m", s.Parcel, s.TerrainHeight)
		}
		objects := objectIDs(t, s, 256)
		if len(objects) != 2 || *objects[id(0xc0)].HoverText != "sit here" || objects[id(0xc0)].Name != nil {
			t.Errorf("found objects %+v, expected a chair and a rock without names", objects)
		}
		if names := avatarNames(t, s); len(names) != 2 || names[id(0xe1)] != "Ada" || names[id(0xe2)] != "Bo Far" {
			t.Errorf("found avatars %v, expected Ada and Bo Far", names)
		}
		if s.Health != nil {
			t.Errorf("found health %v, which the grid did not tell", *s.Health)
		}
		items, ok := s.Belongings.Search("h")
		landmarks, _ := s.Belongings.Landmarks()
		if !ok || items.Truncated || len(items.Items) != 2 || len(landmarks.Items) != 1 {
			t.Errorf("found %d items, %d landmarks, %v, truncated %v", len(items.Items), len(landmarks.Items), ok, items.Truncated)
		}
		if people, ok := s.People.Recent(); !ok || len(people.Items) != 0 {
			t.Errorf("found %+v, %v, expected nobody so far", people, ok)
		}

		alpha := g.Region("Alpha")
		me := g.Agent("Test User")
		alpha.Say(id(0xe1), "hello")
		alpha.Sit(id(0xe1), id(0xc0), world.Vec3{Z: 1})
		g.Health(me, 87)
		g.IM(me, message.ImprovedInstantMessage{FromID: id(0xe2), FromName: "Bo Far", Dialog: message.DialogMessage}, "hi")
		g.IM(me, message.ImprovedInstantMessage{FromID: id(0xe2), FromName: "A Box", Dialog: message.DialogObjectMessage}, "buy")
		g.Offer(me, id(0xe1), message.InventoryItem{ID: id(0xa3), FolderID: id(0xf1), Name: "Hut", AssetType: 3})
		time.Sleep(3 * time.Second)
		s = b.snapshot()
		found, _ := s.Scene.Avatars(6)
		if len(found.Items) != 1 || found.Items[0].Place.Vec3 != (world.Vec3{X: 104, Y: 120, Z: 23}) {
			t.Errorf("found %+v, expected Ada on the chair", found.Items)
		}
		if s.Health == nil || *s.Health != 87 {
			t.Errorf("found health %v, expected 87", s.Health)
		}
		people, _ := s.People.Recent()
		var contacts []string
		for _, p := range people.Items {
			contacts = append(contacts, fmt.Sprintf("%x %s", p.ID[15], p.Channel))
		}
		if got := strings.Join(contacts, ", "); !strings.Contains(got, "e1 local_chat") || !strings.Contains(got, "e2 direct_im") || !strings.Contains(got, "e1 inventory_offer") || len(contacts) != 3 {
			t.Errorf("found %v", contacts)
		}
		if landmarks, _ := s.Belongings.Landmarks(); len(landmarks.Items) != 2 {
			t.Errorf("found %d landmarks, expected the offered one, too", len(landmarks.Items))
		}
		alpha.Leave(id(0xe1))
		alpha.Kill(id(0xc1))
		time.Sleep(20 * time.Second)
		s = b.snapshot()
		if names := avatarNames(t, s); len(names) != 1 {
			t.Errorf("found %v, expected Ada to have left", names)
		}
		if objects := objectIDs(t, s, 256); len(objects) != 1 {
			t.Errorf("found %v, expected the rock to be gone", objects)
		}
		b.close()
		if _, err := b.world.Fence(); !errors.Is(err, world.ErrDisconnected) {
			t.Errorf("found %v after the logout, expected a disconnected world", err)
		}
		if n := g.Counts(); n["LogoutRequest"] < 1 || n["ChatFromViewer"] != 0 || n["unknown_path"] != 0 || n["malformed"] != 0 {
			t.Errorf("found %v sent", n)
		}
	})
}

// permitted is all that a session ever sends (../../../spec/session.md).
var permitted = []string{
	"PacketAck", "CompletePingCheck", "StartPingCheck", "AgentUpdate", "UseCircuitCode", "CompleteAgentMovement",
	"RegionHandshakeReply", "AgentThrottle", "LogoutRequest", "RequestMultipleObjects",
	"login", "seed", "event_queue", "inventory", "names", "resent", "appended acks",
}

// TestMoves: wherever the agent is taken, what is known is that of the region
// it is in, and a snapshot of another one is never to be had.
func TestMoves(t *testing.T) {
	for _, test := range []struct {
		name string
		move func(g *gridtest.Grid, me world.UUID)
		want string // the region
		at   world.Vec3
	}{
		{"teleport", func(g *gridtest.Grid, me world.UUID) { g.Teleport(me, "Beta", world.Vec3{X: 300, Y: 310, Z: 30}) }, "Beta", world.Vec3{X: 300, Y: 310, Z: 30}},
		{"crossing", func(g *gridtest.Grid, me world.UUID) { g.Cross(me, "Beta", world.Vec3{X: 2, Y: 310, Z: 30}) }, "Beta", world.Vec3{X: 2, Y: 310, Z: 30}},
		{"within the region", func(g *gridtest.Grid, me world.UUID) { g.TeleportLocal(me, world.Vec3{X: 10, Y: 20, Z: 30}) }, "Alpha", world.Vec3{X: 10, Y: 20, Z: 30}},
		{"failed", func(g *gridtest.Grid, me world.UUID) { g.FailTeleport(me, "no room") }, "Alpha", world.Vec3{X: 100, Y: 120, Z: 22}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := gridtest.New(village())
				defer g.Close()
				b := start(t, g, nil)
				b.settled()
				before := b.snapshot()
				test.move(g, g.Agent("Test User"))
				time.Sleep(500 * time.Millisecond)
				b.settled()
				eventually(t, "arrival", time.Minute, func() bool {
					s, err := b.world.Capture(context.Background())
					return err == nil && s.RegionName == test.want && s.Fence != before.Fence
				})
				b.settled()
				time.Sleep(20 * time.Second)
				s := b.snapshot()
				if s.Scene.Agent.Vec3 != test.at || s.RegionName != test.want || s.Generation != 1 {
					t.Errorf("found %q, %+v", s.RegionName, s.Scene.Agent)
				}
				objects := objectIDs(t, s, 1_000)
				if test.want == "Beta" && (len(objects) != 1 || objects[id(0xc9)] == nil) {
					t.Errorf("found objects %v, expected the tower alone", objects)
				}
				if test.want == "Alpha" && len(objects) != 2 {
					t.Errorf("found objects %v, expected those that were there", objects)
				}
				if items, ok := s.Belongings.Search(""); !ok || len(items.Items) != 2 || items.Truncated {
					t.Errorf("found inventory %v, %v, expected it to outlive the move", ok, items)
				}
				b.close()
			})
		})
	}
}

// TestThereAndBack: a region that keeps the circuit of who left it drops what
// comes under sequence numbers that it has seen; and one that does not keep it
// counts anew.
func TestThereAndBack(t *testing.T) {
	for name, stay := range map[string]time.Duration{"at once": time.Second, "soon": 4 * time.Second, "later": 80 * time.Second} {
		for _, keep := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, circuits kept %v", name, keep), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					cfg := village()
					cfg.KeepCircuits = keep
					g := gridtest.New(cfg)
					defer g.Close()
					b := start(t, g, nil)
					b.settled()
					me := g.Agent("Test User")
					for i := range 6 {
						region := []string{"Beta", "Alpha"}[i%2]
						g.Teleport(me, region, world.Vec3{X: 200, Y: 210, Z: 30})
						eventually(t, "arrival in "+region, 10*time.Second, func() bool {
							s, err := b.world.Capture(context.Background())
							return err == nil && s.RegionName == region
						})
						time.Sleep(stay)
					}
					b.settled()
					if s := b.snapshot(); s.Generation != 1 || len(objectIDs(t, s, 256)) != 2 {
						t.Errorf("found generation %d, objects %v, notices %v", s.Generation, objectIDs(t, s, 256), b.kinds())
					}
					b.close()
				})
			})
		}
	}
}

// TestLosses: every way to lose a session leaves no snapshot, and leads to a
// new generation where a new login can mend it.
func TestLosses(t *testing.T) {
	for _, test := range []struct {
		name string
		lose func(g *gridtest.Grid, me world.UUID)
		want error // nil: a new generation
	}{
		{"silence", func(g *gridtest.Grid, me world.UUID) { g.Vanish(me) }, nil},
		{"kick", func(g *gridtest.Grid, me world.UUID) { g.Kick(me, "The region is about to restart.") }, nil},
		{"restart", func(g *gridtest.Grid, _ world.UUID) { g.Restart("Alpha", 2*time.Minute) }, nil},
		{"refused while the grid is in trouble", func(g *gridtest.Grid, me world.UUID) {
			g.AnswerLogins(gridtest.LoginAnswer{Reason: "key", Message: "Error connecting to grid"}, gridtest.LoginAnswer{Reason: "key", Message: "Error connecting to grid"})
			g.Vanish(me)
		}, nil},
		{"another login", func(g *gridtest.Grid, me world.UUID) { g.Kick(me, "New login detected") }, session.ErrElsewhere},
		{"lost end of a teleport", func(g *gridtest.Grid, me world.UUID) {
			g.SetFaults(gridtest.Faults{LostTeleportFinish: true})
			g.Teleport(me, "Beta", world.Vec3{X: 300, Y: 310, Z: 30})
			time.Sleep(time.Second)
			g.SetFaults(gridtest.Faults{})
		}, nil},
		{"half-open", func(g *gridtest.Grid, _ world.UUID) {
			g.SetFaults(gridtest.Faults{HalfOpen: true})
			time.Sleep(2 * time.Minute)
			g.SetFaults(gridtest.Faults{})
		}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := gridtest.New(village())
				defer g.Close()
				b := start(t, g, nil)
				b.settled()
				before := b.snapshot()
				test.lose(g, g.Agent("Test User"))
				if test.want != nil {
					if err := <-b.done; !errors.Is(err, test.want) {
						t.Errorf("found %v, expected %v", err, test.want)
					}
					if _, err := b.world.Fence(); !errors.Is(err, world.ErrDisconnected) {
						t.Errorf("found %v, expected a disconnected world", err)
					}
					return
				}
				eventually(t, "a new generation or region", 20*time.Minute, func() bool {
					s, err := b.world.Capture(context.Background())
					return err == nil && s.Fence != before.Fence && b.world.Generation() > 1
				})
				b.settled()
				if s := b.snapshot(); s.Generation < 2 || len(objectIDs(t, s, 256)) == 0 {
					t.Errorf("found generation %d, %d objects", s.Generation, len(objectIDs(t, s, 256)))
				}
				b.close()
			})
		})
	}
}

// TestLeavesAtOnce: who is told to leave right after the login arrives first,
// since a simulator takes no leave of an agent that has not, and goes on
// expecting it.
func TestLeavesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := village()
		cfg.Faults.Delay = 100 * time.Millisecond
		g := gridtest.New(cfg)
		defer g.Close()
		b := start(t, g, nil)
		for b.count(session.LoggedIn) == 0 {
			time.Sleep(time.Millisecond)
		}
		began := time.Now()
		b.close()
		if n := g.Counts(); n["CompleteAgentMovement"] == 0 || n["LogoutRequest"] == 0 || time.Since(began) > 6*time.Second {
			t.Errorf("found %v sent in %v, expected an arrival and a logout", n, time.Since(began))
		}
	})
}

// TestLeavesDuringLogin: the grid opens a session before its answer is there, so
// that who is told to leave meanwhile waits for it and logs out.
func TestLeavesDuringLogin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := village()
		cfg.Faults.Delay = 300 * time.Millisecond
		g := gridtest.New(cfg)
		defer g.Close()
		b := start(t, g, nil)
		for g.Counts()["login"] == 0 {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(400 * time.Millisecond) // on its way back
		b.close()
		if n := g.Counts(); n["login"] != 1 || n["LogoutRequest"] == 0 {
			t.Errorf("found %v sent, expected a logout", n)
		}
	})
}

// TestSilence: what was told before a simulator fell silent is as old as that.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gridtest.New(village())
		defer g.Close()
		b := start(t, g, nil)
		b.settled()
		if age := time.Since(b.snapshot().Observed); age > 6*time.Second {
			t.Errorf("found an age of %v while the simulator talks", age)
		}
		g.SetFaults(gridtest.Faults{HalfOpen: true})
		time.Sleep(40 * time.Second)
		if age := time.Since(b.snapshot().Observed); age < 35*time.Second {
			t.Errorf("found an age of %v after 40 s of silence", age)
		}
		b.stop()
	})
}

// TestWaits: who was thrown out stays out for a while; who only had to make
// way for a restart does not.
func TestWaits(t *testing.T) {
	for reason, want := range map[string][2]time.Duration{
		"Enough.":                       {time.Minute, 2 * time.Minute},
		"The simulator is going down.":  {0, 20 * time.Second},
		"This region will restart now.": {0, 20 * time.Second},
	} {
		t.Run(reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := gridtest.New(village())
				defer g.Close()
				b := start(t, g, nil)
				b.settled()
				g.Kick(g.Agent("Test User"), reason)
				began := time.Now()
				eventually(t, "another login", 10*time.Minute, func() bool { return b.world.Generation() == 2 })
				if took := time.Since(began); took < want[0] || took > want[1] {
					t.Errorf("found another login after %v, expected %v", took, want)
				}
				b.close()
			})
		})
	}
}

// TestRefusals: what the grid refuses comes out as a typed error, at once
// where trying again is of no use.
func TestRefusals(t *testing.T) {
	for _, test := range []struct {
		name   string
		answer gridtest.LoginAnswer
		want   login.Reason
	}{
		{"wrong password", gridtest.LoginAnswer{Reason: "key", Message: "no"}, login.ReasonKey},
		{"terms", gridtest.LoginAnswer{Reason: "tos", Message: "agree"}, login.ReasonTerms},
		{"critical", gridtest.LoginAnswer{Reason: "critical", Message: "read"}, login.ReasonCritical},
		{"update", gridtest.LoginAnswer{Reason: "update", Message: "old"}, login.ReasonUpdate},
		{"code", gridtest.LoginAnswer{Reason: "mfa_challenge", Message: "code?"}, login.ReasonMFA},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := gridtest.New(village())
				defer g.Close()
				g.AnswerLogins(test.answer)
				b := start(t, g, nil)
				err := <-b.done
				var refused *login.Error
				if !errors.As(err, &refused) || refused.Reason != test.want {
					t.Errorf("found %v, expected %v", err, test.want)
				}
				if _, err := b.world.Fence(); !errors.Is(err, world.ErrDisconnected) {
					t.Errorf("found %v, expected a disconnected world", err)
				}
				if n := g.Counts()["login"]; n != 1 {
					t.Errorf("found %d logins, expected one", n)
				}
			})
		})
	}
	t.Run("presence", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			g := gridtest.New(village())
			defer g.Close()
			g.AnswerLogins(gridtest.LoginAnswer{Reason: "presence", Message: "already in"}, gridtest.LoginAnswer{Reason: "presence", Message: "already in"})
			b := start(t, g, nil)
			b.settled()
			b.close()
			if n := g.Counts()["login"]; n != 3 {
				t.Errorf("found %d logins, expected the third to do", n)
			}
		})
	})
}

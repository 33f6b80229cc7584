package gridtest_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/wipagent/wipagent/objects/source/session/gridtest"
	"github.com/wipagent/wipagent/objects/source/session/llsd"
	"github.com/wipagent/wipagent/objects/source/session/login"
	"github.com/wipagent/wipagent/objects/source/session/message"
	"github.com/wipagent/wipagent/objects/source/session/secret"
	"github.com/wipagent/wipagent/objects/world"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	chair  = gridtest.Object{Object: message.Object{ID: id(1), Position: world.Vec3{X: 120, Y: 120, Z: 21}}, Name: "Chair", Description: "to sit"}
	clock  = gridtest.Object{Object: message.Object{ID: id(2), Position: world.Vec3{X: 121, Y: 120, Z: 21}}, Encoding: gridtest.Fresh}
	second = gridtest.Avatar{ID: id(3), First: "Second", Last: "Resident", Position: world.Vec3{X: 122, Y: 136, Z: 22}}
	far    = gridtest.Avatar{ID: id(4), First: "Far", Last: "Away", Position: world.Vec3{X: 10, Y: 10, Z: 22}, Far: true}
)

// testWorld is two regions and two accounts.
func testWorld() *gridtest.Config {
	return &gridtest.Config{
		Accounts: []gridtest.Account{
			{First: "Test", Last: "User", Password: "secret", ID: id(100), Groups: []gridtest.Group{{ID: id(90), Name: "A group"}}},
			{First: "Other", Last: "Bot", Password: "hidden", ID: id(101), DisplayName: "The Other"},
		},
		Regions: []gridtest.RegionConfig{
			{Name: "Alpha", ID: id(110), Objects: []gridtest.Object{chair, clock}, Avatars: []gridtest.Avatar{second, far}, Parcels: []gridtest.Parcel{
				{Name: "West", X1: 144, Y1: 256}, {Name: "East", X0: 144, X1: 256, Y1: 256},
			}},
			{Name: "Beta", ID: id(111), SizeX: 512, SizeY: 512, HandshakeDelay: time.Second},
		},
	}
}

// bubble runs a test in virtual time with a grid and a client that has logged
// in and settled.
func bubble(t *testing.T, cfg *gridtest.Config, test func(t *testing.T, g *gridtest.Grid, c *client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		g := gridtest.New(cfg)
		defer g.Close()
		c := inMemory(t, g)
		defer c.close()
		c.login(request(g.LoginURI()))
		time.Sleep(3 * time.Second)
		synctest.Wait()
		test(t, g, c)
	})
}

// settle lets everything that is under way arrive.
func settle(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestArrival(t *testing.T) {
	bubble(t, testWorld(), func(t *testing.T, g *gridtest.Grid, c *client) {
		messages, effects, events := c.seen()
		want := map[string]int{
			"PacketAck": messages["PacketAck"], "RegionHandshake": 1, "AgentMovementComplete": 1, "ParcelOverlay": 4,
			"LayerData": messages["LayerData"], "ObjectUpdate": 2, "ObjectUpdateCompressed": 1, "CoarseLocationUpdate": 1,
			"SimStats": messages["SimStats"], "SimulatorViewerTimeMessage": messages["SimulatorViewerTimeMessage"], "L999": 1,
		}
		if diff := cmp.Diff(want, messages); diff != "" {
			t.Errorf("messages (-want +got):\n%s", diff)
		}
		if messages["LayerData"] < 4 || messages["LayerData"] > 40 {
			t.Errorf("found %d LayerData, expected some", messages["LayerData"])
		}
		wantEffects := map[string]int{"handshake": 1}
		for _, n := range []byte{1, 2, 3, 100} {
			wantEffects["object "+id(n).String()] = 1
		}
		if diff := cmp.Diff(wantEffects, effects); diff != "" {
			t.Errorf("effects (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"ParcelProperties", "EnableSimulator", "AgentGroupDataUpdate"}, events); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		if keys := slices.Collect(c.caps.Keys()); len(keys) != 3 {
			t.Errorf("found capabilities %v, expected those asked for that there are", keys)
		}
		sessions := []gridtest.Session{{Agent: id(100), Name: "Test User", Region: "Alpha", Position: world.Vec3{X: 128, Y: 128, Z: 25}, Ready: true}}
		if diff := cmp.Diff(sessions, g.Sessions()); diff != "" {
			t.Errorf("sessions (-want +got):\n%s", diff)
		}
		counts := g.Counts()
		for name, n := range map[string]int{"login": 1, "seed": 1, "event_queue": 2, "UseCircuitCode": 1, "CompleteAgentMovement": 1, "RegionHandshakeReply": 1, "resent": 0} {
			if counts[name] != n {
				t.Errorf("found %d %s, expected %d", counts[name], name, n)
			}
		}
		if counts["AgentUpdate"] < 2 {
			t.Errorf("found %d AgentUpdate, expected one a second", counts["AgentUpdate"])
		}
		for _, s := range g.Sent() {
			if !s.Acked {
				t.Errorf("found %+v, expected it to be acknowledged", s)
			}
		}
	})
}

// TestNothingUntilReady holds the grid to OpenSimulator's rule: without both
// the handshake's reply and the seed request, no objects and no avatars but
// one's own.
func TestNothingUntilReady(t *testing.T) {
	for name, without := range map[string]func(c *client, reply *login.Reply){
		"seed":      func(c *client, reply *login.Reply) { reply.Seed = secret.Of[string]{} },
		"handshake": func(c *client, reply *login.Reply) { c.shy = true },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := gridtest.New(testWorld())
				defer g.Close()
				c := inMemory(t, g)
				defer c.close()
				reply, err := login.Do(c.ctx, c.http, request(g.LoginURI()))
				if err != nil {
					t.Fatal(err)
				}
				without(c, reply)
				c.enter(reply)
				settle(10 * time.Second)
				if n := c.objects(id(1), id(2), id(3)); n != 0 {
					t.Errorf("found %d descriptions, expected none", n)
				}
				if n := c.objects(id(100)); n != 1 {
					t.Errorf("found the own avatar %d times, expected once", n)
				}
				if s := g.Sessions()[0]; s.Ready {
					t.Errorf("found %+v, expected a session that is not ready", s)
				}
			})
		})
	}
}

func TestCachedObjects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := gridtest.New(testWorld())
		defer g.Close()
		c := inMemory(t, g)
		defer c.close()
		c.flags = 0
		c.login(request(g.LoginURI()))
		settle(3 * time.Second)
		if messages, _, _ := c.seen(); messages["ObjectUpdateCached"] != 1 || c.objects(id(1)) != 0 || c.objects(id(2)) != 1 {
			t.Errorf("found messages %v, expected the stored object to be offered alone", messages)
		}
		c.send(message.AppendRequestMultipleObjects(nil, c.session, []uint32{1001, 4711}))
		c.send(message.AppendRequestObjectPropertiesFamily(nil, c.session, id(1)))
		c.send(message.AppendRequestObjectPropertiesFamily(nil, c.session, id(3))) // an avatar has none
		c.send(message.AppendUUIDNameRequest(nil, []world.UUID{id(3), id(77), id(101)}))
		settle(time.Second)
		messages, effects, _ := c.seen()
		if c.objects(id(1)) != 1 || effects["name "+id(1).String()] != 1 || messages["ObjectPropertiesFamily"] != 1 || messages["UUIDNameReply"] != 2 {
			t.Errorf("found messages %v and effects %v, expected one object, one object's name and two people's", messages, effects)
		}
	})
}

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

// TestFaultsHappen makes sure that faults are faults.
func TestFaultsHappen(t *testing.T) {
	cfg := testWorld()
	cfg.Faults = gridtest.Faults{Loss: 0.2, Duplicate: 0.2, Truncate: 0.2, Overlong: 0.2, WrongAcks: 0.2}
	bubble(t, cfg, func(t *testing.T, g *gridtest.Grid, c *client) {
		settle(30 * time.Second)
		play(g)
		settle(30 * time.Second)
		c.mu.Lock()
		defer c.mu.Unlock()
		stats := c.root.circuit.Stats()
		if stats.Duplicates == 0 || stats.Resent == 0 || stats.Malformed == 0 || stats.Resends == 0 {
			t.Errorf("found %+v, expected duplicates, resends both ways and malformed datagrams", stats)
		}
		if n := g.Counts()["resent"]; n == 0 {
			t.Error("found no resent datagram of the client, expected some")
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

func TestLogin(t *testing.T) { synctest.Test(t, testLogin) }

func testLogin(t *testing.T) {
	g := gridtest.New(&gridtest.Config{
		Accounts: []gridtest.Account{
			{First: "Test", Last: "User", Password: "secret"},
			{First: "Careful", Last: "Resident", Password: "p", Terms: "the terms", Critical: "read this", Token: "123456"},
		},
		Regions: []gridtest.RegionConfig{{Name: "Alpha"}, {Name: "Big <Bold>", SizeX: 1024, SizeY: 512}},
	})
	defer g.Close()
	do := func(change func(*login.Request)) (*login.Reply, error) {
		req := request(g.LoginURI())
		change(req)
		return login.Do(context.Background(), &http.Client{Transport: g.Transport()}, req)
	}
	refused := func(name string, want login.Reason, change func(*login.Request)) {
		t.Helper()
		_, err := do(change)
		var e *login.Error
		if !errors.As(err, &e) || e.Reason != want {
			t.Errorf("%s: found %v, expected reason %q", name, err, want)
		}
	}
	refused("password", login.ReasonKey, func(r *login.Request) { r.Password = secret.New("wrong") })
	refused("nobody", login.ReasonKey, func(r *login.Request) { r.First = "Nobody" })
	careful := func(r *login.Request) { r.First, r.Last, r.Password = "Careful", "", secret.New("p") }
	refused("terms", login.ReasonTerms, careful)
	agree := func(r *login.Request) { careful(r); r.AcceptTerms = true }
	refused("critical", login.ReasonCritical, agree)
	read := func(r *login.Request) { agree(r); r.ReadCritical = true }
	refused("code", login.ReasonMFA, read)
	refused("wrong code", login.ReasonMFA, func(r *login.Request) { read(r); r.Token = secret.New("1") })

	reply, err := do(func(r *login.Request) {
		read(r)
		r.Token, r.Start = secret.New("123 456"), "uri:Big <Bold>&500&20&30"
	})
	if err != nil {
		t.Fatal(err)
	}
	if reply.SizeX != 1024 || reply.SizeY != 512 || reply.MFAHash.IsZero() || len(reply.Folders) != 2 || reply.FirstName != "Careful" {
		t.Errorf("found %+v, expected the big region, a hash and two folders", reply)
	}
	hash := reply.MFAHash
	stored := func(r *login.Request) { read(r); r.MFAHash = hash }
	refused("presence", login.ReasonPresence, stored)
	if _, err := do(stored); err != nil {
		t.Errorf("with a hash, after presence: %v", err)
	}
	g.ForgetToken("Careful Resident")
	refused("old hash", login.ReasonMFA, stored)

	g.AnswerLogins(
		gridtest.LoginAnswer{Reason: "update", Message: "too old"},
		gridtest.LoginAnswer{Status: 503, Body: "<html>maintenance</html>"},
		gridtest.LoginAnswer{Reason: "indeterminate"},
	)
	refused("update", login.ReasonUpdate, func(*login.Request) {})
	refused("garbage", login.ReasonNotGrid, func(*login.Request) {})
	if _, err := do(func(*login.Request) {}); err != nil {
		t.Errorf("redirected: %v", err)
	}
	if n := g.Counts()["login"]; n != 14 {
		t.Errorf("found %d logins counted, expected 14", n)
	}
}

// TestSecondLogin throws the first session out.
func TestSecondLogin(t *testing.T) {
	bubble(t, testWorld(), func(t *testing.T, g *gridtest.Grid, c *client) {
		other := inMemory(t, g)
		defer other.close()
		if _, err := login.Do(other.ctx, other.http, request(g.LoginURI())); err == nil {
			t.Fatal("found no error, expected a refusal")
		}
		settle(2 * time.Second)
		messages, _, _ := c.seen()
		if messages["KickUser"] != 1 || messages["DisableSimulator"] != 1 || c.statuses[404] != 1 {
			t.Errorf("found messages %v and polls %v, expected a kick, an end and 404", messages, c.statuses)
		}
		other.login(request(g.LoginURI()))
		settle(2 * time.Second)
		if s := g.Sessions(); len(s) != 1 || !s[0].Ready {
			t.Errorf("found sessions %+v, expected the second", s)
		}
	})
}

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
				if c.statuses[404] != 1 {
					t.Errorf("found polls %v, expected one queue to be gone", c.statuses)
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

func TestEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		end      func(g *gridtest.Grid, c *client)
		messages map[string]int
	}{
		"kick":            {func(g *gridtest.Grid, c *client) { g.Kick(id(100), "go") }, map[string]int{"KickUser": 1, "DisableSimulator": 1}},
		"restart":         {func(g *gridtest.Grid, c *client) { g.Restart("Alpha", time.Minute) }, map[string]int{"KickUser": 1, "DisableSimulator": 1}},
		"vanish":          {func(g *gridtest.Grid, c *client) { g.Vanish(id(100)) }, map[string]int{}},
		"answered logout": {func(g *gridtest.Grid, c *client) { c.send(message.AppendLogoutRequest(nil, c.session)) }, map[string]int{"LogoutReply": 1}},
		"logout":          {func(g *gridtest.Grid, c *client) { c.send(message.AppendLogoutRequest(nil, c.session)) }, map[string]int{}},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := testWorld()
			cfg.LogoutReply = tt.messages["LogoutReply"] > 0
			bubble(t, cfg, func(t *testing.T, g *gridtest.Grid, c *client) {
				tt.end(g, c)
				settle(5 * time.Second)
				messages, _, _ := c.seen()
				for _, n := range []string{"KickUser", "DisableSimulator", "LogoutReply"} {
					if messages[n] != tt.messages[n] {
						t.Errorf("found %d %s, expected %d", messages[n], n, tt.messages[n])
					}
				}
				if c.statuses[404] != 1 || len(g.Sessions()) != 0 {
					t.Errorf("found polls %v and sessions %v, expected 404 and none", c.statuses, g.Sessions())
				}
				_, err := login.Do(c.ctx, c.http, request(g.LoginURI()))
				var e *login.Error
				switch {
				case name != "restart" && err != nil:
					t.Errorf("login afterwards: %v", err)
				case name == "restart" && (!errors.As(err, &e) || e.Reason != login.ReasonConnect):
					t.Errorf("login while down: found %v, expected reason connect", err)
				}
			})
		})
	}
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
		if diff := cmp.Diff(want, c.statuses); diff != "" {
			t.Errorf("statuses (-want +got):\n%s", diff)
		}
		g.SetFaults(gridtest.Faults{QueueStatus: []int{404}})
		settle(time.Second)
		if c.statuses[404] != 1 {
			t.Errorf("found statuses %v, expected the held poll to end with 404", c.statuses)
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

func TestWrongSessionIsDropped(t *testing.T) {
	bubble(t, testWorld(), func(t *testing.T, g *gridtest.Grid, c *client) {
		forged := c.session
		forged.SessionID = id(1)
		c.send(message.AppendLogoutRequest(nil, forged))
		settle(2 * time.Second)
		stranger := g.Listen()
		defer stranger.Close()
		stranger.WriteToUDPAddrPort(append([]byte{0, 0, 0, 0, 99, 0}, message.AppendLogoutRequest(nil, c.session)...), c.reply.Simulator)
		settle(2 * time.Second)
		if len(g.Sessions()) != 1 {
			t.Error("found the session gone, expected both to be dropped")
		}
	})
}

func TestInventoryAndNames(t *testing.T) {
	cfg := testWorld()
	root := gridtest.Folder{InventoryFolder: message.InventoryFolder{ID: id(70), Name: "My Inventory", Type: 8}, Version: 5}
	sub := gridtest.Folder{InventoryFolder: message.InventoryFolder{ID: id(71), ParentID: id(70), Name: "A & <b>", Type: -1}}
	cfg.Accounts[0].Folders = []gridtest.Folder{root, sub}
	cfg.Accounts[0].Items = []message.InventoryItem{{ID: id(72), FolderID: id(71), Name: "item", AssetType: 3, Created: 7}}
	bubble(t, cfg, func(t *testing.T, g *gridtest.Grid, c *client) {
		url, _ := c.caps.Get("FetchInventoryDescendents2").Str()
		ask := func(n byte) llsd.Value { return llsd.Map(llsd.Member{Key: "folder_id", Value: llsd.UUID(id(n))}) }
		status, v, err := c.post(url, llsd.Map(llsd.Member{Key: "folders", Value: llsd.Array(ask(70), ask(71), ask(99))}))
		if status != 200 || err != nil {
			t.Fatalf("found %d and %v", status, err)
		}
		if n := v.Get("folders").Len(); n != 2 {
			t.Fatalf("found %d folders, expected 2", n)
		}
		if name, _ := v.Get("folders").Index(0).Get("categories").Index(0).Get("name").Str(); name != "A & <b>" {
			t.Errorf("found category %q", name)
		}
		if item, _ := v.Get("folders").Index(1).Get("items").Index(0).Get("item_id").UUID(); item != id(72) {
			t.Errorf("found item %v", item)
		}
		if n := v.Get("bad_folders").Len(); n != 1 {
			t.Errorf("found %d bad folders, expected 1", n)
		}
		names, _ := c.caps.Get("GetDisplayNames").Str()
		resp, err := c.http.Get(names + "?ids=" + id(101).String() + "&ids=" + id(99).String() + "&ids=" + id(4).String())
		if err != nil {
			t.Fatal(err)
		}
		v, err = llsd.Parse(readAll(t, resp))
		if err != nil {
			t.Fatal(err)
		}
		if name, _ := v.Get("agents").Index(0).Get("display_name").Str(); name != "The Other" || v.Get("agents").Len() != 2 || v.Get("bad_ids").Len() != 1 {
			t.Errorf("found %v, expected two people and one bad ID", v)
		}
		if c := g.Counts(); c["inventory"] != 1 || c["names"] != 1 {
			t.Errorf("found counts %v, expected one of each", c)
		}
	})
}

// TestLoopback runs a client over real sockets.
func TestLoopback(t *testing.T) {
	g := gridtest.New(testWorld())
	uri := g.Serve(t)
	transport := &http.Transport{}
	c := newClient(t, transport, func() packetConn {
		conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		if err != nil {
			t.Fatal(err)
		}
		return conn
	})
	defer c.close()
	c.login(request(uri))
	wait(t, func() bool { return c.objects(id(1), id(2), id(3), id(100)) == 4 })
	play(g)
	wait(t, func() bool {
		return !slices.ContainsFunc(g.Sent(), func(s gridtest.Sent) bool { return !s.Acked })
	})
	exactlyOnce(t, g, c)
	g.Teleport(id(100), "Beta", world.Vec3{X: 400, Y: 500, Z: 25})
	wait(t, func() bool { s := g.Sessions(); return len(s) == 1 && s[0].Region == "Beta" && s[0].Ready })
	g.Close() // while a poll is held
}

// wait waits until something that real sockets bring about is so.
func wait(t *testing.T, so func() bool) {
	t.Helper()
	for range 1000 {
		if so() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("found nothing of what was expected after 10 s")
}

// TestSecrets finds every secret that the wire has carried in the grid's list.
func TestSecrets(t *testing.T) {
	bubble(t, testWorld(), func(t *testing.T, g *gridtest.Grid, c *client) {
		secrets := g.Secrets()
		seed, _ := c.caps.Get("EventQueueGet").Str()
		for _, s := range []string{"secret", c.session.SessionID.String(), fmt.Sprint(c.session.CircuitCode), c.reply.SecureSessionID.Reveal().String(), c.reply.Seed.Reveal(), seed} {
			if !slices.ContainsFunc(secrets, func(known string) bool { return strings.Contains(s, known) }) {
				t.Errorf("found %q, expected it to be among the secrets", s)
			}
		}
	})
}

func TestClosedGrid(t *testing.T) {
	g := gridtest.New(nil)
	conn := g.Listen()
	g.Close()
	g.Close()
	if _, _, err := conn.ReadFromUDPAddrPort(nil); !errors.Is(err, net.ErrClosed) {
		t.Errorf("found %v, expected net.ErrClosed", err)
	}
	if _, err := conn.WriteToUDPAddrPort([]byte("x"), conn.LocalAddr().(*net.UDPAddr).AddrPort()); !errors.Is(err, net.ErrClosed) {
		t.Errorf("found %v, expected net.ErrClosed", err)
	}
	if _, err := (&http.Client{Transport: g.Transport()}).Get("http://grid.test/"); err == nil {
		t.Error("found no error of a request to a closed grid")
	}
}

package gridtest_test

import (
	"errors"
	"net"
	"net/http"
	"slices"
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

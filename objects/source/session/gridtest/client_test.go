package gridtest_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/netip"
	"sync"
	"testing"
	"time"

	"github.com/wipagent/wipagent/objects/source/session/gridtest"
	"github.com/wipagent/wipagent/objects/source/session/llsd"
	"github.com/wipagent/wipagent/objects/source/session/lludp"
	"github.com/wipagent/wipagent/objects/source/session/login"
	"github.com/wipagent/wipagent/objects/source/session/message"
	"github.com/wipagent/wipagent/objects/source/session/secret"
	"github.com/wipagent/wipagent/objects/world"
)

// client is as little of a client as a grid can be tested with.
type client struct {
	t       testing.TB
	http    *http.Client
	listen  func() packetConn
	session message.Session
	reply   *login.Reply
	flags   uint32 // of handshake replies
	polite  bool   // false: no acknowledgements, pings or updates
	shy     bool   // no handshake reply
	ctx     context.Context
	cancel  context.CancelFunc
	wg      sync.WaitGroup

	mu       sync.Mutex
	messages map[string]int // received, by name
	effects  map[string]int
	coarse   message.CoarseLocationUpdate // the last
	events   []string
	statuses map[int]int // of polls
	bodies   map[string][]llsd.Value
	caps     llsd.Value
	root     *endpoint
}

type packetConn interface {
	ReadFromUDPAddrPort(b []byte) (int, netip.AddrPort, error)
	WriteToUDPAddrPort(b []byte, to netip.AddrPort) (int, error)
	Close() error
}

// endpoint is the client's end of one circuit.
type endpoint struct {
	*client
	conn    packetConn
	sim     netip.AddrPort
	circuit *lludp.Circuit // guarded by client.mu
}

func request(uri string) *login.Request {
	return &login.Request{
		URI: uri, First: "Test", Last: "User", Password: secret.New("secret"), Channel: "gridtest", Version: "1",
		MAC: "00000000000000000000000000000001", ID0: "00000000000000000000000000000002",
	}
}

// newClient returns a client that has not logged in.
func newClient(t testing.TB, transport http.RoundTripper, listen func() packetConn) *client {
	ctx, cancel := context.WithCancel(context.Background())
	c := &client{
		t: t, http: &http.Client{Transport: transport}, listen: listen, flags: 7, polite: true, ctx: ctx, cancel: cancel,
		messages: map[string]int{}, effects: map[string]int{}, statuses: map[int]int{}, bodies: map[string][]llsd.Value{},
	}
	return c
}

// inMemory returns a client of a grid in memory.
func inMemory(t testing.TB, g *gridtest.Grid) *client {
	return newClient(t, g.Transport(), func() packetConn { return g.Listen() })
}

func (c *client) login(req *login.Request) {
	c.t.Helper()
	reply, err := login.Do(c.ctx, c.http, req)
	if err != nil {
		c.t.Fatal(err)
	}
	c.enter(reply)
}

// enter opens the circuit that a login has answered with.
func (c *client) enter(reply *login.Reply) {
	c.reply = reply
	c.session = message.Session{AgentID: reply.AgentID, SessionID: reply.SessionID.Reveal(), CircuitCode: reply.CircuitCode.Reveal()}
	c.open(reply.Simulator, reply.Seed.Reveal())
}

func (c *client) open(sim netip.AddrPort, seed string) {
	e := &endpoint{client: c, conn: c.listen(), sim: sim, circuit: lludp.NewCircuit()}
	c.mu.Lock()
	c.root = e
	c.mu.Unlock()
	e.send(message.AppendUseCircuitCode(nil, c.session))
	c.wg.Go(e.read)
	c.wg.Go(e.tick)
	c.wg.Go(func() {
		if seed != "" && !e.fetchSeed(seed) {
			return
		}
		e.send(message.AppendCompleteAgentMovement(nil, c.session))
		if seed != "" {
			e.poll()
		}
	})
}

// close ends the client without a word.
func (c *client) close() {
	c.cancel()
	c.mu.Lock()
	root := c.root
	c.mu.Unlock()
	if root != nil {
		root.conn.Close()
	}
	c.wg.Wait()
	c.http.CloseIdleConnections()
}

func (e *endpoint) send(body []byte) {
	e.mu.Lock()
	datagram, _ := e.circuit.Send(time.Now(), body, lludp.SendOptions{Reliable: true})
	datagram = bytes.Clone(datagram)
	e.mu.Unlock()
	e.conn.WriteToUDPAddrPort(datagram, e.sim)
}

// tick does what is due, ten times a second.
func (e *endpoint) tick() {
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for n := 0; ; n++ {
		select {
		case <-e.ctx.Done():
			e.conn.Close()
			return
		case now := <-ticker.C:
			var out [][]byte
			e.mu.Lock()
			if !e.polite {
				e.mu.Unlock()
				continue
			}
			if n%10 == 0 {
				d, _ := e.circuit.Send(now, message.AppendAgentUpdate(nil, e.session, message.AgentUpdate{Far: 128}), lludp.SendOptions{ZeroCoded: true})
				out = append(out, bytes.Clone(d))
			}
			e.circuit.Due(now, func(d []byte) { out = append(out, bytes.Clone(d)) })
			e.mu.Unlock()
			for _, d := range out {
				e.conn.WriteToUDPAddrPort(d, e.sim)
			}
		}
	}
}

func (e *endpoint) read() {
	b := make([]byte, 64<<10)
	for {
		n, from, err := e.conn.ReadFromUDPAddrPort(b)
		if err != nil {
			return
		}
		if from != e.sim {
			e.t.Errorf("found a datagram from %v, expected one from %v", from, e.sim)
		}
		e.mu.Lock()
		body, ok, err := e.circuit.Receive(time.Now(), b[:n])
		shake := false
		if ok && err == nil {
			number, rest, _ := message.Split(body)
			e.messages[number.String()]++
			for _, effect := range effects(number, rest) {
				e.effects[effect]++
			}
			shake = number == message.NumberRegionHandshake
			if number == message.NumberCoarseLocationUpdate {
				e.coarse.Decode(rest)
			}
		}
		e.mu.Unlock()
		if shake && !e.shy {
			e.send(message.AppendRegionHandshakeReply(nil, e.session, e.flags))
		}
	}
}

// effects says what a message does, as gridtest.Sent does.
func effects(n message.Number, body []byte) (list []string) {
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	switch n {
	case message.NumberObjectUpdate, message.NumberObjectUpdateCompressed:
		var m message.ObjectUpdate
		if n == message.NumberObjectUpdate {
			m.Decode(body)
		} else {
			m.DecodeCompressed(body)
		}
		for _, o := range m.Objects {
			add("object %s", o.ID)
		}
	case message.NumberImprovedTerseObjectUpdate:
		var m message.ImprovedTerseObjectUpdate
		m.Decode(body)
		for _, o := range m.Objects {
			add("move %d %g %g %g", o.LocalID, o.Position.X, o.Position.Y, o.Position.Z)
		}
	case message.NumberKillObject:
		var m message.KillObject
		m.Decode(body)
		for _, id := range m.LocalIDs {
			add("kill %d", id)
		}
	case message.NumberChatFromSimulator:
		var m message.ChatFromSimulator
		if m.Decode(body) == nil {
			add("chat %s", m.SourceID)
		}
	case message.NumberImprovedInstantMessage:
		var m message.ImprovedInstantMessage
		if m.Decode(body) == nil {
			add("im %s", m.ID)
		}
	case message.NumberUpdateCreateInventoryItem, message.NumberBulkUpdateInventory:
		var m message.InventoryUpdate
		if n == message.NumberBulkUpdateInventory {
			m.DecodeBulk(body)
		} else {
			m.DecodeUpdateCreate(body)
		}
		for _, f := range m.Folders {
			add("folder %s", f.ID)
		}
		for _, i := range m.Items {
			add("item %s", i.ID)
		}
	case message.NumberRemoveInventoryItem:
		var m message.InventoryRemoved
		m.DecodeItems(body)
		for _, id := range m.IDs {
			add("remove %s", id)
		}
	case message.NumberHealthMessage:
		var m message.HealthMessage
		m.Decode(body)
		add("health %g", m.Health)
	case message.NumberObjectPropertiesFamily:
		var m message.ObjectProperties
		m.DecodeFamily(body)
		add("name %s", m.Objects[0].ID)
	case message.NumberTeleportStart:
		add("start")
	case message.NumberTeleportFailed:
		add("failed")
	case message.NumberTeleportLocal:
		add("local")
	case message.NumberRegionHandshake:
		add("handshake")
	}
	return list
}

// post posts a document and returns the answer's.
func (c *client) post(url string, v llsd.Value) (int, llsd.Value, error) {
	req, err := http.NewRequestWithContext(c.ctx, http.MethodPost, url, bytes.NewReader(v.AppendXML(nil)))
	if err != nil {
		return 0, llsd.Value{}, err
	}
	req.Header.Set("Content-Type", "application/llsd+xml")
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, llsd.Value{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		return resp.StatusCode, llsd.Value{}, err
	}
	answer, err := llsd.Parse(body)
	return resp.StatusCode, answer, err
}

func (e *endpoint) fetchSeed(seed string) bool {
	names := llsd.Array(llsd.String("EventQueueGet"), llsd.String("FetchInventoryDescendents2"), llsd.String("GetDisplayNames"), llsd.String("ObjectAdd"))
	for {
		status, caps, err := e.post(seed, names)
		if err != nil {
			return false
		}
		if status == http.StatusOK {
			e.mu.Lock()
			e.caps = caps
			e.mu.Unlock()
			return true
		}
		e.mu.Lock()
		e.statuses[status]++
		e.mu.Unlock()
		if status == http.StatusNotFound {
			return false
		}
		if !sleep(e.ctx, time.Second) {
			return false
		}
	}
}

// poll polls the event queue until it is gone, and follows the agent to
// another region.
func (e *endpoint) poll() {
	e.mu.Lock()
	url, _ := e.caps.Get("EventQueueGet").Str()
	e.mu.Unlock()
	ack := llsd.Undef()
	for {
		status, answer, err := e.post(url, llsd.Map(llsd.Member{Key: "ack", Value: ack}, llsd.Member{Key: "done", Value: llsd.Boolean(false)}))
		if err != nil {
			return
		}
		e.mu.Lock()
		e.statuses[status]++
		e.mu.Unlock()
		if status == http.StatusNotFound {
			return
		}
		if status != http.StatusOK {
			if !sleep(e.ctx, 100*time.Millisecond) {
				return
			}
			continue
		}
		ack = answer.Get("id")
		for event := range answer.Get("events").Values() {
			name, _ := event.Get("message").Str()
			body := event.Get("body")
			e.mu.Lock()
			e.events = append(e.events, name)
			e.bodies[name] = append(e.bodies[name], body)
			e.mu.Unlock()
			switch name {
			case "TeleportFinish":
				e.follow(body.Get("Info").Index(0))
			case "CrossedRegion":
				e.follow(body.Get("RegionData").Index(0))
			}
		}
	}
}

func (c *client) follow(info llsd.Value) {
	addr, _ := info.Get("SimIP").Addr()
	port, _ := info.Get("SimPort").Int()
	seed, _ := info.Get("SeedCapability").Str()
	c.open(netip.AddrPortFrom(addr, uint16(port)), seed)
}

func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}

// seen returns what was received so far.
func (c *client) seen() (messages, effects map[string]int, events []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.messages), maps.Clone(c.effects), append([]string(nil), c.events...)
}

// answers returns how often polls and seed requests got each status.
func (c *client) answers() map[int]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.statuses)
}

func (c *client) send(body []byte) {
	c.mu.Lock()
	root := c.root
	c.mu.Unlock()
	root.send(body)
}

func (c *client) objects(ids ...world.UUID) (n int) {
	_, effects, _ := c.seen()
	for _, id := range ids {
		n += effects["object "+id.String()]
	}
	return n
}

func readAll(t *testing.T, resp *http.Response) []byte {
	t.Helper()
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

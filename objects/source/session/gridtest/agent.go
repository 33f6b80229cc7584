package gridtest

import (
	"slices"
	"strconv"
	"time"

	"github.com/wipagent/wipagent/objects/source/session/message"
	"github.com/wipagent/wipagent/objects/world"
)

// agent is one login of an account. g.mu guards it.
type agent struct {
	grid            *Grid
	account         *account
	session, secure world.UUID
	code            uint32
	circuits        []*circuit
	root            *circuit // of the region that the agent is in; nil before it has arrived
	position        world.Vec3
	parcel          *Parcel // that the client was told of last
	gone            bool
}

// admit begins a session of an account.
func (g *Grid) admit(account *account, r *Region, to world.Vec3) *circuit {
	a := &agent{
		grid: g, account: account, session: g.newID(), secure: g.newID(), code: g.rng.Uint32() | 1<<30,
	}
	g.secret(a.session.String())
	g.secret(a.secure.String())
	g.secret(strconv.FormatUint(uint64(a.code), 10))
	account.agent = a
	g.agents = append(g.agents, a)
	return a.expect(r, to)
}

// expect has a region wait for the agent. What is left of an earlier visit ends
// now.
func (a *agent) expect(r *Region, to world.Vec3) *circuit {
	g := a.grid
	for _, c := range slices.Clone(a.circuits) {
		if c.region != r {
			continue
		}
		if g.cfg.KeepCircuits && !c.gone {
			c.again(to)
			return c
		}
		c.close()
	}
	n := g.rng.Uint64() >> 8
	c := &circuit{
		grid: g, agent: a, region: r, lands: to, up: g.newLink(n), down: g.newLink(n + 1),
		granted: map[string]*capability{}, seen: map[uint32]bool{}, heard: time.Now(),
	}
	c.open()
	a.circuits = append(a.circuits, c)
	return c
}

// open makes up what a circuit's client asks for by HTTP.
func (c *circuit) open() {
	g := c.grid
	c.queue = &queue{grid: g, id: g.rng.Int32N(1 << 24), news: make(chan struct{})}
	c.seed, c.granted = g.capability(c, "seed"), map[string]*capability{}
}

// again takes a circuit up for an agent that comes back: what was sent and
// seen on it counts on.
func (c *circuit) again(to world.Vec3) {
	c.lands, c.closing = to, time.Time{}
	c.moved, c.replied, c.seeded, c.told = false, false, false, false
	c.queue.close()
	c.open()
}

// arrive makes a circuit's region the one that the agent is in.
func (a *agent) arrive(c *circuit) {
	g, r := a.grid, c.region
	if a.root != c {
		old := a.root
		a.root, a.position, a.parcel = c, c.lands, nil
		if old != nil {
			if e := old.region.byID(a.account.ID); e != nil {
				old.region.leave(e)
				old.send(EncodeKillObject(&message.KillObject{LocalIDs: []uint32{e.LocalID}}))
			}
			if !g.cfg.KeepCircuits {
				old.closing = time.Now().Add(closesAfter)
			}
		}
		r.show(r.enter(Avatar{ID: a.account.ID, First: a.account.First, Last: a.account.Last, Position: c.lands}))
		g.introduce(a.account.ID, a.account.First, a.account.Last, a.account.DisplayName)
	}
	first := !c.moved
	c.moved = true
	if first && r.HandshakeDelay == 0 {
		c.handshake()
	}
	c.send(EncodeAgentMovementComplete(a.account.ID, a.session, &message.AgentMovementComplete{
		Position: a.position, LookAt: world.Vec3{X: 1}, RegionHandle: r.handle(), ChannelVersion: "gridtest 1.0",
	}))
	if !first {
		return
	}
	if r.HandshakeDelay > 0 {
		g.after(r.HandshakeDelay, c.handshake)
	}
	now := time.Now()
	c.nextCoarse, c.nextStats, c.nextTime = now.Add(time.Second), now.Add(statsEvery), now.Add(timeEvery)
	for part := range uint32(4) {
		c.send(parcelOverlay(part))
	}
	c.land()
	c.send(unknownMessage())
	c.parcel(true)
	for _, other := range g.regions {
		if other != r && beside(other, r) {
			c.queue.push("EnableSimulator", enableSimulator(other))
		}
	}
	if len(a.account.Groups) > 0 {
		c.queue.push("AgentGroupDataUpdate", groupData(a.account.ID, a.account.Groups))
	}
	c.tell()
}

// beside reports whether two regions touch.
func beside(a, b *Region) bool {
	near := func(a0 uint32, a1 int, b0 uint32, b1 int) bool { return a0 <= b0+uint32(b1) && b0 <= a0+uint32(a1) }
	return near(a.X, a.SizeX, b.X, b.SizeX) && near(a.Y, a.SizeY, b.Y, b.SizeY)
}

func (c *circuit) handshake() {
	r := c.region
	c.send(EncodeRegionHandshake(&message.RegionHandshake{Name: r.Name, WaterHeight: r.Water, RegionID: r.ID}), "handshake")
}

// land sends the region's heights.
func (c *circuit) land() {
	for _, m := range c.region.landscape() {
		c.send(m)
	}
}

// parcel tells the client which parcel it is on, if that is another one than
// before, or again.
func (c *circuit) parcel(again bool) {
	p := c.region.parcelAt(c.agent.position)
	if p == nil || p == c.agent.parcel && !again {
		return
	}
	c.agent.parcel = p
	c.queue.push("ParcelProperties", parcelProperties(c.region, p, 0))
}

// kick ends the session with a word.
func (a *agent) kick(reason string) {
	for _, c := range a.circuits {
		c.send(EncodeKickUser(a.account.ID, a.session, message.KickUser{Reason: reason}))
	}
	a.depart()
	a.grid.after(kicksAfter, func() {
		for _, c := range slices.Clone(a.circuits) {
			c.send(EncodeDisableSimulator())
		}
		a.remove()
	})
}

// depart logs the account out; its circuits still say goodbye.
func (a *agent) depart() {
	if a.gone {
		return
	}
	a.gone = true
	if a.account.agent == a {
		a.account.agent = nil
	}
	if a.root != nil {
		if e := a.root.region.byID(a.account.ID); e != nil {
			a.root.region.leave(e)
		}
	}
}

// remove ends the session without a word.
func (a *agent) remove() {
	a.depart()
	for _, c := range slices.Clone(a.circuits) {
		c.close()
	}
	a.grid.agents = slices.DeleteFunc(a.grid.agents, func(other *agent) bool { return other == a })
}

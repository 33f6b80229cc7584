package gridtest

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/wipagent/wipagent/objects/source/session/message"
	"github.com/wipagent/wipagent/objects/world"
)

// Region is a region and its simulator. Its methods are those of a script; see
// Grid.
type Region struct {
	RegionConfig
	grid   *Grid
	addr   netip.AddrPort
	socket *net.UDPConn // nil in memory

	entities []*entity
	local    uint32    // the last local ID
	lands    [][]byte  // LayerData, once it is made
	down     time.Time // until when the region is closed
}

// entity is an object or avatar of a region.
type entity struct {
	Object
	avatar bool
	far    bool // too far away to be seen
}

func (g *Grid) addRegion(cfg RegionConfig) {
	r := &Region{RegionConfig: cfg, grid: g}
	n := len(g.regions)
	if r.ID.IsZero() {
		r.ID = g.newID()
	}
	if r.SizeX == 0 {
		r.SizeX = 256
	}
	if r.SizeY == 0 {
		r.SizeY = 256
	}
	if r.X == 0 && r.Y == 0 {
		r.X, r.Y = 256000, 256000
		if n > 0 {
			before := g.regions[n-1]
			r.X, r.Y = before.X+uint32(before.SizeX), before.Y
		}
	}
	if r.Water == 0 {
		r.Water = 20
	}
	if r.RegionConfig.Terrain == nil {
		r.RegionConfig.Terrain = func(int, int) float64 { return 21 }
	}
	if r.Parcels == nil {
		r.Parcels = []Parcel{{Name: r.Name + " land"}}
	}
	r.Parcels = slices.Clone(r.Parcels)
	for i := range r.Parcels {
		p := &r.Parcels[i]
		if p.LocalID == 0 {
			p.LocalID = int32(i + 1)
		}
		if p.X0 == 0 && p.Y0 == 0 && p.X1 == 0 && p.Y1 == 0 {
			p.X1, p.Y1 = r.SizeX, r.SizeY
		}
		if p.Flags == 0 {
			p.Flags = flagsOpen
		}
	}
	r.addr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, 1}), uint16(13000+n))
	r.local = uint32(1000 * (n + 1))
	for _, o := range r.Objects {
		r.put(o)
	}
	for _, a := range r.RegionConfig.Avatars {
		r.enter(a)
	}
	g.regions = append(g.regions, r)
}

// flagsOpen lets everybody fly, build and run scripts.
const flagsOpen = 1<<0 | 1<<1 | 1<<6

func (r *Region) handle() uint64 { return uint64(r.X)<<32 | uint64(r.Y) }

func (r *Region) byLocal(local uint32) *entity {
	for _, e := range r.entities {
		if e.LocalID == local {
			return e
		}
	}
	return nil
}

func (r *Region) byID(id world.UUID) *entity {
	for _, e := range r.entities {
		if e.ID == id {
			return e
		}
	}
	return nil
}

// must returns the entity of that ID.
func (r *Region) must(id world.UUID) *entity {
	e := r.byID(id)
	if e == nil {
		panic(fmt.Sprintf("gridtest: %s holds no %s", r.Name, id))
	}
	return e
}

// each calls do for the circuits of all agents that are in the region.
func (r *Region) each(do func(*circuit)) {
	for _, a := range slices.Clone(r.grid.agents) {
		if a.root != nil && a.root.region == r && !a.root.gone {
			do(a.root)
		}
	}
}

// show describes an entity to those who may see it.
func (r *Region) show(e *entity) {
	r.each(func(c *circuit) {
		if !e.far && (c.ready() || e.ID == c.agent.account.ID) {
			c.describe(e)
		}
	})
}

// shift says where an entity is now. As from OpenSimulator, clients that were
// told of nothing get it too.
func (r *Region) shift(e *entity) {
	r.each(func(c *circuit) {
		if !e.far {
			c.move(e)
		}
	})
}

func (r *Region) put(o Object) *entity {
	if o.ID.IsZero() {
		o.ID = r.grid.newID()
	}
	e := r.byID(o.ID)
	if e == nil {
		e = &entity{}
		r.entities = append(r.entities, e)
	} else if o.LocalID == 0 {
		o.LocalID = e.LocalID
	}
	if o.LocalID == 0 {
		r.local++
		o.LocalID = r.local
	}
	if o.PCode == 0 {
		o.PCode = world.PCodePrim
	}
	if o.Scale == (world.Vec3{}) {
		o.Scale = world.Vec3{X: 0.5, Y: 0.5, Z: 0.5}
	}
	if o.Rotation == (world.Quat{}) {
		o.Rotation.W = 1
	}
	o.Placed = true
	e.Object = o
	return e
}

func (r *Region) enter(a Avatar) *entity {
	if a.ID.IsZero() {
		a.ID = r.grid.newID()
	}
	r.grid.introduce(a.ID, a.First, a.Last, "")
	e := r.put(Object{Object: message.Object{
		ID: a.ID, PCode: world.PCodeAvatar, Position: a.Position, Scale: world.Vec3{X: 0.45, Y: 0.6, Z: 1.9},
		NameValue: fmt.Sprintf("FirstName STRING RW SV %s\nLastName STRING RW SV %s\nTitle STRING RW SV ", a.First, a.Last),
	}})
	e.avatar, e.far = true, a.Far
	return e
}

// leave takes an entity, and what is linked to it, out of the region. Who sits
// on it stands up.
func (r *Region) leave(e *entity) {
	gone := []*entity{e}
	for i := 0; i < len(gone); i++ {
		for _, child := range r.entities {
			if child.ParentID == gone[i].LocalID && !child.avatar {
				gone = append(gone, child)
			}
		}
	}
	r.entities = slices.DeleteFunc(r.entities, func(e *entity) bool { return slices.Contains(gone, e) })
	r.each(func(c *circuit) { // children are implied
		c.send(EncodeKillObject(&message.KillObject{LocalIDs: []uint32{e.LocalID}}), fmt.Sprintf("kill %d", e.LocalID))
	})
	for _, e := range gone {
		for _, sitting := range r.entities {
			if sitting.avatar && sitting.ParentID == e.LocalID {
				sitting.Position, sitting.ParentID = sitting.Position.Add(e.Position), 0
				r.show(sitting)
			}
		}
	}
}

// place returns where an entity is in the region.
func (r *Region) place(e *entity) world.Vec3 {
	p, parent := e.Position, e.ParentID
	for depth := 0; parent != 0 && depth < 8; depth++ {
		on := r.byLocal(parent)
		if on == nil {
			break
		}
		p, parent = on.Position.Add(on.Rotation.Rotate(p)), on.ParentID
	}
	return p
}

// coarse returns where everybody roughly is, up to 100.
func (r *Region) coarse(you world.UUID) *message.CoarseLocationUpdate {
	m := &message.CoarseLocationUpdate{You: -1}
	scale := func(v float64, size int) uint8 { return uint8(min(max(v*256/float64(size), 0), 255)) }
	for _, e := range r.entities {
		if !e.avatar || len(m.Locations) == 100 {
			continue
		}
		if e.ID == you {
			m.You = len(m.Locations)
		}
		p := r.place(e)
		l := world.CoarseLocation{ID: e.ID, X: scale(p.X, r.SizeX), Y: scale(p.Y, r.SizeY)}
		if p.Z <= 1020 { // beyond, OpenSimulator says 0
			l.Z = uint8(max(p.Z, 0) / 4)
		}
		m.Locations = append(m.Locations, l)
	}
	return m
}

// tell describes what is in the region to a client that has just done all that
// it has to.
func (c *circuit) tell() {
	if c.told || !c.ready() {
		return
	}
	c.told = true
	r := c.region
	var cached []uint32
	var shown []*entity
	for _, e := range r.entities {
		switch {
		case e.far || e.ID == c.agent.account.ID:
		case !e.avatar && e.Encoding == Stored && c.flags&message.HandshakeCacheEmpty == 0:
			cached = append(cached, e.LocalID)
		default:
			shown = append(shown, e)
		}
	}
	c.describe(shown...)
	for chunk := range slices.Chunk(cached, 80) {
		c.send(EncodeObjectUpdateCached(&message.ObjectUpdateCached{RegionHandle: r.handle(), LocalIDs: chunk}))
	}
}

// landscape returns the region's LayerData.
func (r *Region) landscape() [][]byte {
	if r.lands == nil {
		r.lands = EncodeLayerData(r.SizeX, r.SizeY, r.RegionConfig.Terrain)
	}
	return r.lands
}

// parcelAt returns the parcel at a place; nil if there is none.
func (r *Region) parcelAt(p world.Vec3) *Parcel {
	for i := range r.Parcels {
		l := &r.Parcels[i]
		if p.X >= float64(l.X0) && p.X < float64(l.X1) && p.Y >= float64(l.Y0) && p.Y < float64(l.Y1) {
			return l
		}
	}
	return nil
}

// receive takes in what a client has sent to the region, whoever it is. g.mu
// is held.
func (r *Region) receive(from netip.AddrPort, b []byte) {
	g := r.grid
	p, err := parsePacket(b)
	n, body, splitErr := message.Split(p.body)
	if err != nil || splitErr != nil {
		g.count("malformed")
		return
	}
	g.count(n.String())
	if p.flags&flagResent != 0 {
		g.count("resent")
	}
	g.counts["appended acks"] += len(p.acks)
	for _, a := range g.agents {
		for _, c := range a.circuits {
			if c.region != r || c.addr != from && (c.addr.IsValid() || n != message.NumberUseCircuitCode || !c.opens(body)) {
				continue
			}
			c.up.carry(func() { c.receive(from, b) })
			return
		}
	}
}

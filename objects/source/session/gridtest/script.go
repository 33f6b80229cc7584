package gridtest

import (
	"fmt"
	"slices"
	"time"

	"github.com/wipagent/wipagent/objects/source/session/llsd"
	"github.com/wipagent/wipagent/objects/source/session/message"
	"github.com/wipagent/wipagent/objects/world"
)

// Put sets objects down, or changes those of the same ID, and returns their
// local IDs.
func (r *Region) Put(objects ...Object) (locals []uint32) {
	r.grid.do(func() {
		for _, o := range objects {
			e := r.put(o)
			locals = append(locals, e.LocalID)
			r.show(e)
		}
	})
	return locals
}

// Move moves an object or avatar; who is an agent may come to another parcel.
func (r *Region) Move(id world.UUID, to world.Vec3) { r.Turn(id, to, world.Quat{W: 1}) }

// Turn moves and turns an object or avatar.
func (r *Region) Turn(id world.UUID, to world.Vec3, rotation world.Quat) {
	r.grid.do(func() {
		e := r.must(id)
		e.Position, e.Rotation = to, rotation
		r.shift(e)
		r.follow(e)
	})
}

// follow has an agent be where its avatar is.
func (r *Region) follow(e *entity) {
	if a := r.grid.agent(e.ID); a != nil && a.root != nil && a.root.region == r {
		a.position = r.place(e)
		a.root.parcel(false)
	}
}

// Kill takes objects away, with what is linked to them.
func (r *Region) Kill(ids ...world.UUID) {
	r.grid.do(func() {
		for _, id := range ids {
			r.leave(r.must(id))
		}
	})
}

// Enter brings a scripted avatar in and returns its ID.
func (r *Region) Enter(a Avatar) (id world.UUID) {
	r.grid.do(func() {
		e := r.enter(a)
		r.show(e)
		id = e.ID
	})
	return id
}

// Leave takes a scripted avatar out.
func (r *Region) Leave(id world.UUID) { r.Kill(id) }

// Sit seats an avatar on an object, at a place relative to it.
func (r *Region) Sit(avatar, on world.UUID, at world.Vec3) {
	r.grid.do(func() {
		e, seat := r.must(avatar), r.must(on)
		e.Position, e.ParentID = at, seat.LocalID
		r.show(e)
		r.follow(e)
	})
}

// Stand has an avatar stand up at a place.
func (r *Region) Stand(avatar world.UUID, at world.Vec3) {
	r.grid.do(func() {
		e := r.must(avatar)
		e.Position, e.ParentID = at, 0
		r.show(e)
		r.follow(e)
	})
}

// Chat is heard by all agents in the region; words of "" are Canary's.
func (r *Region) Chat(m message.ChatFromSimulator, words string) {
	r.grid.do(func() {
		r.each(func(c *circuit) { c.send(EncodeChatFromSimulator(&m, words), "chat "+m.SourceID.String()) })
	})
}

// Say has an avatar say something, audibly.
func (r *Region) Say(avatar world.UUID, words string) {
	r.grid.mu.Lock()
	p := r.grid.people[avatar]
	r.grid.mu.Unlock()
	r.Chat(message.ChatFromSimulator{
		FromName: p.first + " " + p.last, SourceID: avatar, SourceType: message.SourceAgent, ChatType: message.ChatSay, Audible: 1,
	}, words)
}

// SetTerrain changes the land, and sends all of it.
func (r *Region) SetTerrain(height func(x, y int) float64) {
	r.grid.do(func() {
		r.RegionConfig.Terrain, r.lands = height, nil
		r.each(func(c *circuit) { c.land() })
	})
}

// SetParcel changes a parcel of the region, by its local ID, and tells those
// who are on it; the others learn of it as of any parcel that was edited.
func (r *Region) SetParcel(p Parcel) {
	r.grid.do(func() {
		i := slices.IndexFunc(r.Parcels, func(l Parcel) bool { return l.LocalID == p.LocalID })
		if i < 0 {
			panic(fmt.Sprintf("gridtest: %s has no parcel %d", r.Name, p.LocalID))
		}
		if p.X1 == 0 && p.Y1 == 0 {
			p.X0, p.Y0, p.X1, p.Y1 = r.Parcels[i].X0, r.Parcels[i].Y0, r.Parcels[i].X1, r.Parcels[i].Y1
		}
		r.Parcels[i] = p
		r.each(func(c *circuit) {
			if r.parcelAt(c.agent.position) == &r.Parcels[i] {
				c.parcel(true)
			} else {
				c.queue.push("ParcelProperties", parcelProperties(r, &r.Parcels[i], parcelSelected))
			}
		})
	})
}

// Shake sends the region's handshake again, with another name or water height
// if name is not empty.
func (r *Region) Shake(name string, water float64) {
	r.grid.do(func() {
		if name != "" {
			r.Name, r.Water = name, water
		}
		r.each(func(c *circuit) { c.handshake() })
	})
}

// here returns the circuit of an agent that is somewhere.
func (g *Grid) here(id world.UUID) *circuit {
	a := g.agent(id)
	if a == nil || a.root == nil {
		panic(fmt.Sprintf("gridtest: %s is in no region", id))
	}
	return a.root
}

// elsewhere returns the region of that name, which is not the circuit's.
func (c *circuit) elsewhere(name string) *Region {
	r := c.grid.region(name)
	if r == c.region {
		panic(fmt.Sprintf("gridtest: the agent is in %s already", name))
	}
	return r
}

// Health tells an agent's health, 0 to 100.
func (g *Grid) Health(agent world.UUID, health float64) {
	g.do(func() {
		g.here(agent).send(EncodeHealthMessage(message.HealthMessage{Health: health}), fmt.Sprintf("health %g", health))
	})
}

// IM sends an agent an instant message; words of "" are Canary's. An ID of
// zero is made up.
func (g *Grid) IM(agent world.UUID, m message.ImprovedInstantMessage, words string) {
	g.do(func() { g.im(g.here(agent), m, words) })
}

func (g *Grid) im(c *circuit, m message.ImprovedInstantMessage, words string) {
	if m.ID.IsZero() {
		m.ID = g.newID()
	}
	c.send(EncodeImprovedInstantMessage(c.agent.account.ID, &m, words), "im "+m.ID.String())
}

// Offer has an avatar give an agent an item, which is in the inventory at
// once, and says so by the event queue, as OpenSimulator does.
func (g *Grid) Offer(agent, from world.UUID, item message.InventoryItem) {
	g.do(func() {
		c := g.here(agent)
		c.agent.account.Items = append(c.agent.account.Items, item)
		c.queue.push("BulkUpdateInventory", bulkUpdate(agent, nil, []message.InventoryItem{item}))
		p := g.people[from]
		g.im(c, message.ImprovedInstantMessage{
			FromID: from, FromName: p.first + " " + p.last, Dialog: message.DialogInventoryOffered, BucketID: item.ID,
		}, item.Name)
	})
}

// Give puts folders and items into an agent's inventory and says so by a
// BulkUpdateInventory, or by an UpdateCreateInventoryItem if there are only
// items.
func (g *Grid) Give(agent world.UUID, m message.InventoryUpdate) {
	g.do(func() {
		c := g.here(agent)
		account := c.agent.account
		var effects []string
		for _, f := range m.Folders {
			account.Folders = append(account.Folders, Folder{f, 1})
			effects = append(effects, "folder "+f.ID.String())
		}
		for _, i := range m.Items {
			account.Items = append(account.Items, i)
			effects = append(effects, "item "+i.ID.String())
		}
		if len(m.Folders) == 0 {
			c.send(EncodeUpdateCreateInventoryItem(agent, m.Items), effects...)
		} else {
			c.send(EncodeBulkUpdateInventory(agent, &m), effects...)
		}
	})
}

// Discard takes items out of an agent's inventory.
func (g *Grid) Discard(agent world.UUID, items ...world.UUID) {
	g.do(func() {
		c := g.here(agent)
		account := c.agent.account
		var effects []string
		for _, id := range items {
			effects = append(effects, "remove "+id.String())
		}
		account.Items = slices.DeleteFunc(account.Items, func(i message.InventoryItem) bool { return slices.Contains(items, i.ID) })
		c.send(EncodeRemoveInventoryItem(agent, c.agent.session, items), effects...)
	})
}

// Invite sends an agent a ChatterBoxInvitation: the first line of a group's
// or, if group is false, a conference's session.
func (g *Grid) Invite(agent, from, session world.UUID, group bool, words string) {
	g.do(func() {
		c := g.here(agent)
		p := g.people[from]
		c.queue.push("ChatterBoxInvitation", invitation(agent, from, session, p.first+" "+p.last, group, words))
	})
}

// Event puts an event into the queue of an agent's region.
func (g *Grid) Event(agent world.UUID, name string, body llsd.Value) {
	g.do(func() { g.here(agent).queue.push(name, body) })
}

// Message sends an agent a message of any kind, number first.
func (g *Grid) Message(agent world.UUID, body []byte, effects ...string) {
	g.do(func() { g.here(agent).send(body, effects...) })
}

// TeleportLocal moves an agent within its region.
func (g *Grid) TeleportLocal(agent world.UUID, to world.Vec3) {
	g.do(func() {
		c := g.here(agent)
		c.send(EncodeTeleportStart(), "start")
		c.send(EncodeTeleportLocal(agent, message.TeleportLocal{Position: to}), "local")
		e := c.region.must(agent)
		e.Position, e.ParentID = to, 0
		c.region.shift(e)
		c.region.follow(e)
	})
}

// Teleport moves an agent to a place in another region. The end of it comes by
// the event queue; if the agent has not arrived after 15 s, the region that it
// was in gives it up.
func (g *Grid) Teleport(agent world.UUID, region string, to world.Vec3) {
	g.do(func() {
		from := g.here(agent)
		from.send(EncodeTeleportStart(), "start")
		from.send(EncodeTeleportProgress(agent, "sending_dest"))
		next := from.agent.expect(from.elsewhere(region), to)
		if !g.faults.LostTeleportFinish {
			from.queue.push("TeleportFinish", teleportFinish(next))
		}
		g.after(arrivesUntil, func() {
			if !next.moved && !next.gone && from.agent.root == from {
				from.send(EncodeDisableSimulator())
				from.agent.remove()
			}
		})
	})
}

// FailTeleport begins a teleport that comes to nothing.
func (g *Grid) FailTeleport(agent world.UUID, reason string) {
	g.do(func() {
		c := g.here(agent)
		c.send(EncodeTeleportStart(), "start")
		c.send(EncodeTeleportFailed(agent, reason), "failed")
	})
}

// Cross takes an agent over a border, as one that walks or rides.
func (g *Grid) Cross(agent world.UUID, region string, to world.Vec3) {
	g.do(func() {
		from := g.here(agent)
		next := from.agent.expect(from.elsewhere(region), to)
		from.queue.push("CrossedRegion", crossedRegion(next))
	})
}

// Kick throws an agent out.
func (g *Grid) Kick(agent world.UUID, reason string) {
	g.do(func() { g.must(agent).kick(reason) })
}

// Vanish ends an agent's session without a word, as when a simulator dies: no
// datagram comes any more and its event queue is not found.
func (g *Grid) Vanish(agent world.UUID) {
	g.do(func() { g.must(agent).remove() })
}

// Restart throws everybody out of a region and closes it for a while: logins
// to it are refused. Everything in it comes back with other local IDs.
func (g *Grid) Restart(region string, down time.Duration) {
	g.do(func() {
		r := g.region(region)
		r.each(func(c *circuit) { c.agent.kick("The region you were in is restarting.") })
		r.down = time.Now().Add(down)
		locals := map[uint32]uint32{}
		for _, e := range r.entities {
			r.local++
			locals[e.LocalID] = r.local
			e.LocalID = r.local
		}
		for _, e := range r.entities {
			e.ParentID = locals[e.ParentID]
		}
	})
}

package gridtest

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"time"

	"github.com/wipagent/wipagent/objects/source/session/message"
	"github.com/wipagent/wipagent/objects/world"
)

// The simulator's times. Source: measured on OpenSimulator.
const (
	ackAfter     = 500 * time.Millisecond
	resendFirst  = time.Second
	resendLast   = 3 * time.Second
	pingEvery    = 5300 * time.Millisecond
	coarseEvery  = 4500 * time.Millisecond
	statsEvery   = 3 * time.Second
	timeEvery    = 2500 * time.Millisecond
	silentFor    = time.Minute
	closesAfter  = 2 * time.Second  // a circuit whose agent has moved on
	kicksAfter   = time.Second / 2  // from KickUser to DisableSimulator
	arrivesUntil = 15 * time.Second // of a teleport
)

// circuit is the simulator's end of the circuit of one agent with one region.
// g.mu guards it.
type circuit struct {
	grid    *Grid
	agent   *agent
	region  *Region
	addr    netip.AddrPort // the client's; invalid before UseCircuitCode
	gone    bool
	up      *link // from the client
	down    *link // to the client
	queue   *queue
	seed    *capability
	granted map[string]*capability // by kind
	lands   world.Vec3             // where the agent arrives

	sequence uint32 // the next
	unacked  []*pending
	seen     map[uint32]bool // reliable ones
	acks     []uint32
	acksFrom time.Time
	pingID   uint8
	heard    time.Time
	closing  time.Time // when to say goodbye; zero: not soon

	moved, replied, seeded bool   // what the client has done so far
	told                   bool   // what is in the region
	flags                  uint32 // of the handshake's reply

	nextPing, nextCoarse, nextStats, nextTime time.Time
}

// pending is a reliable datagram that is not acknowledged yet.
type pending struct {
	sequence uint32
	datagram []byte
	next     time.Time
	wait     time.Duration
	sent     *Sent
}

// ready reports whether the client has done all that the region wants before
// it tells what is in it: shaken hands and fetched its capabilities.
//
// Source: OpenSimulator, ScenePresence.
func (c *circuit) ready() bool { return c.moved && c.replied && c.seeded && !c.gone }

// send sends a message as simulators send it: by its kind reliably, and
// zero-coded.
func (c *circuit) send(body []byte, effects ...string) {
	if c.gone || !c.addr.IsValid() {
		return
	}
	n, _, _ := message.Split(body)
	f := &c.grid.faults
	if c.down.chance(f.Overlong) && len(body) < 1000 && n != message.NumberPacketAck {
		body = append(slices.Clone(body), "and more that will come"...)
		if c.down.chance(0.2) {
			c.raw(flagZeroCoded, bomb())
		}
	}
	var flags byte
	switch n {
	case message.NumberCoarseLocationUpdate, message.NumberStartPingCheck, message.NumberCompletePingCheck,
		message.NumberPacketAck, 0xFFFF0000 | 140, 0xFFFF0000 | 150:
	default:
		flags |= flagReliable
	}
	switch n {
	case message.NumberRegionHandshake, message.NumberObjectUpdate, message.NumberObjectUpdateCompressed,
		0xFFFF0000 | 150, 0xFFFF0000 | 196, message.NumberBulkUpdateInventory, message.NumberUpdateCreateInventoryItem:
		flags |= flagZeroCoded
	case message.NumberImprovedTerseObjectUpdate, message.NumberLayerData:
		if c.sequence%8 == 0 {
			flags |= flagZeroCoded
		}
	}
	datagram, sequence := c.raw(flags, body)
	if flags&flagReliable != 0 {
		s := &Sent{Agent: c.agent.account.ID, Region: c.region.Name, Number: n, Effects: effects}
		c.unacked = append(c.unacked, &pending{sequence, datagram, time.Now().Add(resendFirst), resendFirst, s})
		if len(effects) > 0 {
			c.grid.sent = append(c.grid.sent, s)
		}
	}
	if n == message.NumberPacketAck || n == message.NumberCompletePingCheck {
		return
	}
	if c.down.chance(f.WrongAcks) {
		c.raw(0, EncodePacketAck(&message.PacketAck{Sequences: []uint32{1<<24 + c.down.rng.Uint32N(1<<20), 1<<31 + c.down.rng.Uint32N(1<<20)}}))
	}
	if c.down.chance(f.Truncate) {
		c.truncated()
	}
}

// raw sends a datagram under the next sequence number.
func (c *circuit) raw(flags byte, body []byte) ([]byte, uint32) {
	sequence := c.sequence
	c.sequence++
	datagram := appendPacket(make([]byte, 0, len(body)+16), flags, sequence, body)
	c.transmit(datagram)
	return datagram, sequence
}

func (c *circuit) transmit(datagram []byte) {
	to := c.addr
	c.down.carry(func() { c.region.deliver(to, datagram) })
}

// bomb is a message that expands to more than anybody keeps.
func bomb() []byte {
	return append([]byte{byte(message.NumberLayerData)}, make([]byte, 1<<16)...)
}

// truncated sends something that breaks off.
func (c *circuit) truncated() {
	cut := func(body []byte, from, to int) { // the first byte left out
		c.raw(0, body[:from+int(c.down.rng.Int64N(int64(to-from)))])
	}
	switch c.down.rng.IntN(5) {
	case 0:
		o := message.Object{LocalID: 0xBAD, ID: CanaryID, PCode: 9, Placed: true, HoverText: Canary}
		body := EncodeObjectUpdateCompressed(&message.ObjectUpdate{RegionHandle: c.region.handle(), Objects: []message.Object{o}})
		cut(body, 1+8+2+1+4+2, len(body)-1)
	case 1:
		body := EncodeChatFromSimulator(&message.ChatFromSimulator{FromName: Canary, SourceID: CanaryID, SourceType: 1, ChatType: 1, Audible: 1}, "")
		cut(body, 4+1, 4+1+len(Canary))
	case 2:
		body := EncodeImprovedInstantMessage(c.agent.account.ID, &message.ImprovedInstantMessage{FromID: CanaryID, FromName: Canary}, "")
		const name = 4 + 16 + 16 + 1 + 16 + 4 + 16 + 12 + 1 + 1 + 16 + 4 + 1
		cut(body, name, name+len(Canary))
	case 3: // acknowledgements that do not fit
		c.raw(flagAcks, []byte{byte(message.NumberCompletePingCheck), 1, 200})
	case 4:
		c.transmit(make([]byte, 1+c.down.rng.IntN(6)))
	}
}

// receive takes in what the link let through.
func (c *circuit) receive(from netip.AddrPort, b []byte) {
	p, err := parsePacket(b)
	if err != nil || c.gone {
		return
	}
	n, body, err := message.Split(p.body)
	if err != nil {
		return
	}
	if n == message.NumberUseCircuitCode && !c.addr.IsValid() && c.opens(body) {
		c.addr, c.nextPing = from, time.Now().Add(pingEvery)
	}
	if from != c.addr {
		return
	}
	now := time.Now()
	c.heard = now
	for _, s := range p.acks {
		c.acked(s)
	}
	if p.flags&flagReliable != 0 {
		if len(c.acks) == 0 {
			c.acksFrom = now
		}
		c.acks = append(c.acks, p.sequence)
		if n == message.NumberUseCircuitCode || len(c.acks) >= 200 {
			c.flush()
		}
		if c.seen[p.sequence] {
			return
		}
		c.seen[p.sequence] = true
	}
	c.handle(n, body)
}

// opens reports whether a UseCircuitCode is of this agent.
func (c *circuit) opens(body []byte) bool {
	a := c.agent
	return len(body) >= 36 && binary.LittleEndian.Uint32(body) == a.code &&
		world.UUID(body[4:20]) == a.session && world.UUID(body[20:36]) == a.account.ID
}

// signed reports whether a message begins with the agent's and the session's
// ID, as most do, and returns the rest.
func (c *circuit) signed(body []byte) ([]byte, bool) {
	if len(body) < 32 || world.UUID(body[:16]) != c.agent.account.ID || world.UUID(body[16:32]) != c.agent.session {
		return nil, false
	}
	return body[32:], true
}

// handle acts on a client's message. What makes no sense is dropped without a
// word.
func (c *circuit) handle(n message.Number, body []byte) {
	switch n {
	case message.NumberPacketAck:
		if len(body) == 0 {
			return
		}
		for ids := body[1:]; len(ids) >= 4; ids = ids[4:] {
			c.acked(binary.LittleEndian.Uint32(ids))
		}
		return
	case message.NumberStartPingCheck:
		if len(body) > 0 {
			c.send(EncodeCompletePingCheck(message.CompletePingCheck{PingID: body[0]}))
		}
		return
	case message.NumberUUIDNameRequest:
		if len(body) > 0 {
			c.answerNames(body[1:])
		}
		return
	}
	rest, ok := c.signed(body)
	if !ok {
		return
	}
	switch n {
	case message.NumberCompleteAgentMovement:
		c.agent.arrive(c)
	case message.NumberRegionHandshakeReply:
		if len(rest) >= 4 {
			c.replied, c.flags = true, binary.LittleEndian.Uint32(rest)
			c.tell()
		}
	case message.NumberRequestMultipleObjects:
		if len(rest) > 0 {
			c.answerObjects(rest[1:])
		}
	case message.NumberRequestObjectPropertiesFamily:
		if len(rest) >= 20 {
			c.answerProperties(world.UUID(rest[4:20]))
		}
	case message.NumberLogoutRequest:
		if c.grid.cfg.LogoutReply {
			c.flush()
			c.send(EncodeLogoutReply(c.agent.account.ID, c.agent.session))
		}
		c.agent.remove()
	}
}

// answerNames answers a UUIDNameRequest, one reply for each ID that is known.
func (c *circuit) answerNames(ids []byte) {
	for ; len(ids) >= 16; ids = ids[16:] {
		id := world.UUID(ids[:16])
		if p, ok := c.grid.people[id]; ok {
			c.send(EncodeUUIDNameReply(&message.UUIDNameReply{Names: []message.AvatarName{{ID: id, First: p.first, Last: p.last}}}))
		}
	}
}

// answerObjects answers a RequestMultipleObjects.
func (c *circuit) answerObjects(rows []byte) {
	var asked []*entity
	for ; len(rows) >= 5; rows = rows[5:] {
		if e := c.region.byLocal(binary.LittleEndian.Uint32(rows[1:])); e != nil {
			asked = append(asked, e)
		}
	}
	c.describe(asked...)
}

// answerProperties answers a RequestObjectPropertiesFamily, which OpenSimulator
// does for roots that are no avatars.
func (c *circuit) answerProperties(id world.UUID) {
	if e := c.region.byID(id); e != nil && !e.avatar && e.ParentID == 0 {
		c.send(EncodeObjectPropertiesFamily(message.ObjectName{ID: id, Name: e.Name, Description: e.Description}), "name "+id.String())
	}
}

// acked takes note of an acknowledgement.
func (c *circuit) acked(sequence uint32) {
	i := slices.IndexFunc(c.unacked, func(p *pending) bool { return p.sequence == sequence })
	if i >= 0 {
		c.unacked[i].sent.Acked = true
		c.unacked = slices.Delete(c.unacked, i, i+1)
	}
}

// flush sends the acknowledgements that wait.
func (c *circuit) flush() {
	for len(c.acks) > 0 {
		n := min(len(c.acks), 255)
		c.send(EncodePacketAck(&message.PacketAck{Sequences: c.acks[:n]}))
		c.acks = c.acks[n:]
	}
}

// due does what is due.
func (c *circuit) due(now time.Time) {
	reached := func(t time.Time) bool { return !t.IsZero() && !t.After(now) }
	if c.gone {
		return
	}
	if reached(c.closing) {
		c.send(EncodeDisableSimulator())
		c.close()
		return
	}
	if !c.addr.IsValid() {
		return
	}
	if now.Sub(c.heard) >= silentFor {
		c.send(EncodeDisableSimulator())
		if c.agent.root == c || c.agent.root == nil {
			c.agent.remove()
		} else {
			c.close()
		}
		return
	}
	if len(c.acks) > 0 && now.Sub(c.acksFrom) >= ackAfter {
		c.flush()
	}
	for _, p := range c.unacked {
		if reached(p.next) {
			p.datagram = slices.Clone(p.datagram) // the last one may be under way
			p.datagram[0] |= flagResent
			p.wait = min(p.wait+p.wait/2, resendLast)
			p.next = now.Add(p.wait)
			c.transmit(p.datagram)
		}
	}
	if reached(c.nextPing) {
		c.nextPing = now.Add(pingEvery)
		c.pingID++
		oldest := c.sequence
		if len(c.unacked) > 0 {
			oldest = c.unacked[0].sequence
		}
		c.send(EncodeStartPingCheck(message.StartPingCheck{PingID: c.pingID, OldestUnacked: oldest}))
	}
	if reached(c.nextCoarse) {
		c.nextCoarse = now.Add(coarseEvery)
		c.send(EncodeCoarseLocationUpdate(c.region.coarse(c.agent.account.ID)))
	}
	if reached(c.nextStats) {
		c.nextStats = now.Add(statsEvery)
		c.send(simStats())
	}
	if reached(c.nextTime) {
		c.nextTime = now.Add(timeEvery)
		c.send(simulatorTime())
	}
}

// next returns when something is due.
func (c *circuit) next() time.Time {
	next := c.closing
	if c.gone || !c.addr.IsValid() {
		return next
	}
	next = earlier(next, c.heard.Add(silentFor))
	if len(c.acks) > 0 {
		next = earlier(next, c.acksFrom.Add(ackAfter))
	}
	for _, p := range c.unacked {
		next = earlier(next, p.next)
	}
	for _, t := range []time.Time{c.nextPing, c.nextCoarse, c.nextStats, c.nextTime} {
		next = earlier(next, t)
	}
	return next
}

// close forgets a circuit. What is under way still arrives.
func (c *circuit) close() {
	c.gone = true
	c.queue.close()
	c.agent.circuits = slices.DeleteFunc(c.agent.circuits, func(other *circuit) bool { return other == c })
}

package session

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/wipagent/wipagent/objects/source/session/lludp"
	"github.com/wipagent/wipagent/objects/source/session/message"
	"github.com/wipagent/wipagent/objects/world"
)

// scratch is what messages are decoded into. One of each serves the loop, so
// that decoding allocates little.
type scratch struct {
	objects message.ObjectUpdate
	terse   message.ImprovedTerseObjectUpdate
	cached  message.ObjectUpdateCached
	kill    message.KillObject
	coarse  message.CoarseLocationUpdate
	names   message.UUIDNameReply
	props   message.ObjectProperties
	land    message.LayerData
	bag     message.InventoryUpdate
	moved   message.MoveInventoryItem
	removed message.InventoryRemoved
}

// regional reports whether a message is about the region that sends it, so
// that it means nothing before the region's identity is known.
func regional(n message.Number) bool {
	switch n {
	case message.NumberLayerData, message.NumberObjectUpdate, message.NumberObjectUpdateCompressed,
		message.NumberObjectUpdateCached, message.NumberImprovedTerseObjectUpdate, message.NumberKillObject,
		message.NumberCoarseLocationUpdate, message.NumberObjectProperties, message.NumberObjectPropertiesFamily,
		message.NumberRegionInfo, message.NumberTeleportLocal, message.NumberTeleportStart,
		message.NumberTeleportProgress, message.NumberTeleportFailed:
		return true
	}
	return false
}

// handle takes in one message of the present region; order is where in the
// order of sending it stands.
func (c *core) handle(now time.Time, r *region, order uint64, n message.Number, body []byte) {
	if regional(n) && !r.entered() {
		kept := slices.Clone(body)
		if !r.wait(len(kept), func() { c.handle(now, r, order, n, kept) }) {
			c.stats.overflow++
		}
		return
	}
	if err := c.decode(now, r, order, n, body); err != nil {
		c.stats.malformed++
	}
}

// decode tells the world what a message says. Of one that cannot be decoded to
// its end, the blocks before the fault are used.
func (c *core) decode(now time.Time, r *region, order uint64, n message.Number, body []byte) error {
	in := &c.into
	stamp := c.stamp(now)
	switch n {
	case message.NumberPacketAck, message.NumberStartPingCheck, message.NumberCompletePingCheck:
		c.proceed(now, r) // the circuit has acted on it
	case message.NumberRegionHandshake:
		return c.shake(now, r, body)
	case message.NumberAgentMovementComplete:
		return c.arrived(now, r, body)

	case message.NumberObjectUpdate:
		err := in.objects.Decode(body)
		c.describeObjects(now, r, order, &in.objects)
		return err
	case message.NumberObjectUpdateCompressed:
		err := in.objects.DecodeCompressed(body)
		c.describeObjects(now, r, order, &in.objects)
		return err
	case message.NumberImprovedTerseObjectUpdate:
		err := in.terse.Decode(body)
		c.moveObjects(stamp, r, order, &in.terse)
		return err
	case message.NumberObjectUpdateCached:
		err := in.cached.Decode(body)
		if in.cached.RegionHandle != r.handle {
			c.stats.foreign += uint64(len(in.cached.LocalIDs))
			return err
		}
		c.apply(world.ObjectsOffered{Stamp: stamp, LocalIDs: in.cached.LocalIDs})
		return err
	case message.NumberKillObject:
		err := in.kill.Decode(body)
		c.apply(world.ObjectsKilled{Stamp: stamp, Order: order, LocalIDs: in.kill.LocalIDs})
		return err
	case message.NumberCoarseLocationUpdate:
		err := in.coarse.Decode(body)
		c.locate(stamp, r, &in.coarse)
		return err
	case message.NumberObjectProperties:
		err := in.props.Decode(body)
		c.nameObjects(stamp, &in.props)
		return err
	case message.NumberObjectPropertiesFamily:
		err := in.props.DecodeFamily(body)
		c.nameObjects(stamp, &in.props)
		return err
	case message.NumberLayerData:
		err := in.land.Decode(body)
		for _, p := range in.land.Patches {
			c.apply(world.TerrainUpdated{Stamp: stamp, X: p.X, Y: p.Y, Width: p.Size, Height: p.Size, Heights: p.Heights})
		}
		return err

	case message.NumberUUIDNameReply:
		err := in.names.Decode(body)
		for _, name := range in.names.Names {
			c.apply(world.AvatarNamed{Stamp: stamp, ID: name.ID, Name: world.FullName(name.First, name.Last), Complete: true})
		}
		return err
	case message.NumberHealthMessage:
		var m message.HealthMessage
		if err := m.Decode(body); err != nil {
			return err
		}
		c.apply(world.AgentHealth{Stamp: stamp, Health: m.Health})
	case message.NumberRegionInfo:
		var m message.RegionInfo
		if err := m.Decode(body); err != nil {
			return err
		}
		r.handshake.WaterHeight = m.WaterHeight
		c.describe(now, r)

	case message.NumberTeleportStart, message.NumberTeleportProgress:
		c.rise(now, r)
	case message.NumberTeleportFailed:
		c.stay(now, r)
	case message.NumberTeleportLocal:
		var m message.TeleportLocal
		if err := m.Decode(body); err != nil {
			return err
		}
		c.stay(now, r)
		c.apply(world.AgentPlaced{Stamp: stamp, Position: m.Position})

	case message.NumberKickUser:
		var m message.KickUser
		err := m.Decode(body)
		c.end(kicked(m.Reason))
		return err
	case message.NumberDisableSimulator, message.NumberCloseCircuit:
		c.goodbye = true
		c.end(ErrClosed)
	case message.NumberLogoutReply:
		c.goodbye = true

	default:
		return c.decodeSocial(stamp, n, body)
	}
	return nil
}

// decodeSocial is decode for what is about people and belongings.
func (c *core) decodeSocial(stamp world.Stamp, n message.Number, body []byte) error {
	in := &c.into
	var err error
	switch n {
	case message.NumberChatFromSimulator:
		var m message.ChatFromSimulator
		if err := m.Decode(body); err != nil {
			return err
		}
		c.chat(stamp, &m)
	case message.NumberImprovedInstantMessage:
		var m message.ImprovedInstantMessage
		if err := m.Decode(body); err != nil {
			return err
		}
		c.instantMessage(stamp, &m)
	case message.NumberUpdateCreateInventoryItem:
		err = in.bag.DecodeUpdateCreate(body)
		c.belongings(stamp, &in.bag)
	case message.NumberUpdateInventoryFolder:
		err = in.bag.DecodeFolder(body)
		c.belongings(stamp, &in.bag)
	case message.NumberBulkUpdateInventory:
		err = in.bag.DecodeBulk(body)
		c.belongings(stamp, &in.bag)
	case message.NumberMoveInventoryItem:
		err = in.moved.Decode(body)
		for _, m := range in.moved.Items {
			c.apply(world.InventoryMoved{Stamp: stamp, ID: m.ID, ParentID: m.FolderID, Name: m.NewName})
		}
	case message.NumberRemoveInventoryItem:
		err = in.removed.DecodeItems(body)
		c.removed(stamp, &in.removed)
	case message.NumberRemoveInventoryFolder:
		err = in.removed.DecodeFolders(body)
		c.removed(stamp, &in.removed)
	case message.NumberRemoveInventoryObjects:
		err = in.removed.DecodeObjects(body)
		c.removed(stamp, &in.removed)
	default:
		c.stats.ignored++
	}
	return err
}

// shake answers a handshake, each of them.
func (c *core) shake(now time.Time, r *region, body []byte) error {
	m := &message.RegionHandshake{}
	err := m.Decode(body)
	if err != nil && m.RegionID.IsZero() {
		return err
	}
	flags := message.HandshakeAllCacheable | message.HandshakeCacheEmpty | message.HandshakeAppearance
	c.reliable(now, r, message.AppendRegionHandshakeReply(c.packet[:0], c.session.Reveal(), flags))
	if r.replied.IsZero() {
		r.replied = now
		c.reliable(now, r, message.AppendAgentThrottle(c.packet[:0], c.session.Reveal(), throttle))
	}
	if !r.entered() {
		r.handshake = m
		c.proceed(now, r)
	} else if m.RegionID == r.id {
		r.handshake = m
		c.describe(now, r)
	}
	return err
}

// arrived notes that the agent is in the region, and where.
func (c *core) arrived(now time.Time, r *region, body []byte) error {
	m := &message.AgentMovementComplete{}
	if err := m.Decode(body); err != nil {
		return err
	}
	first := r.arrival == nil
	r.arrival = m
	if m.RegionHandle != 0 {
		r.handle = m.RegionHandle
	}
	if first {
		c.look(now, r) // a region streams nothing before
		c.proceed(now, r)
	} else if r.entered() {
		c.apply(world.AgentPlaced{Stamp: c.stamp(now), Position: m.Position})
	}
	return nil
}

// rise notes that a teleport has begun: what is known may not hold any more.
func (c *core) rise(now time.Time, r *region) {
	if r.restless.IsZero() {
		r.restless = now
		c.apply(world.RegionLeaving{Stamp: c.stamp(now)})
	}
}

// stay notes that the teleport ended in the same region.
func (c *core) stay(now time.Time, r *region) {
	if !r.restless.IsZero() {
		r.restless = time.Time{}
		c.apply(world.RegionStayed{Stamp: c.stamp(now)})
	}
}

// kicked says why the grid ended the session. Both grids tell only by their
// words whether it is because of another login, or because the region ends.
func kicked(reason string) error {
	lower := strings.ToLower(reason)
	for _, words := range []string{"new login", "logged in", "log in from", "another location", "another viewer"} {
		if strings.Contains(lower, words) {
			return fmt.Errorf("%w: %w", ErrKicked, errWith(ErrElsewhere, reason))
		}
	}
	for _, words := range []string{"going down", "shutting down", "restart"} {
		if strings.Contains(lower, words) {
			return errWith(ErrClosed, reason) // nobody wanted the agent out
		}
	}
	return errWith(ErrKicked, reason)
}

func errWith(err error, words string) error {
	if words == "" {
		return err
	}
	return fmt.Errorf("%w: %w", err, errors.New(words))
}

// ask sends what the managers want, a little each second.
func (c *core) ask(now time.Time, r *region) {
	limits := world.WantLimits{Objects: maxAskObjects}
	if !c.cfg.NoDisplayNames && !r.asked.waiting {
		limits.Names = maxAskNames
	}
	if c.cfg.ObjectNames {
		limits.Properties = min(maxAskProperties, maxProperties-r.asked.properties)
	}
	want := c.world.Wants(now, limits)
	if want.Region != r.id || want.Generation != c.generation {
		return
	}
	for ids := range slices.Chunk(want.Objects, maxInRequest) {
		c.reliable(now, r, message.AppendRequestMultipleObjects(c.packet[:0], c.session.Reveal(), ids))
	}
	for _, id := range want.Properties {
		r.asked.properties++
		body := message.AppendRequestObjectPropertiesFamily(c.packet[:0], c.session.Reveal(), id)
		c.sendBody(now, r, body, lludp.SendOptions{})
	}
	c.askNames(now, r, want.Names)
}

// What is asked of a region at most: a second, and of properties at all.
const (
	maxAskObjects    = 1_000
	maxInRequest     = 200 // fits one packet
	maxAskNames      = 80
	maxAskProperties = 10
	maxProperties    = 100
	maxNamesInPacket = 50
)

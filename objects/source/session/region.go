package session

import (
	"net/netip"
	"time"

	"github.com/wipagent/wipagent/objects/source/session/caps"
	"github.com/wipagent/wipagent/objects/source/session/lludp"
	"github.com/wipagent/wipagent/objects/source/session/message"
	"github.com/wipagent/wipagent/objects/source/session/secret"
	"github.com/wipagent/wipagent/objects/world"
)

// region is one simulator that the session is connected to, from the first
// packet on. It counts as entered when both the handshake and the agent's
// arrival have been seen, in either order, since only together they tell a
// region's identity from the old one's.
type region struct {
	at           netip.AddrPort
	handle       uint64
	sizeX, sizeY int
	seed         secret.Of[string]
	circuit      *lludp.Circuit
	opened       time.Time

	greeting  uint32 // sequence number of UseCircuitCode
	greeted   time.Time
	seeded    bool
	moving    uint32 // sequence number of CompleteAgentMovement; 0 before it
	handshake *message.RegionHandshake
	replied   time.Time // of the first RegionHandshakeReply
	arrival   *message.AgentMovementComplete

	caps       caps.Set
	latest     uint64 // what order returned last
	queueReady bool
	queueEnded time.Time
	// queueFailures counts the polls that have failed since one did not.
	queueFailures int

	id       world.UUID
	waiting  []func() // what came about the region before it was entered
	waitSize int      // bytes that those hold
	ready    bool

	// What of the region has been seen.
	coarse    bool
	described time.Time // when an object was last described in full
	objects   coverage
	restless  time.Time // since when a teleport is announced; zero if none is
	asked     asked
}

// coverage is how far the objects of a region are known.
type coverage uint8

const (
	unknown coverage = iota
	partly
	wholly
)

// asked counts what was asked of the region on behalf of the managers.
type asked struct {
	properties int
	waiting    bool // a display name request is under way
}

// maxWaiting is how many bytes of messages are kept until a region is entered.
// A burst of terrain and avatars is a few hundred kilobytes.
const maxWaiting = 4 << 20

// entered reports whether the region's identity is known, and the world told.
func (r *region) entered() bool { return !r.id.IsZero() }

// both reports whether all has come that tells a region's identity.
func (r *region) both() bool { return r.handshake != nil && r.arrival != nil }

// wait keeps what is to be done when the region is entered; false if that is
// too much.
func (r *region) wait(size int, do func()) bool {
	if size += 64; r.waitSize+size > maxWaiting {
		return false
	}
	r.waitSize += size
	r.waiting = append(r.waiting, do)
	return true
}

// order returns where in the order of sending a packet with that sequence
// number stands, from 1. Sequence numbers have 32 bits, but may start again
// after 24, as the viewer's do.
func (r *region) order(sequence uint32) uint64 {
	const wrap = 1 << 24
	ahead := int64(int32(sequence - uint32(r.latest)))
	for ahead < -wrap/2 {
		ahead += wrap
	}
	order := int64(r.latest) + ahead
	if order < 0 { // older than the first one seen
		order = 0
	}
	r.latest = max(r.latest, uint64(order))
	return uint64(order) + 1
}

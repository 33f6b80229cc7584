package gridtest

import (
	"encoding/binary"

	"github.com/wipagent/wipagent/objects/source/session/message"
	"github.com/wipagent/wipagent/objects/world"
)

// EncodeStartPingCheck asks for an answer.
func EncodeStartPingCheck(m message.StartPingCheck) []byte {
	w := newBody(message.NumberStartPingCheck)
	w.u8(m.PingID)
	w.u32(m.OldestUnacked)
	return w.b
}

// EncodeCompletePingCheck answers.
func EncodeCompletePingCheck(m message.CompletePingCheck) []byte {
	w := newBody(message.NumberCompletePingCheck)
	w.u8(m.PingID)
	return w.b
}

// EncodePacketAck acknowledges.
func EncodePacketAck(m *message.PacketAck) []byte {
	w := newBody(message.NumberPacketAck)
	w.count(len(m.Sequences))
	for _, s := range m.Sequences {
		w.u32(s)
	}
	return w.b
}

// EncodeRegionHandshake introduces a region.
func EncodeRegionHandshake(m *message.RegionHandshake) []byte {
	w := newBody(message.NumberRegionHandshake)
	w.u32(336625702) // flags
	w.u8(13)         // access
	w.str1(m.Name)
	w.uuid(CanaryID) // owner
	w.flag(false)    // estate manager
	w.f32(m.WaterHeight)
	w.f32(1)      // billable factor
	w.canaries(9) // cache, textures
	for range 8 {
		w.f32(10) // where the textures begin and end
	}
	w.uuid(m.RegionID)
	w.u32(9)
	w.u32(1)
	w.str1("host.invalid")
	w.str1("gridtest")
	w.str1("gridtest")
	w.count(1)
	w.u64(336625702)
	w.u64(0)
	return w.b
}

// EncodeRegionInfo brings a region's settings.
func EncodeRegionInfo(agent, session world.UUID, m *message.RegionInfo) []byte {
	w := newBody(message.NumberRegionInfo)
	w.uuid(agent)
	w.uuid(session)
	w.str1(m.Name)
	w.u32(101) // estate
	w.u32(1)   // parent estate
	w.u32(336625702)
	w.u8(13, 100) // access, most agents
	w.f32(1)
	w.f32(1)
	w.f32(m.WaterHeight)
	w.f32(4)
	w.f32(-4)
	w.u32(1) // price of a metre
	w.u32(0)
	w.u32(0)
	w.flag(true)
	w.f32(0)
	w.str1("gridtest")
	w.str1("gridtest")
	w.u32(100)
	w.u32(100)
	w.u32(15000)
	w.count(0)
	return w.b
}

// EncodeAgentMovementComplete says that an agent has arrived.
func EncodeAgentMovementComplete(agent, session world.UUID, m *message.AgentMovementComplete) []byte {
	w := newBody(message.NumberAgentMovementComplete)
	w.uuid(agent)
	w.uuid(session)
	w.vec(m.Position)
	w.vec(m.LookAt)
	w.u64(m.RegionHandle)
	w.u32(1_700_000_000)
	w.str2(m.ChannelVersion)
	return w.b
}

// EncodeHealthMessage tells the agent's health.
func EncodeHealthMessage(m message.HealthMessage) []byte {
	w := newBody(message.NumberHealthMessage)
	w.f32(m.Health)
	return w.b
}

// EncodeTeleportStart says that a move begins.
func EncodeTeleportStart() []byte {
	w := newBody(message.NumberTeleportStart)
	w.u32(16) // flags
	return w.b
}

// EncodeTeleportProgress says that a move goes on.
func EncodeTeleportProgress(agent world.UUID, words string) []byte {
	w := newBody(message.NumberTeleportProgress)
	w.uuid(agent)
	w.u32(16)
	w.str1(words)
	return w.b
}

// EncodeTeleportFailed says that a move came to nothing.
func EncodeTeleportFailed(agent world.UUID, reason string) []byte {
	w := newBody(message.NumberTeleportFailed)
	w.uuid(agent)
	w.str1(reason)
	w.count(1)
	w.str1("CouldntTPCloser")
	w.str1("")
	return w.b
}

// EncodeTeleportLocal moves the agent within its region.
func EncodeTeleportLocal(agent world.UUID, m message.TeleportLocal) []byte {
	w := newBody(message.NumberTeleportLocal)
	w.uuid(agent)
	w.u32(4) // location ID
	w.vec(m.Position)
	w.vec(world.Vec3{X: 1})
	w.u32(16)
	return w.b
}

// EncodeDisableSimulator ends a circuit.
func EncodeDisableSimulator() []byte { return newBody(message.NumberDisableSimulator).b }

// EncodeCloseCircuit ends a circuit without more ado.
func EncodeCloseCircuit() []byte { return newBody(message.NumberCloseCircuit).b }

// EncodeKickUser ends a session.
func EncodeKickUser(agent, session world.UUID, m message.KickUser) []byte {
	w := newBody(message.NumberKickUser)
	w.zeros(6) // address of the target
	w.uuid(agent)
	w.uuid(session)
	w.str2(m.Reason)
	return w.b
}

// EncodeLogoutReply answers a logout.
func EncodeLogoutReply(agent, session world.UUID) []byte {
	w := newBody(message.NumberLogoutReply)
	w.uuid(agent)
	w.uuid(session)
	w.count(1)
	w.uuid(world.UUID{}) // a row there must be
	return w.b
}

// parcelOverlay returns a quarter of what ParcelOverlay holds of 256 m.
func parcelOverlay(part uint32) []byte {
	w := newBody(0xFFFF0000 | 196)
	w.u32(part)
	w.u16(1024)
	for range 1024 {
		w.u8(0x03)
	}
	return w.b
}

// simStats and simulatorTime are what every simulator sends all the time, and
// a client that watches has no use for.
func simStats() []byte {
	w := newBody(0xFFFF0000 | 140)
	w.u32(1000)
	w.u32(1000)
	w.u32(0)
	w.u32(15000)
	w.count(2)
	for i := range uint32(2) {
		w.u32(i)
		w.f32(45)
	}
	w.u32(0) // process ID
	w.count(0)
	return w.b
}

func simulatorTime() []byte {
	w := newBody(0xFFFF0000 | 150)
	w.u64(1_700_000_000_000_000)
	w.u32(14400)
	w.u32(1)
	w.zeros(12 + 4 + 12)
	return w.b
}

// unknownMessage is one that no template has yet.
func unknownMessage() []byte {
	return append(binary.BigEndian.AppendUint32(nil, 0xFFFF0000|999), "what will come"...)
}

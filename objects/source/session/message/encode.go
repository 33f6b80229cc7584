package message

import (
	"encoding/binary"
	"fmt"
	"log/slog"
	"math"

	"github.com/wipagent/wipagent/objects/world"
)

// Most of what one message takes: more would need a count of more than one
// byte. What is beyond is left out, so whoever has more sends several.
const maxBlocks = 255

// Limits that keep a request within one datagram of 1,200 bytes.
const (
	MaxRequestedObjects = 200
	MaxRequestedNames   = 70
)

// Format implements fmt.Formatter: every verb prints the same, which says
// nothing.
func (Session) Format(f fmt.State, _ rune) { fmt.Fprint(f, "[secret]") }

// MarshalText returns what Format prints.
func (Session) MarshalText() ([]byte, error) { return []byte("[secret]"), nil }

// LogValue returns what Format prints.
func (Session) LogValue() slog.Value { return slog.StringValue("[secret]") }

// AppendUseCircuitCode appends UseCircuitCode (L3), which opens a circuit:
//
//	CircuitCode  Single  Code U32, SessionID, ID (the agent's)
//
// Source: message template.
func AppendUseCircuitCode(b []byte, s Session) []byte {
	b = NumberUseCircuitCode.Append(b)
	b = binary.LittleEndian.AppendUint32(b, s.CircuitCode)
	b = append(b, s.SessionID[:]...)
	return append(b, s.AgentID[:]...)
}

// AppendCompleteAgentMovement appends CompleteAgentMovement (L249), by which
// the agent arrives:
//
//	AgentData  Single  AgentID, SessionID, CircuitCode U32
//
// Source: message template.
func AppendCompleteAgentMovement(b []byte, s Session) []byte {
	b = appendAgent(NumberCompleteAgentMovement.Append(b), s)
	return binary.LittleEndian.AppendUint32(b, s.CircuitCode)
}

// AppendRegionHandshakeReply appends RegionHandshakeReply (L149), the answer
// to every RegionHandshake; for flags see HandshakeAllCacheable:
//
//	AgentData   Single  AgentID, SessionID
//	RegionInfo  Single  Flags U32
//
// Source: message template.
func AppendRegionHandshakeReply(b []byte, s Session, flags uint32) []byte {
	b = appendAgent(NumberRegionHandshakeReply.Append(b), s)
	return binary.LittleEndian.AppendUint32(b, flags)
}

// AppendAgentThrottle appends AgentThrottle (L81), which sets what the
// simulator may send:
//
//	AgentData  Single  AgentID, SessionID, CircuitCode U32
//	Throttle   Single  GenCounter U32 (0), Throttles V1 (7F32)
//
// Source: message template; the order of the rates: Second Life's viewer.
func AppendAgentThrottle(b []byte, s Session, t Throttle) []byte {
	b = appendAgent(NumberAgentThrottle.Append(b), s)
	b = binary.LittleEndian.AppendUint32(b, s.CircuitCode)
	b = append(b, 0, 0, 0, 0, 7*4)
	return appendF32(b, t.Resend, t.Land, t.Wind, t.Cloud, t.Task, t.Texture, t.Asset)
}

// AppendAgentUpdate appends AgentUpdate (H4). State, control flags and flags
// are always 0, and the camera looks east; a rotation that is none, such as
// one that is not finite, is sent as no rotation:
//
//	AgentData  Single  AgentID, SessionID, BodyRotation 3F32,
//	                   HeadRotation 3F32, State U8, CameraCenter 3F32,
//	                   CameraAtAxis 3F32, CameraLeftAxis 3F32,
//	                   CameraUpAxis 3F32, Far F32, ControlFlags U32, Flags U8
//
// Source: message template.
func AppendAgentUpdate(b []byte, s Session, u AgentUpdate) []byte {
	b = appendAgent(NumberAgentUpdate.Append(b), s)
	b = appendQuat(b, u.BodyRotation)
	b = appendQuat(b, u.HeadRotation)
	b = append(b, 0)
	b = appendF32(b, float32(u.CameraCenter.X), float32(u.CameraCenter.Y), float32(u.CameraCenter.Z))
	b = appendF32(b,
		1, 0, 0,
		0, 1, 0,
		0, 0, 1,
		float32(u.Far))
	return append(b, 0, 0, 0, 0, 0)
}

// AppendLogoutRequest appends LogoutRequest (L252):
//
//	AgentData  Single  AgentID, SessionID
//
// Source: message template.
func AppendLogoutRequest(b []byte, s Session) []byte {
	return appendAgent(NumberLogoutRequest.Append(b), s)
}

// AppendRequestMultipleObjects appends RequestMultipleObjects (M3), which asks
// for objects in full. More than 255 are left out; more than
// MaxRequestedObjects may not fit a datagram:
//
//	AgentData   Single    AgentID, SessionID
//	ObjectData  Variable  CacheMissType U8 (0, in full), ID U32
//
// Source: message template.
func AppendRequestMultipleObjects(b []byte, s Session, localIDs []uint32) []byte {
	localIDs = localIDs[:min(len(localIDs), maxBlocks)]
	b = appendAgent(NumberRequestMultipleObjects.Append(b), s)
	b = append(b, byte(len(localIDs)))
	for _, id := range localIDs {
		b = binary.LittleEndian.AppendUint32(append(b, 0), id)
	}
	return b
}

// AppendRequestObjectPropertiesFamily appends RequestObjectPropertiesFamily
// (M5), which asks for a root object's name and description and selects
// nothing:
//
//	AgentData   Single  AgentID, SessionID
//	ObjectData  Single  RequestFlags U32 (0), ObjectID
//
// Source: message template.
func AppendRequestObjectPropertiesFamily(b []byte, s Session, id world.UUID) []byte {
	b = appendAgent(NumberRequestObjectPropertiesFamily.Append(b), s)
	return append(append(b, 0, 0, 0, 0), id[:]...)
}

// AppendUUIDNameRequest appends UUIDNameRequest (L235), which asks for legacy
// names. More than 255 are left out; more than MaxRequestedNames may not fit a
// datagram:
//
//	UUIDNameBlock  Variable  ID
//
// Source: message template.
func AppendUUIDNameRequest(b []byte, ids []world.UUID) []byte {
	ids = ids[:min(len(ids), maxBlocks)]
	b = append(NumberUUIDNameRequest.Append(b), byte(len(ids)))
	for _, id := range ids {
		b = append(b, id[:]...)
	}
	return b
}

// appendAgent appends the AgentData block that most messages begin with.
func appendAgent(b []byte, s Session) []byte {
	b = append(b, s.AgentID[:]...)
	return append(b, s.SessionID[:]...)
}

func appendF32(b []byte, values ...float32) []byte {
	for _, f := range values {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(f))
	}
	return b
}

// appendQuat appends a rotation as quat reads it: without W, which is never
// negative.
func appendQuat(b []byte, q world.Quat) []byte {
	if q.W < 0 {
		q = world.Quat{X: -q.X, Y: -q.Y, Z: -q.Z}
	}
	if n := q.X*q.X + q.Y*q.Y + q.Z*q.Z; !(n < 1.001) { // or not a number
		q = world.Quat{}
	}
	return appendF32(b, float32(q.X), float32(q.Y), float32(q.Z))
}

package message

import "github.com/wipagent/wipagent/objects/world"

// Numbers of what a client that only watches sends, besides acknowledgements
// and pings. There is no encoder of any other message.
const (
	NumberAgentUpdate                   Number = 0x04
	NumberRequestMultipleObjects        Number = 0xFF03
	NumberRequestObjectPropertiesFamily Number = 0xFF05
	NumberUseCircuitCode                Number = 0xFFFF0000 | 3
	NumberAgentThrottle                 Number = 0xFFFF0000 | 81
	NumberRegionHandshakeReply          Number = 0xFFFF0000 | 149
	NumberUUIDNameRequest               Number = 0xFFFF0000 | 235
	NumberCompleteAgentMovement         Number = 0xFFFF0000 | 249
	NumberLogoutRequest                 Number = 0xFFFF0000 | 252
)

// Session identifies the sender to the simulator. It is a secret, and stands
// in no value that is kept: whoever encodes a message passes it.
type Session struct {
	AgentID     world.UUID
	SessionID   world.UUID
	CircuitCode uint32
}

// AgentUpdate (H4) keeps the agent alive and says from where it looks: without
// it a Second Life region streams nothing. It moves nothing as long as the
// control flags, which this package always sends as 0, are 0.
type AgentUpdate struct {
	BodyRotation, HeadRotation world.Quat // the zero value is no rotation
	CameraCenter               world.Vec3
	// Far is the draw distance in metres.
	Far float64
}

// RegionHandshakeReply flags.
const (
	HandshakeAllCacheable uint32 = 1 << 0 // describe all that could be cached
	HandshakeCacheEmpty   uint32 = 1 << 1 // in full, instead of asking whether it is
	HandshakeAppearance   uint32 = 1 << 2 // avatars bake their own appearance
)

// Throttle is the greatest rate of each kind of traffic, in bits a second.
type Throttle struct {
	Resend, Land, Wind, Cloud, Task, Texture, Asset float32
}

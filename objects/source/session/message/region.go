package message

// Decode reads RegionHandshake (L148), of which the last blocks are not read:
//
//	RegionInfo   Single  RegionFlags U32, SimAccess U8, SimName V1,
//	                     SimOwner, IsEstateManager BOOL, WaterHeight F32,
//	                     BillableFactor F32, CacheID, eight texture IDs,
//	                     eight heights F32
//	RegionInfo2  Single  RegionID
//
// Source: message template.
func (m *RegionHandshake) Decode(b []byte) error {
	r := reader{b: b}
	r.skip(4 + 1)
	m.Name = text(m.Name, r.var1())
	r.skip(16 + 1)
	m.WaterHeight = r.f32()
	r.skip(4 + 16 + 8*16 + 8*4)
	m.RegionID = r.uuid()
	return r.err
}

// Decode reads RegionInfo (L142), of which the last blocks are not read:
//
//	AgentData   Single  AgentID, SessionID
//	RegionInfo  Single  SimName V1, EstateID U32, ParentEstateID U32,
//	                    RegionFlags U32, SimAccess U8, MaxAgents U8,
//	                    BillableFactor F32, ObjectBonusFactor F32,
//	                    WaterHeight F32, …
//
// Source: message template.
func (m *RegionInfo) Decode(b []byte) error {
	r := reader{b: b}
	r.skip(16 + 16)
	m.Name = text(m.Name, r.var1())
	r.skip(4 + 4 + 4 + 1 + 1 + 4 + 4)
	r.more()
	m.WaterHeight = r.f32()
	return r.err
}

// Decode reads AgentMovementComplete (L250):
//
//	AgentData  Single  AgentID, SessionID
//	Data       Single  Position 3F32, LookAt 3F32, RegionHandle U64,
//	                   Timestamp U32
//	SimData    Single  ChannelVersion V2
//
// Source: message template.
func (m *AgentMovementComplete) Decode(b []byte) error {
	r := reader{b: b}
	r.skip(16 + 16)
	m.Position = r.vec3()
	m.LookAt = r.vec3()
	r.more()
	m.RegionHandle = r.u64()
	r.skip(4)
	m.ChannelVersion = text(m.ChannelVersion, r.var2())
	return r.err
}

// Decode reads CoarseLocationUpdate (M6):
//
//	Location   Variable  X U8, Y U8, Z U8
//	Index      Single    You S16, Prey S16
//	AgentData  Variable  AgentID
//
// The i-th location is that of the i-th agent.
//
// Source: message template.
func (m *CoarseLocationUpdate) Decode(b []byte) error {
	r := reader{b: b}
	m.Locations = m.Locations[:0]
	m.You = -1
	for n := r.blocks(); n > 0 && r.more(); n-- {
		l := slot(&m.Locations)
		xyz := r.fixed(3)
		l.X, l.Y, l.Z = xyz[0], xyz[1], xyz[2]
		l.ID = [16]byte{}
	}
	if r.more() { // an index that is not there is not 0
		if you := int(r.s16()); you >= 0 && you < len(m.Locations) {
			m.You = you
		}
	}
	r.skip(2)
	i := 0
	for n := r.blocks(); n > 0 && r.more(); n-- {
		id := r.uuid()
		if i < len(m.Locations) {
			m.Locations[i].ID = id
		}
		i++
	}
	return r.err
}

// Decode reads TeleportLocal (L64):
//
//	Info  Single  AgentID, LocationID U32, Position 3F32, LookAt 3F32,
//	              TeleportFlags U32
//
// Source: message template.
func (m *TeleportLocal) Decode(b []byte) error {
	r := reader{b: b}
	r.skip(16 + 4)
	r.more()
	m.Position = r.vec3()
	return r.err
}

// DecodeStart reads TeleportStart (L73), which has no words:
//
//	Info  Single  TeleportFlags U32
//
// Source: message template.
func (m *TeleportNotice) DecodeStart([]byte) error {
	m.Message = ""
	return nil
}

// DecodeProgress reads TeleportProgress (L66):
//
//	AgentData  Single  AgentID
//	Info       Single  TeleportFlags U32, Message V1
//
// Source: message template.
func (m *TeleportNotice) DecodeProgress(b []byte) error {
	r := reader{b: b}
	r.skip(16 + 4)
	m.Message = text(m.Message, r.var1())
	return r.err
}

// DecodeFailed reads TeleportFailed (L74), of which the last block, a number
// for the reason, is not read:
//
//	Info  Single  AgentID, Reason V1
//
// Source: message template.
func (m *TeleportNotice) DecodeFailed(b []byte) error {
	r := reader{b: b}
	r.skip(16)
	m.Message = text(m.Message, r.var1())
	return r.err
}

// Decode reads HealthMessage (L138):
//
//	HealthData  Single  Health F32
//
// Source: message template.
func (m *HealthMessage) Decode(b []byte) error {
	r := reader{b: b}
	m.Health = r.f32()
	return r.err
}

// Decode reads KickUser (L163):
//
//	TargetBlock  Single  TargetIP IPADDR, TargetPort IPPORT
//	UserInfo     Single  AgentID, SessionID, Reason V2
//
// Source: message template.
func (m *KickUser) Decode(b []byte) error {
	r := reader{b: b}
	r.skip(4 + 2 + 16 + 16)
	m.Reason = text(m.Reason, r.var2())
	return r.err
}

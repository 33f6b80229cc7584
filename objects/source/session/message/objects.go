package message

import (
	"encoding/binary"
	"strings"

	"github.com/wipagent/wipagent/objects/world"
)

// Decode reads ObjectUpdate (H12):
//
//	RegionData  Single    RegionHandle U64, TimeDilation U16
//	ObjectData  Variable  ID U32, State U8, FullID, CRC U32, PCode U8,
//	                      Material U8, ClickAction U8, Scale 3F32,
//	                      ObjectData V1, ParentID U32, UpdateFlags U32,
//	                      23 bytes of path and profile, TextureEntry V2,
//	                      TextureAnim V1, NameValue V2, Data V2, Text V1,
//	                      TextColor 4U8, MediaURL V1, PSBlock V1,
//	                      ExtraParams V1, Sound, OwnerID, Gain F32, Flags U8,
//	                      Radius F32, JointType U8, JointPivot 3F32,
//	                      JointAxisOrAnchor 3F32
//
// Source: message template; the lengths of ObjectData: Second Life's viewer.
func (m *ObjectUpdate) Decode(b []byte) error {
	r := reader{b: b}
	m.Objects = m.Objects[:0]
	m.RegionHandle = r.u64()
	r.skip(2)
	for n := r.blocks(); n > 0 && r.more(); n-- {
		o := slot(&m.Objects)
		o.LocalID = r.u32()
		o.State = r.u8()
		o.ID = r.uuid()
		r.skip(4)
		o.PCode = r.u8()
		r.skip(2)
		o.Scale = r.vec3()
		r.more()
		o.Position, o.Rotation, o.Placed = objectData(r.var1())
		o.ParentID = r.u32()
		r.skip(4 + 23)
		r.var2()
		r.var1()
		o.NameValue = text(o.NameValue, r.var2())
		r.var2()
		o.HoverText = text(o.HoverText, r.var1())
		r.skip(4)
		r.var1()
		r.var1()
		r.var1()
		r.skip(16 + 16 + 4 + 1 + 4 + 1 + 12 + 12)
		if r.err != nil {
			drop(&m.Objects)
		}
	}
	return r.err
}

// objectData reads position and rotation of ObjectUpdate's ObjectData, whose
// length says what is in it: position, velocity, acceleration, rotation and
// angular velocity as floats (60 bytes) or in 16 bits each (32), either of
// them after a collision plane of 16 bytes, or before 64 or 32 reserved bytes,
// or both. There was a form in 8 bits each (16), too coarse to place anything.
func objectData(b []byte) (position world.Vec3, rotation world.Quat, placed bool) {
	switch len(b) {
	case 76, 140, 48, 80:
		b = b[16:]
	}
	switch len(b) {
	case 60, 124:
		return vec3(b), quat(b[36:]), true
	case 32, 64:
		position = world.Vec3{
			X: quantised(b, -128, 384),
			Y: quantised(b[2:], -128, 384),
			Z: quantised(b[4:], -256, 4096),
		}
		return position, quantisedQuat(b[18:]), true
	}
	return world.Vec3{}, world.Quat{}, false
}

// quantised reads a U16 that stands for a number from lo to hi.
func quantised(b []byte, lo, hi float64) float64 {
	return lo + float64(binary.LittleEndian.Uint16(b))/65535*(hi-lo)
}

// quantisedQuat reads a rotation sent as four U16, each over ±1. Zero lies
// between two steps and comes as either.
func quantisedQuat(b []byte) world.Quat {
	_ = b[7]
	return world.Quat{X: around0(b), Y: around0(b[2:]), Z: around0(b[4:]), W: around0(b[6:])}
}

func around0(b []byte) float64 {
	n := 2*int(binary.LittleEndian.Uint16(b)) - 65535
	if n == 1 || n == -1 {
		return 0
	}
	return float64(n) / 65535
}

// Lengths of what ObjectUpdateCompressed's Data begins with, in every row.
const (
	compressedPlaced = 64 // up to the rotation
	compressedFixed  = 84 // up to the owner
)

// DecodeCompressed reads ObjectUpdateCompressed (H13):
//
//	RegionData  Single    RegionHandle U64, TimeDilation U16
//	ObjectData  Variable  UpdateFlags U32, Data V2
//
// Data being
//
//	FullID, LocalID U32, PCode U8, State U8, CRC U32, Material U8,
//	ClickAction U8, Scale 3F32, Position 3F32, Rotation 3F32, Flags U32,
//	OwnerID, and what the flags announce: see optional.
//
// A row that is malformed after its rotation is kept as far as it goes, and
// the rows after it are read; the error tells.
//
// Source: message template; Data: Second Life's viewer and OpenSimulator's
// client stack.
func (m *ObjectUpdate) DecodeCompressed(b []byte) error {
	r := reader{b: b}
	m.Objects = m.Objects[:0]
	m.RegionHandle = r.u64()
	r.skip(2)
	var malformed error
	for n := r.blocks(); n > 0 && r.more(); n-- {
		r.skip(4)
		data := reader{b: r.var2()}
		switch {
		case r.err != nil:
		case len(data.b) < compressedPlaced:
			data.fail("found %d bytes, expected an object of at least %d", len(data.b), compressedPlaced)
		default:
			slot(&m.Objects).compressed(&data)
		}
		if malformed == nil {
			malformed = data.err
		}
	}
	if r.err == nil {
		return malformed
	}
	return r.err
}

// compressed reads one row of ObjectUpdateCompressed, of which at least
// compressedPlaced bytes are there.
func (o *Object) compressed(r *reader) {
	b := r.fixed(16)
	o.ID = world.UUID(b)
	o.LocalID = r.u32()
	o.PCode = r.u8()
	o.State = r.u8()
	r.skip(4 + 1 + 1)
	o.Scale = r.vec3()
	o.Position = r.vec3()
	o.Rotation = quat(r.fixed(12))
	o.Placed = true
	flags := r.u32()
	r.skip(compressedFixed - compressedPlaced - 4)
	o.optional(r, flags)
}

// optional reads what the flags of a compressed row announce, in this order;
// what they do not announce is not there:
//
//	0x080   angular velocity 3F32
//	0x020   ParentID U32
//	0x002   tree species U8, else 0x001 scratch pad U32 length and bytes
//	0x004   hover text, ended by a NUL, and 4 bytes of colour
//	0x200   media address, ended by a NUL
//	0x008   particles, 86 bytes
//	always  extra parameters: U8 count of type U16, length U32 and bytes
//	0x010   sound: UUID, gain F32, flags U8, radius F32
//	0x100   name values, ended by a NUL
//
// What follows, shape and textures, is not read.
func (o *Object) optional(r *reader, flags uint32) {
	o.ParentID = 0
	hover, names := o.HoverText, o.NameValue
	o.HoverText, o.NameValue = "", ""
	if flags&0x080 != 0 {
		r.skip(12)
	}
	if flags&0x020 != 0 {
		o.ParentID = r.u32()
	}
	if flags&0x002 != 0 {
		r.skip(1)
	} else if flags&0x001 != 0 {
		r.var4()
	}
	if flags&0x004 != 0 {
		o.HoverText = text(hover, r.terminated())
		r.skip(4)
	}
	if flags&0x200 != 0 {
		r.terminated()
	}
	if flags&0x008 != 0 {
		r.skip(86)
	}
	for n := r.u8(); n > 0; n-- {
		r.skip(2)
		r.var4()
	}
	if flags&0x010 != 0 {
		r.skip(16 + 4 + 1 + 4)
	}
	if flags&0x100 != 0 {
		o.NameValue = text(names, r.terminated())
	}
}

// Decode reads ImprovedTerseObjectUpdate (H15):
//
//	RegionData  Single    RegionHandle U64, TimeDilation U16
//	ObjectData  Variable  Data V1, TextureEntry V2
//
// Data being
//
//	LocalID U32, State U8, a U8 that says whether a collision plane 4F32
//	comes next, Position 3F32, velocity 3U16 over ±128, acceleration 3U16
//	over ±64, rotation 4U16 over ±1, angular velocity 3U16 over ±64
//
// which makes 44 or 60 bytes. Rows too short to hold a rotation are left out.
//
// Source: message template; Data: Second Life's viewer and OpenSimulator's
// client stack.
func (m *ImprovedTerseObjectUpdate) Decode(b []byte) error {
	r := reader{b: b}
	m.Objects = m.Objects[:0]
	m.RegionHandle = r.u64()
	r.skip(2)
	var malformed reader
	for n := r.blocks(); n > 0 && r.more(); n-- {
		data := r.var1()
		r.var2()
		if r.err != nil {
			break
		}
		at := 6
		if len(data) >= at && data[5] != 0 {
			at += 16
		}
		if len(data) < at+32 {
			malformed.fail("found %d bytes, expected a moved object of at least %d", len(data), at+32)
			continue
		}
		o := slot(&m.Objects)
		o.LocalID = binary.LittleEndian.Uint32(data)
		o.Position = vec3(data[at:])
		o.Rotation = quantisedQuat(data[at+24:])
	}
	if r.err == nil {
		return malformed.err
	}
	return r.err
}

// Decode reads ObjectUpdateCached (H14):
//
//	RegionData  Single    RegionHandle U64, TimeDilation U16
//	ObjectData  Variable  ID U32, CRC U32, UpdateFlags U32
//
// Source: message template.
func (m *ObjectUpdateCached) Decode(b []byte) error {
	r := reader{b: b}
	m.LocalIDs = m.LocalIDs[:0]
	m.RegionHandle = r.u64()
	r.skip(2)
	for n := r.blocks(); n > 0 && r.more(); n-- {
		m.LocalIDs = append(m.LocalIDs, r.u32())
		r.skip(8)
	}
	return r.err
}

// Decode reads KillObject (H16):
//
//	ObjectData  Variable  ID U32
//
// Source: message template.
func (m *KillObject) Decode(b []byte) error {
	r := reader{b: b}
	m.LocalIDs = m.LocalIDs[:0]
	for n := r.blocks(); n > 0 && r.more(); n-- {
		m.LocalIDs = append(m.LocalIDs, r.u32())
	}
	return r.err
}

// Decode reads ObjectProperties (M9):
//
//	ObjectData  Variable  ObjectID, CreatorID, OwnerID, GroupID,
//	                      CreationDate U64, five masks U32,
//	                      OwnershipCost S32, SaleType U8, SalePrice S32,
//	                      three aggregates U8, Category U32,
//	                      InventorySerial S16, ItemID, FolderID, FromTaskID,
//	                      LastOwnerID, Name V1, Description V1, TouchName V1,
//	                      SitName V1, TextureID V1
//
// Source: message template.
func (m *ObjectProperties) Decode(b []byte) error {
	r := reader{b: b}
	m.Objects = m.Objects[:0]
	for n := r.blocks(); n > 0 && r.more(); n-- {
		o := slot(&m.Objects)
		o.ID = r.uuid()
		r.skip(3*16 + 8 + 5*4 + 4 + 1 + 4 + 3 + 4 + 2 + 4*16)
		o.Name = text(o.Name, r.var1())
		o.Description = text(o.Description, r.var1())
		r.var1()
		r.var1()
		r.var1()
		if r.err != nil {
			drop(&m.Objects)
		}
	}
	return r.err
}

// DecodeFamily reads ObjectPropertiesFamily (M10), which is about one object:
//
//	ObjectData  Single  RequestFlags U32, ObjectID, OwnerID, GroupID, five
//	                    masks U32, OwnershipCost S32, SaleType U8,
//	                    SalePrice S32, Category U32, LastOwnerID, Name V1,
//	                    Description V1
//
// Source: message template.
func (m *ObjectProperties) DecodeFamily(b []byte) error {
	r := reader{b: b}
	m.Objects = m.Objects[:0]
	o := slot(&m.Objects)
	r.skip(4)
	o.ID = r.uuid()
	r.skip(2*16 + 5*4 + 4 + 1 + 4 + 4 + 16)
	o.Name = text(o.Name, r.var1())
	o.Description = text(o.Description, r.var1())
	if r.err != nil {
		drop(&m.Objects)
	}
	return r.err
}

// NameValueOf returns the value of the first line with that key in an object's
// name values, which are lines of the form "Key TYPE RW SENDTO value"; false
// if there is none.
//
// Source: Second Life's viewer.
func NameValueOf(nameValue, key string) (string, bool) {
	for line := range strings.SplitSeq(nameValue, "\n") {
		rest, ok := strings.CutPrefix(line, key+" ")
		if !ok {
			continue
		}
		for range 3 { // type, who may change it, to whom it is sent
			_, rest, _ = strings.Cut(rest, " ")
		}
		return rest, true
	}
	return "", false
}

package gridtest

import (
	"strings"

	"github.com/wipagent/wipagent/objects/source/session/message"
	"github.com/wipagent/wipagent/objects/world"
)

// The functions of the encode files return messages as a simulator sends them,
// number first, every field of the template there. Layouts are those of the
// message template; where a simulator has a choice, OpenSimulator's.

// EncodeObjectUpdate describes objects in full.
func EncodeObjectUpdate(m *message.ObjectUpdate) []byte {
	w := newBody(message.NumberObjectUpdate)
	w.u64(m.RegionHandle)
	w.u16(0xFFFF) // time dilation
	w.count(len(m.Objects))
	for i := range m.Objects {
		w.object(&m.Objects[i])
	}
	return w.b
}

func (w *body) object(o *message.Object) {
	w.u32(o.LocalID)
	w.u8(o.State)
	w.uuid(o.ID)
	w.u32(0xC0FFEE) // CRC
	w.u8(o.PCode)
	w.u8(3, 0) // material, click action
	w.vec(o.Scale)

	var data body
	if o.PCode == world.PCodeAvatar {
		data.zeros(16) // the plane that the feet stand on
	}
	data.vec(o.Position)
	data.zeros(24) // velocity, acceleration
	data.quat(o.Rotation)
	data.zeros(12) // angular velocity
	w.var1(data.b)

	w.u32(o.ParentID)
	w.u32(0x1000_0000) // update flags
	w.shape()
	w.var2(textureEntry())
	w.u8(0) // no texture animation
	if o.NameValue == "" {
		w.u16(0)
	} else {
		w.str2(o.NameValue)
	}
	w.var2([]byte{1}) // data: the number of prims
	if o.HoverText == "" {
		w.u8(0)
	} else {
		w.str1(o.HoverText)
	}
	w.u8(255, 255, 255, 0) // colour of the text
	w.str1(Canary)         // media
	w.u8(0)                // particles
	w.var1([]byte{0})      // extra parameters: none
	w.canaries(2)          // sound, owner
	w.f32(1)               // gain
	w.u8(0)
	w.f32(20) // radius
	w.u8(0)   // joint
	w.zeros(24)
}

// shape appends the 23 bytes of a box's path and profile.
func (w *body) shape() {
	w.u8(0x10, 1)
	w.u16(0)
	w.u16(0)
	w.u8(100, 100, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	w.u16(0)
	w.u16(0)
	w.u16(0)
}

// textureEntry is one texture on all sides.
func textureEntry() []byte {
	var w body
	w.uuid(CanaryID)
	w.zeros(1 + 5)
	w.f32(1)
	w.u8(0)
	w.f32(1)
	w.zeros(1 + 2 + 1 + 2 + 1 + 2 + 1 + 1 + 1 + 1 + 1 + 4 + 1)
	return w.b
}

// What an ObjectUpdateCompressed holds besides the fixed part.
const (
	hasScratch   = 0x001
	hasTree      = 0x002
	hasText      = 0x004
	hasParticles = 0x008
	hasSound     = 0x010
	hasParent    = 0x020
	hasAngular   = 0x080
	hasNameValue = 0x100
	hasMedia     = 0x200
)

// EncodeObjectUpdateCompressed describes objects in full, packed. Which
// optional parts that nobody reads an object has depends on its local ID.
func EncodeObjectUpdateCompressed(m *message.ObjectUpdate) []byte {
	w := newBody(message.NumberObjectUpdateCompressed)
	w.u64(m.RegionHandle)
	w.u16(0xFFFF)
	w.count(len(m.Objects))
	for i := range m.Objects {
		w.u32(0x1000_0000) // update flags
		w.var2(compressed(&m.Objects[i]))
	}
	return w.b
}

func compressed(o *message.Object) []byte {
	var has uint32
	add := func(flag uint32, is bool) {
		if is {
			has |= flag
		}
	}
	tree := o.PCode == 95 || o.PCode == 111 || o.PCode == 255
	add(hasTree, tree)
	add(hasScratch, !tree && o.LocalID&16 != 0)
	add(hasText, o.HoverText != "")
	add(hasParticles, o.LocalID&8 != 0)
	add(hasSound, o.LocalID&4 != 0)
	add(hasParent, o.ParentID != 0)
	add(hasAngular, o.LocalID&1 != 0)
	add(hasNameValue, o.NameValue != "")
	add(hasMedia, o.LocalID&2 != 0)

	var w body
	w.uuid(o.ID)
	w.u32(o.LocalID)
	w.u8(o.PCode, o.State)
	w.u32(0xC0FFEE) // CRC
	w.u8(3, 0)      // material, click action
	w.vec(o.Scale)
	w.vec(o.Position)
	w.quat(o.Rotation)
	w.u32(has)
	w.uuid(CanaryID)
	if has&hasAngular != 0 {
		w.vec(world.Vec3{X: 1, Y: 2, Z: 3})
	}
	if has&hasParent != 0 {
		w.u32(o.ParentID)
	}
	if has&hasTree != 0 {
		w.u8(7) // species
	} else if has&hasScratch != 0 {
		w.u32(300)
		w.zeros(300)
	}
	if has&hasText != 0 {
		w.zeroed(o.HoverText)
		w.u8(255, 255, 255, 0)
	}
	if has&hasMedia != 0 {
		w.zeroed(Canary)
	}
	if has&hasParticles != 0 {
		w.zeros(86)
	}
	w.u8(1) // extra parameters
	w.u16(0x20)
	w.u32(4)
	w.zeros(4)
	if has&hasSound != 0 {
		w.uuid(CanaryID)
		w.f32(1)
		w.u8(0)
		w.f32(20)
	}
	if has&hasNameValue != 0 {
		w.zeroed(o.NameValue)
	}
	w.shape()
	entry := textureEntry()
	w.u32(uint32(len(entry)))
	w.bytes(entry)
	return w.b
}

// zeroed appends text that a NUL ends.
func (w *body) zeroed(s string) {
	if strings.ContainsRune(s, 0) {
		panic("gridtest: found a NUL inside a text that a NUL ends")
	}
	w.bytes(append([]byte(s), 0))
}

// EncodeImprovedTerseObjectUpdate moves objects. Those in avatars are written
// as avatars are, with a plane.
func EncodeImprovedTerseObjectUpdate(m *message.ImprovedTerseObjectUpdate, avatars map[uint32]bool) []byte {
	w := newBody(message.NumberImprovedTerseObjectUpdate)
	w.u64(m.RegionHandle)
	w.u16(0xFFFF)
	w.count(len(m.Objects))
	for _, o := range m.Objects {
		var data body
		data.u32(o.LocalID)
		data.u8(0) // state
		data.flag(avatars[o.LocalID])
		if avatars[o.LocalID] {
			data.zeros(16)
		}
		data.vec(o.Position)
		for range 3 {
			data.quantised(0, -128, 128) // velocity
		}
		for range 3 {
			data.quantised(0, -64, 64) // acceleration
		}
		q := o.Rotation
		if q == (world.Quat{}) {
			q.W = 1
		}
		for _, v := range []float64{q.X, q.Y, q.Z, q.W} {
			data.quantised(v, -1, 1)
		}
		for range 3 {
			data.quantised(0, -64, 64) // angular velocity
		}
		w.var1(data.b)
		w.u16(0) // texture entry
	}
	return w.b
}

// EncodeObjectUpdateCached asks whether objects are known.
func EncodeObjectUpdateCached(m *message.ObjectUpdateCached) []byte {
	w := newBody(message.NumberObjectUpdateCached)
	w.u64(m.RegionHandle)
	w.u16(0xFFFF)
	w.count(len(m.LocalIDs))
	for _, id := range m.LocalIDs {
		w.u32(id)
		w.u32(0xC0FFEE)
		w.u32(0x1000_0000)
	}
	return w.b
}

// EncodeKillObject names what is gone.
func EncodeKillObject(m *message.KillObject) []byte {
	w := newBody(message.NumberKillObject)
	w.count(len(m.LocalIDs))
	for _, id := range m.LocalIDs {
		w.u32(id)
	}
	return w.b
}

// EncodeCoarseLocationUpdate says where avatars roughly are.
func EncodeCoarseLocationUpdate(m *message.CoarseLocationUpdate) []byte {
	w := newBody(message.NumberCoarseLocationUpdate)
	w.count(len(m.Locations))
	for _, l := range m.Locations {
		w.u8(l.X, l.Y, l.Z)
	}
	w.u16(uint16(int16(m.You)))
	w.u16(0xFFFF) // prey: none
	w.count(len(m.Locations))
	for _, l := range m.Locations {
		w.uuid(l.ID)
	}
	return w.b
}

// EncodeObjectProperties tells names as an answer to a selection does.
func EncodeObjectProperties(m *message.ObjectProperties) []byte {
	w := newBody(message.NumberObjectProperties)
	w.count(len(m.Objects))
	for _, o := range m.Objects {
		w.uuid(o.ID)
		w.canaries(3) // creator, owner, group
		w.u64(1_276_473_600_000_000)
		w.permissions()
		w.u32(0)      // ownership cost
		w.u8(2)       // for sale
		w.u32(987654) // price
		w.u8(0, 0, 0) // aggregated permissions
		w.u32(0)      // category
		w.u16(1)      // inventory serial
		w.canaries(4) // item, folder, task, last owner
		w.str1(o.Name)
		w.str1(o.Description)
		w.str1("touch")
		w.str1("sit")
		w.var1(CanaryID[:]) // textures
	}
	return w.b
}

// EncodeObjectPropertiesFamily tells one object's name, asked by
// RequestObjectPropertiesFamily.
func EncodeObjectPropertiesFamily(o message.ObjectName) []byte {
	w := newBody(message.NumberObjectPropertiesFamily)
	w.u32(0) // request flags
	w.uuid(o.ID)
	w.canaries(2) // owner, group
	w.permissions()
	w.u32(0)      // ownership cost
	w.u8(2)       // for sale
	w.u32(987654) // price
	w.u32(0)      // category
	w.uuid(CanaryID)
	w.str1(o.Name)
	w.str1(o.Description)
	return w.b
}

// permissions appends the five masks.
func (w *body) permissions() {
	for range 5 {
		w.u32(0x7FFF_FFFF)
	}
}

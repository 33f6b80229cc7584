package gridtest

import (
	"encoding/binary"
	"math"

	"github.com/wipagent/wipagent/objects/source/session/message"
	"github.com/wipagent/wipagent/objects/world"
)

// Canary and CanaryID stand in every field of what the grid sends that must
// not come any further than the decoders: owners, groups, media addresses, and
// words where a script gives none.
const Canary = "http://canary.invalid/"

// CanaryID is the UUID that Canary's text goes with.
var CanaryID = world.MustUUID("ca4a4121-dead-4bad-8bad-ca4a4121dead")

// body builds a message: number first, numbers of several bytes little-endian.
type body struct{ b []byte }

func newBody(n message.Number) *body { return &body{n.Append(make([]byte, 0, 128))} }

func (w *body) u8(v ...uint8)     { w.b = append(w.b, v...) }
func (w *body) u16(v uint16)      { w.b = binary.LittleEndian.AppendUint16(w.b, v) }
func (w *body) u32(v uint32)      { w.b = binary.LittleEndian.AppendUint32(w.b, v) }
func (w *body) u64(v uint64)      { w.b = binary.LittleEndian.AppendUint64(w.b, v) }
func (w *body) f32(v float64)     { w.u32(math.Float32bits(float32(v))) }
func (w *body) zeros(n int)       { w.b = append(w.b, make([]byte, n)...) }
func (w *body) bytes(v []byte)    { w.b = append(w.b, v...) }
func (w *body) uuid(v world.UUID) { w.b = append(w.b, v[:]...) }

func (w *body) flag(v bool) {
	if v {
		w.u8(1)
	} else {
		w.u8(0)
	}
}

// canaries appends n UUIDs that nobody may see.
func (w *body) canaries(n int) {
	for range n {
		w.uuid(CanaryID)
	}
}

func (w *body) vec(v world.Vec3) {
	w.f32(v.X)
	w.f32(v.Y)
	w.f32(v.Z)
}

// quat appends a rotation as X, Y and Z, of the form whose W is not negative.
func (w *body) quat(q world.Quat) {
	if q.W < 0 {
		q = world.Quat{X: -q.X, Y: -q.Y, Z: -q.Z, W: -q.W}
	}
	w.vec(world.Vec3{X: q.X, Y: q.Y, Z: q.Z})
}

// count appends the number of a variable block's instances; n from 0 to 255.
func (w *body) count(n int) {
	if n > math.MaxUint8 {
		panic("gridtest: a block has at most 255 instances")
	}
	w.u8(uint8(n))
}

// var1 and var2 append a field with its length before it.
func (w *body) var1(v []byte) {
	if len(v) > math.MaxUint8 {
		panic("gridtest: a field of this kind has at most 255 bytes")
	}
	w.u8(uint8(len(v)))
	w.bytes(v)
}

func (w *body) var2(v []byte) {
	if len(v) > math.MaxUint16 {
		panic("gridtest: a field of this kind has at most 65,535 bytes")
	}
	w.u16(uint16(len(v)))
	w.bytes(v)
}

// str1 and str2 append text with the NUL that servers put behind it.
func (w *body) str1(s string) { w.var1(append([]byte(s), 0)) }
func (w *body) str2(s string) { w.var2(append([]byte(s), 0)) }

// quantised appends a number from lo to hi as 16 bits.
func (w *body) quantised(v, lo, hi float64) {
	v = (min(max(v, lo), hi) - lo) / (hi - lo)
	w.u16(uint16(math.Round(v * math.MaxUint16)))
}

package message

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/wipagent/wipagent/objects/world"
)

// ErrTruncated is wrapped by every error of a decoder: the message ends early,
// or is malformed before its end. What was decoded up to there stands.
var ErrTruncated = errors.New("the message ends early")

// reader is a cursor over a message body, little-endian. It never reads beyond
// the end and never panics. Its error sticks, and all that is read after it is
// zero.
//
// It is as tolerant as real simulators make it necessary. Numbers missing at
// the end are zero, since Second Life's simulator at times loses the tail of a
// last run of zeros; a missing count is 0; what follows after the last field
// is nobody's business, since templates grow. An ID, a variable field or a
// counted block beyond the end is an error, and so is the end where more says
// that something must follow: what a message is about cannot be such a run.
type reader struct {
	b   []byte
	err error
	pad [16]byte // what fixed returns at the end
}

// fixed returns the next n bytes, at most 16, zeros in place of missing ones.
// They are valid until the next call.
func (r *reader) fixed(n int) []byte {
	if n <= len(r.b) {
		b := r.b[:n]
		r.b = r.b[n:]
		return b
	}
	return r.padded(n)
}

func (r *reader) padded(n int) []byte {
	clear(r.pad[:])
	copy(r.pad[:n], r.b)
	r.b = nil
	return r.pad[:n]
}

// variable returns the next n bytes, of which none may be missing.
func (r *reader) variable(n int) []byte {
	if n <= len(r.b) {
		b := r.b[:n]
		r.b = r.b[n:]
		return b
	}
	r.fail("found %d bytes, expected %d", len(r.b), n)
	return nil
}

// fail ends the message here. The first failure stands.
func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), ErrTruncated)
	}
	r.b = nil
}

func (r *reader) skip(n int)  { r.b = r.b[min(n, len(r.b)):] }
func (r *reader) u8() uint8   { return r.fixed(1)[0] }
func (r *reader) u16() uint16 { return binary.LittleEndian.Uint16(r.fixed(2)) }
func (r *reader) u32() uint32 { return binary.LittleEndian.Uint32(r.fixed(4)) }
func (r *reader) u64() uint64 { return binary.LittleEndian.Uint64(r.fixed(8)) }
func (r *reader) s8() int8    { return int8(r.u8()) }
func (r *reader) s16() int16  { return int16(r.u16()) }
func (r *reader) s32() int32  { return int32(r.u32()) }
func (r *reader) f32() float64 {
	return float64(math.Float32frombits(r.u32()))
}
func (r *reader) vec3() world.Vec3 { return vec3(r.fixed(12)) }

// uuid returns the next UUID, of which nothing may be missing.
func (r *reader) uuid() (u world.UUID) {
	copy(u[:], r.variable(16))
	return u
}

// var1 returns a Variable 1 field, a length of one byte and so many bytes.
func (r *reader) var1() []byte { return r.variable(int(r.u8())) }

// var2 returns a Variable 2 field, a length of two bytes and so many bytes.
func (r *reader) var2() []byte { return r.variable(int(r.u16())) }

// var4 is the same with a length of four bytes, as there are inside of some
// fields.
func (r *reader) var4() []byte { return r.variable(int(min(r.u32(), math.MaxInt32))) }

// terminated returns the bytes up to a NUL, without it.
func (r *reader) terminated() []byte {
	i := bytes.IndexByte(r.b, 0)
	if i < 0 {
		r.fail("found %d bytes of text, expected a NUL to end it", len(r.b))
		return nil
	}
	b := r.b[:i]
	r.b = r.b[i+1:]
	return b
}

// blocks begins a Variable block and returns how many instances follow. Each
// is to be begun by more.
func (r *reader) blocks() int { return int(r.u8()) }

// more reports whether anything follows, and fails if not.
func (r *reader) more() bool {
	if len(r.b) > 0 {
		return true
	}
	r.fail("found the end, expected more")
	return false
}

// vec3 reads three floats.
func vec3(b []byte) world.Vec3 {
	_ = b[11]
	return world.Vec3{
		X: float64(math.Float32frombits(binary.LittleEndian.Uint32(b))),
		Y: float64(math.Float32frombits(binary.LittleEndian.Uint32(b[4:]))),
		Z: float64(math.Float32frombits(binary.LittleEndian.Uint32(b[8:]))),
	}
}

// quat reads a rotation of unit length as it is sent, by three floats: W is
// what is missing to unit length, and is not negative.
func quat(b []byte) world.Quat {
	v := vec3(b)
	q := world.Quat{X: v.X, Y: v.Y, Z: v.Z}
	if rest := 1 - v.X*v.X - v.Y*v.Y - v.Z*v.Z; rest > 0 {
		q.W = math.Sqrt(rest)
	}
	return q
}

// text returns b as text: without the NUL that ends it on the wire, and with
// U+FFFD for what is no UTF-8. If it is what old holds, old is returned, so
// that a slot that is decoded into again costs no allocation.
func text(old string, b []byte) string {
	if n := len(b); n > 0 && b[n-1] == 0 {
		b = b[:n-1]
	}
	switch {
	case string(b) == old:
		return old
	case utf8.Valid(b):
		return string(b)
	}
	return string(bytes.ToValidUTF8(b, []byte("\uFFFD")))
}

// slot makes s one longer and returns the new last element, which still holds
// what was there before if the capacity was enough.
func slot[T any](s *[]T) *T {
	if n := len(*s); n < cap(*s) {
		*s = (*s)[:n+1]
	} else {
		var zero T
		*s = append(*s, zero)
	}
	return &(*s)[len(*s)-1]
}

// drop takes the last element off again.
func drop[T any](s *[]T) { *s = (*s)[:len(*s)-1] }

package world

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
)

// UUID identifies something on a grid. The zero value means none.
type UUID [16]byte

// ParseUUID reads the form 8-4-4-4-12, in either case.
func ParseUUID(s string) (UUID, error) {
	var u UUID
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return UUID{}, fmt.Errorf("found %d bytes, expected a UUID of the form 8-4-4-4-12", len(s))
	}
	digits := s[:8] + s[9:13] + s[14:18] + s[19:23] + s[24:]
	if _, err := hex.Decode(u[:], []byte(digits)); err != nil {
		return UUID{}, fmt.Errorf("found a character that is no hexadecimal digit, expected a UUID")
	}
	return u, nil
}

// MustUUID is ParseUUID for constants; it panics on anything else.
func MustUUID(s string) UUID {
	u, err := ParseUUID(s)
	if err != nil {
		panic(fmt.Sprintf("world: UUID %q: %v", s, err))
	}
	return u
}

// IsZero reports whether u is the zero UUID, which means none.
func (u UUID) IsZero() bool { return u == UUID{} }

// Compare orders UUIDs by their bytes, which is also the order of their text.
func (u UUID) Compare(v UUID) int { return bytes.Compare(u[:], v[:]) }

// String returns the form 8-4-4-4-12 in lower case.
func (u UUID) String() string {
	var b [36]byte
	hex.Encode(b[:8], u[:4])
	hex.Encode(b[9:13], u[4:6])
	hex.Encode(b[14:18], u[6:8])
	hex.Encode(b[19:23], u[8:10])
	hex.Encode(b[24:], u[10:])
	b[8], b[13], b[18], b[23] = '-', '-', '-', '-'
	return string(b[:])
}

// MarshalText returns what String returns.
func (u UUID) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// UnmarshalText reads what ParseUUID reads.
func (u *UUID) UnmarshalText(b []byte) (err error) {
	*u, err = ParseUUID(string(b))
	return err
}

// Vec3 is a place, an offset or a size in metres: x east, y north, z up.
type Vec3 struct{ X, Y, Z float64 }

// Add returns v + w.
func (v Vec3) Add(w Vec3) Vec3 { return Vec3{v.X + w.X, v.Y + w.Y, v.Z + w.Z} }

// Finite reports whether v holds neither NaN nor an infinity.
func (v Vec3) Finite() bool { return finite(v.X) && finite(v.Y) && finite(v.Z) }

// Quat is a rotation. The zero value means none.
type Quat struct{ X, Y, Z, W float64 }

// Mul returns the rotation that does q after r.
func (q Quat) Mul(r Quat) Quat {
	return Quat{
		X: q.W*r.X + q.X*r.W + q.Y*r.Z - q.Z*r.Y,
		Y: q.W*r.Y - q.X*r.Z + q.Y*r.W + q.Z*r.X,
		Z: q.W*r.Z + q.X*r.Y - q.Y*r.X + q.Z*r.W,
		W: q.W*r.W - q.X*r.X - q.Y*r.Y - q.Z*r.Z,
	}
}

// Rotate returns v turned by q, which must be of unit length.
func (q Quat) Rotate(v Vec3) Vec3 {
	// v + 2w(u × v) + 2u × (u × v), u being the vector part.
	tx := 2 * (q.Y*v.Z - q.Z*v.Y)
	ty := 2 * (q.Z*v.X - q.X*v.Z)
	tz := 2 * (q.X*v.Y - q.Y*v.X)
	return Vec3{
		X: v.X + q.W*tx + q.Y*tz - q.Z*ty,
		Y: v.Y + q.W*ty + q.Z*tx - q.X*tz,
		Z: v.Z + q.W*tz + q.X*ty - q.Y*tx,
	}
}

// unit returns q scaled to unit length; false if it is no rotation.
func (q Quat) unit() (Quat, bool) {
	if q == (Quat{}) {
		return Quat{W: 1}, true
	}
	n := math.Sqrt(q.X*q.X + q.Y*q.Y + q.Z*q.Z + q.W*q.W)
	if !finite(n) || n < 1e-6 {
		return Quat{}, false
	}
	return Quat{q.X / n, q.Y / n, q.Z / n, q.W / n}, true
}

func finite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }

package llsd

import (
	"encoding/binary"
	"math"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/wipagent/wipagent/objects/world"
)

// Str returns a string, an address, or the text of an identifier or integer.
func (v Value) Str() (string, bool) {
	switch x := v.v.(type) {
	case string:
		return x, true
	case uri:
		return string(x), true
	case world.UUID:
		return x.String(), true
	case int64:
		return strconv.FormatInt(x, 10), true
	}
	return "", false
}

// Int returns an integer, a boolean as 0 or 1, a real without a fraction, the
// number a string holds, or that of at most 8 big-endian bytes: four of them
// are signed, as LLSD's integers are, and none are 0.
func (v Value) Int() (int64, bool) {
	switch x := v.v.(type) {
	case int64:
		return x, true
	case bool:
		if x {
			return 1, true
		}
		return 0, true
	case float64:
		if x != math.Trunc(x) || math.Abs(x) >= 1<<63 {
			return 0, false
		}
		return int64(x), true
	case string:
		i, err := strconv.ParseInt(strings.TrimSpace(x), 10, 64)
		return i, err == nil
	case bytes:
		if len(x) == 4 {
			return int64(int32(binary.BigEndian.Uint32([]byte(x)))), true
		}
		u, ok := bigEndian(x)
		return int64(u), ok
	}
	return 0, false
}

// U32 returns an unsigned integer of 32 bits: what Int returns, where -1 to
// -2³¹ stand for the same bits unsigned. False if it does not fit.
func (v Value) U32() (uint32, bool) {
	i, ok := v.Int()
	if !ok || i < math.MinInt32 || i > math.MaxUint32 {
		return 0, false
	}
	return uint32(i), true
}

// U64 returns an unsigned integer of 64 bits: at most 8 big-endian bytes, a
// string's number, or what Int returns unless that is negative.
func (v Value) U64() (uint64, bool) {
	switch x := v.v.(type) {
	case bytes:
		return bigEndian(x)
	case string:
		u, err := strconv.ParseUint(strings.TrimSpace(x), 10, 64)
		return u, err == nil
	}
	i, ok := v.Int()
	if !ok || i < 0 {
		return 0, false
	}
	return uint64(i), true
}

func bigEndian(b bytes) (u uint64, ok bool) {
	if len(b) > 8 {
		return 0, false
	}
	for i := range len(b) {
		u = u<<8 | uint64(b[i])
	}
	return u, true
}

// Real returns a real, an integer, or the number a string holds.
func (v Value) Real() (float64, bool) {
	switch x := v.v.(type) {
	case float64:
		return x, true
	case int64:
		return float64(x), true
	case string:
		f, err := strconv.ParseFloat(strings.TrimSpace(x), 64)
		return f, err == nil
	}
	return 0, false
}

// Bool returns a boolean, whether an integer is not 0, or what a string of
// one of the notation's forms says.
func (v Value) Bool() (bool, bool) {
	switch x := v.v.(type) {
	case bool:
		return x, true
	case int64:
		return x != 0, true
	case string:
		return parseBool(strings.TrimSpace(x))
	}
	return false, false
}

// UUID returns an identifier, also one in a string or in 16 bytes. The empty
// string is the zero UUID.
func (v Value) UUID() (world.UUID, bool) {
	switch x := v.v.(type) {
	case world.UUID:
		return x, true
	case string:
		return parseUUID(strings.TrimSpace(x))
	case bytes:
		if len(x) == len(world.UUID{}) {
			return world.UUID([]byte(x)), true
		}
	}
	return world.UUID{}, false
}

// Bytes returns a copy of a binary's bytes.
func (v Value) Bytes() ([]byte, bool) {
	x, ok := v.v.(bytes)
	return []byte(x), ok
}

// Addr returns the IPv4 address of four bytes or of a string such as
// "192.0.2.1".
func (v Value) Addr() (netip.Addr, bool) {
	switch x := v.v.(type) {
	case bytes:
		if len(x) == 4 {
			return netip.AddrFrom4([4]byte([]byte(x))), true
		}
	case string:
		a, err := netip.ParseAddr(strings.TrimSpace(x))
		return a, err == nil && a.Is4()
	}
	return netip.Addr{}, false
}

// Vec3 returns the vector of an array of three finite numbers.
func (v Value) Vec3() (world.Vec3, bool) {
	a, _ := v.v.(array)
	if len(a) != 3 {
		return world.Vec3{}, false
	}
	x, okX := a[0].Real()
	y, okY := a[1].Real()
	z, okZ := a[2].Real()
	vec := world.Vec3{X: x, Y: y, Z: z}
	if !okX || !okY || !okZ || !vec.Finite() {
		return world.Vec3{}, false
	}
	return vec, true
}

// Date returns a moment, also one written in a string, in UTC.
func (v Value) Date() (time.Time, bool) {
	switch x := v.v.(type) {
	case time.Time:
		return x, true
	case string:
		return parseDate(strings.TrimSpace(x))
	}
	return time.Time{}, false
}

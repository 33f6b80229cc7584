// Package llsd reads and writes LLSD in its XML form, the notation of a grid's
// HTTP services: capabilities, the event queue and the inventory.
//
// Grids are loose about types: the same field comes as an integer from one
// and as big-endian bytes from another, identifiers come as strings, and what
// is zero comes as an empty element. Hence the getters, which coerce what is
// unambiguous and say of everything else that it is not there.
package llsd

import (
	"encoding/binary"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/wipagent/wipagent/objects/world"
)

// Kind is the type of a value.
type Kind uint8

// The types of LLSD.
const (
	KindUndef Kind = iota
	KindBoolean
	KindInteger
	KindReal
	KindUUID
	KindString
	KindURI
	KindDate
	KindBinary
	KindArray
	KindMap
)

// kinds holds the names of the kinds, which are also their XML elements.
var kinds = [...]string{"undef", "boolean", "integer", "real", "uuid", "string", "uri", "date", "binary", "array", "map"}

// String returns the name of k's XML element.
func (k Kind) String() string {
	if int(k) < len(kinds) {
		return kinds[k]
	}
	return fmt.Sprintf("Kind(%d)", k)
}

// Value is any LLSD value; the zero value is undef. Values are immutable and
// safe for concurrent use.
//
// A body may hold secrets, so no verb of fmt prints more of a value than its
// kind and length.
type Value struct {
	// v is nil, bool, int64, float64, world.UUID, string, uri, time.Time,
	// bytes, array or dict.
	v any
}

type (
	uri   string
	bytes string // immutable
	array []Value
	dict  []Member // sorted by Key, which is unique
)

// Member is one entry of a map.
type Member struct {
	Key   string
	Value Value
}

// Undef returns the value that says that there is none.
func Undef() Value { return Value{} }

// Boolean returns a boolean.
func Boolean(b bool) Value { return Value{b} }

// Integer returns an integer. LLSD's integers have 32 bits; larger ones are
// written as they are, and some servers read them.
func Integer(i int64) Value { return Value{i} }

// Real returns a real number, which may be an infinity or NaN.
func Real(f float64) Value { return Value{f} }

// UUID returns an identifier.
func UUID(u world.UUID) Value { return Value{u} }

// String returns a string; invalid UTF-8 becomes U+FFFD.
func String(s string) Value { return Value{valid(s)} }

// URI returns an address; invalid UTF-8 becomes U+FFFD.
func URI(s string) Value { return Value{uri(valid(s))} }

// Date returns a moment; undef if its year is not within 0 to 9999, which the
// notation cannot express.
func Date(t time.Time) Value {
	t = t.UTC().Round(0)
	if t.Year() < 0 || t.Year() > 9999 {
		return Value{}
	}
	return Value{t}
}

// Binary returns a copy of b.
func Binary(b []byte) Value { return Value{bytes(b)} }

// BinaryU32 returns the four bytes, big-endian, that stand for an unsigned
// integer of 32 bits.
func BinaryU32(u uint32) Value { return Value{bytes(binary.BigEndian.AppendUint32(nil, u))} }

// BinaryU64 returns the eight bytes, big-endian, that stand for an unsigned
// integer of 64 bits.
func BinaryU64(u uint64) Value { return Value{bytes(binary.BigEndian.AppendUint64(nil, u))} }

// Array returns an array.
func Array(values ...Value) Value { return Value{array(slices.Clone(values))} }

// Map returns a map. Of members with the same key the last counts; invalid
// UTF-8 in keys becomes U+FFFD.
func Map(members ...Member) Value {
	members = slices.Clone(members)
	for i := range members {
		members[i].Key = valid(members[i].Key)
	}
	return Value{newDict(members)}
}

// newDict takes over members.
func newDict(members []Member) dict {
	// Most maps on the wire are in order already, or nearly.
	slices.SortStableFunc(members, func(a, b Member) int { return strings.Compare(a.Key, b.Key) })
	kept := members[:0]
	for i, m := range members {
		if i+1 < len(members) && members[i+1].Key == m.Key {
			continue
		}
		kept = append(kept, m)
	}
	clear(members[len(kept):])
	return dict(kept)
}

func valid(s string) string { return strings.ToValidUTF8(s, "\ufffd") }

// Kind returns the type of v.
func (v Value) Kind() Kind {
	switch v.v.(type) {
	case bool:
		return KindBoolean
	case int64:
		return KindInteger
	case float64:
		return KindReal
	case world.UUID:
		return KindUUID
	case string:
		return KindString
	case uri:
		return KindURI
	case time.Time:
		return KindDate
	case bytes:
		return KindBinary
	case array:
		return KindArray
	case dict:
		return KindMap
	}
	return KindUndef
}

// Len returns the number of an array's elements, a map's members or a
// binary's bytes; 0 for anything else.
func (v Value) Len() int {
	switch x := v.v.(type) {
	case array:
		return len(x)
	case dict:
		return len(x)
	case bytes:
		return len(x)
	}
	return 0
}

// Get returns the member of a map with the key; undef if there is none or v
// is no map.
func (v Value) Get(key string) Value {
	d, _ := v.v.(dict)
	i, ok := slices.BinarySearchFunc(d, key, func(m Member, key string) int { return strings.Compare(m.Key, key) })
	if !ok {
		return Value{}
	}
	return d[i].Value
}

// Index returns the i-th element of an array; undef if there is none or v is
// no array.
func (v Value) Index(i int) Value {
	a, _ := v.v.(array)
	if i < 0 || i >= len(a) {
		return Value{}
	}
	return a[i]
}

// Values iterates over the elements of an array; over nothing if v is none.
func (v Value) Values() iter.Seq[Value] {
	a, _ := v.v.(array)
	return slices.Values(a)
}

// Keys iterates over the keys of a map in order; over nothing if v is none.
func (v Value) Keys() iter.Seq[string] {
	return func(yield func(string) bool) {
		for k := range v.All() {
			if !yield(k) {
				return
			}
		}
	}
}

// All iterates over the members of a map in the order of their keys; over
// nothing if v is no map.
func (v Value) All() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		d, _ := v.v.(dict)
		for _, m := range d {
			if !yield(m.Key, m.Value) {
				return
			}
		}
	}
}

// Equal reports whether v and w have the same kind and content; NaN equals
// itself.
func (v Value) Equal(w Value) bool {
	switch x := v.v.(type) {
	case float64:
		y, ok := w.v.(float64)
		return ok && (x == y || math.IsNaN(x) && math.IsNaN(y))
	case time.Time:
		y, ok := w.v.(time.Time)
		return ok && x.Equal(y)
	case array:
		y, ok := w.v.(array)
		return ok && slices.EqualFunc(x, y, Value.Equal)
	case dict:
		y, ok := w.v.(dict)
		return ok && slices.EqualFunc(x, y, func(m, n Member) bool { return m.Key == n.Key && m.Value.Equal(n.Value) })
	}
	switch w.v.(type) {
	case array, dict: // not comparable
		return false
	}
	return v.v == w.v
}

// Format implements fmt.Formatter: every verb prints the kind, and the length
// of what has one.
func (v Value) Format(f fmt.State, _ rune) {
	switch k := v.Kind(); k {
	case KindArray, KindMap, KindBinary:
		fmt.Fprintf(f, "llsd %s of %d", k, v.Len())
	default:
		fmt.Fprintf(f, "llsd %s", k)
	}
}

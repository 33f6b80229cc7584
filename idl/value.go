package idl

import (
	"encoding/hex"
	"fmt"
	"time"
)

// This file, value_encode.go and value_args.go are the runtime of the Go
// bindings that idl/gen writes: the Go types of the language's values, how
// they are written, and how arguments are read.

// ID is the Go type of a uuid. The zero value is the nil UUID.
type ID [16]byte

// ParseID reads the form 8-4-4-4-12, with digits of either case.
func ParseID(s string) (ID, error) {
	var u ID
	if !isUUID(s) {
		return u, fmt.Errorf("found no UUID, expected the form 8-4-4-4-12")
	}
	plain := s[:8] + s[9:13] + s[14:18] + s[19:23] + s[24:]
	if _, err := hex.Decode(u[:], []byte(plain)); err != nil {
		return ID{}, fmt.Errorf("found no UUID, expected hexadecimal digits")
	}
	return u, nil
}

// isUUID reports whether s has the form 8-4-4-4-12, in either case.
func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		switch {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return false
			}
		case c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F':
		default:
			return false
		}
	}
	return true
}

// IsZero reports whether u is the nil UUID.
func (u ID) IsZero() bool { return u == ID{} }

// Append appends u in lower case, 8-4-4-4-12.
func (u ID) Append(b []byte) []byte {
	b = hex.AppendEncode(b, u[0:4])
	b = hex.AppendEncode(append(b, '-'), u[4:6])
	b = hex.AppendEncode(append(b, '-'), u[6:8])
	b = hex.AppendEncode(append(b, '-'), u[8:10])
	return hex.AppendEncode(append(b, '-'), u[10:])
}

// AppendText implements encoding.TextAppender like [ID.Append].
func (u ID) AppendText(b []byte) ([]byte, error) { return u.Append(b), nil }

// MarshalText returns u as String does.
func (u ID) MarshalText() ([]byte, error) { return u.Append(nil), nil }

// UnmarshalText reads what ParseID reads.
func (u *ID) UnmarshalText(b []byte) (err error) {
	*u, err = ParseID(string(b))
	return err
}

// String returns u in lower case, 8-4-4-4-12.
func (u ID) String() string { return string(u.Append(make([]byte, 0, 36))) }

// EntryPath is the Go type of an entry: the absolute path of an entry in the
// space of the Host that returns it, such as "/issues/12".
type EntryPath string

// ManagerCacheUnavailable is the reason of a fact that nobody has observed.
const ManagerCacheUnavailable = "manager_cache_unavailable"

// FactOf is the Go type of a fact: a T that was observed, or unknown with a
// reason. The zero value is unknown for [ManagerCacheUnavailable], so that a
// fact that was forgotten is never read as a zero.
type FactOf[T any] struct {
	value  T
	reason string // empty means ManagerCacheUnavailable
	known  bool
}

// Known returns a fact that was observed to be v.
func Known[T any](v T) FactOf[T] { return FactOf[T]{value: v, known: true} }

// Unknown returns a fact that is unknown. The reason is a short constant such
// as [ManagerCacheUnavailable], which is also what an empty one means.
func Unknown[T any](reason string) FactOf[T] { return FactOf[T]{reason: reason} }

// Get returns the value and whether it is known.
func (f FactOf[T]) Get() (T, bool) { return f.value, f.known }

// Reason says why the fact is unknown; it is empty if the fact is known.
func (f FactOf[T]) Reason() string {
	if f.known {
		return ""
	}
	if f.reason == "" {
		return ManagerCacheUnavailable
	}
	return f.reason
}

// Selection is the Go type of a page: everything that an operation selected,
// in order, of which the binding projects only the page asked for. The zero
// value selects nothing.
type Selection[T any] struct {
	n  int
	at func(int) T
	// SourceTruncated says that there were more candidates than the bound
	// on what one call inspects, so that Len is not the whole (P13).
	SourceTruncated bool
}

// Select returns a selection of n items. The function at is called with
// 0 <= i < n for the items of one page, in order, by one goroutine, and
// before the call that returned the selection ends.
func Select[T any](n int, at func(i int) T, sourceTruncated bool) Selection[T] {
	return Selection[T]{n: n, at: at, SourceTruncated: sourceTruncated}
}

// Len returns the number of items selected.
func (s Selection[T]) Len() int { return s.n }

// At projects item i, 0 <= i < Len.
func (s Selection[T]) At(i int) T { return s.at(i) }

// Observation says what the facts of one snapshot rest on; the bindings write
// it into the envelope of an observed result (P3).
type Observation struct {
	Generation uint64    // of the session
	RegionID   ID        // the region observed
	ObservedAt time.Time // when; required. Of an archive: when it was saved
	SnapshotID string    // changes with every snapshot
	Cached     bool      // the snapshot served an earlier call too (P4)
	Source     string    // such as "session" or "archive"
	// AssumedObserver is the place, in region metres, that stands in for
	// an agent's that is not there; nil where nothing is assumed.
	AssumedObserver *[3]float64
}

// Observer is a snapshot that knows what it rests on.
type Observer interface {
	Observation() Observation
}

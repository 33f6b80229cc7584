package idl

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// Encoder writes one result as JSON in the form that [Operation.Shape] reads.
// The generated bindings use it; it keeps the first fault and reports it at
// the end. Not safe for concurrent use.
type Encoder struct {
	buf []byte
	err error
}

// NewEncoder returns an empty encoder.
func NewEncoder() *Encoder { return &Encoder{buf: make([]byte, 0, 4<<10)} }

// Result returns what was written, or the first fault.
func (e *Encoder) Result() (json.RawMessage, error) {
	if e.err != nil {
		return nil, e.err
	}
	return e.buf, nil
}

func (e *Encoder) fail(err error) {
	if e.err == nil {
		e.err = err
	}
}

// next writes the comma that a further member or element needs.
func (e *Encoder) next() {
	if n := len(e.buf); n > 0 && e.buf[n-1] != '{' && e.buf[n-1] != '[' {
		e.buf = append(e.buf, ',')
	}
}

// Open begins an object.
func (e *Encoder) Open() { e.buf = append(e.buf, '{') }

// Close ends an object.
func (e *Encoder) Close() { e.buf = append(e.buf, '}') }

// Field begins a member whose name needs no escapes.
func (e *Encoder) Field(name string) {
	e.next()
	e.buf = append(e.buf, '"')
	e.buf = append(e.buf, name...)
	e.buf = append(e.buf, '"', ':')
}

// Null writes null.
func (e *Encoder) Null() { e.buf = append(e.buf, "null"...) }

// Bool writes a bool.
func (e *Encoder) Bool(v bool) { e.buf = strconv.AppendBool(e.buf, v) }

// Int writes an int.
func (e *Encoder) Int(v int64) { e.buf = strconv.AppendInt(e.buf, v, 10) }

// Float writes a float. NaN and infinities are a fault; in a fact the
// generated code makes them unknown instead.
func (e *Encoder) Float(v float64) {
	if !IsFinite(v) {
		e.fail(errors.New("found a float that is not finite, expected a finite one"))
		return
	}
	e.buf = appendFloat(e.buf, v)
}

// IsFinite reports whether v is neither NaN nor infinite.
func IsFinite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// String writes the Host's own words.
func (e *Encoder) String(v string) { e.buf = appendQuoted(e.buf, v) }

// minTextBytes is what Text passes on of every text at least. It is far more
// than Shape keeps of a text without a declared maximum, since most of what a
// stranger wrote may be invisible.
const minTextBytes = 8 << 10

// Text writes a stranger's words; Shape cleans them. No more than four times
// the declared maximum (8 KiB at least) is passed on, so that one stranger's endless
// text cannot make a result too large to be read.
func (e *Encoder) Text(v string, declared int) {
	if limit := max(minTextBytes, 4*declared); len(v) > limit {
		v = v[:limit]
		for n := 0; n < utf8.UTFMax && len(v) > 0; n++ {
			if r, size := utf8.DecodeLastRuneInString(v); r != utf8.RuneError || size != 1 {
				break
			}
			v = v[:len(v)-1]
		}
	}
	e.buf = appendQuoted(e.buf, v)
}

// UUID writes a uuid.
func (e *Encoder) UUID(v ID) {
	e.buf = append(v.Append(append(e.buf, '"')), '"')
}

// Timestamp writes a timestamp.
func (e *Encoder) Timestamp(v time.Time) { e.Int(v.UnixMilli()) }

// Duration writes a duration, cut to whole milliseconds.
func (e *Encoder) Duration(v time.Duration) { e.Int(v.Milliseconds()) }

// Bytes writes bytes.
func (e *Encoder) Bytes(v []byte) {
	e.buf = append(base64.StdEncoding.AppendEncode(append(e.buf, '"'), v), '"')
}

// Entry writes an entry.
func (e *Encoder) Entry(v EntryPath) { e.buf = appendQuoted(e.buf, string(v)) }

// Unknown writes an unknown fact.
func (e *Encoder) Unknown(reason string) {
	e.Open()
	e.UnknownFields(reason)
	e.Close()
}

// UnknownFields writes the members of an unknown fact into an open object.
func (e *Encoder) UnknownFields(reason string) {
	if reason == "" { // known, but not in a way that can be written
		reason = ManagerCacheUnavailable
	}
	e.Field("status")
	e.buf = append(e.buf, `"unknown"`...)
	e.Field("reason")
	e.String(reason)
}

// Observation writes the members of an envelope into an open object; ages are
// counted to now.
func (e *Encoder) Observation(o Observation, now time.Time) {
	if o.ObservedAt.IsZero() {
		e.fail(errors.New("found an observation without a time, expected when it was made"))
		return
	}
	e.Field("generation")
	e.buf = strconv.AppendUint(e.buf, o.Generation, 10)
	e.Field("region_id")
	e.UUID(o.RegionID)
	e.Field("observed_unix_millis")
	e.Timestamp(o.ObservedAt)
	e.Field("age_millis")
	e.Duration(max(0, now.Sub(o.ObservedAt)))
	e.Field("snapshot_id")
	e.String(o.SnapshotID)
	e.Field("freshness")
	if o.Cached {
		e.buf = append(e.buf, `"cached"`...)
	} else {
		e.buf = append(e.buf, `"observed"`...)
	}
	e.Field("provenance")
	e.Open()
	e.Field("source")
	e.String(o.Source)
	if p := o.AssumedObserver; p != nil {
		e.Field("assumed_observer")
		e.Open()
		for i, axis := range [...]string{"x", "y", "z"} {
			e.Field(axis)
			e.Float(p[i])
		}
		e.Close()
	}
	e.Close()
}

// EncodePage writes the members of one page of s into an open object,
// projecting no item but the page's. A page past the end is empty.
func EncodePage[T any](e *Encoder, s Selection[T], page, pageSize int64, item func(*Encoder, T)) {
	if page < 1 || pageSize < 1 || page > 1<<31 || pageSize > 1<<31 {
		e.fail(fmt.Errorf("found page %d of %d items, expected both to be at least 1", page, pageSize))
		return
	}
	total := int64(s.Len())
	start := min((page-1)*pageSize, total)
	end := min(start+pageSize, total)
	e.Field("items")
	e.buf = append(e.buf, '[')
	for i := start; i < end; i++ {
		e.next()
		item(e, s.At(int(i)))
	}
	e.buf = append(e.buf, ']')
	e.Field("page")
	e.Int(page)
	e.Field("page_size")
	e.Int(pageSize)
	e.Field("total_matching")
	e.Int(total)
	e.Field("next_page")
	if end < total {
		e.Int(page + 1)
	} else {
		e.Null()
	}
	e.Field("truncated")
	e.Bool(end < total)
	e.Field("source_truncated")
	e.Bool(s.SourceTruncated)
}

// EncodeList writes a list.
func EncodeList[T any](e *Encoder, list []T, item func(*Encoder, T)) {
	e.buf = append(e.buf, '[')
	for _, v := range list {
		e.next()
		item(e, v)
	}
	e.buf = append(e.buf, ']')
}

// EncodeMap writes a map in the order of its keys.
func EncodeMap[T any](e *Encoder, m map[string]T, item func(*Encoder, T)) {
	e.Open()
	for _, k := range slices.Sorted(maps.Keys(m)) {
		e.next()
		e.String(k)
		e.buf = append(e.buf, ':')
		item(e, m[k])
	}
	e.Close()
}

const hexDigits = "0123456789abcdef"

// appendQuoted appends s as a JSON string, escaping no more than JSON
// asks for; what is not UTF-8 becomes U+FFFD.
func appendQuoted[S string | []byte](b []byte, s S) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c < utf8.RuneSelf {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(string(s[i:min(i+utf8.UTFMax, len(s))]))
			if r != utf8.RuneError || size != 1 {
				i += size
				continue
			}
			b = append(append(b, s[start:i]...), "\ufffd"...)
			i++
			start = i
			continue
		}
		b = append(b, s[start:i]...)
		switch c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, '\\', 'n')
		case '\r':
			b = append(b, '\\', 'r')
		case '\t':
			b = append(b, '\\', 't')
		default:
			b = append(b, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		start = i
	}
	return append(append(b, s[start:]...), '"')
}

package idl

import (
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/wipagent/wipagent/idl/cleantext"
)

// shaper is one run of Shape: it reads src and writes out in one pass. A
// member that comes before its turn is skipped, and read when its turn comes.
type shaper struct {
	src     string
	pos     int
	depth   int
	out     []byte
	opt     ShapeOptions
	maxPage float64 // as in shapePlan
	maxOut  int     // bytes of out

	// offsets is a stack: where the members of the open objects stand in
	// src; 0 means not seen.
	offsets []int
	inPage  int         // open pages
	edits   []shapeEdit // what shorten may change, in order of out

	entries []string
	known   map[string]bool // entries as a set
}

// value shapes one value.
func (s *shaper) value(n *shapeNode) *ResultError {
	c := s.space()
	if n.optional && c == 'n' {
		return s.null()
	}
	if n.object != nil {
		if c != '{' {
			return mistyped(c, n.object.name)
		}
		return s.object(n.object)
	}
	if n.fact && c == '{' {
		return s.object(unknownFact)
	}
	switch n.Kind {
	case Bool:
		return s.boolean(c)
	case Int, Timestamp, Duration:
		_, err := s.integer(n, c)
		return err
	case Float:
		return s.float(n, c)
	case List:
		_, err := s.list(n, c)
		return err
	case Map:
		return s.mapping(n, c)
	}
	if c != '"' {
		return mistyped(c, n.Type.String())
	}
	text, err := s.str()
	if err != nil {
		return err
	}
	return s.stringValue(n, text)
}

// unknownFact is the object that an unknown scalar is.
var unknownFact = func() *shapeObject {
	o := newObject("unknown fact", []shapeSlot{newSlot("status", slotStatus, nil), newSlot("reason", slotReason, nil)})
	o.scalar = true
	return o
}()

func (s *shaper) null() *ResultError {
	s.out = append(s.out, "null"...)
	return s.word("null")
}

func (s *shaper) boolean(c byte) *ResultError {
	start := s.pos
	var err *ResultError
	switch c {
	case 't':
		err = s.word("true")
	case 'f':
		err = s.word("false")
	default:
		return mistyped(c, "bool")
	}
	s.out = append(s.out, s.src[start:s.pos]...)
	return err
}

// integer shapes an int, a timestamp or a duration and returns it.
func (s *shaper) integer(n *shapeNode, c byte) (int64, *ResultError) {
	if found(c) != "number" {
		return 0, mistyped(c, n.Type.String())
	}
	text, form, err := s.number()
	if err != nil {
		return 0, err
	}
	if form != wholeNumber {
		return 0, &ResultError{Expected: n.Type.String(), Found: "a number with a fraction or an exponent"}
	}
	v, parse := strconv.ParseInt(text, 10, 64)
	if parse != nil || v > maxSafeInt || v < -maxSafeInt {
		return 0, &ResultError{Expected: n.Type.String(), Found: "an integer beyond 2^53-1"}
	}
	if !n.Range.holds(float64(v)) {
		return 0, outOfRange(n.Type)
	}
	s.out = strconv.AppendInt(s.out, v, 10)
	return v, nil
}

// maxPlainNumber is the length up to which a number without exponent is passed
// on as written: it is finite, and no reader chokes on it.
const maxPlainNumber = 32

func (s *shaper) float(n *shapeNode, c byte) *ResultError {
	if found(c) != "number" {
		return mistyped(c, n.Type.String())
	}
	text, form, err := s.number()
	if err != nil {
		return err
	}
	plain := len(text) <= maxPlainNumber && form != withExponent
	if plain && n.Range == nil {
		s.out = append(s.out, text...)
		return nil
	}
	v, parse := strconv.ParseFloat(text, 64)
	switch {
	case parse != nil:
		return &ResultError{Expected: n.Type.String(), Found: "a number beyond 64 bits"}
	case !n.Range.holds(v):
		return outOfRange(n.Type)
	case plain:
		s.out = append(s.out, text...)
	default:
		s.out = appendFloat(s.out, v)
	}
	return nil
}

func outOfRange(t *Type) *ResultError {
	return &ResultError{Expected: t.String(), Found: "a value outside the range"}
}

// list shapes a list and returns its number of elements.
func (s *shaper) list(n *shapeNode, c byte) (count int, err *ResultError) {
	if c != '[' {
		return 0, mistyped(c, n.Type.String())
	}
	s.pos++
	if err := s.enter(); err != nil {
		return 0, err
	}
	s.out = append(s.out, '[')
	for first := true; ; count++ {
		if more, err := s.more(&first, ']'); err != nil {
			return 0, err
		} else if !more {
			break
		}
		if count > 0 {
			s.out = append(s.out, ',')
		}
		if err := s.value(n.elem); err != nil {
			return 0, err.in(strconv.Itoa(count))
		}
		if err := s.room(); err != nil {
			return 0, err
		}
	}
	s.out = append(s.out, ']')
	if !n.Range.holds(float64(count)) {
		return 0, &ResultError{Expected: n.Type.String(), Found: fmt.Sprintf("%d elements", count)}
	}
	return count, nil
}

// room reports output that grew beyond all bounds.
func (s *shaper) room() *ResultError {
	if len(s.out) <= s.maxOut {
		return nil
	}
	return &ResultError{Expected: fmt.Sprintf("at most %d bytes when shaped", s.maxOut), Found: "more"}
}

// stringValue shapes every kind of value that is a string in JSON.
func (s *shaper) stringValue(n *shapeNode, v string) *ResultError {
	switch n.Kind {
	case Text:
		s.text(n, v)
		return nil
	case String:
		if err := checkString(n.Type, v); err != nil {
			return err
		}
		if s.opt.UntrustedStrings {
			return checkString(n.Type, s.text(n, v))
		}
		s.out = appendQuoted(s.out, v)
		return nil
	case UUID:
		if !isUUID(v) {
			return &ResultError{Expected: "uuid", Found: "another string"}
		}
		v = strings.ToLower(v)
	case Bytes:
		b, err := base64.StdEncoding.Strict().DecodeString(v)
		if err != nil || strings.ContainsAny(v, "\r\n") {
			return &ResultError{Expected: "bytes in base64", Found: "another string"}
		}
		if !n.Range.holds(float64(len(b))) {
			return outOfRange(n.Type)
		}
	case EnumOf:
		if !n.Enum.has(v) {
			return &ResultError{Expected: "a label of " + n.Enum.Name, Found: "another string"}
		}
	case Entry:
		return s.entry(v)
	default:
		return &ResultError{Expected: n.Type.String(), Found: "string"}
	}
	s.out = append(append(append(s.out, '"'), v...), '"') // nothing in it to escape
	return nil
}

func (e *Enum) has(label string) bool {
	for i := range e.Labels {
		if e.Labels[i].Name == label {
			return true
		}
	}
	return false
}

// checkString checks a string's refinement.
func checkString(t *Type, v string) *ResultError {
	if !t.Range.holds(float64(len(v))) {
		return outOfRange(t)
	}
	if t.Pattern != nil && !t.Pattern.MatchString(v) {
		return &ResultError{Expected: t.String(), Found: "a string that does not match"}
	}
	return nil
}

// text writes a stranger's words, cleaned and cut, and returns them. A declared
// minimum is not checked: nothing of what is long enough may be left.
func (s *shaper) text(n *shapeNode, v string) string {
	limit := DefaultTextBytes
	if n.Range != nil && n.Range.HasMax {
		limit = int(min(n.Range.Max, math.MaxInt32))
	}
	clean := ""
	if limit > 0 { // 0 would mean no cut
		clean, _ = cleantext.Clean(v, limit)
	}
	start := len(s.out)
	s.out = appendQuoted(s.out, clean)
	refined := n.Kind == String && (n.Pattern != nil || n.Range != nil && n.Range.HasMin)
	if s.inPage > 0 && len(clean) > minShortened && !refined {
		s.edits = append(s.edits, shapeEdit{start: start, end: len(s.out)})
	}
	return clean
}

// entry writes an entry's path as MapEntry gives it.
func (s *shaper) entry(path string) *ResultError {
	if !isEntryPath(path) || !isShowable(path) {
		return &ResultError{Expected: "an entry's absolute path", Found: "another string"}
	}
	if s.opt.MapEntry != nil {
		mapped, err := s.opt.MapEntry(path)
		if err != nil {
			return &ResultError{Expected: "a path that leads to an entry", Found: "one that does not"}
		}
		path = mapped
	}
	s.out = appendQuoted(s.out, path)
	if !s.known[path] {
		if s.known == nil {
			s.known = map[string]bool{}
		}
		s.known[path] = true
		s.entries = append(s.entries, path)
	}
	return nil
}

// isShowable reports whether a path can be shown as it is: cleaning would take
// nothing out of it. A path cannot be cleaned and still lead anywhere.
func isShowable(path string) bool {
	for segment := range strings.SplitSeq(path, "/") {
		if clean, _ := cleantext.Clean(segment, 0); clean != segment {
			return false
		}
	}
	return true
}

// appendFloat appends a finite float in the shortest form that reads back the
// same, with an exponent only where the number is very large or very small.
func appendFloat(b []byte, v float64) []byte {
	format := byte('f')
	if a := math.Abs(v); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'e'
	}
	return strconv.AppendFloat(b, v, format, -1, 64)
}

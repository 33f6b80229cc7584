package idl

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// sentKind is the JSON kind of a value as it was sent.
type sentKind uint8

const (
	sentNull sentKind = iota
	sentBool
	sentNumber
	sentString
	sentArray
	sentObject
)

// sentValue is one value of a record as it was sent, before anything is made
// of it. Numbers stay text, so that none is rounded unseen.
type sentValue struct {
	kind  sentKind
	text  string       // of a bool or number: as written; of a string: decoded
	items []sentMember // of an object: its members, in order, twice if sent twice; of an array: its elements
	slip  string       // what is wrong with the form; the value is as well as it could be read
	lost  bool         // the form is so wrong that the content cannot be told
	cut   bool         // of a record: the text ends before it does
}

type sentMember struct {
	key   string // empty in an array
	slip  string // what is wrong with the form of the key
	value sentValue
}

// argStep is one step down into a record.
type argStep struct {
	key   string
	index int // of an array's element; -1 if key is meant
}

// scanner reads a JSON text into sentValues. It is strict, as encoding/json
// is not about duplicate keys, surrogates and UTF-8, and as gjson is not about
// syntax at all; but where it is plain what was meant it notes a slip and goes
// on, so that all faults of a record are found at once.
type scanner struct {
	src    string
	pos    int
	depth  int
	broken string    // why the text cannot be read on; empty if it can
	trail  []argStep // where it broke, innermost first

	comment bool // one was passed over
	cut     bool // brackets were taken as closed at the end of the text
}

// scanRecord reads one JSON text. If it cannot be read to its end, broken says
// why and trail leads to the place.
func scanRecord(src string) (v sentValue, broken string, trail []argStep) {
	s := scanner{src: src}
	v = s.value()
	v.cut = s.cut
	s.space()
	if s.comment && v.slip == "" {
		v.slip = "found a comment, expected none"
	}
	if s.broken == "" && s.pos < len(s.src) {
		if strings.Trim(s.src[s.pos:], "}] \t\r\n") == "" {
			v.slip = "found a closing bracket too many at the end"
		} else {
			s.stop("the end of the record")
		}
	}
	return v, s.broken, s.trail
}

func (s *scanner) space() {
	for s.pos < len(s.src) {
		switch s.src[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		case '/':
			if !s.skipComment() {
				return
			}
		default:
			return
		}
	}
}

// skipComment steps over a comment as other languages have it.
func (s *scanner) skipComment() bool {
	rest := s.src[s.pos:]
	end := -1
	switch {
	case strings.HasPrefix(rest, "//"):
		end = strings.IndexByte(rest, '\n')
	case strings.HasPrefix(rest, "/*"):
		if end = strings.Index(rest[2:], "*/"); end >= 0 {
			end += 3
		}
	}
	if end < 0 {
		return false
	}
	s.pos += end + 1
	s.comment = true
	return true
}

// peek returns the next byte after white space, or 0 at the end.
func (s *scanner) peek() byte {
	s.space()
	if s.pos == len(s.src) {
		return 0
	}
	return s.src[s.pos]
}

// stop gives up at the present place.
func (s *scanner) stop(expected string) {
	found := "the end of the text"
	if s.pos < len(s.src) {
		_, n := utf8.DecodeRuneInString(s.src[s.pos:])
		found = quoteSent(s.src[s.pos : s.pos+n])
	}
	s.broken = fmt.Sprintf("not JSON: found %s at byte %d, expected %s", found, s.pos, expected)
}

func (s *scanner) value() sentValue {
	switch c := s.peek(); {
	case c == '{':
		return s.object()
	case c == '[':
		return s.array()
	case c == '"' || c == '\'':
		return s.string()
	case isWord(c):
		return s.word()
	}
	s.stop("a value")
	return sentValue{}
}

// enter counts a level down, and reports whether it may be taken.
func (s *scanner) enter() bool {
	if s.depth++; s.depth > maxArgumentDepth {
		s.broken = fmt.Sprintf("found more than %d levels of nesting, expected at most %d", maxArgumentDepth, maxArgumentDepth)
		return false
	}
	s.pos++
	return true
}

func (s *scanner) object() sentValue {
	v := sentValue{kind: sentObject}
	if !s.enter() {
		return v
	}
	defer func() { s.depth-- }()
	for s.another(&v, '}') {
		var key sentValue
		switch c := s.peek(); {
		case c == '"' || c == '\'':
			key = s.string()
		case isWord(c):
			key = s.bareKey()
		default:
			s.stop("a key in double quotes")
			return v
		}
		switch s.peek() {
		case ':':
		case '=':
			key.slip = "found \"=\" after the key, expected a colon"
		default:
			s.stop("a colon after the key")
			s.trail = append(s.trail, argStep{key.text, -1})
			return v
		}
		s.pos++
		if v.items == nil {
			v.items = make([]sentMember, 0, 4)
		}
		m := sentMember{key.text, key.slip, s.value()}
		m.value.lost = m.value.lost || key.lost
		v.items = append(v.items, m)
		if s.broken != "" {
			s.trail = append(s.trail, argStep{key.text, -1})
			return v
		}
	}
	return v
}

func (s *scanner) array() sentValue {
	v := sentValue{kind: sentArray}
	if !s.enter() {
		return v
	}
	defer func() { s.depth-- }()
	for s.another(&v, ']') {
		v.items = append(v.items, sentMember{value: s.value()})
		if s.broken != "" {
			s.trail = append(s.trail, argStep{"", len(v.items) - 1})
			return v
		}
	}
	return v
}

// another steps over what stands between members, and reports whether one
// more member of v follows.
func (s *scanner) another(v *sentValue, end byte) bool {
	first, comma := len(v.items) == 0, false
	for s.peek() == ',' {
		if first || comma {
			v.slip = "found a comma without a value, expected one comma between two values"
		}
		comma = true
		s.pos++
	}
	switch c := s.peek(); {
	case c == end:
		if comma {
			v.slip = fmt.Sprintf("found a comma before the closing %q, expected none", end)
		}
		s.pos++
		return false
	case c == 0 && s.pos == len(s.src):
		s.stop(fmt.Sprintf("a closing %q", end))
		if !first && !comma && v.items[len(v.items)-1].value.whole() {
			v.slip, s.broken, s.cut = s.broken, "", true
		}
		return false
	case !first && !comma:
		if c == '}' || c == ']' || c == ':' {
			s.stop(fmt.Sprintf("a comma or a closing %q", end))
			return false
		}
		v.slip = "found two values without a comma between them"
	}
	return true
}

// whole reports whether a value that the text ends with is all that was meant to
// be there: of a number or a word more may have followed.
func (v *sentValue) whole() bool {
	return v.kind != sentNumber && (v.kind != sentString || v.slip == "")
}

// string reads a string in double quotes, and as a slip one in single quotes.
func (s *scanner) string() sentValue {
	v := sentValue{kind: sentString}
	quote := s.src[s.pos]
	if quote == '\'' {
		v.slip = "found single quotes, expected double quotes"
	}
	s.pos++
	start := s.pos
	for s.pos < len(s.src) && s.src[s.pos] != quote && s.src[s.pos] != '\\' && s.src[s.pos] >= ' ' {
		s.pos++
	}
	if s.pos < len(s.src) && s.src[s.pos] == quote { // the usual case: nothing to decode
		v.text = s.src[start:s.pos]
		s.pos++
	} else {
		v.text = s.decodeString(&v, start, quote)
	}
	if s.broken == "" && !utf8.ValidString(v.text) {
		v.slip, v.lost = "found bytes that are not UTF-8, expected UTF-8", true
	}
	return v
}

// decodeString reads on from the first character that needs it.
func (s *scanner) decodeString(v *sentValue, start int, quote byte) string {
	var b strings.Builder
	b.WriteString(s.src[start:s.pos])
	for s.pos < len(s.src) {
		c := s.src[s.pos]
		s.pos++
		switch {
		case c == quote:
			return b.String()
		case c == '\\':
			s.escape(v, &b)
		case c < ' ':
			v.slip = fmt.Sprintf("found the control character U+%04X in a string, expected an escape such as \\n", c)
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	s.stop(fmt.Sprintf("a closing %c", quote))
	return b.String()
}

const simpleEscapes, escaped = `"\/bfnrt`, "\"\\/\b\f\n\r\t"

// escape reads what follows a backslash.
func (s *scanner) escape(v *sentValue, b *strings.Builder) {
	if s.pos == len(s.src) {
		return // the caller reports the missing end
	}
	c := s.src[s.pos]
	if i := strings.IndexByte(simpleEscapes, c); i >= 0 {
		b.WriteByte(escaped[i])
		s.pos++
		return
	}
	if c != 'u' {
		v.slip = "found a backslash before a character that needs none, expected one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u"
		v.lost = v.lost || c != '\'' // \' is plain enough; \x41 or \d is not
		return
	}
	s.pos++
	r, ok := s.hex4()
	if ok && utf16.IsSurrogate(r) {
		low := rune(-1)
		if strings.HasPrefix(s.src[s.pos:], `\u`) {
			mark := s.pos
			s.pos += 2
			if low, ok = s.hex4(); !ok || utf16.DecodeRune(r, low) == utf8.RuneError {
				s.pos = mark
			}
		}
		if r = utf16.DecodeRune(r, low); r == utf8.RuneError {
			v.slip, v.lost = "found half of a surrogate pair, expected both halves, such as \\ud83d\\ude00", true
			b.WriteRune(utf8.RuneError)
			return
		}
	}
	if !ok {
		v.slip, v.lost = "found \\u without four hexadecimal digits", true
		b.WriteRune(utf8.RuneError)
		return
	}
	b.WriteRune(r)
}

// hex4 reads four hexadecimal digits.
func (s *scanner) hex4() (rune, bool) {
	var r rune
	for i := range 4 {
		if s.pos+i >= len(s.src) {
			return 0, false
		}
		switch c := s.src[s.pos+i]; {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case 'A' <= c && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	s.pos += 4
	return r, true
}

func isWord(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		c == '-' || c == '+' || c == '.' || c == '_' || c >= utf8.RuneSelf
}

// token reads a run of word characters.
func (s *scanner) token() string {
	start := s.pos
	for s.pos < len(s.src) && isWord(s.src[s.pos]) {
		s.pos++
	}
	return s.src[start:s.pos]
}

func (s *scanner) bareKey() sentValue {
	v := sentValue{kind: sentString, text: s.token(), slip: "found a key without quotes, expected double quotes"}
	v.lost = !utf8.ValidString(v.text)
	return v
}

// word reads a number, true, false or null, and as slips what other languages
// write for them and words without quotes.
func (s *scanner) word() sentValue {
	w := s.token()
	switch w {
	case "true", "false":
		return sentValue{kind: sentBool, text: w}
	case "null":
		return sentValue{kind: sentNull}
	case "True", "False":
		return sentValue{kind: sentBool, text: strings.ToLower(w), slip: fmt.Sprintf("found %s, expected %s", w, strings.ToLower(w))}
	case "None", "nil", "undefined":
		return sentValue{kind: sentNull, slip: fmt.Sprintf("found %s, expected null", w)}
	}
	if isNumber(w) {
		return sentValue{kind: sentNumber, text: w}
	}
	if n := plainNumber(w); isNumber(n) {
		return sentValue{kind: sentNumber, text: n, slip: fmt.Sprintf("found %s, expected a JSON number such as %s", quoteSent(w), quoteSent(n))}
	}
	v := sentValue{kind: sentString, text: w, lost: !utf8.ValidString(w)}
	switch strings.ToLower(strings.TrimLeft(w, "+-")) {
	case "nan", "inf", "infinity":
		v.slip = fmt.Sprintf("found %s, expected a finite number (JSON has no other)", quoteSent(w))
	default:
		v.slip = fmt.Sprintf("found %s without quotes, expected a JSON value", quoteSent(w))
	}
	return v
}

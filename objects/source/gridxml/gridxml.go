// Package gridxml reads the XML that grids write and no strict parser takes:
// OpenSimulator's archives, login replies and inventory answers hold
// characters that XML 1.0 forbids, as they are or as references, and
// ampersands that nobody escaped.
package gridxml

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// OpenSimulator writes XML that no strict parser takes: the declaration says
// utf-16 while the bytes are UTF-8, and characters that XML forbids appear as
// references (&#x1b;) or as they are. encoding/xml refuses all three, so each
// forbidden character travels through it in a private form, an escape
// character and one that carries the value, and is restored afterwards
// (Unescape). An escape character in the text itself is escaped too, so that
// the way there and back is lossless.
const (
	escape     = '\U0010FFFD'
	escapeBase = 0x10F000
	escapeSelf = 0x100 // stands for the escape character itself
	escapeFFFE = 0x101
	escapeFFFF = 0x102
)

// MaxDepth is how many elements may lie within each other.
const MaxDepth = 64

// ErrDepth says that elements are nested over MaxDepth deep.
var ErrDepth = fmt.Errorf("found elements nested over %d deep", MaxDepth)

// sanitizer turns the simulator's XML into XML that encoding/xml accepts.
type sanitizer struct {
	src *bufio.Reader
	out []byte // sanitized bytes
	// rest is the end of out that was not handed on yet.
	rest []byte
	run  int // bytes since the last tag began
	most int // of run
	// tail holds the last bytes read, to see where CDATA and comments begin
	// and end: references in those are plain text.
	tail    [9]byte
	literal string // what ends the literal section; empty outside of one
	err     error
}

// NewDecoder returns a decoder over a grid's form of XML; a tag and the text
// after it may have most bytes. Texts come in a form that Unescape restores.
// The declared encoding is ignored: UTF-8 and UTF-16 are told apart by the
// bytes. Elements nested over MaxDepth deep are ErrDepth.
func NewDecoder(r io.Reader, most int) *xml.Decoder {
	br := bufio.NewReader(r)
	if wide := utf16Order(br); wide != nil {
		br = bufio.NewReader(wide)
	}
	d := xml.NewDecoder(&sanitizer{src: br, most: most})
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	return xml.NewTokenDecoder(&shallow{d: d})
}

// shallow refuses elements nested too deep, which would cost memory even
// where they are skipped.
type shallow struct {
	d     *xml.Decoder
	depth int
}

// Token implements xml.TokenReader.
func (s *shallow) Token() (xml.Token, error) {
	t, err := s.d.Token()
	switch t.(type) {
	case xml.StartElement:
		if s.depth++; s.depth > MaxDepth {
			return nil, ErrDepth
		}
	case xml.EndElement:
		s.depth--
	}
	return t, err
}

// Read implements io.Reader.
func (s *sanitizer) Read(p []byte) (int, error) {
	for len(s.rest) == 0 {
		if s.err != nil {
			return 0, s.err
		}
		s.out = s.out[:0]
		for len(s.out) < 2048 && s.err == nil {
			s.step()
		}
		s.rest = s.out
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// step moves one character from src to out.
func (s *sanitizer) step() {
	r, size, err := s.src.ReadRune()
	if err != nil {
		s.err = err
		return
	}
	if s.run += size; s.run > s.most {
		s.err = fmt.Errorf("found a tag and text of over %d bytes", s.most)
		return
	}
	if size == 1 {
		s.track(byte(r))
	}
	switch {
	case r == '<' && s.literal == "":
		s.run = 0
		s.out = append(s.out, '<')
	case r == '&' && s.literal == "":
		s.reference()
	case r == utf8.RuneError && size == 1:
		s.out = utf8.AppendRune(s.out, utf8.RuneError)
	case r == '\ufeff' && s.tail == [9]byte{}:
		// A byte order mark before anything else is no text.
	default:
		s.emit(r)
	}
}

// track notices the borders of comments and CDATA sections.
func (s *sanitizer) track(b byte) {
	copy(s.tail[:], s.tail[1:])
	s.tail[len(s.tail)-1] = b
	switch {
	case s.literal != "":
		if bytes.HasSuffix(s.tail[:], []byte(s.literal)) {
			s.literal = ""
		}
	case bytes.HasSuffix(s.tail[:], []byte("<!--")):
		s.literal = "-->"
	case string(s.tail[:]) == "<![CDATA[":
		s.literal = "]]>"
	}
}

// reference handles what follows an ampersand: a numeric reference to a
// forbidden character is replaced by its private form, other references
// stay, and an ampersand that begins none is text ("Tom & Jerry").
func (s *sanitizer) reference() {
	first, size, ok := s.numeric(0)
	if !ok {
		s.out = append(s.out, '&')
		if !s.named() {
			s.out = append(s.out, "amp;"...)
		}
		return
	}
	if utf16.IsSurrogate(first) {
		// A character outside the basic plane may be written as two halves.
		second, more, ok := s.surrogate(size)
		if pair := utf16.DecodeRune(first, second); ok && pair != utf8.RuneError {
			s.discard(size + more)
			s.emit(pair)
			return
		}
		first = utf8.RuneError
	}
	if allowed(first) && first != escape {
		s.out = append(s.out, '&')
		return
	}
	s.discard(size)
	s.emit(first)
}

// named reports whether one of the names that XML itself defines follows. No
// grid defines others.
func (s *sanitizer) named() bool {
	ahead, _ := s.src.Peek(len("quot;"))
	for _, name := range []string{"amp;", "lt;", "gt;", "quot;", "apos;"} {
		if bytes.HasPrefix(ahead, []byte(name)) {
			return true
		}
	}
	return false
}

// numeric reads "#x1b;" or "#27;" at an offset without consuming it.
func (s *sanitizer) numeric(offset int) (r rune, size int, ok bool) {
	const longest = 14 // "#x" and leading zeros beyond any real reference
	ahead, _ := s.src.Peek(offset + longest)
	if len(ahead) <= offset {
		return 0, 0, false
	}
	text, _, ok := strings.Cut(string(ahead[offset:]), ";")
	digits, found := strings.CutPrefix(text, "#")
	if !ok || !found {
		return 0, 0, false
	}
	base := 10
	if hex, found := strings.CutPrefix(digits, "x"); found {
		digits, base = hex, 16
	}
	v, err := strconv.ParseUint(digits, base, 32)
	if err != nil || v > utf8.MaxRune {
		return 0, 0, false
	}
	return rune(v), len(text) + 1, true
}

// surrogate reads a second reference right after the first.
func (s *sanitizer) surrogate(offset int) (rune, int, bool) {
	ahead, _ := s.src.Peek(offset + 1)
	if len(ahead) <= offset || ahead[offset] != '&' {
		return 0, 0, false
	}
	r, size, ok := s.numeric(offset + 1)
	return r, size + 1, ok
}

func (s *sanitizer) discard(n int) {
	// The bytes were peeked at, so they are there.
	_, _ = s.src.Discard(n)
	s.run += n
}

// emit appends a character, in its private form where XML forbids it.
func (s *sanitizer) emit(r rune) {
	switch {
	case r == escape:
		s.private(escapeSelf)
	case allowed(r):
		s.out = utf8.AppendRune(s.out, r)
	case r == 0xFFFE:
		s.private(escapeFFFE)
	case r == 0xFFFF:
		s.private(escapeFFFF)
	case r < 0x20:
		s.private(r)
	default:
		s.out = utf8.AppendRune(s.out, utf8.RuneError)
	}
}

func (s *sanitizer) private(v rune) {
	s.out = utf8.AppendRune(s.out, escape)
	s.out = utf8.AppendRune(s.out, escapeBase+v)
}

// allowed reports whether XML 1.0 has the character (production 2, Char).
func allowed(r rune) bool {
	return r == '\t' || r == '\n' || r == '\r' ||
		r >= 0x20 && r <= 0xD7FF || r >= 0xE000 && r <= 0xFFFD ||
		r >= 0x10000 && r <= utf8.MaxRune
}

// Unescape restores the characters that the sanitizer disguised.
func Unescape(s string) string {
	if !strings.ContainsRune(s, escape) {
		return s
	}
	var b strings.Builder
	disguised := false
	for _, r := range s {
		switch {
		case !disguised && r == escape:
			disguised = true
			continue
		case !disguised:
			b.WriteRune(r)
		case r == escapeBase+escapeSelf:
			b.WriteRune(escape)
		case r == escapeBase+escapeFFFE:
			b.WriteRune(0xFFFE)
		case r == escapeBase+escapeFFFF:
			b.WriteRune(0xFFFF)
		default:
			b.WriteRune(r - escapeBase)
		}
		disguised = false
	}
	return b.String()
}

// utf16Order returns a UTF-8 reader if the bytes really are UTF-16, which
// other tools than the simulator may write; nil if they are not.
func utf16Order(br *bufio.Reader) io.Reader {
	head, _ := br.Peek(2)
	switch string(head) {
	case "\xff\xfe", "<\x00":
		return &utf16Reader{src: br, low: 0}
	case "\xfe\xff", "\x00<":
		return &utf16Reader{src: br, low: 1}
	}
	return nil
}

// utf16Reader decodes UTF-16; low is the index of a unit's low byte.
type utf16Reader struct {
	src *bufio.Reader
	low int
	out []byte
}

// Read implements io.Reader.
func (u *utf16Reader) Read(p []byte) (int, error) {
	for len(u.out) == 0 {
		r, err := u.unit()
		if err != nil {
			return 0, err
		}
		if utf16.IsSurrogate(r) {
			second, err := u.unit()
			if err != nil {
				return 0, err
			}
			r = utf16.DecodeRune(r, second)
		}
		u.out = utf8.AppendRune(u.out[:0], r)
	}
	n := copy(p, u.out)
	u.out = u.out[n:]
	return n, nil
}

func (u *utf16Reader) unit() (rune, error) {
	var pair [2]byte
	if _, err := io.ReadFull(u.src, pair[:]); err != nil {
		return 0, err
	}
	return rune(pair[1-u.low])<<8 | rune(pair[u.low]), nil
}

package idl

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// This file reads JSON strictly, one token at a time: no duplicate is merged
// and nothing that is not UTF-8 is replaced. shaper.pos is always within or at
// the end of shaper.src.

// space moves to the next token and returns its first byte, 0 at the end.
func (s *shaper) space() byte {
	for ; s.pos < len(s.src); s.pos++ {
		if c := s.src[s.pos]; c > ' ' || c != ' ' && c != '\n' && c != '\r' && c != '\t' {
			return c
		}
	}
	return 0
}

// broken reports JSON that is not JSON.
func (s *shaper) broken() *ResultError {
	return &ResultError{Expected: "JSON", Found: fmt.Sprintf("a syntax fault at byte %d", s.pos)}
}

// found names the kind of the value that begins with c.
func found(c byte) string {
	switch {
	case c == '{':
		return "object"
	case c == '[':
		return "array"
	case c == '"':
		return "string"
	case c == 't' || c == 'f':
		return "bool"
	case c == 'n':
		return "null"
	case c == '-' || c >= '0' && c <= '9':
		return "number"
	case c == 0:
		return "nothing"
	}
	return "no JSON value"
}

// mistyped reports a value of another kind than expected.
func mistyped(c byte, expected string) *ResultError {
	return &ResultError{Expected: expected, Found: found(c)}
}

// in puts a step before the error's path.
func (e *ResultError) in(step string) *ResultError {
	e.Path = "/" + step + e.Path
	return e
}

// word consumes a literal such as true.
func (s *shaper) word(w string) *ResultError {
	if !strings.HasPrefix(s.src[s.pos:], w) {
		return s.broken()
	}
	s.pos += len(w)
	return nil
}

// numberForm is how a number is written.
type numberForm uint8

const (
	wholeNumber numberForm = iota // neither fraction nor exponent
	withFraction
	withExponent // perhaps with a fraction too
)

// number consumes a number and returns it as written.
func (s *shaper) number() (text string, form numberForm, err *ResultError) {
	start := s.pos
	if s.pos < len(s.src) && s.src[s.pos] == '-' {
		s.pos++
	}
	first := s.pos
	n := s.digits()
	if n == 0 || n > 1 && s.src[first] == '0' {
		return "", 0, s.broken()
	}
	if s.pos < len(s.src) && s.src[s.pos] == '.' {
		s.pos++
		form = withFraction
		if s.digits() == 0 {
			return "", 0, s.broken()
		}
	}
	if s.pos < len(s.src) && (s.src[s.pos]|0x20) == 'e' {
		s.pos++
		form = withExponent
		if s.pos < len(s.src) && (s.src[s.pos] == '+' || s.src[s.pos] == '-') {
			s.pos++
		}
		if s.digits() == 0 {
			return "", 0, s.broken()
		}
	}
	return s.src[start:s.pos], form, nil
}

func (s *shaper) digits() int {
	start := s.pos
	for s.pos < len(s.src) && s.src[s.pos]-'0' <= 9 {
		s.pos++
	}
	return s.pos - start
}

// str consumes a string and returns what it stands for.
func (s *shaper) str() (string, *ResultError) {
	start := s.pos + 1
	ascii := true
	for i := start; i < len(s.src); i++ {
		switch c := s.src[i]; {
		case c == '"':
			text := s.src[start:i]
			if !ascii && !utf8.ValidString(text) {
				s.pos = start
				return "", &ResultError{Expected: "UTF-8", Found: "a string that is not"}
			}
			s.pos = i + 1
			return text, nil
		case c == '\\':
			return s.escaped(start, i)
		case c < 0x20:
			s.pos = i
			return "", s.broken()
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	s.pos = len(s.src)
	return "", s.broken()
}

// escaped goes on with a string from its first escape.
func (s *shaper) escaped(start, i int) (string, *ResultError) {
	b := append(make([]byte, 0, i-start+64), s.src[start:i]...)
	for i < len(s.src) {
		c := s.src[i]
		s.pos = i
		switch {
		case c == '"':
			s.pos++
			if !utf8.Valid(b) {
				return "", &ResultError{Expected: "UTF-8", Found: "a string that is not"}
			}
			return string(b), nil
		case c < 0x20:
			return "", s.broken()
		case c != '\\':
			b = append(b, c)
			i++
			continue
		}
		if i+1 >= len(s.src) {
			break
		}
		i += 2
		switch c := s.src[i-1]; c {
		case '"', '\\', '/':
			b = append(b, c)
		case 'b':
			b = append(b, '\b')
		case 'f':
			b = append(b, '\f')
		case 'n':
			b = append(b, '\n')
		case 'r':
			b = append(b, '\r')
		case 't':
			b = append(b, '\t')
		case 'u':
			r, ok := s.hex4(i)
			if !ok {
				return "", s.broken()
			}
			i += 4
			if utf16.IsSurrogate(r) {
				low, ok := rune(0), false
				if strings.HasPrefix(s.src[i:], `\u`) {
					low, ok = s.hex4(i + 2)
				}
				r = utf16.DecodeRune(r, low)
				if !ok || r == utf8.RuneError {
					return "", &ResultError{Expected: "UTF-8", Found: "a string with half a surrogate pair"}
				}
				i += 6
			}
			b = utf8.AppendRune(b, r)
		default:
			return "", s.broken()
		}
	}
	s.pos = len(s.src)
	return "", s.broken()
}

// hex4 reads four hexadecimal digits at i.
func (s *shaper) hex4(i int) (rune, bool) {
	if i+4 > len(s.src) {
		return 0, false
	}
	n, err := strconv.ParseUint(s.src[i:i+4], 16, 16)
	return rune(n), err == nil
}

// enter counts one object or array around what follows.
func (s *shaper) enter() *ResultError {
	if s.depth++; s.depth > maxResultDepth {
		return &ResultError{Expected: fmt.Sprintf("at most %d levels", maxResultDepth), Found: "deeper nesting"}
	}
	return nil
}

// more moves from one member or element to the next and reports whether there
// is one; first is true before the first. It consumes the closing byte.
func (s *shaper) more(first *bool, closing byte) (bool, *ResultError) {
	c := s.space()
	switch {
	case c == closing:
		s.pos++
		s.depth--
		return false, nil
	case *first:
		*first = false
		return true, nil
	case c == ',':
		s.pos++
		if s.space() == closing {
			return false, s.broken()
		}
		return true, nil
	}
	return false, s.broken()
}

// key consumes a member's name and colon and moves to its value.
func (s *shaper) key() (string, *ResultError) {
	if s.space() != '"' {
		return "", s.broken()
	}
	name, err := s.str()
	if err != nil {
		return "", err
	}
	if s.space() != ':' {
		return "", s.broken()
	}
	s.pos++
	s.space()
	return name, nil
}

// skip consumes one value without writing it.
func (s *shaper) skip() *ResultError {
	switch c := s.space(); found(c) {
	case "object", "array":
		closing := c + 2
		s.pos++
		if err := s.enter(); err != nil {
			return err
		}
		for first := true; ; {
			if more, err := s.more(&first, closing); !more {
				return err
			}
			if c == '{' {
				if _, err := s.key(); err != nil {
					return err
				}
			}
			if err := s.skip(); err != nil {
				return err
			}
		}
	case "string":
		_, err := s.str()
		return err
	case "number":
		_, _, err := s.number()
		return err
	case "bool":
		if c == 't' {
			return s.word("true")
		}
		return s.word("false")
	case "null":
		return s.word("null")
	}
	return s.broken()
}

// end reports anything but space after the result.
func (s *shaper) end() *ResultError {
	if s.space(); s.pos < len(s.src) {
		return &ResultError{Expected: "one JSON value", Found: "more after it"}
	}
	return nil
}

package dialecttest

import (
	"fmt"
	"strings"
)

// patternFault says what in a pattern is not read alike by RE2, by ECMA-262
// with its u flag, which JSON Schema validators use, and by the engines that
// constrain decoding; empty if nothing is.
func patternFault(p string) string {
	s := patternScan{rest: p}
	for s.rest != "" && s.fault == "" {
		s.next()
	}
	switch {
	case s.fault != "":
		return s.fault
	case s.open > 0:
		return "an open group"
	}
	return ""
}

type patternScan struct {
	rest   string
	fault  string
	open   int  // groups
	repeat bool // a quantifier may follow
}

const (
	syntaxCharacters = `^$\.*+?()[]{}|/`
	signEscapes      = "nrtfv" // \\d, \\w and \\s take in more in some engines
)

func (s *patternScan) next() {
	c := s.rest[0]
	repeat := s.repeat
	s.repeat = true
	switch c {
	case '\\':
		s.escape(syntaxCharacters + signEscapes)
	case '[':
		s.class()
	case '(':
		s.open++
		s.repeat = false
		s.rest = s.rest[1:]
		if strings.HasPrefix(s.rest, "?") && !strings.HasPrefix(s.rest, "?:") {
			s.fault = fmt.Sprintf("the group (%.3s, which engines read differently or not at all", s.rest)
		}
		s.rest = strings.TrimPrefix(s.rest, "?:")
	case ')':
		if s.open--; s.open < 0 {
			s.fault = "a closing parenthesis without its opening one"
		}
		s.rest = s.rest[1:]
	case '.':
		s.fault = "a dot, which leaves out other line ends in other engines,"
	case '*', '+', '?':
		s.quantifier(repeat, 1)
	case '{':
		n := strings.IndexByte(s.rest, '}')
		low, high, two := strings.Cut(s.rest[1:max(n, 1)], ",")
		if n < 0 || !digits(low) || two && high != "" && !digits(high) {
			s.fault = "a brace that begins no repetition"
			return
		}
		s.quantifier(repeat, n+1)
	case ']', '}':
		s.fault = fmt.Sprintf("a lone %c", c)
	case '^', '$', '|':
		s.repeat = false
		s.rest = s.rest[1:]
	default:
		s.rest = s.rest[1:]
	}
}

func (s *patternScan) quantifier(allowed bool, n int) {
	if !allowed {
		s.fault = "a repetition of nothing"
		return
	}
	s.repeat = false
	s.rest = strings.TrimPrefix(s.rest[n:], "?") // the lazy form
}

// escape reads a backslash and what follows it.
func (s *patternScan) escape(known string) {
	switch {
	case len(s.rest) < 2:
		s.fault = "a backslash at the end"
	case strings.IndexByte(known, s.rest[1]) >= 0:
		s.rest = s.rest[2:]
	case s.rest[1] == 'x' && len(s.rest) >= 4 && hex(s.rest[2:4]):
		s.rest = s.rest[4:]
	default:
		s.fault = fmt.Sprintf("the escape %.2s", s.rest)
	}
}

func (s *patternScan) class() {
	s.rest = strings.TrimPrefix(s.rest[1:], "^")
	for first := true; s.rest != "" && s.fault == ""; first = false {
		switch {
		case s.rest[0] == ']' && first:
			s.fault = "an empty class"
		case s.rest[0] == ']':
			s.rest = s.rest[1:]
			return
		case s.rest[0] == '\\':
			s.escape(syntaxCharacters + signEscapes + "-")
		case strings.HasPrefix(s.rest, "[:"):
			s.fault = "a named class"
		default:
			s.rest = s.rest[1:]
		}
	}
	if s.fault == "" {
		s.fault = "an open class"
	}
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func hex(s string) bool { return strings.Trim(s, "0123456789abcdefABCDEF") == "" }

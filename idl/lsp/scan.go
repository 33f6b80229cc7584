package lsp

import (
	"strings"
	"unicode/utf8"
)

// tokenKind is what a token is to an editor. Unlike the parser's tokens these
// include comments, and there are no faults: whatever stands in the text is
// one of them.
type tokenKind uint8

const (
	nameToken tokenKind = iota
	stringToken
	numberToken // with its unit
	commentToken
	docToken   // a comment of exactly three slashes
	punctToken // one byte, "->" or ".."
)

// token is a stretch of a text.
type token struct {
	kind       tokenKind
	start, end int  // offsets
	open       bool // a string or comment without its end
}

// scan cuts a text into tokens, up to the offset to. It stops where the
// parser would have stopped too: at limit tokens.
func scan(src string, to, limit int) []token {
	to = min(to, len(src))
	list := make([]token, 0, to/8+8)
	for i := 0; i < to && len(list) < limit; {
		c := src[i]
		if c == ' ' || c == '\t' || c == '\r' || c == '\n' {
			i++
			continue
		}
		t := tokenAt(src[:to], i)
		if t.end > i {
			list = append(list, t)
			i = t.end
		} else { // a character that begins nothing
			_, size := utf8.DecodeRuneInString(src[i:])
			i += size
		}
	}
	return list
}

// tokenAt reads the token that starts at i. Its end is i if there is none.
func tokenAt(src string, i int) token {
	rest := src[i:]
	t := token{start: i, end: i, kind: punctToken}
	switch c := rest[0]; {
	case isLetter(c):
		t.kind = nameToken
		for t.end < len(src) && (isLetter(src[t.end]) || isDigit(src[t.end])) {
			t.end++
		}
	case c == '"':
		t.kind = stringToken
		t.end, t.open = stringEnd(src, i)
	case strings.HasPrefix(rest, "//"):
		t.kind = commentToken
		if strings.HasPrefix(rest, "///") && !strings.HasPrefix(rest, "////") {
			t.kind = docToken
		}
		t.end = len(src)
		if n := strings.IndexByte(rest, '\n'); n >= 0 {
			t.end = i + n
		}
		t.open = t.end == len(src)
	case strings.HasPrefix(rest, "/*"):
		t.kind = commentToken
		t.end, t.open = len(src), true
		if n := strings.Index(rest[2:], "*/"); n >= 0 {
			t.end, t.open = i+2+n+2, false
		}
	case strings.HasPrefix(rest, "->"), strings.HasPrefix(rest, ".."):
		t.end = i + 2
	case isDigit(c), (c == '-' || c == '.' || c == '+') && len(rest) > 1 && isDigit(rest[1]):
		t.kind = numberToken
		t.end = numberEnd(src, i+1)
	case strings.IndexByte("@(){}<>[]?:;,.=", c) >= 0:
		t.end = i + 1
	}
	return t
}

// stringEnd returns the end of the string that starts at i, which is at most
// its line's, and whether the closing quote is missing.
func stringEnd(src string, i int) (end int, open bool) {
	for i++; i < len(src); i++ {
		switch src[i] {
		case '"':
			return i + 1, false
		case '\n':
			return i, true
		case '\\':
			if i+1 < len(src) && src[i+1] != '\n' {
				i++
			}
		}
	}
	return len(src), true
}

// numberEnd returns the end of the number whose first byte is before i: its
// digits, fraction, exponent and unit.
func numberEnd(src string, i int) int {
	for i < len(src) {
		c := src[i]
		switch {
		case isDigit(c) || isLetter(c):
		case c == '.' && i+1 < len(src) && isDigit(src[i+1]):
		case (c == '-' || c == '+') && (src[i-1] == 'e' || src[i-1] == 'E') && i+1 < len(src) && isDigit(src[i+1]):
		default:
			return i
		}
		i++
	}
	return i
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }

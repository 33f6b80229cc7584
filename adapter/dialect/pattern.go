package dialect

import "strings"

// commonPattern writes a pattern of RE2 so that it means the same in the
// dialects of regular expressions that providers use (ECMA-262, Python, Rust),
// anchored at both ends. It reports false if the pattern uses what they do not
// share.
func commonPattern(text string) (string, bool) {
	p := patternWriter{text: text}
	p.WriteString("^(?:")
	for p.pos < len(text) {
		if !p.step() {
			return "", false
		}
	}
	p.WriteString(")$")
	return p.String(), true
}

type patternWriter struct {
	strings.Builder
	text    string
	pos     int
	inClass bool
}

// take writes the next n bytes as they are.
func (p *patternWriter) take(n int) bool {
	p.WriteString(p.text[p.pos : p.pos+n])
	p.pos += n
	return true
}

func (p *patternWriter) step() bool {
	rest := p.text[p.pos:]
	switch c := rest[0]; {
	case c < ' ' || c >= 0x7f: // some match by bytes, some by UTF-16
		return false
	case c == '\\':
		return p.escape()
	case p.inClass:
		return p.class(rest)
	case c == '[':
		p.inClass = true
		n := 1
		if strings.HasPrefix(rest, "[^") {
			n = 2
		}
		// What follows is a member here and the end elsewhere.
		return !strings.HasPrefix(rest[n:], "]") && p.take(n)
	case c == '(':
		return (!strings.HasPrefix(rest, "(?") || strings.HasPrefix(rest, "(?:")) && p.take(1)
	case c == '^' || c == '$':
		return !strings.ContainsAny(rest[1:min(2, len(rest))], "*+?{") && p.take(1)
	case c == '{':
		n := repetition(rest)
		return n > 0 && p.take(n)
	case c == '}' || c == ']': // ordinary signs here, errors elsewhere
		return false
	case c == '.': // which line ends it leaves out differs
		p.WriteString(`[^\n]`)
		p.pos++
		return true
	}
	return p.take(1)
}

// class takes one sign in brackets. A class in a class is a set operation
// elsewhere, and so are two of some signs in a row.
func (p *patternWriter) class(rest string) bool {
	switch c := rest[0]; {
	case c == '[', len(rest) > 1 && c == rest[1] && strings.IndexByte("&-~|", c) >= 0:
		return false
	case c == ']':
		p.inClass = false
	}
	return p.take(1)
}

// classes are the escapes that other dialects read as larger classes.
var classes = map[byte]string{'d': `0-9`, 'w': `A-Za-z0-9_`, 's': `\t\n\f\r `}

// escape writes a backslash and what follows it.
func (p *patternWriter) escape() bool {
	if p.pos+1 == len(p.text) {
		return false
	}
	c := p.text[p.pos+1]
	switch set, negated := classes[c|0x20], c < 'a'; {
	case strings.IndexByte(`\.+*?()|[]{}^$nrtf`, c) >= 0:
		return p.take(2)
	case c == '-' && p.inClass:
		return p.take(2)
	case c == '-' || c == '/': // no signs of theirs, so that some refuse the escape
		p.WriteByte(c)
	case set == "" || negated && p.inClass:
		return false
	case p.inClass:
		p.WriteString(set)
	case negated:
		p.WriteString("[^" + set + "]")
	default:
		p.WriteString("[" + set + "]")
	}
	p.pos += 2
	return true
}

// repetition returns the length of the counted repetition that s starts with,
// or 0 if its brace is an ordinary sign.
func repetition(s string) int {
	end := strings.IndexByte(s, '}')
	if end < 0 {
		return 0
	}
	low, high, _ := strings.Cut(s[1:end], ",")
	if low == "" || strings.Trim(low+high, "0123456789") != "" {
		return 0
	}
	return end + 1
}

package syntax

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// number reads a number, with the unit that stands directly behind it. What
// is not quite a number is reported and read whole.
func (s *scanner) number() {
	i := s.off
	sign := s.text[i] == '-' || s.text[i] == '+'
	if sign {
		i++
	}
	whole := i
	i = s.digits(i)
	hint := ""
	switch {
	case s.text[s.off] == '+':
		hint = "drop the plus sign"
	case i == whole:
		hint = "write a digit before the point"
	case i > whole+1 && s.text[whole] == '0':
		hint = "drop the leading zeros"
	}
	if s.is(i, '.') && !s.is(i+1, '.') {
		if frac := s.digits(i + 1); frac > i+1 {
			i = frac
		} else {
			hint = "write a digit behind the point"
			i++
		}
	}
	if s.is(i, 'e') || s.is(i, 'E') {
		exp := i + 1
		if s.is(exp, '+') || s.is(exp, '-') {
			exp++
		}
		if end := s.digits(exp); end > exp {
			i = end
		} else if exp > i+1 && !s.is(exp, '>') {
			hint = "write digits in the exponent"
			i = exp
		}
	}
	unit := i
	plain := true
	for ; i < len(s.text) && (isLetter(s.text[i]) || isDigit(s.text[i])); i++ {
		plain = plain && s.text[i] != '_' && !isDigit(s.text[i])
	}
	for s.is(i, '.') && i+1 < len(s.text) && isDigit(s.text[i+1]) {
		plain = false
		i = s.digits(i + 1)
	}
	if !plain && hint == "" {
		hint = "write it in decimal, without separators: 1000000, -0.5, 1e3, 32KiB"
	}
	if hint != "" {
		s.report(RuleBadNumber, s.off, i, hint, "found %s, expected a number", quote(s.text[s.off:i]))
		s.emit(tokNumber, i)
		return
	}
	if unit < i {
		s.emit(tokQuantity, i)
		return
	}
	s.emit(tokNumber, i)
}

// is reports whether the byte at offset i is c.
func (s *scanner) is(i int, c byte) bool { return i < len(s.text) && s.text[i] == c }

// digits returns the offset behind the digits at i.
func (s *scanner) digits(i int) int {
	for i < len(s.text) && isDigit(s.text[i]) {
		i++
	}
	return i
}

// unitOf cuts a quantity into its number and its unit.
func unitOf(text string) (number, unit string) {
	i := len(text)
	for i > 0 && isLetter(text[i-1]) {
		i--
	}
	return text[:i], text[i:]
}

const escapeHint = `the escapes are \" \\ \n \t \u{1F600}`

// quoted reads a string. One that does not end on its line is cut before the
// punctuation that ends the line, which was hardly meant as part of it.
func (s *scanner) quoted() {
	escapes := len(s.faults)
	i := s.off + 1
	for i < len(s.text) {
		c := s.text[i]
		switch {
		case c == '"':
			s.emit(tokString, i+1)
			return
		case c == '\\':
			_, n, ok := escape(s.text[i:])
			if !ok {
				s.report(RuleBadEscape, i, i+n, escapeHint, `found "\%s, expected an escape`, quote(s.text[i+1 : i+n])[1:])
			}
			i += n
			continue
		case c == '\n':
			s.unterminated(i, escapes)
			return
		case c < ' ' && c != '\t' && !(c == '\r' && s.is(i+1, '\n')) || c == 0x7f:
			s.report(RuleBadCharacter, i, i+1, `write it as an escape: \u{`+strconv.FormatUint(uint64(c), 16)+`}`,
				"found %q in a string, expected an escape", s.text[i:i+1])
		}
		i++
	}
	s.unterminated(i, escapes)
}

// unterminated reports a string that runs up to the end of the line at eol.
// Other faults in it, counted from escapes, are consequences.
func (s *scanner) unterminated(eol, escapes int) {
	s.faults = s.faults[:escapes]
	if s.endsStringAbove() {
		s.emit(tokString, eol)
		return
	}
	end := s.off + 1 + len(strings.TrimRight(s.text[s.off+1:eol], " \t\r);,{}"))
	s.report(RuleUnterminatedString, s.off, end, `close it with a double quote on the same line, or write a line's end as \n`,
		"found the end of the line in a string, expected a double quote")
	s.emit(tokString, end)
}

// endsStringAbove reports whether the quote at the current offset was meant to
// close a string that began on the line above: words stand before it.
func (s *scanner) endsStringAbove() bool {
	if len(s.faults) == 0 || len(s.toks) == 0 {
		return false
	}
	above, last := s.faults[len(s.faults)-1], s.toks[len(s.toks)-1]
	return above.Rule == RuleUnterminatedString && above.Span.Start.Line == s.line-1 && last.Pos.Line == s.line &&
		last.Type == tokIdent && last.Value != "import" && last.Value != "matching"
}

// escape reads the escape that rest begins with. Where it is none, n is the
// length of what looks like one; a line's end is never part of it.
func escape(rest string) (r rune, n int, ok bool) {
	if len(rest) < 2 || rest[1] == '\n' || rest[1] == '\r' {
		return 0, 1, false
	}
	switch rest[1] {
	case '"', '\\':
		return rune(rest[1]), 2, true
	case 'n':
		return '\n', 2, true
	case 't':
		return '\t', 2, true
	case 'u':
		return unicodeEscape(rest)
	}
	_, size := utf8.DecodeRuneInString(rest[1:])
	return 0, 1 + size, false
}

// unicodeEscape reads \u{...}: one to six hexadecimal digits of a Unicode
// scalar value.
func unicodeEscape(rest string) (r rune, n int, ok bool) {
	if len(rest) < 3 || rest[2] != '{' {
		return 0, 2, false
	}
	i := 3
	for i < len(rest) && i < 3+8 && strings.IndexByte("0123456789abcdefABCDEF", rest[i]) >= 0 {
		i++
	}
	if i >= len(rest) || rest[i] != '}' {
		return 0, i, false
	}
	v, err := strconv.ParseUint(rest[3:i], 16, 32)
	if err != nil || i > 3+6 || v > utf8.MaxRune || !utf8.ValidRune(rune(v)) {
		return 0, i + 1, false
	}
	return rune(v), i + 1, true
}

// unquote returns the text that a string token stands for. Of a faulty one
// it returns what can be read.
func unquote(raw string) string {
	_, first := utf8.DecodeRuneInString(raw)
	body := raw[first:]
	if r, last := utf8.DecodeLastRuneInString(body); strings.ContainsRune("\"'`‘’“”„«»", r) {
		body = body[:len(body)-last]
	}
	if strings.IndexByte(body, '\\') < 0 {
		return body
	}
	var b strings.Builder
	b.Grow(len(body))
	for i := 0; i < len(body); {
		if body[i] != '\\' {
			b.WriteByte(body[i])
			i++
			continue
		}
		r, n, ok := escape(body[i:])
		if ok {
			b.WriteRune(r)
		}
		i += n
	}
	return b.String()
}

// quote quotes what was found in a text, cut to a length that fits a message.
func quote(found string) string {
	const most = 40 // bytes
	if len(found) <= most {
		return strconv.Quote(found)
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(found[cut]) {
		cut--
	}
	return strconv.Quote(found[:cut]) + "..."
}

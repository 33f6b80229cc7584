package syntax

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/alecthomas/participle/v2/lexer"
)

// comment is a comment where it stands. The parser reads only doc comments;
// the others are kept for what prints documents.
type comment struct {
	start, end int  // offsets in the text, without the line's end
	pos        Pos  // where it starts
	doc        bool // it begins with exactly three slashes
	trailing   bool // it stands behind the end of something, on the same line
	used       bool // it documents something, or stands in a faulty stretch
	next       int  // offset of the next token
}

// scanner cuts a text into tokens. It never fails: what it cannot read it
// reports and skips or mends, so that the parser sees no consequence of it.
type scanner struct {
	file     string
	text     string
	off      int           // of the next byte
	line     int           // 1-based
	bol      int           // offset of the first byte of the line
	toks     []lexer.Token // what was read and not taken by next
	count    int           // of tokens so far
	first    Pos           // of the first token
	tail     tail          // of the last token
	comments []comment
	pending  int // first comment that has no next token yet
	faults   []Diagnostic
	tooMany  bool // there are more than MaxTokens
	broken   bool // bytes that are not UTF-8 stand outside strings and comments
}

// tail is what matters of the last token to a comment behind it.
type tail struct {
	typ  lexer.TokenType
	line int
}

// newScanner returns a scanner that has read nothing. It starts at the place
// from, unless that is the text's start.
func newScanner(file, text string, from Pos) *scanner {
	s := &scanner{file: file, text: text, line: 1}
	switch {
	case from.Offset > 0:
		s.off, s.line, s.bol = from.Offset, from.Line, from.Offset-from.Col+1
	case strings.HasPrefix(text, "\ufeff"):
		s.off, s.bol = 3, 3
	}
	return s
}

// scan returns the tokens, the comments and the lexical faults of text.
func scan(file, text string) *scanner { return scanFrom(file, text, Pos{}) }

// scanFrom is scan, from a place on.
func scanFrom(file, text string, from Pos) *scanner {
	s := newScanner(file, text, from)
	s.toks = make([]lexer.Token, 0, (len(text)-s.off)/5+8)
	for s.off < len(text) {
		s.step()
		s.tooMany = s.count > MaxTokens
		if s.tooMany || len(s.faults) > MaxDiagnostics {
			s.advance(len(text))
		}
	}
	s.emit(lexer.EOF, s.off)
	if !utf8.ValidString(text) {
		s.invalidUTF8()
	}
	return s
}

// errTooMany ends the reading of a text with more than MaxTokens.
var errTooMany = errors.New("too many tokens")

// next reads and takes one token, or fails with the first fault of the text.
// A text is read either by this or as a whole by scan.
func (s *scanner) next() (lexer.Token, error) {
	s.toks = s.toks[:0]
	for len(s.toks) == 0 {
		if s.off < len(s.text) {
			s.step()
		} else {
			s.emit(lexer.EOF, s.off)
		}
		if len(s.faults) > 0 {
			return lexer.Token{}, s.faults[0]
		}
	}
	if s.count > MaxTokens && !s.toks[0].EOF() {
		return lexer.Token{}, errTooMany
	}
	return s.toks[0], nil
}

// step reads one token, comment or stretch of blanks.
func (s *scanner) step() {
	c := s.text[s.off]
	switch {
	case c == '\n':
		s.off++
		s.line++
		s.bol = s.off
	case c == ' ' || c == '\t' || c == '\r':
		s.off++
	case isLetter(c):
		s.name()
	case isDigit(c):
		s.number()
	case c == '"':
		s.quoted()
	case c == '/' && s.at(1) == '/':
		s.lineComment()
	case c == '/' && s.at(1) == '*':
		s.blockComment()
	case c == '-' && s.at(1) == '>':
		s.emit(tokArrow, s.off+2)
	case c == '-' && (isDigit(s.at(1)) || s.at(1) == '.' && isDigit(s.at(2))):
		s.number()
	case c == '.' && s.at(1) == '.':
		s.emit(tokDots, s.off+2)
	case (c == '.' || c == '+') && isDigit(s.at(1)):
		s.number()
	case strings.IndexByte("@(){}<>[]?:;,.=", c) >= 0:
		s.emit(lexer.TokenType(c), s.off+1)
	default:
		s.badCharacter()
	}
}

// at returns the byte n behind the current one, or 0 behind the end.
func (s *scanner) at(n int) byte {
	if s.off+n < len(s.text) {
		return s.text[s.off+n]
	}
	return 0
}

// pos returns the place of an offset on the current line.
func (s *scanner) pos(off int) Pos { return Pos{Offset: off, Line: s.line, Col: off - s.bol + 1} }

// span returns a span on the current line.
func (s *scanner) span(start, end int) Span {
	return Span{File: s.file, Start: s.pos(start), End: s.pos(end)}
}

// emit ends a token at end and moves there.
func (s *scanner) emit(t lexer.TokenType, end int) {
	s.toks = append(s.toks, lexer.Token{Type: t, Value: s.text[s.off:end], Pos: lexer.Position{
		Filename: s.file, Offset: s.off, Line: s.line, Column: s.off - s.bol + 1}})
	for ; s.pending < len(s.comments); s.pending++ {
		s.comments[s.pending].next = s.off
	}
	if s.count == 0 {
		s.first = s.pos(s.off)
	}
	s.count++
	s.tail = tail{t, s.line}
	s.off = end
}

// report adds a fault on the current line.
func (s *scanner) report(rule string, start, end int, hint, format string, args ...any) {
	if len(s.faults) > MaxDiagnostics {
		return
	}
	s.faults = append(s.faults, Diagnostic{
		Rule: rule, Span: s.span(start, end), Message: fmt.Sprintf(format, args...), Hint: hint})
}

const nameHint = "a name is made of the letters a to z and A to Z, digits and _, as in nearby_avatars"

// name reads a name. Letters of other alphabets, and dashes between letters,
// are read as part of it and reported.
func (s *scanner) name() {
	i := s.off + 1
	for i < len(s.text) {
		c := s.text[i]
		if isLetter(c) || isDigit(c) {
			i++
			continue
		}
		n := strayInName(s.text[i:])
		if n == 0 {
			break
		}
		s.reportStray(i, n)
		i += n
	}
	s.emit(tokIdent, i)
}

// reportStray reports n bytes that cannot stand in a name. Bytes that are not
// UTF-8 have their own fault.
func (s *scanner) reportStray(i, n int) {
	if !utf8.ValidString(s.text[i : i+n]) {
		s.broken = true
		return
	}
	s.report(RuleBadCharacter, i, i+n, nameHint, "found %s in a name, expected ASCII letters, digits or _", quote(s.text[i:i+n]))
}

// strayInName returns the length of what rest begins with and somebody meant
// as part of a name: foreign letters, broken bytes, a dash before a letter.
func strayInName(rest string) int {
	n := 0
	for n < len(rest) {
		if rest[n] == '-' && n == 0 && len(rest) > 1 && isLetter(rest[1]) {
			return 1
		}
		if rest[n] < utf8.RuneSelf {
			break
		}
		r, size := utf8.DecodeRuneInString(rest[n:])
		if !(r == utf8.RuneError && size == 1) && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) {
			break
		}
		n += size
	}
	return n
}

// lineComment reads a comment up to the end of its line.
func (s *scanner) lineComment() {
	end := len(s.text)
	if n := strings.IndexByte(s.text[s.off:], '\n'); n >= 0 {
		end = s.off + n
	}
	doc := s.at(2) == '/' && s.at(3) != '/'
	t := s.tail
	trailing := doc && t.line == s.line && (t.typ == ';' || t.typ == ',' || t.typ == '}')
	s.comments = append(s.comments, comment{start: s.off, end: end, pos: s.pos(s.off), doc: doc, trailing: trailing})
	s.hidden(s.off, end)
	s.off = end
}

// blockComment reads a comment up to its closing mark.
func (s *scanner) blockComment() {
	start := s.off
	n := strings.Index(s.text[start+2:], "*/")
	if n < 0 {
		s.report(RuleUnterminatedComment, start, start+2, `close it with "*/"`,
			`found the end of the file in a comment, expected "*/"`)
		s.comments = append(s.comments, comment{start: start, end: len(s.text), pos: s.pos(start)})
		s.hidden(start, len(s.text))
		s.advance(len(s.text))
		return
	}
	end := start + 2 + n + 2
	s.comments = append(s.comments, comment{start: start, end: end, pos: s.pos(start)})
	s.hidden(start, end)
	s.advance(end)
}

// hidden reports what a comment holds that no reader sees and a terminal or a
// model may obey: control and format characters. Joiners and soft hyphens belong
// to words.
func (s *scanner) hidden(start, end int) {
	for at := start; at < end; {
		r, size := rune(s.text[at]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(s.text[at:end])
		}
		endsLine := r == '\n' || r == '\r' && (at+1 == len(s.text) || s.text[at+1] == '\n')
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) && !endsLine && !strings.ContainsRune("\t\u200c\u200d\u00ad", r) {
			s.advance(at)
			s.report(RuleBadCharacter, at, at+size, "remove it", "found the hidden character %U in a comment", r)
		}
		at += size
	}
}

// advance moves to end and counts the lines on the way.
func (s *scanner) advance(end int) {
	passed := s.text[s.off:end]
	if n := strings.Count(passed, "\n"); n > 0 {
		s.line += n
		s.bol = s.off + strings.LastIndexByte(passed, '\n') + 1
	}
	s.off = end
}

// badCharacter reads a character that begins nothing.
func (s *scanner) badCharacter() {
	start := s.off
	r, size := utf8.DecodeRuneInString(s.text[start:])
	if strings.ContainsRune("'`‘’“”„«»", r) && s.foreignQuote(size) {
		return
	}
	if n := strayInName(s.text[start:]); n > 0 && (size > 1 || r == utf8.RuneError) {
		s.reportStray(start, n)
		for start+n < len(s.text) && (isLetter(s.text[start+n]) || isDigit(s.text[start+n])) {
			n++
		}
		s.emit(tokIdent, start+n)
		return
	}
	s.off += size
	if n := len(s.faults); n > 0 && s.faults[n-1].Rule == RuleBadCharacter && s.faults[n-1].Span.End.Offset == start {
		s.faults[n-1].Span.End = s.pos(s.off)
		return
	}
	hint := ""
	switch {
	case r == '#':
		hint = `a comment begins with "//"`
	case r == '$':
		hint = nameHint
	case unicode.IsSpace(r) || unicode.Is(unicode.Cf, r):
		hint = "put an ordinary space here, or nothing"
	}
	s.report(RuleBadCharacter, start, s.off, hint, "found %q, expected a name, a value or punctuation", s.text[start:s.off])
}

// foreignQuote reads a string in other quotes than ", if it ends on its line.
func (s *scanner) foreignQuote(size int) bool {
	start := s.off
	line := s.text[start+size:]
	if n := strings.IndexByte(line, '\n'); n >= 0 {
		line = line[:n]
	}
	n := strings.IndexAny(line, "'`‘’“”„«»\"")
	if n < 0 {
		return false
	}
	_, last := utf8.DecodeRuneInString(line[n:])
	s.report(RuleBadCharacter, start, start+size, `a string stands in double quotes: "..."`,
		"found %q, expected a double quote", s.text[start:start+size])
	s.emit(tokString, start+size+n+last)
	return true
}

// invalidUTF8 reports the first byte that is not UTF-8.
func (s *scanner) invalidUTF8() {
	off := 0
	for off < len(s.text) {
		r, size := utf8.DecodeRuneInString(s.text[off:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		off += size
	}
	before := s.text[:off]
	bol := strings.LastIndexByte(before, '\n') + 1
	if bol == 0 && strings.HasPrefix(before, "\ufeff") {
		bol = 3
	}
	p := Pos{Offset: off, Line: strings.Count(before, "\n") + 1, Col: off - bol + 1}
	end := Pos{Offset: off + 1, Line: p.Line, Col: p.Col + 1}
	d := Diagnostic{Rule: RuleInvalidUTF8, Span: Span{File: s.file, Start: p, End: end},
		Message: fmt.Sprintf("found the byte %#02x, expected UTF-8", s.text[off]), Hint: "save the file as UTF-8"}
	i, _ := slices.BinarySearchFunc(s.faults, off, func(d Diagnostic, off int) int { return d.Span.Start.Offset - off })
	s.faults = slices.Insert(s.faults, i, d)
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }

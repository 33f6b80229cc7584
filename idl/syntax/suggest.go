package syntax

import (
	"path"
	"sort"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/alecthomas/participle/v2/lexer"
)

// suggest adds to the faults of a text the changes that end them, where one
// change is what was obviously meant. It works on the text alone, so that
// reading documents need not think of it.
func suggest(name, text string, from Pos, faults []Diagnostic) []Diagnostic {
	if len(faults) == 0 {
		return faults
	}
	s := &suggester{scanner: scanFrom(name, text, from)}
	for i := range faults {
		d := &faults[i]
		at := sort.Search(len(s.toks)-1, func(k int) bool { return s.toks[k].Pos.Offset >= d.Span.Start.Offset })
		if f := s.fix(d, at); f.Title != "" {
			d.Fixes = []Fix{f}
		}
	}
	return faults
}

// suggester looks for fixes in the tokens of a text.
type suggester struct {
	*scanner
	surplus *bool // there are more "}" than "{", once that was counted
}

// put returns the safe fix that puts a text in place of a span.
func put(title string, at Span, text string) Fix {
	return Fix{Title: title, Edits: []Edit{{Span: at, Text: text}}, Safe: true}
}

// leave leaves it to the author whether a fix is meant.
func leave(f Fix) Fix {
	f.Safe = false
	return f
}

// write returns the fix that writes a text at a place.
func write(at Span, text string) Fix {
	title := "insert " + strings.TrimSpace(text)
	if at.Start != at.End {
		title = "write " + strings.TrimSpace(text)
	}
	return put(title, at, text)
}

// fix returns the fix of a fault that is at the token with the index at, or
// one without title.
func (s *suggester) fix(d *Diagnostic, at int) Fix {
	switch d.Rule {
	case RuleMissingSemicolon:
		return write(d.Span, ";")
	case RuleMissingComma:
		if s.inAnnotation(at) {
			if f := s.oneValue(d, at); f.Title != "" || s.typ(at) == tokIdent && s.typ(at+1) != ':' && s.typ(at-1) == tokNumber {
				return f
			}
			if !s.anotherArg(at) {
				return Fix{}
			}
		}
		return write(d.Span, ",")
	case RuleUnclosedAngle, RuleUnclosedBracket, RuleUnclosedParen:
		return s.closing(d, at)
	case RuleUnclosedBrace:
		last := s.typ(at - 1) // of the last member, if that is whole
		if last == ';' || last == '{' || strings.Contains(d.Message, "close the enum") && (last == ',' || last == tokIdent) {
			return s.closeBlock(at)
		}
	case RuleUnterminatedString:
		if found := s.textOf(d.Span); len(found) > 1 && !s.goesOn(d.Span) && !strings.ContainsAny(found, `\(){}<>[];:,@`) { // what was hardly meant as part of it
			return leave(write(behindSpan(d.Span), `"`))
		}
	case RuleBadEscape:
		return s.escape(d, at)
	case RuleBadCharacter:
		return s.character(d, at)
	case RuleBadNumber:
		switch {
		case s.typ(at-1) == tokDots && endOf(&s.toks[at-1]) == d.Span.Start && s.text[d.Span.Start.Offset] == '.':
			return s.hinted(d, "a range has two dots", write(d.Span, s.textOf(d.Span)[1:]))
		case s.typ(at-1) != ':' || s.inAnnotation(at):
			return s.decimal(d, at)
		}
	case RuleMissingPackage:
		return s.packageName()
	case RuleDuplicatePackage, RuleDuplicateVersion:
		if clause, ok := s.clauseAround(at); ok {
			return leave(put("remove this one", clause, ""))
		}
	case RuleHeaderOrder:
		return s.toTheTop(at)
	case RuleStrayDoc:
		return s.plainComment(d)
	case RuleMissingName:
		if at > 0 && s.toks[at].Type == ',' && s.toks[at-1].Type == ',' {
			return s.hinted(d, "remove it", put("remove it", d.Span, ""))
		}
		if s.quotesName(at) {
			return s.bare(d, at)
		}
	case RuleMissingType, RuleMissingValue:
		if s.quotesName(at) {
			return s.bare(d, at)
		}
		return s.slip(d, at)
	case RuleUnexpectedToken:
		if s.quotesName(at) {
			return s.bare(d, at)
		}
		if f := s.unexpected(d, at); f.Title != "" {
			return f
		}
		return s.slip(d, at)
	}
	return Fix{}
}

// goesOn reports whether the line below a span has the quote that closes one
// above.
func (s *suggester) goesOn(at Span) bool {
	_, below, _ := strings.Cut(s.text[at.End.Offset:], "\n")
	below, _, _ = strings.Cut(below, "\n")
	return strings.Count(below, `"`)%2 == 1
}

// textOf returns the text of a span.
func (s *suggester) textOf(at Span) string { return s.text[at.Start.Offset:at.End.Offset] }

// behindSpan returns the empty span behind another.
func behindSpan(at Span) Span { return Span{File: at.File, Start: at.End, End: at.End} }

// before returns the empty span before the token at an index.
func (s *suggester) before(at int) Span {
	p := startOf(&s.toks[at])
	return Span{File: s.file, Start: p, End: p}
}

// typ returns the type of the token at an index, or that of the end.
func (s *suggester) typ(at int) lexer.TokenType {
	if at < 0 || at >= len(s.toks) {
		return lexer.EOF
	}
	return s.toks[at].Type
}

// inAnnotation reports whether the token at an index is an argument of an
// annotation.
func (s *suggester) inAnnotation(at int) bool {
	for at--; at >= 0; at-- {
		switch s.typ(at) {
		case '(':
			return s.typ(at-2) == '@'
		case ')', ';', '{', '}':
			return false
		}
	}
	return false
}

// closing closes what was never closed before the token at an index, if that
// can stand behind it.
func (s *suggester) closing(d *Diagnostic, at int) Fix {
	if at == 0 || len(d.Related) == 0 {
		return Fix{}
	}
	last := s.typ(at - 1)
	end := behind(&s.toks[at-1])
	if f := s.otherCloser(d, at); f.Title != "" {
		return f
	}
	switch d.Rule {
	case RuleUnclosedAngle:
		switch s.typ(at) {
		case ')':
			if s.surplusParen(at) && s.openAngles(at) == 1 {
				return write(between(&s.toks[at], &s.toks[at]), ">")
			}
			fallthrough
		case ';', '=', tokArrow:
			return write(end, strings.Repeat(">", s.openAngles(at)))
		}
	case RuleUnclosedBracket:
		if whole := last == tokNumber && s.typ(at-2) == tokDots || last == tokString || last == tokIdent && s.toks[at-1].Value == "bytes"; whole && s.endsRefinement(at) {
			if s.surplusParen(at) {
				return write(between(&s.toks[at], &s.toks[at]), "]")
			}
			return write(end, "]")
		}
	case RuleUnclosedParen:
		open := sort.Search(at, func(k int) bool { return s.toks[k].Pos.Offset >= d.Related[0].Span.Start.Offset })
		for i := open + 1; i < at; i++ {
			if s.typ(i) == '(' {
				return Fix{}
			}
		}
		annotation := s.typ(open-2) == '@'
		if s.typ(at) == tokArrow && !annotation || annotation && s.typ(at) != ';' && (endsPiece(last) || last == ',') {
			return write(end, ")")
		}
	}
	return Fix{}
}

// otherCloser writes what closes a list in place of the token at an index,
// which closes nothing.
func (s *suggester) otherCloser(d *Diagnostic, at int) Fix {
	switch s.typ(at) {
	case '}':
		if !s.surplusBrace() || s.typ(at+1) == '}' || s.typ(at+1) == lexer.EOF {
			return Fix{}
		}
	case ']', '>':
		if d.Rule != RuleUnclosedParen {
			return Fix{}
		}
	default:
		return Fix{}
	}
	switch last := s.typ(at - 1); {
	case d.Rule == RuleUnclosedAngle && s.openAngles(at) == 1:
		return write(over(&s.toks[at]), ">")
	case d.Rule == RuleUnclosedBracket && (last == tokNumber || last == tokDots || last == tokString || last == tokIdent):
		return write(over(&s.toks[at]), "]")
	case d.Rule == RuleUnclosedParen && (endsPiece(last) || last == ','):
		return write(over(&s.toks[at]), ")")
	}
	return Fix{}
}

// surplusBrace reports whether the text has more "}" than "{".
func (s *suggester) surplusBrace() bool {
	if s.surplus == nil {
		n := 0
		for i := range s.toks {
			switch s.toks[i].Type {
			case '{':
				n--
			case '}':
				n++
			}
		}
		more := n > 0
		s.surplus = &more
	}
	return *s.surplus
}

// surplusParen reports whether the token at an index is a ")" and its member has
// more of them than "(": it stands for another bracket.
func (s *suggester) surplusParen(at int) bool {
	if s.typ(at) != ')' {
		return false
	}
	from, to := at, at
	for from > 0 && !bordersMember(s.typ(from-1)) {
		from--
	}
	for to < len(s.toks) && !bordersMember(s.typ(to)) {
		to++
	}
	open := 0
	for i := from; i < to; i++ {
		switch s.typ(i) {
		case '(':
			open++
		case ')':
			open--
		}
	}
	return open < 0
}

// bordersMember reports whether no member goes on behind a token.
func bordersMember(t lexer.TokenType) bool {
	return t == ';' || t == '{' || t == '}' || t == lexer.EOF
}

// openAngles counts the lists of type arguments that are open before the token
// at an index.
func (s *suggester) openAngles(at int) int {
	n := 0
	for i := at - 1; i >= 0; i-- {
		switch s.typ(i) {
		case '<':
			n++
		case '>':
			n--
		case ':', tokArrow, ';', '{', '}':
			return max(n, 1)
		}
	}
	return max(n, 1)
}

// closeBlock closes the block that is open before the token at an index: on a
// line of its own if the token is on another than the last of the block.
func (s *suggester) closeBlock(at int) Fix {
	if at == 0 {
		return Fix{}
	}
	last, next := &s.toks[at-1], &s.toks[at]
	end := endOf(last)
	if last.Pos.Line == next.Pos.Line {
		return write(behind(last), " }")
	}
	p := Pos{Line: end.Line + 1, Col: 1}
	n := strings.IndexByte(s.text[end.Offset:], '\n')
	if n < 0 {
		p = Pos{Offset: len(s.text), Line: end.Line, Col: end.Col + len(s.text) - end.Offset}
		return write(Span{File: s.file, Start: p, End: p}, "\n}\n")
	}
	p.Offset = end.Offset + n + 1
	for _, c := range s.comments {
		if c.start < p.Offset && p.Offset < c.end { // it goes on there
			return Fix{}
		}
	}
	return write(Span{File: s.file, Start: p, End: p}, "}\n")
}

// escape writes a backslash as such where it starts no escape.
func (s *suggester) escape(d *Diagnostic, at int) Fix {
	if at > 0 && s.toks[at].Pos.Offset > d.Span.Start.Offset {
		at-- // the string that it stands in
	}
	found := s.textOf(d.Span)
	switch {
	case len(found) < 2 || found[1] == 'u':
		return Fix{}
	case found[1] == '\'' || found[1] == '`' || found[1] == '/':
		return put("write "+found[1:], d.Span, found[1:])
	}
	f := put("write \\"+found, d.Span, `\`+found)
	if s.typ(at-1) != tokIdent || s.toks[at-1].Value != "matching" { // words have no use for a backslash
		return leave(f)
	}
	return f
}

const otherQuotes = "'`‘’“”„«»"

// character puts what was meant in place of a character that cannot stand
// where it does.
func (s *suggester) character(d *Diagnostic, at int) Fix {
	found := s.textOf(d.Span)
	r, size := utf8.DecodeRuneInString(found)
	inName := strings.Contains(d.Message, "in a name")
	only := func(of func(rune) bool) bool {
		return strings.IndexFunc(found, func(r rune) bool { return !of(r) }) < 0
	}
	switch {
	case strings.Contains(d.Message, "in a string"):
		if s.inAnnotation(at - 1) { // whose words are shown as they are
			return s.hinted(d, "remove it", put("remove it", d.Span, ""))
		}
		return write(d.Span, `\u{`+strconv.FormatUint(uint64(r), 16)+`}`)
	case inName && found == "-":
		return write(d.Span, "_")
	case inName:
	case strings.ContainsRune(otherQuotes, r) && size == len(found) && s.typ(at) == tokString && s.toks[at].Pos.Offset == d.Span.Start.Offset:
		return s.quotes(d, at, size)
	case found == "#":
		if s.commentFits(d.Span, at) {
			return put(`write //`, d.Span, "//")
		}
	case found == "--" && s.startsLine(d.Span.Start):
		return s.hinted(d, `a comment begins with "//"`, put(`write //`, d.Span, "//"))
	case found == "/" && at > 1 && s.typ(at) == tokIdent && s.toks[at-2].Value == "package":
		return s.hinted(d, `the parts of a package's name stand beside "."`, write(d.Span, "."))
	case found == "|":
		d.Hint = "a type is one type: declare an enum, or a record with optional fields"
	case only(unicode.IsSpace):
		return put("write an ordinary space", d.Span, " ")
	case only(func(r rune) bool { return unicode.Is(unicode.Cf, r) }):
		return put("remove the invisible character", d.Span, "")
	}
	return Fix{}
}

// commentFits reports whether what stands from a place to the end of its line,
// and before the token at an index, is hardly meant to be read.
func (s *suggester) commentFits(from Span, at int) bool {
	rest, _, _ := strings.Cut(s.text[from.End.Offset:], "\n")
	switch s.typ(at - 1) {
	case ';', ',', '{', '}', lexer.EOF:
		return !strings.ContainsAny(rest, "{}")
	}
	return false
}

// quotes puts a string in double quotes, which stands in others, or a name in
// none.
func (s *suggester) quotes(d *Diagnostic, at, size int) Fix {
	if s.quotesName(at) {
		return s.bare(d, at)
	}
	before := ""
	if at > 0 {
		before = s.toks[at-1].Value
	}
	if !s.inAnnotation(at) && before != "=" && before != "import" && before != "matching" { // no string is right there
		return Fix{}
	}
	whole := over(&s.toks[at])
	raw := s.toks[at].Value
	_, last := utf8.DecodeLastRuneInString(raw)
	if len(raw) < size+last || strings.ContainsAny(raw[size:len(raw)-last], `"\`) {
		return Fix{}
	}
	return write(whole, `"`+raw[size:len(raw)-last]+`"`)
}

// decimal writes the number at an index as numbers are written.
func (s *suggester) decimal(d *Diagnostic, at int) Fix {
	found := s.textOf(d.Span)
	digits := strings.ReplaceAll(strings.TrimLeft(found, "+-"), "_", "")
	if v, err := strconv.ParseUint(digits, 0, 53); err == nil && len(digits) > 1 && digits[0] == '0' && !isDigit(digits[1]) {
		digits = strconv.FormatUint(v, 10)
	}
	if strings.HasSuffix(digits, ".") {
		if digits += "0"; s.typ(at-1) == '=' && at > 1 && s.toks[at-2].Value == "int" {
			digits = strings.TrimSuffix(digits, ".0")
		}
	}
	digits = strings.TrimLeft(digits, "0")
	if digits == "" || !isDigit(digits[0]) {
		digits = "0" + digits
	}
	if strings.HasPrefix(found, "-") {
		digits = "-" + digits
	}
	read := scan(s.file, digits)
	if digits == found || len(read.faults) > 0 || len(read.toks) != 2 || read.toks[0].Type != tokNumber && read.toks[0].Type != tokQuantity {
		return Fix{}
	}
	if bare := strings.TrimLeft(found, "+-"); len(bare) > 1 && bare[0] == '0' && isDigit(bare[1]) {
		return leave(write(d.Span, digits)) // in other languages that is octal
	}
	return write(d.Span, digits)
}

// packageName begins the text with a package clause, named after the file.
func (s *suggester) packageName() Fix {
	name := strings.TrimSuffix(path.Base(strings.ReplaceAll(s.file, `\`, "/")), ".wip")
	if name == "" || strings.IndexFunc(name, func(r rune) bool { return r >= utf8.RuneSelf || !isLetter(byte(r)) && !isDigit(byte(r)) }) >= 0 || isDigit(name[0]) {
		return Fix{}
	}
	start := Pos{Line: 1, Col: 1}
	if strings.HasPrefix(s.text, "\ufeff") {
		start.Offset = len("\ufeff")
	}
	return leave(write(Span{File: s.file, Start: start, End: start}, "package "+strings.ToLower(name)+";\n\n"))
}

// clauseAround returns the span of the clause of the header that the token at
// an index is in, with its semicolon, and the line if nothing else is on it.
func (s *suggester) clauseAround(at int) (Span, bool) {
	from := at
	for from >= 0 && !(s.typ(from) == tokIdent && isTopWord(s.toks[from].Value)) {
		from--
	}
	to := at
	for s.typ(to) != ';' && s.typ(to) != lexer.EOF {
		to++
	}
	if from < 0 || s.typ(to) != ';' {
		return Span{}, false
	}
	clause := between(&s.toks[from], &s.toks[to])
	if start, end := clause.Start, clause.End; s.startsLine(start) {
		rest := s.text[end.Offset:]
		if n := strings.IndexByte(rest, '\n'); n >= 0 && strings.TrimSpace(rest[:n]) == "" {
			clause.Start.Offset -= start.Col - 1
			clause.Start.Col = 1
			clause.End = Pos{Offset: end.Offset + n + 1, Line: end.Line + 1, Col: 1}
		}
	}
	return clause, true
}

// startsLine reports whether only blanks are before a place on its line.
func (s *suggester) startsLine(p Pos) bool {
	return strings.Trim(s.text[p.Offset-(p.Col-1):p.Offset], " \t") == ""
}

// toTheTop moves the clause that the token at an index is in before the first
// clause of the header.
func (s *suggester) toTheTop(at int) Fix {
	clause, ok := s.clauseAround(at)
	first := &s.toks[0]
	if !ok || first.Type != tokIdent || first.Value != "package" || len(s.comments) > 0 && s.comments[0].doc && s.comments[0].start < first.Pos.Offset {
		return Fix{}
	}
	text := strings.TrimSpace(s.textOf(clause))
	return Fix{Title: "move it to the top", Edits: []Edit{{s.before(0), text + "\n"}, {clause, ""}}, Safe: true}
}

package syntax

import (
	"cmp"
	"errors"
	"math"
	"sort"
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// A text that the grammar does not match as a whole is cut into its
// declarations, members and parameters, and each is parsed on its own, so
// that a fault costs no more than the piece it stands in. What is cut where
// follows from braces, semicolons, commas and what can only begin a
// declaration or a member. Cuts only move forward and matching brackets are
// known beforehand, so time is linear in the number of tokens. No cut divides
// what the grammar would match: a valid piece comes out as it would from the
// whole document.

// scope says what a piece stands in, and so what may begin the next one.
type scope uint8

const (
	inFile scope = iota
	inInterface
	inRecord
	inEnum
	inParams
)

// anyColumn lets a declaration start in any column.
const anyColumn = math.MaxInt

// recovery parses a faulty text piece by piece.
type recovery struct {
	*builder
	pieces     *parsers
	i          int     // the next token
	closing    []int32 // by the index of "(" or "{": that of what closes it, or 0
	open       bool    // a block is being read
	balanced   bool    // and its braces come in pairs
	muted      bool    // what is read now would repeat a reported fault
	hasPackage bool    // there is a package clause, if a faulty one
	lastFound  int     // the token that the last fault is about, or -1
	lastEnd    int     // index behind the piece of the last fault
	last       *body   // the declaration read last, or nil
}

// newRecovery finds the matching brackets.
func newRecovery(b *builder) *recovery {
	r := &recovery{builder: b, pieces: pieces(), closing: make([]int32, len(b.toks)), lastFound: -1, hasPackage: b.tree.Package != nil}
	r.unquoteNames()
	var parens, braces []int32
	arrow := false // an arrow stands behind the first of the open parentheses
	for i, t := range b.toks {
		switch t.Type {
		case '(':
			arrow = arrow && len(parens) > 0
			parens = append(parens, int32(i))
		case ')':
			if n := len(parens); n > 0 {
				r.closing[parens[n-1]] = int32(i)
				parens = parens[:n-1]
			}
		case tokArrow:
			arrow = true
		case ';':
			if arrow { // the end of an operation
				parens = parens[:0]
			}
		case '{':
			if i > 0 && isTopWord(b.toks[i-1].Value) || i > 1 && isTopWord(b.toks[i-2].Value) {
				parens = parens[:0]
			}
			braces = append(braces, int32(i))
		case '}':
			if r.startsLine(i) && !r.is(i+1, ')') {
				parens = parens[:0]
			}
			if n := len(braces); n > 0 {
				r.closing[braces[n-1]] = int32(i)
				braces = braces[:n-1]
			}
		}
	}
	return r
}

// tok returns the token at i, or the end behind the last.
func (r *recovery) tok(i int) *lexer.Token { return &r.toks[min(i, len(r.toks)-1)] }

// is reports whether the token at i is of type t.
func (r *recovery) is(i int, t lexer.TokenType) bool { return r.tok(i).Type == t }

// startsLine reports whether the token at i is the first on its line.
func (r *recovery) startsLine(i int) bool {
	return i == 0 || r.toks[i-1].Pos.Line != r.tok(i).Pos.Line
}

// skip returns the index behind the token at i, or behind the block or list
// that it opens. Where braces do not come in pairs, a brace opens nothing.
func (r *recovery) skip(i int) int {
	if c := r.closing[i]; c > 0 && (r.balanced || !r.is(i, '{')) {
		return int(c) + 1
	}
	return i + 1
}

// declares reports whether a keyword stands at i with what belongs to it. That
// is nowhere so in a valid member, nor behind "@".
func (r *recovery) declares(i int) bool {
	t, next := r.tok(i), r.tok(i+1).Type
	if t.Type != tokIdent {
		return false
	}
	switch t.Value {
	case "interface", "record", "enum":
		return next == '{' || next == tokIdent && r.is(i+2, '{')
	case "package":
		return next == tokIdent && (r.is(i+2, ';') || r.is(i+2, '.'))
	case "version":
		return next == tokNumber
	case "import":
		return next == tokString
	}
	return false
}

// startsDeclaration reports whether a declaration or clause starts at i, be it
// faulty. What it looks for stands nowhere in a valid member, but perhaps
// behind "@".
func (r *recovery) startsDeclaration(i, column int) bool {
	return r.declares(i) || r.startsLine(i) && r.tok(i).Pos.Column <= column && r.seemsDeclaration(i)
}

// seemsDeclaration reports whether what stands at i would be a declaration or
// clause, be it faulty, if one could start there.
func (r *recovery) seemsDeclaration(i int) bool {
	t, next := r.tok(i), r.tok(i+1).Type
	switch {
	case t.Type != tokIdent:
		return false
	case !isTopWord(t.Value): // perhaps misspelt
		return next == tokIdent && r.is(i+2, '{')
	}
	return next == tokIdent || next == tokString || next == tokNumber || next == '{'
}

// startsInFile reports whether a declaration or clause starts at i where no
// block is open: there it may also stand behind the end of another on its line.
func (r *recovery) startsInFile(i int) bool {
	return r.startsDeclaration(i, anyColumn) || i > 0 && (r.is(i-1, ';') || r.is(i-1, '}')) && r.seemsDeclaration(i)
}

// startsMember reports whether a member starts at i, where one may have ended
// before. What it looks for stands nowhere within a valid member.
func (r *recovery) startsMember(i int, in scope) bool {
	if i > 0 && !r.startsLine(i) && !endsPiece(r.toks[i-1].Type) && !endsMember(r.toks[i-1].Type) {
		return false
	}
	switch in {
	case inInterface:
		return r.is(i, tokIdent) && r.is(i+1, '(')
	case inRecord, inParams:
		return (r.is(i, tokIdent) || r.is(i, tokNumber)) && r.is(i+1, ':')
	case inEnum:
		return r.is(i, tokIdent) && (r.is(i+1, ',') || r.is(i+1, '}'))
	}
	return false
}

// endsPiece reports whether a type or value can end with a token of type t.
func endsPiece(t lexer.TokenType) bool {
	switch t {
	case tokIdent, tokString, tokNumber, tokQuantity, '>', ']', '?', ')':
		return true
	}
	return false
}

// endsMember reports whether a member can stand directly behind t.
func endsMember(t lexer.TokenType) bool {
	return t == ';' || t == ',' || t == '(' || t == '{' || t == '}'
}

// annotated returns the index behind the annotations that start at i.
func (r *recovery) annotated(i int, in scope) int {
	for r.is(i, '@') {
		i = r.annotationEnd(i, in)
	}
	return i
}

// annotationEnd returns the index behind the annotation at i. One that is
// never closed ends where something else can only begin.
func (r *recovery) annotationEnd(i int, in scope) int {
	i++
	if r.is(i, tokIdent) && !r.declares(i) {
		i++
	}
	if !r.is(i, '(') {
		return i
	}
	if c := r.closing[i]; c > 0 {
		return int(c) + 1
	}
	for i++; ; i++ {
		switch t := r.tok(i); {
		case t.Type == '}' && !r.startsLine(i) && (r.is(i+1, '@') || r.startsMember(i+1, in)): // in place of the parenthesis
			return i + 1
		case t.EOF() || t.Type == '{' || t.Type == '}' || t.Type == ';':
			return i
		case t.Type == '@' && r.startsLine(i), r.startsDeclaration(i, anyColumn), r.startsMember(i, in):
			return i
		case r.closing[i] > 0:
			i = int(r.closing[i])
		}
	}
}

// fail reports a fault in the tokens [from, to), unless it follows from one
// that is reported: about the same token, by the scanner, or that a block
// ends with the file.
func (r *recovery) fail(from, to int, d Diagnostic) {
	r.cover(r.tok(from).Pos.Offset, r.tok(to).Pos.Offset)
	found := sort.Search(len(r.toks), func(i int) bool { return r.toks[i].Pos.Offset >= d.Span.Start.Offset })
	if r.open && r.tok(found).EOF() {
		return
	}
	repeated := found == r.lastFound
	r.lastFound, r.lastEnd = found, to
	if !repeated && !r.broken && !r.muted && !r.lexicalFault(from, to, found) {
		r.report(d)
	}
}

// follows reports whether a faulty piece ends at from, with what was wrong in
// it, on the same line, and nothing starts here. Then what comes next is most
// likely its rest.
func (r *recovery) follows(from int, in scope) bool {
	return from > 0 && from == r.lastEnd && r.lastFound >= from-1 && !r.startsLine(from) && !r.begins(from, in)
}

// begins reports whether something begins at i, behind a faulty piece, rather
// than that it goes on: a member, be it faulty, behind the end of another.
func (r *recovery) begins(i int, in scope) bool {
	ended := r.is(i-1, ';') || r.is(i-1, '}')
	switch {
	case r.startsMember(r.annotated(i, in), in):
		return true
	case in == inFile:
		return ended && (r.is(i, '@') || r.is(i, tokIdent) && r.is(i+1, tokIdent))
	case !ended || in == inParams:
		return false
	case r.is(i, tokIdent):
		return r.is(i+1, tokIdent) || r.is(i+1, '(') || r.is(i+1, ':')
	}
	return r.is(i, '@') || r.is(i, ';')
}

// passOver lets the separator at i count as part of the faulty piece before it.
func (r *recovery) passOver(i int) {
	if r.lastEnd == i {
		r.lastEnd++
	}
}

// quietly runs f, and if quiet is set, reports none of its faults.
func (r *recovery) quietly(quiet bool, f func()) {
	muted := r.muted
	r.muted = muted || quiet
	f()
	r.muted = muted
}

// lexicalFault reports whether the scanner passed over something in the tokens
// [from, to) or beside them, or guessed where something ends: what the grammar
// then misses at the token found is most likely that. A token that is faulty in
// itself is there, but a number may have swallowed what follows it.
func (r *recovery) lexicalFault(from, to, found int) bool {
	start := 0
	if from > 0 {
		start = endOf(&r.toks[from-1]).Offset
	}
	all := r.scanner.faults
	i := sort.Search(len(all), func(i int) bool { return all[i].Span.Start.Offset >= start })
	for ; i < len(all) && all[i].Span.Start.Offset < r.tok(to).Pos.Offset; i++ {
		at := all[i].Span.Start.Offset
		k := sort.Search(len(r.toks), func(k int) bool { return endOf(&r.toks[k]).Offset > at })
		itself := found == k && all[i].Rule != RuleBadEscape || found == k+1 && all[i].Rule == RuleBadNumber
		if itself || all[i].Rule == RuleUnterminatedString || r.tok(k).Pos.Offset > at {
			return true
		}
	}
	return false
}

// unexpected returns the fault that the token at i is not what was expected.
func (r *recovery) unexpected(i int, rule, expected, hint string) Diagnostic {
	t := r.tok(i)
	d := Diagnostic{Rule: rule, Span: over(t), Message: "found " + describe(t) + ", expected " + expected, Hint: hint}
	if i > 0 && (rule == RuleMissingSemicolon && t.Type != ',' || rule == RuleMissingComma) {
		d.Span = behind(&r.toks[i-1])
	}
	return d
}

// describe names a token in a message.
func describe(t *lexer.Token) string {
	switch {
	case t.EOF():
		return "the end of the file"
	case t.Type == tokString:
		return "a string"
	}
	return quote(t.Value)
}

// explain puts an error of the grammar on the tokens [from, to) into words,
// and returns the index of the token that it is about. The words in more say
// what could go on behind a piece that is whole.
func (r *recovery) explain(err error, from, to int, more, hint string) (int, Diagnostic) {
	i, f := to, &fault{rule: RuleUnexpectedToken, expected: more}
	var u *participle.UnexpectedTokenError
	if errors.As(err, &f) {
		i = r.index(&f.found, to)
	} else if errors.As(err, &u) {
		i = r.index(&u.Unexpected, to)
		if words := inWords(u.Message()); words != "" {
			f.expected = words
		}
	}
	if f.expected == semicolon && (i == to || r.startsLine(i) || r.is(i, ',') && (i+1 == to || r.startsLine(i+1))) {
		return i, r.unexpected(i, RuleMissingSemicolon, semicolon, "")
	}
	d := r.unexpected(i, f.rule, f.expected, cmp.Or(f.hint, hint))
	if f.opening != nil {
		d.Related = []Related{{Span: over(f.opening), Message: "opened here"}}
	}
	return i, d
}

// inWords says what participle's message expects, or "".
func inWords(message string) string {
	_, grammar, ok := strings.Cut(message, "(expected ")
	if !ok {
		return ""
	}
	term, _, _ := strings.Cut(strings.TrimSuffix(grammar, ")"), " ")
	switch term {
	case "<number>":
		return "a whole number"
	case "<string>":
		return "a file's name in double quotes"
	case "ident":
		return "a name"
	}
	return term
}

// index returns the index of a token of the piece that ends before to; that
// is to itself for the piece's end.
func (r *recovery) index(t *lexer.Token, to int) int {
	return sort.Search(to, func(i int) bool { return r.toks[i].Pos.Offset >= t.Pos.Offset })
}

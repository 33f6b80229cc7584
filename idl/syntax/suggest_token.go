package syntax

import (
	"slices"
	"sort"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"
)

// unexpected returns the fix of a token, at an index, that stands where the
// grammar has no place for it.
func (s *suggester) unexpected(d *Diagnostic, at int) Fix {
	found := s.typ(at)
	if word, ok := strings.CutPrefix(d.Hint, `write "`); ok {
		if word = strings.TrimSuffix(word, `"`); isTopWord(word) {
			f := write(d.Span, word)
			if otherWords[s.toks[at].Value] != "" { // other languages have other kinds of them
				return leave(f)
			}
			return f
		}
	}
	switch {
	case strings.HasSuffix(d.Hint, "remove it"):
		last, next := s.typ(at-1), s.typ(at+1)
		sound := next == tokIdent || next == '@' || next == '}' || next == lexer.EOF
		if sound && (last == ';' || last == '}' || last == ',') { // else something beside it may be wrong
			return put("remove it", d.Span, "")
		}
	case strings.HasPrefix(d.Hint, "remove the brace"):
		return s.reopen(d, at)
	case d.Hint == `labels are separated by ","`, d.Hint == `parameters are separated by ","`:
		return write(d.Span, ",")
	case d.Hint == "labels have no values":
		return s.noValue(at)
	case d.Hint == `write the refinement before "?"`:
		return s.optionalLast(at)
	case strings.HasPrefix(d.Hint, "write ") && strings.HasSuffix(d.Hint, " bytes"):
		return write(d.Span, strings.TrimPrefix(d.Hint, "write "))
	case strings.HasPrefix(d.Hint, "write -> "):
		return s.arrow(d, at)
	case strings.HasPrefix(d.Hint, "write name: type") && found == tokIdent:
		return s.colon(at)
	case strings.HasPrefix(d.Hint, "an Object has no properties") && found == ':' && s.plainMember(at):
		return write(d.Span, "() ->")
	case strings.HasSuffix(d.Hint, "() -> type;") && found == tokArrow:
		return write(behind(&s.toks[at-1]), "()")
	case strings.Contains(d.Message, `expected "{" behind the name`) && at > 0 && s.startsMember(at) && !s.braceOnLine(at):
		return write(behind(&s.toks[at-1]), " {")
	}
	return Fix{}
}

// plainMember reports whether only a type stands between an index and the end
// of the member.
func (s *suggester) plainMember(at int) bool {
	for at++; ; at++ {
		switch s.typ(at) {
		case ';':
			return true
		case '(', ')', '=', ':', '{', '}', '@', tokArrow, lexer.EOF:
			return false
		}
	}
}

// anotherArg reports whether the token at an index begins another argument of
// an annotation that takes several: it is named, or like the one before.
func (s *suggester) anotherArg(at int) bool {
	if s.typ(at) == tokIdent && s.typ(at+1) == ':' {
		return true
	}
	t := s.typ(at)
	return (t == tokString || t == tokIdent) && s.typ(at-1) == t && s.typ(at-2) != ':' && s.toks[at].Value != s.toks[at-1].Value
}

// endsRefinement reports whether what stands at an index can be behind a
// refinement, which is not closed further on.
func (s *suggester) endsRefinement(at int) bool {
	switch s.typ(at) {
	case ';', ',', ')', '>', '=', '?', tokArrow, '@', '}', tokIdent:
	default:
		return false
	}
	for {
		switch s.typ(at) {
		case ']':
			return false
		case ';', '{', '}', '[', ':', tokArrow, lexer.EOF:
			return true
		}
		at++
	}
}

// typeWords are the plain built-in types, to see that one stands in place of a
// name.
var typeWords = []string{"bool", "int", "float", "string", "text", "uuid", "timestamp", "duration", "bytes", "entry"}

// colon writes the colon between a name and the type at an index, which may
// stand the other way round.
func (s *suggester) colon(at int) Fix {
	if s.typ(at) != tokIdent || s.typ(at-1) != tokIdent {
		return Fix{}
	}
	first := &s.toks[at-1]
	switch s.typ(at + 1) {
	case ';', ',', ')':
		if slices.Contains(typeWords, first.Value) {
			return write(between(first, &s.toks[at]), s.toks[at].Value+": "+first.Value)
		}
	case '<', '[', '?':
	default:
		return Fix{}
	}
	return write(behind(first), ":")
}

// reopen takes away the brace that closed a block before the member at an
// index, if another brace closes it later.
func (s *suggester) reopen(d *Diagnostic, at int) Fix {
	if len(d.Related) == 0 {
		return Fix{}
	}
	for i := at; s.typ(i) != lexer.EOF; i++ {
		switch s.typ(i) {
		case '}':
			return leave(put("remove the brace", d.Related[0].Span, ""))
		case '{':
			return Fix{}
		}
	}
	return Fix{}
}

// noValue takes away the value of a label, which begins at an index.
func (s *suggester) noValue(at int) Fix {
	if t := s.typ(at + 1); at == 0 || t != tokNumber && t != tokString || s.typ(at+2) != ',' && s.typ(at+2) != '}' {
		return Fix{}
	}
	value := behind(&s.toks[at-1])
	value.End = endOf(&s.toks[at+1])
	return leave(put("remove the value", value, ""))
}

// optionalLast moves the "?" before a refinement, at an index, behind it.
func (s *suggester) optionalLast(at int) Fix {
	end := at
	for s.typ(end) != ']' {
		if t := s.typ(end); t == lexer.EOF || t == ';' || t == '{' || t == '}' {
			return Fix{}
		}
		end++
	}
	if s.typ(at-1) != '?' || s.typ(end+1) == '?' {
		return Fix{}
	}
	return Fix{Title: `move the "?" behind it`, Edits: []Edit{{over(&s.toks[at-1]), ""}, {behind(&s.toks[end]), "?"}}, Safe: true}
}

// arrow writes the arrow before an operation's result, for what was written
// there, or before a type.
func (s *suggester) arrow(d *Diagnostic, at int) Fix {
	switch {
	case s.typ(at) == ':' && s.typ(at+1) == tokIdent:
		return write(d.Span, " ->")
	case s.typ(at) == tokIdent && s.typ(at-1) == ')':
		return write(s.before(at), "-> ")
	case s.typ(at) == '=' && s.typ(at+1) == '>':
		return write(between(&s.toks[at], &s.toks[at+1]), "->")
	}
	return Fix{}
}

// startsMember reports whether the token at an index can begin a member.
func (s *suggester) startsMember(at int) bool {
	next := s.typ(at + 1)
	return s.typ(at) == tokIdent && (next == ':' || next == '(' || next == ',')
}

// braceOnLine reports whether a brace opens a block on the line of the token
// at an index, or behind it.
func (s *suggester) braceOnLine(at int) bool {
	for i := at; s.typ(i) != lexer.EOF && s.toks[i].Pos.Line == s.toks[at].Pos.Line; i++ {
		if s.typ(i) == '{' {
			return true
		}
	}
	return false
}

// plainComment makes plain comments of doc comments that document nothing.
func (s *suggester) plainComment(d *Diagnostic) Fix {
	f := Fix{Title: "write //", Safe: true}
	i := sort.Search(len(s.comments), func(i int) bool { return s.comments[i].start >= d.Span.Start.Offset })
	for next := -1; i < len(s.comments); i++ {
		c := s.comments[i]
		if next >= 0 && c.next != next {
			break
		}
		next = c.next
		if c.doc {
			slash := Span{File: s.file, Start: c.pos, End: c.pos}
			slash.End.Offset++
			slash.End.Col++
			f.Edits = append(f.Edits, Edit{Span: slash})
		}
	}
	return f
}

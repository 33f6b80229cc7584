package syntax

import (
	"slices"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"
)

// Slips of values and words that are written apart.

// units are those of quantities.
var units = []string{"ms", "s", "m", "h", "B", "KiB", "MiB"}

// isUnit reports whether the token at an index is the unit of a quantity.
func (s *suggester) isUnit(at int) bool {
	return s.typ(at) == tokIdent && slices.Contains(units, s.toks[at].Value)
}

// joined writes the number before an index and the unit at it as one.
func (s *suggester) joined(d *Diagnostic, at int) Fix {
	whole := between(&s.toks[at-1], &s.toks[at])
	text := s.toks[at-1].Value + s.toks[at].Value
	return s.hinted(d, "a unit stands directly behind its number: write "+text, write(whole, text))
}

// oneValue makes one value of an argument of an annotation that goes on at an
// index: of a number and its unit, or of words that stand where text is meant.
func (s *suggester) oneValue(d *Diagnostic, at int) Fix {
	if s.typ(at-1) == tokNumber && s.typ(at) == tokIdent && s.typ(at+1) != ':' {
		if s.isUnit(at) {
			return s.joined(d, at)
		}
		d.Hint = "a unit stands directly behind its number, and is one of " + strings.Join(units, ", ")
		return Fix{}
	}
	if name := s.annotationAround(at); name != "alias" && name != "deprecated" {
		return Fix{}
	}
	from, to := at, at
	for isWord(s.typ(from - 1)) {
		from--
	}
	for isWord(s.typ(to+1)) && s.typ(to+2) != ':' && s.toks[to+1].Pos.Line == s.toks[from].Pos.Line {
		to++
	}
	if next := s.typ(to + 1); next != ')' && next != ',' || s.toks[from].Pos.Line != s.toks[to].Pos.Line {
		return Fix{}
	}
	whole := between(&s.toks[from], &s.toks[to])
	text := s.textOf(whole)
	if strings.ContainsAny(text, "\"\\/") {
		return Fix{}
	}
	return s.hinted(d, "words stand in quotes", write(whole, `"`+text+`"`))
}

func isWord(t lexer.TokenType) bool { return t == tokIdent || t == tokNumber || t == tokQuantity }

// annotationAround returns the name of the annotation that has the token at an
// index among its arguments, or "".
func (s *suggester) annotationAround(at int) string {
	for at--; at > 1; at-- {
		switch s.typ(at) {
		case '(':
			if s.typ(at-1) == tokIdent && s.typ(at-2) == '@' {
				return s.toks[at-1].Value
			}
			return ""
		case ')', ';', '{', '}':
			return ""
		}
	}
	return ""
}

// modifiers are words that other languages put before a member, and what to
// write instead.
var modifiers = map[string]string{
	"optional": `write "?" behind the type of what may be absent`,
	"required": "what has no ? and no default is required",
	"repeated": "several values are a list: write list<T>",
}

// modifier writes what a word before a name, at an index, is meant to say.
func (s *suggester) modifier(d *Diagnostic, at int) Fix {
	word := s.toks[at-1].Value
	d.Hint = modifiers[word]
	gap := over(&s.toks[at-1])
	gap.End = startOf(&s.toks[at])
	f := Fix{Title: "remove " + quote(word), Edits: []Edit{{Span: gap}}, Safe: true}
	first := at + 2
	end, depth := first, 0 // of the type
	for ; ; end++ {
		switch t := s.typ(end); {
		case t == '<' || t == '[':
			depth++
		case t == '>' || t == ']':
			depth--
		case t == lexer.EOF || t == '{' || t == '}' || t == ';' || t == '@' || depth <= 0 && (t == ',' || t == ')' || t == '='):
			switch {
			case depth != 0 || end == first || t == '=' && word != "required":
				return Fix{}
			case word == "optional" && s.typ(end-1) != '?':
				f.Title = `write "?" behind the type`
				f.Edits = append(f.Edits, Edit{behind(&s.toks[end-1]), "?"})
			case word == "repeated":
				f.Title = "write list<" + s.textOf(between(&s.toks[first], &s.toks[end-1])) + ">"
				f.Edits = append(f.Edits, Edit{s.before(first), "list<"}, Edit{behind(&s.toks[end-1]), ">"})
			}
			return f
		}
	}
}

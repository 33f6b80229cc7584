package syntax

import (
	"slices"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"
)

// Slips that come from the habits of other languages. Where the parser says
// only what was expected, they say what to write instead.

// slip hints at what was meant by the token at an index, which stands where
// the grammar has no place for it, and returns the fix if there is one.
func (s *suggester) slip(d *Diagnostic, at int) Fix {
	found, before, behindIt := s.typ(at), s.typ(at-1), s.typ(at+1)
	expects := func(what string) bool { return strings.Contains(d.Message, "expected "+what) }
	hint := func(text string) Fix {
		if d.Hint == "" || strings.HasPrefix(d.Hint, "write name: type") || strings.HasPrefix(d.Hint, "a type is ") ||
			strings.HasPrefix(d.Hint, "a value is ") || strings.HasPrefix(d.Hint, "the arguments of ") || strings.HasSuffix(d.Hint, "() -> type;") {
			d.Hint = text
		}
		return Fix{}
	}
	switch {
	case expects("a whole number") && found == tokString && isDigits(unquote(s.toks[at].Value)):
		return s.hinted(d, "write it without quotes", write(d.Span, unquote(s.toks[at].Value)))
	case expects("a name") && found == tokString && s.typ(at-1) == tokIdent && s.toks[at-1].Value == "package" && isPath(unquote(s.toks[at].Value)):
		return s.hinted(d, "write it without quotes", write(d.Span, unquote(s.toks[at].Value)))
	case expects(`".." and the other end`):
		return s.otherEnd(d, at)
	case expects("a range such as") && found == ']' && before == '[' && s.typ(at-2) == tokIdent:
		list := "list<" + s.toks[at-2].Value + ">"
		return s.hinted(d, "write "+list, write(between(&s.toks[at-2], &s.toks[at]), list))
	case expects("a type") && found == '?' && behindIt == tokIdent && s.endsType(at+2):
		typ := s.toks[at+1].Value + "?"
		return s.hinted(d, `write "?" behind the type`, write(between(&s.toks[at], &s.toks[at+1]), typ))
	case expects(`":" and a type`) && found == '?' && behindIt == ':' && s.typ(at+2) == tokIdent && s.endsType(at+3):
		f := Fix{Title: `move the "?" behind the type`, Edits: []Edit{{Span: d.Span}, {behind(&s.toks[at+2]), "?"}}, Safe: true}
		return s.hinted(d, `write "?" behind the type`, f)
	case expects(`":" and a type`) && found == tokIdent && before == tokIdent && behindIt == ':' && modifiers[s.toks[at-1].Value] != "":
		return s.modifier(d, at)
	case found == tokIdent && before == tokNumber && s.isUnit(at):
		return s.joined(d, at)
	case expects(`":" and a type`) && (found == tokArrow || found == '=') && behindIt == tokIdent && before == tokIdent:
		gap := behind(&s.toks[at-1])
		gap.End = endOf(&s.toks[at])
		return write(gap, ":")
	case expects(`";"`) && found == '=':
		return s.noDefault(d, at)
	case expects(`";"`) && found == '{':
		hint("an operation has no body")
		if behindIt == '}' {
			body := behind(&s.toks[at-1])
			body.End = endOf(&s.toks[at+1])
			return put("write ; instead", body, ";")
		}
	case expects(`";"`) && found == '?' && before == '?':
		return s.hinted(d, "remove it", put("remove it", d.Span, ""))
	case expects(`";"`) && found == '@':
		return hint("an annotation stands before what it is about")
	case expects(`";"`) && found == ',' && s.isResult(at):
		return hint("an operation has one result: declare a record with what it returns")
	case expects(`"," or ")"`) && found == tokDots:
		return hint("several values are sent as a list: list<T>")
	case expects(`"," or ")" in the annotation's`) && found == '=' && before == tokIdent:
		gap := behind(&s.toks[at-1])
		gap.End = endOf(&s.toks[at])
		return s.hinted(d, "write name: value", put("write :", gap, ":"))
	case expects("a value") && found == '[':
		if s.inAnnotation(at) {
			if s.annotationAround(at) == "example" {
				return hint("a list cannot be written in an example: leave the argument out")
			}
			return hint(`write its elements without "[" and "]"`)
		}
		return hint("a list cannot be written in a document")
	case expects(`an operation, or "@"`):
		return hint(`write "@" before it if it is an annotation`)
	case expects(`an operation or "}"`) && found == tokArrow:
		return s.noAnnotation(d, at)
	case (expects("an operation or") || expects("a field or")) && before == tokIdent && s.typ(at-2) == '@' &&
		(found == tokString || found == tokNumber || found == tokQuantity):
		gap := behind(&s.toks[at-1])
		gap.End = d.Span.End
		return put("write it in parentheses", gap, "("+s.toks[at].Value+")")
	case expects(`"{" behind the name`) && found == tokIdent && (s.toks[at].Value == "extends" || s.toks[at].Value == "implements"):
		return hint("declarations do not extend each other: hold the other record in a field, or give an Object both interfaces")
	case expects(`"(" and the operation's`) && found == tokIdent && before == tokIdent && behindIt == '(' && s.arrowBehind(at+1):
		first := &s.toks[at-1]
		word := over(first)
		word.End = startOf(&s.toks[at])
		return s.hinted(d, "an operation begins with its name: remove "+quote(first.Value), put("remove "+quote(first.Value), word, ""))
	case expects(`"(" and the operation's`) && found == tokIdent:
		return hint("write name(parameter: type) -> type;")
	}
	return Fix{}
}

// arrowBehind reports whether an arrow stands behind the list that opens at an
// index.
func (s *suggester) arrowBehind(at int) bool {
	for ; s.typ(at) != lexer.EOF && s.typ(at) != ';' && s.typ(at) != '{'; at++ {
		if s.typ(at) == ')' {
			return s.typ(at+1) == tokArrow
		}
	}
	return false
}

// hinted puts a hint into a fault and returns the fix that it goes with.
func (s *suggester) hinted(d *Diagnostic, hint string, f Fix) Fix {
	d.Hint = hint
	return f
}

func isDigits(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == "" && text[0] != '0'
}

// isPath reports whether a text is names with dots between them.
func isPath(text string) bool {
	return !slices.ContainsFunc(strings.Split(text, "."), func(part string) bool {
		return part == "" || isDigit(part[0]) || strings.IndexFunc(part, func(r rune) bool { return r > 0x7f || !isLetter(byte(r)) && !isDigit(byte(r)) }) >= 0
	})
}

// endsType reports whether a type cannot go on with the token at an index.
func (s *suggester) endsType(at int) bool {
	t := s.typ(at)
	return t == ';' || t == ',' || t == ')' || t == '>'
}

// isResult reports whether the token at an index stands behind an arrow.
func (s *suggester) isResult(at int) bool {
	for at--; at >= 0; at-- {
		switch s.typ(at) {
		case tokArrow:
			return true
		case ';', '{', '}', '(':
			return false
		}
	}
	return false
}

// otherEnd says how a range is written that has one end, or something else
// between its ends than two dots.
func (s *suggester) otherEnd(d *Diagnostic, at int) Fix {
	if at == 0 {
		return Fix{}
	}
	first := s.toks[at-1].Value
	gap := behind(&s.toks[at-1])
	switch {
	case s.typ(at) == ']':
		d.Hint = "write [.." + first + "] for at most " + first + ", [" + first + ".." + first + "] for exactly " + first + ", [" + first + "..] for at least " + first
	case s.typ(at) == tokIdent && s.toks[at].Value == "bytes" && s.typ(at+1) == ']':
		d.Hint = "write [.." + first + " bytes] for at most " + first + ", [" + first + ".." + first + " bytes] for exactly " + first
	case s.typ(at) == tokNumber && s.toks[at].Value[0] == '-' && (s.typ(at+1) == ']' || s.typ(at+1) == tokIdent):
		gap.End = endOf(&s.toks[at])
		return s.hinted(d, "write "+first+".."+s.toks[at].Value[1:], put("write ..", gap, ".."+s.toks[at].Value[1:]))
	case (s.typ(at) == ',' || s.typ(at) == ':') && s.typ(at+1) == tokNumber:
		gap.End = startOf(&s.toks[at+1])
		return s.hinted(d, "write "+first+".."+s.toks[at+1].Value, put("write ..", gap, ".."))
	}
	return Fix{}
}

// noDefault takes away what stands behind a field's type.
func (s *suggester) noDefault(d *Diagnostic, at int) Fix {
	d.Hint = "a field has no default and no number"
	if t := s.typ(at + 1); t != tokNumber && t != tokString && t != tokIdent && t != tokQuantity || s.typ(at+2) != ';' {
		return Fix{}
	}
	gap := behind(&s.toks[at-1])
	gap.End = endOf(&s.toks[at+1])
	return leave(put("remove it", gap, ""))
}

// noAnnotation takes the "@" from what was read as an annotation before an
// arrow.
func (s *suggester) noAnnotation(d *Diagnostic, at int) Fix {
	open := at - 1
	for ; open > 1 && s.typ(open) != '('; open-- {
		if t := s.typ(open); t == ';' || t == '{' || t == '}' || t == lexer.EOF {
			return Fix{}
		}
	}
	if open < 2 || s.typ(at-1) != ')' || s.typ(open-1) != tokIdent || s.typ(open-2) != '@' {
		return Fix{}
	}
	sign := over(&s.toks[open-2])
	sign.End = startOf(&s.toks[open-1])
	return s.hinted(d, `what stands behind "@" is an annotation: remove the "@"`, put(`remove the "@"`, sign, ""))
}

// quotesName reports whether the token at an index is a string where only a
// name can stand.
func (s *suggester) quotesName(at int) bool {
	if s.typ(at) != tokString {
		return false
	}
	before, next := s.typ(at-1), s.typ(at+1)
	switch {
	case next == ':':
		return true // of a field, a parameter or an argument
	case s.inAnnotation(at):
		return false
	case before == tokIdent:
		word := s.toks[at-1].Value
		return isTopWord(word) && word != "import" && word != "version"
	case before == '{' || before == ',':
		return next == ',' || next == '}' || next == '(' // a label, or an operation
	}
	return next == '(' || before == '@' || s.typePlace(at)
}

// typePlace reports whether a type stands where the token at an index does.
func (s *suggester) typePlace(at int) bool {
	before := s.typ(at - 1)
	return before == ':' || before == tokArrow || before == '<'
}

// bare writes the name at an index without its quotes, if it is one.
func (s *suggester) bare(d *Diagnostic, at int) Fix {
	name := unquote(s.toks[at].Value)
	ok, hint := isPath(name) && !isTopWord(name), "a name stands without quotes, and is made of letters, digits and _"
	switch {
	case s.typePlace(at):
		hint = "a type stands without quotes, such as text or list<int>"
		ok = slices.Contains(typeWords, name) // others may not be declared
	case s.typ(at-1) != tokIdent || s.toks[at-1].Value != "package":
		ok = ok && !strings.Contains(name, ".")
	}
	if !ok {
		return s.hinted(d, hint, Fix{})
	}
	return s.hinted(d, "write it without quotes", write(over(&s.toks[at]), name))
}

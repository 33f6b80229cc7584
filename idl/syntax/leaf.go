package syntax

import (
	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// The leaves of the grammar parse themselves: they are most of a document,
// and participle's reflection would cost several times as much for them.

type (
	ident      struct{ Ident }
	typeRef    struct{ *TypeExpr }
	value      struct{ *Value }
	annotation struct{ *Annotation }
)

var (
	_ participle.Parseable = (*ident)(nil)
	_ participle.Parseable = (*typeRef)(nil)
	_ participle.Parseable = (*value)(nil)
	_ participle.Parseable = (*annotation)(nil)
)

// fault is what a leaf found wrong.
type fault struct {
	rule     string
	found    lexer.Token // the end of the tokens where nothing more was found
	expected string      // in plain words
	hint     string
	opening  *lexer.Token // what was opened and never closed, or nil
}

// Error returns the fault without its place.
func (f *fault) Error() string { return "expected " + f.expected }

// Parse reads a name.
func (n *ident) Parse(lex *lexer.PeekingLexer) error {
	t := lex.Peek()
	if t.Type != tokIdent {
		return participle.NextMatch
	}
	lex.Next()
	n.Ident = identOf(t)
	return nil
}

// Parse reads a type.
func (r *typeRef) Parse(lex *lexer.PeekingLexer) error {
	t, f := parseType(lex, 1)
	if f != nil {
		return f
	}
	r.TypeExpr = t
	return nil
}

// Parse reads a value.
func (v *value) Parse(lex *lexer.PeekingLexer) error {
	val, f := parseValue(lex)
	if f != nil {
		return f
	}
	v.Value = val
	return nil
}

// Parse reads an annotation.
func (a *annotation) Parse(lex *lexer.PeekingLexer) error {
	if lex.Peek().Type != '@' {
		return participle.NextMatch
	}
	ann, f := parseAnnotation(lex)
	if f != nil {
		return f
	}
	a.Annotation = ann
	return nil
}

// identOf returns the name that a token is.
func identOf(t *lexer.Token) Ident {
	if !isLetter(t.Value[0]) && isQuoted(t) {
		return quotedIdent(t)
	}
	return Ident{Name: t.Value, Span: over(t)}
}

// parseType reads a type that stands depth lists of arguments deep.
func parseType(lex *lexer.PeekingLexer, depth int) (*TypeExpr, *fault) {
	first := lex.Peek()
	if first.Type != tokIdent {
		return nil, &fault{rule: RuleMissingType, found: *first, expected: "a type"}
	}
	if depth > MaxTypeDepth {
		return nil, &fault{rule: RuleTooDeep, found: *first, expected: "no further type arguments at this depth",
			hint: "declare a record for the inner part"}
	}
	last := lex.Next()
	t := &TypeExpr{Name: identOf(first)}
	if open := lex.Peek(); open.Type == '<' {
		lex.Next()
		for {
			arg, f := parseType(lex, depth+1)
			if f != nil {
				return nil, f
			}
			t.Args = append(t.Args, arg)
			if lex.Peek().Type != ',' {
				break
			}
			lex.Next()
		}
		if end := lex.Peek(); end.Type != '>' {
			return nil, &fault{rule: RuleUnclosedAngle, found: *end, expected: `"," or ">" in the type's arguments`, opening: open}
		}
		last = lex.Next()
	}
	if lex.Peek().Type == '[' {
		r, end, f := parseRefinement(lex)
		if f != nil {
			return nil, f
		}
		t.Refinement, last = r, end
	}
	if lex.Peek().Type == '?' {
		last = lex.Next()
		t.Optional = true
		if again := lex.Peek(); again.Type == '[' {
			return nil, &fault{rule: RuleUnexpectedToken, found: *again, expected: `nothing behind "?"`,
				hint: `write the refinement before "?"`}
		}
	}
	t.Span = between(first, last)
	return t, nil
}

// parseRefinement reads a range or a pattern, and returns its last token too.
func parseRefinement(lex *lexer.PeekingLexer) (*Refinement, *lexer.Token, *fault) {
	open := lex.Next()
	r := &Refinement{}
	expected := `a range such as 1..20, or matching "pattern"`
	if word := lex.Peek(); word.Type == tokIdent && word.Value == "matching" {
		lex.Next()
		if s := lex.Peek(); s.Type != tokString {
			return nil, nil, &fault{rule: RuleMissingValue, found: *s, expected: "a pattern in double quotes"}
		}
		r.Pattern, _ = parseValue(lex)
		expected = `"]" behind the pattern`
	} else {
		r.Min = parseBound(lex)
		if dots := lex.Peek(); dots.Type != tokDots {
			if r.Min != nil {
				expected = `".." and the other end of the range`
			}
			return nil, nil, unclosedBracket(open, dots, expected)
		}
		lex.Next()
		r.Max = parseBound(lex)
		expected = `"]" behind the range`
		if r.Max == nil {
			expected = `a number or "]"`
		}
		if word := lex.Peek(); word.Type == tokIdent && word.Value == "bytes" {
			lex.Next()
			r.Bytes = true
			expected = `"]" behind "bytes"`
		}
	}
	end := lex.Peek()
	if end.Type != ']' {
		return nil, nil, unclosedBracket(open, end, expected)
	}
	lex.Next()
	r.Span = between(open, end)
	return r, end, nil
}

// unclosedBracket is the fault of a refinement that goes on with found. What
// cannot stand in any refinement means that it was never closed.
func unclosedBracket(open, found *lexer.Token, expected string) *fault {
	f := &fault{rule: RuleUnexpectedToken, found: *found, expected: expected}
	switch found.Type {
	case tokQuantity:
		f.hint = "a range takes numbers without a unit"
		if number, unit := unitOf(found.Value); unit == "bytes" {
			f.hint = "write " + number + " bytes"
		}
	case tokNumber, tokString, tokIdent, tokDots, '.', ',', ':', ']':
	default:
		f.rule, f.opening = RuleUnclosedBracket, open
	}
	return f
}

// parseBound reads a number, or returns nil if there is none.
func parseBound(lex *lexer.PeekingLexer) *Value {
	if lex.Peek().Type != tokNumber {
		return nil
	}
	v, _ := parseValue(lex)
	return v
}

// parseValue reads a literal.
func parseValue(lex *lexer.PeekingLexer) (*Value, *fault) {
	t := lex.Peek()
	v := &Value{Text: t.Value, Span: over(t)}
	switch t.Type {
	case tokString:
		v.Kind, v.Text = StringValue, unquote(t.Value)
	case tokNumber:
		v.Kind = NumberValue
	case tokQuantity:
		v.Kind = QuantityValue
		v.Text, v.Unit = unitOf(t.Value)
	case tokIdent:
		v.Kind = NameValue
	default:
		return nil, &fault{rule: RuleMissingValue, found: *t, expected: "a value: a string, a number or a name"}
	}
	lex.Next()
	return v, nil
}

// parseAnnotation reads an annotation from its "@".
func parseAnnotation(lex *lexer.PeekingLexer) (*Annotation, *fault) {
	first, last := lex.Next(), lex.Peek()
	if last.Type != tokIdent {
		return nil, &fault{rule: RuleMissingName, found: *last, expected: `an annotation's name behind "@"`}
	}
	lex.Next()
	a := &Annotation{Name: identOf(last)}
	if open := lex.Peek(); open.Type == '(' {
		lex.Next()
		for lex.Peek().Type != ')' {
			arg, f := parseArg(lex)
			if f != nil {
				return nil, f
			}
			a.Args = append(a.Args, arg)
			if next := lex.Peek(); next.Type == ',' {
				lex.Next()
			} else if next.Type != ')' {
				return nil, badList(open, next, `"," or ")" in the annotation's arguments`)
			}
		}
		last = lex.Next()
	}
	a.Span = between(first, last)
	return a, nil
}

// badList is the fault of a list in parentheses that goes on with found.
func badList(open, found *lexer.Token, expected string) *fault {
	switch {
	case found.EOF() || found.Type == ']' || found.Type == '}' || found.Type == '>':
		return &fault{rule: RuleUnclosedParen, found: *found, expected: expected, opening: open}
	case found.Type == tokIdent || found.Type == tokString || found.Type == tokNumber || found.Type == tokQuantity:
		return &fault{rule: RuleMissingComma, found: *found, expected: expected}
	}
	return &fault{rule: RuleUnexpectedToken, found: *found, expected: expected}
}

// parseArg reads one argument of an annotation.
func parseArg(lex *lexer.PeekingLexer) (*Arg, *fault) {
	first := lex.Peek()
	v, f := parseValue(lex)
	if f != nil {
		return nil, f
	}
	a := &Arg{Value: v, Span: v.Span}
	if first.Type == tokIdent && lex.Peek().Type == ':' {
		lex.Next()
		name := identOf(first)
		a.Name = &name
		if a.Value, f = parseValue(lex); f != nil {
			return nil, f
		}
		a.Span.End = a.Value.Span.End
	}
	return a, nil
}

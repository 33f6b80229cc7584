package syntax

import (
	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// What stands in blocks parses itself, like the leaves it is made of:
//
//	annotations = annotation* .
//	operations  = operation* .
//	operation   = annotations ident "(" ( param ( "," param )* ","? )? ")" "->" typeRef ";" .
//	param       = annotations typedName ( "=" value )? .
//	fields      = field* .
//	field       = annotations typedName ";" .
//	typedName   = ident ":" typeRef .
//	labels      = ident ( "," ident )* ","? .
//
// A test holds this against participle's own reading of these rules.
type (
	annotations struct{ list []*Annotation }
	operations  struct{ list []*Operation }
	fields      struct{ list []*Field }
	labels      struct{ list []*Label }
	param       struct{ *Param }
	field       struct{ *Field }
)

var (
	_ participle.Parseable = (*annotations)(nil)
	_ participle.Parseable = (*operations)(nil)
	_ participle.Parseable = (*fields)(nil)
	_ participle.Parseable = (*labels)(nil)
	_ participle.Parseable = (*param)(nil)
	_ participle.Parseable = (*field)(nil)
)

// Parse reads the annotations that stand here, which may be none.
func (a *annotations) Parse(lex *lexer.PeekingLexer) error {
	list, f := parseAnnotations(lex)
	if f != nil {
		return f
	}
	a.list = list
	return nil
}

// Parse reads the operations up to the end of their block.
func (o *operations) Parse(lex *lexer.PeekingLexer) error {
	for lex.Peek().Type != '}' {
		n, f := parseOperation(lex)
		if f != nil {
			return f
		}
		o.list = append(o.list, n)
	}
	return nil
}

// Parse reads the fields up to the end of their block.
func (r *fields) Parse(lex *lexer.PeekingLexer) error {
	for lex.Peek().Type != '}' {
		n, f := parseField(lex)
		if f != nil {
			return f
		}
		r.list = append(r.list, n)
	}
	return nil
}

// Parse reads labels and the commas between them.
func (l *labels) Parse(lex *lexer.PeekingLexer) error {
	for {
		t := lex.Peek()
		if t.Type != tokIdent {
			return &fault{rule: RuleMissingName, found: *t, expected: "a label"}
		}
		lex.Next()
		l.list = append(l.list, &Label{Name: identOf(t)})
		if lex.Peek().Type != ',' {
			return nil
		}
		lex.Next()
		if lex.Peek().Type == '}' {
			return nil
		}
	}
}

// Parse reads a parameter.
func (p *param) Parse(lex *lexer.PeekingLexer) error {
	n, f := parseParam(lex)
	if f != nil {
		return f
	}
	p.Param = n
	return nil
}

// Parse reads a field.
func (r *field) Parse(lex *lexer.PeekingLexer) error {
	n, f := parseField(lex)
	if f != nil {
		return f
	}
	r.Field = n
	return nil
}

// parseAnnotations reads the annotations that stand here.
func parseAnnotations(lex *lexer.PeekingLexer) ([]*Annotation, *fault) {
	var list []*Annotation
	for lex.Peek().Type == '@' {
		a, f := parseAnnotation(lex)
		if f != nil {
			return nil, f
		}
		list = append(list, a)
	}
	return list, nil
}

// parseOperation reads an operation, without its doc comment.
func parseOperation(lex *lexer.PeekingLexer) (*Operation, *fault) {
	first := lex.Peek()
	o := &Operation{}
	var f *fault
	if o.Annotations, f = parseAnnotations(lex); f != nil {
		return nil, f
	}
	name, f := expect(lex, tokIdent, "an operation's name")
	if f != nil {
		return nil, f
	}
	o.Name = identOf(name)
	if o.Params, f = parseParams(lex); f != nil {
		return nil, f
	}
	if _, f = expect(lex, tokArrow, `"->" and a type`); f != nil {
		return nil, f
	}
	if o.Result, f = parseType(lex, 1); f != nil {
		return nil, f
	}
	last, f := expect(lex, ';', semicolon)
	if f != nil {
		return nil, f
	}
	o.Span = between(first, last)
	return o, nil
}

// parseParams reads parameters in parentheses.
func parseParams(lex *lexer.PeekingLexer) ([]*Param, *fault) {
	open, f := expect(lex, '(', `"(" and the operation's parameters`)
	if f != nil {
		return nil, f
	}
	var list []*Param
	for lex.Peek().Type != ')' {
		p, f := parseParam(lex)
		if f != nil {
			return nil, f
		}
		list = append(list, p)
		if next := lex.Peek(); next.Type == ',' {
			lex.Next()
		} else if next.Type != ')' {
			return nil, badList(open, next, `"," or ")"`)
		}
	}
	lex.Next()
	return list, nil
}

// parseParam reads a parameter, without its doc comment.
func parseParam(lex *lexer.PeekingLexer) (*Param, *fault) {
	first := lex.Peek()
	p := &Param{}
	var f *fault
	if p.Annotations, f = parseAnnotations(lex); f != nil {
		return nil, f
	}
	if p.Name, p.Type, f = parseTypedName(lex); f != nil {
		return nil, f
	}
	end := p.Type.Span.End
	if lex.Peek().Type == '=' {
		lex.Next()
		if p.Default, f = parseValue(lex); f != nil {
			return nil, f
		}
		end = p.Default.Span.End
	}
	p.Span = Span{File: first.Pos.Filename, Start: startOf(first), End: end}
	return p, nil
}

// parseField reads a field, without its doc comment.
func parseField(lex *lexer.PeekingLexer) (*Field, *fault) {
	first := lex.Peek()
	n := &Field{}
	var f *fault
	if n.Annotations, f = parseAnnotations(lex); f != nil {
		return nil, f
	}
	if n.Name, n.Type, f = parseTypedName(lex); f != nil {
		return nil, f
	}
	last, f := expect(lex, ';', semicolon)
	if f != nil {
		return nil, f
	}
	n.Span = between(first, last)
	return n, nil
}

// parseTypedName reads a name, a colon and a type.
func parseTypedName(lex *lexer.PeekingLexer) (Ident, *TypeExpr, *fault) {
	name, f := expect(lex, tokIdent, "a name")
	if f != nil {
		return Ident{}, nil, f
	}
	if _, f = expect(lex, ':', `":" and a type`); f != nil {
		return Ident{}, nil, f
	}
	t, f := parseType(lex, 1)
	return identOf(name), t, f
}

// semicolon is what a member or clause is expected to end with.
const semicolon = `";"`

// expect reads a token of a type, which the words describe.
func expect(lex *lexer.PeekingLexer, typ lexer.TokenType, words string) (*lexer.Token, *fault) {
	t := lex.Peek()
	if t.Type != typ {
		return nil, &fault{rule: RuleUnexpectedToken, found: *t, expected: words}
	}
	return lex.Next(), nil
}

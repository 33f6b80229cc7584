package syntax

import (
	"sync"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// The grammar. A production is a struct, and the tags of its fields are the
// rule. The productions that most of a document is made of parse themselves,
// since participle's reflection costs several times as much for them: names,
// types, values and annotations (leaf.go), and what stands in the blocks
// (member.go).

type document struct {
	Items []*item `parser:"@@*"`
}

type item struct {
	Package *packageClause `parser:"  @@"`
	Version *versionClause `parser:"| @@"`
	Import  *importClause  `parser:"| @@"`
	Decl    *declaration   `parser:"| @@"`
}

type packageClause struct {
	Names []ident `parser:"'package' @@ ( '.' @@ )* ';'"`
}

type versionClause struct {
	Number lexer.Token `parser:"'version' @Number ';'"`
}

type importClause struct {
	Path lexer.Token `parser:"'import' @String ';'"`
}

type declaration struct {
	Tokens      []lexer.Token  // all that it is made of
	Annotations annotations    `parser:"@@"`
	Interface   *interfaceBody `parser:"( @@"`
	Record      *recordBody    `parser:"| @@"`
	Enum        *enumBody      `parser:"| @@ )"`
}

type interfaceBody struct {
	Name       ident      `parser:"'interface' @@"`
	Operations operations `parser:"'{' @@ '}'"`
}

type recordBody struct {
	Name   ident  `parser:"'record' @@"`
	Fields fields `parser:"'{' @@ '}'"`
}

type enumBody struct {
	Name   ident  `parser:"'enum' @@"`
	Labels labels `parser:"'{' @@ '}'"`
}

// Pieces of the above that only recovery parses on their own.
type (
	annotationPiece struct {
		Annotation annotation `parser:"@@"`
	}
	resultPiece struct {
		Type typeRef `parser:"@@ ';'"`
	}
	paramPiece struct {
		Param param `parser:"@@"`
	}
	fieldPiece struct {
		Field field `parser:"@@"`
	}
)

// The parsers are safe for concurrent use, and built when first needed:
// pieces when the first faulty document is parsed.
var (
	grammar = sync.OnceValue(func() *participle.Parser[document] { return build[document]() })
	items   = sync.OnceValue(func() *participle.Parser[item] { return production[item](grammar()) })
	pieces  = sync.OnceValue(func() *parsers {
		return &parsers{
			packageClause: production[packageClause](grammar()),
			versionClause: production[versionClause](grammar()),
			importClause:  production[importClause](grammar()),
			param:         build[paramPiece](),
			field:         build[fieldPiece](),
			annotation:    build[annotationPiece](),
			result:        build[resultPiece](),
		}
	})
)

// parsers holds a parser for each production that recovery parses on its own.
type parsers struct {
	packageClause *participle.Parser[packageClause]
	versionClause *participle.Parser[versionClause]
	importClause  *participle.Parser[importClause]
	param         *participle.Parser[paramPiece]
	field         *participle.Parser[fieldPiece]
	annotation    *participle.Parser[annotationPiece]
	result        *participle.Parser[resultPiece]
}

// build returns the parser of a grammar. It panics if the grammar is wrong.
func build[P any]() *participle.Parser[P] {
	return participle.MustBuild[P](participle.Lexer(definition{}))
}

// production returns the parser of one production of the document's grammar.
// It panics if the grammar has none such.
func production[P any](d *participle.Parser[document]) *participle.Parser[P] {
	p, err := participle.ParserForProduction[P](d)
	if err != nil {
		panic(err)
	}
	return p
}

// parse runs p over the tokens [from, to).
func parse[P any](p *participle.Parser[P], toks []lexer.Token, from, to int) (*P, error) {
	lex, err := lexer.Upgrade(&tokenLexer{toks: toks, next: from, to: to})
	if err != nil {
		return nil, err
	}
	return p.ParseFromLexer(lex)
}

// itemLexer hands out the tokens of one item as they are read, and then the
// end. An item ends with a semicolon or brace that stands in no block.
type itemLexer struct {
	*scanner
	first lexer.Token // read already
	depth int         // of open braces

	started, ended bool
}

// Next returns the next token, or the first fault of the text.
func (l *itemLexer) Next() (lexer.Token, error) {
	if l.ended {
		return lexer.EOFToken(l.first.Pos), nil
	}
	t := l.first
	if l.started {
		var err error
		if t, err = l.next(); err != nil {
			return t, err
		}
	}
	l.started = true
	switch t.Type {
	case '{':
		l.depth++
	case '}':
		l.depth--
		l.ended = l.depth <= 0
	case ';':
		l.ended = l.depth <= 0
	case lexer.EOF:
		l.ended = true
	}
	return t, nil
}

// parseItem parses the item that begins with the token first, which was read
// already. An item at a time is all that is ever held as tokens.
func parseItem(s *scanner, first lexer.Token) (*item, error) {
	lex, err := lexer.Upgrade(&itemLexer{scanner: s, first: first})
	if err != nil {
		return nil, err
	}
	return items().ParseFromLexer(lex)
}

package syntax

import (
	"sync"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// The grammar. A production is a struct, and the tags of its fields are the
// rule. Fields named Tokens get the tokens that the production matched.
// Names, types, values and annotations parse themselves (leaf.go), as do names
// with their types.

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
	Tokens      []lexer.Token
	Annotations []annotation   `parser:"@@*"`
	Interface   *interfaceBody `parser:"( @@"`
	Record      *recordBody    `parser:"| @@"`
	Enum        *enumBody      `parser:"| @@ )"`
}

type interfaceBody struct {
	Name       ident        `parser:"'interface' @@"`
	Operations []*operation `parser:"'{' @@* '}'"`
}

type recordBody struct {
	Name   ident    `parser:"'record' @@"`
	Fields []*field `parser:"'{' @@* '}'"`
}

type enumBody struct {
	Name   ident   `parser:"'enum' @@"`
	Labels []ident `parser:"'{' @@ ( ',' @@ )* ','? '}'"`
}

type operation struct {
	Tokens      []lexer.Token
	Annotations []annotation `parser:"@@*"`
	Name        ident        `parser:"@@"`
	Params      []*param     `parser:"'(' ( @@ ( ',' @@ )* ','? )? ')'"`
	Result      typeRef      `parser:"'->' @@ ';'"`
}

type param struct {
	Tokens      []lexer.Token
	Annotations []annotation `parser:"@@*"`
	Typed       typedName    `parser:"@@"`
	Default     value        `parser:"( '=' @@ )?"`
}

type field struct {
	Tokens      []lexer.Token
	Annotations []annotation `parser:"@@*"`
	Typed       typedName    `parser:"@@ ';'"`
}

// Pieces of the above that only recovery parses on their own.
type (
	annotationPiece struct {
		Annotation annotation `parser:"@@"`
	}
	resultPiece struct {
		Type typeRef `parser:"@@ ';'"`
	}
)

// parsers holds a parser for each production that is parsed on its own. They
// are safe for concurrent use.
type parsers struct {
	document      *participle.Parser[document]
	item          *participle.Parser[item]
	packageClause *participle.Parser[packageClause]
	versionClause *participle.Parser[versionClause]
	importClause  *participle.Parser[importClause]
	param         *participle.Parser[param]
	field         *participle.Parser[field]
	annotation    *participle.Parser[annotationPiece]
	result        *participle.Parser[resultPiece]
}

// grammar builds the parsers when the first document is parsed.
var grammar = sync.OnceValue(func() *parsers {
	p := &parsers{
		document:   participle.MustBuild[document](participle.Lexer(definition{})),
		annotation: participle.MustBuild[annotationPiece](participle.Lexer(definition{})),
		result:     participle.MustBuild[resultPiece](participle.Lexer(definition{})),
	}
	p.item = production[item](p.document)
	p.packageClause = production[packageClause](p.document)
	p.versionClause = production[versionClause](p.document)
	p.importClause = production[importClause](p.document)
	p.param = production[param](p.document)
	p.field = production[field](p.document)
	return p
})

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

// parseDocument parses a whole text, item by item: participle copies the
// tokens that it is given, which costs more than in proportion.
func parseDocument(toks []lexer.Token) (*document, error) {
	p := grammar().item
	d := &document{}
	depth, start := 0, 0
	for i, t := range toks {
		ends := false
		switch t.Type {
		case '{':
			depth++
		case '}':
			depth--
			ends = depth <= 0
		case ';':
			ends = depth <= 0
		}
		if t.EOF() {
			ends, i = i > start, i-1
		}
		if !ends {
			continue
		}
		it, err := parse(p, toks, start, i+1)
		if err != nil {
			return nil, err
		}
		d.Items = append(d.Items, it)
		start = i + 1
	}
	return d, nil
}

package syntax

import (
	"sync"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// The grammar. A production is a struct, and the tags of its fields are the
// rule. Fields named Tokens get the tokens that the production matched.
// Names, types, values and annotations parse themselves (leaf.go).

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
	Name        ident        `parser:"@@"`
	Type        typeRef      `parser:"':' @@"`
	Default     value        `parser:"( '=' @@ )?"`
}

type field struct {
	Tokens      []lexer.Token
	Annotations []annotation `parser:"@@*"`
	Name        ident        `parser:"@@"`
	Type        typeRef      `parser:"':' @@ ';'"`
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

// parse runs p over the tokens, the last of which is the end.
func parse[P any](p *participle.Parser[P], toks []lexer.Token) (*P, error) {
	lex, err := lexer.Upgrade(&tokenLexer{toks: toks})
	if err != nil {
		return nil, err
	}
	return p.ParseFromLexer(lex)
}

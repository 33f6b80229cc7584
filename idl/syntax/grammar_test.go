package syntax_test

import (
	"sync"
	"testing"

	"github.com/alecthomas/participle/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/idl/syntax"
)

// The whole grammar down to its tokens, as participle reads it. Parse leaves
// most of it to productions that parse themselves; check holds them against
// this.
type (
	Document struct {
		Items []*Item `parser:"@@*"`
	}
	Item struct {
		Package     []string     `parser:"  'package' @Ident ( '.' @Ident )* ';'"`
		Version     string       `parser:"| 'version' @Number ';'"`
		Import      string       `parser:"| 'import' @String ';'"`
		Declaration *Declaration `parser:"| @@"`
	}
	Declaration struct {
		Annotations []*Annotation `parser:"@@*"`
		Operations  []*Operation  `parser:"( 'interface' Ident '{' @@* '}'"`
		Fields      []*Field      `parser:"| 'record' Ident '{' @@* '}'"`
		Labels      []string      `parser:"| 'enum' Ident '{' @Ident ( ',' @Ident )* ','? '}' )"`
	}
	Operation struct {
		Annotations []*Annotation `parser:"@@*"`
		Params      []*Param      `parser:"Ident '(' ( @@ ( ',' @@ )* ','? )? ')'"`
		Result      *Type         `parser:"'->' @@ ';'"`
	}
	Param struct {
		Annotations []*Annotation `parser:"@@*"`
		Type        *Type         `parser:"Ident ':' @@"`
		Default     *Value        `parser:"( '=' @@ )?"`
	}
	Field struct {
		Annotations []*Annotation `parser:"@@*"`
		Type        *Type         `parser:"Ident ':' @@ ';'"`
	}
	Annotation struct {
		Args []*Arg `parser:"'@' Ident ( '(' ( @@ ( ',' @@ )* ','? )? ')' )?"`
	}
	Arg struct {
		Name  string `parser:"( @Ident ':' )?"`
		Value *Value `parser:"@@"`
	}
	Type struct {
		Name       string      `parser:"@Ident"`
		Args       []*Type     `parser:"( '<' @@ ( ',' @@ )* '>' )?"`
		Refinement *Refinement `parser:"@@?"`
		Optional   bool        `parser:"@'?'?"`
	}
	Refinement struct {
		Pattern string `parser:"'[' ( 'matching' @String"`
		Min     string `parser:"| @Number? '..'"`
		Max     string `parser:"@Number? 'bytes'? ) ']'"`
	}
	Value struct {
		Text string `parser:"@( String | Number | Quantity | Ident )"`
	}
)

// reference parses the whole grammar. It looks two tokens ahead, for the names
// of annotations' arguments.
var reference = sync.OnceValue(func() *participle.Parser[Document] {
	return participle.MustBuild[Document](participle.Lexer(syntax.Definition), participle.UseLookahead(2))
})

// The whole grammar is the one that the language promises.
func TestReference(t *testing.T) {
	want := `Document = Item* .
Item = ("package" <ident> ("." <ident>)* ";") | ("version" <number> ";") | ("import" <string> ";") | Declaration .
Declaration = Annotation* (("interface" <ident> "{" Operation* "}") | ("record" <ident> "{" Field* "}") | ("enum" <ident> "{" <ident> ("," <ident>)* ","? "}")) .
Annotation = "@" <ident> ("(" (Arg ("," Arg)* ","?)? ")")? .
Arg = (<ident> ":")? Value .
Value = (<string> | <number> | <quantity> | <ident>) .
Operation = Annotation* <ident> "(" (Param ("," Param)* ","?)? ")" "->" Type ";" .
Param = Annotation* <ident> ":" Type ("=" Value)? .
Type = <ident> ("<" Type ("," Type)* ">")? Refinement? "?"? .
Refinement = "[" (("matching" <string>) | (<number>? ".." <number>? "bytes"?)) "]" .
Field = Annotation* <ident> ":" Type ";" .`
	if diff := cmp.Diff(want, reference().String()); diff != "" {
		t.Errorf("the grammar differs (-want +got):\n%s", diff)
	}
}

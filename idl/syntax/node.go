package syntax

import "fmt"

// Pos is a place in a source text.
type Pos struct {
	Offset int // bytes from the start of the text, 0-based
	Line   int // 1-based; 0 means the position is unknown
	Col    int // 1-based, in bytes from the start of the line
}

// Span is a half-open stretch of one source text.
type Span struct {
	File       string // the name given to Parse
	Start, End Pos
}

// String returns "file:line:col" of the span's start.
func (s Span) String() string {
	return fmt.Sprintf("%s:%d:%d", s.File, s.Start.Line, s.Start.Col)
}

// Diagnostic is one thing wrong with a document. It says what was found, what
// was expected, and where, with the smallest span that is wrong.
type Diagnostic struct {
	Rule     string // stable identifier, such as "unclosed-brace" (spec/idl.md, Rules)
	Severity Severity
	Span     Span
	Message  string // lower case, no full stop: "found %q, expected ..."
	Hint     string // what to do, or empty
	Related  []Related
	Fixes    []Fix // suggested changes, the best one first; mostly none
}

// Severity is how much a Diagnostic matters.
type Severity uint8

// The severities. What is wrong is an error, which is the zero value; what
// could be better is a warning.
const (
	Error Severity = iota
	Warning
)

// String returns "error" or "warning".
func (s Severity) String() string {
	if s == Warning {
		return "warning"
	}
	return "error"
}

// Fix is a change that would end a Diagnostic. Its edits belong together, do
// not overlap, and are in the Diagnostic's own file.
type Fix struct {
	Title string // what it does, as an order: "write int"
	Edits []Edit
	// Safe says that nothing else can have been meant, so that a tool may make
	// the change unasked. Any other is for the author to decide.
	Safe bool
}

// Edit puts a text in place of a span, which may be empty.
type Edit struct {
	Span Span
	Text string
}

// Related points at another place that explains a Diagnostic, such as the
// opening of a block that is never closed.
type Related struct {
	Span    Span
	Message string
}

// Error returns "file:line:col: message [rule]".
func (d Diagnostic) Error() string {
	return fmt.Sprintf("%s: %s [%s]", d.Span, d.Message, d.Rule)
}

// Ident is a name where it stands.
type Ident struct {
	Name string
	Span Span
}

// File is one parsed document. After syntax faults it holds everything that
// could be recovered.
type File struct {
	Name    string
	Package *PackageClause // nil if missing
	Version *VersionClause // nil if missing
	Imports []*Import
	Decls   []Decl
	Span    Span // the whole text
}

// PackageClause is "package a.b;".
type PackageClause struct {
	Name string // the dotted name
	Span Span   // of the dotted name
}

// VersionClause is "version 1;".
type VersionClause struct {
	Number int
	Span   Span // of the number
}

// Import is `import "path";`.
type Import struct {
	Path string
	Span Span // of the string
}

// Decl is an *Interface, a *Record or an *Enum.
type Decl interface {
	// DeclName returns the declared name.
	DeclName() Ident
	decl()
}

var (
	_ Decl = (*Interface)(nil)
	_ Decl = (*Record)(nil)
	_ Decl = (*Enum)(nil)
)

// Interface declares operations.
type Interface struct {
	Doc         string // doc comment, lines joined by \n, without the slashes
	Annotations []*Annotation
	Name        Ident
	Operations  []*Operation
	Span        Span // from the first annotation or keyword to the closing brace
}

// Operation is one operation of an interface.
type Operation struct {
	Doc         string
	Annotations []*Annotation
	Name        Ident
	Params      []*Param
	Result      *TypeExpr // nil only after a syntax fault
	Span        Span
}

// Param is one parameter of an operation.
type Param struct {
	Doc         string
	Annotations []*Annotation
	Name        Ident
	Type        *TypeExpr // nil only after a syntax fault
	Default     *Value    // nil if there is none
	Span        Span
}

// Record declares named fields.
type Record struct {
	Doc         string
	Annotations []*Annotation
	Name        Ident
	Fields      []*Field
	Span        Span
}

// Field is one field of a record.
type Field struct {
	Doc         string
	Annotations []*Annotation
	Name        Ident
	Type        *TypeExpr // nil only after a syntax fault
	Span        Span
}

// Enum declares labels.
type Enum struct {
	Doc         string
	Annotations []*Annotation
	Name        Ident
	Labels      []*Label
	Span        Span
}

// Label is one label of an enum.
type Label struct {
	Doc  string
	Name Ident
}

// DeclName returns the declared name.
func (d *Interface) DeclName() Ident { return d.Name }

// DeclName returns the declared name.
func (d *Record) DeclName() Ident { return d.Name }

// DeclName returns the declared name.
func (d *Enum) DeclName() Ident { return d.Name }

func (*Interface) decl() {}
func (*Record) decl()    {}
func (*Enum) decl()      {}

// TypeExpr is a use of a type: name, arguments, refinement, "?".
type TypeExpr struct {
	Name       Ident
	Args       []*TypeExpr
	Refinement *Refinement // nil if there is none
	Optional   bool
	Span       Span
}

// Refinement narrows a type: a range, or a pattern.
type Refinement struct {
	Min, Max *Value // nil where open; both nil if Pattern is set
	Bytes    bool   // the range counts UTF-8 bytes
	Pattern  *Value // a string; nil if this is a range
	Span     Span
}

// Annotation is "@name" or "@name(args)".
type Annotation struct {
	Name Ident
	Args []*Arg
	Span Span
}

// Arg is one argument of an annotation.
type Arg struct {
	Name  *Ident // nil if positional
	Value *Value
	Span  Span
}

// ValueKind says what a Value is.
type ValueKind uint8

// The kinds of value that the grammar knows.
const (
	StringValue   ValueKind = iota + 1 // "text"; Text is the decoded string
	NumberValue                        // 12, -0.5, 1e3; Text is as written
	QuantityValue                      // 3s, 500ms, 32KiB; Text is the number, Unit the rest
	NameValue                          // true, false or an enum's label; Text is the name
)

// Value is a literal.
type Value struct {
	Kind ValueKind
	Text string
	Unit string // only of a QuantityValue
	Span Span
}

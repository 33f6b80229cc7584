package syntax

import (
	"errors"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// builder makes the nodes that callers see out of what the grammar matched.
type builder struct {
	*scanner
	tree   *File
	faults []Diagnostic // beside the scanner's
}

// item adds an item, whose comments were read.
func (b *builder) item(it *item) {
	switch {
	case it.Package != nil:
		b.packageClause(it.Package)
	case it.Version != nil:
		b.versionClause(&it.Version.Number)
	case it.Import != nil:
		b.importClause(&it.Import.Path)
	default:
		b.tree.Decls = append(b.tree.Decls, b.declaration(it.Decl))
	}
}

// whole completes a document that the grammar matches.
func (b *builder) whole() {
	b.strayDocs()
	if b.tree.Package == nil {
		b.missingPackage()
	}
}

// refused reports the error of a grammar that did not match the text.
func (b *builder) refused(err error) {
	at := &b.toks[0]
	var u *participle.UnexpectedTokenError
	if errors.As(err, &u) {
		at = &u.Unexpected
	}
	b.report(Diagnostic{Rule: RuleUnexpectedToken, Span: over(at), Message: "found " + describe(at) + ", expected something else"})
}

// packageClause adds the clause; a second one is a fault.
func (b *builder) packageClause(c *packageClause) {
	names := make([]string, len(c.Names))
	for i, n := range c.Names {
		names[i] = n.Name
	}
	clause := &PackageClause{Name: strings.Join(names, "."), Span: c.Names[0].Span}
	clause.Span.End = c.Names[len(c.Names)-1].Span.End
	if b.tree.Package != nil {
		b.again(RuleDuplicatePackage, "package", clause.Span, b.tree.Package.Span)
		return
	}
	b.inHeader("package", clause.Span)
	b.tree.Package = clause
}

// versionClause adds the clause; a second one is a fault.
func (b *builder) versionClause(number *lexer.Token) {
	n, err := strconv.ParseInt(number.Value, 10, 32)
	clause := &VersionClause{Number: int(n), Span: over(number)}
	if b.tree.Version != nil {
		b.again(RuleDuplicateVersion, "version", clause.Span, b.tree.Version.Span)
		return
	}
	b.inHeader("version", clause.Span)
	if err != nil || n < 1 {
		b.report(Diagnostic{Rule: RuleBadNumber, Span: clause.Span,
			Message: "found the version " + quote(number.Value) + ", expected a whole number from 1 to 2147483647"})
		clause.Number = 1
	}
	b.tree.Version = clause
}

// importClause adds an import.
func (b *builder) importClause(path *lexer.Token) {
	b.inHeader("import", over(path))
	b.tree.Imports = append(b.tree.Imports, &Import{Path: unquote(path.Value), Span: over(path)})
}

// inHeader checks that no declaration stands before a clause.
func (b *builder) inHeader(word string, at Span) {
	if len(b.tree.Decls) == 0 {
		return
	}
	first := b.tree.Decls[0].DeclName()
	b.report(Diagnostic{Rule: RuleHeaderOrder, Span: at,
		Message: "found the " + word + " clause behind a declaration, expected it before all declarations",
		Hint:    "move it to the top of the file",
		Related: []Related{{Span: first.Span, Message: "the first declaration"}}})
}

// again reports the second clause of a kind that a document has once.
func (b *builder) again(rule, word string, at, first Span) {
	b.report(Diagnostic{Rule: rule, Span: at, Message: "found a second " + word + " clause, expected only one",
		Hint: "remove one of the two", Related: []Related{{Span: first, Message: "the first one"}}})
}

// report adds a fault, up to what is shown of them.
func (b *builder) report(d Diagnostic) {
	if d.Hint == "" {
		d.Hint = usualHint(d.Rule)
	}
	if len(b.faults) <= MaxDiagnostics {
		b.faults = append(b.faults, d)
	}
}

func (b *builder) declaration(d *declaration) Decl {
	span := between(&d.Tokens[0], &d.Tokens[len(d.Tokens)-1])
	anns := d.Annotations.list
	switch {
	case d.Interface != nil:
		n := &Interface{Annotations: anns, Name: d.Interface.Name.Ident, Operations: d.Interface.Operations.list, Span: span}
		n.Doc = b.doc(span.Start.Offset, n.Name)
		for _, o := range n.Operations {
			o.Doc = b.doc(o.Span.Start.Offset, o.Name)
			for _, p := range o.Params {
				p.Doc = b.doc(p.Span.Start.Offset, p.Name)
			}
		}
		return n
	case d.Record != nil:
		n := &Record{Annotations: anns, Name: d.Record.Name.Ident, Fields: d.Record.Fields.list, Span: span}
		n.Doc = b.doc(span.Start.Offset, n.Name)
		for _, f := range n.Fields {
			f.Doc = b.doc(f.Span.Start.Offset, f.Name)
		}
		return n
	}
	n := &Enum{Annotations: anns, Name: d.Enum.Name.Ident, Labels: d.Enum.Labels.list, Span: span}
	n.Doc = b.doc(span.Start.Offset, n.Name)
	for _, l := range n.Labels {
		l.Doc = b.doc(l.Name.Span.Start.Offset, l.Name)
	}
	return n
}

// doc returns the doc comments from before the token at offset start up to
// the name: those that document what is named.
func (b *builder) doc(start int, name Ident) string {
	i := sort.Search(len(b.comments), func(i int) bool { return b.comments[i].next >= start })
	var lines []string
	for ; i < len(b.comments) && b.comments[i].next <= name.Span.Start.Offset; i++ {
		c := &b.comments[i]
		if !c.doc || c.trailing {
			continue
		}
		c.used = true
		line := strings.TrimRight(b.text[c.start+3:c.end], " \t\r")
		lines = append(lines, strings.TrimPrefix(line, " "))
	}
	return strings.Join(lines, "\n")
}

// cover marks the doc comments from offset start to end as used: a fault was
// reported there, and they are no other.
func (b *builder) cover(start, end int) {
	i := sort.Search(len(b.comments), func(i int) bool { return b.comments[i].next >= start })
	for ; i < len(b.comments) && b.comments[i].start < end; i++ {
		b.comments[i].used = true
	}
}

// strayDocs reports doc comments that nothing took, one fault a block.
func (b *builder) strayDocs() {
	for i := 0; i < len(b.comments); i++ {
		c := b.comments[i]
		if !c.doc || c.used {
			continue
		}
		d := Diagnostic{Rule: RuleStrayDoc, Message: "found a doc comment that documents nothing",
			Hint: `a doc comment stands before a declaration, an operation, a field, a parameter or a label; elsewhere write "//"`}
		if c.trailing {
			d.Message = "found a doc comment behind what it seems to document, expected it before"
			d.Hint = `move it to the line above, or write "//"`
		}
		d.Span = Span{File: b.file, Start: c.pos, End: c.pos}
		d.Span.End.Offset += 3
		d.Span.End.Col += 3
		b.report(d)
		for i+1 < len(b.comments) && b.comments[i+1].next == c.next {
			i++
		}
	}
}

// missingPackage reports that the document has no package clause, where the
// first token stands.
func (b *builder) missingPackage() {
	at := Span{File: b.file, Start: b.first, End: b.first}
	b.report(Diagnostic{Rule: RuleMissingPackage, Span: at, Message: "found no package clause, expected one",
		Hint: `begin the file with "package name;"`})
}

// finish returns all faults by position, at most MaxDiagnostics and one that
// says so.
func (b *builder) finish() []Diagnostic {
	all := append(b.scanner.faults, b.faults...)
	slices.SortStableFunc(all, func(x, y Diagnostic) int { return x.Span.Start.Offset - y.Span.Start.Offset })
	if len(all) > MaxDiagnostics {
		rest := Diagnostic{Rule: RuleTooManyFaults, Span: all[MaxDiagnostics].Span,
			Message: "found more faults than are reported", Hint: "put right those above first"}
		all = append(all[:MaxDiagnostics], rest)
	}
	return all
}

package idl

import (
	"bytes"
	"strings"

	"github.com/wipagent/wipagent/idl/syntax"
)

// suggest adds a change that ends a fault, after those that are better. The
// title says what it does. It is safe unless there is another, or leave says
// otherwise.
func suggest(d *syntax.Diagnostic, title string, edits ...syntax.Edit) {
	if d.Rule == syntax.RuleTooManyFaults {
		return // in place of the fault
	}
	for i := range edits {
		if edits[i].Span.File == "" {
			edits[i].Span.File = d.Span.File
		}
	}
	d.Fixes = append(d.Fixes, syntax.Fix{Title: title, Edits: edits, Safe: true})
	if len(d.Fixes) > 1 {
		leave(d)
	}
}

// leave leaves it to the author whether one of the suggested changes is meant.
func leave(d *syntax.Diagnostic) {
	for i := range d.Fixes {
		d.Fixes[i].Safe = false
	}
}

// rewrite suggests a text in place of a span.
func rewrite(d *syntax.Diagnostic, at syntax.Span, text string) {
	suggest(d, "write "+text, syntax.Edit{Span: at, Text: text})
}

// meant suggests a name that is nearly what was written at a span, and hints
// at it. The candidates are all names that could stand there.
func (c *compiler) meant(d *syntax.Diagnostic, at syntax.Span, name string, candidates []string) {
	if near, sure := c.nearest(name, candidates); near != "" {
		d.Hint = didYouMean(near)
		rewrite(d, at, near)
		if !sure {
			leave(d)
		}
	}
}

// until returns the span from one place to another.
func until(file string, start, end syntax.Pos) syntax.Span {
	return syntax.Span{File: file, Start: start, End: end}
}

// empty returns the empty span at a place.
func empty(file string, at syntax.Pos) syntax.Span { return until(file, at, at) }

// lastByte returns the span of the last byte of another, which is ASCII.
func lastByte(s syntax.Span) syntax.Span {
	s.Start = s.End
	s.Start.Offset--
	s.Start.Col--
	return s
}

// fits reports whether an annotation without fault stands where another with
// that name would.
func (c *compiler) fits(a *syntax.Annotation, name string, on target) bool {
	known := annotationTable[name]
	if known.targets&on == 0 {
		return false
	}
	meant := *a
	meant.Name.Name = name
	trial := &unit{}
	known.read(c, trial, &meant, &settings{})
	return len(trial.found) == 0
}

// takes reports whether the type that a name stands for can have the arguments
// of e, and stand where it does.
func (u *unit) takes(e *syntax.TypeExpr, name string, at *place) bool {
	kind, builtin := builtins[name]
	switch {
	case !builtin:
		s := u.visible[name]
		return s != nil && s.iface == nil && len(e.Args) == 0 && e.Refinement == nil
	case kind == Fact || kind == Page || kind == Observed || kind == Text && at.role == forParam:
		return false
	case kind == Entry:
		return len(e.Args) <= 1 && e.Refinement == nil
	case kind.wraps():
		return len(e.Args) == 1 && (e.Refinement == nil || e.Refinement.Pattern == nil)
	}
	return len(e.Args) == 0 && e.Refinement == nil
}

// unquoted returns a string as the literal of another kind that it holds.
func unquoted(v *syntax.Value, t *Type) *syntax.Value {
	if v.Kind != syntax.StringValue {
		return nil
	}
	bare := &syntax.Value{Kind: syntax.NumberValue, Text: v.Text, Span: v.Span}
	if t.Kind == Bool {
		bare.Kind = syntax.NameValue
	}
	if strings.TrimLeft(v.Text, "+") != v.Text || strings.ContainsAny(v.Text, " _xX") {
		return nil
	}
	return bare
}

// unquote suggests a value without its quotes, if it is a value of the type.
func (c *compiler) unquote(d *syntax.Diagnostic, v *syntax.Value, t *Type) {
	bare := unquoted(v, t)
	if bare == nil {
		return
	}
	trial := &unit{}
	if c.literal(trial, bare, t) != nil && len(trial.found) == 0 {
		rewrite(d, v.Span, bare.Text)
	}
}

// beforeRefinement returns where the part of a type ends that stands before
// its refinement, if it has no arguments; else where the refinement starts.
func beforeRefinement(e *syntax.TypeExpr) syntax.Pos {
	if len(e.Args) > 0 {
		return e.Refinement.Span.Start
	}
	return e.Name.Span.End
}

// clauseOf returns the span of an import clause with its keyword and
// semicolon, and its line if it fills it.
func (u *unit) clauseOf(n *syntax.Import) (syntax.Span, bool) {
	const keyword = "import"
	s := n.Span
	line := string(u.text[s.Start.Offset-(s.Start.Col-1) : s.Start.Offset])
	before := strings.TrimRight(line, " \t")
	rest := u.text[s.End.Offset:]
	if !strings.HasSuffix(before, keyword) || !bytes.HasPrefix(rest, []byte(";")) {
		return s, false
	}
	back := len(line) - len(before) + len(keyword)
	s.Start.Offset -= back
	s.Start.Col -= back
	s.End.Offset++
	s.End.Col++
	if strings.TrimSpace(strings.TrimSuffix(before, keyword)) == "" && bytes.HasPrefix(rest, []byte(";\n")) {
		s.Start.Offset -= s.Start.Col - 1
		s.Start.Col = 1
		s.End = syntax.Pos{Offset: s.End.Offset + 1, Line: s.End.Line + 1, Col: 1}
	}
	return s, true
}

// behindParams returns the empty span behind the last parameter of an
// operation, and false if it is not plain where that is.
func (u *unit) behindParams(n *syntax.Operation) (syntax.Span, bool) {
	if len(n.Params) > 0 {
		last := n.Params[len(n.Params)-1].Span
		return empty(last.File, last.End), true
	}
	at := n.Name.Span
	at.Start = at.End
	at.Start.Offset++
	at.Start.Col++
	at.End = at.Start
	return at, bytes.HasPrefix(u.text[n.Name.Span.End.Offset:], []byte("()"))
}

// collidesWithPage reports whether a parameter could not stand beside page and
// page_size.
func collidesWithPage(p *syntax.Param) bool {
	name := foldName(p.Name.Name)
	return (name == "page" || name == "pagesize") && p.Name.Name != "page" && p.Name.Name != "page_size"
}

// behindHeader returns the empty span behind the last clause of the header, and
// false if it is not plain where that is.
func (u *unit) behindHeader() (syntax.Span, bool) {
	if u.unreadable > 0 || u.file.Package == nil {
		return syntax.Span{}, false
	}
	last := u.file.Package.Span
	if v := u.file.Version; v != nil && v.Span.End.Offset > last.End.Offset {
		last = v.Span
	}
	for _, i := range u.file.Imports {
		if i.Span.End.Offset > last.End.Offset {
			last = i.Span
		}
	}
	rest := u.text[last.End.Offset:]
	last.End.Offset++
	last.End.Col++
	return empty(u.name, last.End), bytes.HasPrefix(rest, []byte(";")) // else something is between
}

// exists reports whether an import clause of the unit could name a document.
func (c *compiler) exists(u *unit, path string) bool {
	if c.Resolve == nil {
		return c.units[path] != nil
	}
	_, err := c.Resolve(u.name, path)
	return err == nil
}

// Package lint finds what is allowed in an IDL document and yet would serve
// its readers badly: the model that must choose an operation and call it, the
// programmer who reads a generated binding, and the Host that must bound what
// it takes in. Each rule has a level that a configuration can change.
package lint

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/syntax"
)

// Lint returns what could be better in documents. The files are the trees that
// they were compiled from, found by name; a document without its tree is not
// linted itself, and a tree without its document, which has faults to be put
// right first, neither. Names that collide are looked for in all of them
// together. A nil config stands for the defaults.
//
// The diagnostics are warnings, or errors where the config says so, in the
// order of the documents and then of position. Lint changes nothing and is
// safe for concurrent use; a config that does not pass Validate gives the
// result of its valid parts.
func Lint(docs []*idl.Document, files []*syntax.File, cfg *Config) []syntax.Diagnostic {
	if cfg == nil {
		cfg = &Config{}
	}
	l := &linter{cfg: cfg, records: map[*idl.Record]*syntax.Record{}, bounded: map[*idl.Record]bool{}}
	trees := make(map[string]*syntax.File, len(files))
	for _, f := range files {
		if f != nil {
			trees[f.Name] = f
		}
	}
	seen := map[string]bool{}
	for _, d := range docs {
		if f := trees[d.Name]; f != nil && !seen[d.Name] {
			seen[d.Name] = true
			l.units = append(l.units, unitOf(d, f))
		}
	}
	for _, u := range l.units {
		for _, r := range u.records {
			l.records[r.Record] = r.node
		}
	}
	for i, u := range l.units {
		l.at = i
		l.unit(u)
	}
	l.projections()
	slices.SortStableFunc(l.found, func(a, b finding) int {
		return cmp.Or(
			cmp.Compare(a.unit, b.unit),
			cmp.Compare(a.Span.Start.Offset, b.Span.Start.Offset),
			cmp.Compare(a.Span.End.Offset, b.Span.End.Offset),
			cmp.Compare(a.Rule, b.Rule),
		)
	})
	var list []syntax.Diagnostic
	for _, f := range l.found {
		list = append(list, *f.Diagnostic)
	}
	return list
}

// linter is one run of Lint.
type linter struct {
	cfg     *Config
	units   []*unit
	records map[*idl.Record]*syntax.Record // of the linted documents
	bounded map[*idl.Record]bool           // checked for their bounds
	at      int                            // the unit in hand
	found   []finding
}

// finding is a diagnostic and the index of its document.
type finding struct {
	unit int
	*syntax.Diagnostic
}

// report records what could be better, unless its rule is off, and returns it
// to be added to.
func (l *linter) report(rule string, at syntax.Span, hint, format string, args ...any) *syntax.Diagnostic {
	d := &syntax.Diagnostic{Rule: rule, Severity: syntax.Warning, Span: at, Hint: hint, Message: fmt.Sprintf(format, args...)}
	switch l.cfg.level(rule) {
	case LevelOff:
		return d
	case LevelError:
		d.Severity = syntax.Error
	}
	l.found = append(l.found, finding{l.at, d})
	return d
}

// unit is a document with its tree: what is compiled beside what is written.
// A document without faults has both in the same order.
type unit struct {
	*idl.Document
	file       *syntax.File
	interfaces []interfaceUnit
	records    []recordUnit
	enums      []enumUnit
}

type (
	interfaceUnit struct {
		*idl.Interface
		node *syntax.Interface
	}
	recordUnit struct {
		*idl.Record
		node *syntax.Record
	}
	enumUnit struct {
		*idl.Enum
		node *syntax.Enum
	}
)

func unitOf(d *idl.Document, f *syntax.File) *unit {
	u := &unit{Document: d, file: f}
	for _, decl := range f.Decls {
		switch n := decl.(type) {
		case *syntax.Interface:
			if i := d.Interface(n.Name.Name); i != nil && len(i.Operations) == len(n.Operations) {
				u.interfaces = append(u.interfaces, interfaceUnit{i, n})
			}
		case *syntax.Record:
			at := slices.IndexFunc(d.Records, func(r *idl.Record) bool { return r.Name == n.Name.Name })
			if at >= 0 && len(d.Records[at].Fields) == len(n.Fields) {
				u.records = append(u.records, recordUnit{d.Records[at], n})
			}
		case *syntax.Enum:
			at := slices.IndexFunc(d.Enums, func(e *idl.Enum) bool { return e.Name == n.Name.Name })
			if at >= 0 && len(d.Enums[at].Labels) == len(n.Labels) {
				u.enums = append(u.enums, enumUnit{d.Enums[at], n})
			}
		}
	}
	return u
}

// unit checks one document.
func (l *linter) unit(u *unit) {
	l.packageCase(u)
	for _, i := range u.interfaces {
		l.declaration(i.node.Name, "interface", i.Doc)
		l.deprecation(i.node.Annotations)
		for k, op := range i.Operations {
			l.operation(op, i.node.Operations[k])
		}
	}
	for _, r := range u.records {
		l.declaration(r.node.Name, "record", r.Doc)
		l.deprecation(r.node.Annotations)
		l.deprecatedFields(r)
		for k, f := range r.Fields {
			n := r.node.Fields[k]
			l.member(n.Name, "field", f.Doc, r.Name)
			l.stutter(n.Name, "field", "record", r.Name)
			l.unitOf(n.Name, n.Type, f.Type, f.Doc, r.Doc)
			l.lists(n.Type, f.Type, "in a record", "hold it in a page, or bound it, as in [..100]")
			l.deprecation(n.Annotations)
			l.reserved(n.Name, "field")
		}
	}
	for _, e := range u.enums {
		l.declaration(e.node.Name, "enum", e.Doc)
		l.deprecation(e.node.Annotations)
		for k, label := range e.Labels {
			n := e.node.Labels[k]
			l.member(n.Name, "label", label.Doc, e.Name)
			l.stutter(n.Name, "label", "enum", e.Name)
		}
	}
}

// declaration checks the name and the documentation of a declaration.
func (l *linter) declaration(id syntax.Ident, kind, doc string) {
	l.declarationCase(id, kind)
	l.doc(id, kind, doc, "")
	l.reserved(id, kind)
}

// member checks the name and the documentation of a member of owner.
func (l *linter) member(id syntax.Ident, kind, doc, owner string) {
	l.memberCase(id, kind)
	l.doc(id, kind, doc, owner)
}

// operation checks one operation.
func (l *linter) operation(op *idl.Operation, n *syntax.Operation) {
	l.member(n.Name, "operation", op.Doc, op.Interface.Name)
	l.reserved(n.Name, "operation")
	l.stated(op, n)
	l.deprecation(n.Annotations)
	for k, p := range op.Params {
		pn := n.Params[k]
		l.member(pn.Name, "parameter", p.Doc, op.Name)
		l.unitOf(pn.Name, pn.Type, p.Type, p.Doc, op.Doc)
		l.sent(pn.Type, p.Type)
		l.lists(pn.Type, p.Type, "in a parameter", "bound it, as in [..100]")
		l.deprecation(pn.Annotations)
		l.reserved(pn.Name, "parameter")
	}
	l.sentRecords(op)
	l.lists(n.Result, op.Result, "as a result", "return a page, or bound it, as in [..100]")
	l.pageSize(op, n)
}

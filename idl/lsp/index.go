package lsp

import (
	"cmp"
	"slices"
	"sort"

	"github.com/wipagent/wipagent/idl/syntax"
)

// view is what the server knows of one document by itself: its text, its tree
// and the names in it. It is immutable.
type view struct {
	path, uri string
	*text
	file    *syntax.File
	symbols []*symbol          // declarations in source order, members below them
	decls   map[string]*symbol // the first of each name
	names   []*symbol          // all of them, by the place of their names
	refs    []reference        // by place
}

type symbolKind uint8

const (
	anInterface symbolKind = iota
	aRecord
	anEnum
	anOperation
	aParam
	aField
	aLabel
)

// String returns the word for the kind.
func (k symbolKind) String() string {
	return [...]string{"interface", "record", "enum", "operation", "parameter", "field", "label"}[k]
}

// symbol is a name that a document declares.
type symbol struct {
	kind       symbolKind
	view       *view
	name       syntax.Ident
	span       syntax.Span // of the whole declaration
	doc        string
	deprecated *syntax.Annotation // nil if it is not
	typ        *syntax.TypeExpr   // of a parameter or field, or the result; may be nil
	value      *syntax.Value      // a parameter's default; may be nil
	parent     *symbol            // nil of a declaration
	members    []*symbol
	byName     map[string]*symbol // the first member of each name; nil if there are none
}

// member returns the first member of that name, or nil.
func (s *symbol) member(name string) *symbol { return s.byName[name] }

// same reports whether two symbols are one, perhaps of two views of a file.
func (s *symbol) same(o *symbol) bool {
	return s == o || s.view.path == o.view.path && s.name.Span.Start.Offset == o.name.Span.Start.Offset && s.name.Name == o.name.Name
}

type refKind uint8

const (
	toType   refKind = iota // a declaration, by a type expression
	toLabel                 // a label of the enum that typ names
	toParam                 // a parameter of the operation in, by an example
	toImport                // a document
)

// reference is a place where a name is used.
type reference struct {
	kind refKind
	name string
	span syntax.Span
	in   *symbol          // the operation of an example
	typ  *syntax.TypeExpr // of what a label is the value
}

// newView indexes a document by its tree.
func newView(path, uri string, t *text, file *syntax.File) *view {
	v := &view{path: path, uri: uri, text: t, file: file, decls: map[string]*symbol{}}
	for _, imp := range v.file.Imports {
		v.refs = append(v.refs, reference{kind: toImport, name: imp.Path, span: imp.Span})
	}
	for _, d := range v.file.Decls {
		v.declaration(d)
	}
	v.names = slices.DeleteFunc(v.names, func(s *symbol) bool { return s.name.Name == "" }) // of a faulty stretch
	slices.SortStableFunc(v.names, func(a, b *symbol) int {
		return cmp.Compare(a.name.Span.Start.Offset, b.name.Span.Start.Offset)
	})
	slices.SortStableFunc(v.refs, func(a, b reference) int { return cmp.Compare(a.span.Start.Offset, b.span.Start.Offset) })
	return v
}

// add enters a symbol.
func (v *view) add(s *symbol) *symbol {
	s.view = v
	v.names = append(v.names, s)
	if s.parent == nil {
		v.symbols = append(v.symbols, s)
		if v.decls[s.name.Name] == nil {
			v.decls[s.name.Name] = s
		}
	} else {
		p := s.parent
		p.members = append(p.members, s)
		if p.byName == nil {
			p.byName = map[string]*symbol{}
		}
		if p.byName[s.name.Name] == nil {
			p.byName[s.name.Name] = s
		}
	}
	v.types(s.typ)
	return s
}

// deprecated returns the annotation that says so, or nil.
func deprecated(list []*syntax.Annotation) *syntax.Annotation {
	if i := slices.IndexFunc(list, func(a *syntax.Annotation) bool { return a.Name.Name == "deprecated" }); i >= 0 {
		return list[i]
	}
	return nil
}

// types enters the names in a type.
func (v *view) types(t *syntax.TypeExpr) {
	if t == nil || t.Name.Name == "" {
		return
	}
	v.refs = append(v.refs, reference{kind: toType, name: t.Name.Name, span: t.Name.Span})
	for _, a := range t.Args {
		v.types(a)
	}
}

func (v *view) declaration(d syntax.Decl) {
	switch d := d.(type) {
	case *syntax.Interface:
		s := v.add(&symbol{kind: anInterface, name: d.Name, span: d.Span, doc: d.Doc, deprecated: deprecated(d.Annotations)})
		for _, o := range d.Operations {
			v.operation(s, o)
		}
	case *syntax.Record:
		s := v.add(&symbol{kind: aRecord, name: d.Name, span: d.Span, doc: d.Doc, deprecated: deprecated(d.Annotations)})
		for _, f := range d.Fields {
			v.add(&symbol{kind: aField, name: f.Name, span: f.Span, doc: f.Doc, deprecated: deprecated(f.Annotations), typ: f.Type, parent: s})
		}
	case *syntax.Enum:
		s := v.add(&symbol{kind: anEnum, name: d.Name, span: d.Span, doc: d.Doc, deprecated: deprecated(d.Annotations)})
		for _, l := range d.Labels {
			v.add(&symbol{kind: aLabel, name: l.Name, span: l.Name.Span, doc: l.Doc, parent: s})
		}
	}
}

func (v *view) operation(parent *symbol, o *syntax.Operation) {
	s := v.add(&symbol{kind: anOperation, name: o.Name, span: o.Span, doc: o.Doc, deprecated: deprecated(o.Annotations), typ: o.Result, parent: parent})
	for _, p := range o.Params {
		v.add(&symbol{kind: aParam, name: p.Name, span: p.Span, doc: p.Doc, deprecated: deprecated(p.Annotations), typ: p.Type, value: p.Default, parent: s})
		v.label(p.Default, p.Type)
	}
	for _, a := range o.Annotations {
		if a.Name.Name != "example" {
			continue
		}
		for _, arg := range a.Args {
			if arg.Name == nil {
				continue
			}
			v.refs = append(v.refs, reference{kind: toParam, name: arg.Name.Name, span: arg.Name.Span, in: s})
			if p := s.member(arg.Name.Name); p != nil {
				v.label(arg.Value, p.typ)
			}
		}
	}
}

// label enters a value that may be a label of a type.
func (v *view) label(value *syntax.Value, t *syntax.TypeExpr) {
	if value != nil && value.Kind == syntax.NameValue && t != nil {
		v.refs = append(v.refs, reference{kind: toLabel, name: value.Text, span: value.Span, typ: t})
	}
}

// at returns what stands at an offset, the place behind its last byte
// included: a name that is declared, or one that is used. Both are nil if
// there is neither.
func (v *view) at(off int) (*symbol, *reference) {
	i := sort.Search(len(v.names), func(i int) bool { return v.names[i].name.Span.Start.Offset > off }) - 1
	if i >= 0 && off <= v.names[i].name.Span.End.Offset {
		return v.names[i], nil
	}
	i = sort.Search(len(v.refs), func(i int) bool { return v.refs[i].span.Start.Offset > off }) - 1
	if i >= 0 && off <= v.refs[i].span.End.Offset {
		return nil, &v.refs[i]
	}
	return nil, nil
}

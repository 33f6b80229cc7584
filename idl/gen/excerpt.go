package gen

import (
	"encoding/json"
	"slices"

	"github.com/wipagent/wipagent/idl"
)

// excerpt holds copies of documents in which only some operations stand, and
// only the records and enums that these need: whoever reads what is generated
// from the copies learns nothing of the rest.
type excerpt struct {
	docs       []*idl.Document // without those of which nothing is left, imports first
	of         map[*idl.Document]*idl.Document
	operations map[*idl.Operation]*idl.Operation // originals to copies
	records    map[*idl.Record]*idl.Record
	enums      map[*idl.Enum]*idl.Enum
}

// newExcerpt copies what docs and their imports have of the operations that keep
// holds. Where clean gives a function for a document, its words are changed by
// it; what means something else when changed is left out.
func newExcerpt(docs []*idl.Document, keep map[*idl.Operation]bool, clean func(*idl.Document) func(string) string) *excerpt {
	x := &excerpt{
		of: map[*idl.Document]*idl.Document{}, operations: map[*idl.Operation]*idl.Operation{},
		records: map[*idl.Record]*idl.Record{}, enums: map[*idl.Enum]*idl.Enum{},
	}
	all := withImports(docs)
	for _, d := range all {
		for _, i := range d.Interfaces {
			for _, o := range i.Operations {
				if keep[o] {
					x.need(o.Types())
					x.need(o.ParamTypes())
				}
			}
		}
	}
	for _, d := range all {
		w := copier{excerpt: x, clean: clean(d)}
		to := w.document(d, keep)
		if len(to.Interfaces)+len(to.Records)+len(to.Enums) > 0 {
			x.of[d] = to
			x.docs = append(x.docs, to)
		}
	}
	return x
}

func (x *excerpt) need(records []*idl.Record, enums []*idl.Enum) {
	for _, r := range records {
		if x.records[r] == nil {
			x.records[r] = new(idl.Record)
		}
	}
	for _, e := range enums {
		if x.enums[e] == nil {
			x.enums[e] = new(idl.Enum)
		}
	}
}

// copier copies one document.
type copier struct {
	*excerpt
	clean func(string) string // nil: its words stay
}

// text returns words of a document for a reader. What is cleaned is one line
// first, as it will be read: an address may be hidden in two.
func (w *copier) text(s string) string {
	if w.clean == nil || s == "" {
		return s
	}
	return w.clean(oneLine(s))
}

// stays reports whether a text means what it did when it has been cleaned.
func (w *copier) stays(s string) bool { return w.clean == nil || w.clean(s) == s }

func (w *copier) document(d *idl.Document, keep map[*idl.Operation]bool) *idl.Document {
	to := &idl.Document{Name: w.text(d.Name), Package: d.Package, Version: d.Version}
	for _, i := range d.Interfaces {
		c := &idl.Interface{Name: i.Name, Document: to, Doc: w.text(i.Doc), Deprecated: w.text(i.Deprecated)}
		for _, o := range i.Operations {
			if keep[o] {
				w.operations[o] = w.operation(c, o)
				c.Operations = append(c.Operations, w.operations[o])
			}
		}
		if len(c.Operations) > 0 {
			to.Interfaces = append(to.Interfaces, c)
		}
	}
	for _, r := range d.Records {
		if c := w.records[r]; c != nil {
			*c = idl.Record{Name: r.Name, Document: to, Doc: w.text(r.Doc), Deprecated: w.text(r.Deprecated)}
			for _, f := range r.Fields {
				c.Fields = append(c.Fields, &idl.Field{
					Name: f.Name, Doc: w.text(f.Doc), Type: w.typ(f.Type), Derived: f.Derived, Deprecated: w.text(f.Deprecated),
				})
			}
			to.Records = append(to.Records, c)
		}
	}
	for _, e := range d.Enums {
		if c := w.enums[e]; c != nil {
			*c = idl.Enum{Name: e.Name, Document: to, Doc: w.text(e.Doc), Deprecated: w.text(e.Deprecated)}
			for _, l := range e.Labels {
				c.Labels = append(c.Labels, idl.Label{Name: l.Name, Doc: w.text(l.Doc)})
			}
			to.Enums = append(to.Enums, c)
		}
	}
	return to
}

func (w *copier) operation(of *idl.Interface, o *idl.Operation) *idl.Operation {
	c := renamed(o, o.Name)
	c.Interface, c.Doc, c.Deprecated = of, w.text(o.Doc), w.text(o.Deprecated)
	c.Params, c.Result = nil, w.typ(o.Result)
	for _, p := range o.Params {
		param := &idl.Param{Name: p.Name, Doc: w.text(p.Doc), Type: w.typ(p.Type), Default: p.Default, Deprecated: w.text(p.Deprecated)}
		if !w.stays(string(p.Default)) {
			param.Default, param.Type.Optional = nil, true // left out, it is what the Host declares
		}
		c.Params = append(c.Params, param)
	}
	c.Examples = slices.DeleteFunc(c.Examples, func(e json.RawMessage) bool { return !w.stays(string(e)) })
	return c
}

// renamed returns a copy of an operation under another name.
func renamed(o *idl.Operation, name string) *idl.Operation {
	return &idl.Operation{
		Name: name, Interface: o.Interface, Doc: o.Doc, Params: o.Params, Result: o.Result, Examples: slices.Clone(o.Examples),
		Informational: o.Informational, Risk: o.Risk, Idempotent: o.Idempotent, DryRun: o.DryRun, Cost: o.Cost,
		Timeout: o.Timeout, MaxOutput: o.MaxOutput, Audience: o.Audience, Deprecated: o.Deprecated,
	}
}

func (w *copier) typ(t *idl.Type) *idl.Type {
	if t == nil {
		return nil
	}
	c := *t
	c.Elem, c.Record, c.Enum = w.typ(t.Elem), w.records[t.Record], w.enums[t.Enum]
	if !w.stays(t.PatternText) {
		c.Pattern, c.PatternText = nil, "" // the Host checks it
	}
	return &c
}

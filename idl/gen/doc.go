package gen

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/wipagent/wipagent/idl"
)

// DocOptions say how a reference is written. The zero value is good.
type DocOptions struct {
	// Schemas returns the JSON Schemas of an operation's arguments and result;
	// nil leaves them out.
	Schemas func(*idl.Operation) (arguments, result json.RawMessage)
}

// reference is what a reference says, before it is written in some form: a page
// for each package of the interface language.
type reference struct {
	pages []docPage
}

type docPage struct {
	pkg    string
	blocks []block
}

// block is a piece of a page: one of the types below.
type block interface{ block() }

type (
	heading struct {
		level int // from 1
		id    string
		text  string
	}
	paragraph []span
	codeBlock struct{ lang, text string }
	table     struct {
		head []string
		rows [][][]span
	}
	// folded is shown where it is asked for.
	folded struct {
		title string
		code  codeBlock
	}
)

func (heading) block()   {}
func (paragraph) block() {}
func (codeBlock) block() {}
func (table) block()     {}
func (folded) block()    {}

// span is a stretch of a line.
type span struct {
	text string
	code bool
	page string // the package of the page that it links to
	id   string // what it links to there; no link if empty
}

func words(s string) span { return span{text: s} }
func code(s string) span  { return span{text: s, code: true} }

// docMaker makes the pages.
type docMaker struct {
	opt       *DocOptions
	languages []*spoken
	ids       *naming
	usedBy    map[any][]span // of records and enums
	page      *docPage
}

// spoken is one language in which operations can be called.
type spoken struct {
	name   string
	lang   *language
	naming *naming
	call   func(n *naming, o *idl.Operation, args map[string]json.RawMessage) string
}

func newReference(docs []*idl.Document, opt *DocOptions) *reference {
	if opt == nil {
		opt = &DocOptions{}
	}
	all := withImports(docs)
	m := &docMaker{opt: opt, usedBy: map[any][]span{}, languages: []*spoken{
		{name: "Python", lang: &pythonLanguage, call: pythonCall},
		{name: "TypeScript", lang: &typescriptLanguage, call: typescriptCall},
		{name: "Go", lang: &goClientLanguage, call: goCall},
	}}
	for _, s := range m.languages {
		s.naming = s.lang.newNaming(all)
	}
	same := func(name string) string { return name }
	m.ids = (&language{typ: same, member: same}).newNaming(all)
	m.findUses(all)
	r := &reference{}
	var pkgs []string
	for _, d := range all {
		if !slices.Contains(pkgs, d.Package) {
			pkgs = append(pkgs, d.Package)
		}
	}
	slices.Sort(pkgs)
	for _, pkg := range pkgs {
		m.page = &docPage{pkg: pkg}
		m.pkg(slices.DeleteFunc(slices.Clone(all), func(d *idl.Document) bool { return d.Package != pkg }))
		r.pages = append(r.pages, *m.page)
	}
	return r
}

// findUses notes what holds each record and enum.
func (m *docMaker) findUses(docs []*idl.Document) {
	use := func(t *idl.Type, by span) {
		for t.Elem != nil {
			t = t.Elem
		}
		var used any
		switch {
		case t.Record != nil:
			used = t.Record
		case t.Enum != nil:
			used = t.Enum
		default:
			return
		}
		if !slices.Contains(m.usedBy[used], by) {
			m.usedBy[used] = append(m.usedBy[used], by)
		}
	}
	for _, d := range docs {
		for _, i := range d.Interfaces {
			for _, o := range i.Operations {
				by := m.link(o, i.Name+"."+o.Name)
				for _, p := range o.Params {
					use(p.Type, by)
				}
				use(o.Result, by)
			}
		}
		for _, r := range d.Records {
			for _, f := range r.Fields {
				use(f.Type, m.link(r, r.Name))
			}
		}
	}
}

// link returns a link to what documents declare.
func (m *docMaker) link(to any, text string) span {
	s := span{text: text, code: true, id: m.id(to)}
	switch to := to.(type) {
	case *idl.Interface:
		s.page = to.Document.Package
	case *idl.Operation:
		s.page = to.Interface.Document.Package
	case *idl.Record:
		s.page = to.Document.Package
	case *idl.Enum:
		s.page = to.Document.Package
	}
	return s
}

// id returns what names a declaration on its page. Two documents of one package
// may declare the same name.
func (m *docMaker) id(of any) string {
	if o, ok := of.(*idl.Operation); ok {
		return m.ids.of[o.Interface] + "." + m.ids.of[o]
	}
	return m.ids.of[of]
}

func (m *docMaker) add(b ...block) { m.page.blocks = append(m.page.blocks, b...) }

func (m *docMaker) say(s ...span) {
	if len(s) > 0 {
		m.add(paragraph(s))
	}
}

// doc adds documentation, and that something is deprecated.
func (m *docMaker) doc(text, deprecated string) {
	if text = oneLine(text); text != "" {
		m.say(words(sentences(text)))
	}
	if deprecated != "" {
		m.say(words(sentences(deprecation(deprecated))))
	}
}

func (m *docMaker) pkg(docs []*idl.Document) {
	m.add(heading{1, "", "Package " + m.page.pkg})
	t := table{head: []string{"Document", "Version", "Declares"}}
	for _, d := range docs {
		var declared []span
		for _, i := range d.Interfaces {
			declared = append(declared, m.link(i, i.Name))
		}
		for _, r := range d.Records {
			declared = append(declared, m.link(r, r.Name))
		}
		for _, e := range d.Enums {
			declared = append(declared, m.link(e, e.Name))
		}
		t.rows = append(t.rows, [][]span{{code(baseName(d))}, {words(strconv.Itoa(d.Version))}, list(declared)})
	}
	m.add(t)
	for _, d := range docs {
		for _, i := range d.Interfaces {
			m.iface(i)
		}
	}
	for _, d := range docs {
		for _, r := range d.Records {
			m.record(r)
		}
		for _, e := range d.Enums {
			m.enum(e)
		}
	}
}

// list puts commas between spans.
func list(spans []span) []span {
	var out []span
	for i, s := range spans {
		if i > 0 {
			out = append(out, words(", "))
		}
		out = append(out, s)
	}
	return out
}

package gen

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

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

func (m *docMaker) iface(i *idl.Interface) {
	m.add(heading{2, m.id(i), "Interface " + i.Name})
	m.doc(i.Doc, i.Deprecated)
	t := table{head: []string{"Operation", "", "Risk"}}
	for _, o := range i.Operations {
		first, _, _ := strings.Cut(oneLine(o.Doc), ". ")
		t.rows = append(t.rows, [][]span{{m.link(o, o.Name)}, {words(sentences(first, deprecation(o.Deprecated)))}, {words(riskWords(o))}})
	}
	if len(t.rows) > 0 {
		m.add(t)
	}
	for _, o := range i.Operations {
		m.operation(o)
	}
}

func riskWords(o *idl.Operation) string { return strings.ReplaceAll(o.Risk.String(), "_", "-") }

func (m *docMaker) operation(o *idl.Operation) {
	m.add(heading{3, m.id(o), o.Name})
	m.doc(o.Doc, o.Deprecated)
	m.add(codeBlock{"", o.Signature()})
	if len(o.Params) > 0 {
		t := table{head: []string{"Parameter", "Type", "Default", "Meaning"}}
		for _, p := range o.Params {
			value := []span{words("required")}
			switch {
			case p.Default != nil:
				value = []span{code(string(p.Default))}
			case p.Type.Optional:
				value = []span{words("none")}
			}
			note := sentences(oneLine(p.Doc), typeNote(p.Type), deprecation(p.Deprecated))
			t.rows = append(t.rows, [][]span{{code(p.Name)}, m.typeSpans(p.Type), value, {words(note)}})
		}
		m.add(t)
	}
	result := append([]span{words("Returns ")}, m.typeSpans(o.Result)...)
	if note := typeNote(o.Result); note != "" {
		result = append(result, words(", "+note))
	}
	m.say(append(result, words("."))...)
	m.add(table{head: []string{"Policy", ""}, rows: policyRows(o)})
	m.aliases(o)
	m.examples(o)
	if m.opt.Schemas != nil {
		arguments, shape := m.opt.Schemas(o)
		m.add(folded{"JSON Schema of the arguments", codeBlock{"json", indentJSON(arguments)}},
			folded{"JSON Schema of the result", codeBlock{"json", indentJSON(shape)}})
	}
}

func policyRows(o *idl.Operation) [][][]span {
	yes := map[bool]string{true: "yes", false: "no"}
	var rows [][][]span
	for _, r := range [][2]string{
		{"Risk", riskWords(o)}, {"Only informs", yes[o.Informational]}, {"May be repeated", yes[o.Idempotent]}, {"Can be tried without effect", yes[o.DryRun]},
		{"Counts as", strconv.Itoa(o.Cost) + " tool calls"}, {"Time", durationText(o.Timeout)}, {"Result", "at most " + sizeText(o.MaxOutput)},
		{"Offered to", o.Audience.String() + " and above"},
	} {
		if r[0] == "Counts as" && o.Cost == 1 {
			r[1] = "1 tool call"
		}
		rows = append(rows, [][]span{{words(r[0])}, {words(r[1])}})
	}
	return rows
}

func (m *docMaker) aliases(o *idl.Operation) {
	if len(o.Aliases) == 0 {
		return
	}
	spans := []span{words("People ask for it by: ")}
	for i, a := range o.Aliases {
		text := "“" + oneLine(a.Text) + "”"
		if a.Language != "" {
			text += " (" + a.Language + ")"
		}
		if i > 0 {
			text = ", " + text
		}
		spans = append(spans, words(text))
	}
	m.say(append(spans, words("."))...)
}

// examples shows calls: those of the document, or one without arguments.
func (m *docMaker) examples(o *idl.Operation) {
	examples := o.Examples
	if len(examples) == 0 && !slices.ContainsFunc(o.Params, (*idl.Param).Required) {
		examples = []json.RawMessage{json.RawMessage("{}")}
	}
	if len(examples) == 0 {
		names := []span{words("It is called ")}
		for i, s := range m.languages {
			names = append(names, code(s.naming.of[o.Interface]+"."+s.naming.of[o]), words(" in "+s.name+[]string{", ", " and ", "."}[i]))
		}
		m.say(names...)
	}
	for _, e := range examples {
		var args map[string]json.RawMessage
		if json.Unmarshal(e, &args) != nil {
			continue
		}
		t := table{head: []string{"Example", ""}, rows: [][][]span{{{words("Arguments")}, {code(string(e))}}}}
		for _, s := range m.languages {
			t.rows = append(t.rows, [][]span{{words(s.name)}, {code(s.call(s.naming, o, args))}})
		}
		m.add(t)
	}
	var other []span
	for _, p := range o.Params {
		other = append(other, m.otherNames(p, p.Name)...)
	}
	m.sayOther(other)
}

// otherNames says what something is called where a language could not take its
// name in the usual way.
func (m *docMaker) otherNames(member any, name string) []span {
	var out []span
	for _, s := range m.languages {
		usual := s.lang.member(name)
		switch member.(type) {
		case *idl.Record, *idl.Enum, *idl.Interface:
			usual = s.lang.typ(name)
		}
		if got := s.naming.of[member]; got != usual {
			out = append(out, code(name), words(" is "), code(got), words(" in "+s.name+", "))
		}
	}
	return out
}

func (m *docMaker) sayOther(other []span) {
	if len(other) > 0 {
		last := &other[len(other)-1]
		last.text = strings.TrimSuffix(last.text, ", ") + "."
		m.say(other...)
	}
}

func (m *docMaker) record(r *idl.Record) {
	m.add(heading{2, m.id(r), "Record " + r.Name})
	m.doc(r.Doc, r.Deprecated)
	t := table{head: []string{"Field", "Type", "Meaning"}}
	other := m.otherNames(r, r.Name)
	for _, f := range r.Fields {
		t.rows = append(t.rows, [][]span{{code(f.Name)}, m.typeSpans(f.Type), {words(sentences(fieldNote(f), deprecation(f.Deprecated)))}})
		other = append(other, m.otherNames(f, f.Name)...)
	}
	if len(t.rows) > 0 {
		m.add(t)
	} else {
		m.say(words("It has no fields."))
	}
	m.sayOther(other)
	m.uses(r)
}

func (m *docMaker) enum(e *idl.Enum) {
	m.add(heading{2, m.id(e), "Enum " + e.Name})
	m.doc(e.Doc, e.Deprecated)
	t := table{head: []string{"Label", "Meaning"}}
	for _, l := range e.Labels {
		t.rows = append(t.rows, [][]span{{code(l.Name)}, {words(sentences(oneLine(l.Doc)))}})
	}
	m.add(t)
	m.sayOther(m.otherNames(e, e.Name))
	m.uses(e)
}

func (m *docMaker) uses(of any) {
	if by := m.usedBy[of]; len(by) > 0 {
		m.say(append(append([]span{words("Used by ")}, list(by)...), words("."))...)
	}
}

// typeSpans writes a type as a document does, with links.
func (m *docMaker) typeSpans(t *idl.Type) []span {
	switch {
	case t.Record != nil:
		return suffixed([]span{m.link(t.Record, t.Record.Name)}, t.String()[len(t.Record.Name):])
	case t.Enum != nil:
		return suffixed([]span{m.link(t.Enum, t.Enum.Name)}, t.String()[len(t.Enum.Name):])
	case t.Interface != nil:
		spans := []span{code("entry<"), m.link(t.Interface, t.Interface.Name)}
		return suffixed(spans, t.String()[len("entry<"+t.Interface.Name):])
	case t.Elem != nil:
		name, _, _ := strings.Cut(t.String(), "<")
		spans := m.typeSpans(t.Elem)
		if first := &spans[0]; first.id == "" {
			first.text = name + "<" + first.text
		} else {
			spans = append([]span{code(name + "<")}, spans...)
		}
		return suffixed(spans, t.String()[len(name+"<"+t.Elem.String()):])
	}
	return []span{code(t.String())}
}

// suffixed joins code to the last span, if that is plain code too.
func suffixed(spans []span, text string) []span {
	if text == "" {
		return spans
	}
	if last := &spans[len(spans)-1]; last.id == "" {
		last.text += text
		return spans
	}
	return append(spans, code(text))
}

func indentJSON(raw json.RawMessage) string {
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		return string(raw)
	}
	return b.String()
}

func pythonCall(n *naming, o *idl.Operation, args map[string]json.RawMessage) string {
	p := &python{naming: n, uses: map[string]bool{}}
	return fmt.Sprintf("%s(space, path).%s", n.of[o.Interface], p.call(o, args))
}

func typescriptCall(n *naming, o *idl.Operation, args map[string]json.RawMessage) string {
	t := &typescript{naming: n}
	return fmt.Sprintf("await new %s(space, path).%s", n.of[o.Interface], t.call(o, args))
}

// goCall shows no arguments: they are a struct, and each needs its own form.
func goCall(n *naming, o *idl.Operation, _ map[string]json.RawMessage) string {
	args := ""
	if len(o.Params) > 0 {
		args = ", " + n.args[o] + "{…}"
	}
	return fmt.Sprintf("%s{c, p, path}.%s(ctx%s)", n.of[o.Interface], n.of[o], args)
}

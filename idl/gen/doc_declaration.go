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

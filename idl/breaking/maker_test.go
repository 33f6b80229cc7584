package breaking_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing/fstest"

	"pgregory.net/rapid"

	"github.com/wipagent/wipagent/idl"
)

// document is a made-up document that can be edited and written out.
type document struct {
	version    int
	operations []*operation
	records    []*record
	enums      []*enum
}

type operation struct {
	name        string
	annotations []string
	params      []*member
	result      *typ
}

type record struct {
	name   string
	fields []*member
}

type enum struct {
	name   string
	labels []string
}

// member is a parameter or a field.
type member struct {
	name     string
	typ      *typ
	fallback string // a default of a parameter
}

// typ is a type as it is written.
type typ struct {
	name     string // of a built-in type, or of a declaration
	elem     *typ
	refined  string // such as [1..5]
	optional bool
}

func (t *typ) String() string {
	s := t.name
	if t.elem != nil {
		s += "<" + t.elem.String() + ">"
	}
	s += t.refined
	if t.optional {
		s += "?"
	}
	return s
}

func (d *document) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "package made;\nversion %d;\n\ninterface Made {\n", d.version)
	for _, op := range d.operations {
		fmt.Fprintf(&b, "  %s %s(", strings.Join(op.annotations, " "), op.name)
		for _, p := range op.params {
			fmt.Fprintf(&b, "%s: %s", p.name, p.typ)
			if p.fallback != "" {
				b.WriteString(" = " + p.fallback)
			}
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, ") -> %s;\n", op.result)
	}
	b.WriteString("}\n")
	for _, r := range d.records {
		fmt.Fprintf(&b, "record %s { ", r.name)
		for _, f := range r.fields {
			fmt.Fprintf(&b, "%s: %s; ", f.name, f.typ)
		}
		b.WriteString("}\n")
	}
	for _, e := range d.enums {
		fmt.Fprintf(&b, "enum %s { %s }\n", e.name, strings.Join(e.labels, ", "))
	}
	return b.String()
}

// compile compiles the document; nil if it has a fault, such as a default that
// an edit of its type made wrong.
func (d *document) compile() *idl.Document {
	const name = "made.wip"
	docs, err := idl.Compile(idl.FSLoader(fstest.MapFS{name: &fstest.MapFile{Data: []byte(d.String())}}), name)
	if err != nil {
		return nil
	}
	return docs[0]
}

// maker makes up documents, edits and values.
type maker struct{ *rapid.T }

func (m maker) n(most int, label string) int { return rapid.IntRange(0, most).Draw(m.T, label) }

func pick[T any](m maker, label string, from ...T) T { return rapid.SampledFrom(from).Draw(m.T, label) }

// document makes a document: records named R are sent, records named G
// received, and records named B and enums both.
func (m maker) document() *document {
	d := &document{version: 1}
	for i := range 1 + m.n(2, "enums") {
		e := &enum{name: fmt.Sprintf("E%d", i)}
		for k := range 1 + m.n(3, "labels") {
			e.labels = append(e.labels, fmt.Sprintf("l%d", k))
		}
		d.enums = append(d.enums, e)
	}
	for i := range 1 + m.n(3, "records") {
		r := &record{name: fmt.Sprintf("R%d", i)}
		for k := range 1 + m.n(3, "fields") {
			r.fields = append(r.fields, &member{name: fmt.Sprintf("f%d", k), typ: m.typ(d, 0, true)})
		}
		d.records = append(d.records, r)
	}
	for i := range 1 + m.n(2, "operations") {
		op := &operation{name: fmt.Sprintf("op%d", i), annotations: m.annotations()}
		for k := range m.n(4, "params") {
			op.params = append(op.params, m.param(d, fmt.Sprintf("p%d", k)))
		}
		op.result = m.typ(d, 0, false)
		d.operations = append(d.operations, op)
	}
	return d
}

func (m maker) annotations() (list []string) {
	list = append(list, pick(m, "risk", "", "@read_only", "@mutating", "@destructive"))
	if list[0] != "@read_only" {
		list = append(list, pick(m, "dry", "", "@dry_run"))
	}
	return append(list, pick(m, "audience", "", "@audience(im)"), pick(m, "cost", "", "@cost(2)"), pick(m, "timeout", "", "@timeout(1s)"), pick(m, "idempotent", "", "@idempotent"))
}

func (m maker) param(d *document, name string) *member {
	p := &member{name: name, typ: m.typ(d, 0, true)}
	if m.n(1, "default") == 1 {
		switch p.typ.name {
		case "int", "float":
			p.fallback = pick(m, "number", "2", "3")
		case "bool":
			p.fallback = pick(m, "bool", "true", "false")
		case "string":
			p.fallback = pick(m, "string", `"aa"`, `"ab"`)
		case "duration":
			p.fallback = pick(m, "duration", "2ms", "3ms")
		}
		if p.fallback != "" {
			p.typ.optional = false
		}
	}
	return p
}

// typ makes a type. Records can hold those that were made before, so that none
// holds itself.
func (m maker) typ(d *document, depth int, sent bool) *typ {
	names := []string{"bool", "int", "float", "string", "uuid", "timestamp", "duration", "bytes", "entry", "enum", "record"}
	if depth < 2 {
		names = append(names, "list", "map")
		if !sent && depth == 0 {
			names = append(names, "fact")
		}
	}
	if !sent {
		names = append(names, "text")
	}
	t := &typ{name: pick(m, "type", names...)}
	ranges := func(unit string) string {
		low, high := pick(m, "min", "", "1", "2"), pick(m, "max", "", "3", "5")
		if low+high == "" {
			return ""
		}
		return " [" + low + ".." + high + unit + "]"
	}
	switch t.name {
	case "int", "float", "timestamp", "duration":
		t.refined = ranges("")
	case "string":
		t.refined = pick(m, "refined", ranges(" bytes"), ` [matching "a[ab]*"]`, ` [matching "aa?b?"]`)
	case "bytes", "text":
		t.refined = ranges(" bytes")
	case "entry":
		t.name = pick(m, "entry", "entry", "entry<Made>")
	case "list", "map":
		t.elem = m.typ(d, depth+1, sent)
		t.refined = ranges("")
	case "fact":
		t.elem = m.typ(d, depth+1, false)
		if t.elem.name == "map" {
			t.name, t.elem = "int", nil
		}
		return t
	case "enum":
		t.name = pick(m, "enum", d.enums...).name
	case "record":
		t.name = "bool"
		if len(d.records) > 0 {
			t.name = pick(m, "record", d.records...).name
		}
	}
	t.optional = m.n(3, "optional") == 0
	return t
}

// edit changes one thing of a copy of the document, and returns the copy.
func (m maker) edit(d *document) *document {
	var c document
	deepCopy(&c, d)
	d = &c
	op := pick(m, "operation", d.operations...)
	r, e := pick(m, "record", d.records...), pick(m, "enum", d.enums...)
	before := *d
	before.records = d.records[:slices.Index(d.records, r)]
	switch m.n(20, "edit") {
	case 0:
		if len(op.params) > 0 {
			i := m.n(len(op.params)-1, "removed")
			op.params = slices.Delete(op.params, i, i+1)
		}
	case 1:
		op.params = slices.Insert(op.params, m.n(len(op.params), "at"), m.param(d, "added"))
	case 2:
		if len(op.params) > 0 {
			pick(m, "renamed", op.params...).name = "renamed"
		}
	case 3, 4:
		if len(op.params) > 0 {
			i := m.n(len(op.params)-1, "param")
			op.params[i] = m.param(d, op.params[i].name)
		}
	case 5:
		if len(op.params) > 1 {
			op.params[0], op.params[1] = op.params[1], op.params[0]
		}
	case 6:
		op.name = "renamed"
	case 7:
		op.result = m.typ(d, 0, false)
	case 8:
		op.annotations = m.annotations()
	case 9:
		r.fields = slices.Delete(r.fields, 0, 1)
	case 10:
		r.fields = append(r.fields, &member{name: "added", typ: m.typ(&before, 0, true)})
	case 11:
		r.fields[0].name = "renamed"
	case 12, 13:
		pick(m, "field", r.fields...).typ = m.typ(&before, 0, true)
	case 14:
		e.labels = append(e.labels, "added")
	case 15:
		e.labels[m.n(len(e.labels)-1, "label")] = "changed"
	case 16, 18, 19, 20:
		m.tweak(d, op, r)
	case 17:
		d.operations = append(d.operations, &operation{name: "added", result: &typ{name: "bool"}})
	}
	return d
}

// tweak changes a part of some type.
func (m maker) tweak(d *document, op *operation, r *record) {
	types := []*typ{op.result}
	for _, list := range [][]*member{op.params, r.fields} {
		for _, p := range list {
			types = append(types, p.typ)
			if p.typ.elem != nil {
				types = append(types, p.typ.elem)
			}
		}
	}
	t := pick(m, "type", types...)
	switch m.n(4, "tweak") {
	case 3: // the next of kin
		switch t.name {
		case "int":
			t.name = "float"
		case "uuid", "entry", "E0", "E1":
			t.name, t.refined = "string", pick(m, "string", "", " [..5 bytes]", ` [matching "a*"]`)
		case "text", "string":
			t.name = pick(m, "words", "text", "string", "uuid")
		}
	case 4:
		if len(op.params) > 0 {
			p := pick(m, "param", op.params...)
			switch {
			case p.fallback != "":
				p.fallback = pick(m, "default", "", "2", "3", "true", "false", `"aa"`, "2ms")
				p.typ.optional = p.fallback == "" && m.n(1, "optional") == 1
			default:
				p.fallback = pick(m, "default", "2", "true", `"aa"`, "2ms")
				p.typ.optional = false
			}
		}
	case 0:
		t.optional = !t.optional
	case 1:
		t.refined = ""
	case 2:
		switch t.name {
		case "int", "float", "list", "map", "timestamp", "duration":
			t.refined = pick(m, "range", " [2..5]", " [0..9]", " [..4]", " [1..]", " [0..]")
		case "string", "bytes", "text":
			t.refined = pick(m, "range", " [2..5 bytes]", " [0..9 bytes]", " [..4 bytes]", " [0.. bytes]")
		}
	}
}

func deepCopy(to, from *document) {
	*to = document{version: from.version}
	for _, op := range from.operations {
		to.operations = append(to.operations, &operation{op.name, slices.Clone(op.annotations), copyMembers(op.params), copyType(op.result)})
	}
	for _, r := range from.records {
		to.records = append(to.records, &record{r.name, copyMembers(r.fields)})
	}
	for _, e := range from.enums {
		to.enums = append(to.enums, &enum{e.name, slices.Clone(e.labels)})
	}
}

func copyMembers(list []*member) (out []*member) {
	for _, p := range list {
		out = append(out, &member{p.name, copyType(p.typ), p.fallback})
	}
	return out
}

func copyType(t *typ) *typ {
	if t == nil {
		return nil
	}
	c := *t
	c.elem = copyType(t.elem)
	return &c
}

// call makes an argument record for an operation.
func (m maker) call(op *idl.Operation) string {
	var list []string
	for _, p := range op.Params {
		if p.Required() || m.n(1, "sent") == 1 {
			list = append(list, quoted(p.Name)+":"+m.value(p.Type))
		}
	}
	return "{" + strings.Join(list, ",") + "}"
}

// value makes a value of a type, as it is sent and as a Host returns it; near
// the ends of its refinement, which is where edits tell.
func (m maker) value(t *idl.Type) string {
	if t.Optional && m.n(2, "null") == 0 {
		return "null"
	}
	low, high := 0.0, 6.0
	if t.Range != nil && t.Range.HasMin {
		low = t.Range.Min
		high = math.Max(high, low)
	}
	if t.Range != nil && t.Range.HasMax {
		high = t.Range.Max
	}
	n := rapid.IntRange(int(low), int(high)).Draw(m.T, "n")
	switch t.Kind {
	case idl.Bool:
		return pick(m, "bool", "true", "false")
	case idl.Int, idl.Timestamp, idl.Duration:
		return fmt.Sprint(n)
	case idl.Float:
		return pick(m, "float", fmt.Sprint(n), fmt.Sprint(math.Min(float64(n)+0.5, high)))
	case idl.String, idl.Text:
		if t.Pattern != nil {
			return quoted(pick(m, "matching", matching(t)...))
		}
		return quoted(strings.Repeat("a", n))
	case idl.UUID:
		return `"abcdef01-2222-4333-8444-555555555555"`
	case idl.Bytes:
		return quoted(base64.StdEncoding.EncodeToString(make([]byte, n)))
	case idl.Entry:
		return pick(m, "entry", `"/"`, `"/issues/1"`)
	case idl.EnumOf:
		return quoted(pick(m, "label", t.Enum.Labels...).Name)
	case idl.List:
		elems := make([]string, n)
		for i := range elems {
			elems[i] = m.value(t.Elem)
		}
		return "[" + strings.Join(elems, ",") + "]"
	case idl.Map:
		members := make([]string, n)
		for i := range members {
			members[i] = fmt.Sprintf(`"k%d":%s`, i, m.value(t.Elem))
		}
		return "{" + strings.Join(members, ",") + "}"
	case idl.Fact:
		if m.n(2, "unknown") == 0 {
			return `{"status":"unknown","reason":"not_here"}`
		}
		return m.value(t.Elem)
	}
	var list []string
	for _, f := range t.Record.Fields {
		if f.Type.Optional && m.n(2, "absent") == 0 {
			continue
		}
		list = append(list, quoted(f.Name)+":"+m.value(f.Type))
	}
	return "{" + strings.Join(list, ",") + "}"
}

// matching returns strings that match one of the patterns of made-up types.
func matching(t *idl.Type) (list []string) {
	for _, s := range []string{"a", "aa", "ab", "aab", "aba", "abab", "aaaaaa"} {
		if t.Pattern.MatchString(s) {
			list = append(list, s)
		}
	}
	return list
}

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

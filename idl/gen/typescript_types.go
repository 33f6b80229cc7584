package gen

import (
	"fmt"
	"strings"

	"github.com/wipagent/wipagent/idl"
)

// typ returns the type of a type. A page that is a result can be gone on with.
func (t *typescript) typ(typ *idl.Type, result bool) string {
	if typ.Optional {
		bare := *typ
		bare.Optional = false
		return t.typ(&bare, result) + " | null"
	}
	elem := func() string {
		s := t.typ(typ.Elem, false)
		if typ.Elem.Optional || typ.Elem.Kind == idl.List {
			s = "(" + s + ")"
		}
		return s
	}
	switch typ.Kind {
	case idl.Bool:
		return "boolean"
	case idl.Int, idl.Timestamp, idl.Duration, idl.Float:
		return "number"
	case idl.Text:
		return "rt.Text"
	case idl.Bytes:
		return "Uint8Array"
	case idl.List:
		return "readonly " + elem() + "[]"
	case idl.Map:
		return "{ readonly [key: string]: " + t.typ(typ.Elem, false) + " }"
	case idl.Fact:
		return "rt.Fact<" + t.typ(typ.Elem, result) + ">"
	case idl.Page:
		if result {
			return "rt.Page<" + t.typ(typ.Elem, false) + ">"
		}
		return "rt.FirstPage<" + t.typ(typ.Elem, false) + ">"
	case idl.Observed:
		return "rt.Observed<" + t.typ(typ.Elem, result) + ">"
	case idl.RecordOf:
		return t.scope(typ.Record.Document) + t.of[typ.Record]
	case idl.EnumOf:
		return t.scope(typ.Enum.Document) + t.of[typ.Enum]
	}
	return "string"
}

// scope returns what stands before a name of the document's module.
func (t *typescript) scope(d *idl.Document) string {
	m := t.in[d]
	if m == t.module {
		return ""
	}
	t.uses[m.name] = true
	return "_" + m.name + "."
}

// decode returns an expression for the function that reads a type.
func (t *typescript) decode(typ *idl.Type, result bool) string {
	if typ.Optional {
		bare := *typ
		bare.Optional = false
		return "rt.optional(" + t.decode(&bare, result) + ")"
	}
	switch typ.Kind {
	case idl.Bool:
		return "rt.boolean"
	case idl.Int, idl.Timestamp, idl.Duration:
		return "rt.integer"
	case idl.Float:
		return "rt.number"
	case idl.Bytes:
		return "rt.binary"
	case idl.List:
		return "rt.listOf(" + t.decode(typ.Elem, false) + ")"
	case idl.Map:
		return "rt.mapOf(" + t.decode(typ.Elem, false) + ")"
	case idl.Fact:
		return "rt.fact(" + t.decode(typ.Elem, result) + ")"
	case idl.Page:
		if result {
			return "rt.page(" + t.decode(typ.Elem, false) + ")"
		}
		return "rt.firstPage(" + t.decode(typ.Elem, false) + ")"
	case idl.Observed:
		return "rt.observed(" + t.decode(typ.Elem, result) + ")"
	case idl.RecordOf:
		return t.scope(typ.Record.Document) + "decode" + t.of[typ.Record]
	case idl.EnumOf:
		return t.scope(typ.Enum.Document) + "decode" + t.of[typ.Enum]
	}
	return "rt.string"
}

// encode returns an expression for what is sent of an argument: the argument
// itself, unless there are records in it, whose members have other names there.
func (t *typescript) encode(typ *idl.Type, x string) string {
	inner := typ
	for inner.Elem != nil {
		inner = inner.Elem
	}
	if inner.Kind != idl.RecordOf {
		return x
	}
	encoded := ""
	switch typ.Kind {
	case idl.RecordOf:
		encoded = fmt.Sprintf("%sencode%s(%s)", t.scope(typ.Record.Document), t.of[typ.Record], x)
	case idl.List:
		encoded = fmt.Sprintf("%s.map((v) => %s)", x, t.encode(typ.Elem, "v"))
	default:
		encoded = fmt.Sprintf("rt.mapValues(%s, (v) => %s)", x, t.encode(typ.Elem, "v"))
	}
	if typ.Optional {
		return fmt.Sprintf("%[1]s == null ? null : %[2]s", x, encoded)
	}
	return encoded
}

// wireKey returns a name as the key of an object literal.
func wireKey(name string) string {
	if name == "__proto__" { // bare or quoted it is no key
		return `["__proto__"]`
	}
	return name
}

// comment writes a doc comment, if there is anything to say.
func (t *typescript) comment(indent, deprecated string, lines ...string) {
	if deprecated != "" {
		lines = append(lines, "", "@deprecated "+oneLine(deprecated))
	}
	for len(lines) > 0 && lines[0] == "" {
		lines = lines[1:]
	}
	if len(lines) > 0 {
		comment(&t.body, indent, lines...)
	}
}

// comment writes a doc comment of paragraphs, each wrapped.
func comment(b *strings.Builder, indent string, lines ...string) {
	var out []string
	for _, line := range lines {
		out = append(out, wrap(strings.ReplaceAll(line, "*/", "*\\/"), 96-len(indent))...)
	}
	if len(out) == 1 {
		fmt.Fprintf(b, "%s/** %s */\n", indent, out[0])
		return
	}
	fmt.Fprintf(b, "%s/**\n", indent)
	for _, line := range out {
		fmt.Fprintf(b, "%s\n", strings.TrimRight(indent+" * "+line, " "))
	}
	fmt.Fprintf(b, "%s */\n", indent)
}

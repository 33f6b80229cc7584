package gen

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/wipagent/wipagent/idl"
)

// typ returns the annotation of a type. A page that is a result can be gone on
// with.
func (p *python) typ(t *idl.Type, result bool) string {
	if t.Optional {
		bare := *t
		bare.Optional = false
		return p.typ(&bare, result) + " | None"
	}
	switch t.Kind {
	case idl.Bool:
		return "bool"
	case idl.Int, idl.Timestamp, idl.Duration:
		return "int"
	case idl.Float:
		return "float"
	case idl.Text:
		return p.use("Text")
	case idl.UUID:
		return p.use("UUID")
	case idl.Bytes:
		return "bytes"
	case idl.List:
		return p.use("Sequence") + "[" + p.typ(t.Elem, false) + "]"
	case idl.Map:
		return p.use("Mapping") + "[str, " + p.typ(t.Elem, false) + "]"
	case idl.Fact:
		return p.typ(t.Elem, result) + " | " + p.use("Unknown")
	case idl.Page:
		name := "FirstPage"
		if result {
			name = "Page"
		}
		return p.use(name) + "[" + p.typ(t.Elem, false) + "]"
	case idl.Observed:
		return p.use("Observed") + "[" + p.typ(t.Elem, result) + "]"
	case idl.RecordOf:
		return p.scope(t.Record.Document) + p.of[t.Record]
	case idl.EnumOf:
		return p.scope(t.Enum.Document) + p.of[t.Enum]
	}
	return "str"
}

// scope returns what stands before a name of the document's module.
func (p *python) scope(d *idl.Document) string {
	if m := p.in[d]; m != p.module {
		return p.use("_m_"+m.name) + "."
	}
	return ""
}

// decode returns an expression for the function that reads a type.
func (p *python) decode(t *idl.Type, result bool) string {
	if t.Optional {
		bare := *t
		bare.Optional = false
		return "_rt.optional(" + p.decode(&bare, result) + ")"
	}
	switch t.Kind {
	case idl.Bool:
		return "_rt.boolean"
	case idl.Int, idl.Timestamp, idl.Duration:
		return "_rt.integer"
	case idl.Float:
		return "_rt.number"
	case idl.Text:
		return "_rt.text"
	case idl.UUID:
		return "_rt.uuid"
	case idl.Bytes:
		return "_rt.binary"
	case idl.List:
		return "_rt.list_of(" + p.decode(t.Elem, false) + ")"
	case idl.Map:
		return "_rt.map_of(" + p.decode(t.Elem, false) + ")"
	case idl.Fact:
		return "_rt.fact(" + p.decode(t.Elem, result) + ")"
	case idl.Page:
		if result {
			return "_rt.page(" + p.decode(t.Elem, false) + ")"
		}
		return "_rt.first_page(" + p.decode(t.Elem, false) + ")"
	case idl.Observed:
		return "_rt.observed(" + p.decode(t.Elem, result) + ")"
	case idl.RecordOf:
		return p.scope(t.Record.Document) + "_decode_" + p.of[t.Record]
	case idl.EnumOf:
		return p.scope(t.Enum.Document) + "_decode_" + p.of[t.Enum]
	}
	return "_rt.string"
}

// literal writes a JSON value of a declared type as Python does.
func (p *python) literal(t *idl.Type, raw json.RawMessage) string {
	text := string(raw)
	switch {
	case text == "null":
		return "None"
	case t.Kind == idl.Bool:
		return strings.ToUpper(text[:1]) + text[1:]
	case t.Kind == idl.UUID:
		return p.use("UUID") + "(" + text + ")"
	case t.Kind == idl.Bytes:
		var b []byte
		if json.Unmarshal(raw, &b) == nil {
			return pythonBytes(b)
		}
	case t.Kind == idl.List:
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) == nil {
			words := make([]string, len(list))
			for i, v := range list {
				words[i] = p.literal(t.Elem, v)
			}
			return "[" + strings.Join(words, ", ") + "]"
		}
	case t.Kind == idl.String || t.Kind == idl.Entry || t.Kind == idl.EnumOf:
		var s string
		if json.Unmarshal(raw, &s) == nil {
			return pythonString(s)
		}
	}
	return text
}

func pythonBytes(b []byte) string {
	var out strings.Builder
	out.WriteString("b\"")
	for _, c := range b {
		if c >= ' ' && c < 0x7f && c != '"' && c != '\\' {
			out.WriteByte(c)
		} else {
			fmt.Fprintf(&out, "\\x%02x", c)
		}
	}
	return out.String() + "\""
}

// pythonString quotes a string; what is not printable ASCII is escaped, so that
// nothing in it can hide.
func pythonString(s string) string {
	var out strings.Builder
	out.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			out.WriteByte('\\')
			out.WriteRune(r)
		case r >= ' ' && r < 0x7f:
			out.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&out, "\\x%02x", r)
		case r < 0x10000:
			fmt.Fprintf(&out, "\\u%04x", r)
		default:
			fmt.Fprintf(&out, "\\U%08x", r)
		}
	}
	return out.String() + "\""
}

func (p *python) docstring(indent string, lines ...string) { p.docstringTo(&p.body, indent, lines...) }

// docstringTo writes a docstring of paragraphs, each wrapped.
func (p *python) docstringTo(b *strings.Builder, indent string, lines ...string) {
	var out []string
	for _, line := range lines {
		inner := line[:len(line)-len(strings.TrimLeft(line, " "))]
		for n, part := range wrap(escapeDocstring(line), 100-len(indent)-len(inner)) {
			if n > 0 && strings.HasSuffix(inner, " ") {
				part = "    " + part
			}
			out = append(out, strings.TrimRight(indent+inner+part, " "))
		}
	}
	out[0] = strings.TrimLeft(out[0], " ")
	if len(out) == 1 && !strings.HasSuffix(out[0], `"`) && !strings.HasSuffix(out[0], `\`) {
		fmt.Fprintf(b, "%s\"\"\"%s\"\"\"\n", indent, out[0])
		return
	}
	fmt.Fprintf(b, "%s\"\"\"%s\n%s\"\"\"\n", indent, strings.Join(out, "\n"), indent)
}

// escapeDocstring keeps a text within its docstring.
func escapeDocstring(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"""`, `\"\"\"`).Replace(s)
}

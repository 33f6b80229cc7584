package gen

import (
	"bytes"
	"fmt"

	"github.com/wipagent/wipagent/idl"
)

func (g *generator) enum(e *idl.Enum) {
	name := g.of[e]
	g.comment(fmt.Sprintf("%s is the enum %s.%s.", name, e.Document.Package, e.Name), e.Doc)
	g.printf("type %s string\n\n// The labels of %s.\nconst (\n", name, name)
	for i := range e.Labels {
		l := &e.Labels[i]
		if l.Doc != "" {
			g.plainComment(l.Doc)
		}
		g.printf("%s %s = %q\n", g.of[l], name, l.Name)
	}
	g.printf(")\n")
}

// record writes a record's type and the methods that write its values.
func (g *generator) record(r *idl.Record) {
	name := g.of[r]
	g.comment(fmt.Sprintf("%s is the record %s.%s.", name, r.Document.Package, r.Name), r.Doc)
	g.printf("type %s struct {\n", name)
	for _, f := range r.Fields {
		if f.Doc != "" {
			g.plainComment(f.Doc)
		}
		g.printf("%s %s\n", g.of[f], g.goType(f.Type))
	}
	g.printf("}\n\n")

	g.printf("func (v *%s) encode(e *idl.Encoder) {\ne.Open()\nv.encodeFields(e)\ne.Close()\n}\n\n", name)
	g.printf("func (v *%s) encodeFields(e *idl.Encoder) {\n", name)
	for _, f := range r.Fields {
		g.printf("e.Field(%q)\n", f.Name)
		g.value(f.Type, "v."+g.of[f], 0)
	}
	g.printf("}\n")

	if !holdsFloat(r, map[*idl.Record]bool{}) {
		return
	}
	g.printf("\n// finite reports whether every float outside a fact can be written.\n")
	g.printf("func (v *%s) finite() bool {\nreturn true", name)
	for _, f := range r.Fields {
		if c := g.finite(f.Type, "v."+g.of[f]); c != "" {
			g.printf(" &&\n%s", c)
		}
	}
	g.printf("\n}\n")
}

// value writes the statements that write x, an addressable expression.
func (g *generator) value(t *idl.Type, x string, depth int) {
	if t.Optional {
		bare := *t
		bare.Optional = false
		g.printf("if %s == nil {\ne.Null()\n} else {\n", x)
		g.value(&bare, "(*"+x+")", depth)
		g.printf("}\n")
		return
	}
	switch t.Kind {
	case idl.Bool:
		g.printf("e.Bool(%s)\n", x)
	case idl.Int:
		g.printf("e.Int(%s)\n", x)
	case idl.Float:
		g.printf("e.Float(%s)\n", x)
	case idl.String:
		g.printf("e.String(%s)\n", x)
	case idl.Text:
		declared := 0
		if t.Range != nil && t.Range.HasMax {
			declared = int(t.Range.Max)
		}
		g.printf("e.Text(%s, %d)\n", x, declared)
	case idl.UUID:
		g.printf("e.UUID(%s)\n", x)
	case idl.Timestamp:
		g.printf("e.Timestamp(%s)\n", x)
	case idl.Duration:
		g.printf("e.Duration(%s)\n", x)
	case idl.Bytes:
		g.printf("e.Bytes(%s)\n", x)
	case idl.Entry:
		g.printf("e.Entry(%s)\n", x)
	case idl.EnumOf:
		g.printf("e.String(string(%s))\n", x)
	case idl.RecordOf:
		g.printf("%s.encode(e)\n", x)
	case idl.List:
		g.printf("idl.EncodeList(e, %s, %s)\n", x, g.itemFunc(t.Elem))
	case idl.Map:
		g.printf("idl.EncodeMap(e, %s, %s)\n", x, g.itemFunc(t.Elem))
	case idl.Fact:
		g.fact(t, x, depth, g.value, "e.Unknown")
	default:
		g.fail("found a page or an observed value inside another value, expected it to be the result itself")
	}
}

// itemFunc returns a function literal that writes one element.
func (g *generator) itemFunc(elem *idl.Type) string {
	outer := g.body
	g.body = new(bytes.Buffer)
	g.value(elem, "v", 0)
	stmts := g.body.String()
	g.body = outer
	return fmt.Sprintf("func(e *idl.Encoder, v %s) {\n%s}", g.goType(elem), stmts)
}

// members writes the statements that write x's members into an open object.
func (g *generator) members(t *idl.Type, x string, depth int) {
	switch t.Kind {
	case idl.RecordOf:
		g.printf("%s.encodeFields(e)\n", x)
	case idl.Page:
		g.printf("idl.EncodePage(e, %s, a.Field(\"page\").Int(), a.Field(\"page_size\").Int(), %s)\n", x, g.itemFunc(t.Elem))
	case idl.Fact:
		g.fact(t, x, depth, g.members, "e.UnknownFields")
	default:
		g.fail("found an observed type of kind %d, expected a record or a page, or a fact of one", t.Kind)
	}
}

// fact writes a known fact's value by write, and an unknown one by a call of
// unknown. A float that cannot be written makes the fact unknown.
func (g *generator) fact(t *idl.Type, x string, depth int, write func(*idl.Type, string, int), unknown string) {
	known := fmt.Sprintf("x%d", depth)
	cond := "ok"
	if g.byPointer(t) {
		cond += " && " + known + " != nil"
	}
	if c := g.finite(t.Elem, known); c != "" {
		cond += " && " + c
	}
	g.printf("if %s, ok := %s.Get(); %s {\n", known, x, cond)
	write(t.Elem, known, depth+1)
	g.printf("} else {\n%s(%s.Reason())\n}\n", unknown, x)
}

// finite returns an expression that is true if all floats of x outside a fact
// are finite, or "" if there are none.
func (g *generator) finite(t *idl.Type, x string) string {
	if t.Optional {
		bare := *t
		bare.Optional = false
		if c := g.finite(&bare, "(*"+x+")"); c != "" {
			return fmt.Sprintf("(%s == nil || %s)", x, c)
		}
		return ""
	}
	switch t.Kind {
	case idl.Float:
		return fmt.Sprintf("idl.IsFinite(%s)", x)
	case idl.RecordOf:
		if holdsFloat(t.Record, map[*idl.Record]bool{}) {
			return x + ".finite()"
		}
	case idl.List, idl.Map:
		if c := g.finite(t.Elem, "v"); c != "" {
			list := x
			if t.Kind == idl.Map {
				list = fmt.Sprintf("slices.Collect(maps.Values(%s))", x)
			}
			return fmt.Sprintf("!slices.ContainsFunc(%s, func(v %s) bool { return !(%s) })", list, g.goType(t.Elem), c)
		}
	}
	return ""
}

// holdsFloat reports whether a record can hold a float outside a fact.
func holdsFloat(r *idl.Record, seen map[*idl.Record]bool) bool {
	if seen[r] {
		return false
	}
	seen[r] = true
	for _, f := range r.Fields {
		t := f.Type
		for t.Kind == idl.List || t.Kind == idl.Map {
			t = t.Elem
		}
		if t.Kind == idl.Float || t.Kind == idl.RecordOf && holdsFloat(t.Record, seen) {
			return true
		}
	}
	return false
}

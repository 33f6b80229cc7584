package idl

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
)

// Signature returns the operation as one line of the language, without
// annotations and documentation:
//
//	nearby(radius: float [0..256] = 96) -> observed<page<Avatar>>
func (o *Operation) Signature() string {
	var b strings.Builder
	b.WriteString(o.Name)
	b.WriteByte('(')
	for i, p := range o.Params {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(p.String())
	}
	b.WriteString(") -> ")
	b.WriteString(o.Result.String())
	return b.String()
}

// String returns the parameter as it is declared, without documentation.
func (p *Param) String() string {
	s := p.Name + ": " + p.Type.String()
	if p.Default != nil {
		s += " = " + defaultText(p)
	}
	return s
}

// defaultText returns a default as it is written in a document.
func defaultText(p *Param) string {
	switch p.Type.Kind {
	case String, UUID, Bytes, Entry, EnumOf:
		var s string
		if json.Unmarshal(p.Default, &s) != nil {
			return string(p.Default)
		}
		if p.Type.Kind == EnumOf {
			return s
		}
		return quote(s)
	case Float:
		f, err := strconv.ParseFloat(string(p.Default), 64)
		if err != nil {
			return string(p.Default)
		}
		return number(f)
	case Duration:
		ms := string(p.Default)
		if seconds, whole := strings.CutSuffix(ms, "000"); whole && seconds != "" && seconds != "-" {
			return seconds + "s"
		}
		return ms + "ms"
	}
	return string(p.Default)
}

// String returns the type as it is written in a document.
func (t *Type) String() string {
	var b strings.Builder
	t.write(&b)
	return b.String()
}

func (t *Type) write(b *strings.Builder) {
	if t == nil {
		b.WriteString("?") // only of a document with faults
		return
	}
	switch t.Kind {
	case RecordOf:
		b.WriteString(t.Record.Name)
	case EnumOf:
		b.WriteString(t.Enum.Name)
	default:
		b.WriteString(builtinNames[t.Kind])
	}
	switch {
	case t.Elem != nil:
		b.WriteByte('<')
		t.Elem.write(b)
		b.WriteByte('>')
	case t.Interface != nil:
		b.WriteString("<" + t.Interface.Name + ">")
	}
	switch {
	case t.Range != nil:
		b.WriteString(" [")
		if t.Range.HasMin {
			b.WriteString(number(t.Range.Min))
		}
		b.WriteString("..")
		if t.Range.HasMax {
			b.WriteString(number(t.Range.Max))
		}
		if t.Kind == String || t.Kind == Text || t.Kind == Bytes {
			b.WriteString(" bytes")
		}
		b.WriteByte(']')
	case t.Pattern != nil:
		b.WriteString(" [matching " + quote(t.PatternText) + "]")
	}
	if t.Optional {
		b.WriteByte('?')
	}
}

// number writes a number as a document does: plainly where that is short.
func number(f float64) string {
	if a := math.Abs(f); a != 0 && (a < 1e-6 || a >= 1e21) {
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// quote writes a string as a document does: only the escapes of the language.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case !strconv.IsPrint(r):
			b.WriteString(`\u{` + strconv.FormatInt(int64(r), 16) + `}`)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// String returns the record's declaration with its documentation.
func (r *Record) String() string {
	var b strings.Builder
	writeDoc(&b, "", r.Doc)
	b.WriteString(deprecation(r.Deprecated, "\n"))
	b.WriteString("record " + r.Name + " {\n")
	for _, f := range r.Fields {
		writeDoc(&b, "  ", f.Doc)
		b.WriteString("  " + deprecation(f.Deprecated, " "))
		if f.Derived {
			b.WriteString("@derived ")
		}
		b.WriteString(f.Name + ": ")
		f.Type.write(&b)
		b.WriteString(";\n")
	}
	b.WriteString("}")
	return b.String()
}

// String returns the enum's declaration with its documentation. Labels stand
// on one line unless one of them is documented.
func (e *Enum) String() string {
	var b strings.Builder
	writeDoc(&b, "", e.Doc)
	b.WriteString(deprecation(e.Deprecated, "\n"))
	b.WriteString("enum " + e.Name + " {")
	documented := false
	for _, l := range e.Labels {
		documented = documented || l.Doc != ""
	}
	for i, l := range e.Labels {
		switch {
		case documented:
			b.WriteByte('\n')
			writeDoc(&b, "  ", l.Doc)
			b.WriteString("  " + l.Name + ",")
		case i == 0:
			b.WriteString(" " + l.Name)
		default:
			b.WriteString(", " + l.Name)
		}
	}
	if documented {
		b.WriteString("\n}")
	} else {
		b.WriteString(" }")
	}
	return b.String()
}

// deprecation writes the annotation and what stands behind it, or nothing.
func deprecation(use, behind string) string {
	if use == "" {
		return ""
	}
	return "@deprecated(" + quote(use) + ")" + behind
}

// writeDoc writes a doc comment, a line for each of its lines.
func writeDoc(b *strings.Builder, indent, doc string) {
	if doc == "" {
		return
	}
	for line := range strings.SplitSeq(doc, "\n") {
		b.WriteString(strings.TrimRight(indent+"/// "+line, " ") + "\n")
	}
}

// Types returns the records and enums that the operation's result is made of,
// each once, in the order of first use.
func (o *Operation) Types() (records []*Record, enums []*Enum) {
	var r reach
	r.add(o.Result)
	return r.records, r.enums
}

// ParamTypes returns the records and enums that the operation's parameters are
// made of, each once, in the order of first use.
func (o *Operation) ParamTypes() (records []*Record, enums []*Enum) {
	var r reach
	for _, p := range o.Params {
		r.add(p.Type)
	}
	return r.records, r.enums
}

// reach collects declared types.
type reach struct {
	records []*Record
	enums   []*Enum
	seen    map[any]bool
}

func (r *reach) add(t *Type) {
	for t != nil && t.Elem != nil {
		t = t.Elem
	}
	if r.seen == nil {
		r.seen = map[any]bool{}
	}
	switch {
	case t == nil:
	case t.Enum != nil && !r.seen[t.Enum]:
		r.seen[t.Enum] = true
		r.enums = append(r.enums, t.Enum)
	case t.Record != nil && !r.seen[t.Record]:
		r.seen[t.Record] = true
		r.records = append(r.records, t.Record)
		for _, f := range t.Record.Fields {
			r.add(f.Type)
		}
	}
}

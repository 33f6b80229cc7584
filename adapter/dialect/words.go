package dialect

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/cleantext"
)

// words joins what is said of a value, cleaned if it is a stranger's.
func (l *lowering) words(parts ...string) string {
	s := sentences(parts...)
	if l.untrusted {
		s = clean(s)
	}
	return s
}

// sentences joins texts to sentences on one line.
func sentences(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		if p = strings.TrimSpace(strings.ReplaceAll(p, "\n", " ")); p == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(p)
		if !strings.HasSuffix(p, ".") {
			b.WriteByte('.')
		}
	}
	return b.String()
}

// reflow joins the lines that a document's author broke for the eye. Those that
// begin with a blank or a list's mark, and those after an empty one or a colon,
// stay: there a break says something.
func reflow(text string) string {
	var b strings.Builder
	before := ""
	for i, line := range strings.Split(text, "\n") {
		switch {
		case i == 0:
		case line == "" || before == "" || strings.ContainsAny(line[:1], " \t-*|#") || strings.HasSuffix(before, ":"):
			b.WriteByte('\n')
		default:
			b.WriteByte(' ')
		}
		b.WriteString(line)
		before = line
	}
	return b.String()
}

// clean cleans a text of one line.
func clean(text string) string {
	s, _ := cleantext.Clean(text, 0)
	return s
}

// cleanLines cleans a text and keeps its lines.
func cleanLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = clean(lines[i])
	}
	return strings.Join(lines, "\n")
}

// documentation puts what to use instead of something before what is said of
// it.
func documentation(deprecated, doc string) string {
	if deprecated == "" {
		return doc
	}
	return sentences("Deprecated: "+deprecated, doc)
}

// limits says in words what the type's refinement allows, for readers whose
// provider drops the schema's keywords.
func limits(t *idl.Type) string {
	switch {
	case t.PatternText != "":
		return "Matching " + t.PatternText
	case t.Range == nil:
		return ""
	}
	unit := ""
	switch t.Kind {
	case idl.String, idl.Text, idl.Bytes:
		unit = " bytes"
	case idl.List, idl.Map:
		unit = " elements"
	case idl.Duration, idl.Timestamp:
		unit = " ms"
	}
	low, high := string(number(t.Range.Min)), string(number(t.Range.Max))
	switch {
	case t.Range.HasMin && t.Range.HasMax:
		return low + " to " + high + unit
	case t.Range.HasMin:
		return "At least " + low + unit
	default:
		return "At most " + high + unit
	}
}

// limits is what is said of a refinement, beside a text that may say it already.
func (l *lowering) limits(t *idl.Type, doc string) string {
	if l.brief || said(t.Range, doc) {
		return ""
	}
	return limits(t)
}

// said reports whether a text names both ends of a range. That there is something
// at all, from 0 or 1 on, need not be said.
func said(r *idl.Range, doc string) bool {
	if r == nil || !r.HasMax {
		return false
	}
	names := func(n float64) bool {
		return slices.Contains(strings.FieldsFunc(doc, func(c rune) bool { return !unicode.IsDigit(c) && c != '.' && c != '-' && c != ',' }), string(number(n)))
	}
	return names(r.Max) && (!r.HasMin || r.Min == 0 || r.Min == 1 || names(r.Min))
}

// defaultText says in words what a default is: not all providers take the
// keyword.
func (l *lowering) defaultText(m *member) string {
	switch {
	case m.fallback == nil:
		return ""
	case l.rules.absent == asNull:
		return "Default " + string(m.fallback) + ", taken for null"
	}
	return "Default " + string(m.fallback)
}

// maxForm bounds the words about a type that has no schema, in bytes.
const maxForm = 400

// form says of a type in the words of the language what it holds, for where
// there is no schema.
func form(t *idl.Type) string {
	s := t.String()
	for t.Elem != nil {
		t = t.Elem
	}
	if t.Kind != idl.RecordOf {
		return s
	}
	var b strings.Builder
	b.WriteString(s + ", with " + t.Record.Name + " = {")
	for i, f := range t.Record.Fields {
		if i > 0 {
			b.WriteString(", ")
		}
		field := f.Name + ": " + f.Type.String()
		if b.Len()+len(field) > maxForm {
			b.WriteString("...")
			break
		}
		b.WriteString(field)
	}
	return b.String() + "}"
}

// cutChars returns the first n characters of a text, and whether that is less
// than all. What is cut ends in "...".
func cutChars(s string, n int) (string, bool) {
	if n == 0 || len(s) <= n || utf8.RuneCountInString(s) <= n {
		return s, false
	}
	count := 0
	for i := range s {
		if count == n-3 {
			return s[:i] + "...", true
		}
		count++
	}
	return s, false
}

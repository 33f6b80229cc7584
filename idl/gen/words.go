package gen

import (
	"fmt"
	"path"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/wipagent/wipagent/idl"
)

// typeNote says in words what a value of the type is and what limits it, as far
// as no other language's types say it; empty if there is nothing to say. Units
// are milliseconds and bytes.
func typeNote(t *idl.Type) string {
	var notes []string
	add := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	switch t.Kind {
	case idl.Timestamp:
		add("Unix milliseconds")
	case idl.Duration:
		add("milliseconds")
	case idl.Entry:
		if t.Interface != nil {
			add("path of an entry with interface %s", t.Interface.QualifiedName())
		} else {
			add("path of an entry")
		}
	case idl.List, idl.Map, idl.Fact, idl.Page:
		if note := typeNote(t.Elem); note != "" {
			if (t.Kind == idl.List || t.Kind == idl.Map) && !strings.HasPrefix(note, "each ") {
				note = "each " + note
			}
			notes = append(notes, note)
		}
	}
	if t.Range != nil {
		add("%s", rangeWords(t))
	}
	if t.PatternText != "" {
		add("matching %s", t.PatternText)
	}
	return strings.Join(notes, ", ")
}

func rangeWords(t *idl.Type) string {
	unit := ""
	switch t.Kind {
	case idl.String, idl.Text:
		unit = " bytes of UTF-8"
	case idl.Bytes:
		unit = " bytes"
	case idl.List, idl.Map:
		unit = " elements"
	}
	low, high := numberText(t.Range.Min), numberText(t.Range.Max)
	switch {
	case t.Range.HasMin && t.Range.HasMax:
		return "from " + low + " to " + high + unit
	case t.Range.HasMin:
		return "at least " + low + unit
	default:
		return "at most " + high + unit
	}
}

func numberText(n float64) string {
	if n == float64(int64(n)) {
		return strconv.FormatInt(int64(n), 10)
	}
	return strconv.FormatFloat(n, 'g', -1, 64)
}

// paramNote is a parameter's documentation with its unit, limits and default.
func paramNote(p *idl.Param) string {
	return sentences(oneLine(p.Doc), typeNote(p.Type), defaultNote(p))
}

// deprecation says what to use instead, or nothing.
func deprecation(instead string) string {
	if instead == "" {
		return ""
	}
	return "deprecated: " + oneLine(instead)
}

// baseName returns the last part of a document's name, which does not depend on
// where it was compiled.
func baseName(d *idl.Document) string { return path.Base(d.Name) }

// titles lists documents.
func titles(docs []*idl.Document) string {
	var list []string
	for _, d := range docs {
		list = append(list, fmt.Sprintf("%s (version %d)", baseName(d), d.Version))
	}
	return strings.Join(list, ", ")
}

func defaultNote(p *idl.Param) string {
	switch {
	case p.Default != nil:
		return "default " + string(p.Default)
	case p.Type.Optional:
		return "may be left out"
	}
	return ""
}

// fieldNote is a field's documentation with its unit and limits.
func fieldNote(f *idl.Field) string {
	derived := ""
	if f.Derived {
		derived = "computed by the Host, not observed"
	}
	return sentences(oneLine(f.Doc), typeNote(f.Type), derived)
}

// policyNote says what an operation may do and how much it may take.
func policyNote(o *idl.Operation) string {
	risk := map[idl.Risk]string{
		idl.RiskUnstated: "may change things", idl.ReadOnly: "read-only", idl.Mutating: "changes things", idl.Destructive: "destroys things",
	}[o.Risk]
	if o.Idempotent {
		risk += ", idempotent"
	}
	if o.DryRun {
		risk += ", can be tried without effect"
	}
	calls := "1 call"
	if o.Cost != 1 {
		calls = fmt.Sprintf("%d calls", o.Cost)
	}
	return sentences(risk, fmt.Sprintf("counts as %s; at most %s and %s", calls, durationText(o.Timeout), sizeText(o.MaxOutput)),
		"for "+o.Audience.String()+" and above")
}

// durationText writes a duration as the language does, such as 3s.
func durationText(d time.Duration) string {
	for _, u := range []struct {
		name string
		size time.Duration
	}{{"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}} {
		if d >= u.size && d%u.size == 0 {
			return strconv.FormatInt(int64(d/u.size), 10) + u.name
		}
	}
	return strconv.FormatInt(d.Milliseconds(), 10) + "ms"
}

// sizeText writes a size as the language does, such as 32KiB.
func sizeText(n int) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return strconv.Itoa(n>>20) + "MiB"
	case n >= 1<<10 && n%(1<<10) == 0:
		return strconv.Itoa(n>>10) + "KiB"
	}
	return strconv.Itoa(n) + "B"
}

// sentences joins what is not empty, each part as a sentence.
func sentences(parts ...string) string {
	var out []string
	for _, p := range parts {
		if p = strings.TrimSpace(p); p == "" {
			continue
		}
		first, size := utf8.DecodeRuneInString(p)
		p = string(unicode.ToUpper(first)) + p[size:]
		if !strings.HasSuffix(p, ".") && !strings.HasSuffix(p, "!") && !strings.HasSuffix(p, "?") {
			p += "."
		}
		out = append(out, p)
	}
	return strings.Join(out, " ")
}

func oneLine(doc string) string { return strings.Join(strings.Fields(doc), " ") }

// wrap breaks a text into lines of at most width bytes, where it has blanks.
// Line breaks of the text stay.
func wrap(text string, width int) []string {
	var lines []string
	for paragraph := range strings.SplitSeq(text, "\n") {
		line := ""
		for _, word := range strings.Fields(paragraph) {
			if line != "" && len(line)+1+len(word) > width {
				lines = append(lines, line)
				line = ""
			}
			if line != "" {
				line += " "
			}
			line += word
		}
		lines = append(lines, line)
	}
	return lines
}

// visible drops what cannot be seen in generated text, and could make it read
// other than it is: controls and format characters, but for those that scripts
// need to join letters.
func visible(text string) []byte {
	return []byte(strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\u200c' || r == '\u200d':
			return r
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp):
			return -1
		}
		return r
	}, text))
}

package main

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/wipagent/wipagent/idl/syntax"
)

// findings are the diagnostics of documents, named as seen from the working
// directory.
type findings struct {
	list             []syntax.Diagnostic
	texts            map[string][]byte // by name
	documents        int
	errors, warnings int
	unread           bool                // a document could not be read
	columns          map[string]*columns // by name, made when asked for
}

// source returns the text of a document that was read.
func (f *findings) source(name string) ([]byte, error) {
	text, ok := f.texts[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return text, nil
}

// sort brings the diagnostics of all projects into one order, without those
// that two of them found, and counts them.
func (f *findings) sort() {
	slices.SortStableFunc(f.list, func(a, b syntax.Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Span.File, b.Span.File), cmp.Compare(a.Span.Start.Offset, b.Span.Start.Offset),
			cmp.Compare(a.Span.End.Offset, b.Span.End.Offset), cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.Rule, b.Rule))
	})
	f.list = slices.CompactFunc(f.list, func(a, b syntax.Diagnostic) bool {
		return a.Span == b.Span && a.Rule == b.Rule && a.Message == b.Message
	})
	for _, d := range f.list {
		if d.Severity == syntax.Error {
			f.errors++
		} else {
			f.warnings++
		}
	}
}

// first returns at most so many of the diagnostics in their order: as many
// errors as there is room for, and warnings in the rest.
func (f *findings) first(most int) []syntax.Diagnostic {
	if len(f.list) <= most {
		return f.list
	}
	errors := 0
	for _, d := range f.list {
		if d.Severity == syntax.Error {
			errors++
		}
	}
	errors = min(errors, most)
	warnings := most - errors
	list := make([]syntax.Diagnostic, 0, most)
	for _, d := range f.list {
		left := &warnings
		if d.Severity == syntax.Error {
			left = &errors
		}
		if *left > 0 {
			*left--
			list = append(list, d)
		}
	}
	return list
}

// summary writes how much was found.
func (f *findings) summary(w io.Writer) {
	var parts []string
	if f.errors > 0 {
		parts = append(parts, plural(f.errors, "error"))
	}
	if f.warnings > 0 {
		parts = append(parts, plural(f.warnings, "warning"))
	}
	if len(parts) == 0 {
		fmt.Fprintf(w, "nothing wrong in %s\n", plural(f.documents, "document"))
		return
	}
	fmt.Fprintf(w, "\n%s in %s\n", strings.Join(parts, " and "), plural(f.documents, "document"))
}

func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// finding is the JSON form of a diagnostic.
type finding struct {
	Rule     string       `json:"rule"`
	Severity string       `json:"severity"` // "error" or "warning"
	Message  string       `json:"message"`
	Hint     string       `json:"hint,omitempty"`
	File     string       `json:"file"`
	Start    *point       `json:"start,omitempty"` // absent if the whole document is meant
	End      *point       `json:"end,omitempty"`   // the first place behind
	Related  []relatedTo  `json:"related,omitempty"`
	Fixes    []findingFix `json:"fixes,omitempty"`
}

type relatedTo struct {
	Message string `json:"message"`
	File    string `json:"file"`
	Start   *point `json:"start,omitempty"`
	End     *point `json:"end,omitempty"`
}

type findingFix struct {
	Title string        `json:"title"`
	Safe  bool          `json:"safe"` // or else for the author to decide
	Edits []findingEdit `json:"edits"`
}

type findingEdit struct {
	Start *point `json:"start"`
	End   *point `json:"end"`
	Text  string `json:"text"`
}

// point is a place in a document. Line and columns begin at 1; a byte order
// mark at the start of the text is in no column.
type point struct {
	Offset int `json:"offset"` // bytes from the start of the text
	Line   int `json:"line"`
	Byte   int `json:"byte"`  // column in bytes
	Rune   int `json:"rune"`  // column in code points
	UTF16  int `json:"utf16"` // column in UTF-16 code units
}

// json returns the findings in their JSON form.
func (f *findings) json() []finding {
	out := make([]finding, 0, len(f.list))
	for _, d := range f.list {
		item := finding{Rule: d.Rule, Severity: d.Severity.String(), Message: d.Message, Hint: d.Hint, File: d.Span.File}
		item.Start, item.End = f.points(d.Span)
		for _, r := range d.Related {
			start, end := f.points(r.Span)
			item.Related = append(item.Related, relatedTo{r.Message, r.Span.File, start, end})
		}
		for _, fix := range d.Fixes {
			edits := make([]findingEdit, len(fix.Edits))
			for i, e := range fix.Edits {
				start, end := f.points(e.Span)
				edits[i] = findingEdit{start, end, e.Text}
			}
			item.Fixes = append(item.Fixes, findingFix{fix.Title, fix.Safe, edits})
		}
		out = append(out, item)
	}
	return out
}

// points returns both ends of a span, or nil if only its document is known.
func (f *findings) points(s syntax.Span) (start, end *point) {
	if s.Start.Line == 0 {
		return nil, nil
	}
	return f.point(s.File, s.Start), f.point(s.File, s.End)
}

func (f *findings) point(file string, p syntax.Pos) *point {
	at := &point{Offset: p.Offset, Line: p.Line, Byte: p.Col, Rune: p.Col, UTF16: p.Col}
	text := f.texts[file]
	if begin := p.Offset - (p.Col - 1); begin >= 0 && p.Offset <= len(text) && begin <= p.Offset {
		c := f.columns[file]
		if c == nil {
			if f.columns == nil {
				f.columns = map[string]*columns{}
			}
			c = newColumns(text)
			f.columns[file] = c
		}
		before, here := c.before(begin), c.before(p.Offset)
		at.Rune, at.UTF16 = here.runes-before.runes+1, here.utf16-before.utf16+1
	}
	return at
}

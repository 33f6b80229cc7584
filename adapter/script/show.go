package script

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"go.starlark.net/starlark"
)

// What a table for people holds at most.
const (
	maxRows = 60
	maxCell = 40 // characters
)

// show returns a value for a person to read; nothing for None.
func (r *run) show(v starlark.Value) (string, error) {
	if v == starlark.None {
		return "", nil
	}
	if _, err := r.weigh(v); err != nil {
		return "", err
	}
	switch v := v.(type) {
	case *page:
		return r.showPage(v), nil
	case *record:
		return r.showFields(v), nil
	case *starlark.List:
		if rows := records(v); rows != nil {
			return r.table(rows), nil
		}
	case *object:
		return v.String() + "  (help(x) tells what it can do)", nil
	case *method:
		return v.Name() + strings.TrimPrefix(v.op.Operation.Signature(), v.op.Operation.Name), nil
	}
	s, err := r.written(v)
	return printable(s), err
}

// records returns the elements of a list that holds nothing but records.
func records(list *starlark.List) []*record {
	var rows []*record
	for i := range list.Len() {
		rec, ok := list.Index(i).(*record)
		if !ok {
			return nil
		}
		rows = append(rows, rec)
	}
	return rows
}

func (r *run) showPage(p *page) string {
	var b strings.Builder
	list, _ := p.rec.field("items").(*starlark.List)
	switch rows := records(list); {
	case rows != nil:
		b.WriteString(r.table(rows) + "\n")
	case list != nil && list.Len() > 0:
		for i := range min(list.Len(), maxRows) {
			b.WriteString(cell(list.Index(i), 4*maxCell) + "\n")
		}
	}
	fmt.Fprintf(&b, "%d of %d", list.Len(), p.number("total_matching"))
	if p.rec.field("source_truncated") == starlark.True {
		b.WriteString(" that were looked at; there are more")
	}
	if n := p.number("next_page"); n > 0 {
		fmt.Fprintf(&b, "; page %d of this size has more, and a loop goes through all", n)
	}
	return b.String()
}

func (r *run) showFields(rec *record) string {
	width := 0
	for _, name := range rec.names {
		if !slices.Contains(rec.quiet, name) {
			width = max(width, utf8.RuneCountInString(name))
		}
	}
	var b strings.Builder
	for i, name := range rec.names {
		if slices.Contains(rec.quiet, name) {
			continue
		}
		fmt.Fprintf(&b, "%-*s  ", width, name)
		switch v := rec.values[i].(type) {
		case *starlark.List:
			if rows := records(v); rows != nil {
				b.WriteString("\n" + indented(r.table(rows)) + "\n")
				continue
			}
		}
		b.WriteString(cell(rec.values[i], 4*maxCell) + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func indented(s string) string { return "  " + strings.ReplaceAll(s, "\n", "\n  ") }

// cell returns a value in one line of at most so many characters.
func cell(v starlark.Value, most int) string {
	s := v.String()
	if text, ok := starlark.AsString(v); ok {
		s = text
	}
	if rec, ok := v.(*record); ok { // in a table a position needs no name
		var parts []string
		for i, name := range rec.names {
			if !slices.Contains(rec.quiet, name) {
				parts = append(parts, name+"="+cell(rec.values[i], most))
			}
		}
		s = strings.Join(parts, " ")
	}
	s = strings.ReplaceAll(strings.ReplaceAll(printable(s), "\n", " "), "\t", " ")
	if utf8.RuneCountInString(s) > most {
		s = string([]rune(s)[:most-1]) + "…"
	}
	return s
}

// narrow cuts columns until a table of these widths has room in a terminal: the
// widest first, and in the end the last ones as a whole. It returns the widths of
// those that are left.
func (r *run) narrow(widths []int) []int {
	const gap, narrowest = 2, 8
	room := r.env.cfg.Width
	if room <= 0 {
		return widths
	}
	total := -gap
	for _, w := range widths {
		total += w + gap
	}
	for total > room {
		widest := 0
		for i, w := range widths {
			if w > widths[widest] {
				widest = i
			}
		}
		if widths[widest] > narrowest {
			widths[widest]--
			total--
			continue
		}
		if len(widths) == 1 {
			break
		}
		total -= widths[len(widths)-1] + gap
		widths = widths[:len(widths)-1]
	}
	return widths
}

// table writes records in columns.
func (r *run) table(rows []*record) string {
	if len(rows) == 0 {
		return ""
	}
	var names []string
	for _, name := range rows[0].names {
		if !slices.Contains(rows[0].quiet, name) {
			names = append(names, name)
		}
	}
	shown := rows[:min(len(rows), maxRows)]
	cells := [][]string{names}
	for _, rec := range shown {
		line := make([]string, len(names))
		for i, name := range names {
			if v := rec.field(name); v != nil {
				line[i] = cell(v, maxCell)
			}
		}
		cells = append(cells, line)
	}
	widths := make([]int, len(names))
	for _, line := range cells {
		for i, c := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(c))
		}
	}
	widths = r.narrow(widths)
	var lines []string
	for _, line := range cells {
		var b strings.Builder
		for i, c := range line[:len(widths)] {
			if utf8.RuneCountInString(c) > widths[i] {
				c = string([]rune(c)[:widths[i]-1]) + "…"
			}
			b.WriteString(c + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c)+2))
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
	}
	if left := names[len(widths):]; len(left) > 0 {
		lines = append(lines, "too wide for this terminal, and left out: "+strings.Join(left, ", "))
	}
	if n := len(rows) - len(shown); n > 0 {
		lines = append(lines, fmt.Sprintf("… and %d more", n))
	}
	return strings.Join(lines, "\n")
}

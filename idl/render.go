package idl

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/wipagent/wipagent/idl/syntax"
)

// How an excerpt is drawn. A line that is longer is shown around its span.
const (
	tabWidth  = 4
	maxBefore = 60  // bytes of the line before the span
	maxAfter  = 100 // bytes of the line from the span's start on
)

// Render writes faults for a person at a terminal, each with the line that it
// is in, the span underlined, its hint and the other places it points at:
//
//	region.wip:4:13: error: found unknown type "Positon" [unknown-type]
//	   4 |   position: Positon;
//	     |             ^^^^^^^
//	  hint: did you mean "Position"?
//
// The lines come from source, usually the Loader that Compile had; where it is
// nil or fails, the excerpt is left out. Whatever a document holds, no control
// or invisible character of it is written. The error is the writer's.
func Render(w io.Writer, list ErrorList, source Loader) error {
	r := &renderer{source: source, texts: map[string]*text{}}
	for i, d := range list {
		if i > 0 {
			r.out.WriteByte('\n')
		}
		fmt.Fprintf(&r.out, "%s: error: %s [%s]\n", whence(d.Span), printable(d.Message), d.Rule)
		r.excerpt(d.Span)
		if d.Hint != "" {
			fmt.Fprintf(&r.out, "  hint: %s\n", printable(d.Hint))
		}
		for _, rel := range d.Related {
			fmt.Fprintf(&r.out, "  %s: note: %s\n", whence(rel.Span), printable(rel.Message))
			r.excerpt(rel.Span)
		}
		if _, err := r.out.WriteTo(w); err != nil {
			return err
		}
	}
	return nil
}

// whence returns where a span starts, or only its document if that is all
// that is known.
func whence(s syntax.Span) string {
	if s.Start.Line == 0 {
		return printable(s.File)
	}
	return fmt.Sprintf("%s:%d:%d", printable(s.File), s.Start.Line, s.Start.Col)
}

// printable replaces what a terminal could obey or hide.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return utf8.RuneError
	}, s)
}

// renderer writes the faults of one list.
type renderer struct {
	source Loader
	texts  map[string]*text
	out    bytes.Buffer
}

// text is one document, with the offset at which each of its lines starts.
type text struct {
	src   []byte
	lines []int
}

// line returns a line without its end; n is 1-based.
func (t *text) line(n int) (string, bool) {
	if n < 1 || n > len(t.lines) {
		return "", false
	}
	rest := t.src[t.lines[n-1]:]
	if end := bytes.IndexByte(rest, '\n'); end >= 0 {
		rest = rest[:end]
	}
	return strings.TrimSuffix(string(rest), "\r"), true
}

// text returns the document of that name; it is empty if there is none.
func (r *renderer) text(name string) *text {
	t := r.texts[name]
	if t == nil {
		t = &text{}
		r.texts[name] = t
		if r.source == nil {
			return t
		}
		src, err := r.source(name)
		if err != nil {
			return t
		}
		t.src, t.lines = src, []int{0}
		for i, b := range src {
			if b == '\n' {
				t.lines = append(t.lines, i+1)
			}
		}
	}
	return t
}

// excerpt writes the first line of a span, underlined.
func (r *renderer) excerpt(s syntax.Span) {
	line, ok := r.text(s.File).line(s.Start.Line)
	if !ok {
		return
	}
	start := min(max(s.Start.Col-1, 0), len(line))
	end := len(line)
	if s.End.Line == s.Start.Line {
		end = min(max(s.End.Col-1, start), len(line))
	}
	from, to := max(start-maxBefore, 0), min(max(start+maxAfter, 0), len(line))
	for from > 0 && !utf8.RuneStart(line[from]) {
		from--
	}
	for to < len(line) && !utf8.RuneStart(line[to]) {
		to++
	}
	end = min(end, to)

	var shown cells
	if from > 0 {
		shown.write("…")
	}
	shown.write(line[from:start])
	left := shown.width
	shown.write(line[start:end])
	marks := max(shown.width-left, 1)
	shown.write(line[end:to])
	if to < len(line) {
		shown.write("…")
	}
	gutter := fmt.Sprintf("%4d", s.Start.Line)
	fmt.Fprintf(&r.out, "%s | %s\n", gutter, strings.TrimRight(shown.String(), " "))
	fmt.Fprintf(&r.out, "%*s | %s%s\n", len(gutter), "", strings.Repeat(" ", left), strings.Repeat("^", marks))
}

// cells is text as it will stand on a terminal.
type cells struct {
	strings.Builder
	width int
}

// write adds text with its tabs expanded and made printable.
func (c *cells) write(s string) {
	for i, part := range strings.Split(s, "\t") {
		if i > 0 {
			n := tabWidth - c.width%tabWidth
			c.WriteString(strings.Repeat(" ", n))
			c.width += n
		}
		part = printable(part)
		c.WriteString(part)
		c.width += uniseg.StringWidth(part)
	}
}

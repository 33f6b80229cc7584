package idl

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/wipagent/wipagent/idl/syntax"
)

// How an excerpt is drawn. A line that is longer is shown around its span.
const (
	tabWidth  = 4
	maxBefore = 60  // bytes of the line before the span
	maxAfter  = 100 // bytes of the line from the span's start on
	maxChange = 6   // lines of each side of a change
	maxApart  = 400 // bytes between changes that are shown together
)

// text is one document, with the offset at which each of its lines starts.
type text struct {
	src   []byte
	lines []int
}

// line returns a line without its end; n is 1-based. It is a part of the text,
// not a copy: a document may be one line, and each of its faults be shown.
func (t *text) line(n int) ([]byte, bool) {
	if n < 1 || n > len(t.lines) {
		return nil, false
	}
	end := len(t.src)
	if n < len(t.lines) {
		end = t.lines[n] - 1
	}
	line := bytes.TrimSuffix(t.src[t.lines[n-1]:end], []byte("\r"))
	if n == 1 {
		line = bytes.TrimPrefix(line, []byte("\ufeff")) // columns do not count it
	}
	return line, true
}

// text returns the document of that name; it is empty if there is none.
func (r *Renderer) text(name string) *text {
	t := r.texts[name]
	if t == nil {
		t = &text{}
		r.texts[name] = t
		if r.Source == nil {
			return t
		}
		src, err := r.Source(name)
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

// excerpt writes the lines of a span, underlined: of a long one only the first
// and the last.
func (r *Renderer) excerpt(s syntax.Span, look string) {
	t := r.text(s.File)
	first, ok := t.line(s.Start.Line)
	if !ok {
		return
	}
	last, several := t.line(s.End.Line)
	if s.End.Line <= s.Start.Line || !several {
		end := s.End.Col - 1
		if s.End.Line > s.Start.Line {
			end = len(first)
		}
		r.underlined(s.Start.Line, first, s.Start.Col-1, end, look)
		return
	}
	r.underlined(s.Start.Line, first, s.Start.Col-1, len(first), look)
	if s.End.Line > s.Start.Line+1 {
		fmt.Fprintf(&r.out, "%s\n", r.in(lookQuiet, " ..."))
	}
	if indent := len(last) - len(bytes.TrimLeft(last, " \t")); s.End.Col-1 > indent {
		r.underlined(s.End.Line, last, indent, s.End.Col-1, look)
	}
}

// underlined writes a line, with marks from the byte at start to that before
// end.
func (r *Renderer) underlined(number int, line []byte, start, end int, look string) {
	start = min(max(start, 0), len(line))
	end = min(max(end, start), len(line))
	from, to := runeStart(line, max(start-maxBefore, 0)), runeStart(line, min(start+maxAfter, len(line)))
	end = min(end, to)

	var shown cells
	if from > 0 {
		shown.write("…")
	}
	shown.write(string(line[from:start]))
	left := shown.width
	shown.write(string(line[start:end]))
	marks := max(shown.width-left, 1)
	shown.write(string(line[end:to]))
	if to < len(line) {
		shown.write("…")
	}
	r.row(number, "|", strings.TrimRight(shown.String(), " "))
	r.row(0, "|", strings.Repeat(" ", left)+r.in(look, strings.Repeat("^", marks)))
}

// row writes one line of an excerpt behind its number, which is left out if it
// is 0.
func (r *Renderer) row(number int, bar, line string) {
	gutter := "    "
	if number > 0 {
		gutter = fmt.Sprintf("%4d", number)
	}
	if line != "" {
		line = " " + line
	}
	fmt.Fprintf(&r.out, "%s%s\n", r.in(lookQuiet, gutter+" "+bar), line)
}

// change writes what a fix makes of a document, as a small difference.
func (r *Renderer) change(file string, f syntax.Fix) {
	t := r.text(file)
	if len(t.lines) == 0 {
		return
	}
	edits := slices.Clone(f.Edits)
	slices.SortStableFunc(edits, func(a, b syntax.Edit) int { return a.Span.Start.Offset - b.Span.Start.Offset })
	for len(edits) > 0 { // those on the same lines, or on the next, together
		n := 1
		for n < len(edits) && edits[n].Span.Start.Line <= edits[n-1].Span.End.Line+1 &&
			edits[n].Span.Start.Offset-edits[n-1].Span.End.Offset < maxApart {
			n++
		}
		r.hunk(t, edits[:n])
		edits = edits[n:]
	}
}

// hunk writes the lines of some edits before and after them.
func (r *Renderer) hunk(t *text, edits []syntax.Edit) {
	first, last := edits[0].Span.Start.Line, edits[len(edits)-1].Span.End.Line
	if first < 1 || last < first || last > len(t.lines) {
		return
	}
	start, end := t.window(first, last, edits[0].Span.Start.Offset, edits[len(edits)-1].Span.End.Offset)
	var after bytes.Buffer
	cut := ""
	if start > t.lines[first-1] {
		cut = "…"
	}
	after.WriteString(cut)
	at := start
	for _, e := range edits {
		from, to := e.Span.Start.Offset, e.Span.End.Offset
		if from < at || to < from || to > end {
			return // of another version of the text
		}
		after.Write(t.src[at:from])
		after.WriteString(e.Text)
		at = to
	}
	after.Write(t.src[at:end])
	before, now := splitLines(cut+string(t.src[start:end])), splitLines(after.String())
	for len(before) > 0 && len(now) > 0 && before[0] == now[0] {
		before, now, first = before[1:], now[1:], first+1
	}
	for len(before) > 0 && len(now) > 0 && before[len(before)-1] == now[len(now)-1] {
		before, now = before[:len(before)-1], now[:len(now)-1]
	}
	r.side(first, "-", before, lookRemoved)
	r.side(first, "+", now, lookAdded)
}

// window returns the part of some lines that shows what is from one offset to
// another: whole lines, but of a long first or last one only what is near.
func (t *text) window(first, last, from, to int) (start, end int) {
	start, end = t.lines[first-1], len(t.src)
	if last < len(t.lines) {
		end = t.lines[last]
	}
	if near := min(from, end) - maxBefore; near-start > maxAfter {
		start = runeStart(t.src, near)
	}
	if near := to + 2*maxAfter; near > start && near < end {
		end = runeStart(t.src, near)
	}
	return start, end
}

// runeStart returns where the character starts that has the byte at an offset;
// where there is none, as in text that is not UTF-8, the offset.
func runeStart(text []byte, at int) int {
	for i := at; i > at-utf8.UTFMax && i > 0 && at < len(text); i-- {
		if utf8.RuneStart(text[i]) {
			return i
		}
	}
	return at
}

// splitLines returns the lines of a text without their ends.
func splitLines(text string) (lines []string) {
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		lines = append(lines, strings.TrimRight(line, "\r\n"))
	}
	return lines
}

// side writes one side of a difference.
func (r *Renderer) side(first int, sign string, lines []string, look string) {
	for i, line := range lines {
		if i == maxChange && len(lines) > maxChange+1 {
			fmt.Fprintf(&r.out, "%s\n", r.in(lookQuiet, fmt.Sprintf(" ... and %d lines more", len(lines)-i)))
			return
		}
		var shown cells
		if len(line) > maxBefore+maxAfter {
			line = strings.ToValidUTF8(line[:maxBefore+maxAfter], "") + "…"
		}
		shown.write(line)
		r.row(first+i, sign, r.in(look, strings.TrimRight(shown.String(), " ")))
	}
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

package lsp

import (
	"sort"
	"unicode/utf8"

	"github.com/wipagent/wipagent/idl/syntax"
)

// text is the content of a document with what is needed to go between byte
// offsets and the protocol's positions: lines from 0 and UTF-16 units from the
// start of the line. Both ways cost no more than a block, however long a line
// is. A text is immutable.
type text struct {
	src   string
	lines []int // offset at which each line starts; the first is 0
	units []int // UTF-16 units before each block; nil if the text is ASCII
}

// block is the number of bytes between two counts of UTF-16 units.
const block = 256

// newText indexes a text. Lines end with \n, \r\n or \r, as the protocol has
// it; the language's own lines do not matter here.
func newText(src string) *text {
	t := &text{src: src, lines: []int{0}}
	ascii := true
	for i := 0; i < len(src); i++ {
		switch c := src[i]; {
		case c == '\n', c == '\r' && (i+1 == len(src) || src[i+1] != '\n'):
			t.lines = append(t.lines, i+1)
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	if ascii {
		return t
	}
	t.units = make([]int, 0, len(src)/block+1)
	n := 0
	for i, r := range src {
		for i >= len(t.units)*block {
			t.units = append(t.units, n)
		}
		n += width(r)
	}
	for len(src) >= len(t.units)*block {
		t.units = append(t.units, n)
	}
	return t
}

// width is the number of UTF-16 units of a rune. Bytes that are not UTF-8
// count as the replacement that an editor shows for each.
func width(r rune) int {
	if r >= 0x10000 {
		return 2
	}
	return 1
}

// unitsAt returns the number of UTF-16 units before an offset. An offset
// within a rune counts that rune.
func (t *text) unitsAt(off int) int {
	if t.units == nil {
		return off
	}
	b := off / block
	n := t.units[b]
	for i := t.blockStart(b); i < off; {
		r, size := utf8.DecodeRuneInString(t.src[i:])
		n += width(r)
		i += size
	}
	return n
}

// blockStart returns the offset of the first rune that starts in block b: the
// runes before it are those that the block's count has.
func (t *text) blockStart(b int) int {
	i := b * block
	if i == 0 || i >= len(t.src) {
		return min(i, len(t.src))
	}
	// A rune that began before the block is already counted. Bytes that
	// continue nothing are runes of their own.
	for back := 1; back < utf8.UTFMax && back <= i; back++ {
		if utf8.RuneStart(t.src[i-back]) {
			if _, size := utf8.DecodeRuneInString(t.src[i-back:]); size > back {
				return i - back + size
			}
			break
		}
	}
	return i
}

// position returns the place of an offset, which is moved into the text if it
// is outside.
func (t *text) position(off int) position {
	off = min(max(off, 0), len(t.src))
	line := sort.SearchInts(t.lines, off+1) - 1
	return position{Line: line, Character: t.unitsAt(off) - t.unitsAt(t.lines[line])}
}

// offset returns the offset of a position. One behind the end of its line
// means the line's end, one within a surrogate pair its start.
func (t *text) offset(p position) int {
	if p.Line < 0 || p.Character < 0 {
		return 0
	}
	if p.Line >= len(t.lines) {
		return len(t.src)
	}
	start, end := t.lines[p.Line], t.lineEnd(p.Line)
	if t.units == nil {
		return start + min(p.Character, end-start)
	}
	if p.Character >= t.unitsAt(end)-t.unitsAt(start) {
		return end
	}
	want := t.unitsAt(start) + p.Character
	b := sort.Search(len(t.units), func(b int) bool { return t.units[b] > want }) - 1
	i, n := t.blockStart(b), t.units[b]
	for i < end {
		r, size := utf8.DecodeRuneInString(t.src[i:])
		if n+width(r) > want {
			break
		}
		n += width(r)
		i += size
	}
	return max(i, start)
}

// lineEnd returns the offset of the end of a line, before what ends it.
func (t *text) lineEnd(line int) int {
	if line+1 >= len(t.lines) {
		return len(t.src)
	}
	end := t.lines[line+1] - 1
	if t.src[end] == '\n' && end > t.lines[line] && t.src[end-1] == '\r' {
		end--
	}
	return end
}

// rng returns the range of a stretch of bytes.
func (t *text) rng(start, end int) textRange {
	return textRange{Start: t.position(start), End: t.position(max(start, end))}
}

// span returns the range of a span. Only its offsets are looked at.
func (t *text) span(s syntax.Span) textRange { return t.rng(s.Start.Offset, s.End.Offset) }

// splice returns the text with a range replaced. A range whose end is before
// its start is empty.
func (t *text) splice(r textRange, with string) string {
	start, end := t.offset(r.Start), t.offset(r.End)
	end = max(start, end)
	return t.src[:start] + with + t.src[end:]
}

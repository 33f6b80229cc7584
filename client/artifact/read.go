package artifact

import (
	"context"
	"unicode/utf8"
)

// object implements the interface Artifact.
type object struct{}

var _ Artifact[*view] = object{}

// budget is how many bytes of text an answer holds: in a string of JSON, which it
// becomes a part of, each can take two, and the whole answer at most 32 KiB.
const budget = 16000

// Read returns a range of the text that begins and ends between characters.
func (object) Read(_ context.Context, v *view, args ReadArgs) (Range, error) {
	const before = utf8.UTFMax - 1
	offset := min(int(args.Offset), v.size)
	from := max(0, offset-before)
	// A character more at both ends shows where they begin.
	b, err := v.at(from, offset-from+int(args.Length)+before)
	if err != nil {
		return Range{}, err
	}
	start := offset - from
	for start > 0 && start < len(b) && !utf8.RuneStart(b[start]) {
		start--
	}
	end := min(start+int(args.Length), len(b))
	for end > start && end < len(b) && !utf8.RuneStart(b[end]) {
		end--
	}
	if end == start && start < len(b) { // not even the first character is so short
		_, n := utf8.DecodeRune(b[start:])
		end += n
	}
	r := Range{Offset: int64(from + start), Bytes: int64(end - start), TotalBytes: int64(v.size), JSON: string(b[start:end])}
	if next := r.Offset + r.Bytes; next < r.TotalBytes {
		r.NextOffset = &next
	}
	return r, nil
}

// Lines returns lines of the text.
func (object) Lines(_ context.Context, v *view, args LinesArgs) (Lines, error) {
	out := Lines{First: args.First, TotalLines: int64(v.lines.count), Offset: int64(v.size)}
	first := int(args.First) - 1
	if first >= v.lines.count {
		return out, nil
	}
	room := budget
	_, err := v.walk(v.lines.before(first), markEvery+maxLine+budget, func(line, offset int, text []byte) bool {
		if line < first {
			return true
		}
		if line == first {
			out.Offset = int64(offset)
		}
		room -= len(text) + 2 // with its quotes and a comma
		if len(out.Lines) == int(args.Count) || room < 0 {
			return false
		}
		out.Lines = append(out.Lines, string(text))
		return true
	})
	if next := args.First + int64(len(out.Lines)); next <= out.TotalLines {
		out.NextFirst = &next
	}
	return out, err
}

// walk calls a function with one line after another from a mark on, counted from
// 0, until it returns false or most bytes are gone through. It returns whether
// the function ended it.
func (v *view) walk(m mark, most int, yield func(line, offset int, text []byte) bool) (ended bool, err error) {
	b, err := v.at(int(m.offset), most+lookAhead)
	if err != nil {
		return false, err
	}
	inString, line := m.inString, int(m.line)
	for at := 0; at < len(b) && at < most; line++ {
		n, in := nextLine(b[at:min(len(b), at+lookAhead)], inString)
		if !yield(line, int(m.offset)+at, b[at:at+n]) {
			return true, nil
		}
		at, inString = at+n, in
	}
	return false, nil
}

// lineAt returns the line, counted from 0, that has the byte at an offset.
func (v *view) lineAt(offset int) (int, error) {
	found := 0
	_, err := v.walk(v.lines.at(offset), markEvery+maxLine, func(line, at int, text []byte) bool {
		found = line
		return at+len(text) <= offset
	})
	return found, err
}

package artifact

import (
	"sort"
	"unicode/utf8"
)

// How a text is divided into lines. The lines of one text are always the same.
const (
	minLine    = 80      // a line ends at the first place behind so many bytes
	maxLine    = 1024    // and before so many, wherever that is
	flatBytes  = 400     // a list or an object of at most so many bytes is not divided
	flatLevels = 4       // if it has at most so many levels
	markEvery  = 1 << 16 // bytes of text from one mark to the next
	lookAhead  = maxLine + flatBytes
)

// mark is a place where a line begins, from which lines can be counted.
type mark struct {
	offset, line int32
	inString     bool // the line begins inside a string
}

// lineIndex finds the lines of a text without going through all of it. It takes
// about 12 bytes for each 64 KiB of text.
type lineIndex struct {
	marks []mark // the first is that of the text's beginning
	count int    // of lines
}

// indexLines goes through a whole text.
func indexLines(text []byte) lineIndex {
	x := lineIndex{marks: make([]mark, 1, len(text)/markEvery+1)}
	inString, last := false, 0
	for at := 0; at < len(text); x.count++ {
		if at-last >= markEvery {
			x.marks, last = append(x.marks, mark{int32(at), int32(x.count), inString}), at
		}
		var n int
		n, inString = nextLine(text[at:min(len(text), at+lookAhead)], inString)
		at += n
	}
	return x
}

// before returns the last mark at or before a line, counted from 0.
func (x lineIndex) before(line int) mark {
	return x.marks[sort.Search(len(x.marks), func(i int) bool { return int(x.marks[i].line) > line })-1]
}

// at returns the last mark at or before an offset.
func (x lineIndex) at(offset int) mark {
	return x.marks[sort.Search(len(x.marks), func(i int) bool { return int(x.marks[i].offset) > offset })-1]
}

// nextLine returns the length of the line at the beginning of b, which has all
// that is left of the text or lookAhead bytes of it, and whether the line after
// it begins inside a string. JSON as it is written here has no line breaks, so a
// line ends where people would break it: behind an element once it is long
// enough, and behind a line break that is escaped in a string.
func nextLine(b []byte, inString bool) (int, bool) {
	for i := 0; i < len(b); {
		step, ends, was := 1, false, inString
		switch c := b[i]; {
		case inString && c == '\\':
			step = 2
			if i+1 < len(b) {
				ends = b[i+1] == 'n'
				if b[i+1] == 'u' {
					step = 6
				}
			}
		case inString && c >= utf8.RuneSelf:
			_, step = utf8.DecodeRune(b[i:])
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			if n := flat(b[i:]); n > 0 {
				step = n
			} else {
				ends = i >= minLine
			}
		case c == ',':
			ends = i >= minLine
		}
		if step = min(step, len(b)-i); i+step > maxLine {
			return i, was
		}
		i += step
		if ends {
			return i, inString
		}
	}
	return len(b), inString
}

// flat returns the length of the list or object at the beginning of b if it is
// small, else 0.
func flat(b []byte) int {
	level, inString := 0, false
	for i := 0; i < min(len(b), flatBytes); i++ {
		switch c := b[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			if level++; level > flatLevels {
				return 0
			}
		case c == '}' || c == ']':
			if level--; level == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// head returns the length of the lines at the beginning of a text that have at
// most limit bytes together, and their number. The limit is at least maxLine.
func head(text []byte, limit int) (bytes, lines int) {
	inString := false
	for bytes < len(text) {
		n, in := nextLine(text[bytes:min(len(text), bytes+lookAhead)], inString)
		if bytes+n > limit {
			break
		}
		bytes, lines, inString = bytes+n, lines+1, in
	}
	return bytes, lines
}

// tail returns where the last lines of a text begin that have at most limit
// bytes together. The limit is at least maxLine.
func (x lineIndex) tail(text []byte, limit int) int {
	m := x.at(max(0, len(text)-limit))
	at, inString := int(m.offset), m.inString
	for len(text)-at > limit {
		n, in := nextLine(text[at:min(len(text), at+lookAhead)], inString)
		at, inString = at+n, in
	}
	return at
}

package main

import (
	"sort"
	"unicode/utf8"
)

// columnStep is how far apart, in bytes, the places are up to which the
// characters of a text are counted once and for all.
const columnStep = 4 << 10

// columns counts the characters of a text up to an offset, without going back
// to the start of what may be a very long line.
type columns struct {
	text  []byte
	known []counted // in order, about columnStep apart
}

// counted is how many code points and UTF-16 code units there are before an
// offset.
type counted struct{ offset, runes, utf16 int }

func newColumns(text []byte) *columns {
	c := &columns{text: text}
	for at := (counted{}); at.offset < len(text); {
		c.known = append(c.known, at)
		at = at.upTo(text, min(at.offset+columnStep, len(text)))
	}
	return c
}

// upTo counts on to an offset, or to the end of the character that is there.
func (c counted) upTo(text []byte, offset int) counted {
	for c.offset < offset {
		r, size := rune(text[c.offset]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(text[c.offset:])
		}
		c.offset += size
		c.runes++
		c.utf16++
		if r > 0xffff {
			c.utf16++
		}
	}
	return c
}

// before counts what is before an offset of the text.
func (c *columns) before(offset int) counted {
	i := sort.Search(len(c.known), func(i int) bool { return c.known[i].offset > offset })
	if i == 0 {
		return counted{}
	}
	return c.known[i-1].upTo(c.text, offset)
}

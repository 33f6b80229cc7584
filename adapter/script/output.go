package script

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// output is what a run prints, up to its limit.
type output struct {
	to      io.Writer
	limit   int // 0 for none
	written int
	dropped int   // bytes beyond the limit
	err     error // of the writer, which ends the output
}

// printable returns a text without what a terminal obeys or a reader does not see:
// control characters become U+FFFD, hidden ones their escapes, as a script may
// show a stranger's words.
func printable(s string) string {
	var b strings.Builder
	kept := 0 // of s
	for i, c := range s {
		var instead string
		switch {
		case c == '\n' || c == '\t':
			continue
		case unicode.IsControl(c):
			instead = string(unicode.ReplacementChar)
		case hidden(c) && c > 0xffff:
			instead = fmt.Sprintf(`\U%08x`, c)
		case hidden(c):
			instead = fmt.Sprintf(`\u%04x`, c)
		default:
			continue
		}
		b.WriteString(s[kept:i] + instead)
		kept = i + utf8.RuneLen(c)
	}
	if kept == 0 {
		return s
	}
	return b.String() + s[kept:]
}

// hidden reports whether a character leaves no mark where it stands: one that
// changes the direction of writing, joins, selects, ends a line or fills. The joiners
// and the selector that letters and emoji need are none.
func hidden(c rune) bool {
	const nonJoiner, joiner, emoji = 0x200c, 0x200d, 0xfe0f
	switch {
	case c < 0xad || c == nonJoiner || c == joiner || c == emoji:
		return false
	case unicode.In(c, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Variation_Selector):
		return true
	}
	switch c {
	case 0x034f, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x2800, 0x3164, 0xffa0: // a joiner and fillers
		return true
	}
	return false
}

// line writes a line.
func (o *output) line(s string) {
	s = printable(s) + "\n"
	if o.limit > 0 && o.written+len(s) > o.limit {
		keep := strings.ToValidUTF8(s[:max(o.limit-o.written, 0)], "")
		o.dropped += len(s) - len(keep)
		s = keep
		o.limit = min(o.limit, o.written+len(keep)) // what comes later is dropped whole
	}
	o.write(s)
}

func (o *output) write(s string) {
	o.written += len(s)
	if o.to != nil && o.err == nil && s != "" {
		_, o.err = io.WriteString(o.to, s)
	}
}

// end says how much was dropped.
func (o *output) end() {
	if o.dropped > 0 {
		o.write(fmt.Sprintf("\n[%d more bytes of output were dropped]\n", o.dropped))
	}
}

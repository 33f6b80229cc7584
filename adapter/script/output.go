package script

import (
	"fmt"
	"io"
	"strings"
	"unicode"
)

// output is what a run prints, up to its limit.
type output struct {
	to      io.Writer
	limit   int // 0 for none
	written int
	dropped int   // bytes beyond the limit
	err     error // of the writer, which ends the output
}

// printable returns a text without what a terminal obeys: control characters
// become U+FFFD, as a script may show a stranger's words.
func printable(s string) string {
	return strings.Map(func(c rune) rune {
		if c != '\n' && c != '\t' && unicode.IsControl(c) {
			return unicode.ReplacementChar
		}
		return c
	}, s)
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

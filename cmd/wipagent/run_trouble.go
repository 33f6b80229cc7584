package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/rivo/uniseg"

	"github.com/wipagent/wipagent/adapter/script"
)

// scriptFailed tells why a script failed and returns the end of the command.
// hint says how to raise a limit.
func (c *cli) scriptFailed(ctx context.Context, p *program, err error, hint func(limit string) string) error {
	var failed *script.Error
	if !errors.As(err, &failed) {
		return err
	}
	t := newTrouble(c.io.err)
	t.failure(failed, p.src, hint)
	if ctx.Err() != nil {
		return &exitError{code: exitUnavailable}
	}
	return &exitError{code: exitFailed}
}

// trouble writes for people why scripts fail:
//
//	visitors.star:3:27: arguments: the arguments do not fit the operation
//	   3 | grid.region.nearby_avatars(radius=1000)
//	     |                           ^
//	  write: grid.region.nearby_avatars(radius_meters=256)
//	  called at visitors.star:7:5: in <toplevel>
type trouble struct {
	w     io.Writer
	color bool
}

// newTrouble returns one in colour if w is a terminal where people want it.
func newTrouble(w io.Writer) *trouble {
	return &trouble{w, isTerminal(w) && wantsColor()}
}

// wantsColor reports whether the environment is for colours on a terminal.
func wantsColor() bool { return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" }

// in returns s in a look, which is parameters of ANSI's SGR.
func (r *trouble) in(look, s string) string {
	if !r.color || s == "" {
		return s
	}
	return "\x1b[" + look + "m" + s + "\x1b[0m"
}

const (
	lookPlace = "1"    // bold
	lookBad   = "1;31" // bold red
	lookGood  = "1;32" // bold green
	lookNote  = "36"   // cyan
	lookQuiet = "2"    // faint
)

// failure writes an error of the script src.
func (r *trouble) failure(e *script.Error, src []byte, hint func(limit string) string) {
	lines := strings.Split(e.Message, "\n")
	var limit *script.LimitError
	if errors.As(e, &limit) && limit.Limit == "cancelled" {
		lines[0] = "interrupted"
	}
	place := e.Name
	if e.Line > 0 {
		place = fmt.Sprintf("%s:%d:%d", e.Name, e.Line, e.Column)
	}
	fmt.Fprintf(r.w, "%s: %s\n", r.in(lookPlace, printable(place)), r.in(lookBad, printable(lines[0])))
	r.excerpt(src, e.Line, e.Column)
	for _, line := range lines[1:] {
		r.detail(printable(line))
	}
	if limit != nil && hint != nil && hint(limit.Limit) != "" {
		r.detail("  hint: " + hint(limit.Limit))
	}
	const most = 20                          // calls, of a recursion that is deep
	for i := len(e.Stack) - 2; i >= 0; i-- { // the last is the place itself
		if shown := len(e.Stack) - 2 - i; shown == most {
			r.detail(fmt.Sprintf("  and %d more calls", i+1))
			break
		}
		r.detail("  called at " + printable(e.Stack[i]))
	}
}

// detail writes a line of a message, its word in front in a colour.
func (r *trouble) detail(line string) {
	for word, look := range map[string]string{"  hint: ": lookNote, "  write: ": lookGood, "  called at ": lookQuiet} {
		if rest, ok := strings.CutPrefix(line, word); ok {
			if look == lookGood { // what a person wants to copy
				rest = r.in(lookGood, rest)
			}
			line = r.in(look, word) + rest
			break
		}
	}
	fmt.Fprintln(r.w, line)
}

// excerpt writes a line of the script with a mark below a column, which is
// 1-based and in characters.
func (r *trouble) excerpt(src []byte, line, column int) {
	const before, after = 60, 100 // characters that are shown of a long line
	if line < 1 || column < 1 {
		return
	}
	n := 1
	for text := range strings.Lines(string(src)) {
		if n++; n <= line {
			continue
		}
		chars := []rune(strings.TrimRight(text, "\r\n"))
		at := min(column-1, len(chars))
		from, to := max(at-before, 0), min(at+after, len(chars))
		show := func(chars []rune) string { return printable(strings.ReplaceAll(string(chars), "\t", "    ")) }
		left, right := show(chars[from:at]), show(chars[at:to])
		if from > 0 {
			left = "…" + left
		}
		if to < len(chars) {
			right += "…"
		}
		fmt.Fprintf(r.w, "%s %s%s\n", r.in(lookQuiet, fmt.Sprintf("%4d |", line)), left, right)
		fmt.Fprintf(r.w, "%s %s%s\n", r.in(lookQuiet, "     |"), strings.Repeat(" ", uniseg.StringWidth(left)), r.in(lookBad, "^"))
		return
	}
}

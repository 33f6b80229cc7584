package idl

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wipagent/wipagent/idl/syntax"
)

// Render writes faults for a person to read, as a Renderer without colour
// does.
func Render(w io.Writer, list ErrorList, source Loader) error {
	r := Renderer{Source: source}
	return r.Render(w, list)
}

// Renderer writes diagnostics for a person at a terminal, each with the lines
// that it is in, the span underlined, its hint, the change that it suggests,
// and the other places it points at:
//
//	region.wip:4:13: error: found unknown type "Positon" [unknown-type]
//	   4 |   position: Positon;
//	     |             ^^^^^^^
//	  hint: did you mean "Position"?
//	   4 -   position: Positon;
//	   4 +   position: Position;
//
// Whatever a document holds, no control or invisible character of it is
// written.
type Renderer struct {
	// Source returns the texts, mostly as the Loader that Compile had. Where
	// it is nil or fails, the excerpts are left out.
	Source Loader
	// Color adds the escape sequences of ANSI terminals.
	Color bool

	texts map[string]*text
	out   bytes.Buffer
}

// Render writes the diagnostics in their order. The error is the writer's.
func (r *Renderer) Render(w io.Writer, list []syntax.Diagnostic) error {
	r.texts = map[string]*text{}
	for i, d := range list {
		if i > 0 {
			r.out.WriteByte('\n')
		}
		r.diagnostic(d)
		if _, err := r.out.WriteTo(w); err != nil {
			return err
		}
	}
	return nil
}

// The looks of the parts of what is written, as parameters of ANSI's SGR.
const (
	lookPlace   = "1"    // bold
	lookError   = "1;31" // bold red
	lookWarning = "1;33" // bold yellow
	lookNote    = "36"   // cyan
	lookQuiet   = "2"    // faint
	lookRemoved = "31"   // red
	lookAdded   = "32"   // green
)

// in returns s in a look, which s must not change itself.
func (r *Renderer) in(look, s string) string {
	if !r.Color || s == "" {
		return s
	}
	return "\x1b[" + look + "m" + s + "\x1b[0m"
}

// diagnostic writes one diagnostic.
func (r *Renderer) diagnostic(d syntax.Diagnostic) {
	look := lookError
	if d.Severity == syntax.Warning {
		look = lookWarning
	}
	fmt.Fprintf(&r.out, "%s: %s: %s %s\n", r.in(lookPlace, whence(d.Span)), r.in(look, d.Severity.String()),
		words(d.Message), r.in(lookQuiet, "["+printable(d.Rule)+"]"))
	r.excerpt(d.Span, look)
	if d.Hint != "" {
		fmt.Fprintf(&r.out, "  %s %s\n", r.in(lookNote, "hint:"), words(d.Hint))
	}
	for i, f := range d.Fixes {
		if i > 0 || d.Hint == "" {
			fmt.Fprintf(&r.out, "  %s %s\n", r.in(lookNote, "fix:"), words(f.Title))
		}
		r.change(d.Span.File, f)
	}
	for _, rel := range d.Related {
		fmt.Fprintf(&r.out, "  %s: %s %s\n", r.in(lookPlace, whence(rel.Span)), r.in(lookNote, "note:"), words(rel.Message))
		r.excerpt(rel.Span, lookNote)
	}
}

// whence returns where a span starts, or only its document if that is all
// that is known.
func whence(s syntax.Span) string {
	if s.Start.Line == 0 {
		return printable(s.File)
	}
	return fmt.Sprintf("%s:%d:%d", printable(s.File), s.Start.Line, s.Start.Col)
}

// How much of a text about a document is shown, in bytes. It may quote a name
// that is as long as the document.
const (
	maxWords  = 600
	wordsHead = 400
	wordsTail = 150
)

// words makes a text about a document printable, without the middle of a very
// long one.
func words(s string) string {
	if len(s) > maxWords {
		s = strings.ToValidUTF8(s[:wordsHead], "") + "…" + strings.ToValidUTF8(s[len(s)-wordsTail:], "")
	}
	return printable(s)
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

package syntax_test

import (
	"testing"

	"github.com/alecthomas/participle/v2/lexer"

	"github.com/wipagent/wipagent/idl/syntax"
)

// FuzzScan checks that tokens stand in order where they say, and that the
// scanner ends.
func FuzzScan(f *testing.F) {
	for _, src := range corpus(f) {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		if len(src) > 1<<16 {
			return
		}
		toks, faults := syntax.Scan("x.wip", src)
		last := 0
		for i, tok := range toks {
			if tok.EOF() != (i == len(toks)-1) {
				t.Fatalf("got %v as token %d of %d", tok, i, len(toks))
			}
			end := tok.Pos.Offset + len(tok.Value)
			if tok.Pos.Offset < last || end > len(src) || src[tok.Pos.Offset:end] != tok.Value {
				t.Fatalf("got %v at %v behind offset %d", tok, tok.Pos, last)
			}
			last = end
		}
		c := newChecker(t, src)
		for _, d := range faults {
			c.span(d.Span)
		}
		if len(faults) == 0 {
			for _, tok := range toks {
				if tok.Type != lexer.EOF && tok.Value[0] == '"' {
					syntax.Unquote(tok.Value)
				}
			}
		}
	})
}

// FuzzParse checks what Parse promises for any text.
func FuzzParse(f *testing.F) {
	for _, src := range corpus(f) {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		if len(src) > 1<<16 {
			return
		}
		check(t, src)
	})
}

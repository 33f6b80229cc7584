package syntax_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/alecthomas/participle/v2/lexer"
	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/idl/syntax"
)

func TestScan(t *testing.T) {
	tests := []struct {
		src   string
		want  string // the tokens, separated by blanks
		fault string // the rules and columns of the faults
	}{
		{"", "", ""},
		{"a_1 B", "a_1 B", ""},
		{"a.b..c", "a . b .. c", ""},
		{"->-5->", "-> -5 ->", ""},
		{"list<list<a>>?", "list < list < a > > ?", ""},
		{"[0..256]", "[ 0 .. 256 ]", ""},
		{"[-1.5..-0.5e-3]", "[ -1.5 .. -0.5e-3 ]", ""},
		{"3s 500ms 32KiB 1e 1e3x", "3s 500ms 32KiB 1e 1e3x", ""},
		{"1E+10 0 -0 0.0", "1E+10 0 -0 0.0", ""},
		{"1_0 0b1 00 1.x", "1_0 0b1 00 1.x", "bad-number:1 bad-number:5 bad-number:9 bad-number:12"},
		{"1.2.3 .5 -.5 +1", "1.2.3 .5 -.5 +1", "bad-number:1 bad-number:7 bad-number:10 bad-number:14"},
		{`"" "a" "\"" "\\" "//"`, `"" "a" "\"" "\\" "//"`, ""},
		{`"a`, `"a`, "unterminated-string:1"},
		{`"a) ;`, `"a ) ;`, "unterminated-string:1"},
		{`"a\`, `"a\`, "unterminated-string:1"},
		{`"\a\u{}\u{110000}\u{D800}\u41"`, `"\a\u{}\u{110000}\u{D800}\u41"`,
			"bad-escape:2 bad-escape:4 bad-escape:8 bad-escape:18 bad-escape:26"},
		{"\"a\tb\x00\"", "\"a\tb\x00\"", "bad-character:5"},
		{"'a' ‘b’ c'", "'a' ‘b’ c", "bad-character:1 bad-character:5 bad-character:14"},
		{"a/b", "a b", "bad-character:2"},
		{"a // b", "a", ""},
		{"a /* b */ c /**/ /***/ d", "a c d", ""},
		{"a /* b", "a", "unterminated-comment:3"},
		{"a /*/ b", "a", "unterminated-comment:3"},
		{"###", "", "bad-character:1"},
		{"# #", "", "bad-character:1 bad-character:3"},
		{"größe", "größe", "bad-character:3"},
		{"a-b-c", "a-b-c", "bad-character:2 bad-character:4"},
		{"a\u00a0b\u200b", "a b", "bad-character:2 bad-character:5"},
		{"a\ufeffb", "a b", "bad-character:2"},
		{"\ufeffa", "a", ""},
		{"a\xffb", "a\xffb", "invalid-utf8:2"},
		{"// \xff\n\xff \"\xff\"", "\xff \"\xff\"", "invalid-utf8:4"},
	}
	for _, tt := range tests {
		toks, faults := syntax.Scan("x.wip", tt.src)
		var got []string
		for _, tok := range toks[:len(toks)-1] {
			got = append(got, tok.Value)
		}
		if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("the tokens of %q differ (-want +got):\n%s", tt.src, diff)
		}
		got = nil
		for _, d := range faults {
			got = append(got, fmt.Sprintf("%s:%d", d.Rule, d.Span.Start.Col))
		}
		if diff := cmp.Diff(tt.fault, strings.Join(got, " ")); diff != "" {
			t.Errorf("the faults of %q differ (-want +got):\n%s", tt.src, diff)
		}
	}
}

func TestPositions(t *testing.T) {
	tests := []struct {
		name string
		src  string
		want lexer.Position // of the token x
	}{
		{"first", "x", lexer.Position{Offset: 0, Line: 1, Column: 1}},
		{"byte order mark", "\ufeffx", lexer.Position{Offset: 3, Line: 1, Column: 1}},
		{"behind the mark's line", "\ufeffa\nx", lexer.Position{Offset: 5, Line: 2, Column: 1}},
		{"LF", "a\n x", lexer.Position{Offset: 3, Line: 2, Column: 2}},
		{"CRLF", "a\r\n x", lexer.Position{Offset: 4, Line: 2, Column: 2}},
		{"CR is a blank", "a\rx", lexer.Position{Offset: 2, Line: 1, Column: 3}},
		{"tab is one byte", "\tx", lexer.Position{Offset: 1, Line: 1, Column: 2}},
		{"columns are bytes", `"äöü😀" x`, lexer.Position{Offset: 13, Line: 1, Column: 14}},
		{"block comment", "/* ä\n\n */ x", lexer.Position{Offset: 11, Line: 3, Column: 5}},
		{"line comment", "// a\r\nx", lexer.Position{Offset: 6, Line: 2, Column: 1}},
	}
	for _, tt := range tests {
		toks, _ := syntax.Scan("x.wip", tt.src)
		tt.want.Filename = "x.wip"
		got := toks[len(toks)-2]
		if got.Value != "x" || got.Pos != tt.want {
			t.Errorf("%s: got %v at %+v, want x at %+v", tt.name, got, got.Pos, tt.want)
		}
	}
}

// What is wrong with bytes that are not UTF-8 is said once, and nothing
// follows from it.
func TestInvalidUTF8(t *testing.T) {
	_, faults := check(t, "package a;\nrecord \xff R\xfe { x\xff int; }\n// \xff\n")
	if len(faults) != 1 || faults[0].Rule != syntax.RuleInvalidUTF8 {
		t.Errorf("got %v, want one fault of %s", faults, syntax.RuleInvalidUTF8)
	}
	if got := faults[0].Span.String(); got != "x.wip:2:8" {
		t.Errorf("got it at %s, want x.wip:2:8", got)
	}
}

func TestStrings(t *testing.T) {
	tests := []struct{ raw, want string }{
		{`""`, ""},
		{`"a"`, "a"},
		{`"\"\\\n\t"`, "\"\\\n\t"},
		{`"\u{41}\u{1f600}\u{0000e4}"`, "A😀ä"},
		{`"it's"`, "it's"},
		{`"it's'"`, "it's'"},
		{`"\""`, `"`},
	}
	for _, tt := range tests {
		if got := syntax.Unquote(tt.raw); got != tt.want {
			t.Errorf("got %q for %s, want %q", got, tt.raw, tt.want)
		}
	}
}

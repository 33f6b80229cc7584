package syntax_test

import (
	"strings"
	"testing"
	"time"

	"github.com/wipagent/wipagent/idl/syntax"
)

// patience is how long one document may take on a busy machine. Anything
// quadratic takes minutes for the largest documents.
const patience = 20 * time.Second

// Hostile documents take linear time and few faults. They are as large as may
// be in a campaign, and a small part of that otherwise.
func TestHostile(t *testing.T) {
	part := 32
	if mutations() > defaultMutations {
		part = 1
	}
	fill := func(head, unit string) string {
		return head + strings.Repeat(unit, (syntax.MaxSource-len(head))/len(unit)/part)
	}
	tokens := func(head, unit string) string {
		toks, _ := syntax.Scan("x.wip", unit)
		most := min((syntax.MaxTokens-20)/(len(toks)-1), (syntax.MaxSource-len(head)-1)/len(unit))
		return head + strings.Repeat(unit, most/part)
	}
	tests := []struct{ name, src string }{
		{"brace", tokens("package a;", "{")},
		{"closing brace", tokens("package a;", "}")},
		{"paren", tokens("package a; interface A { f", "(")},
		{"paren line", tokens("package a; interface A { f", "(\n")},
		{"angle", tokens("package a; record A { f: ", "a<")},
		{"bracket", tokens("package a; record A { f: a", "[")},
		{"quote", fill("package a;", "\"")},
		{"quote line", fill("package a;", "\"\n")},
		{"one string", fill("package a; import \"", "x")},
		{"escape", fill("package a; import \"", "\\")},
		{"bad escape", fill("package a; import \"", "\\q")},
		{"comment", fill("package a;", "/*")},
		{"comments", fill("package a;", "/**/")},
		{"line comments", fill("package a;", "//\n")},
		{"docs", fill("package a;", "///\n")},
		{"name", fill("package ", "a")},
		{"foreign name", fill("package ", "ä")},
		{"dashed name", fill("package a", "-a")},
		{"number", fill("package a; version ", "1")},
		{"dots", tokens("package a; version 1", "..")},
		{"points", fill("package a; version 1", ".1")},
		{"at", tokens("package a;", "@")},
		{"at lines", tokens("package a;", "@\n")},
		{"annotations", tokens("package a;", "@a ")},
		{"annotation lines", tokens("package a;", "@a\n")},
		{"annotation lists", tokens("package a;", "@a(")},
		{"annotation list lines", tokens("package a;", "@a(\n")},
		{"semicolons", tokens("package a;", ";")},
		{"packages", tokens("", "package a;")},
		{"keywords", tokens("", "interface ")},
		{"keyword lines", tokens("", "interface\n")},
		{"names of interfaces", tokens("", "interface A ")},
		{"open interfaces", tokens("package a;", "interface A {\n")},
		{"open interfaces in a line", tokens("package a;", "interface A { ")},
		{"operations without end", tokens("package a; interface A {", "f() ")},
		{"operations without result", tokens("package a; interface A {", "f();\n")},
		{"params", tokens("package a; interface A { f(", "a: int ")},
		{"commas", tokens("package a; interface A { f(", ",")},
		{"params of one operation", tokens("package a; interface A { f(", "a: int, ")},
		{"fields without end", tokens("package a; record A {", "a: int ")},
		{"labels", tokens("package a; enum A {", "a ")},
		{"labels and commas", tokens("package a; enum A {", ",")},
		{"blocks", tokens("package a; interface A { f() -> text ", "{} ")},
		{"nul", fill("package a;", "\x00")},
		{"not UTF-8", fill("package a;", "\xff")},
		{"not UTF-8 and names", fill("package a;", "\xffa ")},
		{"valid", tokens("package a;", "interface A { f(a: int) -> text; }")},
		{"valid, then not", tokens("package a;", "interface A { f(a: int) -> text; }") + "x"},
	}
	for _, tt := range tests {
		start := time.Now()
		file, faults := syntax.Parse("x.wip", []byte(tt.src))
		if d := time.Since(start); d > patience {
			t.Errorf("%s: took %v for %d bytes", tt.name, d, len(tt.src))
		}
		if file == nil || len(faults) > syntax.MaxDiagnostics+1 {
			t.Errorf("%s: got %d faults", tt.name, len(faults))
		}
		for _, d := range faults {
			if len(d.Message) > 400 {
				t.Errorf("%s: got a message of %d bytes", tt.name, len(d.Message))
			}
		}
	}
}

func TestLimits(t *testing.T) {
	list := func(depth int) string {
		return "package a; record R { x: " + strings.Repeat("list<", depth-1) + "int" + strings.Repeat(">", depth-1) + "; }"
	}
	tests := []struct {
		name string
		src  string
		want string // the rule of the last fault, or empty
	}{
		{"largest source", "package a;" + strings.Repeat(" ", syntax.MaxSource-10), ""},
		{"larger source", "package a;" + strings.Repeat(" ", syntax.MaxSource-9), syntax.RuleTooLarge},
		{"most tokens", "package a" + strings.Repeat(".a", (syntax.MaxTokens-4)/2) + ";", ""},
		{"more tokens", "package a" + strings.Repeat(".a", syntax.MaxTokens/2) + ";", syntax.RuleTooLarge},
		{"deepest type", list(syntax.MaxTypeDepth), ""},
		{"deeper type", list(syntax.MaxTypeDepth + 1), syntax.RuleTooDeep},
		{"most faults", "package a; record R { x: int; } " + strings.Repeat("record { x: int; } ", syntax.MaxDiagnostics), syntax.RuleMissingName},
		{"more faults", "package a; record R { x: int; } " + strings.Repeat("record { x: int; } ", syntax.MaxDiagnostics+1), syntax.RuleTooManyFaults},
		{"more lexical faults", "package a; " + strings.Repeat("% ", syntax.MaxDiagnostics+1), syntax.RuleTooManyFaults},
	}
	for _, tt := range tests {
		_, faults := syntax.Parse("x.wip", []byte(tt.src))
		got := ""
		if n := len(faults); n > 0 {
			got = faults[n-1].Rule
		}
		if got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

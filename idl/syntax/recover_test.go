package syntax_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/wipagent/wipagent/idl/syntax"
)

// A mistake is a piece of a document with one thing wrong in it.
type mistake struct {
	text string
	rule string
}

var (
	faultyOperations = []mistake{
		{"f -> text;", syntax.RuleUnexpectedToken},
		{"f: int;", syntax.RuleUnexpectedToken},
		{"f() text;", syntax.RuleUnexpectedToken},
		{"f(): text;", syntax.RuleUnexpectedToken},
		{"f();", syntax.RuleMissingType},
		{"f() -> ;", syntax.RuleMissingType},
		{"f(a: int -> text;", syntax.RuleUnclosedParen},
		{"f() -> text", syntax.RuleMissingSemicolon},
		{"f(a int) -> text;", syntax.RuleUnexpectedToken},
		{"f(a: ) -> text;", syntax.RuleMissingType},
		{"f(a: int = ) -> text;", syntax.RuleMissingValue},
		{"f(a: int; b: int) -> text;", syntax.RuleUnexpectedToken},
		{"f(a: int b: int) -> text;", syntax.RuleMissingComma},
		{"f(a: int,, b: int) -> text;", syntax.RuleMissingName},
		{"f(a: list<int) -> text;", syntax.RuleUnclosedAngle},
		{"f(a: int [1..5) -> text;", syntax.RuleUnclosedBracket},
		{"f(a: int [1, 5]) -> text;", syntax.RuleUnexpectedToken},
		{`f(a: string = "open) -> text;`, syntax.RuleUnterminatedString},
		{`f(a: string = "\q") -> text;`, syntax.RuleBadEscape},
		{"f(a: int = 0x5) -> text;", syntax.RuleBadNumber},
		{"f(a: int % b) -> text;", syntax.RuleBadCharacter},
		{"@alias(\"a\" \"b\") f() -> text;", syntax.RuleMissingComma},
		{"@alias(\"a\"\n  f() -> text;", syntax.RuleUnclosedParen},
		{"@() f() -> text;", syntax.RuleMissingName},
		{";", syntax.RuleUnexpectedToken},
		{"f() -> text; /// Behind.", syntax.RuleStrayDoc},
	}
	faultyFields = []mistake{
		{"a int;", syntax.RuleUnexpectedToken},
		{"a: ;", syntax.RuleMissingType},
		{"a: int", syntax.RuleMissingSemicolon},
		{"a: int,", syntax.RuleMissingSemicolon},
		{"a: int = 3;", syntax.RuleUnexpectedToken},
		{"a() -> int;", syntax.RuleUnexpectedToken},
		{"a: map<int;", syntax.RuleUnclosedAngle},
		{"a: int??;", syntax.RuleUnexpectedToken},
		{"a: int [..;", syntax.RuleUnclosedBracket},
		{"a: string [matching];", syntax.RuleMissingValue},
		{"größe: int;", syntax.RuleBadCharacter},
		{"@derived(x: ) a: int;", syntax.RuleMissingValue},
		{"5: int;", syntax.RuleUnexpectedToken},
	}
	faultyDeclarations = []mistake{
		{"record {\n  a: int;\n}", syntax.RuleMissingName},
		{"enum E { a b }", syntax.RuleMissingComma},
		{"enum E {}", syntax.RuleMissingName},
		{"enum E { a = 1 }", syntax.RuleUnexpectedToken},
		{"interface I {\n  f() -> text;", syntax.RuleUnclosedBrace},
		{"record R {\n  a: int;", syntax.RuleUnclosedBrace},
		{"enum E {\n  a, b", syntax.RuleUnclosedBrace},
		{"recrod R { a: int; }", syntax.RuleUnexpectedToken},
		{"struct R { a: int; }", syntax.RuleUnexpectedToken},
		{"record R a: int; }", syntax.RuleUnexpectedToken},
		{"record R { a: int; }}", syntax.RuleUnexpectedToken},
		{"record R { a: int; };", syntax.RuleUnexpectedToken},
		{"import \"late.wip\";", syntax.RuleHeaderOrder},
		{"package again;", syntax.RuleDuplicatePackage},
		{"@audience(im\ninterface I {\n}", syntax.RuleUnclosedParen},
		{"words without meaning;", syntax.RuleUnexpectedToken},
	}
)

// Each mistake on its own is one fault, of its rule.
func TestOneMistake(t *testing.T) {
	for _, m := range slices.Concat(faultyOperations, faultyFields, faultyDeclarations) {
		_, faults := check(t, inPlace(m))
		if len(faults) != 1 || faults[0].Rule != m.rule {
			t.Errorf("got %v for %q, want one fault of %s", faults, m.text, m.rule)
		}
	}
}

// inPlace puts a mistake where it belongs in a document that is right otherwise.
func inPlace(m mistake) string {
	const start, end = "package a;\nrecord First { x: int; }\n", "record Last { x: int; }\n"
	switch {
	case slices.Contains(faultyOperations, m):
		return start + "interface I {\n  a() -> text;\n  " + m.text + "\n  b() -> text;\n}\n" + end
	case slices.Contains(faultyFields, m):
		return start + "record R {\n  a: text;\n  " + m.text + "\n  b: text;\n}\n" + end
	}
	return start + m.text + "\n" + end
}

// Any mistakes together are as many faults, of their rules, and what is right
// between them is kept.
func TestIndependentMistakes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var src strings.Builder
		var rules []string
		var kept []string
		src.WriteString("package a;\n")
		block := func(open string, from []mistake, good string) {
			src.WriteString(open)
			for range rapid.IntRange(0, 5).Draw(rt, "members") {
				if rapid.Bool().Draw(rt, "faulty") {
					m := rapid.SampledFrom(from).Draw(rt, "mistake")
					rules = append(rules, m.rule)
					fmt.Fprintf(&src, "  %s\n", m.text)
				}
				fmt.Fprintf(&src, "  %s\n", good)
			}
			src.WriteString("}\n")
		}
		for i := range rapid.IntRange(1, 5).Draw(rt, "declarations") {
			name := fmt.Sprintf("D%d", i)
			kept = append(kept, name)
			if rapid.Bool().Draw(rt, "interface") {
				block("interface "+name+" {\n", faultyOperations, "/// Doc.\n  good(a: int = 1) -> text;")
			} else {
				block("record "+name+" {\n", faultyFields, "/// Doc.\n  good: text;")
			}
			if rapid.Bool().Draw(rt, "faulty") {
				m := rapid.SampledFrom(faultyDeclarations).Draw(rt, "mistake")
				rules = append(rules, m.rule)
				fmt.Fprintf(&src, "%s\n", m.text)
			}
		}
		src.WriteString("record Last { x: int; }\n")
		kept = append(kept, "Last")
		file, faults := check(t, src.String())
		var got []string
		for _, d := range faults {
			got = append(got, d.Rule)
		}
		if diff := cmp.Diff(rules, got); diff != "" {
			rt.Fatalf("the rules differ (-want +got):\n%s%s\n%s", diff, src.String(), render(src.String(), faults))
		}
		var names []string
		for _, d := range file.Decls {
			if n := d.DeclName().Name; n[0] == 'D' || n == "Last" {
				names = append(names, n)
			}
		}
		if diff := cmp.Diff(kept, names); diff != "" {
			rt.Fatalf("the declarations differ (-want +got):\n%s%s", diff, src.String())
		}
	})
}

// Taking any one token out of a valid document is at most one fault.
func TestDeleteToken(t *testing.T) {
	src := document(t)
	toks, _ := syntax.Scan("x.wip", src)
	for _, tok := range toks {
		_, faults := check(t, src[:tok.Pos.Offset]+src[tok.Pos.Offset+len(tok.Value):])
		if len(faults) > 1 {
			t.Errorf("got %d faults without %v at %v:\n%s", len(faults), tok, tok.Pos, render(src, faults))
		}
	}
}

// Putting one more token into a valid document is one fault, but for the few
// places where it makes something else of the document.
func TestInsertToken(t *testing.T) {
	src := document(t)
	toks, _ := syntax.Scan("x.wip", src)
	all, more := 0, 0
	extras := strings.Fields(`name { } ( ) < > [ ] ? : ; , . = -> .. @ 5 3s "s"`)
	for i, tok := range toks {
		for j, extra := range extras {
			if (i+j)%8 > 0 { // a sample is enough
				continue
			}
			all++
			_, faults := check(t, src[:tok.Pos.Offset]+" "+extra+" "+src[tok.Pos.Offset:])
			if len(faults) > 1 {
				more++
				t.Logf("%q at %v:\n%s", extra, tok.Pos, render(src, faults))
			}
		}
	}
	if more*50 > all {
		t.Errorf("got more than one fault for %d of %d tokens, want at most 2 %%", more, all)
	}
}

// However much of a document is there, what is whole is kept.
func TestTruncation(t *testing.T) {
	src := document(t)
	whole, _ := syntax.Parse("x.wip", []byte(src))
	for end := range len(src) {
		file, faults := check(t, src[:end])
		if len(faults) > 3 { // a string, the UTF-8 in it and a block can be cut at once
			t.Errorf("got %d faults for the first %d bytes:\n%s", len(faults), end, render(src, faults))
		}
		var want []syntax.Decl
		for _, d := range whole.Decls {
			if d.DeclName().Span.End.Offset < end && endOf(d) <= end {
				want = append(want, d)
			}
		}
		if len(file.Decls) < len(want) {
			t.Fatalf("got %d declarations in the first %d bytes, want %d", len(file.Decls), end, len(want))
		}
		if got := file.Decls[:len(want)]; len(want) > 0 && !reflect.DeepEqual(want, got) {
			t.Fatalf("the declarations in the first %d bytes differ (-want +got):\n%.2000s", end, cmp.Diff(want, got))
		}
	}
}

func endOf(d syntax.Decl) int {
	switch d := d.(type) {
	case *syntax.Interface:
		return d.Span.End.Offset
	case *syntax.Record:
		return d.Span.End.Offset
	case *syntax.Enum:
		return d.Span.End.Offset
	}
	panic("unknown declaration")
}

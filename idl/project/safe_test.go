package project_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/idl/project"
)

// A change is safe only if nothing else can have been meant.
func TestSafeFixes(t *testing.T) {
	tests := map[string]struct {
		text string
		want map[string]bool // by title
	}{
		"semicolon":               {"record A { a: int }", map[string]bool{"insert ;": true}},
		"slip of a type":          {"record A { a: strng; }", map[string]bool{"write string": true}},
		"slip of a declaration":   {"enum Side { in, out } record A { a: Sied; }", map[string]bool{"write Side": true}},
		"perhaps not written yet": {"enum Node { in, out } record A { a: Note; }", map[string]bool{"write Node": false}},
		"two as near":             {"enum Pet { cat, car } interface A { a(o: Pet = cas) -> int; }", map[string]bool{"write car": false}},
		"case of a built-in":      {"record A { a: Int; }", map[string]bool{"write int": true}},
		"foreign and plain":       {"record A { a: boolean; }", map[string]bool{"write bool": true}},
		"foreign and vague":       {"record A { a: number; }", map[string]bool{"write float": false}},
		"import not to be had":    {"import \"gone.wip\"; record A { a: Int; b: boolean; c: strng; }", map[string]bool{"write int": false, "write bool": false, "write string": false}},
		"import and form":         {"import \"gone.wip\"; record A { a: int }", map[string]bool{"insert ;": true}},
		"bounds":                  {"record A { a: int [9..1]; }", map[string]bool{"swap the bounds": false}},
		"flag denied":             {"interface A { @idempotent(false) a() -> int; }", map[string]bool{"remove them": false}},
		"one of two values":       {"interface A { @cost(1) @cost(2) a() -> int; }", map[string]bool{"remove this one": false}},
		"the same twice":          {"interface A { @idempotent @idempotent a() -> int; }", map[string]bool{"remove this one": true}},
		"octal or not":            {"interface A { a(n: int = 010) -> int; }", map[string]bool{"write 10": false}},
		"hexadecimal":             {"interface A { a(n: int = 0x10) -> int; }", map[string]bool{"write 16": true}},
		"backslash of a pattern":  {`record A { a: string [matching "\d+"]; }`, map[string]bool{`write \\d`: true}},
		"backslash of words":      {`interface A { a(n: string = "\r") -> int; }`, map[string]bool{`write \\r`: false}},
		"another kind":            {"class A { a: int; }", map[string]bool{"write record": false}},
		"keyword misspelt":        {"recrod A { a: int; }", map[string]bool{"write record": true}},
		"paging":                  {"interface A { a() -> list<page<int>>; }", map[string]bool{"write list": false}},
		"either of two":           {"interface A { a(n: int? = 5) -> int; }", map[string]bool{"remove the default": false, "remove the ?": false}},
	}
	for name, test := range tests {
		p := &project.Project{Root: "/nowhere", NoLint: true}
		r, err := p.Check(map[string][]byte{"a.wip": []byte("package a;\n" + test.text + "\n")}, "a.wip")
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]bool{}
		for _, d := range r.Diagnostics {
			for _, f := range d.Fixes {
				got[f.Title] = f.Safe
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s\n%v", name, diff, r.Diagnostics)
		}
	}
}

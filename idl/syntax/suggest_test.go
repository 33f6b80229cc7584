package syntax_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wipagent/wipagent/idl/syntax"
)

// counts returns how often each rule is broken.
func counts(faults []syntax.Diagnostic) map[string]int {
	n := map[string]int{}
	for _, d := range faults {
		n[d.Rule]++
	}
	return n
}

// checkFixes fails unless each fix of a text ends its fault and adds none. It
// returns how many there are.
func checkFixes(t *testing.T, src string) (fixes int) {
	t.Helper()
	_, faults := syntax.Parse("x.wip", []byte(src))
	for _, d := range faults {
		for _, f := range d.Fixes {
			fixes++
			fixed, err := f.Apply([]byte(src))
			if err != nil {
				t.Errorf("%s: the fix %q: %v", d, f.Title, err)
				continue
			}
			_, after := syntax.Parse("x.wip", fixed)
			left, want := counts(after), counts(faults)
			want[d.Rule]--
			if left[d.Rule] > want[d.Rule] || slices.ContainsFunc(slices.Collect(maps.Keys(left)), func(rule string) bool { return left[rule] > want[rule] }) {
				t.Errorf("%s: the fix %q of\n%s\nmakes\n%s\nwith %v, where there was %v", d, f.Title, src, fixed, after, faults)
			}
		}
	}
	return fixes
}

// Each fix ends its fault and adds none.
func TestFixes(t *testing.T) {
	fixes := 0
	for _, m := range slices.Concat(faultyOperations, faultyFields, faultyDeclarations) {
		fixes += checkFixes(t, inPlace(m))
	}
	for _, src := range corpus(t) {
		fixes += checkFixes(t, src)
	}
	if fixes < 60 {
		t.Errorf("found %d fixes", fixes)
	}
}

// Whatever is done to a document, a fix can be made, and it changes something.
func TestFixesOfMutations(t *testing.T) {
	docs := corpus(t)
	for i := range mutations() {
		src := mutate(rand.New(rand.NewPCG(2, uint64(i))), docs)
		_, faults := syntax.Parse("x.wip", []byte(src))
		for _, d := range faults {
			for _, f := range d.Fixes {
				fixed, err := f.Apply([]byte(src))
				if err != nil || string(fixed) == src {
					t.Fatalf("in %q, %s: the fix %q: %v", src, d, f.Title, err)
				}
				for _, e := range f.Edits {
					for _, p := range []syntax.Pos{e.Span.Start, e.Span.End} {
						if p.Line < 1 || p.Col < 1 || p.Offset-(p.Col-1) > 0 && src[p.Offset-p.Col] != '\n' && p.Line > 1 {
							t.Fatalf("in %q, %s: the fix %q edits %+v", src, d, f.Title, e.Span)
						}
					}
				}
			}
		}
	}
}

// A bracket of the wrong kind is replaced, not kept beside the right one.
func TestFixesReplaceBrackets(t *testing.T) {
	for src, want := range map[string]string{
		"package p; interface A { a(b: int [1..5) = 2) -> int; }":  "package p; interface A { a(b: int [1..5] = 2) -> int; }",
		"package p; interface A { a(b: list<int)) -> int; }":       "package p; interface A { a(b: list<int>) -> int; }",
		"package p; interface A { a(b: list<int) -> int; }":        "package p; interface A { a(b: list<int>) -> int; }",
		"package p; interface A { a(b: string [1..5) -> int; }":    "package p; interface A { a(b: string [1..5]) -> int; }",
		"package p; record R { b: string [..5 bytes); c: int; }":   "package p; record R { b: string [..5 bytes]; c: int; }",
		"package p; interface A { a() -> page<int); b() -> int; }": "package p; interface A { a() -> page<int>; b() -> int; }",
	} {
		_, faults := syntax.Parse("x.wip", []byte(src))
		if len(faults) == 0 || len(faults[0].Fixes) == 0 {
			t.Errorf("%s has no fix: %v", src, faults)
			continue
		}
		if fixed, err := faults[0].Fixes[0].Apply([]byte(src)); err != nil || string(fixed) != want {
			t.Errorf("%s becomes %s (%v), want %s", src, fixed, err, want)
		}
	}
}

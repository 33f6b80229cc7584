package syntax_test

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/idl/syntax"
)

// diff is cmp.Diff, which takes its time, for what is mostly equal.
func diff(want, got any) string {
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return cmp.Diff(want, got) + " "
}

// reparsed fails the test if Reparse, after a text without fault, differs from
// Parse.
func reparsed(t *testing.T, old, src string) {
	t.Helper()
	tree, faults := syntax.Parse("x.wip", []byte(old))
	if len(faults) > 0 {
		return
	}
	wantTree, want := syntax.Parse("x.wip", []byte(src))
	gotTree, got := syntax.Reparse(tree, []byte(old), []byte(src))
	if diff := diff(want, got); diff != "" {
		t.Fatalf("faults (-Parse +Reparse):\n%s\nof\n%s\nafter\n%s", diff, src, old)
	}
	if diff := diff(wantTree, gotTree); diff != "" {
		t.Fatalf("tree (-Parse +Reparse):\n%s\nof\n%s\nafter\n%s", diff, src, old)
	}
	again, _ := syntax.Parse("x.wip", []byte(old))
	if diff := diff(again, tree); diff != "" {
		t.Fatalf("the old tree was changed (-before +after):\n%s", diff)
	}
}

// A tree does not depend on whether a text was read as a whole, whatever
// changed and however broken it is.
func TestReparse(t *testing.T) {
	var valid []string
	for _, doc := range corpus(t) {
		if _, faults := syntax.Parse("x.wip", []byte(doc)); len(faults) == 0 {
			valid = append(valid, doc)
		}
	}
	long := string(wipOperations())
	_, rest, _ := strings.Cut(long, "\n\n")
	parts := strings.SplitAfter(rest, "}\n")
	r := rand.New(rand.NewPCG(3, 5))
	for range mutations() / 2 {
		var b strings.Builder
		b.WriteString("package a;\nimport \"b.wip\";\n")
		for range 3 + r.IntN(6) {
			b.WriteString(parts[r.IntN(len(parts)-1)])
			if r.IntN(4) == 0 {
				b.WriteString([]string{"enum E { a, b } ", "// a comment\n", "record R { } /* and */ ", "\n\n/// Its doc.\n@deprecated(\"no\") record D { x: list<int [1..2]>; }"}[r.IntN(4)])
			}
		}
		old := b.String()
		reparsed(t, old, mutate(r, []string{old}))
	}
	for range mutations() / 4 {
		old := valid[r.IntN(len(valid))]
		reparsed(t, old, mutate(r, []string{old}))
	}
	for range mutations() / 4 {
		reparsed(t, valid[r.IntN(len(valid))], valid[r.IntN(len(valid))])
	}
}

func TestReparseKeepsNodes(t *testing.T) {
	old := wipOperations()
	tree, _ := syntax.Parse("x.wip", old)
	at := strings.Index(string(old), "record Avatar100 {") + len("record Avatar100 {\n")
	for _, put := range []string{"/// ", " x: ", "}", "{", "(", "} record Y {\n", "/* */", "\"", "@cost("} {
		src := string(old[:at]) + put + string(old[at:])
		now, _ := syntax.Reparse(tree, old, []byte(src))
		if now.Decls[0] != tree.Decls[0] {
			t.Errorf("after %q was put in: found a tree that was made anew", put)
		}
	}
}

// BenchmarkReparse is a document after one change, sound and broken.
func BenchmarkReparse(b *testing.B) {
	old := wipOperations()
	tree, _ := syntax.Parse("x.wip", old)
	at := strings.Index(string(old), "record Avatar100 {") + len("record Avatar100 {")
	for _, bench := range []struct{ name, put string }{{"sound", " x: int; "}, {"broken", " x: "}} {
		src := []byte(string(old[:at]) + bench.put + string(old[at:]))
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				syntax.Reparse(tree, old, src)
			}
		})
	}
}

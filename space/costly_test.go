package space_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/wipagent/wipagent/space"
	"github.com/wipagent/wipagent/space/wip"
)

// TestCostlyTrees gives trees whose lists of children are one list, so that they
// hold far more entries than they take memory, and documents that are more work
// the more they import: what a look costs is bounded, and the operator is told.
func TestCostlyTrees(t *testing.T) {
	if testing.Short() {
		t.Skip("one thing at a time, at length: nothing for the race detector")
	}
	shared := make([]wip.Tree, 100_000)
	wide := branch(folder("/", ""))
	for i := range 4000 {
		b := branch(folder(fmt.Sprintf("/e%d", i), ""))
		b.Children = shared
		wide.Children = append(wide.Children, b)
	}
	circle := branch(folder("/", ""), branch(folder("/a", "")))
	circle.Children[0].Children = circle.Children
	importing := branch(folder("/", ""))
	documents := map[string]string{}
	for i := range 400 {
		name := fmt.Sprintf("d%d", i)
		importing.Children = append(importing.Children, branch(object("/"+name, "", name, "I"+name)))
		text := "package " + name + ";\n"
		for j := i + 1; j < min(i+16, 400); j++ {
			text += fmt.Sprintf("import \"d%d\";\n", j)
		}
		text += "interface I" + name + " { x() -> int; }\n"
		documents[name] = text + strings.Repeat("// and so on\n", 1000)
	}
	huge := branch(folder("/", ""), branch(object("/a", "", "huge", "I")))
	documents["huge"] = strings.Repeat("x", 64<<20)
	for _, test := range []struct {
		name, fault string
		tree        wip.Tree
		most        uint64 // MiB
	}{
		{"one list many times", "the tree is larger than", wide, 64},
		{"a tree in itself", "does not lie below the entry that holds it", circle, 8},
		{"documents that import one another", "with all that they import are larger than", importing, 512},
		{"a document of many MiB", "larger than 262144 bytes", huge, 80}, // which the Host's answer is itself
	} {
		t.Run(test.name, func(t *testing.T) {
			l := &liar{tree: test.tree}
			l.documents = documents
			s := space.New(nil)
			mount(t, s, "/m", l, nil)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := s.Refresh(t.Context(), wip.Caller{}, "/m")
			runtime.ReadMemStats(&after)
			var e *space.Error
			if !errors.As(err, &e) || e.Mount != "/m" || !strings.Contains(err.Error(), test.fault) {
				t.Errorf("Refresh = %v, expected an error of the mount with %q", err, test.fault)
			}
			if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > test.most {
				t.Errorf("it took %d MiB, expected at most %d", took, test.most)
			}
		})
	}
}

// TestNoticesQuoteNothing has a Host put a word into all that it says: what an
// operator's log may have of the trouble names mount and rule without it.
func TestNoticesQuoteNothing(t *testing.T) {
	for name, l := range map[string]*liar{
		"a failure":  {err: &wip.Failure{Class: wip.Internal, Message: "SECRET", Err: errors.New("SECRET")}},
		"a class":    {err: &wip.Failure{Class: "SECRET"}},
		"an error":   {err: errors.New("SECRET")},
		"a panic":    {panic: true},
		"a path":     {tree: branch(folder("/", ""), branch(folder("/SECRET/../x", "")))},
		"a document": {tree: branch(folder("/", ""), branch(object("/a", "", "SECRET", "SECRET")))},
		"a tag":      {tree: branch(wip.Entry{Path: "/", Tag: strings.Repeat("SECRET", 100)})},
	} {
		t.Run(name, func(t *testing.T) {
			l.documents = map[string]string{"SECRET": "package SECRET; interface SECRET { SECRET() -> SECRET; } SECRET"}
			s := space.New(nil)
			mount(t, s, "/m", l, nil)
			err := s.Refresh(context.Background(), wip.Caller{}, "/m")
			var e *space.Error
			if !errors.As(err, &e) {
				t.Fatalf("Refresh = %v, expected an error of the mount", err)
			}
			if said := e.Notice(); !strings.HasPrefix(said, "mount /m: ") || strings.Contains(said, "SECRET") {
				t.Errorf("the notice is %q", said)
			}
		})
	}
}

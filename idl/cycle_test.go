package idl_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/syntax"
)

// Cycles that have a document in common are one fault; none of their documents
// is compiled, and none that imports one.
func TestImportCycles(t *testing.T) {
	many := map[string]string{"user": "d0 free", "free": ""}
	for i := range 100 {
		for j := range 100 {
			if i != j {
				many[fmt.Sprint("d", i)] += fmt.Sprintf("d%d ", j)
			}
		}
	}
	ring := map[string]string{}
	for i := range 30 {
		ring[fmt.Sprintf("r%02d", i)] = fmt.Sprintf("r%02d", (i+1)%30)
	}
	for _, c := range []struct {
		name      string
		imports   map[string]string
		faults    []string
		documents []string
	}{
		{"one", map[string]string{"a": "b", "b": "a", "c": ""}, []string{"b.wip:2 import-cycle"}, []string{"c.wip"}},
		{"two apart", map[string]string{"a": "b c", "b": "a", "c": "d", "d": "c"}, []string{"b.wip:2 import-cycle", "d.wip:2 import-cycle"}, nil},
		{"two on one document", map[string]string{"a": "b c", "b": "a", "c": "a"}, []string{"b.wip:2 import-cycle"}, nil},
		{"itself too", map[string]string{"a": "a b", "b": "a b"}, []string{"a.wip:2 import-cycle", "b.wip:3 import-cycle"}, nil},
		{"two on one way", map[string]string{"a": "b", "b": "a c", "c": "d", "d": "c a"}, []string{"b.wip:2 import-cycle", "d.wip:2 import-cycle"}, nil},
		{"longer than imports may be deep", ring, []string{"r29.wip:2 import-cycle"}, nil},
		{"all of a hundred", many, []string{"d1.wip:2 import-cycle"}, []string{"free.wip"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			docs := map[string]string{}
			for name, imports := range c.imports {
				text := "package p;\n"
				for path := range strings.FieldsSeq(imports) {
					text += fmt.Sprintf("import \"%s.wip\";\n", path)
				}
				docs[name+".wip"] = text
			}
			names := slices.Sorted(maps.Keys(docs))
			got := idl.Check(idl.Source{Load: func(name string) ([]byte, error) { return []byte(docs[name]), nil }}, names...)
			var faults, documents []string
			for _, d := range got.Faults {
				faults = append(faults, fmt.Sprintf("%s:%d %s", d.Span.File, d.Span.Start.Line, d.Rule))
			}
			for _, d := range got.Documents {
				documents = append(documents, d.Name)
			}
			if diff := cmp.Diff(c.faults, faults); diff != "" {
				t.Errorf("faults (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(c.documents, documents); diff != "" {
				t.Errorf("documents (-want +got)\n%s", diff)
			}
		})
	}
}

// What is told of many cycles says how many there are.
func TestImportCyclesAreCounted(t *testing.T) {
	load := func(name string) ([]byte, error) {
		return []byte("package p;\n" + strings.ReplaceAll(`import "a.wip"; import "b.wip"; import "c.wip";`, fmt.Sprintf("import %q;", name), "")), nil
	}
	_, err := idl.Compile(load, "a.wip")
	list := err.(idl.ErrorList)
	if len(list) != 1 || !strings.HasSuffix(list[0].Hint, "2 more imports close cycles with these documents") {
		t.Errorf("found %v, expected one fault and the number of others", list)
	}
	if list[0].Severity != syntax.Error {
		t.Errorf("found a %s", list[0].Severity)
	}
}

package lsp_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func rules(list []diagnostic) []string {
	names := []string{}
	for _, d := range list {
		names = append(names, d.Code)
	}
	return names
}

func TestDiagnosticsAsYouType(t *testing.T) {
	e := newEditor(t, nil)
	e.open("a.wip", "package a;\n\n/// Where it is.\nrecord A { x: in; }\n")
	got := e.diagnostics("a.wip", 1)
	if diff := cmp.Diff([]string{"unknown-type"}, rules(got)); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	if want := (span{position{3, 14}, position{3, 16}}); got[0].Range != want {
		t.Errorf("got range %v, want %v", got[0].Range, want)
	}
	e.change("a.wip", 2, object{"range": span{position{3, 16}, position{3, 16}}, "text": "t"})
	if got := e.diagnostics("a.wip", 2); len(got) != 0 {
		t.Errorf("got %v, want none", got)
	}
}

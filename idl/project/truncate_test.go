package project_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/wipagent/wipagent/idl/project"
	"github.com/wipagent/wipagent/idl/syntax"
)

// However much of a valid document is there, a check ends, blames no other
// document, and keeps the declarations that are whole.
func TestTruncation(t *testing.T) {
	paths, err := filepath.Glob("../../interfaces/*.wip")
	if err != nil || len(paths) == 0 {
		t.Fatalf("found no documents: %v", err)
	}
	paths = append(paths, "../../adapter/verbs.wip", "../syntax/testdata/all.wip")
	overlay := map[string][]byte{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		overlay[filepath.Base(path)] = text
	}
	p := &project.Project{Root: "/nowhere"}
	step := 5
	if os.Getenv("WIPAGENT_MUTATIONS") != "" { // the long campaign
		step = 1
	}
	for name, text := range overlay {
		whole, _ := syntax.Parse(name, text)
		for cut := len(text) % step; cut < len(text); cut += step {
			overlay[name] = text[:cut]
			r, err := p.Check(overlay, name)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range r.Diagnostics {
				if d.Span.File != name || d.Span.End.Offset > cut {
					t.Fatalf("in the first %d bytes of %s: %s", cut, name, d)
				}
			}
			decls := r.Files[name].Decls
			for i, want := range whole.Decls {
				if end := endOf(want); end > cut {
					break
				}
				if i >= len(decls) || decls[i].DeclName() != want.DeclName() || endOf(decls[i]) != endOf(want) {
					t.Fatalf("the first %d bytes of %s have lost %s", cut, name, want.DeclName().Name)
				}
			}
		}
		overlay[name] = text
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

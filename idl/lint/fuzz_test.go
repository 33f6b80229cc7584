package lint_test

import (
	"testing"
	"testing/fstest"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/lint"
	"github.com/wipagent/wipagent/idl/syntax"
)

// FuzzLint lints any sound document: each finding has a rule, words, and a
// place in the text.
func FuzzLint(f *testing.F) {
	for _, file := range goldenDocuments(f) {
		f.Add(file.Data)
	}
	f.Add([]byte("package _;\ninterface _ { _(_: float, __A: duration) -> list<_9>; }\nrecord _9 { _: float; }\nenum __ { _, A1 }"))
	known := map[string]bool{}
	for _, r := range lint.Rules() {
		known[r.ID] = true
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		const name = "a.wip"
		docs, err := idl.Compile(idl.FSLoader(fstest.MapFS{name: &fstest.MapFile{Data: text}}), name)
		tree, _ := syntax.Parse(name, text)
		found := lint.Lint(docs, []*syntax.File{tree}, nil)
		if err != nil && len(found) > 0 {
			t.Fatalf("found %v in a document with faults", found[0])
		}
		last := 0
		for _, d := range found {
			s := d.Span
			if !known[d.Rule] || d.Message == "" || d.Severity != syntax.Warning ||
				s.File != name || s.Start.Offset < last || s.End.Offset <= s.Start.Offset || s.End.Offset > len(text) {
				t.Fatalf("found %+v behind offset %d", d, last)
			}
			last = s.Start.Offset
			for _, fix := range d.Fixes {
				for _, e := range fix.Edits {
					if e.Span != s || e.Text == "" {
						t.Fatalf("found %+v", d)
					}
				}
			}
		}
	})
}

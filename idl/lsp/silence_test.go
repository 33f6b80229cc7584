package lsp_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/wipagent/wipagent/idl/project"
	"github.com/wipagent/wipagent/idl/syntax"
)

// warnings returns how often each rule is broken by a document.
func warnings(t *testing.T, text string) map[string]int {
	t.Helper()
	p := &project.Project{Root: t.TempDir()}
	r, err := p.Check(map[string][]byte{"a.wip": []byte(text), "shared.wip": []byte(shared)}, "a.wip")
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, d := range r.Diagnostics {
		count[d.Rule]++
	}
	return count
}

// silencing returns a document after the action that silences the warning at
// the start of a range; the empty text if there is none.
func (e *editor) silencing(name, text string, d diagnostic) string {
	e.t.Helper()
	var got []codeAction
	e.call("textDocument/codeAction", object{"textDocument": object{"uri": e.uri(name)}, "range": span{d.Range.Start, d.Range.Start},
		"context": object{"diagnostics": []any{}}}, &got)
	for _, a := range got {
		if strings.HasPrefix(a.Title, "silence "+d.Code+" ") {
			return apply(text, a.Edit.Changes[e.uri(name)])
		}
	}
	return ""
}

// TestSilence silences every warning of many documents, one at a time, with a
// reason and without, as it is written and formatted.
func TestSilence(t *testing.T) {
	texts := []string{longDocument(60), "package A; record  d { x:int;y_m:int; } enum E { e_a, e_b }\n@read_only @audience(local_operator) interface I { go(b_ms:int, c:list<int>)->d; }\n",
		"/* before */ package /* within */ BadCase;\r\n\r\nrecord D {\r\n\tx: int;\r\n}\r\n"}
	paths, _ := filepath.Glob("../lint/testdata/*.txtar")
	for _, path := range paths {
		a, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range a.Files {
			if strings.HasSuffix(f.Name, ".wip") {
				texts = append(texts, string(f.Data))
			}
		}
	}
	e := newEditor(t, map[string]string{"shared.wip": shared})
	silenced := 0
	for i, text := range texts {
		before := warnings(t, text)
		if i == 0 {
			e.open("a.wip", text)
		} else {
			e.replace("a.wip", i+1, text)
		}
		for _, d := range e.diagnostics("a.wip", i+1) {
			after := e.silencing("a.wip", text, d)
			if d.Severity != 2 || slices.Contains([]string{project.RuleBadSuppression, project.RuleUnusedSuppression}, d.Code) {
				if after != "" {
					t.Errorf("%s can be silenced", d.Code)
				}
				continue
			}
			comment := "//wip:ignore " + d.Code
			if after == "" || strings.Count(after, comment) != strings.Count(text, comment)+1 {
				t.Errorf("%s at %v: got %q, want a comment", d.Code, d.Range, after)
				continue
			}
			want := before[d.Code]
			if got := warnings(t, after); got[d.Code] != want || got[project.RuleBadSuppression] != before[project.RuleBadSuppression]+1 {
				t.Errorf("%s without a reason: got %v, want %v and bad-suppression in\n%s", d.Code, got, before, after)
			}
			line := strings.Index(after, comment+"\n")
			reasoned := after[:line] + comment + " for a test" + after[line+len(comment):]
			if formatted, faults := syntax.Format("a.wip", []byte(reasoned)); len(faults) > 0 {
				t.Errorf("%s: got %v of\n%s", d.Code, faults, reasoned)
			} else if got := warnings(t, string(formatted)); got[d.Code] >= want {
				t.Errorf("%s, formatted: got %v, want fewer than %d of\n%s", d.Code, got, want, formatted)
			}
			got := warnings(t, reasoned)
			if got[d.Code] >= want {
				t.Errorf("%s: got %v, want fewer than %d of\n%s", d.Code, got, want, reasoned)
			}
			for rule, n := range got {
				if n > before[rule] {
					t.Errorf("%s: got %d of %s, want %d in\n%s", d.Code, n, rule, before[rule], reasoned)
				}
			}
			silenced++
		}
	}
	if silenced < 100 {
		t.Errorf("silenced %d warnings, want more", silenced)
	}
}

// TestSilenceOnce fails if a warning whose comment has no reason yet is given
// another.
func TestSilenceOnce(t *testing.T) {
	e := newEditor(t, nil)
	text := "package a;\n\n//wip:ignore doc-missing\nrecord A { x: int; }\n"
	e.open("a.wip", text)
	for _, d := range e.diagnostics("a.wip", 1) {
		if d.Code == "doc-missing" && d.Range.Start.Line == 3 && e.silencing("a.wip", text, d) != "" {
			t.Errorf("got a second comment for %+v", d)
		}
	}
}

// TestHoverExplains hovers over what is wrong.
func TestHoverExplains(t *testing.T) {
	e := newEditor(t, nil)
	text := "package a;\n\nrecord Thing { x: flaot; y: int }\n/// D.\nrecord Door { at: Thing; }\n"
	e.open("a.wip", text)
	e.diagnostics("a.wip", 1)
	tests := []struct{ before, name, rule, page string }{
		{"x: fl", "", "unknown-type", "A type's name is neither built in"},
		{"y: int", "int", "missing-semicolon", "also the last one of a block. The finding is where"},
		{"at: Th", "record Thing {", "", ""},
	}
	for _, tt := range tests {
		var got struct {
			Contents struct{ Value string } `json:"contents"`
		}
		e.call("textDocument/hover", e.at("a.wip", text, tt.before), &got)
		if !strings.Contains(got.Contents.Value, tt.name) || !strings.Contains(got.Contents.Value, tt.page) ||
			strings.Contains(got.Contents.Value, "`wipagent idl explain "+tt.rule+"`") != (tt.rule != "") {
			t.Errorf("at %q: got %q", tt.before, got.Contents.Value)
		}
	}
	text = "package a;\n\nrecord Thing { x: int; }\n"
	e.replace("a.wip", 2, text)
	e.diagnostics("a.wip", 2)
	var got struct {
		Contents struct{ Value string } `json:"contents"`
	}
	e.call("textDocument/hover", e.at("a.wip", text, "record Th"), &got)
	if v := got.Contents.Value; !strings.Contains(v, "record Thing {\n  x: int;\n}") || !strings.Contains(v, "`doc-missing`: Something has no doc comment") {
		t.Errorf("got %q, want the record and the warning", v)
	}
}

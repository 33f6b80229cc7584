package lsp_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestUnsavedDocuments works on documents that are no files, in a folder and
// without one.
func TestUnsavedDocuments(t *testing.T) {
	const text = "package a;\n/// Goes.\n@read_only @audience(local_operator)\ninterface A {\n  /// Goes.\n  go(x:  B = on) -> C;\n}\n/// B.\nenum B { on, off }\n/// C.\nrecord C { x: nt; }\n"
	hostile := t.TempDir()
	if err := os.WriteFile(filepath.Join(hostile, "wip.toml"), []byte("imports = 5\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(hostile) // where the server was started says nothing of a document
	for name, start := range map[string]func() *editor{
		"no folder": func() *editor { return startEditor(t, "", object{}) },
		"folder":    func() *editor { return newEditor(t, map[string]string{"shared.wip": shared}) },
	} {
		e := start()
		for _, uri := range []string{"untitled:Untitled-1", "untitled:/a%20b/x.wip", "untitled:C:\\x.wip", "vscode-vfs://github/o/r/a.wip",
			"git:/x/a.wip?%7B%22ref%22%3A%22~%22%7D", "inmemory://model/1", "notebook-cell:/n#W0", "file://"} {
			t.Run(name+" "+uri, func(t *testing.T) {
				e.open(uri, text)
				if got := e.diagnostics(uri, 1); len(rules(got)) != 1 || got[0].Code != "unknown-type" {
					t.Errorf("got %v, want unknown-type", got)
				}
				var hover struct {
					Contents struct{ Value string } `json:"contents"`
				}
				e.call("textDocument/hover", e.at(uri, text, "x:  B"), &hover)
				if !strings.Contains(hover.Contents.Value, "enum B") {
					t.Errorf("hover: got %q", hover.Contents.Value)
				}
				var at location
				e.call("textDocument/definition", e.at(uri, text, "x:  B"), &at)
				if at.URI != uri || at.Range.Start.Line != 8 {
					t.Errorf("definition: got %+v", at)
				}
				var list struct {
					Items []completionItem `json:"items"`
				}
				e.call("textDocument/completion", e.at(uri, text, "x:  B = "), &list)
				if len(list.Items) != 2 {
					t.Errorf("completion: got %+v", list.Items)
				}
				var edits []edit
				e.call("textDocument/formatting", object{"textDocument": object{"uri": uri}}, &edits)
				if got := apply(text, edits); !strings.Contains(got, "go(x: B = on)") {
					t.Errorf("formatting: got %q", got)
				}
				if got := e.actions(uri, text, "x: n"); len(got) == 0 {
					t.Error("got no code action")
				}
				e.replace(uri, 2, strings.Replace(text, "nt;", "int;", 1))
				if got := rules(e.diagnostics(uri, 2)); len(got) > 0 {
					t.Errorf("put right: got %v, want none", got)
				}
			})
		}
		e.mu.Lock()
		if len(e.told) > 0 {
			t.Errorf("%s: got the messages %q, want none", name, e.told)
		}
		e.mu.Unlock()
	}
}

// TestUnsavedDocumentsAreApart fails if one document is taken for another, or
// offered for import.
func TestUnsavedDocumentsAreApart(t *testing.T) {
	e := newEditor(t, map[string]string{"shared.wip": shared})
	e.open("untitled:a/b", "package a;\nrecord Here { x: int; }\n")
	e.open("untitled:a_b", "package b;\nrecord There { x: nt; }\n")
	text := "package c;\nimport \"\";\nrecord C { p: Pla; }\n"
	e.open("untitled:c", text)
	if got := rules(e.diagnostics("untitled:a/b", 1)); len(got) > 0 {
		t.Errorf("got %v, want none", got)
	}
	for before, want := range map[string]string{`import "`: "shared.wip", "p: ": "Direction Place"} {
		var list struct {
			Items []completionItem `json:"items"`
		}
		e.call("textDocument/completion", e.at("untitled:c", text, before), &list)
		var got []string
		for _, item := range list.Items {
			if item.Detail != "built-in type" && item.Label != "C" {
				got = append(got, item.Label)
			}
		}
		if strings.Join(got, " ") != want && strings.Join(got, " ") != "Place Direction" {
			t.Errorf("at %q: got %q, want %q", before, got, want)
		}
	}
}

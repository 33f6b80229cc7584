package lsp_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// write changes a file, and tells the server.
func (e *editor) write(name, text string) {
	e.t.Helper()
	if err := os.WriteFile(filepath.Join(e.dir, name), []byte(text), 0o644); err != nil {
		e.t.Fatal(err)
	}
	e.tell("workspace/didChangeWatchedFiles", object{"changes": []any{}})
}

func (e *editor) close(name string) {
	e.tell("textDocument/didClose", object{"textDocument": object{"uri": e.uri(name)}})
}

// shows waits until the errors of a document are those of the rules, with or
// without its version.
func (e *editor) shows(name string, want ...string) published {
	e.t.Helper()
	return e.wait(name, func(p published) bool { return cmp.Equal(append([]string{}, want...), rules(p.Diagnostics)) })
}

// TestFaultsOfClosedDocuments breaks a document that is not open and looks at
// where that is shown.
func TestFaultsOfClosedDocuments(t *testing.T) {
	broken := strings.Replace(shared, "enum Direction {", "enum Direction 5 {", 1)
	e := newEditor(t, map[string]string{"shared.wip": broken, "middle.wip": "package middle;\nimport \"shared.wip\";\n/// M.\nrecord Middle { at: Place; }\n"})
	e.open("shop.wip", shop)
	if got := rules(e.diagnostics("shop.wip", 1)); len(got) > 0 {
		t.Errorf("where it is imported: got %v, want none", got)
	}
	got := e.shows("shared.wip", "unexpected-token")
	if want := (position{6, 15}); got.Version != nil || got.Diagnostics[0].Range.Start != want {
		t.Errorf("got %+v, want it at %v", got, want)
	}

	// A second document that imports it through another, and takes no notice
	// of it when it is closed.
	e.open("far.wip", "package far;\nimport \"middle.wip\";\n/// F.\nrecord Far { m: Middle; }\n")
	if got := rules(e.diagnostics("far.wip", 1)); len(got) > 0 {
		t.Errorf("where it is imported through another: got %v, want none", got)
	}
	e.close("far.wip")
	e.open("probe.wip", "package probe;\n") // what was published before is now here
	e.diagnostics("probe.wip", 1)
	e.shows("shared.wip", "unexpected-token")

	// Open, it shows its own faults, of its own text.
	e.open("shared.wip", shared)
	e.diagnostics("shared.wip", 1)
	e.shows("shared.wip")
	e.close("shared.wip")
	e.shows("shared.wip", "unexpected-token")

	// Put right on the disk, and broken again, now in its meaning.
	e.write("shared.wip", shared)
	e.shows("shared.wip")
	e.write("shared.wip", strings.Replace(shared, "x: float", "x: flaot", 1))
	e.shows("shared.wip", "unknown-type")
	e.close("shop.wip")
	e.shows("shared.wip") // nothing that is open imports it
}

// TestFaultsOfAClosedDocumentByAnotherName opens a document under a URI that
// is spelt otherwise than the server does.
func TestFaultsOfAClosedDocumentByAnotherName(t *testing.T) {
	e := newEditor(t, map[string]string{"shared.wip": "package shared;\nrecord Place { x: flaot; }\n"})
	e.open("shop.wip", "package shop;\nimport \"shared.wip\";\n")
	e.shows("shared.wip", "unknown-type")
	other := strings.Replace(e.uri("shared.wip"), "shared", "%73hared", 1)
	e.open(other, "package shared;\nrecord Place { x: flaot; }\n")
	e.shows(other, "unknown-type")
	e.shows("shared.wip")
	e.close(other)
	e.shows(other)
	e.shows("shared.wip", "unknown-type")
}

// TestALostDeclarationIsMissedNowhere breaks an import in ways that lose what
// it declares.
func TestALostDeclarationIsMissedNowhere(t *testing.T) {
	e := newEditor(t, map[string]string{"shared.wip": shared})
	e.open("shop.wip", shop)
	version := 1
	for _, change := range [][2]string{{"record Place", "record Pl;ace"}, {"record Place {", "record {"}, {"{ north, east }", "{ nor th, east"},
		{"north", "="}, {"interface Mover", "interface 5"}, {"enum Direction", "= Direction"}, {"/// A place.", "/* A place."}, {"record Place", "record \"Place"}} {
		e.write("shared.wip", strings.Replace(shared, change[0], change[1], 1))
		e.wait("shared.wip", func(p published) bool { return len(rules(p.Diagnostics)) > 0 })
		version++
		e.replace("shop.wip", version, shop)
		if got := rules(e.diagnostics("shop.wip", version)); len(got) > 0 {
			t.Errorf("after %q: got %v, want none", change[1], got)
		}
		e.write("shared.wip", shared)
		e.shows("shared.wip")
	}
}

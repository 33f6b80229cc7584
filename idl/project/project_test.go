package project_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/idl/project"
	"github.com/wipagent/wipagent/idl/syntax"
)

// tree writes files into a new folder and returns its path.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func open(t *testing.T, dir string) *project.Project {
	t.Helper()
	p, err := project.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// found returns "file:line:col rule" of each diagnostic.
func found(t *testing.T, p *project.Project, overlay map[string][]byte, files ...string) []string {
	t.Helper()
	r, err := p.Check(overlay, files...)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, d := range r.Diagnostics {
		list = append(list, d.Span.String()+" "+d.Rule)
	}
	return list
}

const (
	personDoc = "package common;\nrecord Person { id: uuid; }\n"
	authorDoc = "package tracker;\nimport \"common.wip\";\nrecord Author { person: Person; }\n"
)

func TestImportsAreFound(t *testing.T) {
	for _, c := range []struct {
		name   string
		files  map[string]string
		search []string
		check  string
		want   []string
	}{
		{"beside the document", map[string]string{"a/common.wip": personDoc, "a/author.wip": authorDoc}, nil, "a/author.wip", nil},
		{"above the document", map[string]string{"common.wip": personDoc, "a/b/author.wip": authorDoc}, nil, "a/b/author.wip", nil},
		{"the nearest is taken", map[string]string{"common.wip": "package broken", "a/common.wip": personDoc, "a/author.wip": authorDoc}, nil, "a/author.wip", nil},
		{"not below the document", map[string]string{"a/common.wip": personDoc, "author.wip": authorDoc}, nil, "author.wip",
			[]string{"author.wip:2:8 import-not-found"}},
		{"a search path", map[string]string{"lib/common.wip": personDoc, "author.wip": authorDoc}, []string{"lib"}, "author.wip", nil},
		{"a configured path", map[string]string{"wip.toml": `imports = ["x", "lib"]`, "lib/common.wip": personDoc, "a/author.wip": authorDoc}, nil, "a/author.wip", nil},
		{"a configuration looks in the root", map[string]string{"wip.toml": "", "common.wip": personDoc, "a/author.wip": authorDoc}, nil, "a/author.wip", nil},
		{"a configuration does not look beside the document", map[string]string{"wip.toml": "", "a/common.wip": personDoc, "a/author.wip": authorDoc}, nil, "a/author.wip",
			[]string{"a/author.wip:2:8 import-not-found"}},
		{"one document by two names", map[string]string{"wip.toml": `imports = [".", "a"]`, "a/common.wip": personDoc,
			"author.wip": "package t;\nimport \"common.wip\";\nimport \"a/common.wip\";\nrecord A { p: Person; }\n"}, nil, "author.wip",
			[]string{"author.wip:3:8 duplicate-import"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := open(t, tree(t, c.files))
			p.Search = c.search
			p.NoLint = true
			if diff := cmp.Diff(c.want, found(t, p, nil, c.check)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestAFaultIsReportedOnceWhereItIs(t *testing.T) {
	dir := tree(t, map[string]string{
		"common.wip": "package common;\nrecord Person { id: uid; }\n",
		"a.wip":      authorDoc, "b.wip": strings.ReplaceAll(authorDoc, "Author", "Reader"),
		"c/d.wip": "package d;\nimport \"a.wip\";\nrecord D { a: Athor; }\n",
	})
	want := []string{"c/d.wip:3:15 unknown-type", "common.wip:2:21 unknown-type"}
	for _, files := range [][]string{nil, {"a.wip", "b.wip", "c/d.wip"}, {"c/d.wip", "./a.wip", "c/../a.wip"}, {filepath.Join(dir, "c", "d.wip"), "c/d.wip"}} {
		if diff := cmp.Diff(want, found(t, open(t, dir), nil, files...)); diff != "" {
			t.Errorf("of %q (-want +got)\n%s", files, diff)
		}
	}
}

func TestOpen(t *testing.T) {
	dir := tree(t, map[string]string{"wip.toml": "imports = [\"x\"]\n", "a/b/c.wip": ""})
	p := open(t, filepath.Join(dir, "a", "b"))
	if p.Root != dir || len(p.Config.Imports) != 1 {
		t.Errorf("opened %+v", p)
	}
	for _, c := range []struct{ toml, want string }{
		{"imports = 5", "wip.toml:1:1: found 5 for imports, expected a list of strings"},
		{"\nimports = [\"a\", 5]", "wip.toml:2:1: found 5 in imports, expected a list of strings"},
		{"lint = \"strict\"", `wip.toml:1:1: found the string "strict" for lint, expected a table`},
		{"[limits]\n  documents = \"many\"", `wip.toml:2:3: found the string "many" for limits.documents, expected a whole number`},
		{"[limits]\ndocuments = 1.5", "wip.toml:2:1: found 1.5 for limits.documents, expected a whole number"},
		{"[limits]\ndocument = 5", `wip.toml:2:1: found unknown key "limits.document"; did you mean "documents"?`},
		{"[lints]\nmax_doc = 5", `wip.toml:1:2: found unknown key "lints"; did you mean "lint" or "limits"?`},
		{"documents = 5", `wip.toml:1:1: found unknown key "documents"; it stands in the table [limits]`},
		{"zzz = 5", `wip.toml:1:1: found unknown key "zzz", expected one of imports, limits, lint`},
		{"[lint]\nlanguages = \"go\"", `wip.toml:2:1: found the string "go" for lint.languages, expected a list of strings`},
		{"[lint]\nlanguages = [\"cobol\"]", `wip.toml:2:1: found "cobol" in lint.languages`},
		{"[lint.rules]\n\ndoc-missing = true", `wip.toml:3:1: found true for rule "doc-missing", expected off, warning or error, in quotes`},
		{"[lint.rules]\n\"doc-missing\" = \"fatal\"", `wip.toml:2:1: found level "fatal", expected off, warning or error, for rule "doc-missing"`},
		{"[lint.rules]\nmissing-doc = \"off\"", `wip.toml:2:1: found unknown rule "missing-doc" in lint.rules; did you mean "doc-missing"`},
		{"lint = { rules = { missing-doc = \"off\" } }", `wip.toml:1:1: found unknown rule "missing-doc"`},
		{"a = 1\nb = 2\nc = 3", `wip.toml:1:1: found unknown key "a", expected one of imports, limits, lint (and 2 more)`},
		{"imports = [\"\"\"\nlimit = 5\n\"\"\"]\nlimit = 5", `wip.toml:4:1: found unknown key "limit"; did you mean "limits" or "lint"?`},
		{"imports = [", "wip.toml:1:"},
		{"import = []", `unknown key "import"`},
		{"[limits]\ndocuments = -1", "limits.documents = -1"},
		{"[limits]\nbytes = 99999999999", "limits.bytes"},
		{"[limits]\ndocuments = 0", "wip.toml:2:1: found limits.documents = 0, expected 1 or more"},
		{"limits.bytes = 0", "limits.bytes = 0"},
		{"lint = { min_aliases = 0 }", "lint.min_aliases = 0"},
		{"[lint]\nmax_doc = 5\nmax_sentence = 0x0", "lint.max_sentence = 0"},
		{"[lint]\nmax_page_size = 0", "lint.max_page_size = 0"},
		{"[lint]\nmax_tool_name = -0", "lint.max_tool_name = 0"},
		{`imports = ["/etc"]`, `"/etc"`},
		{"# " + strings.Repeat("x", 70_000), "at most 65536"},
	} {
		_, err := project.Open(tree(t, map[string]string{"wip.toml": c.toml}))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.40q: got the error %v, want %q in it", c.toml, err, c.want)
		}
	}
}

func TestOverlay(t *testing.T) {
	dir := tree(t, map[string]string{"common.wip": personDoc, "author.wip": authorDoc})
	p := open(t, dir)
	p.NoLint = true
	for _, c := range []struct {
		name    string
		overlay map[string]string
		files   []string
		want    []string
	}{
		{"a text in place of a file", map[string]string{"common.wip": "package common;"}, []string{"author.wip"}, []string{"author.wip:3:25 unknown-type"}},
		{"named absolutely", map[string]string{filepath.Join(dir, "author.wip"): "package"}, []string{"author.wip"}, []string{"author.wip:1:8 unexpected-token"}},
		{"a file that is not there", map[string]string{"new.wip": strings.ReplaceAll(authorDoc, "common", "commn")}, []string{"new.wip"}, []string{"new.wip:2:8 import-not-found"}},
		{"an import that is not there", map[string]string{"new.wip": personDoc, "author.wip": strings.ReplaceAll(authorDoc, "common", "new")}, []string{"author.wip"}, nil},
		{"all of the tree", map[string]string{"new.wip": "record A { }"}, nil, []string{"new.wip:1:1 missing-package"}},
		{"a document outside", map[string]string{"/nowhere/x.wip": "package a"}, []string{"/nowhere/x.wip"}, []string{"/nowhere/x.wip:1:10 missing-semicolon"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			overlay := map[string][]byte{}
			for name, text := range c.overlay {
				overlay[name] = []byte(text)
			}
			if diff := cmp.Diff(c.want, found(t, p, overlay, c.files...)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestImportHints(t *testing.T) {
	p := open(t, tree(t, map[string]string{"lib/common.wip": personDoc,
		"a.wip": "package t;\nimport \"lib/comon.wip\";\n"}))
	r, err := p.Check(nil, "a.wip")
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Diagnostics) != 1 || r.Diagnostics[0].Hint != `did you mean "lib/common.wip"?` {
		t.Errorf("found %+v", r.Diagnostics)
	}
}

// A document is not asked to import itself, by whatever path.
func TestImportHintsAreOfOthers(t *testing.T) {
	p := open(t, tree(t, map[string]string{"only/color.wip": "package t;\nimport \"colors.wip\";\n"}))
	r, err := p.Check(nil, "only/color.wip")
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Diagnostics) != 1 || r.Diagnostics[0].Rule != "import-not-found" || r.Diagnostics[0].Hint != "" || r.Diagnostics[0].Fixes != nil {
		t.Errorf("found %+v", r.Diagnostics)
	}
}

func TestResult(t *testing.T) {
	p := open(t, tree(t, map[string]string{"common.wip": personDoc, "author.wip": authorDoc, "bad.wip": "package bad"}))
	r, err := p.Check(nil, "author.wip", "bad.wip", "gone.wip")
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Documents) != 1 || r.Documents[0].Name != "author.wip" {
		t.Errorf("returned the documents %v", r.Documents)
	}
	for _, name := range []string{"common.wip", "author.wip", "bad.wip"} {
		if r.Files[name] == nil || r.Files[name].Name != name {
			t.Errorf("returned no tree of %s", name)
		}
		if text, err := r.Source(name); err != nil || len(text) == 0 {
			t.Errorf("returned no text of %s: %v", name, err)
		}
	}
	if len(r.Files) != 3 || !r.Failed() {
		t.Errorf("returned %d trees, failed %t", len(r.Files), r.Failed())
	}
	if _, err := r.Source("gone.wip"); !os.IsNotExist(err) {
		t.Errorf("returned the error %v", err)
	}
	var gone []syntax.Diagnostic
	for _, d := range r.Diagnostics {
		if d.Span.File == "gone.wip" {
			gone = append(gone, d)
		}
	}
	if len(gone) != 1 || gone[0].Rule != "document-not-found" {
		t.Errorf("found %v", gone)
	}
}

func TestLimits(t *testing.T) {
	dir := tree(t, map[string]string{"wip.toml": "[limits]\ndocuments = 2\nbytes = 100\n", "a.wip": "package a;", "b.wip": "package b;"})
	if got := found(t, open(t, dir), nil); got != nil {
		t.Errorf("found %v", got)
	}
	if err := os.WriteFile(filepath.Join(dir, "c.wip"), []byte("package c; // "+strings.Repeat("x", 100)), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := open(t, dir).Check(nil); err == nil || !strings.Contains(err.Error(), "more than 2 documents") {
		t.Errorf("got the error %v", err)
	}
	if got := found(t, open(t, dir), nil, "c.wip"); len(got) != 1 || !strings.HasSuffix(got[0], "import-limit") {
		t.Errorf("found %v", got)
	}
}

// TestUnread tells documents that cannot be read from those that are wrong.
func TestUnread(t *testing.T) {
	dir := tree(t, map[string]string{
		"a.wip": "package a;\nimport \"b.wip\";\n", "wrong.wip": "pakcage", "c/d.wip": "package d;",
		"large.wip": strings.Repeat("//\n", 4*syntax.MaxSource/3+1),
	})
	if err := os.Symlink("nowhere.wip", filepath.Join(dir, "dangling.wip")); err != nil {
		t.Skip(err)
	}
	r, err := open(t, dir).Check(nil, "a.wip", "wrong.wip", "large.wip", "dangling.wip", "c", "gone.wip", "c/d.wip")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"c", "dangling.wip", "gone.wip"}, r.Unread); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

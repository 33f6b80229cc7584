package project_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/project"
	"github.com/wipagent/wipagent/idl/syntax"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The archives of testdata/broken hold documents with mistakes and "found":
// what a careful reader would say of a.wip and of what it imports.
func brokenArchives(t *testing.T) map[string]*txtar.Archive {
	t.Helper()
	paths, err := filepath.Glob("testdata/broken/*.txtar")
	if err != nil || len(paths) < 150 {
		t.Fatalf("found %d broken documents: %v", len(paths), err)
	}
	archives := map[string]*txtar.Archive{}
	for _, path := range paths {
		a, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		archives[strings.TrimSuffix(filepath.Base(path), ".txtar")] = a
	}
	return archives
}

// checkArchive checks the a.wip of an archive, without lint.
func checkArchive(t *testing.T, a *txtar.Archive) *project.Result {
	t.Helper()
	return checkFiles(t, documentsOf(a))
}

func documentsOf(a *txtar.Archive) map[string][]byte {
	files := map[string][]byte{}
	for _, f := range a.Files {
		if f.Name != "found" {
			files[f.Name] = f.Data
		}
	}
	return files
}

func checkFiles(t *testing.T, files map[string][]byte) *project.Result {
	t.Helper()
	p := &project.Project{Root: "/nowhere", NoLint: true}
	r, err := p.Check(files, "a.wip")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestBrokenDocuments(t *testing.T) {
	covered := map[string]bool{}
	for name, a := range brokenArchives(t) {
		r := checkArchive(t, a)
		var b strings.Builder
		render := idl.Renderer{Source: r.Source}
		if err := render.Render(&b, r.Diagnostics); err != nil {
			t.Fatal(err)
		}
		for _, d := range r.Diagnostics {
			covered[d.Rule] = true
		}
		if len(r.Diagnostics) == 0 {
			t.Errorf("%s: nothing is wrong", name)
		}
		last := &a.Files[len(a.Files)-1]
		if *update {
			if last.Name != "found" {
				a.Files = append(a.Files, txtar.File{Name: "found"})
				last = &a.Files[len(a.Files)-1]
			}
			last.Data = []byte(b.String())
			if err := os.WriteFile(filepath.Join("testdata/broken", name+".txtar"), txtar.Format(a), 0o666); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if diff := cmp.Diff(string(last.Data), b.String()); last.Name != "found" || diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
	for rule, files := range hugeDocuments() {
		r := checkFiles(t, files)
		if len(r.Diagnostics) == 0 || r.Diagnostics[len(r.Diagnostics)-1].Rule != rule {
			t.Errorf("the document that breaks %s has the faults %v", rule, r.Diagnostics)
		}
		covered[rule] = true
	}
	for _, rule := range idl.Rules() {
		if !covered[rule.ID] {
			t.Errorf("no document breaks %s", rule.ID)
		}
	}
}

// hugeDocuments are those that no golden file would hold, by the rule that
// they break.
func hugeDocuments() map[string]map[string][]byte {
	deep := map[string][]byte{"a.wip": []byte("package a;\nimport \"d0.wip\";\n")}
	for i := range 18 {
		deep[fmt.Sprintf("d%d.wip", i)] = fmt.Appendf(nil, "package d%d;\nimport \"d%d.wip\";\n", i, i+1)
	}
	deep["d18.wip"] = []byte("package last;\n")
	return map[string]map[string][]byte{
		syntax.RuleTooLarge:      {"a.wip": []byte("package a;" + strings.Repeat(" ", syntax.MaxSource))},
		syntax.RuleTooManyFaults: {"a.wip": []byte("package a;\nrecord A {\n" + strings.Repeat("  a: ;\n", 2*syntax.MaxDiagnostics) + "}\n")},
		syntax.RuleInvalidUTF8:   {"a.wip": []byte("package a;\n// caf\xe9\n")},
		"import-limit":           deep,
		"document-not-found":     nil,
	}
}

// counts returns how often each rule is broken in each document.
func counts(list []syntax.Diagnostic) map[string]int {
	n := map[string]int{}
	for _, d := range list {
		n[d.Span.File+" "+d.Rule]++
	}
	return n
}

// Each fix ends its fault, and adds none.
func TestFixesOfBrokenDocuments(t *testing.T) {
	fixes, faults := 0, 0
	for name, a := range brokenArchives(t) {
		before := checkArchive(t, a)
		faults += len(before.Diagnostics)
		for _, d := range before.Diagnostics {
			for _, f := range d.Fixes {
				fixes++
				text, err := before.Source(d.Span.File)
				if err != nil {
					t.Fatal(err)
				}
				fixed, err := f.Apply(text)
				if err != nil {
					t.Errorf("%s: %s: the fix %q: %v", name, d, f.Title, err)
					continue
				}
				files := documentsOf(a)
				files[d.Span.File] = fixed
				after := checkFiles(t, files)
				want := counts(before.Diagnostics)
				want[d.Span.File+" "+d.Rule]--
				for key, n := range counts(after.Diagnostics) {
					if n > want[key] {
						t.Errorf("%s: %s: the fix %q makes\n%s\nwhich has %v", name, d, f.Title, fixed, after.Diagnostics)
						break
					}
				}
			}
		}
	}
	t.Logf("%d faults have %d fixes", faults, fixes)
	if fixes < 200 {
		t.Errorf("found only %d fixes of %d faults", fixes, faults)
	}
}

// A fault is reported once, and where it is.
func TestBrokenDocumentsAreToldOnce(t *testing.T) {
	for name, a := range brokenArchives(t) {
		r := checkArchive(t, a)
		seen := map[string]bool{}
		for _, d := range r.Diagnostics {
			key := fmt.Sprint(d.Span, d.Span.End, d.Rule)
			if seen[key] {
				t.Errorf("%s: reported twice: %s", name, d)
			}
			seen[key] = true
			text, err := r.Source(d.Span.File)
			if err != nil || d.Span.Start.Line < 1 || d.Span.End.Offset > len(text) {
				t.Errorf("%s: %s is not in the text", name, d)
			}
		}
		if !slices.IsSortedFunc(r.Diagnostics, func(a, b syntax.Diagnostic) int {
			if c := strings.Compare(a.Span.File, b.Span.File); c != 0 {
				return c
			}
			return a.Span.Start.Offset - b.Span.Start.Offset
		}) {
			t.Errorf("%s: not in order: %v", name, r.Diagnostics)
		}
	}
}

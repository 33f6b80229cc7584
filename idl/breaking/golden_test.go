package breaking_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/breaking"
)

// Each archive of testdata is named after a rule, or has another name. It
// holds documents in the folders broken/old and broken/new, what Compare says
// of them as "changes", and the same of a near miss in harmless, of which it
// says nothing.
func TestGolden(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	rules := map[string]bool{}
	for _, r := range breaking.Rules() {
		rules[r.ID] = true
	}
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".txtar")
		t.Run(name, func(t *testing.T) {
			a, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			changes := breaking.Compare(compile(t, a, "broken/old/"), compile(t, a, "broken/new/"))
			if rules[name] && !slices.ContainsFunc(changes, func(c breaking.Change) bool { return c.Rule == name }) {
				t.Errorf("found no %s", name)
			}
			for _, c := range breaking.Compare(compile(t, a, "harmless/old/"), compile(t, a, "harmless/new/")) {
				t.Errorf("found %s", line(c))
			}
			for _, state := range []string{"broken/old/", "broken/new/", "harmless/old/", "harmless/new/"} {
				if same := breaking.Compare(compile(t, a, state), compile(t, a, state)); len(same) > 0 {
					t.Errorf("%s differs from itself: %s", state, line(same[0]))
				}
			}
			got := ""
			for _, c := range changes {
				got += line(c)
			}
			at := slices.IndexFunc(a.Files, func(f txtar.File) bool { return f.Name == "changes" })
			if at < 0 {
				at = len(a.Files)
				a.Files = append(a.Files, txtar.File{Name: "changes"})
			}
			if *update {
				a.Files[at].Data = []byte(got)
				if err := os.WriteFile(path, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(a.Files[at].Data), got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
		delete(rules, name)
	}
	for id := range rules {
		t.Errorf("no golden file is named %s", id)
	}
}

// line writes a change on one line, and its hint on another.
func line(c breaking.Change) string {
	allowed := ""
	if c.Allowed {
		allowed = " (allowed)"
	}
	s := fmt.Sprintf("%s -> %s: %s: %s [%s]%s\n", c.Old, c.New, c.Breaks, c.Message, c.Rule, allowed)
	if c.Hint != "" {
		s += "  hint: " + c.Hint + "\n"
	}
	return s
}

// compile compiles the documents of one folder of an archive.
func compile(t *testing.T, a *txtar.Archive, folder string) []*idl.Document {
	t.Helper()
	files := fstest.MapFS{}
	var names []string
	for _, f := range a.Files {
		if name, ok := strings.CutPrefix(f.Name, folder); ok {
			files[name] = &fstest.MapFile{Data: f.Data}
			names = append(names, name)
		}
	}
	docs, err := idl.Compile(idl.FSLoader(files), names...)
	if err != nil {
		t.Fatalf("%s%v", folder, err)
	}
	return docs
}

// TestSpec keeps the table of the specification the same as the rules.
func TestSpec(t *testing.T) {
	spec, err := os.ReadFile("../../spec/idl.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows strings.Builder
	for _, r := range breaking.Rules() {
		rows.WriteString("| `" + r.ID + "` | " + r.Doc + " |\n")
	}
	if !strings.Contains(string(spec), rows.String()) {
		t.Errorf("the specification does not hold the rules as they are:\n%s", rows.String())
	}
}

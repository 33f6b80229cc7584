package lint_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/lint"
	"github.com/wipagent/wipagent/idl/project"
	"github.com/wipagent/wipagent/idl/syntax"
)

// The archives of testdata hold documents, a config as "lint.toml" where it is
// not the default, and "found", what Lint says as Render writes it. What a
// rule must find stands in bad.wip, and what it comes near but must not find
// in good.wip, of which nothing may be found by any rule that is on.
func TestGolden(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	tested := map[string]bool{}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			want, cfg := "", &lint.Config{}
			files := fstest.MapFS{}
			var kept []txtar.File
			for _, f := range a.Files {
				if f.Name == "found" {
					want = string(f.Data)
					continue
				}
				kept = append(kept, f)
				if f.Name == "lint.toml" {
					if err := toml.Unmarshal(f.Data, cfg); err != nil {
						t.Fatal(err)
					}
					if err := cfg.Validate(); err != nil {
						t.Fatal(err)
					}
					continue
				}
				files[f.Name] = &fstest.MapFile{Data: f.Data}
			}
			found := lintFS(t, files, cfg)
			for _, d := range found {
				tested[d.Rule] = true
				if strings.HasPrefix(d.Span.File, "good") {
					t.Errorf("found %v", d)
				}
			}
			got := render(t, files, found)
			if *update {
				a.Files = append(kept, txtar.File{Name: "found", Data: []byte(got)})
				if err := os.WriteFile(path, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
	for _, r := range lint.Rules() {
		if !tested[r.ID] {
			t.Errorf("no golden file finds %q", r.ID)
		}
	}
}

// lintFS compiles all documents of a file system, which must be sound, and
// lints them.
func lintFS(t *testing.T, files fstest.MapFS, cfg *lint.Config) []syntax.Diagnostic {
	t.Helper()
	var names []string
	var trees []*syntax.File
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		tree, _ := syntax.Parse(name, files[name].Data)
		trees = append(trees, tree)
	}
	docs, err := idl.Compile(idl.FSLoader(files), names...)
	if err != nil {
		t.Fatal(err)
	}
	return lint.Lint(docs, trees, cfg)
}

func render(t *testing.T, files fstest.MapFS, found []syntax.Diagnostic) string {
	t.Helper()
	var b bytes.Buffer
	if err := idl.Render(&b, found, idl.FSLoader(files)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestOwnDocuments keeps the documents of the product worth reading. What they
// do against a rule on purpose is said beside it, with the reason.
func TestOwnDocuments(t *testing.T) {
	for _, dir := range []string{"../../interfaces", "../../adapter", "../../adapter/script"} {
		p, err := project.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		names, err := filepath.Glob(filepath.Join(p.Root, "*.wip")) // what lies below may be a test's
		if err != nil {
			t.Fatal(err)
		}
		found, err := p.Check(nil, names...)
		if err != nil {
			t.Fatal(err)
		}
		if len(found.Documents) == 0 {
			t.Errorf("no documents in %s", dir)
		}
		for _, d := range found.Diagnostics {
			t.Errorf("%v", d)
		}
	}
}

// goldenDocuments returns the documents of all golden files, each in a folder
// of its own if it imports none.
func goldenDocuments(t testing.TB) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{}
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		a, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range a.Files {
			name := f.Name
			if !strings.HasSuffix(name, ".wip") {
				continue
			}
			if name != "shared.wip" {
				name = strings.TrimSuffix(filepath.Base(path), ".txtar") + "/" + name
			}
			files[name] = &fstest.MapFile{Data: f.Data}
		}
	}
	return files
}

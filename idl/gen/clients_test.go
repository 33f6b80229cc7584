package gen_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/gen"
)

// clients generates all bindings for programs that call, each language in a
// folder of its own.
func clients(t testing.TB, docs []*idl.Document) []gen.File {
	t.Helper()
	golang, err := gen.GoClient(docs, "golang")
	if err != nil {
		t.Fatal(err)
	}
	var all []gen.File
	for _, l := range []struct {
		folder string
		files  []gen.File
	}{{"python", gen.Python(docs)}, {"typescript", gen.TypeScript(docs)}, {"golang", golang}} {
		for _, f := range l.files {
			all = append(all, gen.File{Name: l.folder + "/" + f.Name, Data: f.Data})
		}
	}
	return all
}

// isRuntime reports whether a file is the same for all documents.
func isRuntime(name string) bool {
	return slices.Contains([]string{"_runtime.py", "__init__.py", "py.typed", "runtime.ts", "zruntime.go"}, filepath.Base(name))
}

// compileArchive compiles the documents of an archive.
func compileArchive(t testing.TB, a *txtar.Archive) []*idl.Document {
	t.Helper()
	var names []string
	texts := map[string][]byte{}
	for _, f := range a.Files {
		if strings.HasSuffix(f.Name, ".wip") {
			names = append(names, f.Name)
			texts[f.Name] = f.Data
		}
	}
	docs, err := idl.Compile(func(name string) ([]byte, error) {
		if text, ok := texts[name]; ok {
			return text, nil
		}
		return nil, os.ErrNotExist
	}, names...)
	if err != nil {
		t.Fatal(err)
	}
	return docs
}

func archives(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob("testdata/clients/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("found no archives: %v", err)
	}
	return paths
}

// TestClientsAreGolden compares what is generated from the documents of each
// archive with what the archive holds.
func TestClientsAreGolden(t *testing.T) {
	for _, path := range archives(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			a, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]string{}
			var sources []txtar.File
			for _, f := range a.Files {
				if strings.HasSuffix(f.Name, ".wip") {
					sources = append(sources, f)
				} else {
					want[f.Name] = string(f.Data)
				}
			}
			got := map[string]string{}
			compiled := compileArchive(t, a)
			for _, f := range append(clients(t, compiled), references(compiled, nil)...) {
				if !isRuntime(f.Name) {
					got[f.Name] = string(f.Data)
					sources = append(sources, txtar.File{Name: f.Name, Data: f.Data})
				}
			}
			if *update {
				a.Files = sources
				if err := os.WriteFile(path, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("(-archive +generated; see -update)\n%s", d)
			}
		})
	}
}

// TestSameAgain generates twice from documents compiled twice.
func TestSameAgain(t *testing.T) {
	for _, path := range archives(t) {
		a, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		first, second := clients(t, compileArchive(t, a)), clients(t, compileArchive(t, a))
		for i := range first {
			if first[i].Name != second[i].Name || !bytes.Equal(first[i].Data, second[i].Data) {
				t.Errorf("%s: %s differs the second time", path, first[i].Name)
			}
		}
	}
}

// TestNothingHides puts what cannot be seen into defaults and examples: none of it is in what is generated.
func TestNothingHides(t *testing.T) {
	const hidden = "\u202e\u2066\u200b\U000e0041\u2028\u2029\u0085\ufeff"
	text := "package a;\n/// Doc.\ninterface I { @example(a: \"x" + hidden + "\") o(a: string = \"y" + hidden + "\") -> int; }"
	docs, err := idl.Compile(func(string) ([]byte, error) { return []byte(text), nil }, "a.wip")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range append(clients(t, docs), references(docs, nil)...) {
		for _, r := range string(f.Data) {
			if strings.ContainsRune(hidden, r) {
				t.Errorf("%s: found %U", f.Name, r)
			}
		}
	}
}

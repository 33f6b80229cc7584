package syntax_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/wipagent/wipagent/idl/syntax"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden runs f on the first file of each archive in dir, and compares what
// it returns with the second.
func golden(t *testing.T, dir string, f func(t *testing.T, src string) string) {
	paths, err := filepath.Glob(filepath.Join("testdata", dir, "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("found no archive in %s: %v", dir, err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(path)
			if err != nil || len(a.Files) == 0 {
				t.Fatalf("read %s: %v", path, err)
			}
			got := f(t, string(a.Files[0].Data))
			if *update {
				a.Files = append(a.Files[:1], txtar.File{Name: "want", Data: []byte(got)})
				if err := os.WriteFile(path, txtar.Format(a), 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			want := ""
			if len(a.Files) > 1 {
				want = string(a.Files[1].Data)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s differs (-want +got):\n%s", path, diff)
			}
		})
	}
}

func TestTrees(t *testing.T) {
	golden(t, "trees", func(t *testing.T, src string) string {
		file, faults := check(t, src)
		if len(faults) > 0 {
			t.Errorf("got faults, want none:\n%s", render(src, faults))
		}
		return dump(file)
	})
}

func TestFaults(t *testing.T) {
	seen := map[string]bool{syntax.RuleTooLarge: true, syntax.RuleTooManyFaults: true, // limits_test.go
		syntax.RuleInvalidUTF8: true} // scan_test.go
	golden(t, "faults", func(t *testing.T, src string) string {
		_, faults := check(t, src)
		for _, d := range faults {
			seen[d.Rule] = true
		}
		return render(src, faults)
	})
	for _, r := range syntax.Rules() {
		if !seen[r.ID] {
			t.Errorf("no golden file has the rule %q", r.ID)
		}
	}
}

func TestRules(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range syntax.Rules() {
		if seen[r.ID] || r.ID != strings.ToLower(r.ID) || !strings.HasSuffix(r.Doc, ".") {
			t.Errorf("got the rule %+v", r)
		}
		seen[r.ID] = true
	}
}

// The grammar that participle runs is the outline of the one that the language
// promises.
func TestGrammar(t *testing.T) {
	want := `Document = Item* .
Item = PackageClause | VersionClause | ImportClause | Declaration .
PackageClause = "package" ident ("." ident)* ";" .
VersionClause = "version" <number> ";" .
ImportClause = "import" <string> ";" .
Declaration = annotations (InterfaceBody | RecordBody | EnumBody) .
InterfaceBody = "interface" ident "{" operations "}" .
RecordBody = "record" ident "{" fields "}" .
EnumBody = "enum" ident "{" labels "}" .`
	if diff := cmp.Diff(want, syntax.Grammar()); diff != "" {
		t.Errorf("the grammar differs (-want +got):\n%s", diff)
	}
}

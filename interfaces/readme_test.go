package interfaces_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/gen"
	"github.com/wipagent/wipagent/interfaces"
)

// readmeBlock is a fenced block of README.md that belongs into a file.
var readmeBlock = regexp.MustCompile("(?ms)^   ```(?:wip|go) (\\S+)\n(.*?)^   ```$")

// TestReadmeAddsAnOperation takes the steps of README.md's section "Adding an
// operation" in an overlay: the documents compile, the bindings bind, and the
// section's own test passes.
func TestReadmeAddsAnOperation(t *testing.T) {
	files := readmeFiles(t)
	documents := idl.FSLoader(interfaces.FS())
	load := func(name string) ([]byte, error) {
		if text, ok := files["interfaces/"+name]; ok {
			return []byte(text), nil
		}
		return documents(name)
	}
	names, err := fs.Glob(interfaces.FS(), "*.wip")
	if err != nil {
		t.Fatal(err)
	}
	docs, err := idl.Compile(load, names...)
	if err != nil {
		t.Fatal(err)
	}
	bindings, err := gen.Go(docs, "interfaces")
	if err != nil {
		t.Fatal(err)
	}
	files["interfaces/zgrid.go"] = string(bindings)

	dir := t.TempDir()
	replace := map[string]string{}
	for name, text := range files {
		file := filepath.Join(dir, strings.ReplaceAll(name, "/", "_"))
		here, err := filepath.Abs(filepath.Join("..", filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		replace[here] = file
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, text, 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "test", "-overlay", overlay, "-run", "^TestObjectCount$", "-v", "../objects").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestObjectCount") {
		t.Errorf("%v\n%s", err, out)
	}
}

// readmeFiles returns, by path, the files that the blocks of the section belong
// into, with the blocks: an operation in the document's first declaration, all
// else at the end. It skips the test in a tree that has them already.
func readmeFiles(t *testing.T) map[string]string {
	t.Helper()
	for _, d := range compile(t) {
		if i := d.Interface("Region"); i != nil && i.Operation("object_count") != nil {
			t.Skip("the section's example is in the tree already")
		}
	}
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(readme), "\n## Adding an operation\n")
	section, _, _ = strings.Cut(section, "\n## ")
	files := map[string]string{}
	for _, m := range readmeBlock.FindAllStringSubmatch(section, -1) {
		name, block := m[1], strings.ReplaceAll("\n"+m[2], "\n   ", "\n")
		if _, ok := files[name]; !ok {
			text, err := os.ReadFile(filepath.Join("..", filepath.FromSlash(name)))
			if err != nil && !strings.HasSuffix(name, "_test.go") {
				t.Fatal(err)
			}
			files[name] = string(text)
		}
		switch before, after, ok := strings.Cut(files[name], "\n}\n"); {
		case !strings.HasPrefix(block, "\n  "):
			files[name] += block
		case ok:
			files[name] = before + "\n" + block + "}\n" + after
		default:
			t.Fatalf("%s: found no declaration for the operation", name)
		}
	}
	if len(files) != 3 {
		t.Fatalf("found blocks for %d files, expected a document, the code and a test", len(files))
	}
	return files
}

package gen_test

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/gen"
)

// program looks for a program that the machine may have.
func program(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed", name)
	}
	return path
}

// run runs a program that must succeed.
func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(program(t, name), args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, tail(string(out)))
	}
	return string(out)
}

func tail(s string) string { return s[:min(len(s), 4000)] }

// project is a folder with the bindings of many sets of documents, each in a
// folder of its own.
func project(t *testing.T, sets map[string][]gen.File) string {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, gen.File{Name: "package.json", Data: []byte(`{"type": "module"}`)})
	write(t, dir, gen.File{Name: "tsconfig.json", Data: []byte(tsconfig)})
	for name, files := range sets {
		for _, f := range files {
			write(t, filepath.Join(dir, name), f)
		}
	}
	return dir
}

func write(t *testing.T, dir string, f gen.File) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(f.Name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, f.Data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// tsconfig is stricter than --strict, and without any type package.
const tsconfig = `{"compilerOptions": {
	"strict": true, "module": "nodenext", "target": "es2022", "lib": ["es2022"], "types": [], "noEmit": true, "exactOptionalPropertyTypes": true,
	"noUncheckedIndexedAccess": true, "noImplicitOverride": true, "noPropertyAccessFromIndexSignature": true,
	"verbatimModuleSyntax": true, "noUnusedLocals": true, "noUnusedParameters": true, "noImplicitReturns": true
}, "include": ["**/*.ts"]}`

// golden returns the bindings of the documents in the archives and of the
// grid's.
func golden(t *testing.T) map[string][]gen.File {
	t.Helper()
	sets := map[string][]gen.File{"grid": clients(t, gridDocuments(t))}
	for _, path := range archives(t) {
		a, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		sets[strings.TrimSuffix(filepath.Base(path), ".txtar")] = clients(t, compileArchive(t, a))
	}
	return sets
}

func gridDocuments(t testing.TB) []*idl.Document {
	t.Helper()
	dir := os.DirFS("../../interfaces")
	docs, err := idl.Compile(idl.FSLoader(dir), "agent.wip", "inventory.wip", "parcel.wip", "region.wip")
	if err != nil {
		t.Fatal(err)
	}
	return docs
}

// TestStrictness has the strictest checks that the machine knows read what is
// generated.
func TestStrictness(t *testing.T) {
	sets := golden(t)
	dir := project(t, sets)
	t.Run("mypy", func(t *testing.T) {
		checkMypy(t, dir, sets)
	})
	t.Run("python", func(t *testing.T) { checkPython(t, dir) })
	t.Run("tsc", func(t *testing.T) { run(t, dir, "tsc", "-p", ".") })
	t.Run("go", func(t *testing.T) { checkGo(t, dir) })
}

// checkPython imports all modules of a project in one process.
func checkPython(t *testing.T, dir string) {
	t.Helper()
	run(t, dir, "python3", "-W", "error", "-c", `
import importlib, pathlib, sys
sys.path.insert(0, ".")
runtime = None
for file in sorted(pathlib.Path(".").glob("*/python/*.py")):
    name = ".".join(file.with_suffix("").parts)
    if runtime:  # which takes most of the time, and is the same for all
        sys.modules.setdefault(name.rsplit(".", 1)[0] + "._runtime", runtime)
    module = importlib.import_module(name)
    if file.name == "_runtime.py":
        runtime = module
`)
}

// checkGo type-checks all Go packages of a project.
func checkGo(t *testing.T, dir string) {
	t.Helper()
	exports := map[string]string{}
	list := run(t, "../..", "go", "list", "-export", "-deps", "-f", "{{.ImportPath}}={{.Export}}", "./client", "./idl")
	for line := range strings.Lines(list) {
		if path, file, ok := strings.Cut(strings.TrimSpace(line), "="); ok {
			exports[path] = file
		}
	}
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	folders, err := filepath.Glob(filepath.Join(dir, "*", "golang"))
	if err != nil || len(folders) == 0 {
		t.Fatalf("found no Go packages: %v", err)
	}
	servers, err := filepath.Glob(filepath.Join(dir, "*", "server", "golang"))
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range append(folders, servers...) {
		paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		var files []*ast.File
		for _, path := range paths {
			f, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		conf := types.Config{Importer: imports}
		if _, err := conf.Check("golang", fset, files, nil); err != nil {
			t.Errorf("%v", err)
		}
	}
}

// TestAnyDocumentCompiles generates bindings for interfaces that are made up,
// with names that languages have a use for, and has the languages read them.
func TestAnyDocumentCompiles(t *testing.T) {
	const want = 300 // interfaces
	random := rand.New(rand.NewPCG(3, 5))
	sets, servers := map[string][]gen.File{}, 0
	for found, tries := 0, 0; found < want; tries++ {
		if tries > want {
			t.Fatalf("found only %d documents of %d to compile", len(sets), tries)
		}
		a := (&maker{Rand: random}).archive()
		docs, err := compileTexts(a)
		if err != nil {
			continue // two names of one place were too much alike
		}
		found += len(docs[0].Interfaces) + len(docs[0].Imports[0].Interfaces)
		files := clients(t, docs)
		if src, err := gen.Go(docs, "golang"); err == nil { // no page is within a record
			files = append(files, gen.File{Name: "server/golang/zserver.go", Data: src})
			servers++
		}
		sets[fmt.Sprintf("set%03d", len(sets))] = files
	}
	if servers < len(sets)/4 {
		t.Errorf("found %d of %d sets to have a server, want more", servers, len(sets))
	}
	for name, files := range sets {
		for i, f := range files {
			if f.Name == "typescript/runtime.ts" && name != "set000" { // it is the same for all
				files[i].Data = []byte("export * from \"../../set000/typescript/runtime.js\";\n")
			}
		}
	}
	dir := project(t, sets)
	t.Run("python", func(t *testing.T) { checkPython(t, dir) })
	t.Run("tsc", func(t *testing.T) { run(t, dir, "tsc", "-p", ".") })
	t.Run("go", func(t *testing.T) { checkGo(t, dir) })
	t.Run("mypy", func(t *testing.T) {
		if os.Getenv("WIPAGENT_MUTATIONS") == "" {
			t.Skip("takes long: set WIPAGENT_MUTATIONS")
		}
		checkMypy(t, dir, sets)
	})
}

// checkMypy type-checks all Python packages of a project.
func checkMypy(t *testing.T, dir string, sets map[string][]gen.File) {
	t.Helper()
	args := []string{"--strict", "--python-version", "3.10", "--cache-dir", t.TempDir()}
	for name := range sets {
		args = append(args, "-p", name+".python")
	}
	run(t, dir, "mypy", args...)
}

func compileTexts(texts map[string]string) ([]*idl.Document, error) {
	return idl.Compile(func(name string) ([]byte, error) { return []byte(texts[name]), nil }, "main.wip")
}

// TestSpecCompiles has the examples of spec/bindings.md read by their languages.
func TestSpecCompiles(t *testing.T) {
	text, err := os.ReadFile("../../spec/bindings.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	blocks := func(lang, ext string) (names []string) {
		for i, after := range strings.Split(string(text), "```"+lang+"\n")[1:] {
			code, _, _ := strings.Cut(after, "```")
			names = append(names, fmt.Sprintf("example%d.%s", i, ext))
			write(t, dir, gen.File{Name: names[i], Data: []byte(code)})
		}
		if len(names) != 2 {
			t.Fatalf("found %d blocks of %s, expected one of documents and one of what is mounted", len(names), lang)
		}
		return names
	}
	m := &gen.Mounted{}
	for _, d := range gridDocuments(t) {
		m.Entries = append(m.Entries, entryAt("/grid/"+strings.ToLower(d.Interfaces[0].Name), "/grid", d.Interfaces))
	}
	for _, f := range gen.PythonMounted(m) {
		write(t, filepath.Join(dir, "wipagent"), f)
	}
	for _, f := range gen.TypeScriptMounted(m) {
		write(t, filepath.Join(dir, "wip"), f)
	}
	write(t, dir, gen.File{Name: "package.json", Data: []byte(`{"type": "module"}`)})
	write(t, dir, gen.File{Name: "tsconfig.json", Data: []byte(tsconfig)})
	write(t, dir, gen.File{Name: "console.d.ts", Data: []byte("declare const console: { log(...words: unknown[]): void };\n")})
	python := blocks("python", "py")
	blocks("ts", "ts")
	t.Run("mypy", func(t *testing.T) {
		run(t, dir, "mypy", append([]string{"--strict", "--cache-dir", t.TempDir()}, python...)...)
	})
	t.Run("tsc", func(t *testing.T) { run(t, dir, "tsc", "-p", ".") })
}

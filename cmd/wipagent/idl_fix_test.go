package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/wipagent/wipagent/idl/project"
)

// Fixing the broken documents gives none of them more errors, many fewer to
// all, and leaves nothing that a second time would fix.
func TestFixBrokenDocuments(t *testing.T) {
	archives, err := filepath.Glob("../../idl/project/testdata/broken/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("found no archives: %v", err)
	}
	dir := t.TempDir()
	write := func(name string, text []byte) {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, text, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range archives {
		a, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(path), ".txtar")
		write(name+"/"+project.ConfigName, nil)
		for _, f := range a.Files {
			if filepath.Ext(f.Name) == ".wip" || f.Name == project.ConfigName {
				write(name+"/"+f.Name, f.Data)
			}
		}
	}
	was := countErrors(t, dir)
	runFix(t, dir)
	is := countErrors(t, dir)
	before, after := 0, 0
	for file, n := range was {
		before += n
		after += is[file]
	}
	for file, n := range is {
		if n > was[file] {
			t.Errorf("%s has %d errors, and had %d", file, n, was[file])
		}
	}
	t.Logf("%d of %d errors are left", after, before)
	if after > before*2/3 {
		t.Errorf("%d of %d errors are left", after, before)
	}
	fixed := textsIn(t, dir)
	runFix(t, dir)
	if diff := cmp.Diff(fixed, textsIn(t, dir)); diff != "" {
		t.Errorf("fixed again:\n%s", diff)
	}
}

func runFix(t *testing.T, dir string) {
	t.Helper()
	var failure bytes.Buffer
	exit := run(t.Context(), []string{"idl", "check", "--fix", dir}, streams{out: io.Discard, err: &failure, in: os.Stdin})
	if exit == exitUsage || strings.Contains(failure.String(), "too many of the fixes") {
		t.Errorf("%s ended with %d: %s", dir, exit, &failure)
	}
}

// countErrors counts the errors of each document.
func countErrors(t *testing.T, dir string) map[string]int {
	t.Helper()
	var out, failure bytes.Buffer
	run(t.Context(), []string{"idl", "check", "--no-lint", "--json", dir}, streams{out: &out, err: &failure, in: os.Stdin})
	var list []finding
	if err := json.Unmarshal(out.Bytes(), &list); err != nil {
		t.Fatalf("%v: %s", err, &failure)
	}
	n := map[string]int{}
	for _, f := range list {
		n[f.File]++
	}
	return n
}

func textsIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	texts := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		texts[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

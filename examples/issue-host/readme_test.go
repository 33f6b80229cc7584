package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// block is a fenced block: its language, the file that it is, and its text.
var block = regexp.MustCompile("(?ms)^```(\\w+)(?: (\\S+))?\n(.*?)^```$")

// TestTutorial takes the steps of README.md in an empty folder: what names a
// file is written, sh is run.
func TestTutorial(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds two programs")
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	bin, dir := t.TempDir(), t.TempDir()
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	env := append(os.Environ(), "WIPAGENT="+root, "GOBIN="+bin, "GOWORK=", "GOFLAGS=", "GOPROXY=off")
	run := func(commands string) {
		t.Helper()
		where := filepath.Join(bin, "where")
		cmd := exec.CommandContext(t.Context(), "sh", "-e", "-c", commands+"pwd >'"+where+"'")
		cmd.Dir, cmd.Env = dir, env
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s%v\n%s", commands, err, out)
		}
		b, err := os.ReadFile(where)
		if err != nil {
			t.Fatal(err)
		}
		dir = strings.TrimSuffix(string(b), "\n")
	}
	seen := map[string]int{}
	var goFiles []string
	for _, m := range block.FindAllStringSubmatch(string(readme), -1) {
		language, file, text := m[1], m[2], m[3]
		seen[language]++
		switch {
		case file != "":
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			if language == "go" {
				goFiles = append(goFiles, file)
			}
		case language == "sh":
			run(text)
		default:
			t.Errorf("found a block of %s without the name of a file", language)
		}
	}
	want := map[string]int{"sh": 4, "wip": 1, "go": 6}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("the blocks differ (-want +got):\n%s", diff)
	}
	// The tools leave what was written as it stands in the text.
	run("test -z \"$(gofmt -l " + strings.Join(goFiles, " ") + ")\"\ngo vet .\nwipagent idl fmt --check .\n")
}

// TestLinks proves that what README.md links to is there.
func TestLinks(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	links := regexp.MustCompile(`\]\(([^)#:]+)\)`).FindAllStringSubmatch(string(readme), -1)
	if len(links) < 8 {
		t.Fatalf("found %d links", len(links))
	}
	for _, m := range links {
		if _, err := os.Stat(m[1]); err != nil {
			t.Error(err)
		}
	}
}

package idl_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/wipagent/wipagent/idl"
)

const specPath = "../spec/idl.md"

// block is a fenced block of the specification that is a document.
type block struct {
	line int
	name string // under which other blocks may import it
	rule string // that it must break; empty if it must compile
	text string
}

// specBlocks returns the blocks marked "wip", "wip NAME", "wip,bad RULE" and
// "wip NAME,bad RULE".
func specBlocks(t *testing.T) []block {
	t.Helper()
	src, err := os.ReadFile(specPath)
	if err != nil {
		t.Fatal(err)
	}
	var blocks []block
	var open *block
	number := 0
	for line := range strings.Lines(string(src)) {
		number++
		info, fence := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "```")
		switch {
		case fence && open != nil:
			if !strings.Contains(open.text, "package ") && open.rule != "missing-package" {
				open.text = "package example;\n" + open.text
			}
			blocks = append(blocks, *open)
			open = nil
		case open != nil:
			open.text += line
		case fence && strings.HasPrefix(info, "wip"):
			head, rule, _ := strings.Cut(info, ",bad ")
			name := strings.TrimSpace(strings.TrimPrefix(head, "wip"))
			if name == "" {
				name = fmt.Sprintf("line%d.wip", number)
			}
			open = &block{line: number, name: name, rule: rule}
		}
	}
	if open != nil {
		t.Fatalf("%s:%d: block is never closed", specPath, open.line)
	}
	return blocks
}

func TestSpecBlocks(t *testing.T) {
	blocks := specBlocks(t)
	load := func(name string) ([]byte, error) {
		for _, b := range blocks {
			if b.name == name {
				return []byte(b.text), nil
			}
		}
		return nil, os.ErrNotExist
	}
	if len(blocks) < 40 {
		t.Errorf("found only %d blocks", len(blocks))
	}
	for _, b := range blocks {
		docs, err := idl.Compile(load, b.name)
		var rules []string
		if err != nil {
			for _, d := range err.(idl.ErrorList) {
				rules = append(rules, d.Rule)
			}
		}
		switch {
		case b.rule == "" && err != nil:
			t.Errorf("%s:%d: does not compile:\n%v", specPath, b.line, err)
		case b.rule == "" && len(docs) != 1:
			t.Errorf("%s:%d: compiled to %d documents", specPath, b.line, len(docs))
		case b.rule != "" && !slices.Equal(rules, []string{b.rule}):
			t.Errorf("%s:%d: found %v, expected exactly %q", specPath, b.line, err, b.rule)
		}
	}
}

func TestSpecListsTheRules(t *testing.T) {
	src, err := os.ReadFile(specPath)
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	table.WriteString("| rule | broken when |\n|---|---|\n")
	for _, r := range idl.Rules() {
		fmt.Fprintf(&table, "| `%s` | %s |\n", r.ID, r.Doc)
	}
	const heading = "| rule | broken when |\n"
	before, after, ok := strings.Cut(string(src), heading)
	if *update {
		rest := ""
		if _, tail, more := strings.Cut(after, "|\n\n"); ok && more {
			rest = "\n" + tail
		}
		if err := os.WriteFile(specPath, []byte(before+table.String()+rest), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !strings.HasPrefix(heading+after, table.String()) {
		t.Errorf("the rules of %s are not those of idl.Rules; run the test with -update", specPath)
	}
}

func TestRulesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range idl.Rules() {
		if seen[r.ID] {
			t.Errorf("rule %q is listed twice", r.ID)
		}
		seen[r.ID] = true
		if r.Doc == "" || strings.Trim(r.ID, "abcdefghijklmnopqrstuvwxyz8-") != "" && r.ID != "invalid-utf8" {
			t.Errorf("rule %q: %q", r.ID, r.Doc)
		}
	}
}

// Each rule is broken by a block of the specification, by a golden file, by a
// mistake of the table, or by a test that makes a document too large to keep.
func TestEachRuleIsBrokenSomewhere(t *testing.T) {
	broken := map[string]bool{}
	for _, rule := range generatedRules {
		broken[rule] = true
	}
	for _, b := range specBlocks(t) {
		broken[b.rule] = true
	}
	for _, m := range docMistakes {
		broken[m.rule] = true
	}
	paths, err := filepath.Glob("testdata/compile/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		a, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range a.Files {
			for line := range strings.Lines(string(f.Data)) {
				if at := strings.LastIndex(line, " ["); f.Name == "faults" && at >= 0 && strings.Contains(line, ": error: ") {
					broken[strings.TrimSuffix(line[at+2:], "]\n")] = true
				}
			}
		}
	}
	for _, r := range idl.Rules() {
		if !broken[r.ID] {
			t.Errorf("nothing breaks rule %q", r.ID)
		}
		delete(broken, r.ID)
	}
	delete(broken, "")
	for rule := range broken {
		t.Errorf("rule %q is broken but not listed", rule)
	}
}

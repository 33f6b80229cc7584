package main

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/adapter/dialect"
)

var update = flag.Bool("update", false, "rewrite testdata/report.txt")

// TestReport holds what the report looks like; its numbers change with every
// word of a description and are not held.
func TestReport(t *testing.T) {
	r, err := measure(t.Context(), "testdata/peer.json")
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	r.print(&b)
	shape := regexp.MustCompile(`\d+`).ReplaceAllString(strings.ReplaceAll(b.String(), "o200k", "o-k"), "N")
	shape = regexp.MustCompile(`(?m)^ +| +$`).ReplaceAllString(regexp.MustCompile(` +`).ReplaceAllString(shape, " "), "")
	golden := "testdata/report.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(shape), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), shape); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
}

func TestCounts(t *testing.T) {
	r, err := measure(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	n := len(dialect.All())
	for i, d := range dialect.All() {
		verbs, operations, code := r.lists[i], r.lists[n+i], r.lists[2*n+i]
		if verbs.tools != 3 || operations.tools != 8 || code.tools != 4 {
			t.Errorf("%s: found %d, %d and %d tools, expected 3, 8 and 4", d.Name, verbs.tools, operations.tools, code.tools)
		}
		if 2*verbs.tokens > operations.tokens || code.tokens <= verbs.tokens || code.tokens >= operations.tokens {
			t.Errorf("%s: found %d tokens for verbs, %d for operations, %d in code mode, expected the first under half of the second and the third between", d.Name, verbs.tokens, operations.tokens, code.tokens)
		}
		if verbs.tokens > 600 { // whatever the world
			t.Errorf("%s: found %d tokens for the verbs, expected at most 600", d.Name, verbs.tokens)
		}
		if per := float64(operations.bytes) / float64(operations.tokens); per < 2 || per > 8 {
			t.Errorf("%s: found %.1f bytes a token, expected what JSON comes to", d.Name, per)
		}
	}
	verbs, operations, code := r.tasks[0], r.tasks[1], r.tasks[2]
	if 2*code.results > verbs.results || code.results == 0 {
		t.Errorf("found %d tokens of results in code mode, %d with verbs, expected under half", code.results, verbs.results)
	}
	if operations.turns >= verbs.turns || operations.results >= verbs.results {
		t.Errorf("found %+v and %+v, expected operations to spare the search", operations, verbs)
	}
	for _, task := range r.tasks {
		if task.sent < task.fresh || task.fresh < task.tools+task.called+task.results || task.calls < 3 {
			t.Errorf("found sums that do not fit: %+v", task)
		}
	}
}

func TestPeer(t *testing.T) {
	for name, text := range map[string]string{"empty": `{"tools":[]}`, "nothing": `{}`, "no JSON": `tools`, "error": `{"error":{"code":-32601}}`} {
		file := filepath.Join(t.TempDir(), "peer.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if r, err := measure(t.Context(), file); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: found %v, %v, expected an error that names the file", name, r, err)
		}
	}
	if _, err := measure(t.Context(), "testdata/nothing.json"); err == nil {
		t.Error("found no error for a file that is not there")
	}
}

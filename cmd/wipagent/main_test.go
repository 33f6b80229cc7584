package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rivo/uniseg"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/wipagent/wipagent/idl"
)

var update = flag.Bool("update", false, "rewrite the golden parts of the scripts")

// A program under the race detector waits a second before it ends, for reports
// of threads that have none here; the tests start it hundreds of times.
const noWait = "atexit_sleep_ms=0"

func TestMain(m *testing.M) {
	os.Setenv("GORACE", noWait)
	testscript.Main(m, map[string]func(){"wipagent": main, "issue-host": issueHost})
}

// TestScripts runs the real command as a person would.
func TestScripts(t *testing.T) {
	archives, err := filepath.Abs("../../objects/source/archive/testdata")
	if err != nil {
		t.Fatal(err)
	}
	documents, err := filepath.Abs("../../interfaces")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		Setup: func(env *testscript.Env) error {
			env.Setenv("GORACE", noWait)
			env.Setenv("OAR", filepath.Join(archives, "test-region.oar"))
			env.Setenv("IAR", filepath.Join(archives, "test-region.iar"))
			env.Setenv("INTERFACES", documents)
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits": exits,
			"plain": plain,

			"hostserved": hostServed,
			"silent":     silent,
			"filled":     filled,
			"observed":   observed,
		},
	})
}

// exits is the command "exits CODE COMMAND...", which runs a command that must
// end with CODE.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	code := "0"
	if exit, ok := err.(interface{ ExitCode() int }); ok {
		code = string(rune('0' + exit.ExitCode()))
	}
	if code != args[0] {
		ts.Fatalf("%v ended with %s (%v), want %s", args[1:], code, err, args[0])
	}
}

// plain is the command "plain FILE", which fails if a file holds anything that
// could control a terminal.
func plain(ts *testscript.TestScript, _ bool, args []string) {
	for _, r := range ts.ReadFile(args[0]) {
		if r < 0x20 && r != '\n' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0xe0000 && r <= 0xe007f {
			ts.Fatalf("%s holds %U", args[0], r)
		}
	}
}

func TestShellQuote(t *testing.T) {
	for word, want := range map[string]string{
		"/grid/region": "/grid/region", `{"a":1}`: `'{"a":1}'`, "": "''", "it's": `'it'\''s'`, "$(x)": "'$(x)'", "a b": "'a b'",
	} {
		if got := shellQuote(word); got != want {
			t.Errorf("shellQuote(%q) = %s, want %s", word, got, want)
		}
	}
}

func TestPrintable(t *testing.T) {
	if got, want := printable("a\x1b[31mb\u009bc\nd\x7fe"), "a [31mb c d e"; got != want {
		t.Errorf("printable gives %q, want %q", got, want)
	}
	if got, want := escapeControls("\"a\u009bb\x7f\""), `"a\u009bb\u007f"`; got != want {
		t.Errorf("escapeControls gives %q, want %q", got, want)
	}
	// Letters and emoji keep their joiners, nothing else that cannot be seen stays.
	if got, want := printable("a\u202eb\u2066c\u200bd\u2028e\U000e0041f\ufeffg \U0001f469\u200d\U0001f680"), "abcd efg \U0001f469\u200d\U0001f680"; got != want {
		t.Errorf("printable gives %q, want %q", got, want)
	}
	if got, want := escapeControls("\"a\u202eb\u2028c\U000e0041\u200d\""), "\"a\\u202eb\\u2028c\\udb40\\udc41\u200d\""; got != want {
		t.Errorf("escapeControls gives %q, want %q", got, want)
	}
	if got := cut("日本語のテキスト", 7); got != "日本語…" {
		t.Errorf("cut gives %q", got)
	}
}

func TestTableFitsTheTerminal(t *testing.T) {
	rows := func() [][]string {
		return [][]string{{"NAME", "TEXT", "ITEM_ID"}, {"日本語", strings.Repeat("long ", 20), "7"}}
	}
	var wide, narrow strings.Builder
	(&page{w: &wide}).table(rows())
	(&page{w: &narrow, width: 40}).table(rows())
	for line := range strings.Lines(narrow.String()) {
		if w := uniseg.StringWidth(strings.TrimSuffix(line, "\n")); w > 40 {
			t.Errorf("%d columns: %s", w, line)
		}
	}
	if !strings.Contains(narrow.String(), "…") || !strings.Contains(narrow.String(), "日本語") {
		t.Errorf("the widest column alone is to be cut:\n%s", &narrow)
	}
	if !strings.Contains(wide.String(), strings.TrimSpace(strings.Repeat("long ", 20))) {
		t.Errorf("nothing is to be cut where there is no terminal:\n%s", &wide)
	}
}

func TestReadValue(t *testing.T) {
	for _, test := range []struct {
		word string
		t    *idl.Type
		want string
	}{
		{"007", nil, `"007"`},
		{"7", nil, `7`},
		{"7", &idl.Type{Kind: idl.String}, `"7"`},
		{"null", &idl.Type{Kind: idl.String}, `"null"`},
		{"null", &idl.Type{Kind: idl.String, Optional: true}, `null`},
		{"five", &idl.Type{Kind: idl.Int}, `"five"`},
		{"-1.5", &idl.Type{Kind: idl.Float}, `-1.5`},
		{`{"a":1}`, &idl.Type{Kind: idl.RecordOf}, `{"a":1}`},
		{"urgent,pump", &idl.Type{Kind: idl.List, Elem: &idl.Type{Kind: idl.String}}, `["urgent","pump"]`},
		{"1,two", &idl.Type{Kind: idl.List, Elem: &idl.Type{Kind: idl.Int}}, `[1,"two"]`},
		{"", &idl.Type{Kind: idl.List, Elem: &idl.Type{Kind: idl.String}}, `[]`},
		{`["a,b"]`, &idl.Type{Kind: idl.List, Elem: &idl.Type{Kind: idl.String}}, `["a,b"]`},
		{"a,b", &idl.Type{Kind: idl.List, Elem: &idl.Type{Kind: idl.RecordOf}}, `"a,b"`},
	} {
		if got := string(readValue(test.word, test.t)); got != test.want {
			t.Errorf("readValue(%s, %v) = %s, want %s", test.word, test.t, got, test.want)
		}
	}
}

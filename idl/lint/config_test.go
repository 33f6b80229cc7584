package lint_test

import (
	"os"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"

	"github.com/wipagent/wipagent/idl/lint"
)

func TestValidate(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"empty":            {"", ""},
		"levels":           {"[rules]\ndoc-long = \"off\"\ndoc-missing = \"error\"\nmember-case = \"warning\"", ""},
		"nothing":          {"documented = []\nlanguages = []", ""},
		"unknown rule":     {"[rules]\ndoc-lang = \"off\"", `found unknown rule "doc-lang" in lint.rules`},
		"unknown level":    {"[rules]\ndoc-long = \"fatal\"", `found level "fatal", expected off, warning or error`},
		"default level":    {"[rules]\ndoc-long = \"default\"", `found level "default", expected off, warning or error`},
		"unknown kind":     {"documented = [\"package\"]", `found "package" in lint.documented, expected some of interface, operation`},
		"unknown language": {"languages = [\"go\", \"cobol\"]", `found "cobol" in lint.languages, expected some of go, python, typescript`},
		"negative limit":   {"max_doc = -1", `found lint.max_doc = -1, expected 1 to 4096`},
		"large limit":      {"min_aliases = 65", `found lint.min_aliases = 65, expected 1 to 64`},
	} {
		t.Run(name, func(t *testing.T) {
			var cfg lint.Config
			err := toml.Unmarshal([]byte(c.text), &cfg)
			if err == nil {
				err = cfg.Validate()
			}
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("found %v, expected %q", err, c.want)
			}
		})
	}
}

// TestSpec keeps the table of the specification the same as the rules.
func TestSpec(t *testing.T) {
	spec, err := os.ReadFile("../../spec/idl.md")
	if err != nil {
		t.Fatal(err)
	}
	var rows strings.Builder
	for _, r := range lint.Rules() {
		rows.WriteString("| `" + r.ID + "` | " + r.Doc + " |\n")
	}
	if !strings.Contains(string(spec), rows.String()) {
		t.Errorf("the specification does not hold the rules as they are:\n%s", rows.String())
	}
}

// TestOff proves that each rule can be switched off.
func TestOff(t *testing.T) {
	cfg := &lint.Config{Rules: map[string]lint.Level{}}
	for _, r := range lint.Rules() {
		cfg.Rules[r.ID] = lint.LevelOff
	}
	files := goldenDocuments(t)
	if found := lintFS(t, files, cfg); len(found) > 0 {
		t.Errorf("found %v", found)
	}
	for _, r := range lint.Rules() {
		delete(cfg.Rules, r.ID)
		found := lintFS(t, files, cfg)
		if len(found) == 0 {
			t.Errorf("%s alone finds nothing", r.ID)
		}
		for _, d := range found {
			if d.Rule != r.ID {
				t.Errorf("%s alone finds %v", r.ID, d)
			}
		}
		cfg.Rules[r.ID] = lint.LevelOff
	}
}

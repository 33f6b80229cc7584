package lsp_test

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/idl"
)

const vscode = "../../examples/vscode/"

// pattern is a rule of a TextMate grammar, as far as the test looks at it.
type pattern struct {
	Name       string             `json:"name"`
	Match      string             `json:"match"`
	Begin      string             `json:"begin"`
	Include    string             `json:"include"`
	Patterns   []pattern          `json:"patterns"`
	Repository map[string]pattern `json:"repository"`
}

func readJSON(t *testing.T, name string, v any) {
	t.Helper()
	b, err := os.ReadFile(vscode + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatalf("%s: %s", name, err)
	}
}

// alternatives returns the words of the first group of several in a rule.
func alternatives(t *testing.T, rule string) []string {
	t.Helper()
	m := regexp.MustCompile(`\((\w+(?:\|\w+)+)\)`).FindStringSubmatch(rule)
	if m == nil {
		t.Fatalf("found no words in %q", rule)
	}
	words := strings.Split(m[1], "|")
	slices.Sort(words)
	return words
}

// TestGrammarKnowsTheLanguage fails on a word that the TextMate grammar does
// not know, or that the language does not.
func TestGrammarKnowsTheLanguage(t *testing.T) {
	var grammar pattern
	readJSON(t, "syntaxes/wip.tmLanguage.json", &grammar)
	rules := grammar.Repository
	var annotations []string
	for _, a := range idl.Annotations() {
		annotations = append(annotations, a.Name)
	}
	types := idl.BuiltinTypes()
	slices.Sort(types)
	audiences := slices.DeleteFunc(idl.AudienceNames(), func(a string) bool { return a == idl.SchedulerRun.String() })
	slices.Sort(audiences)
	spec, err := os.ReadFile("../../spec/idl.md")
	if err != nil {
		t.Fatal(err)
	}
	units := regexp.MustCompile("durations in `([a-z ]+)`, sizes in `([A-Za-z ]+)`").FindStringSubmatch(string(spec))
	keywords := regexp.MustCompile("six keywords `([a-z ]+)`").FindStringSubmatch(string(spec))
	if units == nil || keywords == nil {
		t.Fatal("found no units or keywords in spec/idl.md")
	}
	allUnits := strings.Fields(units[1] + " " + units[2])
	slices.Sort(allUnits)
	for _, tt := range []struct {
		name, rule string
		want       []string
	}{
		{"annotations", rules["annotations"].Match, annotations},
		{"types", rules["types"].Patterns[0].Match, types},
		{"audiences", rules["audience"].Patterns[1].Match, audiences},
		{"units", rules["numbers"].Match, allUnits},
		{"refinements", rules["refinements"].Patterns[2].Match, []string{"bytes", "matching"}},
		{"constants", rules["constants"].Match, []string{"false", "true"}},
	} {
		if diff := cmp.Diff(tt.want, alternatives(t, tt.rule)); diff != "" {
			t.Errorf("%s (-language +grammar):\n%s", tt.name, diff)
		}
	}
	var known []string
	for _, p := range append(rules["header"].Patterns, rules["declarations"].Patterns...) {
		if m := regexp.MustCompile(`^\\b\((\w+)\)`).FindStringSubmatch(p.Match + p.Begin); m != nil {
			known = append(known, m[1])
		}
	}
	if diff := cmp.Diff(strings.Fields(keywords[1]), known); diff != "" {
		t.Errorf("keywords (-language +grammar):\n%s", diff)
	}
	// What is included is there, and all that is there is included.
	included := map[string]bool{}
	var walk func(list []pattern)
	walk = func(list []pattern) {
		for _, p := range list {
			if name, ok := strings.CutPrefix(p.Include, "#"); ok {
				if _, found := rules[name]; !found {
					t.Errorf("the grammar includes %q, which it does not have", name)
				}
				included[name] = true
			}
			walk(p.Patterns)
		}
	}
	walk(grammar.Patterns)
	for name, rule := range rules {
		walk(rule.Patterns)
		if !included[name] {
			t.Errorf("the grammar does not include its rule %q", name)
		}
	}
}

// TestExtension checks that what package.json names is there.
func TestExtension(t *testing.T) {
	var p struct {
		Main        string `json:"main"`
		Contributes struct {
			Languages []struct{ ID, Configuration string }
			Grammars  []struct{ Language, ScopeName, Path string }
			Commands  []struct{ Command string }
		} `json:"contributes"`
	}
	readJSON(t, "package.json", &p)
	var grammar struct{ ScopeName string }
	readJSON(t, p.Contributes.Grammars[0].Path, &grammar)
	if grammar.ScopeName != p.Contributes.Grammars[0].ScopeName || p.Contributes.Languages[0].ID != p.Contributes.Grammars[0].Language {
		t.Errorf("found the scope %q of language %q", grammar.ScopeName, p.Contributes.Grammars[0].Language)
	}
	readJSON(t, p.Contributes.Languages[0].Configuration, new(any))
	code, err := os.ReadFile(vscode + p.Main)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range p.Contributes.Commands {
		if !strings.Contains(string(code), `"`+c.Command+`"`) {
			t.Errorf("%s does not register %s", p.Main, c.Command)
		}
	}
	if !strings.Contains(string(code), `["idl", "lsp"]`) {
		t.Error("the extension does not start idl lsp")
	}
}

package project_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/idl/project"
)

func TestNear(t *testing.T) {
	rules := []string{"doc-missing", "doc-long", "alias-missing", "unit-missing", "member-case", "package-case"}
	for name, want := range map[string][]string{
		"doc-lang":              {"doc-long"},
		"DOC_MISSING":           {"doc-missing"},
		"missing-doc":           {"doc-missing"},
		"unit":                  {"unit-missing"},
		"placeholder-missing":   {"alias-missing", "doc-missing", "unit-missing"},
		"zebra":                 nil,
		"":                      nil,
		strings.Repeat("d", 99): nil,
	} {
		if diff := cmp.Diff(want, project.Near(name, rules)); diff != "" {
			t.Errorf("Near(%q): %s", name, diff)
		}
	}
	if got, want := project.DidYouMean("placeholder-missing", rules), `; did you mean "alias-missing", "doc-missing" or "unit-missing"?`; got != want {
		t.Errorf("found %s, expected %s", got, want)
	}
}

package dialect_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/adapter/dialect"
	"github.com/wipagent/wipagent/idl"
)

// of returns n tools with the parameters of one of the forms, which read only.
func of(t testing.TB, form string, n int) []dialect.Tool {
	t.Helper()
	forms := compiledTools(t, idl.FSLoader(os.DirFS("testdata")), "forms.wip")
	i := slices.IndexFunc(forms, func(tool dialect.Tool) bool { return tool.Name == form })
	tools := make([]dialect.Tool, n)
	for k := range tools {
		tools[k] = forms[i]
		tools[k].Name = fmt.Sprintf("%s_%d", form, k)
	}
	return tools
}

// used returns what an export used of a budget.
func used(e *dialect.Export, budget string) dialect.Usage {
	for _, u := range e.Usage {
		if u.Budget == budget {
			return u
		}
	}
	return dialect.Usage{}
}

// names returns the tools of a list of drops.
func names(list []dialect.Drop) (out []string) {
	for _, d := range list {
		out = append(out, d.Tool)
	}
	return out
}

// TestToolsBeyondTheLimit has more tools than OpenAI takes: what is deprecated
// goes first, then what changes something, then what comes later.
func TestToolsBeyondTheLimit(t *testing.T) {
	tools := of(t, "nothing", 131)
	tools[5].Deprecated = true
	tools[7].ReadOnly = false
	for _, name := range []string{"openai", "openai-strict", "openai-chat", "openai-chat-strict"} {
		e := export(t, name, tools, dialect.Options{})
		if diff := cmp.Diff([]string{"nothing_5", "nothing_7", "nothing_130"}, names(e.Dropped)); diff != "" {
			t.Errorf("%s: dropped (-want +got):\n%s", name, diff)
		}
		if len(e.Demoted) != 0 || e.Dropped[0].Reason != "tools" || used(e, "tools") != (dialect.Usage{Budget: "tools", Used: 128, Limit: 128}) {
			t.Errorf("%s: %+v, %+v, %+v", name, e.Demoted, e.Dropped, e.Usage)
		}
		if _, ok := e.Index("nothing_5"); ok || e.Name(5) != "" || e.Schema(5) != nil || strings.Contains(string(e.Tools), "nothing_5\"") {
			t.Errorf("%s: what was dropped is still there", name)
		}
		if i, ok := e.Index("nothing_6"); !ok || i != 6 {
			t.Errorf("%s: nothing_6 is tool %d, %t", name, i, ok)
		}
		if string(e.Arguments(5, []byte(`{"a":null}`))) != `{"a":null}` {
			t.Errorf("%s: the arguments of what was dropped were changed", name)
		}
	}
	for _, name := range []string{"anthropic", "anthropic-strict", "gemini", "gemini-json", "mcp", "portable"} {
		if e := export(t, name, tools, dialect.Options{}); len(e.Dropped) != 0 || used(e, "tools").Used != 131 {
			t.Errorf("%s: dropped %v", name, e.Dropped)
		}
	}
}

// TestAnthropicBudgets has more strict tools, optional parameters and unions
// than a request may have: the others are written without strictness.
func TestAnthropicBudgets(t *testing.T) {
	for _, test := range []struct {
		form      string
		n, strict int
		budget    string // that the first one did not fit
	}{
		{"nothing", 25, 20, "strict tools"},
		{"optional", 5, 3, "optional parameters"},
		{"nested", 17, 4, "optional parameters"}, // five each: tables, and to and unit twice
	} {
		e := export(t, "anthropic-strict", of(t, test.form, test.n), dialect.Options{})
		if got := strings.Count(string(e.Tools), `"strict":true`); got != test.strict || got+len(e.Demoted) != test.n {
			t.Errorf("%s: %d strict, %d demoted", test.form, got, len(e.Demoted))
		}
		if len(e.Demoted) == 0 || e.Demoted[0].Reason != test.budget || len(e.Dropped) != 0 {
			t.Fatalf("%s: demoted %+v, dropped %+v", test.form, e.Demoted, e.Dropped)
		}
		for _, u := range e.Usage {
			if u.Limit > 0 && u.Used > u.Limit {
				t.Errorf("%s: %+v", test.form, u)
			}
		}
	}
	tools := of(t, "optional", 5)
	tools[0].Deprecated, tools[1].ReadOnly = true, false
	e := export(t, "anthropic-strict", tools, dialect.Options{})
	if diff := cmp.Diff([]string{"optional_0", "optional_1"}, names(e.Demoted)); diff != "" {
		t.Errorf("demoted (-want +got):\n%s", diff)
	}
	// What is not strict has no convention, and what is strict has them.
	if got := string(e.Schema(0)); !strings.Contains(got, `"maximum":20`) || strings.Contains(string(e.Schema(2)), `"maximum"`) {
		t.Errorf("not strict: %s\nstrict: %s", got, e.Schema(2))
	}
}

// TestLessUnrolling has records that hold themselves, which fit when they are
// written out less deep: that comes before any tool gives way.
func TestLessUnrolling(t *testing.T) {
	one := export(t, "anthropic-strict", of(t, "tree", 1), dialect.Options{})
	six := export(t, "anthropic-strict", of(t, "tree", 6), dialect.Options{})
	if len(six.Demoted) != 0 || len(six.Dropped) != 0 {
		t.Fatalf("%+v, %+v", six.Demoted, six.Dropped)
	}
	if len(six.Schema(0)) >= len(one.Schema(0)) {
		t.Errorf("among six a tree has a schema of %d bytes, alone of %d", len(six.Schema(0)), len(one.Schema(0)))
	}
	// Without a budget it is written out the same.
	if len(export(t, "portable", of(t, "tree", 6), dialect.Options{}).Schema(0)) != len(export(t, "portable", of(t, "tree", 1), dialect.Options{}).Schema(0)) {
		t.Error("the portable core has no budget, but writes less")
	}
}

// TestOpenAIBudgets has more enum values and properties than strict tools may
// have together.
func TestOpenAIBudgets(t *testing.T) {
	var wip strings.Builder
	wip.WriteString("package p;\nversion 1;\n@read_only interface I {\n a(c: C) -> bool;\n b(c: C) -> bool;\n}\nenum C {\n")
	for i := range 600 {
		fmt.Fprintf(&wip, "c%d,\n", i)
	}
	wip.WriteString("}\n")
	tools := compiledTools(t, func(string) ([]byte, error) { return []byte(wip.String()), nil }, "p.wip")
	e := export(t, "openai-strict", tools, dialect.Options{})
	if diff := cmp.Diff([]dialect.Drop{{Tool: "b", Reason: "enum values"}}, e.Demoted); diff != "" {
		t.Errorf("demoted (-want +got):\n%s", diff)
	}
	if u := used(e, "enum values"); u.Used != 600 || u.Limit != 1000 {
		t.Errorf("%+v", u)
	}
	e = export(t, "openai-strict", of(t, "deep", 128), dialect.Options{})
	if len(e.Demoted) != 0 || used(e, "properties").Used != 128*9 {
		t.Errorf("%+v, %+v", e.Demoted, e.Usage)
	}
}

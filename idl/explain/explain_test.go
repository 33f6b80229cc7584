package explain_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/breaking"
	"github.com/wipagent/wipagent/idl/explain"
	"github.com/wipagent/wipagent/idl/gen"
	"github.com/wipagent/wipagent/idl/lint"
	"github.com/wipagent/wipagent/idl/project"
	"github.com/wipagent/wipagent/idl/syntax"
)

// allRules returns the rules of all tools.
func allRules() []syntax.Rule {
	return slices.Concat(idl.Rules(), lint.Rules(), project.Rules(), breaking.Rules(), gen.Rules())
}

// Every rule has a page, and every page a rule.
func TestEveryRuleHasAPage(t *testing.T) {
	var want []string
	for _, r := range allRules() {
		want = append(want, r.ID)
	}
	slices.Sort(want)
	for i := range len(want) - 1 {
		if want[i] == want[i+1] {
			t.Errorf("two rules are called %s", want[i])
		}
	}
	got := explain.Rules()
	if !slices.IsSorted(got) {
		t.Error("the pages are not sorted")
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the pages differ from the rules (-rules +pages)\n%s", diff)
	}
}

// example is the documents of a page by name: those beside, and what the page
// shows of the document that breaks the rule and is put right.
type example struct {
	beside    map[string]string
	bad, good string
}

// examples reads the fenced blocks of a page.
func examples(page string) example {
	e := example{beside: map[string]string{}}
	for _, part := range strings.Split("\n"+page, "\n```wip")[1:] {
		info, rest, _ := strings.Cut(part, "\n")
		text, _, _ := strings.Cut("\n"+rest, "\n```")
		text = strings.TrimPrefix(text, "\n") + "\n"
		switch name := strings.TrimSpace(info); name {
		case "":
			e.good = text
		case ",bad":
			e.bad = text
		case ",old", ",new", ",kept": // of a rule of breaking
		case ",unbindable": // of a rule of gen
		default:
			e.beside[name] = text
		}
	}
	return e
}

// large are the rules whose examples would not fit a page, with something that
// breaks each.
var large = map[string]func() map[string]string{
	"too-large": func() map[string]string {
		return map[string]string{"example.wip": "package a;" + strings.Repeat(" ", syntax.MaxSource)}
	},
	"invalid-utf8": func() map[string]string {
		return map[string]string{"example.wip": "package a;\n// caf\xe9\n"}
	},
	"document-not-found": func() map[string]string { return nil },
	"import-limit": func() map[string]string {
		files := map[string]string{"example.wip": "package a;\nimport \"b.wip\";\n"}
		for i := range 20 {
			name := strings.Repeat("b", i+1)
			files[name+".wip"] = "package " + name + ";\nimport \"" + name + "b.wip\";\n"
		}
		files[strings.Repeat("b", 21)+".wip"] = "package last;\n"
		return files
	},
	"too-many-faults": func() map[string]string {
		return map[string]string{"example.wip": "package a;\nrecord A {\n" + strings.Repeat("  a: ;\n", 2*syntax.MaxDiagnostics) + "}\n"}
	},
}

// rulesOf returns the rules that a check of example.wip reports, each once.
func rulesOf(t *testing.T, files map[string]string, lint bool) []string {
	t.Helper()
	p := &project.Project{Root: "/nowhere", NoLint: !lint}
	overlay := map[string][]byte{}
	for name, text := range files {
		overlay[name] = []byte(text)
	}
	r, err := p.Check(overlay, "example.wip")
	if err != nil {
		t.Fatal(err)
	}
	var rules []string
	for _, d := range r.Diagnostics {
		if !slices.Contains(rules, d.Rule) {
			rules = append(rules, d.Rule)
		}
	}
	return rules
}

// The example of each page breaks its rule and no other, and breaks none once
// it is put right.
func TestExamples(t *testing.T) {
	errors := idl.Rules()
	for _, rule := range slices.Concat(errors, lint.Rules(), project.Rules()) {
		t.Run(rule.ID, func(t *testing.T) {
			page, _ := explain.Page(rule.ID)
			if !strings.HasPrefix(page, "# "+rule.ID+"\n\n") {
				t.Errorf("the page begins with %.40q", page)
			}
			if build := large[rule.ID]; build != nil {
				if got := rulesOf(t, build(), false); !slices.Contains(got, rule.ID) {
					t.Errorf("the example breaks %v", got)
				}
				return
			}
			e := examples(page)
			style := !slices.ContainsFunc(errors, func(r syntax.Rule) bool { return r.ID == rule.ID })
			files := map[string]string{"example.wip": e.bad}
			for name, text := range e.beside {
				files[name] = text
			}
			if got := rulesOf(t, files, style); !slices.Equal(got, []string{rule.ID}) {
				t.Errorf("the bad example breaks %v", got)
			}
			files["example.wip"] = e.good
			if got := rulesOf(t, files, style); e.good == "" || len(got) > 0 {
				t.Errorf("the good example breaks %v", got)
			}
		})
	}
}

// versions are the documents of a page before and after a change that breaks,
// and after one that does not.
func versions(t *testing.T, page string) (old, broken, kept []*idl.Document) {
	t.Helper()
	for _, part := range strings.Split("\n"+page, "\n```wip,")[1:] {
		info, rest, _ := strings.Cut(part, "\n")
		text, _, _ := strings.Cut("\n"+rest, "\n```")
		if info != "old" && info != "new" && info != "kept" {
			continue
		}
		load := func(string) ([]byte, error) { return []byte(text), nil }
		docs, err := idl.Compile(load, "example.wip")
		switch {
		case err != nil:
			t.Error(err)
		case info == "old":
			old = docs
		case info == "new":
			broken = docs
		default:
			kept = docs
		}
	}
	return old, broken, kept
}

// The example of a rule between two versions is that change and no other.
func TestChanges(t *testing.T) {
	for _, rule := range breaking.Rules() {
		t.Run(rule.ID, func(t *testing.T) {
			page, _ := explain.Page(rule.ID)
			old, broken, kept := versions(t, page)
			changes := breaking.Compare(old, broken)
			if len(old) == 0 || len(changes) != 1 || changes[0].Rule != rule.ID {
				t.Errorf("the change that breaks is %v", changes)
			}
			if changes := breaking.Compare(old, kept); len(kept) == 0 || len(changes) > 0 {
				t.Errorf("the change that breaks nothing is %v", changes)
			}
		})
	}
}

// The example of a rule of generating is refused by it alone, and is generated
// once it is put right.
func TestUnbindable(t *testing.T) {
	page, _ := explain.Page(gen.RuleUnbindablePage)
	_, bad, _ := strings.Cut(page, "```wip,unbindable\n")
	bad, _, _ = strings.Cut(bad, "```")
	for text, want := range map[string][]string{bad: {gen.RuleUnbindablePage}, examples(page).good: nil} {
		docs, err := idl.Compile(func(string) ([]byte, error) { return []byte(text), nil }, "example.wip")
		if err != nil {
			t.Fatal(err)
		}
		_, err = gen.Go(docs, "city")
		var faults idl.ErrorList
		var got []string
		if errors.As(err, &faults) {
			for _, d := range faults {
				got = append(got, d.Rule)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || (err == nil) != (want == nil) {
			t.Errorf("%v (-want +got)\n%s", err, diff)
		}
	}
}

func TestPageOfWhatIsNoRule(t *testing.T) {
	for _, rule := range []string{"", "no-such-rule", "../pages/unknown-type", "unknown-type.md", "."} {
		if text, ok := explain.Page(rule); ok {
			t.Errorf("found the page %.40q of %q", text, rule)
		}
	}
}

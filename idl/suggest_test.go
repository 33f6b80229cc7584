package idl_test

import (
	"testing"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/syntax"
)

// ruleCounts returns how often each rule is broken.
func ruleCounts(list []syntax.Diagnostic) map[string]int {
	n := map[string]int{}
	for _, d := range list {
		n[d.Rule]++
	}
	return n
}

// compileFaults returns what Compile finds in one document.
func compileFaults(text string) idl.ErrorList {
	_, err := idl.Compile(oneDocument("t.wip", text), "t.wip")
	list, _ := err.(idl.ErrorList)
	return list
}

// Each fix ends its fault and adds none.
func TestFixes(t *testing.T) {
	fixes := 0
	for _, m := range docMistakes {
		text, _ := assemble([]docMistake{m})
		before := compileFaults(text)
		for _, d := range before {
			for _, f := range d.Fixes {
				fixes++
				fixed, err := f.Apply([]byte(text))
				if err != nil {
					t.Errorf("in %s, the fix %q: %v", m.text, f.Title, err)
					continue
				}
				want, after := ruleCounts(before), compileFaults(string(fixed))
				want[d.Rule]--
				for rule, n := range ruleCounts(after) {
					if n > want[rule] {
						t.Errorf("in %s, the fix %q left %v", m.text, f.Title, after)
					}
				}
			}
		}
	}
	if fixes < 35 {
		t.Errorf("found %d fixes", fixes)
	}
}

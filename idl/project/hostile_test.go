package project_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wipagent/wipagent/idl/project"
)

// patience is long enough for any honest machine, and short enough to see
// time that grows with the square of a document.
const patience = 20 * time.Second

// Documents that are nothing but faults take no longer than others.
func TestHostileDocuments(t *testing.T) {
	repeat := func(n int, format string) string {
		var b strings.Builder
		b.WriteString("package a;\n")
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	for _, c := range []struct{ name, text string }{
		{"imports of nothing", repeat(20_000, "import \"x%d.wip\";\n")},
		{"imports of one thing", strings.ReplaceAll(repeat(20_000, "import \"x_.wip\";// %d\n"), "_", "")},
		{"imports from outside", repeat(20_000, "import \"../x%d.wip\";\n")},
		{"comments that silence", repeat(8_000, "//wip:ignore doc-missing for %[1]d\nrecord A%[1]d { a: int; } //wip:ignore doc-missing too\n")},
		{"comments that silence nothing", repeat(15_000, "//wip:ignore nothing-at-all for %[1]d\nrecord A%[1]d { a: int; }\n")},
		{"unknown types", repeat(20_000, "record A%[1]d { a: B%[1]d; }\n")},
		{"pages without parameters", "package a;\ninterface A {\n" + repeat(20_000, "a%[1]d() -> page<int>;\n")[11:] + "}\n"},
		{"open angles", "package a;\nrecord A { a: " + strings.Repeat("list<", 50_000) + ";\n}\n"},
		{"open braces", repeat(20_000, "record A%[1]d { a: int;\n")},
		{"quotes", repeat(50_000, "'%d\n")},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &project.Project{Root: t.TempDir()}
			start := time.Now()
			if _, err := p.Check(map[string][]byte{"a.wip": []byte(c.text)}, "a.wip"); err != nil {
				t.Fatal(err)
			}
			took := time.Since(start)
			t.Logf("%d bytes took %v", len(c.text), took)
			if took > patience {
				t.Errorf("took %v", took)
			}
		})
	}
}

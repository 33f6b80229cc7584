package dialect_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/wipagent/wipagent/adapter/dialect"
)

// TestSpec looks for each dialect and each budget in spec/providers.md.
func TestSpec(t *testing.T) {
	text, err := os.ReadFile("../../spec/providers.md")
	if err != nil {
		t.Fatal(err)
	}
	spec := strings.ReplaceAll(string(text), ",", "")
	for _, d := range dialect.All() {
		if !strings.Contains(spec, "\n| `"+d.Name+"` |") {
			t.Errorf("nothing on %s", d.Name)
		}
		for _, u := range export(t, d.Name, nil, dialect.Options{}).Usage {
			found := u.Limit == 0
			for line := range strings.Lines(spec) {
				found = found || strings.Contains(line, "| "+u.Budget) && strings.HasSuffix(strings.TrimSpace(line), "| "+strconv.Itoa(u.Limit)+" |")
			}
			if !found {
				t.Errorf("%s: nothing on %s of %d", d.Name, u.Budget, u.Limit)
			}
		}
	}
}

package adapter_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/adapter"
)

// TestBoundsOfTools reads what the tool list says of one call: invoke asks for
// the entry and then for the result.
func TestBoundsOfTools(t *testing.T) {
	type bounds struct {
		Timeout   time.Duration
		MaxOutput int
	}
	got := map[string]bounds{}
	for _, tool := range adapter.Tools(true) {
		got[tool.Name] = bounds{tool.Timeout, tool.MaxOutput}
	}
	want := map[string]bounds{"discover": {3 * time.Second, 32 << 10}, "inspect": {3 * time.Second, 32 << 10}, "invoke": {6 * time.Second, 32 << 10}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestDefaultsOfTools looks for the defaults of the verbs' arguments where a
// model reads of them.
func TestDefaultsOfTools(t *testing.T) {
	var schema struct {
		Properties map[string]struct{ Description string }
	}
	if err := json.Unmarshal(adapter.Tools(true)[0].InputSchema, &schema); err != nil {
		t.Fatal(err)
	}
	if got, want := schema.Properties["scope"].Description, `Search only below this path. Default "/".`; got != want {
		t.Errorf("the scope is described as %q, want %q", got, want)
	}
}

// TestSignaturesOfTools misuses each tool and reads what it takes.
func TestSignaturesOfTools(t *testing.T) {
	c := grid(t)
	for tool, want := range map[string]string{
		"discover": `the tool takes discover(query: string [1..512 bytes], scope: string [1..1024 bytes] = "/")`,
		"inspect":  `the tool takes inspect(target: string [1..1200 bytes])`,
		"invoke":   `the tool takes invoke(target: string [1..1024 bytes], operation: string [1..256 bytes], arguments: {...})`,
	} {
		answer, _ := adapter.Call(t.Context(), c, operator, tool, "", json.RawMessage(`{"nothing":1}`))
		var failed struct{ Error struct{ Hint string } }
		if err := json.Unmarshal(answer.JSON, &failed); err != nil {
			t.Fatal(err)
		}
		if failed.Error.Hint != want || !strings.Contains(string(answer.JSON), "/nothing") {
			t.Errorf("%s: got the hint %q, want %q", tool, failed.Error.Hint, want)
		}
	}
}

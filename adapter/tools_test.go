package adapter_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/adapter"
	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/space"
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
	tools, err := adapter.New(adapter.Config{Client: client.New(nil)}).Toolset(t.Context(), operator, adapter.ToolsetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(tools.Export().Schema(0), &schema); err != nil {
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
		answer, _ := adapter.New(adapter.Config{Client: c}).Call(t.Context(), operator, tool, "", json.RawMessage(`{"nothing":1}`))
		var failed struct{ Error struct{ Hint string } }
		if err := json.Unmarshal(answer.JSON, &failed); err != nil {
			t.Fatal(err)
		}
		if failed.Error.Hint != want || !strings.Contains(string(answer.JSON), "/nothing") {
			t.Errorf("%s: got the hint %q, want %q", tool, failed.Error.Hint, want)
		}
	}
}

// idle is a ranking that takes as long as it may.
type idle struct{}

func (idle) Index([]space.Candidate, space.Index) space.Index { return idle{} }

func (idle) Rank(ctx context.Context, _ string, _ int, _ []int32) ([]space.Fit, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestDiscoverEnds searches with a ranking that does not end of itself.
func TestDiscoverEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := client.New(&client.Config{Space: &space.Config{Ranker: idle{}}})
		if err := c.Mount(t.Context(), "/x", published{shop(1, 1, 1), 1, 0}, nil); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		answer, _ := adapter.New(adapter.Config{Client: c}).Call(ctx, operator, "discover", "", json.RawMessage(`{"query":"operation"}`))
		if took := time.Since(start); took != adapter.Tools(true)[0].Timeout || !strings.Contains(string(answer.JSON), `"map":"/x`) {
			t.Errorf("after %v: %s", took, answer.JSON)
		}
	})
}

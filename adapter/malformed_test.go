package adapter_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
	"golang.org/x/tools/txtar"

	"github.com/wipagent/wipagent/adapter"
	"github.com/wipagent/wipagent/adapter/dialect"
	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space/wip"
)

// TestMalformedCalls sends every call of the corpus to the tools and looks at
// what the Host is asked to do: nothing before the call is understood, then
// what was meant and nothing else. Nearly all that hold what that takes must
// come to it.
func TestMalformedCalls(t *testing.T) {
	corpus, err := txtar.ParseFile("testdata/malformed.txtar")
	if err != nil {
		t.Fatal(err)
	}
	h := &workshop{}
	c := h.open(t, true)
	count := map[string]int{}
	for _, file := range corpus.Files {
		surface, rest, _ := strings.Cut(file.Name, " ")
		tool, _, _ := strings.Cut(rest, ":")
		raw, outcome, ok := bytes.Cut(file.Data, []byte("\n>> "))
		if !ok {
			t.Fatalf("%s has no outcome", file.Name)
		}
		want, does, _ := strings.Cut(strings.TrimSpace(string(outcome)), " ")
		count[want]++
		t.Run(file.Name, func(t *testing.T) {
			tools, err := adapter.New(adapter.Config{Client: c}).Toolset(t.Context(), operator, adapter.ToolsetOptions{
				Dialect: dialect.Lookup("mcp"), Surface: adapter.Surface(surface)})
			if err != nil {
				t.Fatal(err)
			}
			h.calls()
			answer := tools.Answer(t.Context(), dialect.Call{Name: tool, Arguments: raw})
			asked := h.calls()
			e := gjson.GetBytes(answer.JSON, "error")
			got := want
			switch corrected := e.Get("corrected_call"); {
			case !answer.Failed:
				got = "repaired"
			case corrected.Exists():
				got = "corrected"
			case want != "told" && want != "lacks":
				got = "told"
			}
			if got != want {
				t.Fatalf("%s is %s, want it %s:\n%s", raw, got, want, answer.JSON)
			}
			if answer.Failed && len(asked) > 0 {
				t.Fatalf("%s failed, and the Host was asked for %s", raw, shown(asked))
			}
			switch {
			case want == "told" || want == "lacks":
				if e.Get("hint").Str == "" && len(e.Get("faults").Array()) == 0 {
					t.Errorf("%s is told nothing: %s", raw, answer.JSON)
				}
				return
			case want == "corrected":
				record := e.Get("corrected_call").Raw
				again := tools.Answer(t.Context(), dialect.Call{Name: tool, Arguments: json.RawMessage(record)})
				if asked = h.calls(); again.Failed || gjson.GetBytes(again.JSON, "repaired").Exists() {
					t.Fatalf("%s: the corrected call %s gives %s", raw, record, again.JSON)
				}
				if strings.HasPrefix(does, "{") {
					if record != does || len(asked) > 0 {
						t.Errorf("%s: corrected to %s, want %s", raw, record, does)
					}
					return
				}
			case does != "" && !gjson.GetBytes(answer.JSON, "repaired").Exists():
				t.Errorf("%s ran without a word of what was repaired: %s", raw, answer.JSON)
			}
			if got, want := shown(asked), filled(t, c, does); got != want {
				t.Errorf("%s: the Host was asked for\n%s, want\n%s", raw, got, want)
			}
		})
	}
	t.Logf("%d calls: %v", len(corpus.Files), count)
	understood := count["repaired"] + count["corrected"]
	if whole := understood + count["told"]; whole < 200 || understood*100 < whole*95 {
		t.Errorf("%d of %d calls that hold all they need come to what was meant, want 95 in a hundred of at least 200", understood, whole)
	}
}

// shown writes what a Host was asked to do.
func shown(calls []wip.Call) string {
	var list []string
	for _, call := range calls {
		list = append(list, call.Path+" "+call.Operation+" "+string(call.Arguments))
	}
	return strings.Join(list, "; ")
}

// filled returns a call of the corpus as the Host gets it.
func filled(t *testing.T, c *client.Client, does string) string {
	t.Helper()
	if does == "" {
		return ""
	}
	words := strings.SplitN(does, " ", 3)
	found, err := c.Inspect(context.Background(), operator, "/w"+words[0]+"#"+words[1])
	if err != nil {
		t.Fatal(err)
	}
	args, err := found.Operations[0].Operation.DecodeArgs([]byte(words[2]))
	if err != nil || len(args.Repairs) > 0 {
		t.Fatalf("%s: %v", does, err)
	}
	record := found.Operations[0].Operation.MapEntries(args.Record, func(_, path string, _ *idl.Type) string { return strings.TrimPrefix(path, "/w") })
	return words[0] + " " + words[1] + " " + string(record)
}

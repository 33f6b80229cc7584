package adapter_test

import (
	"encoding/json"
	"testing"

	"github.com/wipagent/wipagent/adapter"
	"github.com/wipagent/wipagent/adapter/dialect"
	"github.com/wipagent/wipagent/client"
)

// BenchmarkAnswer measures a call of each kind of record, from what a model sent
// to the answer, by both surfaces and beside the client's call alone; and what
// wrong and repeated records cost.
func BenchmarkAnswer(b *testing.B) {
	h := &workshop{}
	c := h.open(b, true)
	a := adapter.New(adapter.Config{Client: c})
	set := func(name string, surface adapter.Surface) *adapter.Toolset {
		tools, err := a.Toolset(b.Context(), operator, adapter.ToolsetOptions{Dialect: dialect.Lookup(name), Surface: surface})
		if err != nil {
			b.Fatal(err)
		}
		return tools
	}
	verbs, operations, strict := set("mcp", adapter.Verbs), set("mcp", adapter.Operations), set("openai-strict", adapter.Operations)
	const points = `{"points":[{"x":1,"y":2},{"x":3,"y":4,"z":5}],"labels":{"a":"b"}`
	for _, bench := range []struct {
		name, tool, sent string
		tools            *adapter.Toolset
		failed           bool
	}{
		{"invoke", "invoke", `{"target":"/w/desk","operation":"search","arguments":{"query":"lamp"}}`, verbs, false},
		{"tool", "desk_search", `{"query":"lamp"}`, operations, false},
		{"tool without parameters", "desk_status", `{}`, operations, false},
		{"tool with an entry", "issue_close", `{"target":"/w/issues/2","reason":"done"}`, operations, false},
		{"tool with records", "desk_measure", points + `}`, operations, false},
		{"tool in conventions", "desk_measure", `{"points":[{"x":1,"y":2,"z":null}],"labels":[{"key":"a","value":"b"}],"ids":null,"since":null,"within":null}`, strict, false},
		{"repaired", "desk_search", `{"arguments":{"Query":"lamp"}}`, operations, false},
		{"corrected", "desk_search", `{'query':'lamp','limit':99}`, operations, true},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			call := dialect.Call{Name: bench.tool, Arguments: json.RawMessage(bench.sent)}
			for b.Loop() {
				if r := bench.tools.Answer(b.Context(), call); r.Failed != bench.failed {
					b.Fatalf("%s", r.JSON)
				}
				h.calls()
			}
		})
	}
	b.Run("client.Invoke", func(b *testing.B) {
		b.ReportAllocs()
		call := client.Call{Target: "/w/desk", Operation: "search", Arguments: json.RawMessage(`{"query":"lamp"}`)}
		for b.Loop() {
			if _, err := c.Invoke(b.Context(), operator, call); err != nil {
				b.Fatal(err)
			}
			h.calls()
		}
	})
}

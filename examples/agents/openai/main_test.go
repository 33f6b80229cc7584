package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/wipagent/wipagent/adapter"
	"github.com/wipagent/wipagent/adapter/dialect/dialecttest"
	"github.com/wipagent/wipagent/examples/agents/recorded"
)

// provider is OpenAI's Responses API. Source: its reference.
type provider struct{ dialect string }

func (provider) Refusal(message string) string {
	text, _ := json.Marshal(message)
	return `{"error":{"message":` + string(text) + `,"type":"invalid_request_error","param":null,"code":null}}`
}

func (p provider) Check(r *http.Request, body gjson.Result) (results, faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if at := r.Method + " " + r.URL.Path; at != "POST /responses" {
		fault("found %s, expected POST /responses", at)
	}
	if r.Header.Get("Authorization") != "Bearer "+recorded.Key || r.Header.Get("Content-Type") != "application/json" {
		fault("found no key or no JSON in the headers")
	}
	faults = append(faults, recorded.Members("request", body, "model!", "input!", "instructions", "tools", "stream")...)
	for _, v := range dialecttest.Check(p.dialect, json.RawMessage(body.Get("tools").Raw)) {
		fault("%s", v)
	}
	items := body.Get("input").Array()
	if len(items) == 0 || body.Get("model").Str == "" {
		fault("found no input or no model")
	}
	open, seen := []string{}, map[string]bool{} // calls without a result; all calls
	for i, item := range items {
		at, kind := fmt.Sprintf("input.%d", i), item.Get("type").Str
		if kind != "function_call" && kind != "function_call_output" && len(open) > 0 {
			fault("%s: found no output for the calls %q before the next item", at, open)
		}
		switch {
		case kind == "" || kind == "message" && item.Get("role").Str == "user":
			faults = append(faults, recorded.Members(at, item, "role!", "content!", "type")...)
			if item.Get("content").Str == "" || item.Get("role").Str != "user" {
				fault("%s: found no text of a user", at)
			}
		case kind == "message":
			faults = append(faults, recorded.Members(at, item, "type!", "id!", "status", "role!", "content!")...)
			for _, part := range item.Get("content").Array() {
				faults = append(faults, recorded.Members(at, part, "type!", "text!", "annotations!")...)
			}
		case kind == "reasoning":
			faults = append(faults, recorded.Members(at, item, "type!", "id!", "summary!")...)
			if next := body.Get(fmt.Sprintf("input.%d.type", i+1)).Str; next != "function_call" && next != "message" {
				fault("%s: found reasoning without the item that follows it", at)
			}
		case kind == "function_call":
			faults = append(faults, recorded.Members(at, item, "type!", "id", "call_id!", "name!", "arguments!", "status")...)
			id := item.Get("call_id").Str
			if id == "" || seen[id] || item.Get("arguments").Type != gjson.String {
				fault("%s: found the ID %q and the arguments %s, expected an ID of its own and a string", at, id, item.Get("arguments").Raw)
			}
			seen[id], open = true, append(open, id)
		case kind == "function_call_output":
			faults = append(faults, recorded.Members(at, item, "type!", "call_id!", "output!")...)
			j := slices.Index(open, item.Get("call_id").Str)
			if j < 0 || item.Get("output").Type != gjson.String {
				fault("%s: found an output for the call %q or no text, expected one for a call that has none", at, item.Get("call_id").Str)
				continue
			}
			open = slices.Delete(open, j, j+1)
			results = append(results, recorded.Unmarked(item.Get("output").Str))
		default:
			fault("%s: found the type %q", at, kind)
		}
	}
	if len(open) > 0 {
		fault("found no output for the calls %q", open)
	}
	return results, faults
}

// Events cuts texts and arguments into pieces.
func (provider) Events(answer gjson.Result) (events []string) {
	add := func(format string, args ...any) {
		event := fmt.Sprintf(format, args...)
		events = append(events, fmt.Sprintf(`%s,"sequence_number":%d}`, event, len(events)))
	}
	add(`{"type":"response.created","response":{"id":%s,"object":"response","status":"in_progress","output":[]}`, answer.Get("id").Raw)
	for i, item := range answer.Get("output").Array() {
		add(`{"type":"response.output_item.added","output_index":%d,"item":%s`, i, item.Raw)
		kind, whole := "", ""
		switch item.Get("type").Str {
		case "message":
			kind, whole = "output_text", item.Get("content.0.text").Str
		case "function_call":
			kind, whole = "function_call_arguments", item.Get("arguments").Str
		}
		for piece := range slices.Chunk([]rune(whole), 7) {
			text, _ := json.Marshal(string(piece))
			add(`{"type":"response.%s.delta","item_id":%s,"output_index":%d,"content_index":0,"delta":%s`, kind, item.Get("id").Raw, i, text)
		}
		if text, _ := json.Marshal(whole); kind != "" {
			member := map[string]string{"output_text": "text", "function_call_arguments": "arguments"}[kind]
			add(`{"type":"response.%s.done","item_id":%s,"output_index":%d,"content_index":0,%q:%s`, kind, item.Get("id").Raw, i, member, text)
		}
		add(`{"type":"response.output_item.done","output_index":%d,"item":%s`, i, item.Raw)
	}
	add(`{"type":"response.%s","response":%s`, answer.Get("status").Str, answer.Raw)
	return events
}

var program = recorded.Program{
	Key: "OPENAI_API_KEY", Dialects: []string{"openai", "openai-strict"},
	Provider: func(dialect string) recorded.Provider { return provider{dialect} },
	Tools: func(t *testing.T, dialect string, surface adapter.Surface) string {
		tools, err := toolset(t.Context(), dialect, surface)
		if err != nil {
			t.Fatal(err)
		}
		return string(tools.Export().Tools)
	},
}

func TestMain(m *testing.M) { program.Main(m, main) }

func TestConversations(t *testing.T) { program.TestConversations(t) }
func TestFailures(t *testing.T)      { program.TestFailures(t) }

// TestRefusals proves that the provider that is played refuses at all.
func TestRefusals(t *testing.T) {
	program.TestRefusals(t, [][2]string{
		{`"call_id":"call_2","output"`, `"call_id":"call_9","output"`},
		{`"call_id":"call_2","output"`, `"call_id":"call_1","output"`},
		{`"call_id":"call_2","name"`, `"call_id":"call_1","name"`},
		{`"type":"function_call_output"`, `"type":"function_call_result"`},
		{`"type":"function_call_output"`, `"status":"failed","type":"function_call_output"`},
		{`"instructions"`, `"system"`},
		{`"input":[`, `"input":[{"type":"reasoning","id":"rs_9","summary":[]},`},
		{`"parameters":{`, `"parameters":{"allOf":[{}],`},
	})
}

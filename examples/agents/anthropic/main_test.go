package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/wipagent/wipagent/adapter"
	"github.com/wipagent/wipagent/adapter/dialect/dialecttest"
	"github.com/wipagent/wipagent/examples/agents/recorded"
)

// provider is Anthropic's Messages API. Source: its reference.
type provider struct{ dialect string }

func (provider) Refusal(message string) string {
	text, _ := json.Marshal(message)
	return `{"type":"error","error":{"type":"invalid_request_error","message":` + string(text) + `}}`
}

func (p provider) Check(r *http.Request, body gjson.Result) (results, faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	if at := r.Method + " " + r.URL.Path; at != "POST /v1/messages" {
		fault("found %s, expected POST /v1/messages", at)
	}
	if r.Header.Get("X-Api-Key") != recorded.Key || r.Header.Get("Anthropic-Version") != "2023-06-01" || r.Header.Get("Content-Type") != "application/json" {
		fault("found no key, no version or no JSON in the headers")
	}
	faults = append(faults, recorded.Members("request", body, "model!", "max_tokens!", "messages!", "system", "tools", "cache_control", "stream")...)
	for _, v := range dialecttest.Check(p.dialect, json.RawMessage(body.Get("tools").Raw)) {
		fault("%s", v)
	}
	if body.Get("max_tokens").Int() < 1 || body.Get("model").Str == "" {
		fault("found no model or no max_tokens")
	}
	for _, block := range body.Get("system").Array() {
		faults = append(faults, p.text("system", block)...)
	}
	var open []string // calls of the message before
	seen := map[string]bool{}
	messages := body.Get("messages").Array()
	for i, message := range messages {
		at := fmt.Sprintf("messages.%d", i)
		faults = append(faults, recorded.Members(at, message, "role!", "content!")...)
		if role := []string{"user", "assistant"}[i%2]; message.Get("role").Str != role || i == len(messages)-1 && role != "user" {
			fault("%s: found the role %q, expected user and assistant in turns, user at last", at, message.Get("role").Str)
		}
		blocks := message.Get("content").Array()
		if len(blocks) == 0 {
			fault("%s: found no content", at)
		}
		var answered, calls []string
		for j, block := range blocks {
			at := fmt.Sprintf("%s.content.%d", at, j)
			switch kind := block.Get("type").Str; {
			case kind == "text":
				faults = append(faults, p.text(at, block)...)
			case kind == "tool_use" && i%2 == 1:
				faults = append(faults, recorded.Members(at, block, "type!", "id!", "name!", "input!")...)
				id := block.Get("id").Str
				if !regexp.MustCompile(`^[a-zA-Z0-9_-]+$`).MatchString(id) || seen[id] || !block.Get("input").IsObject() {
					fault("%s: found the ID %q and the input %s, expected an ID of its own and an object", at, id, block.Get("input").Raw)
				}
				seen[id] = true
				calls = append(calls, id)
			case kind == "tool_result" && i%2 == 0:
				faults = append(faults, recorded.Members(at, block, "type!", "tool_use_id!", "content", "is_error")...)
				if len(answered) != j {
					fault("%s: found a result behind other content, expected results first", at)
				}
				answered = append(answered, block.Get("tool_use_id").Str)
				for _, inner := range block.Get("content").Array() {
					faults = append(faults, p.text(at, inner)...)
					text := recorded.Unmarked(inner.Get("text").Str)
					if results = append(results, text); block.Get("is_error").Bool() != gjson.Get(text, "error").Exists() {
						fault("%s: found is_error %t of %s", at, block.Get("is_error").Bool(), text)
					}
				}
			default:
				fault("%s: found the type %q in a message of %s", at, kind, message.Get("role").Str)
			}
		}
		slices.Sort(answered)
		slices.Sort(open)
		if diff := cmp.Diff(open, answered); diff != "" {
			fault("%s: found results for other calls than those before: %s", at, diff)
		}
		open = calls
	}
	return results, faults
}

func (provider) text(at string, block gjson.Result) []string {
	faults := recorded.Members(at, block, "type!", "text!")
	if strings.TrimSpace(block.Get("text").Str) == "" {
		faults = append(faults, at+": found an empty text")
	}
	return faults
}

// Events cuts texts and inputs into pieces.
func (provider) Events(answer gjson.Result) (events []string) {
	add := func(format string, args ...any) { events = append(events, fmt.Sprintf(format, args...)) }
	head := map[string]any{}
	json.Unmarshal([]byte(answer.Raw), &head)
	head["content"], head["stop_reason"] = []any{}, nil
	raw, _ := json.Marshal(head)
	add(`{"type":"message_start","message":%s}`, raw)
	for i, block := range answer.Get("content").Array() {
		begin, member, kind, whole := `{"type":"text","text":""}`, "text", "text_delta", block.Get("text").Str
		if block.Get("type").Str == "tool_use" {
			begin = fmt.Sprintf(`{"type":"tool_use","id":%s,"name":%s,"input":{}}`, block.Get("id").Raw, block.Get("name").Raw)
			member, kind, whole = "partial_json", "input_json_delta", block.Get("input").Raw
		}
		add(`{"type":"content_block_start","index":%d,"content_block":%s}`, i, begin)
		for piece := range slices.Chunk([]rune(whole), 7) {
			text, _ := json.Marshal(string(piece))
			add(`{"type":"content_block_delta","index":%d,"delta":{"type":%q,%q:%s}}`, i, kind, member, text)
			add(`{"type":"ping"}`)
		}
		add(`{"type":"content_block_stop","index":%d}`, i)
	}
	add(`{"type":"message_delta","delta":{"stop_reason":%s,"stop_sequence":null},"usage":{"output_tokens":9}}`, answer.Get("stop_reason").Raw)
	add(`{"type":"message_stop"}`)
	return events
}

var program = recorded.Program{
	Key: "ANTHROPIC_API_KEY", Dialects: []string{"anthropic", "anthropic-strict"},
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
		{`"tool_use_id":"toolu_2"`, `"tool_use_id":"toolu_9"`},
		{`"tool_use_id":"toolu_2"`, `"tool_use_id":"toolu_1"`},
		{`"id":"toolu_2"`, `"id":"toolu_1"`},
		{`"is_error":true`, `"is_error":false`},
		{`"role":"assistant"`, `"role":"user"`},
		{`"max_tokens"`, `"max_output_tokens"`},
		{`"type":"tool_result"`, `"type":"tool_result","status":"failed"`},
		{`"input_schema":{`, `"input_schema":{"anyOf":[{}],`},
		{`"messages":[`, `"messages":[{"role":"user","content":[{"type":"text","text":" "}]},`},
	})
}

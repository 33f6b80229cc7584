package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/wipagent/wipagent/adapter"
	"github.com/wipagent/wipagent/adapter/dialect/dialecttest"
	"github.com/wipagent/wipagent/examples/agents/recorded"
)

// provider is Gemini's GenerateContent. Source: its reference, and the notes on
// thought signatures, without which a call of newer models is refused.
type provider struct{ dialect string }

func (provider) Refusal(message string) string {
	text, _ := json.Marshal(message)
	return `{"error":{"code":400,"message":` + string(text) + `,"status":"INVALID_ARGUMENT"}}`
}

func (p provider) Check(r *http.Request, body gjson.Result) (results, faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	method, streamed := "generateContent", r.URL.Query().Get("alt") == "sse"
	if streamed {
		method = "streamGenerateContent"
	}
	if at := r.Method + " " + r.URL.Path; !strings.HasPrefix(at, "POST /v1beta/models/gemini-") || !strings.HasSuffix(at, ":"+method) {
		fault("found %s, expected POST /v1beta/models/…:%s", at, method)
	}
	if r.Header.Get("X-Goog-Api-Key") != recorded.Key || r.Header.Get("Content-Type") != "application/json" {
		fault("found no key or no JSON in the headers")
	}
	faults = append(faults, recorded.Members("request", body, "contents!", "tools", "systemInstruction", "generationConfig")...)
	faults = append(faults, recorded.Members("generationConfig", body.Get("generationConfig"))...)
	for _, v := range dialecttest.Check(p.dialect, json.RawMessage(body.Get("tools").Raw)) {
		fault("%s", v)
	}
	var open []gjson.Result // calls of the content before
	contents := body.Get("contents").Array()
	for i, content := range contents {
		at := fmt.Sprintf("contents.%d", i)
		faults = append(faults, recorded.Members(at, content, "role!", "parts!")...)
		if role := []string{"user", "model"}[i%2]; content.Get("role").Str != role || i == len(contents)-1 && role != "user" {
			fault("%s: found the role %q, expected user and model in turns, user at last", at, content.Get("role").Str)
		}
		parts := content.Get("parts").Array()
		if len(parts) == 0 {
			fault("%s: found no parts", at)
		}
		var calls, responses []gjson.Result
		for j, part := range parts {
			at := fmt.Sprintf("%s.parts.%d", at, j)
			call, response := part.Get("functionCall"), part.Get("functionResponse")
			switch {
			case part.Get("text").Exists():
				faults = append(faults, recorded.Members(at, part, "text!", "thought", "thoughtSignature")...)
			case call.Exists() && i%2 == 1:
				faults = append(faults, recorded.Members(at, part, "functionCall!", "thoughtSignature")...)
				faults = append(faults, recorded.Members(at, call, "name!", "args", "id")...)
				if len(calls) == 0 && part.Get("thoughtSignature").Str != "c2lnbmVk" {
					fault("%s: found a call whose signature is missing", at)
				}
				calls = append(calls, call)
			case response.Exists() && i%2 == 0:
				faults = append(faults, recorded.Members(at, part, "functionResponse!")...)
				faults = append(faults, recorded.Members(at, response, "name!", "response!", "id")...)
				responses = append(responses, response)
				faults = append(faults, recorded.Members(at, response.Get("response"), "output", "error")...)
				text := response.Get("response.output").Raw
				if e := response.Get("response.error"); e.Exists() {
					text = `{"error":` + e.Raw + `}`
				}
				results = append(results, text)
			default:
				fault("%s: found the part %.60s in a content of %s", at, part.Raw, content.Get("role").Str)
			}
		}
		if len(responses) != len(open) || len(responses) > 0 && len(responses) != len(parts) {
			fault("%s: found %d responses in %d parts, expected one for each of %d calls", at, len(responses), len(parts), len(open))
		}
		for j := range min(len(open), len(responses)) {
			if open[j].Get("name").Str != responses[j].Get("name").Str || open[j].Get("id").Str != responses[j].Get("id").Str {
				fault("%s: found the response %s to the call %s", at, responses[j].Raw, open[j].Raw)
			}
		}
		open = calls
	}
	return results, faults
}

// Events cuts texts into pieces; calls come whole.
func (provider) Events(answer gjson.Result) (events []string) {
	add := func(part, more string) {
		events = append(events, fmt.Sprintf(`{"candidates":[{"content":{"role":"model","parts":[%s]}%s,"index":0}]}`, part, more))
	}
	for _, part := range answer.Get("candidates.0.content.parts").Array() {
		if !part.Get("text").Exists() {
			add(part.Raw, "")
			continue
		}
		for piece := range slices.Chunk([]rune(part.Get("text").Str), 7) {
			text, _ := json.Marshal(string(piece))
			add(fmt.Sprintf(`{"text":%s,"thought":%t}`, text, part.Get("thought").Bool()), "")
		}
	}
	add(`{"text":""}`, `,"finishReason":`+answer.Get("candidates.0.finishReason").Raw)
	return events
}

var program = recorded.Program{
	Key: "GEMINI_API_KEY", Dialects: []string{"gemini", "gemini-json"}, Resorted: true,
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
		{`"role":"model"`, `"role":"assistant"`},
		{`"role":"user"`, `"role":"model"`},
		{`"thoughtSignature":"c2lnbmVk"`, `"thoughtSignature":"b3RoZXI="`},
		{`"functionResponse":{`, `"functionResponse":{"isError":true,`},
		{`"response":{`, `"response":{"result":1,`},
		{`"systemInstruction"`, `"system"`},
		{`"contents":[`, `"contents":[{"role":"model","parts":[{"functionCall":{"name":"x"},"thoughtSignature":"c2lnbmVk"}]},`},
		{`"functionDeclarations"`, `"functions"`},
		{`"parameters":{`, `"parameters":{"additionalProperties":false,`},
		{`"id":"call-1"`, `"id":"call-9"`},
	})
}

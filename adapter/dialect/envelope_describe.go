package dialect

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/wipagent/wipagent/idl/cleantext"
)

// marks tell by one member whose message an object is, the most telling first.
var marks = []struct {
	member, value string // a value of "" is any
	means         string
}{
	{"jsonrpc", "", "a message of MCP"},
	{"type", "function_call", "a call of OpenAI's Responses API"},
	{"type", "tool_use", "a call of Anthropic's Messages API"},
	{"functionCall", "", "a call of Gemini's GenerateContent"},
	{"function", "", "a call of OpenAI's Chat Completions"},
	{"object", "response", "a response of OpenAI's Responses API"},
	{"object", "chat.completion.chunk", "a streamed chunk of OpenAI's Chat Completions"},
	{"choices", "", "a completion of OpenAI's Chat Completions"},
	{"delta", "", "a streamed fragment"},
	{"tool_calls", "", "a message of OpenAI's Chat Completions"},
	{"function_call", "", "a message of OpenAI's Chat Completions"},
	{"candidates", "", "a response of Gemini's GenerateContent"},
	{"parts", "", "a content of Gemini's GenerateContent"},
	{"stop_reason", "", "a message of Anthropic's Messages API"},
	{"tools", "", "a list of tools"},
}

// describe says for a person what a value is, if it is not what was expected.
// Of its own words it quotes names of members and types, cleaned and few.
func describe(v gjson.Result) string {
	switch {
	case v.IsArray():
		return describeArray(v)
	case v.IsObject():
	case v.Type == gjson.String:
		return "a string"
	case v.Type == gjson.Number:
		return "a number"
	case v.Type == gjson.Null:
		return "null"
	default:
		return "a bool"
	}
	if e := v.Get("error"); e.IsObject() && !v.Get("jsonrpc").Exists() || text(v, "type") == "error" {
		return describeError(v, e)
	}
	if what := telling(v); what != "" {
		return what
	}
	if kind := text(v, "type"); kind != "" {
		return "an object of the type " + quote(kind)
	}
	if role := text(v, "role"); role != "" {
		return "a message of the role " + quote(role)
	}
	var names []string
	v.ForEach(func(key, _ gjson.Result) bool {
		names = append(names, quote(key.Str))
		return len(names) < 5
	})
	if len(names) == 0 {
		return "an empty object"
	}
	return "an object with " + strings.Join(names, ", ")
}

// describeError says what a provider's error is, by its code.
func describeError(v, e gjson.Result) string {
	for _, of := range []gjson.Result{e, v} {
		for _, name := range []string{"code", "type", "status"} {
			if code := text(of, name); code != "" && code != "error" {
				return "an error of the provider (" + quote(code) + ")"
			}
		}
	}
	return "an error of the provider"
}

// telling says whose message an object is, if one can tell.
func telling(v gjson.Result) string {
	kind := text(v, "type")
	switch {
	case streamed(kind):
		return "a streamed event"
	case contains(v.Get("content"), "tool_use"):
		return "a message of Anthropic's Messages API" + lacking(v)
	case contains(v.Get("output"), "function_call", "message"):
		return "a response of OpenAI's Responses API"
	}
	for _, m := range marks {
		if found := v.Get(m.member); found.Exists() && (m.value == "" || text(v, m.member) == m.value) {
			return m.means
		}
	}
	return ""
}

// lacking says why a message of Anthropic's is none that has calls: as it is read,
// it has a role, and that is the assistant's.
func lacking(v gjson.Result) string {
	switch role := v.Get("role"); {
	case !role.Exists() && !v.Get("type").Exists():
		return ` without its "role": "assistant" and "type": "message"`
	case !role.Exists():
		return ` without its "role": "assistant"`
	case role.Str != "assistant":
		return " of the role " + quote(role.String()) + `, which has no calls: those of "assistant" do`
	}
	return ""
}

// describeArray says what an array holds, by its most telling element.
func describeArray(v gjson.Result) string {
	n, first, told := 0, gjson.Result{}, ""
	v.ForEach(func(_, e gjson.Result) bool {
		if n++; n == 1 {
			first = e
		}
		if e.IsObject() {
			told = telling(e)
		}
		return told == ""
	})
	switch {
	case told != "":
		return "an array with " + told
	case first.IsArray():
		return "an array of arrays"
	}
	return "an array with " + describe(first)
}

// describeText says what a text is that is no JSON.
func describeText(text []byte) string {
	switch trimmed := bytes.TrimSpace(text); {
	case len(trimmed) == 0:
		return "nothing"
	case bytes.HasPrefix(trimmed, []byte("data:")) || bytes.HasPrefix(trimmed, []byte("event:")):
		return "server-sent events"
	case trimmed[0] != '{' && trimmed[0] != '[':
		return fmt.Sprintf("%d bytes that are no JSON", len(text))
	}
	return fmt.Sprintf("%d bytes of JSON that is broken or not alone", len(text))
}

// quote shows a name that came from outside.
func quote(name string) string {
	clean, report := cleantext.Clean(name, 64)
	if report.Cut > 0 {
		clean += "…"
	}
	return strconv.Quote(clean)
}

package dialect

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
)

// responses reads OpenAI's Responses API: calls are items of a response's
// output. Source: the API's reference, the response object.
func (r *reader) responses(v gjson.Result) (bool, error) {
	if v.IsArray() {
		return r.array(v, r.item)
	}
	kind, output := text(v, "type"), v.Get("output")
	switch {
	case kind == "" && v.Get("error").IsObject():
		return false, nil // which describe tells
	case kind == "" && (output.IsArray() || text(v, "object") == "response"):
		return true, r.each("output", output, r.item)
	case kind == "function_call" || kind == "message" || kind == "reasoning" || strings.HasSuffix(kind, "_call"):
		return r.item(v)
	}
	return false, nil
}

// item reads an item of a response's output. There are many types, and ever
// new ones; only those that other providers have are unknown.
func (r *reader) item(v gjson.Result) (bool, error) {
	switch kind := text(v, "type"); kind {
	case "function_call":
		return true, r.add(functionCall(v), true)
	case "message":
		return !v.Get("stop_reason").Exists() && !contains(v.Get("content"), "tool_use"), nil
	case "", "function", "custom", "tool_use", "server_tool_use", "tool_result", "error":
		return false, nil
	default:
		return !streamed(kind), nil
	}
}

// streamed reports whether a type is one of an event, of which there are many.
func streamed(kind string) bool {
	return strings.HasPrefix(kind, "response.") || strings.HasPrefix(kind, "content_block_") || strings.HasPrefix(kind, "message_")
}

// functionCall reads an item of the type function_call.
func functionCall(v gjson.Result) Call {
	return Call{
		ID: text(v, "call_id"), Name: text(v, "name"),
		Arguments: complete(inString(v.Get("arguments")), text(v, "status") != "incomplete"),
		Caller:    program(v.Get("caller")),
	}
}

// program returns a caller that is not the model itself.
func program(caller gjson.Result) json.RawMessage {
	if !caller.IsObject() || text(caller, "type") == "direct" {
		return nil
	}
	return json.RawMessage(caller.Raw)
}

// chat reads OpenAI's Chat Completions: calls are a message's tool_calls.
// Source: the API's reference, the chat completion object.
func (r *reader) chat(v gjson.Result) (bool, error) {
	switch {
	case v.IsArray():
		return r.array(v, r.toolCall)
	case v.Get("choices").IsArray():
		at := 0
		return true, r.each("choices", v.Get("choices"), func(c gjson.Result) (bool, error) {
			before := len(r.calls)
			known, err := r.choice(c)
			if err == nil && len(r.calls) > before {
				err = r.follow(c, at)
			}
			at++
			return known, err
		})
	case v.Get("message").IsObject():
		return r.choice(v)
	case v.Get("function").IsObject():
		return r.toolCall(v)
	}
	return r.message(v, "")
}

// choice reads one of the alternative answers.
func (r *reader) choice(v gjson.Result) (bool, error) {
	message := v.Get("message")
	if !message.IsObject() {
		return false, nil
	}
	return r.message(message, text(v, "finish_reason"))
}

// message reads an assistant's message. The older function_call counts only
// without tool_calls, beside which some gateways repeat it.
func (r *reader) message(v gjson.Result, finish string) (bool, error) {
	calls, older := v.Get("tool_calls"), v.Get("function_call")
	if role := text(v, "role"); role != "assistant" && (role != "" || !calls.Exists() && !older.Exists()) ||
		text(v, "type") != "" || contains(v.Get("content"), "tool_use") {
		return false, nil
	}
	before, last := len(r.calls), lastOf(calls).Get("function")
	if err := r.each("tool_calls", calls, r.toolCall); err != nil {
		return true, err
	}
	if len(r.calls) == before && older.IsObject() {
		last = older
		if err := r.add(chatCall("", older), false); err != nil {
			return true, fmt.Errorf("function_call: %w", err)
		}
	}
	if arguments := last.Get("arguments"); chatCut(finish) && arguments.Type == gjson.String && arguments.Str == "" && len(r.calls) > before {
		r.calls[len(r.calls)-1].Arguments = nil
	}
	return true, nil
}

// chatCut reports whether a message that ended so may lack the end of its last
// call.
func chatCut(finish string) bool { return finish == "length" || finish == "content_filter" }

// toolCall reads an element of tool_calls.
func (r *reader) toolCall(v gjson.Result) (bool, error) {
	function := v.Get("function")
	if !function.IsObject() {
		return v.Get("custom").IsObject(), nil // a custom tool is none of ours
	}
	return true, r.add(chatCall(text(v, "id"), function), true)
}

// chatCall reads what is called.
func chatCall(id string, function gjson.Result) Call {
	return Call{ID: id, Name: text(function, "name"), Arguments: complete(inString(function.Get("arguments")), true)}
}

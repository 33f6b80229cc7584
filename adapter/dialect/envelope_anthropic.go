package dialect

import (
	"strings"

	"github.com/tidwall/gjson"
)

// messages reads Anthropic's Messages API: calls are blocks of a message's
// content. Source: the API's reference, tool use.
func (r *reader) messages(v gjson.Result) (bool, error) {
	if v.IsArray() {
		return r.array(v, r.block)
	}
	kind, content := text(v, "type"), v.Get("content")
	switch {
	case text(v, "role") == "assistant" && (kind == "" || kind == "message"):
		if v.Get("tool_calls").IsArray() || contains(content, "output_text") {
			return false, nil
		}
		if content.Type == gjson.String {
			return true, nil
		}
		before := len(r.calls)
		if err := r.each("content", content, r.block); err != nil {
			return true, err
		}
		if last := lastOf(content); len(r.calls) > before && messagesCut(text(v, "stop_reason")) && text(last, "type") == "tool_use" {
			c := &r.calls[len(r.calls)-1]
			c.Arguments = cutOff(c.Arguments)
		}
		return true, nil
	case kind == "text" || kind == "thinking" || kind == "redacted_thinking" || strings.HasPrefix(kind, "tool_") || strings.HasSuffix(kind, "_tool_use"):
		return r.block(v)
	}
	return false, nil
}

// messagesCut reports whether a message that ended so may lack the end of its
// last call.
func messagesCut(stop string) bool {
	return stop == "max_tokens" || stop == "model_context_window_exceeded" || stop == "refusal"
}

// block reads a block of content. There are many types, and ever new ones;
// only those that other providers have are unknown. A call that names a
// toolset is of the provider's own tools, whose names may be like ours.
func (r *reader) block(v gjson.Result) (bool, error) {
	switch kind := text(v, "type"); kind {
	case "tool_use":
		if text(v, "toolset_name") != "" {
			return true, nil
		}
		return true, r.add(toolUse(v), true)
	case "", "function", "custom", "function_call", "message", "reasoning", "output_text", "error":
		return false, nil
	default:
		return !streamed(kind), nil
	}
}

// toolUse reads a block of the type tool_use.
func toolUse(v gjson.Result) Call {
	return Call{
		ID: text(v, "id"), Name: text(v, "name"), Arguments: complete(inObject(v.Get("input")), true),
		Caller: program(v.Get("caller")),
	}
}

// lastOf returns the last element of an array.
func lastOf(v gjson.Result) (last gjson.Result) {
	if v.IsArray() {
		v.ForEach(func(_, e gjson.Result) bool {
			last = e
			return true
		})
	}
	return last
}

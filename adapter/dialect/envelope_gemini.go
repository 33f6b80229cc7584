package dialect

import (
	"encoding/json"
	"fmt"

	"github.com/tidwall/gjson"
)

// generate reads Gemini's GenerateContent: calls are parts of a candidate's
// content. Source: the API's reference, GenerateContentResponse.
func (r *reader) generate(v gjson.Result) (bool, error) {
	switch {
	case v.IsArray(): // of parts, or of the responses that a stream consists of
		return r.array(v, func(e gjson.Result) (bool, error) {
			if e.IsArray() {
				return false, nil
			}
			return r.generate(e)
		})
	case v.Get("candidates").IsArray():
		at := 0
		return true, r.each("candidates", v.Get("candidates"), func(c gjson.Result) (bool, error) {
			before := len(r.calls)
			known, err := r.candidate(c)
			if err == nil && len(r.calls) > before {
				err = r.follow(c, at)
			}
			at++
			return known, err
		})
	case v.Get("usageMetadata").IsObject() || v.Get("promptFeedback").IsObject():
		return true, nil
	case v.Get("content").IsObject() || v.Get("finishReason").Exists():
		return r.candidate(v)
	case v.Get("parts").IsArray():
		return true, r.each("parts", v.Get("parts"), r.partOrNone)
	}
	return r.part(v)
}

// candidate reads one of the alternative answers. A call that the model wrote
// so badly that Gemini gave up leaves nothing but the reason.
func (r *reader) candidate(v gjson.Result) (bool, error) {
	if !v.IsObject() {
		return false, nil
	}
	if content := v.Get("content"); content.Exists() {
		if err := r.each("parts", content.Get("parts"), r.partOrNone); err != nil {
			return true, fmt.Errorf("content: %w", err)
		}
	}
	switch reason := text(v, "finishReason"); reason {
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS":
		if len(r.calls) == 0 {
			return true, fmt.Errorf("found finishReason %s and no call, expected the call: Gemini could not read what the model wrote", reason)
		}
	}
	return true, nil
}

// partOrNone reads a part of content that may be empty, as the provider's library
// makes the last one of a stream.
func (r *reader) partOrNone(v gjson.Result) (bool, error) {
	if v.IsObject() && len(v.Map()) == 0 {
		return true, nil
	}
	return r.part(v)
}

// part reads a part of content. Those with calls for the provider's own tools
// are passed over.
func (r *reader) part(v gjson.Result) (bool, error) {
	call := v.Get("functionCall")
	switch {
	case call.IsObject():
		return true, r.functionCall(call)
	case call.Exists() || !v.IsObject():
		return false, nil
	}
	for _, name := range []string{
		"text", "thought", "thoughtSignature", "inlineData", "fileData", "functionResponse",
		"executableCode", "codeExecutionResult", "toolCall", "toolResponse", "audioTranscription",
	} {
		if v.Get(name).Exists() {
			return true, nil
		}
	}
	return false, nil
}

// functionCall reads a call, or what a stream says more of the one before it.
func (r *reader) functionCall(v gjson.Result) error {
	partial, args, name, id := v.Get("partialArgs"), v.Get("args"), text(v, "name"), text(v, "id")
	continues := v.Get("willContinue").Bool()
	if r.open != nil && (name == "" || id != "" && id == r.open.id) {
		return r.grow(partial, args, continues)
	}
	r.settle()
	if partial.Exists() || continues {
		if err := r.add(Call{ID: id, Name: name}, false); err != nil {
			return err
		}
		r.open = &growing{id: id, call: len(r.calls) - 1}
		return r.grow(partial, args, continues)
	}
	arguments := inObject(args)
	if args.Type == gjson.Null { // proto3 leaves out what is empty
		arguments = json.RawMessage("{}")
	}
	return r.add(Call{ID: id, Name: name, Arguments: complete(arguments, true)}, false)
}

// settle ends the call whose arguments were still coming: it was cut off.
func (r *reader) settle() {
	if r.open != nil {
		r.calls[r.open.call].Arguments = cutOff(r.open.root.appendTo(nil))
		r.open = nil
	}
}

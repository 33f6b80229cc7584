package dialect

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/wipagent/wipagent/idl"
)

// ResultOptions vary how results are written. The zero value is right for
// most.
type ResultOptions struct {
	// MaxBytes bounds what one result says, in bytes of its text; 0 is
	// MaxResultBytes, anything else under MinResultBytes an error.
	MaxBytes int
	// Mark is the secret key of the marks around strangers' words. With one
	// key the same result is the same text, whenever it is written: providers'
	// caches want that of a conversation that is sent again. Nil makes a
	// random one for this call of Results.
	Mark []byte
}

const (
	// MaxResultBytes is how much one result may say if ResultOptions does not
	// tell: what OpenAI allows of one output (10,485,760 characters), which is
	// the least that a provider states, and fits into any provider's request.
	MaxResultBytes = 10 << 20
	// MinResultBytes is room for the answer that a result is too long.
	MinResultBytes = 1 << 10
)

// Results returns a JSON array of what is to be appended to the conversation
// for calls of one message, in the order given and in the form in which they
// arrived (Call.Form; if empty, the dialect's own):
//
//   - Responses: function_call_output items, each with the call's caller.
//   - Chat: messages of the role tool; of the role function for a call without
//     an ID.
//   - Messages: tool_result blocks, the whole content of one user message,
//     with is_error where the call failed.
//   - Generate: functionResponse parts, whose response has the member output,
//     or error where the call failed.
//   - Protocol: CallToolResult with the JSON as structuredContent and as text,
//     and isError; in a JSON-RPC response if the call was a request.
//
// Responses and Chat have no mark for a failure but the member error of the
// JSON. In Responses, Chat and Messages a result is plain text to a model: a
// stranger's words (Result.Untrusted) stand between two marks (spec/envelopes.md). A
// result that a program of the provider's asked for (Call.Caller) has none,
// since the program reads the JSON.
//
// A result that is too long is answered as a failure that says so, and is
// never cut. The error tells of a result that cannot be sent: JSON is no
// object, the call has no ID to answer to, or forms are mixed. Results is safe
// for concurrent use.
func (d *Dialect) Results(results []Result, opt ResultOptions) (json.RawMessage, error) {
	w := resultWriter{max: opt.MaxBytes, key: opt.Mark}
	switch {
	case w.max == 0:
		w.max = MaxResultBytes
	case w.max < MinResultBytes:
		return nil, fmt.Errorf("found MaxBytes %d, expected at least %d", w.max, MinResultBytes)
	}
	if w.key == nil {
		w.key = make([]byte, 32)
		_, _ = rand.Read(w.key) // never fails
	}
	list := make([]any, 0, len(results))
	var first Form
	for i, r := range results {
		if r.Call.Form == "" {
			r.Call.Form = d.form
		}
		if i == 0 {
			first = r.Call.Form
		}
		item, err := w.write(d, r, first)
		if err != nil {
			return nil, fmt.Errorf("result %d: %w", i, err)
		}
		list = append(list, item)
	}
	return encode(list)
}

// resultWriter writes the results of one message.
type resultWriter struct {
	max int
	key []byte
}

// write writes one result.
func (w *resultWriter) write(d *Dialect, r Result, form Form) (any, error) {
	c := r.Call
	known := false
	for _, f := range d.forms() {
		known = known || f == c.Form
	}
	switch {
	case !known:
		return nil, fmt.Errorf("found the form %q, expected one that %s has", c.Form, d.Name)
	case c.Form != form:
		return nil, fmt.Errorf("found the form %q after %q, expected the results of one message", c.Form, form)
	case c.ID == "" && (form == Responses || form == Messages):
		return nil, fmt.Errorf("found a call of %s without an ID, expected one to answer to", quote(c.Name))
	}
	if form == Protocol && c.ID != "" {
		if id := gjson.Parse(c.ID); id.Type != gjson.String && id.Type != gjson.Number || !gjson.Valid(c.ID) {
			return nil, fmt.Errorf("found the ID %s, expected a string or a number in JSON", quote(c.ID))
		}
	}
	payload, err := oneLine(r.JSON)
	if err != nil {
		return nil, err
	}
	r.JSON = payload
	if text := w.text(r); len(text) > w.max {
		r = tooLong(r, len(text), w.max)
	}
	return writers[form](w, r), nil
}

// oneLine returns an object in one line. JSON escapes the line breaks in its
// strings but for those beyond ASCII, which are escaped here.
func oneLine(object json.RawMessage) (json.RawMessage, error) {
	if !utf8.Valid(object) || idl.Levels(object) > maxLevels || !json.Valid(object) || !gjson.ParseBytes(object).IsObject() {
		return nil, fmt.Errorf("found JSON that is no object in UTF-8 of at most %d levels, expected one", maxLevels)
	}
	var b bytes.Buffer
	if err := json.Compact(&b, object); err != nil {
		return nil, err
	}
	line := b.Bytes()
	for _, r := range []rune{'\u0085', '\u2028', '\u2029'} {
		line = bytes.ReplaceAll(line, []byte(string(r)), fmt.Appendf(nil, `\u%04x`, r))
	}
	return line, nil
}

// tooLong is the answer to a call whose result has no room.
func tooLong(r Result, found, most int) Result {
	type failure struct {
		Class   string `json:"class"`
		Message string `json:"message"`
		Hint    string `json:"hint"`
	}
	hint := "ask for less at a time: a smaller page, a narrower query, or a part of it"
	if !r.Failed {
		hint = "the call was made; " + hint
	}
	answer, err := encode(map[string]failure{"error": {
		"domain", fmt.Sprintf("the result has %d bytes, expected at most %d", found, most), hint,
	}})
	if err != nil {
		panic("dialect: an answer does not encode: " + err.Error())
	}
	return Result{Call: r.Call, JSON: answer, Failed: true}
}

// writers are the forms' ways to say a result.
var writers = map[Form]func(*resultWriter, Result) any{
	Responses: (*resultWriter).responses,
	Chat:      (*resultWriter).chat,
	Messages:  (*resultWriter).messages,
	Generate:  (*resultWriter).generate,
	Protocol:  (*resultWriter).protocol,
}

func (w *resultWriter) responses(r Result) any {
	return struct {
		Type   string          `json:"type"`
		CallID string          `json:"call_id"`
		Caller json.RawMessage `json:"caller,omitempty"`
		Output string          `json:"output"`
	}{"function_call_output", r.Call.ID, r.Call.Caller, w.text(r)}
}

func (w *resultWriter) chat(r Result) any {
	if r.Call.ID == "" {
		return struct {
			Role    string `json:"role"`
			Name    string `json:"name"`
			Content string `json:"content"`
		}{"function", r.Call.Name, w.text(r)}
	}
	return struct {
		Role    string `json:"role"`
		ID      string `json:"tool_call_id"`
		Content string `json:"content"`
	}{"tool", r.Call.ID, w.text(r)}
}

// textContent is a text in a list of contents, of Anthropic and of MCP.
type textContent struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

func (w *resultWriter) messages(r Result) any {
	return struct {
		Type      string        `json:"type"`
		ToolUseID string        `json:"tool_use_id"`
		Content   []textContent `json:"content"`
		IsError   bool          `json:"is_error,omitempty"`
	}{"tool_result", r.Call.ID, []textContent{{"text", w.text(r)}}, r.Failed}
}

func (w *resultWriter) generate(r Result) any {
	response := map[string]json.RawMessage{"output": r.JSON}
	if r.Failed {
		// The error itself, if there is nothing beside it.
		reason, members := r.JSON, 0
		gjson.ParseBytes(r.JSON).ForEach(func(key, value gjson.Result) bool {
			if members++; key.Str == "error" {
				reason = json.RawMessage(value.Raw)
			}
			return true
		})
		if members != 1 {
			reason = r.JSON
		}
		response = map[string]json.RawMessage{"error": reason}
	}
	type functionResponse struct {
		ID       string                     `json:"id,omitempty"`
		Name     string                     `json:"name"`
		Response map[string]json.RawMessage `json:"response"`
	}
	return map[string]functionResponse{"functionResponse": {r.Call.ID, r.Call.Name, response}}
}

func (w *resultWriter) protocol(r Result) any {
	type callToolResult struct {
		Content           []textContent   `json:"content"`
		StructuredContent json.RawMessage `json:"structuredContent"`
		IsError           bool            `json:"isError,omitempty"`
	}
	result := callToolResult{[]textContent{{"text", string(r.JSON)}}, r.JSON, r.Failed}
	if r.Call.ID == "" {
		return result
	}
	return struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Result  callToolResult  `json:"result"`
	}{"2.0", json.RawMessage(r.Call.ID), result}
}

// encode encodes a value of our own types without escaping what only a web
// page would need escaped.
func encode(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

package dialect

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// MaxCalls bounds the calls of one message. Providers allow about as many
// tools, and models call a handful at a time.
const MaxCalls = 128

// Calls returns the calls of one whole message of the provider, in their
// order; none if it holds none. The message may be in any of the provider's
// envelopes, from the whole answer to a request down to one call:
//
//   - OpenAI, Responses API: a response, the array or one item of its output.
//   - OpenAI, Chat Completions: a completion, a choice, a message, its array
//     or one element of tool_calls. The older function_call has no ID.
//   - Anthropic: a message, the array or one block of its content.
//   - Gemini: a GenerateContentResponse or an array of them, a candidate, its
//     content, the array or one of its parts. Older models send no ID.
//   - MCP: a request, an array of them, or the params of one. The ID is the
//     JSON text of the request's id, since 7 and "7" are different ones.
//
// OpenAI's dialects read both of its envelopes, and the portable dialect all;
// Call.Form tells. Calls of tools that run at the provider, or that are the
// provider's own and no functions, are passed over.
//
// What a tool's check can answer is no error: unknown names, wrong, missing or
// cut off arguments. An error says what was found: a message that is not the
// provider's, is no JSON, or is over MaxMessageBytes; a call that could not be
// answered, since it lacks its name or its ID or shares its ID with another;
// more than MaxCalls calls; calls in alternative answers.
//
// The calls hold nothing of message. It is safe for concurrent use.
func (d *Dialect) Calls(message []byte) ([]Call, error) {
	v, err := parse(message)
	if err != nil {
		return nil, err
	}
	forms := d.forms()
	for _, form := range forms {
		r := reader{form: form}
		switch known, err := envelopes[form](&r, v); {
		case err != nil:
			return nil, err
		case known:
			return r.finish(), nil
		}
	}
	return nil, fmt.Errorf("found %s, expected a message of %s", describe(v), titles(forms))
}

// forms returns the envelopes that the dialect reads, its own first.
func (d *Dialect) forms() []Form {
	switch {
	case d.Name == portable.Name:
		return []Form{Responses, Chat, Messages, Generate, Protocol}
	case d.form == Responses:
		return []Form{Responses, Chat}
	case d.form == Chat:
		return []Form{Chat, Responses}
	}
	return []Form{d.form}
}

// envelopes are the forms' readers. Each reports whether the message is in its
// form, and if so what is wrong with it.
var envelopes = map[Form]func(*reader, gjson.Result) (known bool, err error){
	Responses: (*reader).responses,
	Chat:      (*reader).chat,
	Messages:  (*reader).messages,
	Generate:  (*reader).generate,
	Protocol:  (*reader).protocol,
}

// reader collects the calls of one message in one form.
type reader struct {
	form  Form
	calls []Call
	ids   map[string]bool
	size  int      // bytes of the calls
	open  *growing // Gemini's call whose arguments are still coming
	// answer is the only one of alternative answers that has calls.
	answer *int
}

// add adds a call. It needs an ID, if one is wanted, to be answered at all.
func (r *reader) add(c Call, wantID bool) error {
	c.Form = r.form
	switch {
	case c.Name == "":
		return fmt.Errorf("found a call without a name, expected the name of a tool")
	case c.ID == "" && wantID:
		return fmt.Errorf("found a call of %s without an ID, expected one to answer to", quote(c.Name))
	case r.ids[c.ID]:
		return fmt.Errorf("found two calls with the ID %s, expected each to have its own", quote(c.ID))
	case len(r.calls) == MaxCalls:
		return fmt.Errorf("found more than %d calls in one message, expected at most that many", MaxCalls)
	}
	if c.ID != "" {
		if r.ids == nil {
			r.ids = map[string]bool{}
		}
		r.ids[c.ID] = true
	}
	r.calls = append(r.calls, c)
	return r.keep(len(c.ID) + len(c.Name) + len(c.Arguments) + len(c.Caller))
}

// keep counts bytes that are kept: a stream has no end of its own.
func (r *reader) keep(n int) error {
	if r.size += n; r.size > MaxMessageBytes {
		return fmt.Errorf("found calls of more than %d bytes, expected at most that many", MaxMessageBytes)
	}
	return nil
}

// finish returns the calls when all has been read.
func (r *reader) finish() []Call {
	r.settle()
	for i := range r.calls {
		if c := &r.calls[i]; len(c.Arguments) == 0 {
			c.Arguments = nil
		}
	}
	return r.calls
}

// follow notes that one of alternative answers has calls; at is its place, if
// it does not tell its index. Only one answer can be followed, and which is not
// for us to say.
func (r *reader) follow(answer gjson.Result, at int) error {
	if i := answer.Get("index"); i.Type == gjson.Number {
		at = int(i.Int())
	}
	if r.answer != nil && *r.answer != at {
		return fmt.Errorf("found calls in more than one of the alternative answers, expected the one that is to be followed")
	}
	r.answer = &at
	return nil
}

// array reads a whole message that is an array, and reports whether each
// element is known.
func (r *reader) array(v gjson.Result, read func(gjson.Result) (bool, error)) (known bool, err error) {
	known = true
	i := 0
	v.ForEach(func(_, e gjson.Result) bool {
		if known, err = read(e); err != nil {
			err = fmt.Errorf("element %d: %w", i, err)
		}
		i++
		return known && err == nil
	})
	return known, err
}

// each reads a message's array, whose elements must be known: it stands where
// only this provider has it.
func (r *reader) each(name string, v gjson.Result, read func(gjson.Result) (bool, error)) (err error) {
	if !v.IsArray() {
		if v.Type == gjson.Null {
			return nil
		}
		return fmt.Errorf("%s: found %s, expected an array", name, describe(v))
	}
	i := 0
	v.ForEach(func(_, e gjson.Result) bool {
		known, bad := read(e)
		switch {
		case bad != nil:
			err = fmt.Errorf("%s/%d: %w", name, i, bad)
		case !known:
			err = fmt.Errorf("%s/%d: found %s, expected what belongs to %s", name, i, describe(e), titles([]Form{r.form}))
		}
		i++
		return err == nil
	})
	return err
}

// complete returns the arguments, or {} for an empty text where the provider
// sends one for no arguments and has told that the text is at its end.
func complete(arguments json.RawMessage, ended bool) json.RawMessage {
	if ended && len(arguments) == 0 && arguments != nil {
		return json.RawMessage("{}")
	}
	return arguments
}

// text returns a member if it is a string.
func text(v gjson.Result, name string) string {
	if m := v.Get(name); m.Type == gjson.String {
		return m.Str
	}
	return ""
}

// contains reports whether one of an array's elements has one of the types.
func contains(v gjson.Result, types ...string) (found bool) {
	if v.IsArray() {
		v.ForEach(func(_, e gjson.Result) bool {
			found = slices.Contains(types, text(e, "type"))
			return !found
		})
	}
	return found
}

// titles names the providers' interfaces for a person.
func titles(forms []Form) string {
	names := map[Form]string{
		Responses: "OpenAI's Responses API", Chat: "OpenAI's Chat Completions", Messages: "Anthropic's Messages API",
		Generate: "Gemini's GenerateContent", Protocol: "MCP's tools/call",
	}
	var list []string
	for _, f := range forms {
		list = append(list, names[f])
	}
	return strings.Join(list, " or ")
}

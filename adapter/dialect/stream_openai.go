package dialect

import (
	"encoding/json"
	"fmt"

	"github.com/tidwall/gjson"
)

// olderIndex is where Chat's older function_call stands, which has no index.
const olderIndex = 1 << 30

// maxSentName is how long a name may grow; providers allow 128 bytes.
const maxSentName = 1 << 10

// responses takes an event of OpenAI's Responses API. The events that hold a
// whole item or response have the last word. Source: the API's reference,
// streaming events.
func (s *Stream) responses(v gjson.Result) error {
	switch text(v, "type") {
	case "response.output_item.added", "response.output_item.done":
		i, err := index(v, "output_index")
		if err != nil {
			return err
		}
		p, err := s.piece(i)
		if err != nil {
			return err
		}
		return s.item(p, v.Get("item"), text(v, "type") == "response.output_item.done")
	case "response.function_call_arguments.delta", "response.function_call_arguments.done":
		i, err := index(v, "output_index")
		if err != nil {
			return err
		}
		p, err := s.piece(i)
		if err != nil {
			return err
		}
		if text(v, "type") == "response.function_call_arguments.delta" {
			return s.grow(p, v.Get("delta"))
		}
		p.closed = true
		return s.replace(p, v.Get("arguments"))
	case "response.completed", "response.incomplete", "response.done":
		return s.response(v.Get("response").Get("output"))
	case "response.failed":
		return fmt.Errorf("found %s in its stream, expected the rest of the message", describe(v.Get("response")))
	}
	return nil
}

// item takes an item of the output, at its beginning or its end.
func (s *Stream) item(p *piece, item gjson.Result, done bool) error {
	if text(item, "type") != "function_call" {
		p.other = true
		return nil
	}
	c := functionCall(item)
	p.known, p.call.ID, p.call.Name, p.call.Caller = true, c.ID, c.Name, c.Caller
	arguments := item.Get("arguments")
	if !done {
		if len(p.text) == 0 && arguments.Type == gjson.String {
			return s.grow(p, arguments)
		}
		return nil
	}
	p.closed = text(item, "status") != "incomplete"
	return s.replace(p, arguments)
}

// replace takes the whole of a call's arguments in place of the fragments.
func (s *Stream) replace(p *piece, arguments gjson.Result) error {
	if !arguments.Exists() {
		return nil
	}
	if err := s.keep(len(arguments.Raw)); err != nil {
		return err
	}
	p.text, p.whole = inString(arguments), true
	return nil
}

// response takes the output of the whole response, which some servers leave
// empty. An item is known by its call's ID, else by its place.
func (s *Stream) response(output gjson.Result) (err error) {
	if !output.IsArray() {
		return nil
	}
	i := 0
	output.ForEach(func(_, item gjson.Result) bool {
		if text(item, "type") == "function_call" {
			var p *piece
			for _, other := range s.pieces {
				if other.known && other.call.ID == text(item, "call_id") {
					p = other
				}
			}
			if p == nil {
				if p = s.at[i]; p == nil || p.known || p.other {
					p, err = s.start(i)
				}
			}
			if err == nil {
				err = s.item(p, item, true)
			}
		}
		i++
		return err == nil
	})
	return err
}

// chat takes a chunk of OpenAI's Chat Completions. Source: the API's
// reference, the chat completion chunk object.
func (s *Stream) chat(v gjson.Result) (err error) {
	v.Get("choices").ForEach(func(_, choice gjson.Result) bool {
		err = s.chunk(choice)
		return err == nil
	})
	return err
}

// chunk takes what a chunk says of one choice. Some servers send the whole
// message in place of a delta.
func (s *Stream) chunk(choice gjson.Result) error {
	delta := choice.Get("delta")
	if !delta.IsObject() {
		delta = choice.Get("message")
	}
	calls, older := delta.Get("tool_calls"), delta.Get("function_call")
	if calls.IsArray() && calls.Raw != "[]" || older.IsObject() {
		n := int(choice.Get("index").Int())
		if s.choice == nil {
			s.choice = &n
		}
		if *s.choice != n {
			return fmt.Errorf("found calls in the choices %d and %d, expected only one choice to have any", *s.choice, n)
		}
	}
	var err error
	if calls.IsArray() {
		calls.ForEach(func(_, f gjson.Result) bool {
			err = s.fragment(f)
			return err == nil
		})
	}
	if err == nil && older.IsObject() {
		var p *piece
		if p, err = s.piece(olderIndex); err == nil {
			err = s.function(p, older)
		}
	}
	if reason := text(choice, "finish_reason"); reason != "" && len(s.finishes) < MaxCalls {
		s.finishes[int(choice.Get("index").Int())] = reason
	}
	return err
}

// fragment takes an element of a delta's tool_calls. Its index tells the call,
// but some servers leave it out, or give all calls the same and tell them
// apart by their IDs.
func (s *Stream) fragment(f gjson.Result) error {
	id := text(f, "id")
	p, err := s.called(f, id)
	if err != nil {
		return err
	}
	if id != "" {
		p.call.ID = id
	}
	if f.Get("custom").Exists() { // a custom tool is none of ours
		p.other = true
		return nil
	}
	return s.function(p, f.Get("function"))
}

// called returns the call that a fragment belongs to.
func (s *Stream) called(f gjson.Result, id string) (*piece, error) {
	var last *piece
	if n := len(s.pieces); n > 0 {
		last = s.pieces[n-1]
	}
	if !f.Get("index").Exists() || f.Get("index").Type == gjson.Null {
		for _, p := range s.pieces {
			if id != "" && p.call.ID == id {
				return p, nil
			}
		}
		if last == nil || id != "" {
			next := 0
			if last != nil {
				next = last.index + 1
			}
			return s.start(next)
		}
		return last, nil
	}
	i, err := index(f, "index")
	if err != nil {
		return nil, err
	}
	p := s.at[i]
	if p == nil || id != "" && p.call.ID != "" && p.call.ID != id {
		for _, other := range s.pieces {
			if id != "" && other.call.ID == id && other.index == i {
				return other, nil
			}
		}
		return s.start(i)
	}
	return p, nil
}

// function takes what a fragment says of a function's name and arguments. The
// name stands in the first one; some servers repeat it, others split it.
func (s *Stream) function(p *piece, f gjson.Result) error {
	if name := text(f, "name"); name != "" && name != p.call.Name {
		if p.call.Name += name; len(p.call.Name) > maxSentName {
			return fmt.Errorf("found a name of more than %d bytes, expected the name of a tool", maxSentName)
		}
	}
	p.known = true
	switch arguments := f.Get("arguments"); {
	case !arguments.Exists() || arguments.Type == gjson.Null:
		return nil
	case arguments.Type != gjson.String: // an object in place of its text
		if len(p.text) > 0 && string(p.text) != arguments.Raw {
			return fmt.Errorf("found arguments that are %s after a text, expected more of the text", describe(arguments))
		}
		p.text = json.RawMessage(arguments.Raw)
		return s.keep(len(arguments.Raw))
	case repeated(p.text, arguments):
		return nil
	default:
		return s.grow(p, arguments)
	}
}

// repeated reports whether a fragment is the whole text once more, which some
// servers send at the end. A record is never followed by another one.
func repeated(whole []byte, fragment gjson.Result) bool {
	return len(whole) > 1 && whole[len(whole)-1] == '}' && len(fragment.Str) == len(whole) && fragment.Str == string(whole) && json.Valid(whole)
}

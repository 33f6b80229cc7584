package dialect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// Stream joins the fragments in which a provider streams one message to its
// calls. It is not safe for concurrent use.
type Stream struct {
	forms  []Form
	form   Form // "" until an event tells
	size   int  // bytes of fragments kept
	pieces []*piece
	at     map[int]*piece // the last piece of an index
	reader *reader        // of a form that streams whole calls
	finish string         // why Anthropic's message ended
	// Of Chat: whether the stream came to its end, the only choice that has
	// calls, and why the choices ended.
	ended    bool
	choice   *int
	finishes map[int]string
	err      error
}

// piece is one call as far as it has come.
type piece struct {
	index  int
	call   Call
	text   []byte       // of the arguments
	known  bool         // that it is a call has been told, not only fragments of one
	other  bool         // it is no call of a function
	closed bool         // the provider has told that it is at its end
	whole  bool         // text is all of it, whatever fragments come late
	given  gjson.Result // Anthropic's input before its fragments
}

// maxPieces bounds the items or blocks of one streamed message.
const maxPieces = 4096

// Stream returns a new stream for one message of the provider.
func (d *Dialect) Stream() *Stream {
	return &Stream{forms: d.forms(), at: map[int]*piece{}, finishes: map[int]string{}}
}

// Add takes the next event: its JSON, or what a server-sent event's data line
// holds. The line itself or the whole event is taken too, and so is what ends
// some streams, [DONE]. Events that say nothing of calls are passed over.
//
// Late, repeated and reordered events do no harm as far as the provider's
// numbering allows: fragments that come before the head of their call wait for
// it, and a call that comes whole later counts. An event that is an error of
// the provider, or none of its events, is an error, as are more than MaxCalls
// calls and more than MaxMessageBytes of fragments; the stream has failed
// then, and Calls says so too.
func (s *Stream) Add(event []byte) error {
	if s.err == nil {
		s.err = s.add(event)
	}
	return s.err
}

// Calls returns the calls of the stream after its end, in the order in which
// the whole message would have them. If the stream broke off, the last calls
// come with as much of their arguments as there is, which is then no JSON, so
// that the tool's check refuses them: only where the provider has told that
// nothing more comes do no fragments at all mean no arguments. An error is one
// of Dialect.Calls, or tells of fragments that belong to no call.
func (s *Stream) Calls() ([]Call, error) {
	if s.err != nil {
		return nil, s.err
	}
	if s.reader != nil {
		calls := s.reader.finish()
		return slices.Clone(calls), nil
	}
	pieces := slices.Clone(s.pieces)
	slices.SortStableFunc(pieces, func(a, b *piece) int { return a.index - b.index })
	pieces = slices.DeleteFunc(pieces, func(p *piece) bool { return p.other })
	if n := len(pieces); n > 1 && pieces[n-1].index == olderIndex {
		pieces = pieces[:n-1] // repeats the others
	}
	r := reader{form: s.form}
	for i, p := range pieces {
		if !p.known {
			return nil, fmt.Errorf("found fragments of arguments at index %d without their call, expected its name and ID", p.index)
		}
		p.call.Arguments = s.arguments(p, i+1 == len(pieces))
		if err := r.add(p.call, s.form != Chat || p.index != olderIndex); err != nil {
			return nil, err
		}
	}
	return r.finish(), nil
}

// arguments returns what has come of a call's arguments.
func (s *Stream) arguments(p *piece, last bool) json.RawMessage {
	ended := p.closed
	switch s.form {
	case Chat:
		finish := s.finishes[*s.choice]
		ended = (s.ended || finish != "") && (!last || !chatCut(finish))
	case Messages:
		ended = ended && (!last || !messagesCut(s.finish))
	}
	arguments := json.RawMessage(mend(slices.Clone(p.text)))
	if s.form == Messages && len(arguments) == 0 && p.given.Exists() && p.given.Raw != "{}" {
		if arguments = inObject(p.given); !ended {
			arguments = cutOff(arguments)
		}
	}
	if arguments == nil {
		arguments = json.RawMessage{}
	}
	return complete(arguments, ended)
}

// add takes an event.
func (s *Stream) add(event []byte) error {
	data := payload(event)
	switch {
	case len(data) == 0:
		return nil
	case string(data) == "[DONE]":
		s.ended = true
		return nil
	}
	v, err := parse(data)
	if err != nil {
		return err
	}
	form, err := s.tell(v)
	if err != nil || form == "" {
		return err
	}
	if s.form != "" && s.form != form {
		return fmt.Errorf("found an event of %s, expected one of %s as before", titles([]Form{form}), titles([]Form{s.form}))
	}
	s.form = form
	return events[form](s, v)
}

// events are the forms' readers of one event.
var events = map[Form]func(*Stream, gjson.Result) error{
	Responses: (*Stream).responses,
	Chat:      (*Stream).chat,
	Messages:  (*Stream).messages,
	Generate:  (*Stream).whole,
	Protocol:  (*Stream).whole,
}

// tell returns the form of an event, "" if it may be ignored.
func (s *Stream) tell(v gjson.Result) (Form, error) {
	kind, form := text(v, "type"), Form("")
	failure := v.Get("error")
	switch {
	case !v.IsObject():
		form = Generate // which streams one array, if not asked for events
	case kind == "error" || kind == "" && failure.IsObject() && !v.Get("jsonrpc").Exists():
		return "", fmt.Errorf("found %s in its stream, expected the rest of the message", describe(v))
	case strings.HasPrefix(kind, "response."):
		form = Responses
	case strings.HasPrefix(kind, "content_block_") || strings.HasPrefix(kind, "message_") || kind == "ping":
		form = Messages
	case v.Get("choices").IsArray():
		form = Chat
	case v.Get("candidates").IsArray() || v.Get("usageMetadata").IsObject() || v.Get("promptFeedback").IsObject():
		form = Generate
	case v.Get("jsonrpc").Exists():
		form = Protocol
	case kind != "" && telling(v) == "" && kind != "message":
		return "", nil // providers add kinds of events
	}
	if !slices.Contains(s.forms, form) {
		return "", fmt.Errorf("found %s, expected an event of %s", describe(v), titles(s.forms))
	}
	return form, nil
}

// payload returns what an event's data lines hold, and an event that has no
// lines of its own as it is.
func payload(event []byte) []byte {
	event = bytes.TrimSpace(event)
	if len(event) == 0 || event[0] == '{' || event[0] == '[' {
		return event
	}
	var data []byte
	sse := true
	for line := range bytes.Lines(event) {
		line = bytes.TrimRight(line, "\r\n")
		field, value, _ := bytes.Cut(line, []byte(":"))
		switch string(field) {
		case "data":
			if data != nil {
				data = append(data, '\n')
			}
			data = append(data, bytes.TrimPrefix(value, []byte(" "))...)
		case "", "event", "id", "retry":
		default:
			sse = false
		}
	}
	if !sse {
		return event
	}
	return bytes.TrimSpace(data)
}

// piece returns the last piece of an index, a new one if there is none.
func (s *Stream) piece(index int) (*piece, error) {
	if p := s.at[index]; p != nil {
		return p, nil
	}
	return s.start(index)
}

// start begins a piece.
func (s *Stream) start(index int) (*piece, error) {
	most := maxPieces
	if s.form == Chat { // where all of them are calls
		most = MaxCalls
	}
	if len(s.pieces) == most {
		return nil, fmt.Errorf("found more than %d items in one message, expected at most that many", most)
	}
	p := &piece{index: index}
	s.pieces = append(s.pieces, p)
	s.at[index] = p
	return p, nil
}

// grow adds a fragment, a JSON string, to a piece.
func (s *Stream) grow(p *piece, fragment gjson.Result) error {
	if p.whole || p.other {
		return nil
	}
	if fragment.Type != gjson.String {
		return fmt.Errorf("found a fragment that is %s, expected a string", absent(fragment))
	}
	if err := s.keep(len(fragment.Raw)); err != nil {
		return err
	}
	p.text = unquote(p.text, fragment.Raw)
	return nil
}

// keep counts bytes that are kept.
func (s *Stream) keep(n int) error {
	if s.size += n; s.size > MaxMessageBytes {
		return fmt.Errorf("found fragments of more than %d bytes, expected at most that many", MaxMessageBytes)
	}
	return nil
}

// index reads a number that tells which item an event is about.
func index(v gjson.Result, name string) (int, error) {
	n := v.Get(name)
	if i := n.Int(); n.Type == gjson.Number && i >= 0 && i < 1<<30 && n.Num == float64(i) {
		return int(i), nil
	}
	return 0, fmt.Errorf("%s: found %s, expected the index of an item", name, absent(n))
}

// whole takes an event that holds whole calls.
func (s *Stream) whole(v gjson.Result) error {
	if s.reader == nil {
		s.reader = &reader{form: s.form}
	}
	known, err := envelopes[s.form](s.reader, v)
	if err == nil && !known {
		err = fmt.Errorf("found %s, expected an event of %s", describe(v), titles([]Form{s.form}))
	}
	return err
}

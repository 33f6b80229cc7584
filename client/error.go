package client

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/wipagent/wipagent/idl"
)

// Class says what kind of trouble an Error is, and so what its reader can do.
type Class string

const (
	// BadArguments: the call can be corrected; Faults and Corrected say how.
	BadArguments Class = "arguments"
	// NotFound: nothing of that name exists for this caller.
	NotFound Class = "not_found"
	// Refused: the call was understood and openly refused.
	Refused Class = "refused"
	// Domain: a rule or state of the world prevents it; Hint says what to do.
	Domain Class = "domain"
	// Unavailable: the tool does not work now; RetryAfter or the message
	// say whether a later call may succeed.
	Unavailable Class = "unavailable"
)

// Error is how each of the three verbs fails. It is safe to show to a model:
// it quotes nothing of the call and holds no internals.
type Error struct {
	Class   Class
	Message string
	Faults  []idl.Fault // of BadArguments
	Hint    string      // what to do; may be empty
	// Corrected is the record of the verb's own arguments that will be
	// understood when sent back unchanged: for invoke a Call, for inspect a
	// Call with its target alone. Nil if none can be built without inventing
	// content.
	Corrected json.RawMessage
	// RetryAfter is how long to wait before the same call; 0 if unstated.
	RetryAfter time.Duration
	// Ref finds the fault in the operator's log; empty if there is none.
	Ref string
	// Outcome says what became of a call that may change things where the
	// failure alone does not: OutcomeUnknown or OutcomeDone. Empty: nothing
	// was done.
	Outcome string

	// Operation is what was called, if that could be told and may be known: of
	// BadArguments and Refused. A model is not shown it.
	Operation *idl.Operation
	// Untrusted says that the words above may be those of a Host that nobody
	// vouches for. They are clean, and stay data. Of what is refused or
	// unavailable all words are ours.
	Untrusted bool

	near    Call // the target and operation that were meant, where that is clear
	cause   error
	defect  bool
	waiting bool
}

// Waiting reports whether the call is no failure but waits for somebody's
// approval; see Approval.Defer.
func (e *Error) Waiting() bool { return e.waiting }

// Defect reports whether the tool is broken: the operator has to mend something
// before the same call can succeed (T8).
func (e *Error) Defect() bool { return e.defect }

// Error returns class, message and hint in one line.
func (e *Error) Error() string {
	s := string(e.Class) + ": " + e.Message
	for _, f := range e.Faults {
		s += "; at " + f.Path + ": " + f.Constraint
	}
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// Unwrap returns the context's error if the call was cut short by it, or nil:
// what a Host reported stays inside.
func (e *Error) Unwrap() error { return e.cause }

// MarshalJSON writes {"error":{...}} with the fields that apply.
func (e *Error) MarshalJSON() ([]byte, error) {
	type body struct {
		Class      Class           `json:"class"`
		Message    string          `json:"message"`
		Outcome    string          `json:"outcome,omitempty"`
		Faults     []idl.Fault     `json:"faults,omitempty"`
		Hint       string          `json:"hint,omitempty"`
		Corrected  json.RawMessage `json:"corrected_call,omitempty"`
		RetryAfter int64           `json:"retry_after_millis,omitempty"`
		Ref        string          `json:"ref,omitempty"`
		Trust      string          `json:"trust,omitempty"`
	}
	trust := ""
	if e.Untrusted && e.Class != Refused && e.Class != Unavailable {
		trust = untrusted
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // a hint quotes signatures, full of < and >
	err := enc.Encode(struct {
		Error body `json:"error"`
	}{body{e.Class, e.Message, e.Outcome, e.Faults, e.Hint, e.Corrected, e.RetryAfter.Milliseconds(), e.Ref, trust}})
	return b.Bytes(), err
}

// corrected returns a call as Error.Corrected holds it.
func corrected(c Call) json.RawMessage {
	raw, err := json.Marshal(c)
	if err != nil {
		return nil // the arguments are no JSON, so nothing can be corrected
	}
	return raw
}

// temporarilyUnavailable is what a model is told of a defect (T8).
func temporarilyUnavailable(ref string) *Error {
	return &Error{
		Class:   Unavailable,
		Message: "Tool temporarily unavailable (ref: " + ref + "); do not retry this tool",
		Ref:     ref,
		defect:  true,
	}
}

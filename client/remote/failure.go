package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/wipagent/wipagent/space/wip"
)

// Error codes of the protocol beside those of JSON-RPC.
const (
	codeVersion        = -32001 // a version that the server does not speak
	codeNotInitialized = -32002
	codeUnauthorized   = -32003
	codeTooLarge       = -32004 // a request over the server's bounds
	codeNotFound       = -32010
	codeDomain         = -32011
	codeTransient      = -32012
	codeStale          = -32013
	codeInternal       = -32014
)

var codes = map[wip.Class]int64{
	wip.NotFound: codeNotFound, wip.Domain: codeDomain, wip.Transient: codeTransient,
	wip.Stale: codeStale, wip.Internal: codeInternal,
}

// What is kept of a failure's texts.
const (
	maxText       = 4 << 10 // bytes
	maxRetryAfter = 24 * time.Hour
)

// wireFailure is the data of an error that stands for a wip.Failure.
type wireFailure struct {
	Class            wip.Class `json:"class"`
	Message          string    `json:"message,omitempty"`
	Hint             string    `json:"hint,omitempty"`
	RetryAfterMillis int64     `json:"retry_after_millis,omitempty"`
	MaybeDone        bool      `json:"maybe_done,omitempty"`
	// Ref names, at the server, the record of an internal failure.
	Ref string `json:"ref,omitempty"`
}

func (f wireFailure) error() *jsonrpc2.Error {
	e := &jsonrpc2.Error{Code: codes[f.Class], Message: f.Message}
	if e.Message == "" {
		e.Message = string(f.Class)
	}
	e.SetError(f)
	return e
}

// toWireFailure returns what is told of a Host's error, and whether it is a
// defect, of which nothing is told but ref. call says that an operation was
// called, which may have been carried out before time ran out.
func toWireFailure(err error, ref string, call bool) (f wireFailure, defect bool) {
	var failure *wip.Failure
	switch {
	case errors.As(err, &failure) && failure != nil && failure.Class != wip.Internal && codes[failure.Class] != 0:
		return wireFailure{
			Class: failure.Class, Message: cut(failure.Message), Hint: cut(failure.Hint),
			RetryAfterMillis: millis(failure.RetryAfter), MaybeDone: failure.MaybeDone,
		}, false
	case failure == nil && errors.Is(err, context.DeadlineExceeded):
		return wireFailure{Class: wip.Transient, Message: "the request ran out of time", MaybeDone: call}, false
	case failure == nil && errors.Is(err, context.Canceled):
		return wireFailure{Class: wip.Transient, Message: "the request was cancelled", MaybeDone: call}, false
	}
	return wireFailure{
		Class: wip.Internal, Message: "internal error", Ref: ref,
		MaybeDone: failure != nil && failure.MaybeDone || failure == nil && call,
	}, true
}

// millis rounds a wait up, so that none becomes nothing.
func millis(d time.Duration) int64 {
	return int64((min(max(d, 0), maxRetryAfter) + time.Millisecond - 1) / time.Millisecond)
}

// cut shortens a text on a character's boundary.
func cut(s string) string {
	if len(s) > maxText {
		s = s[:maxText]
		for len(s) > 0 && !utf8.RuneStart(s[len(s)-1]) {
			s = s[:len(s)-1]
		}
		s = s[:max(len(s)-1, 0)] // what may be half a character
	}
	return strings.ToValidUTF8(s, "\ufffd")
}

var refForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// fromError returns the failure that a server's error stands for. Whatever it
// says, a class that is none is a defect of the server.
func fromError(e *jsonrpc2.Error) *wip.Failure {
	var f wireFailure
	if e.Data != nil && json.Unmarshal(*e.Data, &f) == nil && codes[f.Class] != 0 {
		out := &wip.Failure{
			Class: f.Class, Message: cut(f.Message), Hint: cut(f.Hint), MaybeDone: f.MaybeDone,
			RetryAfter: time.Duration(min(max(f.RetryAfterMillis, 0), maxRetryAfter.Milliseconds())) * time.Millisecond,
		}
		if f.Class == wip.Internal {
			out.Message = "the Host has a defect"
			if refForm.MatchString(f.Ref) {
				out.Message += " (its ref: " + f.Ref + ")"
			}
		}
		return out
	}
	switch e.Code {
	case codeUnauthorized:
		return unauthorized(0)
	case codeVersion:
		return internal("the Host does not speak version " + Version + " of the protocol")
	case codeTooLarge:
		return requestTooLarge(0)
	}
	return &wip.Failure{Class: wip.Internal, Message: "the Host answered with an error of the protocol", Err: errors.New(printable(e.Message))}
}

// requestTooLarge is the failure of a request over a bound, if that is known.
func requestTooLarge(limit int) *wip.Failure {
	f := &wip.Failure{Class: wip.Domain, Message: "the request is larger than the Host takes", Hint: "send less"}
	if limit > 0 {
		f.Message = fmt.Sprintf("the request is larger than the %d bytes that the Host takes", limit)
	}
	return f
}

func internal(message string) *wip.Failure {
	return &wip.Failure{Class: wip.Internal, Message: message}
}

// broken is the failure of an answer that is not what the protocol says. An
// operation has then been carried out.
func broken(err error) *wip.Failure {
	return &wip.Failure{Class: wip.Internal, Message: "the Host's answer is not what the protocol says", MaybeDone: true, Err: breach{err}}
}

// breach is how an answer is not what the protocol says.
type breach struct{ error }

func (b breach) Unwrap() error { return b.error }

// Notice says it for an operator's log, without what the Host sent.
func (b breach) Notice() string {
	const unsound = "the Host's answer is not what the protocol says: "
	var form *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(b.error, &form):
		return fmt.Sprintf(unsound+"found no JSON at byte %d", form.Offset)
	case errors.As(b.error, &kind):
		return fmt.Sprintf(unsound+"found a value of another type at byte %d", kind.Offset)
	}
	return unsound + printable(b.Error())
}

// printable returns a server's words for an operator's log: one short line.
func printable(s string) string {
	if s = oneLine(cut(s)); len(s) > 200 {
		s = strings.ToValidUTF8(s[:200], "")
	}
	return s
}

// oneLine puts a space in place of what is no graphic character.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) {
			return ' '
		}
		return r
	}, s)
}

// stderrLine returns a line that a child wrote.
func stderrLine(line []byte) string {
	return strings.TrimSpace(oneLine(strings.ToValidUTF8(string(line), "\ufffd")))
}

// ErrToken is what errors.Is finds in the failure of a Host that does not let a
// client in by its token, or without one.
var ErrToken = errors.New("the Host does not take the token")

// tokenError is ErrToken with the status that said so; 0 if a message did.
type tokenError struct{ status status }

func (e *tokenError) Error() string { return ErrToken.Error() }

// Notice says for an operator's log what happened.
func (e *tokenError) Notice() string {
	if e.status == 0 {
		return e.Error()
	}
	return e.Error() + " (" + e.status.Error() + ")"
}

func (e *tokenError) Is(target error) bool { return target == ErrToken }

func unauthorized(s status) *wip.Failure {
	return &wip.Failure{Class: wip.Internal, Message: ErrToken.Error(), Err: &tokenError{s}}
}

package login

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/wipagent/wipagent/objects/source/session/secret"
)

// Reason is why a login failed: a grid's own word for it, or one of ours.
type Reason string

// What grids give as the reason. Source: login response of Second Life and
// OpenSimulator.
const (
	// ReasonKey: wrong name or password, a blocked account, and most
	// refusals of OpenSimulator. Trying again risks locking the account.
	ReasonKey Reason = "key"
	// ReasonPresence: the grid believes that the account is logged in still.
	ReasonPresence Reason = "presence"
	// ReasonConnect: trouble of the region or the grid.
	ReasonConnect Reason = "connect"
	// ReasonTerms: the terms of service wait for acceptance
	// (Request.AcceptTerms); Error.Message holds the text, or names it.
	ReasonTerms Reason = "tos"
	// ReasonCritical: a critical message waits to be read
	// (Request.ReadCritical).
	ReasonCritical Reason = "critical"
	// ReasonUpdate and ReasonOptional: the grid wants another version.
	ReasonUpdate   Reason = "update"
	ReasonOptional Reason = "optional"
	// ReasonMFA: a code of the account's second factor is wanted
	// (Request.Token), or a stored Request.MFAHash is no longer valid.
	ReasonMFA Reason = "mfa_challenge"
	// ReasonRedirect: the grid sent us on and on, or to where we do not
	// follow.
	ReasonRedirect Reason = "indeterminate"
)

// What we give as the reason.
const (
	// ReasonRequest: the Request itself is not fit to be sent.
	ReasonRequest Reason = "request"
	// ReasonTransport: no answer came; Error.Err says why.
	ReasonTransport Reason = "transport"
	// ReasonNotGrid: something answered that speaks no XML-RPC, such as a
	// maintenance page or a proxy.
	ReasonNotGrid Reason = "not a grid"
	// ReasonFault: an XML-RPC fault.
	ReasonFault Reason = "fault"
	// ReasonMalformed: the answer lacks what a session needs, or breaks off.
	ReasonMalformed Reason = "malformed"
	// ReasonUnknown: a reason that is none of the above; Error.Given is the
	// grid's word.
	ReasonUnknown Reason = "unknown"
)

// Error is a login that failed. No secret of the request or of the answer is
// in its texts.
type Error struct {
	Reason Reason
	// Given is the grid's own word for the reason; empty if it gave none.
	Given string
	// Message is the grid's text for people, cleaned of control characters;
	// empty if it gave none.
	Message string
	// MessageID names the text (extended errors of Second Life); mostly empty.
	MessageID string
	// Status is the answer's HTTP status; 0 without an answer.
	Status int
	// MFAHash came with the refusal and is to be stored and sent from now
	// on; zero if none came.
	MFAHash secret.Of[string]
	// Err is the cause; nil if the grid refused.
	Err error
}

// Error implements error. Only the beginning of Message is in it.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "login failed: %s", e.Reason)
	if e.Reason == ReasonUnknown && e.Given != "" {
		fmt.Fprintf(&b, " reason %q", e.Given)
	}
	if e.Err != nil {
		fmt.Fprintf(&b, ": %v", e.Err)
	}
	if e.Message != "" {
		fmt.Fprintf(&b, ": the grid says %q", excerpt(e.Message, 300))
	}
	return b.String()
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// Retry reports whether the same request may succeed later, and how long to
// wait before the first further attempt; double it for each that follows, and
// give up after five.
func (e *Error) Retry() (after time.Duration, ok bool) {
	switch e.Reason {
	case ReasonPresence:
		// The attempt itself throws the old session out on OpenSimulator;
		// Second Life takes longer.
		return 5 * time.Second, true
	case ReasonConnect, ReasonTransport:
		return 10 * time.Second, true
	case ReasonNotGrid:
		return 30 * time.Second, e.Status >= 500 || e.Status == 429
	}
	return 0, false
}

// fail returns an error with a cause of our own.
func fail(reason Reason, format string, args ...any) *Error {
	return &Error{Reason: reason, Err: fmt.Errorf(format, args...)}
}

// clean drops what does not belong in a text for people: control and format
// characters other than line breaks, and invalid UTF-8.
func clean(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case r == '\t', r == '\r':
			return ' '
		case r == utf8.RuneError, unicode.Is(unicode.C, r):
			return -1
		}
		return r
	}, s))
}

// excerpt returns the beginning of a text in one line, of at most most bytes.
func excerpt(s string, most int) string {
	if len(s) > 4*most {
		s = s[:4*most]
	}
	s = strings.Join(strings.Fields(clean(s)), " ")
	if len(s) <= most {
		return s
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	return s[:cut] + "…"
}

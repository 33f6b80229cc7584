// Package client is the WIP client: it keeps the space that mounted Hosts
// publish and gives a caller three verbs on it, Discover, Inspect and Invoke
// (W1). It knows no grid and no provider.
//
// One call goes: resolve the entry and hide what policy hides, check the
// arguments, ask for approval, dispatch, shape the result, audit. Whatever is
// hidden is answered as what does not exist, by all three verbs (T9, B3).
package client

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"regexp"
	"runtime/debug"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/wipagent/wipagent/client/artifact"
	"github.com/wipagent/wipagent/client/audit"
	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/space"
	"github.com/wipagent/wipagent/space/wip"
)

// Principal is who calls; see [policy.Principal].
type Principal = policy.Principal

// Operation is an operation of an entry and the name by which the entry knows
// it.
type Operation = space.NamedOperation

// Config configures a Client. The zero value works.
type Config struct {
	// Audit receives one record a call and the faults; nil discards them.
	Audit *audit.Log
	// Approve decides on a call that may change things, or that an untrusted
	// Host merely claims to be harmless, if its context has no approver
	// (WithApprover). It may block until ctx ends, which the operation's timeout
	// does not count. Nil refuses all such calls. It runs after the arguments
	// were checked and is never asked about a call that policy hides.
	Approve func(ctx context.Context, a Approval) bool
	// Space configures the space that the client keeps; nil is its default.
	Space *space.Config
	// Artifacts keeps results that are too large for an answer, below
	// ArtifactsPath. Whoever made it closes it. Nil refuses such results.
	Artifacts *artifact.Store
}

// Client is safe for concurrent use.
type Client struct {
	space   *space.Space
	audit   *audit.Log
	approve func(context.Context, Approval) bool
	mounts  mounts
	run     string                     // of calls that name none
	made    *lru.Cache[string, string] // outcomes of calls that change things, by their keys

	artifacts *artifact.Store // nil if none are kept
}

// New returns a Client without mounts. A nil config is the zero Config.
func New(cfg *Config) *Client {
	if cfg == nil {
		cfg = &Config{}
	}
	c := &Client{space: space.New(cfg.Space), audit: cfg.Audit, approve: cfg.Approve, artifacts: cfg.Artifacts, run: rand.Text(), made: newMade()}
	if c.artifacts != nil {
		c.mountArtifacts()
	}
	return c
}

// Refresh asks the Hosts at and below path for their trees again.
func (c *Client) Refresh(ctx context.Context, path string) error {
	return c.space.Refresh(ctx, wip.Caller{}, path)
}

// verb names the three verbs in audit records.
type verb string

const (
	discover verb = "discover"
	inspect  verb = "inspect"
	invoke   verb = "invoke"
)

// record starts the one audit record of a call.
func record(v verb, id string, p *policy.Principal) audit.Record {
	if !callID.MatchString(id) {
		id = newID()
	}
	return audit.Record{Call: id, Principal: p.ID, Audience: p.Audience, Verb: string(v), Outcome: "ok"}
}

// finish is deferred by each verb: it completes and writes the record, and makes
// what err points at the *Error that the verbs promise. A panic on the way is a
// defect like a Host's.
func (c *Client) finish(r *audit.Record, start time.Time, err *error) {
	if v := recover(); v != nil {
		*err = &audit.Panic{Value: v, Stack: debug.Stack()}
	}
	r.Duration = time.Since(start)
	if *err != nil {
		e := c.asError(*err, r)
		r.Outcome, r.Ref = string(e.Class), e.Ref
		if e.waiting {
			r.Outcome = "waiting"
		}
		*err = e
	}
	c.audit.Call(*r)
}

// callID is what an identifier from outside must look like to enter the log:
// anything else might carry content.
var callID = regexp.MustCompile(`^[A-Za-z0-9_.:-]{1,64}$`)

// newID returns a fresh identifier for a call or a fault.
func newID() string { return rand.Text()[:12] }

// asError returns err as the *Error that it is or stands for.
func (c *Client) asError(err error, r *audit.Record) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	if ctxErr := contextError(err); ctxErr != nil {
		return ctxErr
	}
	return c.defect(err, cmp.Or(r.Tool, r.Verb))
}

// defect tells the operator what is wrong and returns what the caller is told.
func (c *Client) defect(err error, tool string) *Error {
	e := temporarilyUnavailable(newID())
	c.audit.Fault(e.Ref, tool, err)
	return e
}

// contextError returns the *Error for a call that its own caller ended, or nil.
func contextError(err error) *Error {
	switch {
	case errors.Is(err, context.Canceled):
		return &Error{Class: Unavailable, Message: "the call was cancelled", cause: context.Canceled}
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Class: Unavailable, Message: "the call ran out of time", Hint: "the same call may be sent again", cause: context.DeadlineExceeded}
	}
	return nil
}

package client

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/wipagent/wipagent/client/audit"
	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space"
	"github.com/wipagent/wipagent/space/wip"
)

// This file sends a call, and says what became of it if no answer came: a call
// that may have been carried out is never said not to have been (T12).

type runKey struct{}

// WithRun returns a context whose calls belong to a run unless Call.Run says
// otherwise.
func WithRun(ctx context.Context, run string) context.Context {
	return context.WithValue(ctx, runKey{}, run)
}

// idempotencyKey derives the key of a call from who makes it, the run and the
// tool call's identifier, so that each attempt has the same. Without a run it is
// that of this Client, which is random; id, where the caller gives none, is the
// fresh one of the audit record.
func (c *Client) idempotencyKey(ctx context.Context, p *policy.Principal, call Call, id string) string {
	run, _ := ctx.Value(runKey{}).(string)
	h := sha256.New()
	for _, s := range []string{p.ID, cmp.Or(call.Run, run, c.run), cmp.Or(call.ID, id)} {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(s))))
		h.Write([]byte(s))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// send makes one call at the Host. Its error is the Host's, ctx's or that of the
// result's shape.
func (c *Client) send(ctx context.Context, p *policy.Principal, r *prepared, rec *audit.Record) (*idl.Shaped, error) {
	n, op := r.node, r.op
	if err := ctx.Err(); err != nil {
		return nil, &unsent{err}
	}
	message := wip.Call{
		Caller: p.Caller(), ID: r.id, Path: n.HostPath, Object: n.ObjectID,
		Interface: op.Interface.Name, Operation: op.Name, Arguments: r.args.Record, DryRun: r.call.DryRun,
		Idempotent: op.Idempotent && n.Mount.Trusted,
	}
	// A dry run has no key: a Host might answer the real call with its result.
	if op.Risk != idl.ReadOnly && !message.DryRun {
		message.IdempotencyKey = r.key
	}
	result, err := n.Mount.Host.CallOperation(ctx, message)
	if err != nil {
		return nil, err
	}
	rec.CacheHit = result.CacheHit
	return op.Shape(result.Value, idl.ShapeOptions{MapEntry: n.Mount.Join, UntrustedStrings: !n.Mount.Trusted, MaxBytes: c.maxResult()})
}

// unsent is the context's error for a call that ended before it was sent.
type unsent struct{ error }

func (u *unsent) Unwrap() error { return u.error }

// mayBeDone reports whether a call that failed so may have been carried out. A
// Host's failure says it; any other error says nothing.
func mayBeDone(err error) bool {
	var f *wip.Failure
	var u *unsent
	if errors.As(err, &f) {
		return f.MaybeDone
	}
	return !errors.As(err, &u)
}

// isDomain reports whether a rule of the domain prevented a call.
func isDomain(err error) bool {
	var f *wip.Failure
	return errors.As(err, &f) && f.Class == wip.Domain && !f.MaybeDone
}

// The values of Error.Outcome.
const (
	// OutcomeUnknown: it is not known whether the operation was carried out.
	OutcomeUnknown = "unknown"
	// OutcomeDone: it was carried out, but its result cannot be shown.
	OutcomeDone = "done"
)

// unanswered says what became of a call whose send failed with err. Of one that
// changes nothing, only why there is no answer.
func (c *Client) unanswered(ctx context.Context, p *policy.Principal, r *prepared, tool string, err error) *Error {
	if errors.Is(err, idl.ErrTooLarge) {
		e := &Error{
			Class: Domain, Message: fmt.Sprintf("the result is larger than the %d bytes that the operation may return", r.op.MaxOutput),
			Hint: "ask for less: a smaller page, a narrower query",
		}
		c.audit.Fault(newID(), tool, err)
		if r.needsApproval() {
			e.Outcome, e.Message = OutcomeDone, "the operation was carried out, but "+e.Message
			e.Hint = "do not send it again: " + c.findOut(p, r.node)
		}
		return e
	}
	var e *Error
	if ctx.Err() != nil && contextError(err) != nil {
		e = contextError(ctx.Err())
	} else {
		e = c.hostTrouble(err, tool, r.node.Mount.Trusted)
	}
	if !r.needsApproval() || !mayBeDone(err) {
		return e
	}
	if e.Ref == "" {
		e.Ref = newID()
		c.audit.Fault(e.Ref, tool, err)
	}
	const unknown = "it is not known whether the operation was carried out"
	switch {
	case e.defect, e.cause != nil:
		e.Message += "; " + unknown
	default:
		e.Message = unknown
	}
	e.Class, e.Outcome = Unavailable, OutcomeUnknown
	if r.op.Idempotent && r.node.Mount.Trusted && !e.defect {
		e.Hint = "the same call may be sent again: a second one changes nothing more"
	} else {
		e.Hint, e.RetryAfter = "do not send it again before you know: "+c.findOut(p, r.node), 0
	}
	return e
}

// newMade returns the memory of what became of the latest calls.
func newMade() *lru.Cache[string, string] {
	const most = 1024
	made, err := lru.New[string, string](most)
	if err != nil {
		panic(err) // only for a size that is not positive
	}
	return made
}

// soFar keeps in mind what became of a call that changes things, and has each later
// attempt at it tell of the earlier: one that fails would seem to say that nothing
// was done.
func (c *Client) soFar(p *policy.Principal, r *prepared, err error) error {
	if r.op.Risk == idl.ReadOnly || r.call.DryRun {
		return err
	}
	if err == nil {
		c.made.Add(r.key, OutcomeDone)
		return nil
	}
	var e *Error
	if !errors.As(err, &e) {
		if e = contextError(err); e == nil {
			return err
		}
	}
	before, made := c.made.Get(r.key)
	switch {
	case e.Outcome != "":
		if before != OutcomeDone {
			c.made.Add(r.key, e.Outcome)
		}
	case made && !e.waiting:
		told := "may have been carried out: " + c.findOut(p, r.node)
		if before == OutcomeDone {
			told = "was carried out"
		}
		e.Outcome = before
		e.Hint = strings.TrimPrefix(e.Hint+"; an earlier attempt at this very call "+told, "; ")
	}
	return e
}

// findOut says how a caller can see what became of a call: by the operations of
// the same Object that only read, those first that need no arguments.
func (c *Client) findOut(p *policy.Principal, n *space.Node) string {
	const most = 4
	var names, others []string
	for _, named := range n.Operations(c.allowed(p, n)) {
		op := named.Operation
		switch {
		case op.Risk != idl.ReadOnly:
		case slices.ContainsFunc(op.Params, (*idl.Param).Required):
			others = append(others, named.Name)
		default:
			names = append(names, named.Name)
		}
	}
	if names = append(names, others...); len(names) == 0 {
		return "nothing at this entry tells; ask who can see it"
	}
	return "read it back with " + strings.Join(names[:min(most, len(names))], ", ")
}

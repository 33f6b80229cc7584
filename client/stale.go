package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space"
	"github.com/wipagent/wipagent/space/wip"
)

// This file keeps a call from meaning something else than its caller saw: an
// entry may come to lead to another Object, and an Object to other operations,
// between a look at it and a call (W9).

// suspect reports whether a call may have failed because the entry is not any
// more what it was observed to be, and was not carried out, or can do no harm.
func suspect(r *prepared, err error) bool {
	var f *wip.Failure
	var shape *idl.ResultError
	if errors.As(err, &f) {
		return (f.Class == wip.Stale || f.Class == wip.NotFound) && !f.MaybeDone
	}
	return errors.As(err, &shape) && !r.needsApproval()
}

// again asks the Host for the entry of a suspect call. If it is what it was, it
// returns nil and the failure stands. If it has changed, it returns the call to
// send instead where that is safe, or what the caller is told.
func (c *Client) again(ctx context.Context, p *policy.Principal, call Call, old *prepared) (*prepared, error) {
	fresh, err := c.observe(ctx, p, old.node)
	switch {
	case errors.Is(err, space.ErrNotFound) || err == nil && !c.visible(p, fresh):
		return nil, c.completedInvoke(ctx, p, c.noEntry(p, call), call)
	case contextError(err) != nil:
		return nil, err
	case err != nil:
		return nil, c.hostTrouble(err, policy.Identify(old.node.Path, old.node.Interfaces, old.op), old.node.Mount.Trusted)
	case sameObject(old.node, fresh):
		return nil, nil
	}
	next, err := c.prepare(ctx, p, call)
	if err != nil || !sameCall(old, &next) {
		return nil, changed(old, fresh, next.op)
	}
	next.id, next.key = old.id, old.key
	return &next, nil
}

// notice tells the operator of what is wrong with an entry, such as a document
// that is not the one that it names, if the entry has been observed since. What is
// wrong is not used.
func (c *Client) notice(n *space.Node, since time.Time) {
	if len(n.Problems) > 0 && n.Age() <= time.Since(since) {
		c.audit.Fault(newID(), n.Mount.Path, errors.Join(n.Problems...))
	}
}

// substituted reports whether an interface of the node is not used because its
// document is another than the entry names.
func substituted(n *space.Node) bool {
	return slices.ContainsFunc(n.Problems, func(err error) bool { return errors.Is(err, space.ErrDigest) })
}

// observe asks the Host for the node's entry, whatever is remembered of it.
func (c *Client) observe(ctx context.Context, p *policy.Principal, n *space.Node) (*space.Node, error) {
	c.space.Forget(p.Caller(), n.Path)
	fresh, err := c.space.Resolve(ctx, p.Caller(), n.Path)
	if err != nil || fresh != n && fresh.Age() <= n.Age() {
		return fresh, err
	}
	// It came with a tree, and comes with the tree again.
	trouble := c.space.Refresh(ctx, wip.Caller{}, n.Path)
	again, err := c.space.Resolve(ctx, p.Caller(), n.Path)
	if err == nil && again == fresh {
		return nil, errors.Join(ctx.Err(), trouble, errSilent)
	}
	return again, err
}

var errSilent = errors.New("the Host was asked for an entry again and said nothing of it")

// sameObject reports whether two observations of an entry are of one Object with
// the same interfaces.
func sameObject(a, b *space.Node) bool {
	return a.ObjectID == b.ObjectID && slices.EqualFunc(a.Interfaces, b.Interfaces, func(a, b *idl.Interface) bool {
		return a == b || a.QualifiedName() == b.QualifiedName() && slices.EqualFunc(a.Operations, b.Operations, sameOperation)
	})
}

// sameOperation reports whether two operations take the same, return the same and
// do the same, as far as their documents say.
func sameOperation(a, b *idl.Operation) bool {
	return a == b || sameParameters(a, b) && a.Signature() == b.Signature() &&
		a.Risk == b.Risk && a.Idempotent == b.Idempotent && a.DryRun == b.DryRun && a.Audience == b.Audience
}

// sameParameters reports whether a record that fits one of two operations means
// the same to the other.
func sameParameters(a, b *idl.Operation) bool {
	if a == b {
		return true
	}
	aRecords, aEnums := a.ParamTypes()
	bRecords, bEnums := b.ParamTypes()
	return a.Name == b.Name && slices.EqualFunc(a.Params, b.Params, same) && slices.EqualFunc(aRecords, bRecords, same) && slices.EqualFunc(aEnums, bEnums, same)
}

func same[T fmt.Stringer](a, b T) bool { return a.String() == b.String() }

// sameCall reports whether a call of what is there now may stand for one of what
// was there: it is of the same interface, means the same, and can do no harm.
// What changes things stays with the Object that it was approved for, and is
// repeated only if it is idempotent.
func sameCall(old, next *prepared) bool {
	if old.op.Interface.QualifiedName() != next.op.Interface.QualifiedName() || !sameParameters(old.op, next.op) || old.op.Risk != next.op.Risk {
		return false
	}
	if !old.needsApproval() && !next.needsApproval() {
		return true
	}
	return old.node.Mount.Trusted && old.node.ObjectID == next.node.ObjectID && old.op.Idempotent && next.op.Idempotent
}

// changed says what has changed of an entry since it was observed. op is what the
// call means now, nil if nothing.
func changed(old *prepared, fresh *space.Node, op *idl.Operation) *Error {
	e := &Error{Class: Domain, Message: "what can be done at this entry has changed since it was last looked at; nothing was done"}
	if old.node.ObjectID != fresh.ObjectID {
		e.Message = "this path leads to something else than when it was last looked at; nothing was done"
	}
	e.Hint = "inspect " + fresh.Path + " again, and see whether the call is still what you mean"
	if op != nil && !sameParameters(old.op, op) {
		e.Hint += "; the signature now: " + signature(fresh, op)
	}
	return e
}

package client

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space"
	"github.com/wipagent/wipagent/space/wip"
)

// allows reports whether policy lets the principal know of an operation of the
// node: the one decision of all verbs (B3). Of an artifact that is whether he may
// call what it is a result of.
func (c *Client) allows(p *policy.Principal, n *space.Node, op *idl.Operation) bool {
	if of, _, is := c.artifactOf(p, n); is {
		return of != nil && c.allows(p, of.node, of.op)
	}
	return p.Allows(rulesOf(n), n.Path, n.Interfaces, op)
}

// allowed returns what policy lets the principal know of the node's
// operations.
func (c *Client) allowed(p *policy.Principal, n *space.Node) func(*idl.Operation) bool {
	return func(op *idl.Operation) bool { return c.allows(p, n, op) }
}

// choices returns which of the node's operations a call can mean: what policy
// allows, of the call's interface if it names one.
func (c *Client) choices(p *policy.Principal, n *space.Node, call Call) func(*idl.Operation) bool {
	may := c.allowed(p, n)
	if call.Interface == "" {
		return may
	}
	return func(op *idl.Operation) bool { return op.Interface.QualifiedName() == call.Interface && may(op) }
}

// visible reports whether the principal may know of the node: it has an
// operation to offer, or something known below it has. The root is always
// there.
func (c *Client) visible(p *policy.Principal, n *space.Node) bool {
	if n.Path == "/" {
		return true
	}
	for _, i := range n.Interfaces {
		if slices.ContainsFunc(i.Operations, c.allowed(p, n)) {
			return true
		}
	}
	for _, child := range c.space.Children(p.Caller(), n.Path) {
		if c.visible(p, child) {
			return true
		}
	}
	return false
}

// resolve returns the node at the call's target, or the answer that there is
// none. What is hidden costs the same and is answered the same as what does not
// exist. The operation that was asked for, if any, helps to say what can have
// been meant.
func (c *Client) resolve(ctx context.Context, p *policy.Principal, call Call) (*space.Node, error) {
	path := call.Target
	start := time.Now()
	n, err := c.space.Resolve(ctx, p.Caller(), path)
	if err == nil {
		c.notice(n, start)
		if c.visible(p, n) {
			return n, nil
		}
		if err = space.ErrNotFound; n.Age() > time.Since(start) {
			// It came from memory, where what is absent cannot be.
			err = c.space.Miss(ctx, p.Caller(), path)
		}
	}
	switch {
	case errors.Is(err, space.ErrNotFound):
		return nil, c.noEntry(p, call)
	case contextError(err) != nil:
		return nil, err
	}
	at := c.mounts.above(path)
	return nil, c.hostTrouble(err, at, c.mounts.trusted(at))
}

// hostTrouble answers a Host's failure. What the Host says of the domain is
// for the model, as the Host's if nobody vouches for it; the rest is for the
// operator, who finds it by the reference.
func (c *Client) hostTrouble(err error, tool string, trusted bool) *Error {
	var f *wip.Failure
	if errors.As(err, &f) {
		switch f.Class {
		case wip.NotFound:
			return &Error{Class: NotFound, Message: "the Object is no longer there", Hint: "inspect the path again, or discover another"}
		case wip.Domain:
			return &Error{
				Class: Domain, Message: cmp.Or(hostWords(f.Message, trusted), "the Host says that its rules or its state prevent it, and not why"),
				Hint: hostWords(f.Hint, trusted), RetryAfter: plausible(f.RetryAfter), Untrusted: !trusted,
			}
		case wip.Transient, wip.Stale:
			e := &Error{Class: Unavailable, Message: "the Host cannot answer at the moment", Hint: "the same call may succeed a little later", RetryAfter: plausible(f.RetryAfter), Ref: newID()}
			if f.Class == wip.Stale { // again, although it has just been looked at
				e.Message = "the entry is changing at the moment"
			}
			c.audit.Fault(e.Ref, tool, err)
			return e
		}
	}
	return c.defect(err, tool)
}

// hostWords returns what a Host says in a failure as it may be shown. Where nobody
// vouches for the Host it is said whose words they are and where they end, so that
// they pass for no hint of ours.
func hostWords(s string, trusted bool) string {
	if s = strings.TrimSpace(clean(s)); s == "" || trusted {
		return s
	}
	return `the Host says: "` + strings.ReplaceAll(s, `"`, "'") + `"`
}

// plausible returns how long a Host wants a caller to wait, in the whole
// milliseconds in which callers are told and at most a day.
func plausible(wait time.Duration) time.Duration {
	if wait <= 0 {
		return 0
	}
	return min(max(wait, time.Millisecond), 24*time.Hour)
}

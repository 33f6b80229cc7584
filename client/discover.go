package client

import (
	"context"
	"time"

	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space"
	"github.com/wipagent/wipagent/space/wip"
)

// Discovery answers what there is for a purpose.
type Discovery = space.Found

// Discover searches the Discoverable Space below scope ("/" for all of it) for
// what serves the query, among what the principal may know (W2, W4). A scope
// that does not exist answers like an empty one. A ranker that takes more than
// 3 s is left, and the answer is the map alone. The only errors are the
// context's; every error is an *Error.
func (c *Client) Discover(ctx context.Context, p *policy.Principal, scope, query string) (found *Discovery, err error) {
	start := time.Now()
	rec := record(discover, "", p)
	defer c.finish(&rec, start, &err)
	searching, cancel := context.WithTimeout(ctx, idl.DefaultTimeout)
	defer cancel()
	c.refreshStale(searching)
	answer := c.view(p).Search(searching, scope, query)
	if answer.Err != nil { // the answer is the map; why is for the operator
		rec.Ref = newID()
		c.audit.Fault(rec.Ref, string(discover), answer.Err)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return answer, nil
}

// view returns what the principal may find.
func (c *Client) view(p *policy.Principal) *space.View {
	return c.space.View(func(n *space.Node, op *idl.Operation) bool { return c.allows(p, n, op) })
}

// refreshStale asks Hosts for trees that have grown old. It takes part of the
// time of a search; a Host that does not answer by then keeps its old tree, and
// the answer tells how old that is.
func (c *Client) refreshStale(ctx context.Context) {
	const share = 2 * time.Second
	ctx, cancel := context.WithTimeout(ctx, share)
	defer cancel()
	if err := c.space.RefreshStale(ctx, wip.Caller{}); err != nil {
		c.audit.Fault(newID(), string(discover), err)
	}
}

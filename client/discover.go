package client

import (
	"context"
	"time"

	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space"
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
	view := c.space.View(func(n *space.Node, op *idl.Operation) bool { return p.Allows(n.Path, n.Interfaces, op) })
	searching, cancel := context.WithTimeout(ctx, idl.DefaultTimeout)
	defer cancel()
	answer := view.Search(searching, scope, query)
	if answer.Err != nil { // the answer is the map; why is for the operator
		rec.Ref = newID()
		c.audit.Fault(rec.Ref, string(discover), answer.Err)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return answer, nil
}

package client

import (
	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space"
)

// Listed is an operation of an entry that a principal may discover.
type Listed struct {
	Node      *space.Node
	Operation Operation
}

// NeedsApproval reports whether a call must be approved before it runs, as of
// all but what a Host that is vouched for calls read-only.
func (l Listed) NeedsApproval() bool {
	return policy.NeedsApproval(l.Operation.Operation, l.Node.Mount.Trusted)
}

// Catalog lists all that the principal may discover, in the order of paths and
// then as declared: what discover finds, without a question. It asks no Host,
// and what policy hides changes nothing in it. The caller owns the slice.
func (c *Client) Catalog(p *policy.Principal) []Listed {
	var list []Listed
	for _, n := range c.discoverable() {
		for _, op := range n.Operations(c.allowed(p, n)) {
			list = append(list, Listed{n, op})
		}
	}
	return list
}

// Strangers reports whether anything that the principal may discover comes from
// a Host that nobody vouches for: then an answer may hold such a Host's words
// wherever it quotes names or documentation.
func (c *Client) Strangers(p *policy.Principal) bool {
	strangers := false
	c.space.View(func(n *space.Node, op *idl.Operation) bool {
		strangers = strangers || !n.Mount.Trusted && c.allows(p, n, op)
		return false
	})
	return strangers
}

package client

import (
	"context"
	"slices"
	"strings"

	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space"
)

// Explained is what policy says of an operation of an entry.
type Explained struct {
	Listed
	Decision policy.Decision
}

// Explain tells what policy says to the principal of the operations at and below
// target, or of the one that "PATH#OPERATION" names, in the order of paths and
// then as declared. It decides as the three verbs do, and tells of what it
// hides: it is for operators, never for a model. Outside what can be discovered
// it knows the entry at the path alone, which it asks the Host for on the
// principal's behalf. The error is an *Error.
func (c *Client) Explain(ctx context.Context, p *policy.Principal, target string) ([]Explained, error) {
	path, operation, only := strings.Cut(target, "#")
	nodes := slices.DeleteFunc(c.discoverable(), func(n *space.Node) bool { return !below(n.Path, path) })
	if !slices.ContainsFunc(nodes, func(n *space.Node) bool { return n.Path == path }) {
		ctx, cancel := context.WithTimeout(ctx, idl.DefaultTimeout)
		defer cancel()
		switch n, err := c.space.Resolve(ctx, p.Caller(), path); {
		case err == nil:
			nodes = append([]*space.Node{n}, nodes...)
		case len(nodes) == 0 && contextError(err) != nil:
			return nil, contextError(err)
		case len(nodes) == 0:
			return nil, &Error{Class: NotFound, Message: "there is no entry at this path", Hint: "inspect / shows what there is", cause: err}
		}
	}
	var list []Explained
	for _, n := range nodes {
		for _, op := range n.Operations(nil) {
			if only && (n.Path != path || op.Operation != n.Operation(operation, nil)) {
				continue
			}
			list = append(list, Explained{Listed{n, op}, p.Decide(rulesOf(n), n.Path, n.Interfaces, op.Operation)})
		}
	}
	if only && len(list) == 0 {
		return nil, &Error{Class: NotFound, Message: "the entry has no such operation", Hint: "the target without # shows all"}
	}
	return list, nil
}

// below reports whether path is scope or lies below it.
func below(path, scope string) bool {
	return path == scope || strings.HasPrefix(path, strings.TrimSuffix(scope, "/")+"/")
}

// discoverable returns the entries that anybody may discover an operation of, in
// the order of paths.
func (c *Client) discoverable() []*space.Node {
	var nodes []*space.Node
	c.space.View(func(n *space.Node, _ *idl.Operation) bool {
		if len(nodes) == 0 || nodes[len(nodes)-1] != n {
			nodes = append(nodes, n)
		}
		return false
	})
	return nodes
}

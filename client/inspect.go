package client

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space"
)

// Inspection answers what can be done at an entry (W5). It holds compiled
// operations; rendering them for a reader is an adapter's work (W6).
type Inspection struct {
	Node *space.Node
	// Operations are those that the principal may call, in declared order.
	Operations []Operation
	// Children are the known entries right below that the principal may know.
	Children []*space.Node
	// Only says that the target named one operation and Operations holds
	// just that.
	Only bool
}

// Interfaces returns the interfaces that Operations belong to, in order.
func (i *Inspection) Interfaces() []*idl.Interface {
	var list []*idl.Interface
	for _, op := range i.Operations {
		if n := len(list); n == 0 || list[n-1] != op.Operation.Interface {
			list = append(list, op.Operation.Interface)
		}
	}
	return list
}

// ReadOnly reports whether no operation that can be discovered, by anybody,
// changes anything, as far as trusted Hosts say.
func (c *Client) ReadOnly() bool {
	readOnly := true
	c.space.View(func(n *space.Node, op *idl.Operation) bool {
		readOnly = readOnly && !policy.NeedsApproval(op, n.Mount.Trusted)
		return false
	})
	return readOnly
}

// Inspect tells what can be done at target: an entry's path, or a path, "#"
// and an operation's name for that operation alone. Every error is an *Error.
func (c *Client) Inspect(ctx context.Context, p *policy.Principal, target string) (found *Inspection, err error) {
	start := time.Now()
	rec := record(inspect, "", p)
	defer c.finish(&rec, start, &err)
	if found, err = c.inspect(ctx, p, target); err != nil {
		return nil, err
	}
	rec.Tool = found.Node.Path
	if found.Only {
		rec.Tool = policy.Name(found.Node.Path, found.Operations[0].Name)
	}
	return found, nil
}

func (c *Client) inspect(ctx context.Context, p *policy.Principal, target string) (*Inspection, error) {
	path, operation, only := strings.Cut(target, "#")
	asking, cancel := context.WithTimeout(ctx, idl.DefaultTimeout)
	defer cancel()
	n, err := c.resolve(asking, p, path)
	if err != nil {
		var e *Error
		if errors.As(err, &e) && e.near != "" && !only {
			e.Corrected = corrected(Call{Target: e.near})
		}
		return nil, err
	}
	found := &Inspection{Node: n, Only: only}
	if only {
		op := n.Operation(operation, allowed(p, n))
		if op == nil {
			e := noOperation(p, n, operation)
			if e.near != "" {
				e.Corrected = corrected(Call{Target: policy.Name(path, e.near)})
			}
			return nil, e
		}
		found.Operations = []Operation{{Name: operation, Operation: op}}
		return found, nil
	}
	found.Operations = n.Operations(allowed(p, n))
	for _, child := range c.space.Children(p.Caller(), n.Path) {
		if c.visible(p, child) {
			found.Children = append(found.Children, child)
		}
	}
	return found, nil
}

// noOperation answers that the node has no operation of that name for the
// principal, with the names that it has.
func noOperation(p *policy.Principal, n *space.Node, name string) *Error {
	const most = 20
	e := &Error{Class: NotFound, Message: "the entry has no operation of this name"}
	var names []string
	for _, op := range n.Operations(allowed(p, n)) {
		names = append(names, op.Name)
	}
	if near := nearest(name, names); near != "" {
		e.Hint = "did you mean " + near + "?"
		e.near = near
		return e
	}
	switch {
	case len(names) == 0:
		e.Hint = "it has none; inspect it to see the entries below it"
	case len(names) > most:
		e.Hint = "some of its operations: " + strings.Join(names[:most], ", ") + "; inspect it for all"
	default:
		e.Hint = "its operations: " + strings.Join(names, ", ")
	}
	return e
}

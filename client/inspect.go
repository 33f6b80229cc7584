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
	// Age is how long ago a Host was asked about what is shown; of a folder
	// above the mounts, about the oldest of what the principal may know below.
	Age time.Duration
	// Unavailable says that the Host does not answer at the moment, as far as
	// is known: what is shown is what it last said, and a call would fail.
	Unavailable bool
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
// changes anything, as far as trusted Hosts say; nor any other in the same
// documents, since a result may lead to entries that no tree has.
func (c *Client) ReadOnly() bool {
	readOnly := true
	seen := map[*idl.Document]bool{}
	var look func(d *idl.Document)
	look = func(d *idl.Document) {
		if seen[d] {
			return
		}
		seen[d] = true
		for _, i := range d.Interfaces {
			for _, op := range i.Operations {
				readOnly = readOnly && !policy.NeedsApproval(op, true)
			}
		}
		for _, imported := range d.Imports {
			look(imported)
		}
	}
	c.space.View(func(n *space.Node, op *idl.Operation) bool {
		readOnly = readOnly && n.Mount.Trusted
		look(op.Interface.Document)
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
		rec.Tool = policy.Identify(found.Node.Path, found.Node.Interfaces, found.Operations[0].Operation)
	}
	return found, nil
}

func (c *Client) inspect(ctx context.Context, p *policy.Principal, target string) (*Inspection, error) {
	path, operation, only := strings.Cut(target, "#")
	asking, cancel := context.WithTimeout(ctx, idl.DefaultTimeout)
	defer cancel()
	call := Call{Target: path, Operation: operation}
	n, err := c.resolve(asking, p, call)
	found := &Inspection{Node: n, Only: only}
	if err != nil && ctx.Err() == nil {
		if found.Node = c.remembered(p, path, err); found.Node != nil {
			n, err, found.Unavailable = found.Node, nil, true
		}
	}
	if err != nil {
		return nil, c.completedInspect(p, err, path, operation, only)
	}
	if found.Age = n.Age(); n.Mount == nil {
		found.Age = c.view(p).Age(n.Path)
	} else if !n.Mount.Available() {
		found.Unavailable = true
	}
	if only {
		op := n.Operation(operation, c.allowed(p, n))
		if op == nil {
			return nil, quoting(n, c.completedInspect(p, c.noOperation(p, n, call), path, operation, only))
		}
		found.Operations = []Operation{{Name: operation, Operation: op}}
		return found, nil
	}
	found.Operations = n.Operations(c.allowed(p, n))
	for _, child := range c.space.Children(p.Caller(), n.Path) {
		if c.visible(p, child) {
			found.Children = append(found.Children, child)
		}
	}
	return found, nil
}

// remembered returns the entry at path as its Host last told of it, if the Host
// does not answer now and the principal may know of the entry; else nil.
func (c *Client) remembered(p *policy.Principal, path string, err error) *space.Node {
	var e *Error
	if errors.As(err, &e) && (e.Class != Unavailable || e.Defect()) || e == nil && !errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	above := path[:strings.LastIndexByte(path, '/')+1]
	if len(above) > 1 {
		above = above[:len(above)-1]
	}
	for _, n := range c.space.Children(p.Caller(), above) {
		if n.Path == path && c.visible(p, n) {
			return n
		}
	}
	return nil
}

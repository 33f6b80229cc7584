package client

import (
	"context"
	"encoding/json"
	"errors"
	"path"
	"slices"

	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space"
)

// hostEntries replaces the paths of entries in a call's record by the Host's
// own. Each must lead to an entry of the same Host that the principal may know
// of and that has the declared interface: no call reaches by an argument what
// it could not reach by its target.
func (c *Client) hostEntries(ctx context.Context, p *policy.Principal, r *prepared) (json.RawMessage, error) {
	var faults []idl.Fault
	var trouble error
	mapped := r.op.MapEntries(r.args.Record, func(pointer, entry string, t *idl.Type) string {
		own, fault, err := c.hostEntry(ctx, p, r.node, entry, t)
		if err != nil {
			trouble = err
		} else if fault != "" {
			faults = append(faults, idl.Fault{Path: pointer, Constraint: fault})
		}
		return own
	})
	switch {
	case trouble != nil:
		return nil, trouble
	case len(faults) == 0:
		return mapped, nil
	}
	e := &Error{
		Class: BadArguments, Message: "the arguments do not fit the operation", Faults: faults,
		Hint: "the signature: " + signature(r.node, r.op), Operation: r.op,
	}
	if record := c.knownEntries(ctx, p, r.node, r.op, r.args.Record); record != nil {
		call := r.call
		call.Target, call.Arguments = r.node.Path, record
		e.Corrected = corrected(call)
	}
	return nil, e
}

// hostEntry returns the Host's own path of an argument's entry, or what is wrong
// with it.
func (c *Client) hostEntry(ctx context.Context, p *policy.Principal, n *space.Node, entry string, t *idl.Type) (own, fault string, err error) {
	found, err := c.resolve(ctx, p, Call{Target: entry})
	var e *Error
	switch {
	case errors.As(err, &e) && e.Class == NotFound:
		return entry, "there is no entry at this path; expected one from discover, inspect or a result", nil
	case err != nil:
		return entry, "", err
	case found.Mount != n.Mount:
		return entry, "found an entry of another Host, expected one below " + n.Mount.Path, nil
	case t.Interface != nil && !hasInterface(found, t.Interface):
		return entry, "found an entry of another kind, expected one with interface " + t.Interface.QualifiedName(), nil
	}
	return found.HostPath, "", nil
}

// knownEntries returns a record for a corrected call, in which each entry is one
// that the operation takes: it is itself, or the only such entry of that name, in
// a call that changes things of that path in another form. It returns nil if there
// is no telling, or no record.
func (c *Client) knownEntries(ctx context.Context, p *policy.Principal, n *space.Node, op *idl.Operation, record json.RawMessage) json.RawMessage {
	if record == nil || op == nil {
		return record
	}
	lost := false
	same := func(known, sent string) bool { return sameName(path.Base(known), path.Base(sent)) }
	if policy.NeedsApproval(op, n.Mount.Trusted) {
		same = sameName
	}
	mapped := op.MapEntries(record, func(_, entry string, t *idl.Type) string {
		if _, fault, err := c.hostEntry(ctx, p, n, entry, t); err == nil && fault == "" {
			return entry
		}
		var named []string
		for _, other := range c.visibleNodes(p) {
			if other.Mount == n.Mount && (t.Interface == nil || hasInterface(other, t.Interface)) && same(other.Path, entry) {
				named = append(named, other.Path)
			}
		}
		near := one(named, func(string) bool { return true })
		lost = lost || near == ""
		return near
	})
	if lost {
		return nil
	}
	return mapped
}

// hasInterface reports whether the entry's Object has the interface. Documents
// are compiled by mount, so names say enough.
func hasInterface(n *space.Node, want *idl.Interface) bool {
	return slices.ContainsFunc(n.Interfaces, func(i *idl.Interface) bool { return i.QualifiedName() == want.QualifiedName() })
}

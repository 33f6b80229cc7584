// Package policy makes the one decision that discover, inspect and invoke
// share: may this principal know of this operation of this entry?
//
// The decision is a pure function of the principal, the entry's path and the
// compiled operation, so that the three verbs cannot disagree (B3), and what
// it refuses is treated everywhere as what does not exist (T9).
package policy

import (
	"slices"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space/wip"
)

// Principal is who calls. The zero value may see nothing. It must not be
// changed while a call uses it.
type Principal struct {
	// ID is an opaque, stable name: the key of the principal's Known Space
	// and the authorization identifier of its audit records.
	ID string
	// Audience is the class of caller.
	Audience idl.Audience
	// Grants names what a scheduler run may do, as Identify does. It is
	// ignored for every other audience: a grant never lifts one of those.
	Grants []string
	// Intent narrows what a conversation may see to the operations it
	// names, as Identify does. Nil does not narrow; an empty slice
	// leaves nothing.
	Intent []string
}

// Name joins a path and an operation's name: "/grid/region#nearby_avatars".
func Name(path, operation string) string { return path + "#" + operation }

// Identify returns the one name of an operation of the Object at path, whose
// interfaces are given in the Object's order. Where several of them declare an
// operation of that name it means the first, and the others carry their
// interface's name: "/shop/till#Refund.pay". Who may see what changes no name.
func Identify(path string, object []*idl.Interface, op *idl.Operation) string {
	for _, i := range object {
		if first := i.Operation(op.Name); first != nil && first != op {
			return Name(path, op.Interface.Name+"."+op.Name)
		} else if first == op {
			break
		}
	}
	return Name(path, op.Name)
}

// Caller returns what a Host is told of the principal.
func (p *Principal) Caller() wip.Caller { return wip.Caller{ID: p.ID} }

// Mount narrows what may be seen of one Host, whatever its documents say. The
// zero value does not narrow.
type Mount struct {
	// Audience is the lowest audience that may see anything of the Host; 0
	// leaves it to the operations. A scheduler run needs its grants alone.
	Audience idl.Audience
	// Allow, if not nil, names all operations that there are, and Deny those
	// that there are not: "Issue.close" or, for all of an interface, "Issue.*".
	Allow, Deny []string
}

// permits reports whether there is the operation for the audience. A nil Mount
// permits everything.
func (m *Mount) permits(audience idl.Audience, op *idl.Operation) bool {
	if m == nil {
		return true
	}
	one, all := op.Interface.Name+"."+op.Name, op.Interface.Name+".*"
	lists := func(list []string) bool { return slices.Contains(list, one) || slices.Contains(list, all) }
	return (audience == idl.SchedulerRun || audience >= m.Audience) && (m.Allow == nil || lists(m.Allow)) && !lists(m.Deny)
}

// Allows reports whether the principal may know of the operation of the Object
// at path, whose interfaces are given in the Object's order, under the rules of
// its mount.
//
// An operation names the lowest audience that it may be offered to, and every
// audience above is included. A scheduler run stands apart from that order and
// needs a grant (P9). The mount's rules and the intent filter only narrow (P10).
func (p *Principal) Allows(m *Mount, path string, object []*idl.Interface, op *idl.Operation) bool {
	switch {
	case !m.permits(p.Audience, op):
		return false
	case p.Audience == idl.SchedulerRun:
		if !names(p.Grants, path, object, op) {
			return false
		}
	case p.Audience == 0 || op.Audience == 0 || p.Audience < op.Audience:
		return false
	}
	return p.Intent == nil || names(p.Intent, path, object, op)
}

// names reports whether a list names the operation, by its one name or by that
// with its interface.
func names(list []string, path string, object []*idl.Interface, op *idl.Operation) bool {
	return len(list) > 0 &&
		(slices.Contains(list, Identify(path, object, op)) || slices.Contains(list, Name(path, op.Interface.Name+"."+op.Name)))
}

// NeedsApproval reports whether a call of the operation must be approved
// before it runs. Only an operation that says it is read-only, from a Host
// that is trusted to say so, needs none.
func NeedsApproval(op *idl.Operation, trusted bool) bool {
	return op.Risk != idl.ReadOnly || !trusted
}

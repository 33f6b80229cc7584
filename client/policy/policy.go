// Package policy makes the one decision that discover, inspect and invoke
// share: may this principal know of this operation of this entry?
//
// The decision is a pure function of the principal, the entry's path and the
// compiled operation, so that the three verbs cannot disagree (B3), and what
// it refuses is treated everywhere as what does not exist (T9).
package policy

import (
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

// NeedsApproval reports whether a call of the operation must be approved
// before it runs. Only an operation that says it is read-only, from a Host
// that is trusted to say so, needs none.
func NeedsApproval(op *idl.Operation, trusted bool) bool {
	return op.Risk != idl.ReadOnly || !trusted
}

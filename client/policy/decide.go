package policy

import (
	"slices"

	"github.com/wipagent/wipagent/idl"
)

// Rule is what can hide an operation from a principal.
type Rule string

// The rules, in the order in which they are looked at.
const (
	MountAudience Rule = "mount_audience" // [Mount].Audience
	MountAllow    Rule = "mount_allow"    // Mount.Allow does not list it
	MountDeny     Rule = "mount_deny"     // Mount.Deny lists it
	Grant         Rule = "grant"          // a scheduler run without a grant for it
	Audience      Rule = "audience"       // the operation is for audiences above
	Intent        Rule = "intent"         // Principal.Intent does not name it
)

// Decision is whether a principal may know of an operation. It is for
// operators: a model is never told what there is to be hidden.
type Decision struct {
	// Hides is the first rule that hides the operation; empty if none does.
	Hides Rule
	// Audience is the lowest audience that would pass, where Hides is
	// MountAudience or Audience; 0 of an operation that none may see.
	Audience idl.Audience
}

// Allowed reports whether no rule hides the operation.
func (d Decision) Allowed() bool { return d.Hides == "" }

// String says why, in words for an operator.
func (d Decision) String() string {
	switch d.Hides {
	case "":
		return "allowed"
	case MountAudience:
		return "the mount is for " + andAbove(d.Audience)
	case MountAllow:
		return "the mount's allow does not list it"
	case MountDeny:
		return "the mount's deny lists it"
	case Grant:
		return "a scheduler run needs a grant for it"
	case Audience:
		return "it is for " + andAbove(d.Audience)
	}
	return "the intent does not name it"
}

// andAbove names the audiences from a on.
func andAbove(a idl.Audience) string {
	switch a {
	case 0:
		return "nobody"
	case idl.LocalOperator, idl.SchedulerRun:
		return a.String() + " alone"
	}
	return a.String() + " and above"
}

// Decide makes the one decision: whether the principal may know of the operation
// of the Object at path, whose interfaces are given in the Object's order, under
// the rules of its mount, of which nil has none.
//
// An operation names the lowest audience that it may be offered to, and every
// audience above is included. A scheduler run stands apart from that order and
// needs a grant (P9). The mount's rules and the intent filter only narrow (P10).
func (p *Principal) Decide(m *Mount, path string, object []*idl.Interface, op *idl.Operation) Decision {
	if d := m.decide(p.Audience, op); !d.Allowed() {
		return d
	}
	switch {
	case p.Audience == idl.SchedulerRun:
		if !names(p.Grants, path, object, op) {
			return Decision{Hides: Grant}
		}
	case p.Audience == 0 || op.Audience == 0 || p.Audience < op.Audience:
		return Decision{Audience, op.Audience}
	}
	if p.Intent != nil && !names(p.Intent, path, object, op) {
		return Decision{Hides: Intent}
	}
	return Decision{}
}

// Allows reports whether Decide does.
func (p *Principal) Allows(m *Mount, path string, object []*idl.Interface, op *idl.Operation) bool {
	return p.Decide(m, path, object, op).Allowed()
}

// decide looks at the rules of a mount alone. A nil Mount permits everything.
func (m *Mount) decide(audience idl.Audience, op *idl.Operation) Decision {
	if m == nil {
		return Decision{}
	}
	switch {
	case audience != idl.SchedulerRun && audience < m.Audience:
		return Decision{MountAudience, m.Audience}
	case m.Allow != nil && !lists(m.Allow, op):
		return Decision{Hides: MountAllow}
	case lists(m.Deny, op):
		return Decision{Hides: MountDeny}
	}
	return Decision{}
}

// lists reports whether a mount's list has the operation, or all of its
// interface.
func lists(list []string, op *idl.Operation) bool {
	return len(list) > 0 &&
		(slices.Contains(list, op.Interface.Name+"."+op.Name) || slices.Contains(list, op.Interface.Name+".*"))
}

// names reports whether a list names the operation, by its one name or by that
// with its interface.
func names(list []string, path string, object []*idl.Interface, op *idl.Operation) bool {
	return len(list) > 0 &&
		(slices.Contains(list, Identify(path, object, op)) || slices.Contains(list, Name(path, op.Interface.Name+"."+op.Name)))
}

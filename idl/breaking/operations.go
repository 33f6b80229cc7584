package breaking

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/syntax"
)

// iface compares an interface with what became of it.
func (c *comparer) iface(p interfacePair) {
	if p.new == nil {
		in := versions{p.old.Document, c.document(p.old.Document)}
		at := syntax.Span{}
		if in.new != nil {
			at.File = in.new.Name
		}
		c.add(in, nil, Change{
			Rule: RuleInterfaceRemoved, Breaks: Caller | CachedCall | Implementer, Old: p.old.NameSpan, New: at,
			Message: fmt.Sprintf("interface %q is gone", p.old.QualifiedName()), Hint: kept(p.old.Deprecated),
		})
		return
	}
	in := versions{p.old.Document, p.new.Document}
	if old, now := p.old.QualifiedName(), p.new.QualifiedName(); old != now {
		c.add(in, nil, Change{
			Rule: RuleInterfaceRenamed, Breaks: Caller | CachedCall | Implementer, Old: p.old.NameSpan, New: p.new.NameSpan,
			Message: fmt.Sprintf("interface %q is now %q", old, now),
			Hint:    "grants, entries and bindings name it: keep the old one beside it, deprecated",
		})
	}
	var gone []*idl.Operation
	var both []operationPair
	taken := map[*idl.Operation]bool{}
	for _, old := range p.old.Operations {
		if op := p.new.Operation(old.Name); op != nil {
			taken[op] = true
			both = append(both, operationPair{old, op})
		} else {
			gone = append(gone, old)
		}
	}
	for _, old := range gone {
		at := slices.IndexFunc(p.new.Operations, func(op *idl.Operation) bool {
			return !taken[op] && p.old.Operation(op.Name) == nil && form(op) == form(old)
		})
		if at < 0 {
			c.add(in, nil, Change{
				Rule: RuleOperationRemoved, Breaks: Caller | CachedCall, Old: old.NameSpan, New: p.new.NameSpan,
				Message: fmt.Sprintf("operation %q is gone", old.Name), Hint: kept(old.Deprecated),
			})
			continue
		}
		op := p.new.Operations[at]
		taken[op] = true
		c.add(in, nil, Change{
			Rule: RuleOperationRenamed, Breaks: Caller | CachedCall | Implementer, Old: old.NameSpan, New: op.NameSpan,
			Message: fmt.Sprintf("operation %q is now %q", old.Name, op.Name),
			Hint:    "keep the old one beside it, deprecated",
		})
		both = append(both, operationPair{old, op})
	}
	c.policies(in, p, both)
	for _, op := range both {
		c.operation(in, op.old, op.new)
	}
	for _, op := range p.new.Operations {
		if !taken[op] {
			c.add(in, nil, Change{
				Rule: RuleOperationAdded, Breaks: Implementer, Old: p.old.NameSpan, New: op.NameSpan,
				Message: fmt.Sprintf("operation %q is new, and each implementation must have it", op.Name),
				Hint:    "what only some can do belongs into an interface of its own",
			})
		}
	}
}

// kept is what to do about something that is gone.
func kept(deprecated string) string {
	if deprecated == "" {
		return "keep it for a version, deprecated"
	}
	return "it was deprecated: " + deprecated
}

// form is an operation without its name.
func form(op *idl.Operation) string { return strings.TrimPrefix(op.Signature(), op.Name) }

// operation compares an operation with what became of it.
func (c *comparer) operation(in versions, old, now *idl.Operation) {
	c.parameters(in, old, now)
	c.received(place{in: in, old: old.NameSpan, now: now.NameSpan, what: fmt.Sprintf("the result of operation %q", old.Name)}, old.Result, now.Result)
}

// parameters compares what an operation takes.
func (c *comparer) parameters(in versions, old, now *idl.Operation) {
	named := func(list []*idl.Param, name string) int {
		return slices.IndexFunc(list, func(p *idl.Param) bool { return p.Name == name })
	}
	add := func(rule string, breaks Breaks, p *idl.Param, oldAt, newAt syntax.Span, hint, format string, args ...any) {
		c.add(in, nil, Change{Rule: rule, Breaks: breaks, Old: oldAt, New: newAt, Hint: hint,
			Message: fmt.Sprintf("parameter %q of operation %q ", p.Name, old.Name) + fmt.Sprintf(format, args...)})
	}
	var fresh []*idl.Param // without an old one
	for _, p := range now.Params {
		if named(old.Params, p.Name) < 0 {
			fresh = append(fresh, p)
		}
	}
	last := -1
	disordered := false
	for _, p := range old.Params {
		if at := named(now.Params, p.Name); at >= 0 {
			disordered = disordered || at < last
			last = max(last, at)
			c.parameter(in, old, p, now.Params[at])
			continue
		}
		at := slices.IndexFunc(fresh, func(q *idl.Param) bool {
			return q.Type.String() == p.Type.String() && bytes.Equal(q.Default, p.Default)
		})
		if at < 0 {
			add(RuleParameterRemoved, Caller|CachedCall|Implementer, p, p.NameSpan, now.NameSpan, kept(p.Deprecated), "is gone")
			continue
		}
		q := fresh[at]
		fresh = slices.Delete(fresh, at, at+1)
		breaks := Caller | CachedCall
		if named(old.Params, p.Name) != named(now.Params, q.Name) {
			breaks |= Implementer
		}
		add(RuleParameterRenamed, breaks, p, p.NameSpan, q.NameSpan, "calls that send the old name are refused", "is now %q", q.Name)
	}
	for _, p := range fresh {
		if p.Required() {
			add(RuleParameterRequired, Caller|CachedCall|Implementer, p, old.NameSpan, p.NameSpan, "give it a default, or make it optional", "is new, and each call must send it")
		} else {
			add(RuleParameterAdded, Implementer, p, old.NameSpan, p.NameSpan, "", "is new")
		}
	}
	if disordered {
		c.add(in, nil, Change{Rule: RuleParameterOrder, Breaks: Caller | Implementer, Old: old.NameSpan, New: now.NameSpan,
			Message: fmt.Sprintf("the parameters of operation %q are in another order", old.Name),
			Hint:    "bindings pass them by their place: add new ones at the end"})
	}
}

// parameter compares a parameter with what became of it.
func (c *comparer) parameter(in versions, op *idl.Operation, old, now *idl.Param) {
	at := place{in: in, old: old.NameSpan, now: now.NameSpan, what: fmt.Sprintf("parameter %q of operation %q", old.Name, op.Name)}
	hidden := false // a stricter type says no more than that
	switch absent, sure := fallback(old), fallback(now); {
	case absent == "":
	case sure == "":
		hidden = true
		breaks := Caller | CachedCall
		if old.Type.Optional { // bindings give it another type
			breaks |= Implementer
		}
		at.report(c, RuleParameterRequired, breaks, "give it a default, or make it optional", "could be left out and cannot")
	case absent != sure:
		at.report(c, RuleDefaultChanged, Caller|CachedCall, "a call without it now means something else", "was %s and is %s where it is not sent", absent, sure)
	}
	a, b := *old.Type, *now.Type
	if hidden {
		a.Optional, b.Optional = false, false
	}
	c.sent(at, &a, &b)
	at.unit(c, Caller|CachedCall, old.Type, old.Doc, now.Doc)
}

// fallback is what a parameter is if it is not sent; "" if it must be.
func fallback(p *idl.Param) string {
	switch {
	case p.Default != nil: // as it is written
		return strings.TrimPrefix(p.String(), p.Name+": "+p.Type.String()+" = ")
	case p.Type.Optional:
		return "null"
	}
	return ""
}

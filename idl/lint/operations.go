package lint

import (
	"strings"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/syntax"
)

// stated checks what an operation should say about itself.
func (l *linter) stated(op *idl.Operation, n *syntax.Operation) {
	if op.Risk == idl.RiskUnstated {
		l.report(RuleRiskUnstated, n.Name.Span, "state @read_only, @mutating or @destructive; unstated, it counts as one that changes things",
			"found operation %q without a risk", op.Name)
	}
	if op.Risk >= idl.Mutating && !op.DryRun {
		l.report(RuleDryRunMissing, n.Name.Span, "state @dry_run if it can be tried without effect",
			"found %s operation %q without a dry run", op.Risk, op.Name)
	}
	if op.Deprecated != "" {
		return // nobody shall find it
	}
	if least := or(l.cfg.MinAliases, 1); len(op.Aliases) < least {
		l.report(RuleAliasMissing, n.Name.Span, `add words by which people ask for it, such as @alias("who is here")`,
			"found operation %q with %d aliases, expected at least %d", op.Name, len(op.Aliases), least)
	}
	l.example(op, n)
	l.deprecatedTypes(op, n)
}

// example checks that a call is shown where one needs to know what to send,
// and can be written down.
func (l *linter) example(op *idl.Operation, n *syntax.Operation) {
	if len(op.Examples) > 0 {
		return
	}
	var required []string
	for _, p := range op.Params {
		if !p.Required() {
			continue
		}
		switch p.Type.Kind {
		case idl.List, idl.Map, idl.RecordOf:
			return // the language has no values of them
		}
		required = append(required, p.Name+": …")
	}
	if len(required) > 0 {
		l.report(RuleExampleMissing, n.Name.Span, "such as @example("+strings.Join(required, ", ")+")",
			"found operation %q without an example, although it has required parameters", op.Name)
	}
}

// deprecation checks that who reads that something is deprecated knows what to
// do.
func (l *linter) deprecation(list []*syntax.Annotation) {
	for _, a := range list {
		if a.Name.Name != "deprecated" || len(a.Args) != 1 {
			continue
		}
		v := a.Args[0].Value
		if use, ok := strings.CutPrefix(strings.ToLower(v.Text), "use "); !ok || strings.TrimSpace(use) == "" {
			l.report(RuleDeprecatedUse, v.Span, `such as @deprecated("use other_operation")`,
				"found %q, expected what to use instead, beginning with \"use\"", v.Text)
		}
	}
}

// deprecatedTypes checks that an operation in good standing neither takes nor
// returns what is deprecated.
func (l *linter) deprecatedTypes(op *idl.Operation, n *syntax.Operation) {
	for i, p := range op.Params {
		if p.Deprecated == "" {
			l.deprecatedType(n.Params[i].Type, p.Type, "operation", op.Name)
		}
	}
	l.deprecatedType(n.Result, op.Result, "operation", op.Name)
}

// deprecatedFields checks that a record in good standing holds nothing that is
// deprecated.
func (l *linter) deprecatedFields(r recordUnit) {
	if r.Deprecated != "" {
		return
	}
	for i, f := range r.Fields {
		if f.Deprecated == "" {
			l.deprecatedType(r.node.Fields[i].Type, f.Type, "record", r.Name)
		}
	}
}

// deprecatedType reports a type that is deprecated or made of one that is, in
// something that is not.
func (l *linter) deprecatedType(e *syntax.TypeExpr, t *idl.Type, kind, owner string) {
	for t.Elem != nil && len(e.Args) > 0 {
		t, e = t.Elem, e.Args[0]
	}
	use, declared := "", syntax.Span{}
	switch {
	case t.Record != nil:
		use, declared = t.Record.Deprecated, t.Record.Span
	case t.Enum != nil:
		use, declared = t.Enum.Deprecated, t.Enum.Span
	case t.Interface != nil:
		use, declared, e = t.Interface.Deprecated, t.Interface.Span, e.Args[0]
	}
	if use == "" {
		return
	}
	d := l.report(RuleDeprecatedType, e.Name.Span, use, "found deprecated %q in %s %q, which is not deprecated", e.Name.Name, kind, owner)
	d.Related = append(d.Related, syntax.Related{Span: start(declared), Message: "declared here"})
}

// start returns the first byte of a span, for notes about long ones.
func start(s syntax.Span) syntax.Span {
	s.End = s.Start
	s.End.Offset++
	s.End.Col++
	return s
}

// aliases reports aliases that two operations share.
func (l *linter) aliases() {
	type owner struct {
		op *idl.Operation
		at syntax.Span
	}
	owners := map[string]owner{}
	l.eachOperation(func(op *idl.Operation, n *syntax.Operation) {
		for _, a := range n.Annotations {
			if a.Name.Name != "alias" || op.Deprecated != "" {
				continue
			}
			for _, arg := range a.Args {
				key := strings.Join(strings.Fields(strings.ToLower(arg.Value.Text)), " ")
				first, shared := owners[key]
				if !shared {
					owners[key] = owner{op, arg.Value.Span}
					continue
				}
				if first.op == op {
					continue
				}
				d := l.report(RuleAliasShared, arg.Value.Span, "say what sets them apart", "found alias %q, which operation %q of %q has too", arg.Value.Text, first.op.Name, first.op.Interface.Name)
				d.Related = append(d.Related, syntax.Related{Span: first.at, Message: "the other is here"})
			}
		}
	})
}

// eachOperation calls f with all operations of all documents.
func (l *linter) eachOperation(f func(*idl.Operation, *syntax.Operation)) {
	for at, u := range l.units {
		l.at = at
		for _, i := range u.interfaces {
			for k, op := range i.Operations {
				f(op, i.node.Operations[k])
			}
		}
	}
}

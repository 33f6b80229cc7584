package breaking

import (
	"fmt"
	"strings"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/syntax"
)

// operationPair is an old operation and what became of it.
type operationPair struct{ old, new *idl.Operation }

// policyChange is a change of what an operation says of itself, or has its
// interface say.
type policyChange struct {
	rule, hint string
	breaks     Breaks
	text       string   // what an operation was and is
	by         []string // the annotations that say it
}

// policies compares what the operations of an interface say of themselves. What
// changed on the interface is one change there, however many of them follow.
func (c *comparer) policies(in versions, p interfacePair, ops []operationPair) {
	type shared struct{ rule, text string }
	var order []policyChange
	followers := map[shared][]string{}
	for _, op := range ops {
		for _, change := range policy(op.old, op.new) {
			was, is := saidAt(op.old, change.by), saidAt(op.new, change.by)
			if was.own || is.own {
				c.add(in, nil, Change{
					Rule: change.rule, Breaks: change.breaks, Hint: change.hint, Old: was.at(op.old.NameSpan), New: is.at(op.new.NameSpan),
					Message: fmt.Sprintf("operation %q %s", op.old.Name, change.text),
				})
				continue
			}
			key := shared{change.rule, change.text}
			if followers[key] == nil {
				order = append(order, change)
			}
			followers[key] = append(followers[key], op.old.Name)
		}
	}
	for _, change := range order {
		names := followers[shared{change.rule, change.text}]
		message := fmt.Sprintf("operation %q %s", names[0], change.text)
		if len(names) > 1 {
			message = fmt.Sprintf("each of %d operations of interface %q %s: %s", len(names), p.old.Name, change.text, listed(names))
		}
		c.add(in, nil, Change{
			Rule: change.rule, Breaks: change.breaks, Hint: change.hint, Message: message,
			Old: saidOn(p.old, change.by).at(p.old.NameSpan), New: saidOn(p.new, change.by).at(p.new.NameSpan),
		})
	}
}

// listed writes out names, but not very many.
func listed(names []string) string {
	const most = 12
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// said is where something is said of an operation: nowhere if the span is zero.
type said struct {
	syntax.Span
	own bool // on the operation itself
}

// at returns the place, or another if there is none.
func (s said) at(other syntax.Span) syntax.Span {
	if s.File == "" {
		return other
	}
	return s.Span
}

// saidAt returns where one of the annotations stands that hold for an operation.
func saidAt(op *idl.Operation, by []string) said {
	for _, name := range by {
		if at, ok := op.Annotations[name]; ok {
			return said{at, true}
		}
	}
	on := saidOn(op.Interface, by)
	if by[0] == "dry_run" && on.File != "" && !op.DryRun { // its own risk is stronger
		if risk := saidAt(op, riskNames); risk.own {
			return risk
		}
	}
	return on
}

// saidOn returns where one of the annotations stands on an interface.
func saidOn(i *idl.Interface, by []string) said {
	for _, name := range by {
		if at, ok := i.Annotations[name]; ok {
			return said{Span: at}
		}
	}
	return said{}
}

var riskNames = []string{idl.ReadOnly.String(), idl.Mutating.String(), idl.Destructive.String()}

// policy compares what an operation says of itself.
func policy(old, now *idl.Operation) (changes []policyChange) {
	report := func(rule string, breaks Breaks, by []string, hint, format string, args ...any) {
		changes = append(changes, policyChange{rule, hint, breaks, fmt.Sprintf(format, args...), by})
	}
	audience := []string{"audience"}
	switch a, b := danger(old.Risk), danger(now.Risk); {
	case a < b:
		report(RuleRiskRaised, Caller|CachedCall, riskNames, "it may need an approval now, or be refused", "was %s and is %s", old.Risk, now.Risk)
	case a > b:
		report(RuleRiskLowered, 0, riskNames, "approvals that were asked for are asked for no longer: make sure that it is true", "was %s and is %s", old.Risk, now.Risk)
	}
	switch {
	case old.Audience < now.Audience:
		report(RuleAudienceNarrowed, Caller|CachedCall, audience, "those below it are told that there is no such operation", "was offered from %s up and is from %s up", old.Audience, now.Audience)
	case old.Audience > now.Audience:
		report(RuleAudienceWidened, 0, audience, "make sure that everybody may see what it returns", "was offered from %s up and is from %s up", old.Audience, now.Audience)
	}
	if old.Idempotent && !now.Idempotent {
		report(RuleIdempotenceRemoved, Caller|CachedCall, []string{"idempotent"}, "callers send it again when an answer is lost", "was idempotent and is not")
	}
	if old.DryRun && !now.DryRun {
		report(RuleDryRunRemoved, Caller|CachedCall, []string{"dry_run"}, "", "could be tried without effect and cannot")
	}
	if old.Cost < now.Cost {
		report(RuleCostRaised, Caller, []string{"cost"}, "budgets run out sooner", "cost %d and costs %d", old.Cost, now.Cost)
	}
	if old.Timeout > now.Timeout {
		report(RuleTimeoutLowered, Implementer, []string{"timeout"}, "an implementation that needs longer is cut off", "had %s and has %s", old.Timeout, now.Timeout)
	}
	if old.MaxOutput > now.MaxOutput {
		report(RuleOutputLowered, Implementer, []string{"max_output"}, "a longer result is shortened, or a fault", "could return %d bytes and can %d", old.MaxOutput, now.MaxOutput)
	}
	return changes
}

// danger orders risks; an operation that states none is treated as one that
// changes things.
func danger(r idl.Risk) idl.Risk {
	if r == idl.RiskUnstated {
		return idl.Mutating
	}
	return r
}

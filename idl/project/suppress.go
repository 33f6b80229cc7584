package project

import (
	"bytes"
	"fmt"
	"sort"
	"strings"

	"github.com/agnivade/levenshtein"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/syntax"
)

// The rules of the comments that silence warnings. They are warnings
// themselves, which nothing silences.
const (
	// RuleBadSuppression: a comment means to silence a warning but does not.
	RuleBadSuppression = "bad-suppression"
	// RuleUnusedSuppression: a comment silences a warning that is not there.
	RuleUnusedSuppression = "unused-suppression"
)

// Rules returns the rules that Check adds to those of the compiler and of
// lint. The caller owns the slice.
func Rules() []syntax.Rule {
	return []syntax.Rule{
		{ID: RuleBadSuppression, Doc: "A `//wip:ignore` comment names no rule of a warning, or no reason."},
		{ID: RuleUnusedSuppression, Doc: "A `//wip:ignore` comment silences a warning that is not there."},
	}
}

// directive begins a comment that silences a warning:
//
//	//wip:ignore RULE why that is right here
const directive = "//wip:ignore"

// suppression is one comment that silences the warnings of a rule.
type suppression struct {
	rule    string
	comment syntax.Comment
	covered stretch
	used    bool
}

// stretch is a part of a text, from an offset up to another.
type stretch struct{ start, end int }

// covers reports whether the suppression silences a finding of style, which a
// configuration may have made an error.
func (s *suppression) covers(d syntax.Diagnostic) bool {
	at := d.Span.Start.Offset
	return s.rule == d.Rule && s.covered.start <= at && at < s.covered.end
}

// suppressions reads the comments of a document that silence warnings, and
// reports those that cannot.
func suppressions(f *syntax.File, text []byte, known ruleSet) ([]*suppression, []syntax.Diagnostic) {
	if !bytes.Contains(text, []byte("wip:ignore")) {
		return nil, nil
	}
	var list []*suppression
	var bad []syntax.Diagnostic
	var nodes []node
	prev := -2 // of the last line comment
	for _, c := range syntax.Comments(f.Name, text) {
		if strings.HasPrefix(c.Text, "//") && !isDoc(c.Text) {
			c.Own = c.Own || prev == c.Prev // Format puts it below the other
			prev = c.Prev
		}
		rest, ok := strings.CutPrefix(c.Text, directive)
		switch {
		case ok && (rest == "" || rest[0] == ' ' || rest[0] == '\t'):
		case strings.HasPrefix(strings.TrimLeft(c.Text, "/* \t"), directive[2:]):
			d := refuse(c, "found a comment that means to silence a warning, expected it to begin with %q", directive)
			if words := strings.TrimLeft(c.Text, "/ \t"); strings.HasPrefix(words, directive[2:]+" ") {
				d.Hint = "write " + directive
				fixed := directive + strings.TrimPrefix(words, directive[2:])
				d.Fixes = []syntax.Fix{{Title: d.Hint, Edits: []syntax.Edit{{Span: c.Span, Text: fixed}}, Safe: true}}
			}
			bad = append(bad, d)
			continue
		default:
			continue
		}
		rule, reason, _ := strings.Cut(strings.TrimLeft(rest, " \t"), " ")
		if d, ok := known.refuse(c, rule, strings.TrimSpace(reason)); !ok {
			bad = append(bad, d)
			continue
		}
		if nodes == nil {
			nodes = nodesOf(f)
		}
		list = append(list, &suppression{rule: rule, comment: c, covered: covered(c, nodes)})
	}
	return list, bad
}

func isDoc(comment string) bool {
	return strings.HasPrefix(comment, "///") && !strings.HasPrefix(comment, "////")
}

// refuse returns the warning about a comment that silences nothing.
func refuse(c syntax.Comment, format string, args ...any) syntax.Diagnostic {
	return syntax.Diagnostic{Rule: RuleBadSuppression, Severity: syntax.Warning, Span: c.Span,
		Message: fmt.Sprintf(format, args...), Hint: "write " + directive + " RULE and why that is right here"}
}

// ruleSet holds the rules that there are, and whether each is one of warnings.
type ruleSet map[string]bool

func newRuleSet(warnings []syntax.Rule) ruleSet {
	set := ruleSet{}
	for _, r := range append(idl.Rules(), Rules()...) {
		set[r.ID] = false
	}
	for _, r := range warnings {
		set[r.ID] = true
	}
	return set
}

// refuse returns a warning and false if a comment cannot silence the rule that
// it names.
func (s ruleSet) refuse(c syntax.Comment, rule, reason string) (syntax.Diagnostic, bool) {
	silenced, known := s[rule]
	var d syntax.Diagnostic
	switch {
	case rule == "":
		d = refuse(c, "found no rule, expected the one whose warnings are to be silenced")
	case !known:
		d = refuse(c, "found unknown rule %q", rule)
		d.Hint = "the rule stands in brackets at the end of each warning"
		if near := s.nearest(rule); near != "" {
			at := syntax.Span{File: c.Span.File, Start: c.Span.Start}
			skipped := strings.Index(c.Text, rule)
			at.Start.Offset += skipped
			at.Start.Col += skipped
			at.End = at.Start
			at.End.Offset += len(rule)
			at.End.Col += len(rule)
			d.Hint = fmt.Sprintf("did you mean %q?", near)
			d.Fixes = []syntax.Fix{{Title: "write " + near, Edits: []syntax.Edit{{Span: at, Text: near}}}}
		}
	case !silenced:
		d = refuse(c, "found rule %q, which cannot be silenced", rule)
		d.Hint = "put right what it is about, and remove this comment"
	case reason == "":
		d = refuse(c, "found no reason, expected why the warning of %q is wrong here", rule)
	default:
		return d, true
	}
	return d, false
}

// nearest returns the rule of warnings most like a name, or "".
func (s ruleSet) nearest(name string) string {
	best, least := "", 1+min(len(name)/4, 2)
	if len(name) > 64 {
		return ""
	}
	for rule, silenced := range s {
		if !silenced {
			continue
		}
		if d := levenshtein.ComputeDistance(name, rule); d < least || d == least && (best == "" || rule < best) {
			best, least = rule, d
		}
	}
	return best
}

// node is a declaration, a member of one or the package clause, for what
// stands before or beside it.
type node struct {
	start, name, end int // offsets; name is where its name starts
	outer            int // index of the node around it, or -1
}

// nodesOf returns the nodes by where they start, outer ones first.
func nodesOf(f *syntax.File) []node {
	var list []node
	add := func(span syntax.Span, name syntax.Ident, outer int) int {
		list = append(list, node{span.Start.Offset, name.Span.Start.Offset, span.End.Offset, outer})
		return len(list) - 1
	}
	if p := f.Package; p != nil {
		list = append(list, node{0, p.Span.Start.Offset, p.Span.End.Offset, -1})
	}
	for _, decl := range f.Decls {
		switch d := decl.(type) {
		case *syntax.Interface:
			i := add(d.Span, d.Name, -1)
			for _, o := range d.Operations {
				operation := add(o.Span, o.Name, i)
				for _, p := range o.Params {
					add(p.Span, p.Name, operation)
				}
			}
		case *syntax.Record:
			i := add(d.Span, d.Name, -1)
			for _, field := range d.Fields {
				add(field.Span, field.Name, i)
			}
		case *syntax.Enum:
			i := add(d.Span, d.Name, -1)
			for _, l := range d.Labels {
				add(l.Name.Span, l.Name, i)
			}
		}
	}
	return list
}

// covered returns what a comment is about, which does not depend on where
// lines end. On a line of its own that is the next declaration or member, with
// all in it, or the rest of the one that it is in; behind something on its line
// it is the innermost declaration or member that has the token before it.
func covered(c syntax.Comment, nodes []node) stretch {
	at := c.Prev
	if c.Own {
		at = c.Next
	}
	i := sort.Search(len(nodes), func(i int) bool { return nodes[i].start > at }) - 1
	for ; i >= 0; i = nodes[i].outer {
		switch n := nodes[i]; {
		case c.Own && at <= n.name, !c.Own && at < n.end:
			return stretch{n.start, n.end}
		case at < n.end:
			return stretch{at, n.end}
		}
	}
	return stretch{}
}

// unused reports that the suppression silenced nothing.
func (s *suppression) unused() syntax.Diagnostic {
	return syntax.Diagnostic{Rule: RuleUnusedSuppression, Severity: syntax.Warning, Span: s.comment.Span,
		Message: fmt.Sprintf("found no warning of %q here", s.rule), Hint: "remove the comment",
		Fixes: []syntax.Fix{{Title: "remove the comment", Edits: []syntax.Edit{{Span: s.comment.Span}}, Safe: true}}}
}

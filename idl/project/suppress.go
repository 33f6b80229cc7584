package project

import (
	"bytes"
	"fmt"
	"slices"
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
	covered []stretch
	used    bool
}

// stretch is a part of a text, from an offset up to another.
type stretch struct{ start, end int }

// covers reports whether the suppression silences a diagnostic.
func (s *suppression) covers(d syntax.Diagnostic) bool {
	return s.rule == d.Rule && d.Severity == syntax.Warning && slices.ContainsFunc(s.covered, func(c stretch) bool {
		return c.start <= d.Span.Start.Offset && d.Span.Start.Offset < max(c.end, c.start+1)
	})
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
	for _, c := range syntax.Comments(f.Name, text) {
		rest, ok := strings.CutPrefix(c.Text, directive)
		switch {
		case ok && (rest == "" || rest[0] == ' ' || rest[0] == '\t'):
		case strings.HasPrefix(strings.TrimLeft(c.Text, "/* \t"), directive[2:]):
			d := refuse(c, "found a comment that means to silence a warning, expected it to begin with %q", directive)
			if words := strings.TrimLeft(c.Text, "/ \t"); strings.HasPrefix(words, directive[2:]+" ") {
				d.Hint = "write " + directive
				fixed := directive + strings.TrimPrefix(words, directive[2:])
				d.Fixes = []syntax.Fix{{Title: d.Hint, Edits: []syntax.Edit{{Span: c.Span, Text: fixed}}}}
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
		list = append(list, &suppression{rule: rule, comment: c, covered: covered(c, text, nodes)})
	}
	return list, bad
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

// node is a declaration or a member of one, for what stands before or beside
// it.
type node struct{ span, name syntax.Span }

// nodesOf returns the declarations and all in them by where they start, outer
// ones first.
func nodesOf(f *syntax.File) []node {
	var list []node
	for _, decl := range f.Decls {
		switch d := decl.(type) {
		case *syntax.Interface:
			list = append(list, node{d.Span, d.Name.Span})
			for _, o := range d.Operations {
				list = append(list, node{o.Span, o.Name.Span})
				for _, p := range o.Params {
					list = append(list, node{p.Span, p.Name.Span})
				}
			}
		case *syntax.Record:
			list = append(list, node{d.Span, d.Name.Span})
			for _, field := range d.Fields {
				list = append(list, node{field.Span, field.Name.Span})
			}
		case *syntax.Enum:
			list = append(list, node{d.Span, d.Name.Span})
			for _, l := range d.Labels {
				list = append(list, node{l.Name.Span, l.Name.Span})
			}
		}
	}
	return list
}

// covered returns what a comment is about. On a line of its own that is the
// next declaration or member, with all in it, or the next line where there is
// none; at the end of a line it is the line, and what is named on it.
func covered(c syntax.Comment, text []byte, nodes []node) []stretch {
	if c.Own {
		// The innermost node whose name is still to come.
		i := sort.Search(len(nodes), func(i int) bool { return nodes[i].span.Start.Offset > c.Next })
		for i--; i >= 0; i-- {
			n := nodes[i]
			if c.Next <= n.name.Start.Offset {
				return []stretch{{n.span.Start.Offset, n.span.End.Offset}}
			}
			if c.Next < n.span.End.Offset {
				break // between the parts of something
			}
		}
		return []stretch{lineAt(text, c.Next)}
	}
	list := []stretch{lineAt(text, c.Span.Start.Offset)}
	line := c.Span.Start.Line // names stand in the order of their nodes
	for i := sort.Search(len(nodes), func(i int) bool { return nodes[i].name.Start.Line >= line }); i < len(nodes) && nodes[i].name.Start.Line == line; i++ {
		list = append(list, stretch{nodes[i].span.Start.Offset, nodes[i].span.End.Offset})
	}
	return list
}

// lineAt returns the line that an offset is on.
func lineAt(text []byte, at int) stretch {
	at = min(at, len(text))
	s := stretch{bytes.LastIndexByte(text[:at], '\n') + 1, len(text)}
	if n := bytes.IndexByte(text[at:], '\n'); n >= 0 {
		s.end = at + n
	}
	return s
}

// unused reports that the suppression silenced nothing.
func (s *suppression) unused() syntax.Diagnostic {
	return syntax.Diagnostic{Rule: RuleUnusedSuppression, Severity: syntax.Warning, Span: s.comment.Span,
		Message: fmt.Sprintf("found no warning of %q here", s.rule), Hint: "remove the comment",
		Fixes: []syntax.Fix{{Title: "remove the comment", Edits: []syntax.Edit{{Span: s.comment.Span}}}}}
}

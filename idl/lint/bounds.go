package lint

import (
	"fmt"
	rx "regexp/syntax"
	"slices"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/syntax"
)

const defaultMaxPageSize = 100

// sent checks that the strings that a caller sends have an end.
func (l *linter) sent(e *syntax.TypeExpr, t *idl.Type) {
	switch t.Kind {
	case idl.String, idl.Bytes:
		if t.Range != nil && t.Range.HasMax {
			return
		}
		if t.Pattern != nil {
			if unlimited(t.PatternText) {
				l.report(RuleUnboundedString, e.Refinement.Span, "bound its repetitions, as in {1,64}", "found a pattern that a string of any length matches")
			}
			return
		}
		l.report(RuleUnboundedString, e.Span, fmt.Sprintf("such as %s [..256 bytes]", e.Name.Name), "found %s that a caller may send in any length", e.Name.Name)
	}
	if t.Elem != nil && len(e.Args) > 0 {
		l.sent(e.Args[0], t.Elem)
	}
}

// sentRecords checks the records that an operation takes, each once, where
// they are declared.
func (l *linter) sentRecords(op *idl.Operation) {
	records, _ := op.ParamTypes()
	for _, r := range records {
		n := l.records[r]
		if n == nil || l.bounded[r] {
			continue
		}
		l.bounded[r] = true
		at := l.at
		l.at = slices.IndexFunc(l.units, func(u *unit) bool { return u.Document == r.Document })
		for i, f := range r.Fields {
			l.sent(n.Fields[i].Type, f.Type)
		}
		l.at = at
	}
}

// lists checks that lists and maps have an end.
func (l *linter) lists(e *syntax.TypeExpr, t *idl.Type, where, hint string) {
	for t.Elem != nil && len(e.Args) > 0 {
		if (t.Kind == idl.List || t.Kind == idl.Map) && (t.Range == nil || !t.Range.HasMax) {
			l.report(RuleUnboundedList, e.Name.Span, hint, "found a %s of any number of elements %s", e.Name.Name, where)
		}
		t, e = t.Elem, e.Args[0]
	}
}

// pageSize checks that pages have an end.
func (l *linter) pageSize(op *idl.Operation, n *syntax.Operation) {
	t := op.Result
	for t.Kind == idl.Observed || t.Kind == idl.Fact {
		t = t.Elem
	}
	if t.Kind != idl.Page {
		return
	}
	for i, p := range op.Params {
		if p.Name != "page_size" {
			continue
		}
		most := or(l.cfg.MaxPageSize, defaultMaxPageSize)
		hint := fmt.Sprintf("such as int [1..%d]", min(most, 20))
		switch r := p.Type.Range; {
		case r == nil || !r.HasMax:
			l.report(RuleUnboundedPage, n.Params[i].Type.Span, hint, "found a page of any size, expected at most %d", most)
		case r.Max > float64(most):
			l.report(RuleUnboundedPage, n.Params[i].Type.Span, hint, "found a page of up to %.0f items, expected at most %d", r.Max, most)
		}
	}
}

// unlimited reports whether strings of any length match a pattern.
func unlimited(pattern string) bool {
	re, err := rx.Parse(pattern, rx.Perl)
	if err != nil {
		return false // a fault of the document
	}
	var open func(*rx.Regexp) bool
	open = func(re *rx.Regexp) bool {
		if re.Op == rx.OpStar || re.Op == rx.OpPlus || re.Op == rx.OpRepeat && re.Max < 0 {
			return true
		}
		return slices.ContainsFunc(re.Sub, open)
	}
	return open(re)
}

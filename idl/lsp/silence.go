package lsp

import (
	"slices"
	"strings"

	"github.com/wipagent/wipagent/idl/lint"
	"github.com/wipagent/wipagent/idl/syntax"
)

// silence returns the edit that writes the comment which silences a warning on
// the innermost declaration or member that it is about. The reason is left to
// the author: until there is one, the comment is itself a warning, so that
// nobody forgets.
func (d *document) silence(fault *syntax.Diagnostic) (textEdit, bool) {
	silenced := func(r syntax.Rule) bool { return r.ID == fault.Rule }
	if fault.Severity != syntax.Warning || !slices.ContainsFunc(lint.Rules(), silenced) {
		return textEdit{}, false
	}
	at, ok := d.view().memberAt(fault.Span.Start.Offset)
	if !ok {
		return textEdit{}, false
	}
	comment := "//wip:ignore " + fault.Rule
	line := d.position(at).Line
	start := d.lines[line]
	indent := d.src[start : start+len(d.src[start:at])-len(strings.TrimLeft(d.src[start:at], " \t"))]
	if start+len(indent) < at { // something else stands before it on the line
		indent += "  "
		return textEdit{Range: d.rng(at, at), NewText: "\n" + indent + comment + "\n" + indent}, true
	}
	if line > 0 && strings.HasPrefix(strings.TrimLeft(d.src[d.lines[line-1]:start], " \t"), comment) {
		return textEdit{}, false // its reason is missing
	}
	return textEdit{Range: d.rng(start, start), NewText: indent + comment + "\n"}, true
}

// memberAt returns where the innermost declaration, member or package clause
// starts that an offset is in.
func (v *view) memberAt(off int) (start int, ok bool) {
	in := func(at syntax.Span) bool { return at.Start.Offset <= off && off < at.End.Offset }
	if p := v.file.Package; p != nil && in(p.Span) {
		// The clause starts with its keyword, whatever stands between the two.
		for _, t := range scan(v.src, p.Span.Start.Offset, syntax.MaxTokens) {
			if v.src[t.start:t.end] == "package" && t.kind == nameToken {
				return t.start, true
			}
		}
	}
	for level := v.symbols; ; {
		i := slices.IndexFunc(level, func(s *symbol) bool { return in(s.span) })
		if i < 0 {
			return start, ok
		}
		start, ok = level[i].span.Start.Offset, true
		level = level[i].members
	}
}

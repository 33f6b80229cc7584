package syntax

import (
	"slices"

	"github.com/alecthomas/participle/v2/lexer"
)

// memberEnd returns the index behind the member whose name stands at the
// index at: behind its semicolon, or before what cannot belong to it.
func (r *recovery) memberEnd(at, column int, in scope) int {
	open := 0 // lists of type arguments and refinements
	for i := at; ; {
		t := r.tok(i)
		switch t.Type {
		case '<', '[':
			open++
		case '>', ']':
			open--
		}
		switch {
		case t.EOF() || t.Type == '}' && !r.goesOn(i+1):
			return i
		case t.Type == ';', in == inRecord && t.Type == ',' && open <= 0 && r.seemsField(i+1):
			return i + 1
		case i > at && t.Type == '@':
			behind := r.annotated(i, in)
			if r.is(behind, '}') || r.startsDeclaration(behind, column) || r.startsMember(behind, in) {
				return i
			}
			i = behind
		case i > at && (r.startsDeclaration(i, column) || r.startsMember(i, in) && (i > at+1 || r.startsLine(i))):
			return i
		case t.Type == '{' && r.skip(i) > i+1:
			i = r.skip(i)
			if !r.is(i, ';') {
				return i
			}
		default:
			i = r.skip(i)
		}
	}
}

// goesOn reports whether what stands at i can only be more of a member, on the
// line of what is before it.
func (r *recovery) goesOn(i int) bool {
	switch r.tok(i).Type {
	case tokArrow, ')', ']', '>', '?', '=':
		return !r.startsLine(i)
	}
	return false
}

// seemsField reports whether what stands at i, behind a comma that belongs to
// nothing, is a field that has another fault.
func (r *recovery) seemsField(i int) bool {
	return r.is(i, '@') || r.is(i, tokIdent) && (r.is(i+1, tokIdent) || r.is(i+1, '('))
}

// operation reads one operation of an interface.
func (r *recovery) operation(b *body) {
	start := r.i
	rest := start == r.lastEnd && !r.startsLine(start)
	at := r.annotated(start, inInterface)
	end := r.memberEnd(at, b.column, inInterface)
	r.i = end
	anns := r.annotations(start, at, inInterface)
	if !r.is(at, tokIdent) {
		r.fail(start, end, r.unexpected(at, RuleUnexpectedToken, `an operation or "}"`, r.startHint(start, at)))
		return
	}
	if r.is(at+1, tokIdent) && r.is(at+2, '(') && at+2 < end && r.is(int(r.closing[at+2])+1, tokArrow) { // as other languages have it
		r.fail(at, at+1, r.unexpected(at+1, RuleUnexpectedToken, `"(" and the operation's parameters`, ""))
		at++
	}
	o := &Operation{Annotations: anns, Name: identOf(&r.toks[at])}
	o.Doc = r.doc(r.toks[start].Pos.Offset, o.Name)
	if arrow := r.parameters(o, at, end, rest); arrow >= 0 {
		r.result(o, arrow, at, end)
	}
	o.Span = between(&r.toks[start], &r.toks[r.i-1])
	b.iface.Operations = append(b.iface.Operations, o)
}

// startHint says what to do about the token at the index at, which begins no
// member.
func (r *recovery) startHint(start, at int) string {
	switch {
	case r.is(at, ';'):
		return "remove it"
	case at > start:
		return "the arguments of an annotation stand in parentheses"
	}
	return ""
}

// parameters reads the parameters of the operation whose name stands at the
// index at. It returns the index behind them, or -1 if what follows is lost.
// The operation may be the rest of something faulty before it.
func (r *recovery) parameters(o *Operation, at, end int, rest bool) int {
	open := at + 1
	if !r.is(open, '(') || open >= end {
		hint := "write " + o.Name.Name + "() -> type;"
		if r.is(open, ':') {
			hint = "an Object has no properties: " + hint
		}
		r.fail(at, end, r.unexpected(open, RuleUnexpectedToken, `"(" and the operation's parameters`, hint))
		if r.is(open, ':') && open < end {
			return open // its type is read as the result
		}
		return r.lastArrow(open, end)
	}
	if c := int(r.closing[open]); c > 0 && c < end {
		before := len(r.faults)
		o.Params = r.params(open+1, c)
		if c+1 == end && len(r.faults) > before { // more like an annotation
			r.faults = r.faults[:before]
			r.quietly(rest, func() {
				r.fail(at, end, r.unexpected(at, RuleUnexpectedToken, `an operation, or "@" before an annotation`, ""))
			})
			return -1
		}
		if len(r.faults) > before && r.lastEnd == c && !r.is(c+1, tokArrow) && !r.startsLine(c+1) { // closed in the middle of a parameter
			return r.lastArrow(c+1, end)
		}
		return c + 1
	}
	arrow, nested := open+1, false
	for arrow < end && !r.is(arrow, tokArrow) && !r.is(arrow, ';') {
		nested = nested || r.closing[arrow] > 0
		arrow++
	}
	last := arrow
	if r.closesNothing(open, arrow-1) { // in place of the parenthesis
		last = arrow - 1
	}
	d := r.unexpected(last, RuleUnclosedParen, `")" behind the parameters`, "")
	d.Related = []Related{{Span: over(&r.toks[open]), Message: "opened here"}}
	r.fail(at, end, d)
	r.muted = nested // a parenthesis within took the one that is missing
	o.Params = r.params(open+1, last)
	r.muted = false
	if !r.is(arrow, tokArrow) {
		return -1
	}
	return arrow
}

// closesNothing reports whether the token at i is a bracket or brace that closes
// nothing behind the token at open.
func (r *recovery) closesNothing(open, i int) bool {
	begin := map[lexer.TokenType]lexer.TokenType{']': '[', '}': '{', '>': '<'}[r.tok(i).Type]
	if i <= open || begin == 0 {
		return false
	}
	depth := 0
	for k := open + 1; k <= i; k++ {
		switch r.toks[k].Type {
		case begin:
			depth++
		case r.toks[i].Type:
			depth--
		}
	}
	return depth < 0
}

// lastArrow returns the index of the last arrow in the tokens [from, to), or
// -1.
func (r *recovery) lastArrow(from, to int) int {
	for to--; to >= from; to-- {
		if r.is(to, tokArrow) {
			return to
		}
	}
	return -1
}

// result reads what follows the parameters of an operation, from the arrow.
func (r *recovery) result(o *Operation, arrow, at, end int) {
	if r.is(arrow, tokArrow) && arrow < end {
		arrow++
	} else {
		rule, hint := RuleUnexpectedToken, "write -> and the type of the result"
		if arrow >= end || r.is(arrow, ';') {
			rule, hint = RuleMissingType, "an operation has a result: write -> and its type"
		}
		r.fail(at, end, r.unexpected(arrow, rule, `"->" and a type`, hint))
		if later := r.lastArrow(arrow, end); later >= 0 {
			arrow = later + 1
		} else if r.is(arrow, ':') {
			arrow++
		} else if !r.is(arrow, tokIdent) || arrow >= end {
			return
		}
	}
	t, next := piece(r, r.pieces.result, arrow, end, "", "")
	r.i = next
	if t != nil {
		o.Result = t.Type.TypeExpr
	}
}

// params reads the parameters in the tokens [from, to).
func (r *recovery) params(from, to int) []*Param {
	var all []*Param
	for from < to {
		at := min(r.annotated(from, inParams), to)
		end := r.paramEnd(at, to)
		r.quietly(r.follows(from, inParams), func() {
			if p := r.param(from, at, end); p != nil {
				all = append(all, p)
			}
		})
		from = end
		switch {
		case end >= to:
		case r.is(end, ','):
			from++
			r.passOver(end)
		case r.is(end, ';'):
			from++
			r.passOver(end)
			r.fail(end, from, r.unexpected(end, RuleUnexpectedToken, `"," or ")"`, `parameters are separated by ","`))
		default:
			r.quietly(r.lastEnd == end, func() {
				r.fail(end, end, r.unexpected(end, RuleMissingComma, `"," between the parameters`, ""))
			})
		}
	}
	return all
}

// paramEnd returns the index behind the parameter whose name stands at the
// index at, and not behind to.
func (r *recovery) paramEnd(at, to int) int {
	i := at
	if r.is(at+1, '(') { // more like an annotation without its "@"
		i = min(r.skip(at+1)+1, to)
	}
	for depth := 0; i < to; i = r.skip(i) {
		next := r.is(i+1, '@') || r.is(i+1, tokIdent) && r.is(i+2, ':')
		switch t := r.toks[i].Type; {
		case t == ';' || t == ',' && (depth <= 0 || next || i+1 == to):
			return i
		case i > at+1 && (t == '@' || r.startsMember(i, inParams)):
			return i
		case t == '<' || t == '[':
			depth++
		case t == '>' || t == ']':
			depth--
		}
	}
	return to
}

// param reads the parameter in the tokens [start, end), whose name stands at
// the index at.
func (r *recovery) param(start, at, end int) *Param {
	anns := r.annotations(start, at, inParams)
	if !r.is(at, tokIdent) || at >= end {
		hint := ""
		if r.is(at, ',') || r.is(at, ';') {
			hint = "remove it"
		}
		r.fail(start, end, r.unexpected(at, RuleMissingName, "a parameter", hint))
		return nil
	}
	p := &Param{Annotations: anns, Name: r.nameAt(at, end),
		Span: between(&r.toks[start], &r.toks[end-1])}
	hint := ""
	if !r.is(at+1, ':') {
		hint = "write name: type"
	}
	n, _ := piece(r, r.pieces.param, at, end, `"," or ")"`, hint)
	if n != nil {
		p.Type, p.Default = n.Param.Type, n.Param.Default
	}
	p.Doc = r.doc(r.toks[start].Pos.Offset, p.Name)
	return p
}

// nameAt returns the name of the field or parameter that starts at the index at
// and ends before end: that behind its type, if it is written so, or behind a
// word of another language.
func (r *recovery) nameAt(at, end int) Ident {
	if word := r.toks[at].Value; at+1 < end && r.is(at+1, tokIdent) && (slices.Contains(typeWords, word) || modifiers[word] != "" && r.is(at+2, ':')) {
		at++
	}
	return identOf(&r.toks[at])
}

// field reads one field of a record.
func (r *recovery) field(b *body) {
	start := r.i
	at := r.annotated(start, inRecord)
	end := r.memberEnd(at, b.column, inRecord)
	r.i = end
	anns := r.annotations(start, at, inRecord)
	if !r.is(at, tokIdent) {
		r.fail(start, end, r.unexpected(at, RuleUnexpectedToken, `a field or "}"`, r.startHint(start, at)))
		return
	}
	f := &Field{Annotations: anns, Name: r.nameAt(at, end)}
	f.Doc = r.doc(r.toks[start].Pos.Offset, f.Name)
	hint := ""
	switch r.tok(at + 1).Type {
	case ':':
	case '(':
		hint = "operations stand in an interface; a record has fields: name: type;"
	default:
		hint = "write name: type;"
	}
	n, next := piece(r, r.pieces.field, at, end, "", hint)
	r.i = next
	if n != nil {
		f.Type = n.Field.Type
	}
	f.Span = between(&r.toks[start], &r.toks[next-1])
	b.record.Fields = append(b.record.Fields, f)
}

// labels reads the labels of an enum and leaves its block.
func (r *recovery) labels(b *body) {
	faulty := len(b.enum.Labels) > 0 // there is a label, or a fault in its place
	for len(r.faults) <= MaxDiagnostics {
		at := r.i
		switch t := r.tok(at); {
		case t.Type == '}':
			if !faulty {
				r.fail(at, at, r.unexpected(at, RuleMissingName, "a label", "an enum has at least one label"))
			}
			r.leave(b, at)
			return
		case t.EOF() || r.startsDeclaration(at, b.column):
			r.unclosed(b)
			return
		case t.Type == tokIdent:
			l := &Label{Name: identOf(t)}
			l.Doc = r.doc(t.Pos.Offset, l.Name)
			b.enum.Labels = append(b.enum.Labels, l)
			r.i++
			r.separator(b.column)
		case t.Type == '@':
			r.i = r.annotated(at, inEnum)
			r.fail(at, r.i, r.unexpected(at, RuleUnexpectedToken, "a label", "labels take no annotations"))
		default:
			r.skipLabel(b.column)
			r.fail(at, r.i, r.unexpected(at, RuleMissingName, "a label", ""))
		}
		faulty = true
	}
}

// separator reads what stands between two labels.
func (r *recovery) separator(column int) {
	at := r.i
	switch t := r.tok(at); {
	case t.Type == ',':
		r.i++
	case t.Type == '}' || t.EOF() || r.startsDeclaration(at, column):
	case t.Type == tokIdent:
		r.fail(at, at, r.unexpected(at, RuleMissingComma, `"," between the labels`, ""))
	default:
		hint := ""
		switch t.Type {
		case '=':
			hint = "labels have no values"
		case ';':
			hint = `labels are separated by ","`
		}
		r.skipLabel(column)
		r.fail(at, r.i, r.unexpected(at, RuleUnexpectedToken, `"," or "}"`, hint))
	}
}

// skipLabel moves behind the next comma or semicolon of an enum's block, or
// to its end.
func (r *recovery) skipLabel(column int) {
	for {
		switch t := r.tok(r.i); {
		case t.Type == ',' || t.Type == ';':
			r.i++
			return
		case t.Type == '}' || t.EOF() || r.startsDeclaration(r.i, column):
			return
		}
		r.i = r.skip(r.i)
	}
}

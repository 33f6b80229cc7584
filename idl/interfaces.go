package idl

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/wipagent/wipagent/idl/syntax"
)

// interfaceInfo is an interface and its node.
type interfaceInfo struct {
	*Interface
	node *syntax.Interface
}

// resolveInterfaces resolves all operations of the document.
func (c *compiler) resolveInterfaces(u *unit) {
	for _, i := range u.ifaces {
		shared := c.annotations(u, i.node.Annotations, onInterface)
		i.Deprecated, i.Annotations = shared.deprecated, shared.spans()
		names := newScope(u, "operation")
		ops := i.node.Operations
		for _, n := range ops[:atMost(u, len(ops), maxOperations, "operations", func(k int) syntax.Span { return ops[k].Name.Span })] {
			op := c.operation(u, i.Interface, n, shared)
			if names.add(n.Name) {
				i.Operations = append(i.Operations, op)
			}
		}
	}
}

// operation resolves one operation.
func (c *compiler) operation(u *unit, owner *Interface, n *syntax.Operation, shared *settings) *Operation {
	op := &Operation{Name: n.Name.Name, Interface: owner, Doc: u.docOf(n.Doc, n.Name), Span: n.Span, NameSpan: n.Name.Span}
	own := c.annotations(u, n.Annotations, onOperation)
	op.Annotations = own.spans()
	c.apply(u, op, own, shared)
	names := newScope(u, "parameter")
	for _, p := range n.Params[:atMost(u, len(n.Params), maxParams, "parameters", func(k int) syntax.Span { return n.Params[k].Name.Span })] {
		param := c.param(u, p)
		if names.add(p.Name) {
			op.Params = append(op.Params, param)
		}
	}
	op.Result = c.typ(u, n.Result, &place{role: forResult})
	c.checkPage(u, n, op)
	if len(own.examples) > 0 {
		faulty := faultyDefaults(n, op)
		judge := len(faulty) == 0 && readable(op.Params)
		for _, a := range own.examples {
			c.example(u, a, op, faulty, judge)
		}
	}
	return op
}

// readable reports whether all types of the parameters are known, so that
// DecodeArgs can judge a call.
func readable(params []*Param) bool {
	seen := map[*Record]bool{}
	var known func(*Type) bool
	known = func(t *Type) bool {
		for t != nil && t.Elem != nil {
			t = t.Elem
		}
		if t == nil || t.Record == nil || seen[t.Record] {
			return t != nil
		}
		seen[t.Record] = true
		return !slices.ContainsFunc(t.Record.Fields, func(f *Field) bool { return !known(f.Type) })
	}
	return !slices.ContainsFunc(params, func(p *Param) bool { return !known(p.Type) })
}

// faultyDefaults returns the names of the parameters whose default is written
// and has a fault, so that none is known.
func faultyDefaults(n *syntax.Operation, op *Operation) map[string]bool {
	written := map[string]bool{}
	for _, p := range n.Params {
		written[p.Name.Name] = written[p.Name.Name] || p.Default != nil
	}
	faulty := map[string]bool{}
	for _, p := range op.Params {
		if written[p.Name] && p.Default == nil {
			faulty[p.Name] = true
		}
	}
	return faulty
}

// apply puts the annotations into the operation: its own replace those of its
// interface.
func (c *compiler) apply(u *unit, op *Operation, own, shared *settings) {
	risk := own.risk
	if risk == RiskUnstated {
		risk = shared.risk
	}
	op.Risk = risk
	// What an interface says of its operations in general does not hold for
	// one that states a risk to which it cannot apply.
	op.Informational = own.has("informational") || shared.has("informational") && risk <= ReadOnly
	op.DryRun = own.has("dry_run") || shared.has("dry_run") && risk != ReadOnly
	// That a call may be sent again is never said of a change by the way.
	op.Idempotent = own.has("idempotent") || shared.has("idempotent") && (risk <= ReadOnly || risk == shared.risk)
	op.Cost = firstSet(own.cost, shared.cost, 1)
	op.Timeout = firstSet(own.timeout, shared.timeout, DefaultTimeout)
	op.MaxOutput = firstSet(own.maxOutput, shared.maxOutput, DefaultMaxOutput)
	op.Audience = firstSet(own.audience, shared.audience, LocalOperator)
	op.Deprecated = firstSet(own.deprecated, shared.deprecated)
	op.Aliases = own.aliases
	for _, name := range []string{"informational", "dry_run"} {
		a, risk := own.at[name], shared.at[risk.String()]
		if a == nil || risk == nil || own.risk != RiskUnstated {
			continue // conflicts on one thing are reported already
		}
		if (name == "dry_run") == (op.Risk == ReadOnly) {
			contradiction(u, a, risk, "the interface states it for all its operations")
		}
	}
}

// firstSet returns the first value that is not zero.
func firstSet[T comparable](values ...T) (v T) {
	for _, v = range values {
		if v != *new(T) {
			break
		}
	}
	return v
}

// param resolves one parameter.
func (c *compiler) param(u *unit, n *syntax.Param) *Param {
	s := c.annotations(u, n.Annotations, onParam)
	p := &Param{Name: n.Name.Name, Doc: u.docOf(n.Doc, n.Name), Deprecated: s.deprecated, Span: n.Span, NameSpan: n.Name.Span}
	p.Type = c.typ(u, n.Type, &place{role: forParam})
	if p.Type == nil {
		u.withhold(n)
		return p
	}
	if r := c.records[heldRecord(p.Type)]; r != nil && r.resultOnly != nil {
		at := n.Type
		for len(at.Args) > 0 {
			at = at.Args[0]
		}
		d := u.fault(ruleParameterType, at.Name.Span, "declare a record of its own for what a caller sends",
			"found record %q in a parameter, which holds what only results hold", r.Name)
		for ; r != nil; r = r.via {
			relate(d, r.resultOnly.Type.Span, "%q holds it here", r.Name)
		}
	}
	if n.Default == nil {
		return p
	}
	if isNull(n.Default) && !p.Type.hasLabel(n.Default.Text) {
		u.nullDefault(n, p)
		return p
	}
	switch p.Type.Kind {
	case List, Map, RecordOf:
		u.fault(ruleDefaultType, n.Default.Span, "make it optional with ? instead", "found a default of a parameter of type %s, expected none", p.Type)
		return p
	}
	if p.Type.Optional {
		d := u.fault(ruleDefaultOptional, n.Default.Span, "remove the ? or the default", "found a default of an optional parameter, which is null if it is not sent")
		suggest(d, "remove the default", syntax.Edit{Span: until(n.Span.File, n.Type.Span.End, n.Default.Span.End)})
		suggest(d, "remove the ?", syntax.Edit{Span: lastByte(n.Type.Span)})
	}
	p.Default = c.literal(u, n.Default, p.Type)
	return p
}

// nullDefault reports a default that says that a parameter may be left out.
func (u *unit) nullDefault(n *syntax.Param, p *Param) {
	whole := syntax.Edit{Span: until(n.Span.File, n.Type.Span.End, n.Default.Span.End)}
	if p.Type.Optional {
		d := u.fault(ruleDefaultOptional, n.Default.Span, "remove it: an optional parameter that is not sent is null", "found the default %s of an optional parameter", n.Default.Text)
		suggest(d, "remove the default", whole)
		return
	}
	d := u.fault(ruleValueType, n.Default.Span, `what may be left out has "?" behind its type, and no default`, "found the default %s, which is no value of type %s", n.Default.Text, p.Type)
	whole.Text = "?"
	suggest(d, `write "?" instead`, whole)
}

// hasLabel reports whether the type is an enum with a label.
func (t *Type) hasLabel(name string) bool {
	return t.Enum != nil && slices.ContainsFunc(t.Enum.Labels, func(l Label) bool { return l.Name == name })
}

// withhold takes back the built-in type that a parameter's unknown one is nearly
// written as, if it does not fit the default.
func (u *unit) withhold(n *syntax.Param) {
	if n.Default == nil || len(u.found) == 0 {
		return
	}
	d := &u.found[len(u.found)-1]
	if d.Rule != ruleUnknownType || d.Span != n.Type.Name.Span || len(d.Fixes) != 1 {
		return
	}
	fits := false
	switch d.Fixes[0].Edits[0].Text {
	case "int", "float":
		fits = n.Default.Kind == syntax.NumberValue
	case "duration":
		fits = n.Default.Kind == syntax.QuantityValue || n.Default.Kind == syntax.NumberValue
	case "string", "uuid", "bytes", "entry", "text":
		fits = n.Default.Kind == syntax.StringValue
	case "bool":
		fits = n.Default.Text == "true" || n.Default.Text == "false"
	default:
		fits = true
	}
	if !fits {
		d.Hint, d.Fixes = "", nil
	}
}

// checkPage checks that a page of the result can be asked for by number and
// size.
func (c *compiler) checkPage(u *unit, n *syntax.Operation, op *Operation) {
	page := op.Result
	for page != nil && (page.Kind == Observed || page.Kind == Fact) {
		page = page.Elem
	}
	if page == nil || page.Kind != Page {
		return
	}
	const hint = "such as page: int [1..] = 1, page_size: int [1..100] = 20"
	var missing []string
	for _, name := range []string{"page", "page_size"} {
		at := slices.IndexFunc(n.Params, func(p *syntax.Param) bool { return p.Name.Name == name })
		if at < 0 {
			missing = append(missing, name)
			continue
		}
		e := n.Params[at].Type
		i := slices.IndexFunc(op.Params, func(p *Param) bool { return p.Name == name })
		if e == nil || i < 0 || op.Params[i].Type == nil || e.Refinement != nil && op.Params[i].Type.Range == nil {
			continue // a fault already
		}
		if t := op.Params[i].Type; t.Kind != Int || t.Optional || t.Range == nil || !t.Range.HasMin || t.Range.Min < 1 {
			d := u.fault(rulePageParameters, e.Span, hint, "found %s, expected int [1..] since the result is in pages", t)
			if t.Kind == Int && t.Range == nil && !t.Optional {
				suggest(d, "insert [1..]", syntax.Edit{Span: empty(e.Span.File, e.Span.End), Text: " [1..]"})
			}
		}
	}
	if len(missing) > 0 {
		d := u.fault(rulePageParameters, n.Name.Span, hint,
			"found a result in pages without the parameters to ask for one, expected %s", strings.Join(missing, " and "))
		if at, ok := u.behindParams(n); ok && !slices.ContainsFunc(n.Params, collidesWithPage) {
			text := map[string]string{"page": "page: int [1..1000] = 1", "page_size": "page_size: int [1..100] = 20"}
			parts := make([]string, len(missing))
			for i, name := range missing {
				parts[i] = text[name]
			}
			insert := strings.Join(parts, ", ")
			if len(n.Params) > 0 {
				insert = ", " + insert
			}
			suggest(d, "add "+strings.Join(missing, " and "), syntax.Edit{Span: at, Text: insert})
			leave(d) // how many there may be is the author's to say
		}
	}
}

// example checks the arguments of an example and adds their record to the
// operation. It need not give those whose default is faulty.
func (c *compiler) example(u *unit, a *syntax.Annotation, op *Operation, faulty map[string]bool, judge bool) {
	names := make([]string, len(op.Params))
	params := map[string]*Param{}
	for i, p := range op.Params {
		names[i], params[p.Name] = p.Name, p
	}
	given := map[string]*syntax.Arg{}
	unnamed := 0
	meant := map[string]bool{} // by a name that is nearly right
	values := map[string]json.RawMessage{}
	sound := true
	for _, arg := range a.Args {
		if arg.Name == nil {
			d := u.fault(ruleExampleArguments, arg.Span, "write name: value", "found an argument without a name")
			if len(names) == 1 && len(a.Args) == 1 {
				suggest(d, "insert its name", syntax.Edit{Span: empty(arg.Span.File, arg.Span.Start), Text: names[0] + ": "})
			}
			unnamed++
			sound = false
			continue
		}
		name := arg.Name.Name
		p := params[name]
		switch {
		case p == nil:
			near, _ := c.nearest(name, names)
			meant[near] = true
			d := u.fault(ruleExampleArguments, arg.Name.Span, "", "found argument %q, which operation %q does not have", name, op.Name)
			c.meant(d, arg.Name.Span, name, names)
			sound = false
			continue
		case given[name] != nil:
			d := u.fault(ruleExampleArguments, arg.Name.Span, "remove one of them", "found argument %q twice", name)
			relate(d, given[name].Span, "the first is here")
			sound = false
			continue
		}
		given[name] = arg
		if p.Type == nil || arg.Value == nil {
			sound = false
			continue
		}
		switch p.Type.Kind {
		case List, Map, RecordOf:
			u.fault(ruleExampleArguments, arg.Span, "leave it out", "found a value of a parameter of type %s, which cannot be written in an example", p.Type)
			sound = false
			continue
		}
		if values[name] = c.literal(u, arg.Value, p.Type); values[name] == nil {
			sound = false
		}
	}
	for _, p := range op.Params {
		if p.Type == nil || !p.Required() || faulty[p.Name] || given[p.Name] != nil || meant[p.Name] {
			continue
		}
		if unnamed--; unnamed < 0 { // else it may be one without a name
			u.fault(ruleExampleArguments, a.Span, "", "found an example without the required argument %q", p.Name)
			sound = false
		}
	}
	if !sound || !judge {
		return
	}
	var record bytes.Buffer
	record.WriteByte('{')
	for _, p := range op.Params { // in the order of the parameters
		if values[p.Name] == nil {
			continue
		}
		if record.Len() > 1 {
			record.WriteByte(',')
		}
		record.Write(appendQuoted(nil, p.Name))
		record.WriteByte(':')
		record.Write(values[p.Name])
	}
	record.WriteByte('}')
	if c.tryExample(u, a, op, given, record.Bytes()) {
		op.Examples = append(op.Examples, record.Bytes())
	}
}

// tryExample sends an example's record through DecodeArgs, which is the judge
// of what a call may be.
func (c *compiler) tryExample(u *unit, a *syntax.Annotation, op *Operation, given map[string]*syntax.Arg, record json.RawMessage) bool {
	args, err := op.DecodeArgs(record)
	var refused *ArgumentError
	if errors.As(err, &refused) {
		for _, f := range refused.Faults {
			at := a.Span
			if arg := given[strings.TrimPrefix(f.Path, "/")]; arg != nil {
				at = arg.Span
			}
			u.fault(ruleExampleArguments, at, "", "found an example that is refused: %s", f.Constraint)
		}
		return false
	}
	if err != nil || len(args.Repairs) > 0 {
		u.fault(ruleExampleArguments, a.Span, "", "found an example that is not read as it is written")
		return false
	}
	return true
}

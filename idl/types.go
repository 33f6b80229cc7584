package idl

import (
	"fmt"
	"slices"

	"github.com/wipagent/wipagent/idl/syntax"
)

// maxTypeDepth is how deeply wrappers may be nested in one type.
const maxTypeDepth = 8

// builtins are the types that every document has.
var builtins = map[string]Kind{
	"bool": Bool, "int": Int, "float": Float, "string": String, "text": Text, "uuid": UUID,
	"timestamp": Timestamp, "duration": Duration, "bytes": Bytes, "entry": Entry,
	"list": List, "map": Map, "fact": Fact, "page": Page, "observed": Observed,
}

// builtinNames are the names of kinds up to Observed.
var builtinNames = func() (names [Observed + 1]string) {
	for name, kind := range builtins {
		names[kind] = name
	}
	return names
}()

// foreign are what other languages call the built-in types.
var foreign = map[string]string{
	"boolean": "bool", "integer": "int", "int32": "int", "int64": "int", "uint": "int", "long": "int",
	"number": "float", "double": "float", "float32": "float", "float64": "float", "decimal": "float",
	"str": "string", "array": "list", "vector": "list", "set": "list", "sequence": "list",
	"dict": "map", "object": "map", "guid": "uuid", "date": "timestamp", "datetime": "timestamp", "time": "timestamp",
	"blob": "bytes", "binary": "bytes",
}

// vague are those of the foreign names that could as well mean another type, or
// promise what the type does not keep.
var vague = map[string]bool{"number": true, "uint": true, "long": true, "decimal": true, "set": true, "object": true, "date": true, "time": true}

// wraps reports whether the kind takes a type argument of any type.
func (k Kind) wraps() bool { return k >= List && k <= Observed }

// role is what a type is written for.
type role uint8

const (
	forParam role = iota
	forField
	forResult
)

// place is where a type stands: what it is written for, and the wrappers
// around it.
type place struct {
	role  role
	in    Kind   // the wrapper directly around; 0 if outermost
	up    *place // of that wrapper; nil if outermost
	depth int
}

func (p *place) inside(k Kind) *place {
	return &place{role: p.role, in: k, up: p, depth: p.depth + 1}
}

// typ resolves a type. It returns nil after a fault that leaves no type; after
// other faults it goes on, so that one fault does not hide the next.
func (c *compiler) typ(u *unit, e *syntax.TypeExpr, at *place) *Type {
	if e == nil || e.Name.Name == "" {
		return nil // a syntax fault
	}
	if at.depth > maxTypeDepth {
		u.fault(syntax.RuleTooDeep, e.Span, "give the inner part a name: declare a record", "found types nested more than %d deep", maxTypeDepth)
		return nil
	}
	t := c.named(u, e, at)
	if t == nil {
		return nil
	}
	t.Optional = e.Optional
	misplaced := c.checkPlace(u, e, t, at)
	if !misplaced {
		c.checkOptional(u, e, t, at)
	}
	c.refine(u, e, t)
	switch {
	case t.Kind == Entry:
		c.entryOf(u, e, t)
	case t.Kind.wraps():
		if !c.arity(u, e, 1) {
			return nil
		}
		if t.Elem = c.typ(u, e.Args[0], at.inside(t.Kind)); t.Elem == nil {
			return nil
		}
		if !misplaced {
			c.checkElem(u, e.Args[0], t)
		}
	default:
		if !c.arity(u, e, 0) {
			return nil
		}
	}
	return t
}

// arity checks the number of type arguments.
func (c *compiler) arity(u *unit, e *syntax.TypeExpr, want int) bool {
	switch n := len(e.Args); {
	case n == want:
		return true
	case want == 0:
		u.fault(ruleTypeArguments, spanOf(e.Args), "", "found %s of %q, expected none", count(n, "type argument"), e.Name.Name)
	case n == 0:
		u.fault(ruleTypeArguments, e.Name.Span, fmt.Sprintf("say of what: %s<T>", e.Name.Name), "found %q without a type argument, expected one", e.Name.Name)
	default:
		hint := ""
		if e.Name.Name == "map" {
			hint = "a map's keys are always strings: write map<T>"
		}
		d := u.fault(ruleTypeArguments, spanOf(e.Args), hint, "found %d type arguments of %q, expected one", n, e.Name.Name)
		if n == 2 && hint != "" && e.Args[0].Name.Name == "string" {
			suggest(d, "remove the type of the keys", syntax.Edit{Span: until(d.Span.File, e.Args[0].Span.Start, e.Args[1].Span.Start)})
		}
	}
	return false
}

// spanOf returns the span of a non-empty list of types.
func spanOf(list []*syntax.TypeExpr) syntax.Span {
	s := list[0].Span
	s.End = list[len(list)-1].Span.End
	return s
}

// count returns "1 thing" or "n things".
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// named returns the type that a name stands for.
func (c *compiler) named(u *unit, e *syntax.TypeExpr, at *place) *Type {
	name := e.Name.Name
	if kind, ok := builtins[name]; ok {
		return &Type{Kind: kind}
	}
	s := u.visible[name]
	switch {
	case s == nil:
		c.unknownType(u, e, at, false)
		return nil
	case s.record != nil:
		return &Type{Kind: RecordOf, Record: s.record.Record}
	case s.enum != nil:
		return &Type{Kind: EnumOf, Enum: s.enum}
	}
	hint := fmt.Sprintf("an Object is passed by its entry: entry<%s>", name)
	if at.in == Observed {
		hint = fmt.Sprintf("declare a record with a field of type entry<%s>", name)
	}
	d := u.fault(ruleInterfaceAsType, e.Name.Span, hint,
		"found interface %q, expected a type", name)
	if at.in != Observed && len(e.Args) == 0 && e.Refinement == nil {
		rewrite(d, e.Name.Span, "entry<"+name+">")
	}
	relate(d, s.ident.Span, "declared here")
	return nil
}

// unknownType reports a name that is not declared, unless the reason may be an
// import that failed or is broken. It looks for what was meant among
// interfaces, or among types.
func (c *compiler) unknownType(u *unit, e *syntax.TypeExpr, at *place, ofInterface bool) {
	if u.broken {
		return
	}
	id := e.Name
	var candidates []string
	if c.near > 0 {
		candidates = u.candidates(ofInterface)
	}
	own := 'A' <= id.Name[0] && id.Name[0] <= 'Z'
	if own {
		// A name of the author's own is written so, perhaps one yet to be
		// declared: to make a built-in type of it, unless by its case alone,
		// would be another document.
		candidates = slices.DeleteFunc(slices.Clone(candidates), func(name string) bool {
			_, builtin := builtins[name]
			return builtin && foldName(name) != foldName(id.Name)
		})
	}
	near, sure := c.nearest(id.Name, candidates)
	if other := foreign[foldName(id.Name)]; other != "" && !ofInterface {
		near, sure = other, !vague[foldName(id.Name)]
	}
	if near == "text" && at != nil && at.role == forParam {
		near = "string"
	}
	if near == "" && u.incomplete && !mayBe[foldName(id.Name)] {
		return
	}
	d := u.fault(ruleUnknownType, id.Span, "", "found unknown type %q", id.Name)
	if c.suggestOptional(d, e, near) || c.suggestImport(u, d, id.Name) {
		return
	}
	if near == "" {
		if id.Name == "void" && at != nil && at.role == forResult {
			d.Hint = "every operation has a result: return bool, or a record that says what was done"
		}
		return
	}
	d.Hint = didYouMean(near)
	_, builtin := builtins[near]
	if ofInterface || u.takes(e, near, at) && (!own || !builtin || foldName(near) == foldName(id.Name)) {
		rewrite(d, id.Span, near)
		switch {
		case u.incomplete: // the name may come from the import that brought nothing
			leave(d)
		case sameLetters(foldName(id.Name), foldName(near)):
		case !builtin || !sure: // another declaration may not be written yet
			leave(d)
		}
	}
}

// mayBe are what other languages call a type that may be absent.
var mayBe = map[string]bool{"optional": true, "option": true, "maybe": true, "nullable": true}

// suggestOptional suggests "?" for what other languages write as a type with an
// argument, unless another name is near, and reports whether it did.
func (c *compiler) suggestOptional(d *syntax.Diagnostic, e *syntax.TypeExpr, near string) bool {
	if !mayBe[foldName(e.Name.Name)] || near != "" || len(e.Args) != 1 || e.Refinement != nil || e.Args[0].Span.Start.Line != e.Span.End.Line {
		return false
	}
	inner, end := e.Args[0], "?"
	if inner.Optional || e.Optional {
		end = ""
	}
	d.Hint = `what may be absent has "?" behind its type`
	if kind, builtin := builtins[inner.Name.Name]; builtin && kind >= Fact {
		return true // never stands beside "?"
	}
	behind := lastByte(e.Span)
	if e.Optional {
		behind.Start, behind.End = inner.Span.End, behind.Start // up to the "?"
	} else {
		behind.Start = inner.Span.End
	}
	suggest(d, `write "?" behind the type`, syntax.Edit{Span: until(d.Span.File, e.Name.Span.Start, inner.Span.Start)}, syntax.Edit{Span: behind, Text: end})
	return true
}

// suggestImport suggests to import the document beside that declares a name, if
// it is one, and reports whether any does.
func (c *compiler) suggestImport(u *unit, d *syntax.Diagnostic, name string) bool {
	if c.Declaring == nil || u.file == nil {
		return false
	}
	var paths []string
	for _, path := range c.Declaring(u.name, name) {
		if !c.loops(u, path) && !slices.ContainsFunc(u.file.Imports, func(i *syntax.Import) bool { return i.Path == path }) {
			paths = append(paths, path)
		}
	}
	if len(paths) == 0 {
		return false
	}
	d.Hint = fmt.Sprintf("import %q, which declares it", paths[0])
	at, ok := u.behindHeader()
	for _, path := range paths[:min(len(paths), 3)] {
		if ok {
			clause := "import " + quote(path) + ";"
			suggest(d, "insert "+clause, syntax.Edit{Span: at, Text: "\n" + clause})
		}
	}
	if u.incomplete {
		leave(d)
	}
	return true
}

// candidates returns the names that an unknown name may have meant.
func (u *unit) candidates(ofInterface bool) []string {
	if u.meant == nil {
		u.meant = map[bool][]string{false: slices.Clone(builtinNames[Bool:])}
		for _, name := range sortedNames(u.visible) {
			u.meant[false] = append(u.meant[false], name)
			if u.visible[name].iface != nil {
				u.meant[true] = append(u.meant[true], name)
			}
		}
	}
	return u.meant[ofInterface]
}

// entryOf resolves the interface of an entry.
func (c *compiler) entryOf(u *unit, e *syntax.TypeExpr, t *Type) {
	if len(e.Args) == 0 {
		return
	}
	if !c.arity(u, e, 1) {
		return
	}
	arg := e.Args[0]
	if arg.Name.Name == "" {
		return
	}
	s := u.visible[arg.Name.Name]
	_, builtin := builtins[arg.Name.Name]
	switch {
	case builtin || s != nil && s.iface == nil:
		u.fault(ruleNotAnInterface, arg.Span, "", "found type %q, expected an interface", arg.Name.Name)
	case s == nil:
		c.unknownType(u, arg, nil, true)
	case arg.Optional || arg.Refinement != nil || len(arg.Args) > 0:
		u.fault(ruleNotAnInterface, arg.Span, fmt.Sprintf("write entry<%s>, and what belongs to the entry after it", arg.Name.Name),
			"found more than a name, expected an interface's bare name")
	default:
		t.Interface = s.iface
	}
}

// checkPlace reports a type that has no meaning where it stands, and whether
// it did.
func (c *compiler) checkPlace(u *unit, e *syntax.TypeExpr, t *Type, at *place) (misplaced bool) {
	if at.role == forParam {
		switch t.Kind {
		case Text:
			d := u.fault(ruleParameterType, e.Span, "write string: what a caller sends is nobody's observed words", "found text in a parameter")
			rewrite(d, e.Name.Span, "string")
			return true
		case Fact, Page, Observed:
			u.fault(ruleParameterType, e.Name.Span, "a caller sends what it knows: write the type alone, or a list", "found %s in a parameter, which only results hold", e.Name.Name)
			return true
		}
		return false
	}
	outermost := at.in == 0
	switch t.Kind {
	case Observed:
		if at.role != forResult || !outermost {
			u.fault(ruleBadNesting, e.Name.Span, "", "found observed inside something else, expected it only around an operation's whole result")
			return true
		}
	case Page:
		around := at
		if around.in == Fact {
			around = around.up
		}
		if around.in != 0 && around.in != Observed {
			d := u.fault(ruleBadNesting, e.Name.Span, "use list", "found page inside %s, expected it only as a result or a field, bare or in fact or observed", builtinNames[around.in])
			if at.in == Page { // which holds no list
				d.Hint = "declare a record with this as a field"
			} else {
				rewrite(d, e.Name.Span, "list")
				leave(d) // which nobody pages through
			}
			return true
		}
	case Fact:
		if at.in == Fact || at.in == Page {
			u.fault(ruleBadNesting, e.Name.Span, "", "found fact inside %s", builtinNames[at.in])
			return true
		}
	}
	return false
}

// checkOptional reports a "?" that has no meaning.
func (c *compiler) checkOptional(u *unit, e *syntax.TypeExpr, t *Type, at *place) {
	if !t.Optional {
		return
	}
	mark := lastByte(e.Span) // of the "?"
	around := at
	if around.in == Fact {
		around = around.up
	}
	switch {
	case t.Kind == Fact && len(e.Args) == 1:
		d := u.fault(ruleBadOptional, mark, "null is a known \"none\": put the ? inside, as in fact<T?>", "found an optional fact")
		if inner := e.Args[0]; !inner.Optional {
			suggest(d, "move the ? inside", syntax.Edit{Span: empty(mark.File, inner.Span.End), Text: "?"}, syntax.Edit{Span: mark})
		}
	case t.Kind == Page || t.Kind == Observed:
		d := u.fault(ruleBadOptional, mark, "remove it", "found an optional %s", builtinNames[t.Kind])
		suggest(d, "remove it", syntax.Edit{Span: mark})
	case at.in == Page:
		d := u.fault(ruleBadOptional, mark, "an item that is not there is not in the page", "found an optional item of a page")
		suggest(d, "remove it", syntax.Edit{Span: mark})
	case around.in == Observed:
		d := u.fault(ruleBadOptional, mark, "remove it", "found an optional record in observed, whose fields always stand beside the envelope")
		suggest(d, "remove it", syntax.Edit{Span: mark})
	}
}

// checkElem reports a wrapper around something that it cannot hold. What
// checkPlace has reported already is left alone.
func (c *compiler) checkElem(u *unit, e *syntax.TypeExpr, t *Type) {
	elem := t.Elem.Kind
	if r := c.records[t.Elem.Record]; r != nil && (t.Kind == Fact || t.Kind == Observed) {
		c.checkBeside(u, t.Kind, e, r)
	}
	switch t.Kind {
	case Observed:
		inner, at := t.Elem, e
		if inner.Kind == Fact {
			inner, at = inner.Elem, e.Args[0]
			if r := c.records[inner.Record]; r != nil {
				c.checkBeside(u, Observed, at, r)
			}
		}
		if !slices.Contains([]Kind{RecordOf, Page, Fact, Observed}, inner.Kind) {
			u.fault(ruleBadNesting, at.Span, "declare a record with this as a field",
				"found observed around %s, expected a record, a page, or a fact of one of them", t.Elem)
		}
	case Fact:
		if elem == Map {
			u.fault(ruleBadNesting, e.Span, "declare a record with the map as a field", "found fact around a map, which could hold the keys of an unknown fact")
		}
	case Page:
		if elem == List || elem == Map {
			u.fault(ruleBadNesting, e.Span, "declare a record with this as a field", "found page around a %s, expected a record or a plain value", builtinNames[elem])
		}
	}
}

package gen

import (
	"slices"
	"strings"

	"github.com/wipagent/wipagent/idl"
)

// language is how one language writes names. The converters return an
// identifier of ASCII letters, digits and underscores that begins with a letter.
type language struct {
	typ, member func(string) string
	// What a name may not be: of a module, of a type, of a record's field, of
	// an interface's method, of a parameter.
	modules, types, fields, methods, params []string
	// typesHide says that a type's name cannot also be a member's, since a
	// member hides the type from the annotations beside it.
	typesHide bool
	// onePackage says that all documents share one scope of types.
	onePackage bool
	// args says what the type of an operation's arguments may be named, the
	// best first; it has none if there are no names. Where several operations
	// want the first name, or a declaration does, each gets its last.
	args func(*idl.Operation) []string
	// labels says that each label of an enum has a name beside the types, and
	// calls that each interface has a function there that calls it.
	labels, calls bool
}

// module is what one generated file or folder binds: the documents of one
// package of the interface language, or all of them.
type module struct {
	name    string
	pkg     string // the package; empty if the module has several
	docs    []*idl.Document
	records []*idl.Record
	enums   []*idl.Enum
	ifaces  []*idl.Interface
}

// naming holds the names of everything that documents declare, in one language.
type naming struct {
	modules []*module
	in      map[*idl.Document]*module
	// of is the name of each *idl.Interface, Record, Enum, Label, Operation,
	// Param and Field.
	of map[any]string
	// args is the name of the type of an operation's arguments.
	args map[*idl.Operation]string
	// caller is the name of the function that calls an interface.
	caller map[*idl.Interface]string
}

// newNaming names what the documents declare, each scope as a set: which name a
// declaration gets depends on the declarations alone, not on what is asked for
// first. A package that documents of several sets have is a module of its own in
// each.
func (l *language) newNaming(sets ...[]*idl.Document) *naming {
	n := &naming{in: map[*idl.Document]*module{}, of: map[any]string{}, args: map[*idl.Operation]string{}, caller: map[*idl.Interface]string{}}
	n.group(l, sets)
	for _, m := range n.modules {
		l.nameModule(n, m)
	}
	return n
}

// group makes the modules.
func (n *naming) group(l *language, sets [][]*idl.Document) {
	type key struct {
		set int
		pkg string
	}
	modules := map[key]*module{}
	for set, docs := range sets {
		for _, d := range docs {
			k := key{set, d.Package}
			if l.onePackage {
				k.pkg = ""
			}
			m := modules[k]
			if m == nil {
				m = &module{pkg: k.pkg}
				modules[k] = m
				n.modules = append(n.modules, m)
			}
			n.in[d] = m
			m.docs = append(m.docs, d)
			m.ifaces = append(m.ifaces, d.Interfaces...)
			m.records = append(m.records, d.Records...)
			m.enums = append(m.enums, d.Enums...)
		}
	}
	var want []string
	for _, m := range n.modules {
		want = append(want, snake(strings.ReplaceAll(m.pkg, ".", "_")))
	}
	for i, name := range allocate(want, l.modules) {
		n.modules[i].name = name
	}
}

func (l *language) nameModule(n *naming, m *module) {
	var owners []any
	var want []string
	add := func(owner any, name string) { owners, want = append(owners, owner), append(want, name) }
	for _, i := range m.ifaces {
		add(i, l.typ(i.Name))
	}
	for _, r := range m.records {
		add(r, l.typ(r.Name))
	}
	for _, e := range m.enums {
		add(e, l.typ(e.Name))
	}
	for _, e := range m.enums {
		for i := range e.Labels {
			if l.labels {
				add(&e.Labels[i], l.typ(e.Name)+l.typ(e.Labels[i].Name))
			}
		}
	}
	declared := len(owners)
	for _, i := range m.ifaces {
		if l.calls {
			add(i, "Call"+l.typ(i.Name))
		}
	}
	called := len(owners)
	l.wantArgs(m, slices.Clone(want), add)
	types := allocate(want, l.types)
	for i, name := range types {
		switch {
		case i < declared:
			n.of[owners[i]] = name
		case i < called:
			n.caller[owners[i].(*idl.Interface)] = name
		default:
			n.args[owners[i].(*idl.Operation)] = name
		}
	}
	hidden := types
	if !l.typesHide {
		hidden = nil
	}
	for _, r := range m.records {
		nameMembers(n, l, r.Fields, func(f *idl.Field) string { return f.Name }, append(l.fields, hidden...))
	}
	for _, i := range m.ifaces {
		nameMembers(n, l, i.Operations, func(o *idl.Operation) string { return o.Name }, append(l.methods, hidden...))
		for _, o := range i.Operations {
			nameMembers(n, l, o.Params, func(p *idl.Param) string { return p.Name }, l.params)
		}
	}
}

// longArgs names the type of an operation's arguments by its interface too.
func longArgs(typ func(string) string) func(*idl.Operation) []string {
	return func(o *idl.Operation) []string {
		if len(o.Params) == 0 {
			return nil
		}
		return []string{typ(o.Interface.Name) + typ(o.Name) + "Args"}
	}
}

// wantArgs adds the types of arguments, with the names that they want beside
// those of the declarations.
func (l *language) wantArgs(m *module, declared []string, add func(owner any, name string)) {
	if l.args == nil {
		return
	}
	wanted := map[string]int{}
	for _, name := range declared {
		wanted[name]++
	}
	var operations []*idl.Operation
	for _, i := range m.ifaces {
		for _, o := range i.Operations {
			if names := l.args(o); len(names) > 0 {
				operations = append(operations, o)
				wanted[names[0]]++
			}
		}
	}
	for _, o := range operations {
		names := l.args(o)
		if wanted[names[0]] == 1 {
			add(o, names[0])
		} else {
			add(o, names[len(names)-1])
		}
	}
}

func nameMembers[T any](n *naming, l *language, members []T, name func(T) string, reserved []string) {
	want := make([]string, 0, len(members))
	for _, m := range members {
		want = append(want, l.member(name(m)))
	}
	for i, got := range allocate(want, reserved) {
		n.of[members[i]] = got
	}
}

// allocate gives each wanted name one of its own that is not reserved. The first
// to want a free name has it; the others get theirs with as few underscores
// behind as it takes.
func allocate(want, reserved []string) []string {
	taken := make(map[string]bool, len(want)+len(reserved))
	for _, r := range reserved {
		taken[r] = true
	}
	got := make([]string, len(want))
	for i, w := range want {
		if !taken[w] {
			got[i], taken[w] = w, true
		}
	}
	for i, w := range want {
		if got[i] != "" {
			continue
		}
		for taken[w] {
			w += "_"
		}
		got[i], taken[w] = w, true
	}
	return got
}

// snake returns the name as it is written in the language, without underscores
// before it, which mean privacy or worse elsewhere.
func snake(name string) string { return letterFirst(strings.TrimLeft(name, "_"), "x") }

// pascal returns the name's words joined, each with a capital.
func pascal(name string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(name, "_") {
		if word != "" {
			b.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
	}
	return letterFirst(b.String(), "X")
}

// camel returns the name's words joined, each but the first with a capital. A
// first word all in capitals is an abbreviation.
func camel(name string) string {
	s := pascal(name)
	first, _, _ := strings.Cut(strings.TrimLeft(name, "_"), "_")
	if len(first) > 1 && first == strings.ToUpper(first) {
		return strings.ToLower(s[:len(first)]) + s[len(first):]
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// letterFirst puts a letter before digits and before nothing.
func letterFirst(s, letter string) string {
	if s == "" || s[0] >= '0' && s[0] <= '9' {
		return letter + s
	}
	return s
}

// sentName returns the name by which a class sends an operation. The Object may
// have another interface with an operation of that name, which a class of this
// one does not know; with its interface's name it is meant anywhere.
func sentName(o *idl.Operation) string {
	if strings.Contains(o.Name, ".") {
		return o.Name
	}
	return o.Interface.Name + "." + o.Name
}

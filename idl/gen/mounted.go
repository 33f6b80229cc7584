package gen

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/wipagent/wipagent/idl"
)

// Mounted is what one caller may discover of what is mounted.
type Mounted struct {
	// Entries are those with an operation, each once, in the order of paths.
	Entries []Entry
	// Command is the server that the bindings start unless they are told
	// another: a program and its arguments.
	Command []string
	// Clean makes a stranger's words safe to read. It is needed if an entry
	// is Untrusted.
	Clean func(string) string
}

// Entry is one place where there is something to call.
type Entry struct {
	Path           string // absolute, of the space, such as "/grid/region"
	Title, Summary string // safe to read; may be empty
	Mount          string // the path at which its Host is mounted
	Untrusted      bool   // nobody vouches for the Host, whose documents are cleaned
	Operations     []EntryOperation
}

// EntryOperation is an operation, and the name that means it at its entry.
type EntryOperation struct {
	Name      string // as declared, or with its interface and a dot before it
	Operation *idl.Operation
}

// mountedModule is the module of the mounted entries, beside those of packages.
const mountedModule = "mounted"

// world is how one language writes what is mounted.
type world struct {
	*naming
	lang    *language
	root    *place
	classes []*place // those whose class is of the module itself, in the order of paths
}

// place is an entry, or a folder on the way to one.
type place struct {
	path  string
	entry *Entry // nil if there is nothing to call at the place itself
	below []*place
	class string // empty if it is base's
	base  *idl.Interface
	own   []*idl.Operation // those of the entry that base has not
	names []string         // of what is below, as members of the class
}

// lay gives everything its name. members are the names that a language's class
// of a place cannot have as members, and roots those that the root's cannot
// have besides.
func (m *Mounted) lay(lang language, members, roots []string) *world {
	keep := map[*idl.Operation]bool{}
	untrusted := map[*idl.Document]bool{}
	var docs []*idl.Document
	for _, e := range m.Entries {
		for _, o := range e.Operations {
			keep[o.Operation] = true
			docs = append(docs, o.Operation.Interface.Document)
		}
		if e.Untrusted {
			for _, d := range withImports(e.documents()) {
				untrusted[d] = true
			}
		}
	}
	x := newExcerpt(docs, keep, func(d *idl.Document) func(string) string {
		if untrusted[d] {
			return m.Clean
		}
		return nil
	})
	lang.modules = append(slices.Clone(lang.modules), mountedModule)
	w := &world{naming: lang.newNaming(m.sets(x)...), lang: &lang, root: &place{path: "/"}}
	for _, e := range m.Entries {
		for _, o := range e.Operations {
			if o.Name != o.Operation.Name { // the bare name means another's there, and this one means it anywhere
				x.operations[o.Operation].Name = o.Name
			}
		}
	}
	places := map[string]*place{"/": w.root}
	all := []*place{w.root}
	for _, e := range m.Entries {
		at := w.root
		path := ""
		for segment := range strings.SplitSeq(e.Path[1:], "/") {
			if segment == "" { // of "/"
				continue
			}
			path += "/" + segment
			if places[path] == nil {
				places[path] = &place{path: path}
				at.below = append(at.below, places[path])
				all = append(all, places[path])
			}
			at = places[path]
		}
		at.entry = &e
		w.choose(at, x)
	}
	w.name(all, members, roots)
	return w
}

// documents returns those that declare what can be called at the entry.
func (e *Entry) documents() []*idl.Document {
	var docs []*idl.Document
	for _, o := range e.Operations {
		docs = append(docs, o.Operation.Interface.Document)
	}
	return docs
}

// sets puts the documents into sets, in each of which a package can be one
// module: Hosts may have packages of one name that declare different things by
// one name. What the documents of one Host declare stays together.
func (m *Mounted) sets(x *excerpt) [][]*idl.Document {
	var sets [][]*idl.Document
	placed := map[*idl.Document]bool{}
	put := func(group []*idl.Document) {
		for i, set := range sets {
			if !clash(set, group) {
				sets[i] = append(set, group...)
				return
			}
		}
		sets = append(sets, group)
	}
	for i := 0; i < len(m.Entries); {
		var docs []*idl.Document
		for mount := m.Entries[i].Mount; i < len(m.Entries) && m.Entries[i].Mount == mount; i++ {
			docs = append(docs, m.Entries[i].documents()...)
		}
		var order []string
		groups := map[string][]*idl.Document{}
		for _, d := range withImports(docs) {
			if to := x.of[d]; to != nil && !placed[to] {
				placed[to] = true
				if groups[to.Package] == nil {
					order = append(order, to.Package)
				}
				groups[to.Package] = append(groups[to.Package], to)
			}
		}
		for _, pkg := range order {
			put(groups[pkg])
		}
	}
	return sets
}

// clash reports whether documents of one package declare a name that those of a
// set do.
func clash(set, group []*idl.Document) bool {
	taken := map[string]bool{}
	for _, d := range set {
		if d.Package == group[0].Package {
			for _, name := range declared(d) {
				taken[name] = true
			}
		}
	}
	return slices.ContainsFunc(group, func(d *idl.Document) bool {
		return slices.ContainsFunc(declared(d), func(name string) bool { return taken[name] })
	})
}

func declared(d *idl.Document) []string {
	var names []string
	for _, i := range d.Interfaces {
		names = append(names, i.Name)
	}
	for _, r := range d.Records {
		names = append(names, r.Name)
	}
	for _, e := range d.Enums {
		names = append(names, e.Name)
	}
	return names
}

// choose decides which interface's class an entry's is, or is made from: that of
// its first interface, if it has at the entry all that it has at any. What else
// can be called there are operations of the entry's own class. The root's has
// members that an interface may have too, and so all operations of its own.
func (w *world) choose(p *place, x *excerpt) {
	first := x.operations[p.entry.Operations[0].Operation].Interface
	plain := map[*idl.Operation]bool{}
	for _, o := range p.entry.Operations {
		if o.Name == o.Operation.Name {
			plain[x.operations[o.Operation]] = true
		}
	}
	if p != w.root && !slices.ContainsFunc(first.Operations, func(o *idl.Operation) bool { return !plain[o] }) {
		p.base = first
	}
	for _, o := range p.entry.Operations {
		if c := x.operations[o.Operation]; p.base == nil || c.Interface != p.base {
			p.own = append(p.own, renamed(c, o.Name))
			w.args[p.own[len(p.own)-1]] = w.args[c]
		}
	}
}

// name gives the classes and their members their names.
func (w *world) name(all []*place, members, roots []string) {
	var want []string
	for _, p := range all {
		if p == w.root || p.base == nil || len(p.own)+len(p.below) > 0 {
			w.classes = append(w.classes, p)
			name := "World" // which it gets, as the first to want it
			if p != w.root {
				name = w.lang.typ(identifier(p.path))
			}
			want = append(want, name)
		}
	}
	classes := number(want, w.lang.types)
	for i, p := range w.classes {
		p.class = classes[i]
	}
	for _, p := range w.classes {
		reserved := slices.Concat(w.lang.methods, members)
		if w.lang.typesHide {
			reserved = append(reserved, classes...)
		}
		if p == w.root {
			reserved = append(reserved, roots...)
		}
		if p.base != nil {
			for _, o := range p.base.Operations {
				reserved = append(reserved, w.of[o])
			}
		}
		var want []string
		for _, o := range p.own {
			want = append(want, w.lang.member(operationName(o.Name)))
		}
		for _, child := range p.below {
			want = append(want, w.lang.member(identifier(child.path[strings.LastIndexByte(child.path, '/')+1:])))
		}
		got := number(want, reserved)
		for i, o := range p.own {
			w.of[o] = got[i]
		}
		p.names = got[len(p.own):]
	}
}

// note says what a place is.
func (p *place) note() string {
	switch {
	case p.path == "/" && p.entry == nil:
		return "All that is mounted and can be called."
	case p.entry == nil:
		return sentences("What is below " + p.path)
	case p.entry.Title == "":
		return sentences("The entry "+p.path, p.entry.Summary)
	}
	return sentences("The entry "+p.path+": "+p.entry.Title, p.entry.Summary)
}

// identifier returns a path or a segment of one as letters, digits and
// underscores. Letters of other scripts, and signs that do not merely divide
// words, become their numbers, so that places go on to differ.
func identifier(path string) string {
	var b strings.Builder
	for _, r := range path {
		switch {
		case r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z':
			b.WriteRune(r)
		case strings.ContainsRune("/-. ", r):
			b.WriteByte('_')
		default:
			b.WriteString("u" + strconv.FormatInt(int64(r), 16) + "_")
		}
	}
	return strings.TrimRight(b.String(), "_")
}

var capital = regexp.MustCompile(`([a-z0-9])([A-Z])`)

// operationName returns the name that means an operation at an entry as names of
// members are written: that of Refund.pay is refund_pay.
func operationName(name string) string {
	iface, name, ok := strings.Cut(name, ".")
	if !ok {
		return iface
	}
	return strings.ToLower(capital.ReplaceAllString(iface, "${1}_$2")) + "_" + name
}

// number does what allocate does for names of which there may be very many, all
// of them strangers': the second to want a name gets it with an underscore
// behind, and further ones get numbers too.
func number(want, reserved []string) []string {
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
	next := map[string]int{}
	for i, w := range want {
		if got[i] != "" {
			continue
		}
		name := w + "_"
		for taken[name] {
			next[w]++
			name = w + "_" + strconv.Itoa(next[w]+1)
		}
		got[i], taken[name] = name, true
	}
	return got
}

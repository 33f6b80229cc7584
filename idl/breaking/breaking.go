// Package breaking compares two states of IDL documents and finds what of the
// old one no longer holds in the new one, and for whom: for programs and
// models that call the operations, for calls that a model remembers or a
// scheduler has stored, and for those who implement the operations.
package breaking

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/syntax"
)

// Breaks is the set of those for whom a change breaks something. The empty set
// is a change that breaks nobody and that somebody must still see, such as an
// operation that is offered to more people.
type Breaks uint8

// The members of the set.
const (
	// Caller: who calls anew by what the old document says, or reads results
	// by it strictly.
	Caller Breaks = 1 << iota
	// CachedCall: a call that is sent again as it was, by a model that
	// remembers it, a scheduler or a script.
	CachedCall
	// Implementer: a Host that still does what the old document says, or is
	// compiled against bindings of it.
	Implementer
)

var breaksNames = []struct {
	one  Breaks
	name string
}{{Caller, "caller"}, {CachedCall, "cached call"}, {Implementer, "implementer"}}

// String returns the members' names, or "nobody".
func (b Breaks) String() string {
	if names := b.Names(); len(names) > 0 {
		return strings.Join(names, ", ")
	}
	return "nobody"
}

// Names returns the members' names: caller, cached call, implementer.
func (b Breaks) Names() []string {
	names := []string{}
	for _, n := range breaksNames {
		if b&n.one != 0 {
			names = append(names, n.name)
		}
	}
	return names
}

// Change is one change that breaks something, or that must be seen.
type Change struct {
	Rule   string // stable identifier, such as "parameter-removed"
	Breaks Breaks
	// Old and New are where it was and where it is: the name of what changed,
	// or of what it was or would be in. One whose whole document is missing
	// has only the file's name, or none.
	Old, New syntax.Span
	Message  string // lower case, no full stop
	Hint     string // what to do, or empty
	// Allowed says that all documents concerned say so: the version was
	// raised in the one that holds the change, and in those whose operations
	// it reaches.
	Allowed bool
}

// Compare returns what changed from old to new in a way that breaks something,
// in the order of the old documents. Interfaces are found again by their
// package and name, in whatever document, or as renamed; records and enums by
// the operations that are made of them; those that none is made of by their
// names. Compare changes nothing and is safe for concurrent use.
func Compare(old, new []*idl.Document) []Change {
	c := &comparer{became: map[*idl.Document]*idl.Document{}, seen: map[compared]bool{}, reach: map[any][]versions{}, used: map[any]bool{}, known: map[Change]found{}}
	c.index(old, new)
	for _, d := range old {
		c.version(d)
	}
	for _, p := range c.interfaces {
		c.reached(p)
	}
	for _, p := range c.interfaces {
		c.iface(p)
	}
	c.unreached(old)
	return c.result()
}

// comparer is one run of Compare.
type comparer struct {
	new        []*idl.Document
	interfaces []interfacePair
	docs       map[string]int                  // the order of the old documents
	became     map[*idl.Document]*idl.Document // what document found
	seen       map[compared]bool
	reach      map[any][]versions // of old records and enums: the documents of operations made of them
	used       map[any]bool       // old records and enums that operations are made of
	changes    []Change
	known      map[Change]found // by what identifies a change: its places and message
}

// found is where a change is in the list, and whom the rule that it has there
// breaks something for.
type found struct {
	at     int
	breaks Breaks
}

// interfacePair is an old interface and what became of it; nil if nothing.
type interfacePair struct{ old, new *idl.Interface }

// versions are two states of one document; new is nil if it is gone.
type versions struct{ old, new *idl.Document }

func (v versions) raised() bool { return v.new != nil && v.old != nil && v.new.Version > v.old.Version }

// compared is a pair of records or enums that was compared for one direction.
type compared struct {
	old, new any
	sent     bool
}

// index finds for each old interface the one that it became.
func (c *comparer) index(old, new []*idl.Document) {
	c.new, c.docs = new, map[string]int{}
	taken := map[*idl.Interface]bool{}
	for at, d := range old {
		c.docs[d.Name] = at
		for _, i := range d.Interfaces {
			p := interfacePair{i, c.sameInterface(i)}
			taken[p.new] = true
			c.interfaces = append(c.interfaces, p)
		}
	}
	for at := range c.interfaces {
		p := &c.interfaces[at]
		if p.new != nil {
			continue
		}
		best, most := (*idl.Interface)(nil), 0
		for _, d := range new {
			for _, i := range d.Interfaces {
				if n := alike(p.old, i); !taken[i] && n > most {
					best, most = i, n
				}
			}
		}
		if best != nil {
			p.new = best
			taken[best] = true
		}
	}
}

// sameInterface returns the new interface of the same package and name, best
// that in the document of the same name, or nil.
func (c *comparer) sameInterface(old *idl.Interface) (found *idl.Interface) {
	for _, d := range c.new {
		if d.Package != old.Document.Package {
			continue
		}
		if i := d.Interface(old.Name); i != nil && (found == nil || d.Name == old.Document.Name) {
			found = i
		}
	}
	return found
}

// alike returns how many operations two interfaces have in common, if that is
// at least half of those of either, or 0. Those of one name are alike.
func alike(a, b *idl.Interface) int {
	n := 0
	for _, op := range a.Operations {
		if b.Operation(op.Name) != nil {
			n++
		}
	}
	most := max(len(a.Operations), len(b.Operations))
	switch {
	case a.Name == b.Name:
		return n + most + 1
	case n == 0 || 2*n < most:
		return 0
	}
	return n
}

// document returns what became of a document: the one of its name, or else the
// one of its package that declares most of what it does; nil if none does.
func (c *comparer) document(old *idl.Document) *idl.Document {
	if d, ok := c.became[old]; ok {
		return d
	}
	names := declared(old)
	var found *idl.Document
	most := 0
	for _, d := range c.new {
		if d.Name == old.Name {
			found = d
			break
		}
		if d.Package != old.Package {
			continue
		}
		n := 0
		for name := range declared(d) {
			if names[name] {
				n++
			}
		}
		if n > most {
			found, most = d, n
		}
	}
	c.became[old] = found
	return found
}

// declared returns the names that a document declares.
func declared(d *idl.Document) map[string]bool {
	names := map[string]bool{}
	for _, i := range d.Interfaces {
		names[i.Name] = true
	}
	for _, r := range d.Records {
		names[r.Name] = true
	}
	for _, e := range d.Enums {
		names[e.Name] = true
	}
	return names
}

// version checks the document's own version.
func (c *comparer) version(old *idl.Document) {
	if d := c.document(old); d != nil && d.Version < old.Version {
		c.add(versions{old, d}, nil, Change{
			Rule: RuleVersionLowered, Breaks: Caller, Old: syntax.Span{File: old.Name}, New: syntax.Span{File: d.Name},
			Message: fmt.Sprintf("the version went down from %d to %d", old.Version, d.Version),
			Hint:    "readers tell forms of a result apart by it: let it only go up",
		})
	}
}

// reached notes which records and enums the operations of an interface are
// made of.
func (c *comparer) reached(p interfacePair) {
	note := func(declared any) {
		c.used[declared] = true
		if p.new == nil {
			return
		}
		if v := (versions{p.old.Document, p.new.Document}); !slices.Contains(c.reach[declared], v) {
			c.reach[declared] = append(c.reach[declared], v)
		}
	}
	for _, op := range p.old.Operations {
		for _, types := range []func() ([]*idl.Record, []*idl.Enum){op.Types, op.ParamTypes} {
			records, enums := types()
			for _, r := range records {
				note(r)
			}
			for _, e := range enums {
				note(e)
			}
		}
	}
}

// add records a change in a document; declared is the old record or enum that
// it is in, or nil.
func (c *comparer) add(in versions, declared any, change Change) {
	change.Allowed = in.raised() && !slices.ContainsFunc(c.reach[declared], func(v versions) bool { return !v.raised() })
	if hint := c.toRaise(in, declared); hint != "" && change.Breaks != 0 {
		change.Hint = strings.TrimPrefix(change.Hint+"; "+hint, "; ")
	}
	key := Change{Old: change.Old, New: change.New, Message: change.Message}
	known, ok := c.known[key]
	if !ok {
		c.known[key] = found{len(c.changes), change.Breaks}
		c.changes = append(c.changes, change)
		return
	}
	// Found on another way, or for others, such as of a record that is both sent
	// and received: the rule that breaks it for most says what it is.
	all := c.changes[known.at].Breaks | change.Breaks
	if bits.OnesCount8(uint8(change.Breaks)) > bits.OnesCount8(uint8(known.breaks)) {
		c.changes[known.at] = change
		c.known[key] = found{known.at, change.Breaks}
	}
	c.changes[known.at].Breaks = all
}

// toRaise says which versions to raise to allow a change that reaches operations
// of other documents than the one that holds it.
func (c *comparer) toRaise(in versions, declared any) string {
	var names []string
	reaches := false
	for _, v := range append([]versions{in}, c.reach[declared]...) {
		if v.new != nil && !v.raised() && !slices.Contains(names, v.new.Name) {
			names = append(names, v.new.Name)
			reaches = reaches || v != in
		}
	}
	if !reaches {
		return ""
	}
	return "to allow it raise the version of " + listed(names) + ": it reaches operations of other documents than its own"
}

// result returns the changes in order.
func (c *comparer) result() []Change {
	order := func(name string) int {
		if at, ok := c.docs[name]; ok {
			return at
		}
		return len(c.docs)
	}
	slices.SortStableFunc(c.changes, func(a, b Change) int {
		return cmp.Or(
			cmp.Compare(order(a.Old.File), order(b.Old.File)), cmp.Compare(a.Old.File, b.Old.File),
			cmp.Compare(a.Old.Start.Offset, b.Old.Start.Offset),
			cmp.Compare(a.New.File, b.New.File), cmp.Compare(a.New.Start.Offset, b.New.Start.Offset),
			cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Message, b.Message),
		)
	})
	return c.changes
}

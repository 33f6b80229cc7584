package idl

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/wipagent/wipagent/idl/syntax"
)

// What one document may hold at most. The figures leave an honest document
// ample room; a client must be able to show what it admits.
const (
	maxNameBytes  = 64 // what model providers allow in a tool's name
	maxDocBytes   = 4 << 10
	maxDecls      = 1024
	maxOperations = 256 // of one interface
	maxParams     = 64  // of one operation
	maxFields     = 256 // of one record
	maxLabels     = 1024
)

// foldName returns what two names that a reader or a generated binding could
// confuse have in common: page_size, pageSize and PageSize are one.
func foldName(name string) string {
	return strings.ToLower(strings.ReplaceAll(name, "_", ""))
}

// scope finds names that are declared twice, or that collide, in one place.
type scope struct {
	unit   *unit
	kind   string // what the names are, such as "parameter"
	byFold map[string][]syntax.Ident
}

func newScope(u *unit, kind string) *scope {
	return &scope{unit: u, kind: kind, byFold: map[string][]syntax.Ident{}}
}

// add records a name and reports whether it may be declared here.
func (s *scope) add(id syntax.Ident) bool {
	if id.Name == "" {
		return false // a syntax fault
	}
	if len(id.Name) > maxNameBytes {
		s.unit.fault(ruleTooLong, id.Span, "", "found a name of %d bytes, expected at most %d", len(id.Name), maxNameBytes)
		return false
	}
	fold := foldName(id.Name)
	others := s.byFold[fold]
	if at := slices.IndexFunc(others, func(o syntax.Ident) bool { return o.Name == id.Name }); at >= 0 {
		d := s.unit.fault(ruleDuplicateName, id.Span, "rename one of them", "found a second %s %q", s.kind, id.Name)
		relate(d, others[at].Span, "first declared here")
		return false
	}
	s.byFold[fold] = append(others, id)
	if len(others) > 0 {
		d := s.unit.fault(ruleCollidingName, id.Span, "rename one of them",
			"found %s %q, which differs from %q only by capitals or underscores", s.kind, id.Name, others[0].Name)
		relate(d, others[0].Span, "%q is declared here", others[0].Name)
	}
	return true
}

// atMost reports the first of too many members and returns how many to keep.
func atMost(u *unit, n, limit int, what string, span func(int) syntax.Span) int {
	if n <= limit {
		return n
	}
	u.fault(ruleTooMany, span(limit), "", "found %d %s, expected at most %d", n, what, limit)
	return limit
}

// docOf returns a doc comment, or reports that it is too long to be shown.
func (u *unit) docOf(doc string, owner syntax.Ident) string {
	if len(doc) > maxDocBytes {
		u.fault(ruleTooLong, owner.Span, "", "found a doc comment of %d bytes on %q, expected at most %d", len(doc), owner.Name, maxDocBytes)
		return ""
	}
	return doc
}

// declare makes the document's declarations, without what is inside them.
func (c *compiler) declare(u *unit) {
	u.own = map[string]*symbol{}
	if u.file == nil {
		return
	}
	names := newScope(u, "declaration")
	decls := u.file.Decls
	decls = decls[:atMost(u, len(decls), maxDecls, "declarations", func(i int) syntax.Span { return decls[i].DeclName().Span })]
	for _, decl := range decls {
		id := decl.DeclName()
		s := &symbol{unit: u, ident: id}
		switch n := decl.(type) {
		case *syntax.Interface:
			s.iface = &Interface{Name: id.Name, Document: u.doc, Doc: u.docOf(n.Doc, id), Span: n.Span, NameSpan: id.Span}
			u.doc.Interfaces = append(u.doc.Interfaces, s.iface)
			u.ifaces = append(u.ifaces, interfaceInfo{s.iface, n})
		case *syntax.Record:
			s.record = &recordInfo{unit: u, node: n, Record: &Record{
				Name: id.Name, Document: u.doc, Doc: u.docOf(n.Doc, id), Span: n.Span, NameSpan: id.Span}}
			u.doc.Records = append(u.doc.Records, s.record.Record)
			u.records = append(u.records, s.record)
			c.records[s.record.Record] = s.record
			s.record.Deprecated = c.annotations(u, n.Annotations, onRecord).deprecated
		case *syntax.Enum:
			s.enum = &Enum{Name: id.Name, Document: u.doc, Doc: u.docOf(n.Doc, id), Labels: u.labels(n), Span: n.Span, NameSpan: id.Span}
			u.doc.Enums = append(u.doc.Enums, s.enum)
			s.enum.Deprecated = c.annotations(u, n.Annotations, onEnum).deprecated
		}
		if _, builtin := builtins[id.Name]; builtin {
			u.fault(ruleReservedName, id.Span, "choose another name", "found a declaration named %q, which is a built-in type", id.Name)
			continue
		}
		if names.add(id) {
			u.own[id.Name] = s
		}
	}
}

// labels returns an enum's labels.
func (u *unit) labels(n *syntax.Enum) []Label {
	scope := newScope(u, "label")
	var labels []Label
	for _, l := range n.Labels[:atMost(u, len(n.Labels), maxLabels, "labels", func(i int) syntax.Span { return n.Labels[i].Name.Span })] {
		if scope.add(l.Name) {
			labels = append(labels, Label{Name: l.Name.Name, Doc: u.docOf(l.Doc, l.Name), Span: l.Name.Span})
		}
	}
	return labels
}

// link brings in what the document's imports declare.
func (c *compiler) link(u *unit) {
	u.visible = map[string]*symbol{}
	for _, l := range u.imports {
		if l.unit == nil {
			continue
		}
		u.doc.Imports = append(u.doc.Imports, l.unit.doc)
		for _, name := range sortedNames(l.unit.own) {
			s := l.unit.own[name]
			if other := u.visible[name]; other != nil && other.unit != l.unit {
				d := u.fault(ruleImportClash, l.node.Span, "rename one of the declarations",
					"found %q in %q, but %q declares it too", name, l.unit.name, other.unit.name)
				relate(d, other.ident.Span, "declared here")
				relate(d, s.ident.Span, "and here")
				continue
			}
			u.visible[name] = s
		}
	}
	for _, name := range sortedNames(u.own) {
		s := u.own[name]
		if other := u.visible[name]; other != nil && other.unit != u {
			d := u.fault(ruleImportClash, s.ident.Span, "rename one of them",
				"found a declaration of %q, which is imported from %q", name, other.unit.name)
			relate(d, other.ident.Span, "declared here")
		}
		u.visible[name] = s
	}
}

func sortedNames(m map[string]*symbol) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// nearBudget is how many pairs of names one Compile looks at to find what an
// unknown name may have meant. It keeps hints cheap on documents that are
// nothing but unknown names.
const nearBudget = 500_000

// nearest returns the candidate most like name, or "" if none is like it, and
// whether that is a slip of one letter away from it and no other as near.
func (c *compiler) nearest(name string, candidates []string) (near string, sure bool) {
	if len(name) > maxNameBytes {
		return "", false
	}
	limit := min(3, max(1, len(name)/3))
	type hit struct {
		name     string
		distance int
	}
	var best hit
	tie := false
	for _, candidate := range candidates {
		if c.near--; c.near < 0 {
			break
		}
		if d := len(candidate) - len(name); d > limit || d < -limit {
			continue
		}
		if len(candidate) > maxNameBytes {
			continue
		}
		distance := editDistance(foldName(name), foldName(candidate))
		if distance > limit || distance >= max(len(name), len(candidate)) {
			continue
		}
		switch {
		case best.name == "" || distance < best.distance:
			tie = false
		case distance == best.distance && candidate != best.name:
			tie = true
		}
		if best.name == "" || cmp.Or(cmp.Compare(distance, best.distance), cmp.Compare(candidate, best.name)) < 0 {
			best = hit{candidate, distance}
		}
	}
	return best.name, best.name != "" && best.distance <= 1 && !tie
}

// didYouMean returns the hint that a name is meant.
func didYouMean(name string) string { return fmt.Sprintf("did you mean %q?", name) }

// nearestDocument is nearest over what an import clause of u could name.
func (c *compiler) nearestDocument(u *unit, path string) string {
	if c.near <= 0 {
		return ""
	}
	var names []string
	if c.Names != nil {
		names = c.Names(u.name, path)
	} else {
		for _, other := range c.order {
			names = append(names, other.name)
		}
	}
	near, _ := c.nearest(path, names)
	for near != "" && c.loops(u, near) {
		names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == near })
		near, _ = c.nearest(path, names)
	}
	if near != "" && slices.ContainsFunc(u.file.Imports, func(i *syntax.Import) bool { return i.Path == near }) {
		return "" // it is there already
	}
	return near
}

// loops reports whether an import clause of u with that path would be a cycle:
// it means u, or a document that is being loaded with what it imports.
func (c *compiler) loops(u *unit, path string) bool {
	if c.Resolve != nil {
		name, err := c.Resolve(u.name, path)
		if err != nil {
			return false
		}
		path = name
	}
	to := c.units[path]
	return to == u || to != nil && to.loading
}

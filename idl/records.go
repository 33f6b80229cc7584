package idl

import (
	"slices"

	"github.com/wipagent/wipagent/idl/syntax"
)

// What a record may amount to, counted through the records that it always
// holds. The bound on fields keeps a short document from describing an
// enormous value: a record that holds two of the next, which holds two of the
// next, and so on.
const (
	maxRecordDepth = 32
	maxRecordSize  = 4096 // fields
)

// recordInfo is a record and what checking it needs.
type recordInfo struct {
	*Record
	unit   *unit
	node   *syntax.Record
	fields []*syntax.Field // of Record.Fields, in the same order
	users  []*recordInfo   // records with a field that holds this one in any way

	resultOnly *syntax.Field // a field that no parameter can hold; nil if none
	via        *recordInfo   // the record in that field that makes it so; nil if the field itself
	holdsText  bool

	visit       visitState
	at          int // its index on the path that is being walked
	depth, size int // through the records that it always holds
}

type visitState uint8

const (
	unvisited visitState = iota
	visiting
	visited
)

// resolveRecords resolves the types of all fields of the document.
func (c *compiler) resolveRecords(u *unit) {
	for _, r := range u.records {
		names := newScope(u, "field")
		for _, n := range r.node.Fields[:atMost(u, len(r.node.Fields), maxFields, "fields", func(i int) syntax.Span { return r.node.Fields[i].Name.Span })] {
			s := c.annotations(u, n.Annotations, onField)
			t := c.typ(u, n.Type, &place{role: forField})
			if !names.add(n.Name) {
				continue
			}
			r.Fields = append(r.Fields, &Field{
				Name: n.Name.Name, Doc: u.docOf(n.Doc, n.Name), Type: t, Derived: s.has("derived"), Deprecated: s.deprecated, Span: n.Span, NameSpan: n.Name.Span})
			r.fields = append(r.fields, n)
			if held := c.records[heldRecord(t)]; held != nil {
				held.users = append(held.users, r)
			}
			if r.resultOnly == nil && holdsResultOnly(t) {
				r.resultOnly = n
			}
			r.holdsText = r.holdsText || innermost(t) == Text
		}
	}
}

// innermost returns the kind under all wrappers, or 0 of no type.
func innermost(t *Type) Kind {
	for t != nil && t.Elem != nil {
		t = t.Elem
	}
	if t == nil {
		return 0
	}
	return t.Kind
}

// heldRecord returns the record under all wrappers, or nil.
func heldRecord(t *Type) *Record {
	for t != nil && t.Elem != nil {
		t = t.Elem
	}
	if t == nil {
		return nil
	}
	return t.Record
}

// holdsResultOnly reports whether the type, without looking into records,
// holds what only results hold.
func holdsResultOnly(t *Type) bool {
	for ; t != nil; t = t.Elem {
		if t.Kind == Text || t.Kind == Fact || t.Kind == Page || t.Kind == Observed {
			return true
		}
	}
	return false
}

// spreadProperties carries resultOnly and holdsText from each record to those
// that hold it.
func (c *compiler) spreadProperties() {
	var text, result []*recordInfo
	for _, u := range c.order {
		for _, r := range u.records {
			if r.holdsText {
				text = append(text, r)
			}
			if r.resultOnly != nil {
				result = append(result, r)
			}
		}
	}
	for len(text) > 0 {
		r := text[0]
		text = text[1:]
		for _, user := range r.users {
			if !user.holdsText {
				user.holdsText = true
				text = append(text, user)
			}
		}
	}
	for len(result) > 0 {
		r := result[0]
		result = result[1:]
		for _, user := range r.users {
			if user.resultOnly == nil {
				at := slices.IndexFunc(user.Fields, func(f *Field) bool { return heldRecord(f.Type) == r.Record })
				user.resultOnly, user.via = user.fields[at], r
				result = append(result, user)
			}
		}
	}
}

// checkRecords checks what takes all fields of all documents to be known.
func (c *compiler) checkRecords(u *unit) {
	for _, r := range u.records {
		if r.visit == unvisited {
			c.walk(r, nil)
		}
		for i, f := range r.Fields {
			if f.Name == "trust" && r.holdsText {
				u.fault(ruleFieldCollision, r.fields[i].Name.Span, "rename the field",
					"found field \"trust\" in a record that holds text, which is marked with a field of that name")
			}
		}
	}
}

// step is one field on the way from a record to one that it always holds.
type step struct {
	record *recordInfo
	field  *syntax.Field
}

// walk visits the records that r always holds, and reports r if it holds
// itself or too much.
func (c *compiler) walk(r *recordInfo, path []step) {
	r.visit, r.at = visiting, len(path)
	r.depth, r.size = 1, len(r.Fields)
	over := false
	for i, f := range r.Fields {
		held := c.records[alwaysHeld(f.Type)]
		if held == nil {
			continue
		}
		here := append(path, step{r, r.fields[i]})
		switch held.visit {
		case visiting:
			c.reportCycle(held, here)
			continue
		case unvisited:
			c.walk(held, here)
		}
		over = over || held.depth > maxRecordDepth || held.size > maxRecordSize
		r.depth = max(r.depth, held.depth+1)
		r.size = min(r.size+held.size, maxRecordSize+1)
	}
	r.visit = visited
	switch {
	case over: // reported where it begins
	case r.depth > maxRecordDepth:
		r.unit.fault(ruleTypeTooLarge, r.node.Name.Span, "", "found records nested more than %d deep in %q", maxRecordDepth, r.Name)
	case r.size > maxRecordSize:
		r.unit.fault(ruleTypeTooLarge, r.node.Name.Span, "hold some of the records in lists or behind ?",
			"found record %q with more than %d fields, counted through the records in it", r.Name, maxRecordSize)
	}
}

// alwaysHeld returns the record of which every value of the type holds at
// least one, or nil.
func alwaysHeld(t *Type) *Record {
	for t != nil && !t.Optional {
		switch {
		case t.Kind == RecordOf:
			return t.Record
		case (t.Kind == List || t.Kind == Map) && t.Range != nil && t.Range.HasMin && t.Range.Min > 0:
			t = t.Elem
		default:
			return nil
		}
	}
	return nil
}

// reportCycle reports the field that closes a cycle of records. path leads to
// it from the outside.
func (c *compiler) reportCycle(back *recordInfo, path []step) {
	path = path[back.at:]
	last := path[len(path)-1]
	d := last.record.unit.fault(ruleRecordCycle, last.field.Type.Span, "make a field on the way optional with ?, or a list, map or fact",
		"found record %q inside itself with no end", back.Name)
	for _, s := range path[:len(path)-1] {
		relate(d, s.field.Type.Span, "%q holds %q here", s.record.Name, innermostName(s.field.Type))
	}
}

// innermostName returns the name of the type under all wrappers.
func innermostName(e *syntax.TypeExpr) string {
	for len(e.Args) > 0 {
		e = e.Args[0]
	}
	return e.Name.Name
}

// What the wrappers put beside a record's fields (spec/idl.md, Results).
var (
	envelopeFields = []string{"schema_version", "tool", "generation", "region_id", "observed_unix_millis",
		"age_millis", "snapshot_id", "freshness", "trust", "provenance"}
	factFields = []string{"status", "reason"}
)

// checkBeside reports the fields of a record that a wrapper around it would
// put a second time: at the field if it is of this document, else at the first
// use.
func (c *compiler) checkBeside(u *unit, wrapper Kind, use *syntax.TypeExpr, r *recordInfo) {
	names := envelopeFields
	if wrapper == Fact {
		names = factFields
	}
	for _, f := range r.node.Fields {
		if !slices.Contains(names, f.Name.Name) {
			continue
		}
		key := collision{u, f, wrapper}
		if c.collided[key] {
			continue
		}
		c.collided[key] = true
		if r.unit != u {
			d := u.fault(ruleFieldCollision, use.Span, "declare a record without that field",
				"found record %q in %s, which puts a field %q beside those of the record", r.Name, builtinNames[wrapper], f.Name.Name)
			relate(d, f.Name.Span, "%q is declared here", f.Name.Name)
			continue
		}
		d := u.fault(ruleFieldCollision, f.Name.Span, "rename the field",
			"found field %q in a record that stands in %s, which puts a field of that name beside it", f.Name.Name, builtinNames[wrapper])
		relate(d, use.Span, "%q stands in %s here", r.Name, builtinNames[wrapper])
	}
}

// collision is a fault of checkBeside that was reported.
type collision struct {
	unit    *unit // in which it was reported
	field   *syntax.Field
	wrapper Kind
}

package breaking

import (
	"fmt"
	"slices"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/syntax"
)

// place is where a type stands in both states.
type place struct {
	in       versions
	declared any // the record that it is in; nil if it is in an operation
	old, now syntax.Span
	what     string // such as: field "name" of record "Avatar"
}

func (p place) report(c *comparer, rule string, breaks Breaks, hint, format string, args ...any) {
	c.add(p.in, p.declared, Change{Rule: rule, Breaks: breaks, Old: p.old, New: p.now, Hint: hint, Message: p.what + " " + fmt.Sprintf(format, args...)})
}

// of is the place of what a wrapper or collection holds.
func (p place) of() place {
	const elements = "an element of "
	if len(p.what) < len(elements) || p.what[:len(elements)] != elements {
		p.what = elements + p.what
	}
	return p
}

// sent compares the types of what a caller sends: what the old one allows the
// new one must allow too.
func (c *comparer) sent(at place, old, now *idl.Type) {
	if old.Kind != now.Kind {
		if c.otherKind(old, now, RuleParameterType, Caller|CachedCall|Implementer) {
			return
		}
		if allows(now, old) {
			at.report(c, RuleTypeWidened, Implementer, "bindings give it another type", "was %s and is %s", old, now)
		} else {
			at.report(c, RuleParameterType, Caller|CachedCall|Implementer, "", "was %s and is %s", old, now)
		}
		return
	}
	switch {
	case old.Optional && !now.Optional:
		at.report(c, RuleTypeNarrowed, Caller|CachedCall|Implementer, "", "could be null and cannot")
	case !old.Optional && now.Optional:
		at.report(c, RuleTypeWidened, Implementer, "bindings give it another type", "can be null now")
	}
	if narrower(old, now) {
		at.report(c, RuleRefinementNarrowed, Caller|CachedCall, "values that were good are refused", "was %s and is %s", plain(old), plain(now))
	}
	switch old.Kind {
	case idl.List, idl.Map:
		c.sent(at.of(), old.Elem, now.Elem)
	case idl.Entry:
		if now.Interface != nil && (old.Interface == nil || !c.becomes(old.Interface, now.Interface)) {
			at.report(c, RuleParameterType, Caller|CachedCall|Implementer, "", "was %s and is %s", plain(old), plain(now))
		}
	case idl.EnumOf:
		c.enum(old.Enum, now.Enum, true)
	case idl.RecordOf:
		c.record(old.Record, now.Record, true)
	}
}

// received compares the types of what a caller receives: what the new one
// allows the old one must allow too, for readers, and the other way round for
// those who make it.
func (c *comparer) received(at place, old, now *idl.Type) {
	if old.Kind != now.Kind {
		if c.otherKind(old, now, RuleResultType, Caller|Implementer) {
			return
		}
		hint := ""
		if old.Kind == idl.Text && now.Kind == idl.String {
			hint = "a stranger's words are neither cleaned nor marked any more"
		}
		at.report(c, RuleResultType, Caller|Implementer, hint, "was %s and is %s", old, now)
		return
	}
	switch {
	case !old.Optional && now.Optional:
		at.report(c, RuleResultWidened, Caller|Implementer, "readers do not expect null", "can be null now")
	case old.Optional && !now.Optional:
		at.report(c, RuleResultNarrowed, Implementer, "null is a fault now", "could be null and cannot")
	}
	wider, tighter := narrower(now, old), narrower(old, now)
	if old.Kind == idl.Text { // none is too long or too short: it is cut
		wider, tighter = textBytes(now) > textBytes(old), false
	}
	refined := func(rule string, breaks Breaks, hint string) {
		at.report(c, rule, breaks, hint, "was %s and is %s", plain(old), plain(now))
	}
	switch {
	case wider && tighter: // another pattern, or a range that moved
		refined(RuleResultWidened, Caller|Implementer, "readers may rely on what it was, and values that were good are faults now")
	case wider:
		refined(RuleResultWidened, Caller, "readers may rely on what it was")
	case tighter:
		refined(RuleResultNarrowed, Implementer, "values that were good are faults now")
	}
	switch old.Kind {
	case idl.List, idl.Map, idl.Page:
		c.received(at.of(), old.Elem, now.Elem)
	case idl.Fact, idl.Observed:
		c.received(at, old.Elem, now.Elem)
	case idl.Entry:
		a, b := old.Interface, now.Interface
		switch {
		case a == nil && b != nil:
			at.report(c, RuleResultNarrowed, Implementer, "", "was %s and is %s", plain(old), plain(now))
		case a != nil && (b == nil || !c.becomes(a, b)):
			at.report(c, RuleResultType, Caller|Implementer, "", "was %s and is %s", plain(old), plain(now))
		}
	case idl.EnumOf:
		c.enum(old.Enum, now.Enum, false)
	case idl.RecordOf:
		c.record(old.Record, now.Record, false)
	}
}

// otherKind reports, at its declaration, a record that became an enum of the
// same name, or the other way round, and whether it is one.
func (c *comparer) otherKind(old, now *idl.Type, rule string, breaks Breaks) bool {
	change := Change{Rule: rule, Breaks: breaks, Hint: "declare the new one beside it, under another name"}
	switch {
	case old.Kind == idl.RecordOf && now.Kind == idl.EnumOf && old.Record.Name == now.Enum.Name:
		change.Old, change.New = old.Record.NameSpan, now.Enum.NameSpan
		change.Message = fmt.Sprintf("record %q is an enum now", old.Record.Name)
		c.add(versions{old.Record.Document, now.Enum.Document}, old.Record, change)
	case old.Kind == idl.EnumOf && now.Kind == idl.RecordOf && old.Enum.Name == now.Record.Name:
		change.Old, change.New = old.Enum.NameSpan, now.Record.NameSpan
		change.Message = fmt.Sprintf("enum %q is a record now", old.Enum.Name)
		c.add(versions{old.Enum.Document, now.Record.Document}, old.Enum, change)
	default:
		return false
	}
	return true
}

// becomes reports whether an interface is what became of another, so that what
// changed of it is reported there.
func (c *comparer) becomes(old, now *idl.Interface) bool {
	return old.Name == now.Name || slices.Contains(c.interfaces, interfacePair{old, now})
}

// textBytes returns to how many bytes a text of the type is cut.
func textBytes(t *idl.Type) float64 {
	if t.Range == nil || !t.Range.HasMax {
		return idl.DefaultTextBytes
	}
	return t.Range.Max
}

// plain is the type without its "?", which is another matter.
func plain(t *idl.Type) *idl.Type {
	p := *t
	p.Optional = false
	return &p
}

// allows reports whether a type accepts every value of another of another
// kind.
func allows(t, other *idl.Type) bool {
	if other.Optional && !t.Optional || t.Range != nil || t.Pattern != nil {
		return false
	}
	switch t.Kind {
	case idl.Float:
		return other.Kind == idl.Int
	case idl.String:
		return other.Kind == idl.UUID || other.Kind == idl.Entry || other.Kind == idl.EnumOf
	}
	return false
}

// narrower reports whether the refinement of now excludes something that the
// one of old allows.
func narrower(old, now *idl.Type) bool {
	if now.PatternText != "" && now.PatternText != old.PatternText {
		return true
	}
	r := now.Range
	if r == nil {
		return false
	}
	was := old.Range
	if was == nil {
		was = &idl.Range{}
	}
	switch old.Kind {
	case idl.String, idl.Text, idl.Bytes, idl.List, idl.Map:
		if !was.HasMin { // a length is never less
			was = &idl.Range{HasMin: true, Max: was.Max, HasMax: was.HasMax}
		}
	}
	return r.HasMin && (!was.HasMin || was.Min < r.Min) || r.HasMax && (!was.HasMax || was.Max > r.Max)
}

// enum compares an enum with what became of it.
func (c *comparer) enum(old, now *idl.Enum, sent bool) {
	if !c.first(compared{old, now, sent}) {
		return
	}
	in := versions{old.Document, now.Document}
	c.renamed(in, old, "enum", old.Name, now.Name, old.NameSpan, now.NameSpan)
	add := func(rule string, breaks Breaks, from, to syntax.Span, hint, format string, args ...any) {
		c.add(in, old, Change{Rule: rule, Breaks: breaks, Old: from, New: to, Hint: hint, Message: fmt.Sprintf(format, args...)})
	}
	for _, l := range old.Labels {
		if slices.ContainsFunc(now.Labels, func(other idl.Label) bool { return other.Name == l.Name }) {
			continue
		}
		breaks := Implementer
		if sent {
			breaks |= Caller | CachedCall
		}
		add(RuleLabelRemoved, breaks, l.Span, now.NameSpan, "", "label %q of enum %q is gone", l.Name, old.Name)
	}
	if sent {
		return
	}
	for _, l := range now.Labels {
		if !slices.ContainsFunc(old.Labels, func(other idl.Label) bool { return other.Name == l.Name }) {
			add(RuleLabelAdded, Caller, old.NameSpan, l.Span, "a strict reader refuses a result that holds it", "label %q of enum %q is new, and results can hold it", l.Name, old.Name)
		}
	}
}

// record compares a record with what became of it.
func (c *comparer) record(old, now *idl.Record, sent bool) {
	if !c.first(compared{old, now, sent}) {
		return
	}
	in := versions{old.Document, now.Document}
	c.renamed(in, old, "record", old.Name, now.Name, old.NameSpan, now.NameSpan)
	add := func(rule string, breaks Breaks, from, to syntax.Span, hint, format string, args ...any) {
		c.add(in, old, Change{Rule: rule, Breaks: breaks, Old: from, New: to, Hint: hint, Message: fmt.Sprintf(format, args...)})
	}
	reads := Caller
	if sent {
		reads |= CachedCall
	}
	var fresh []*idl.Field
	for _, f := range now.Fields {
		if field(old, f.Name) == nil {
			fresh = append(fresh, f)
		}
	}
	for _, f := range old.Fields {
		if other := field(now, f.Name); other != nil {
			at := place{in: in, declared: old, old: f.NameSpan, now: other.NameSpan, what: fmt.Sprintf("field %q of record %q", f.Name, old.Name)}
			if sent {
				c.sent(at, f.Type, other.Type)
			} else {
				c.received(at, f.Type, other.Type)
			}
			at.unit(c, reads, f.Type, f.Doc, other.Doc)
			continue
		}
		at := slices.IndexFunc(fresh, func(g *idl.Field) bool { return g.Type.String() == f.Type.String() })
		if at < 0 {
			add(RuleFieldRemoved, reads|Implementer, f.NameSpan, now.NameSpan, kept(f.Deprecated), "field %q of record %q is gone", f.Name, old.Name)
			continue
		}
		g := fresh[at]
		fresh = slices.Delete(fresh, at, at+1)
		add(RuleFieldRenamed, reads|Implementer, f.NameSpan, g.NameSpan, "", "field %q of record %q is now %q", f.Name, old.Name, g.Name)
	}
	for _, f := range fresh {
		switch {
		case f.Type.Optional:
		case sent:
			add(RuleFieldRequired, Caller|CachedCall, old.NameSpan, f.NameSpan, "each call must send it: make it optional", "field %q of record %q is new and not optional", f.Name, old.Name)
		default:
			add(RuleFieldAdded, Implementer, old.NameSpan, f.NameSpan, "each result must hold it: make it optional", "field %q of record %q is new and not optional", f.Name, old.Name)
		}
	}
}

func field(r *idl.Record, name string) *idl.Field {
	at := slices.IndexFunc(r.Fields, func(f *idl.Field) bool { return f.Name == name })
	if at < 0 {
		return nil
	}
	return r.Fields[at]
}

// first reports whether a pair was not compared before.
func (c *comparer) first(p compared) bool {
	if c.seen[p] {
		return false
	}
	c.seen[p] = true
	return true
}

// renamed reports a declared type of another name.
func (c *comparer) renamed(in versions, declared any, kind, old, now string, from, to syntax.Span) {
	if old != now {
		c.add(in, declared, Change{Rule: RuleTypeRenamed, Breaks: Caller | Implementer, Old: from, New: to,
			Message: fmt.Sprintf("%s %q is now %q", kind, old, now), Hint: "bindings and importing documents name it"})
	}
}

// unreached compares the records and enums of which no operation is made by
// their names: other documents may be made of them.
func (c *comparer) unreached(old []*idl.Document) {
	for _, d := range old {
		for _, r := range d.Records {
			if c.used[r] {
				continue
			}
			now, in := find(c, d, func(d *idl.Document) []*idl.Record { return d.Records }, func(other *idl.Record) bool { return other.Name == r.Name })
			if now == nil {
				c.gone(in, "record", r.Name, r.NameSpan, r.Deprecated)
				continue
			}
			c.record(r, now, false)
			if sendable(r) && sendable(now) {
				c.record(r, now, true)
			}
		}
		for _, e := range d.Enums {
			if c.used[e] {
				continue
			}
			now, in := find(c, d, func(d *idl.Document) []*idl.Enum { return d.Enums }, func(other *idl.Enum) bool { return other.Name == e.Name })
			if now == nil {
				c.gone(in, "enum", e.Name, e.NameSpan, e.Deprecated)
				continue
			}
			c.enum(e, now, false)
			c.enum(e, now, true)
		}
	}
}

// find returns what became of a declaration of a document, or nil.
func find[T any](c *comparer, old *idl.Document, list func(*idl.Document) []*T, same func(*T) bool) (*T, versions) {
	docs := []*idl.Document{c.document(old)}
	for _, d := range c.new {
		if d.Package == old.Package {
			docs = append(docs, d)
		}
	}
	for _, d := range docs {
		if d == nil {
			continue
		}
		if at := slices.IndexFunc(list(d), same); at >= 0 {
			return list(d)[at], versions{old, d}
		}
	}
	return nil, versions{old, docs[0]}
}

func (c *comparer) gone(in versions, kind, name string, at syntax.Span, deprecated string) {
	to := syntax.Span{}
	if in.new != nil {
		to.File = in.new.Name
	}
	c.add(in, nil, Change{Rule: RuleDeclarationRemoved, Breaks: Caller | Implementer, Old: at, New: to,
		Message: fmt.Sprintf("%s %q is gone", kind, name), Hint: kept(deprecated)})
}

// sendable reports whether a record can stand in a parameter.
func sendable(r *idl.Record) bool { return !resultOnly(r, map[*idl.Record]bool{}) }

func resultOnly(r *idl.Record, seen map[*idl.Record]bool) bool {
	if seen[r] {
		return false
	}
	seen[r] = true
	for _, f := range r.Fields {
		for t := f.Type; t != nil; t = t.Elem {
			switch t.Kind {
			case idl.Text, idl.Fact, idl.Page, idl.Observed:
				return true
			case idl.RecordOf:
				if resultOnly(t.Record, seen) {
					return true
				}
			}
		}
	}
	return false
}

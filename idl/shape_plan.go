package idl

import (
	"encoding/json"
	"slices"
	"strconv"
)

// shapePlan is how the result of one operation is shaped, worked out once.
type shapePlan struct {
	root    *shapeNode
	text    bool    // the type holds text
	str     bool    // the type holds strings
	maxPage float64 // the last page that can be asked for; 0 if not bounded
}

// shapeNode is a type with its wrappers taken apart: one value of a result.
type shapeNode struct {
	*Type                 // the innermost type, unless it is an object
	optional bool         // null is a value
	fact     bool         // an unknown fact is a value
	elem     *shapeNode   // of a list or map
	object   *shapeObject // of a record, a page or an observed value, else nil
}

// shapeObject is an object of the result: the members that the wrappers and
// the record together declare, in the order in which they leave.
type shapeObject struct {
	slots  []shapeSlot
	name   string // for messages, such as "page"
	scalar bool   // it can only be an unknown fact
}

// slotKind says what fills a member.
type slotKind uint8

const (
	slotField     slotKind = iota // the Host, by node
	slotLiteral                   // the document; what a Host sends is dropped
	slotStatus                    // the Host; absent means that the fact is known
	slotReason                    // the Host, of an unknown fact
	slotItems                     // the Host: the items of a page
	slotCount                     // the Host: page, page_size and total_matching, in that order
	slotNext                      // the counts
	slotTruncated                 // the counts and the Host
)

// shapeSlot is one member of a shapeObject.
type shapeSlot struct {
	name    string
	quoted  string // the name as it is written, with quotes and colon
	kind    slotKind
	node    *shapeNode // of slotField, slotItems and slotCount
	literal string     // JSON, of slotLiteral
	omit    bool       // if the Host leaves it out, so do we
	payload bool       // it must be absent of an unknown fact
	due     int        // the first slot from this one on that a Host must send
}

func newObject(name string, slots []shapeSlot) *shapeObject {
	o := &shapeObject{name: name}
	o.setSlots(slots)
	return o
}

// setSlots sets the slots and what follows from their order.
func (o *shapeObject) setSlots(slots []shapeSlot) {
	o.slots = slots
	due := len(o.slots)
	for i := len(o.slots) - 1; i >= 0; i-- {
		if !o.slots[i].passable(slotField) {
			due = i
		}
		o.slots[i].due = due
	}
}

// planner builds plans; its memory lets records hold themselves.
type planner struct {
	op      *Operation
	objects map[objectKey]*shapeObject
	text    map[*Record]bool
}

// objectKey is all that the plan of a record depends on.
type objectKey struct {
	record *Record
	fact   bool // may be unknown
	item   bool // stands on its own, and so carries its own mark
}

func newShapePlan(o *Operation) *shapePlan {
	p := &planner{op: o, objects: map[objectKey]*shapeObject{}, text: map[*Record]bool{}}
	plan := &shapePlan{
		root: p.node(o.Result, true),
		text: holdsKind(o.Result, Text, nil),
		str:  holdsKind(o.Result, String, nil),
	}
	for _, param := range o.Params {
		if r := param.Type.Range; param.Name == "page" && r != nil && r.HasMax {
			plan.maxPage = r.Max
		}
	}
	return plan
}

// node plans a value; item says that it stands on its own: as the whole
// result, or as an element of a list, map or page.
func (p *planner) node(t *Type, item bool) *shapeNode {
	n := &shapeNode{Type: t, optional: t.Optional}
	if t.Kind == Fact {
		n.fact, t = true, t.Elem
		n.Type, n.optional = t, t.Optional
	}
	switch t.Kind {
	case List, Map:
		n.elem = p.node(t.Elem, true)
	case RecordOf:
		n.object = p.record(objectKey{t.Record, n.fact, item && p.holdsText(t.Record)})
	case Page:
		n.object = newObject("page", p.pageSlots(t, p.factSlots(nil, n.fact)))
	case Observed:
		n.object = p.observed(t)
	}
	return n
}

func (p *planner) holdsText(r *Record) bool {
	holds, ok := p.text[r]
	if !ok {
		holds = holdsKind(&Type{Kind: RecordOf, Record: r}, Text, nil)
		p.text[r] = holds
	}
	return holds
}

// holdsKind reports whether a value of t can hold a value of the kind. A nil
// seen is an empty one.
func holdsKind(t *Type, kind Kind, seen map[*Record]bool) bool {
	for t.Elem != nil {
		t = t.Elem
	}
	if t.Kind == kind {
		return true
	}
	if t.Kind != RecordOf || seen[t.Record] {
		return false
	}
	if seen == nil {
		seen = map[*Record]bool{}
	}
	seen[t.Record] = true
	for _, f := range t.Record.Fields {
		if holdsKind(f.Type, kind, seen) {
			return true
		}
	}
	return false
}

func (p *planner) record(key objectKey) *shapeObject {
	if o := p.objects[key]; o != nil {
		return o
	}
	o := &shapeObject{name: "record " + key.record.Name}
	p.objects[key] = o
	slots := p.factSlots(nil, key.fact)
	if key.item {
		mark := literalSlot("trust", untrusted)
		mark.payload = true
		slots = append(slots, mark)
	}
	o.setSlots(p.fieldSlots(key.record, slots))
	return o
}

// The marks of trust (P7), as JSON.
const (
	untrusted = `"untrusted_observed_data"`
	trusted   = `"observed_data"`
)

func newSlot(name string, kind slotKind, node *shapeNode) shapeSlot {
	return shapeSlot{name: name, quoted: `"` + name + `":`, kind: kind, node: node}
}

func literalSlot(name, literal string) shapeSlot {
	s := newSlot(name, slotLiteral, nil)
	s.literal = literal
	return s
}

// factSlots appends what a fact puts before the members of its value.
func (p *planner) factSlots(slots []shapeSlot, fact bool) []shapeSlot {
	if fact {
		slots = append(slots, newSlot("status", slotStatus, nil), newSlot("reason", slotReason, nil))
	}
	return slots
}

// fieldSlots appends the fields of a record.
func (p *planner) fieldSlots(r *Record, slots []shapeSlot) []shapeSlot {
	for _, f := range r.Fields {
		s := newSlot(f.Name, slotField, p.node(f.Type, false))
		s.payload = true
		slots = append(slots, s)
	}
	return slots
}

// countNode is what the counts of pages and envelopes are.
var countNode = &shapeNode{Type: &Type{Kind: Int, Range: &Range{HasMin: true}}}

// pageSlots appends the members of a page.
func (p *planner) pageSlots(t *Type, slots []shapeSlot) []shapeSlot {
	items := &shapeNode{Type: &Type{Kind: List, Elem: t.Elem}, elem: p.node(t.Elem, true)}
	positive := &shapeNode{Type: &Type{Kind: Int, Range: &Range{HasMin: true, Min: 1}}}
	for _, s := range []shapeSlot{
		newSlot("items", slotItems, items),
		newSlot("page", slotCount, positive),
		newSlot("page_size", slotCount, positive),
		newSlot("total_matching", slotCount, countNode),
		newSlot("next_page", slotNext, nil),
		newSlot("truncated", slotTruncated, nil),
		newSlot("source_truncated", slotField, &shapeNode{Type: &Type{Kind: Bool}}),
	} {
		s.payload = true
		slots = append(slots, s)
	}
	return slots
}

// observed plans the whole of an observed result: the envelope, so that the
// mark stands before what it marks, and the value's own members.
func (p *planner) observed(t *Type) *shapeObject {
	doc := p.op.Interface.Document
	tool, _ := json.Marshal(p.op.Name)
	mark := trusted
	if holdsKind(t, Text, nil) {
		mark = untrusted
	}
	short := &Range{Max: 128, HasMax: true}
	str := &shapeNode{Type: &Type{Kind: String, Range: short}}
	slots := []shapeSlot{
		literalSlot("schema_version", strconv.Itoa(doc.Version)),
		literalSlot("tool", string(tool)),
		newSlot("generation", slotField, countNode),
		newSlot("region_id", slotField, &shapeNode{Type: &Type{Kind: UUID}}),
		newSlot("observed_unix_millis", slotField, &shapeNode{Type: &Type{Kind: Timestamp}}),
		newSlot("age_millis", slotField, countNode),
		newSlot("snapshot_id", slotField, str),
		newSlot("freshness", slotField, &shapeNode{Type: &Type{Kind: EnumOf, Enum: freshness}}),
		literalSlot("trust", mark),
		newSlot("provenance", slotField, p.provenance(t, str)),
	}
	inner := t.Elem
	if inner.Kind == Fact {
		slots = p.factSlots(slots, true)
		inner = inner.Elem
	}
	switch inner.Kind {
	case RecordOf:
		slots = p.fieldSlots(inner.Record, slots)
	case Page:
		slots = p.pageSlots(inner, slots)
	}
	return newObject("observed", slots)
}

// freshness has the labels of P4.
var freshness = &Enum{Name: "freshness", Labels: []Label{{Name: "observed"}, {Name: "cached"}}}

func (p *planner) provenance(t *Type, str *shapeNode) *shapeNode {
	derived, _ := json.Marshal(derivedFields(t, []string{}, map[*Record]bool{}))
	float := &shapeNode{Type: &Type{Kind: Float}}
	observer := newSlot("assumed_observer", slotField, &shapeNode{Type: &Type{Kind: RecordOf}, object: newObject("assumed observer",
		[]shapeSlot{newSlot("x", slotField, float), newSlot("y", slotField, float), newSlot("z", slotField, float)})})
	observer.omit = true
	return &shapeNode{Type: &Type{Kind: RecordOf}, object: newObject("provenance", []shapeSlot{
		newSlot("source", slotField, str),
		literalSlot("derived", string(derived)),
		literalSlot("model_inference", `"none"`),
		observer,
	})}
}

// derivedFields appends the names of all @derived fields that a value of t can
// hold, each once, in order of declaration (P6).
func derivedFields(t *Type, names []string, seen map[*Record]bool) []string {
	for t.Elem != nil {
		t = t.Elem
	}
	if t.Kind != RecordOf || seen[t.Record] {
		return names
	}
	seen[t.Record] = true
	for _, f := range t.Record.Fields {
		if f.Derived && !slices.Contains(names, f.Name) {
			names = append(names, f.Name)
		}
		names = derivedFields(f.Type, names, seen)
	}
	return names
}

package idl

import (
	"encoding/json"
	"slices"
)

// slot is a place that a member of an object can go to: a parameter or a
// field.
type slot struct {
	name     string
	typ      *Type
	fallback json.RawMessage // what an absent member counts as; nil if it must be sent
}

var nullValue = json.RawMessage("null")

func slotsOf(params []*Param) []slot {
	slots := make([]slot, len(params))
	for i, p := range params {
		slots[i] = slot{p.Name, p.Type, p.Default}
		if p.Default == nil && p.Type.Optional {
			slots[i].fallback = nullValue
		}
	}
	return slots
}

func slotsOfFields(fields []*Field) []slot {
	slots := make([]slot, len(fields))
	for i, f := range fields {
		slots[i] = slot{name: f.Name, typ: f.Type}
		if f.Type.Optional {
			slots[i].fallback = nullValue
		}
	}
	return slots
}

// object checks v against a closed set of members and writes them in
// declaration order.
func (d *decoder) object(slots []slot, v *sentValue) {
	if v.slip != "" {
		d.fault("%s", v.slip)
	}
	if v.kind != sentObject {
		if len(d.faults) == 0 {
			d.fault("found %s, expected %s", v.describe(), describeSlots(slots))
		}
		return
	}
	// Members are checked in the order in which they were sent, so that the
	// faults come in it too, but written in the declared one.
	var few [8]span
	written := few[:]
	if len(slots) > len(few) {
		written = make([]span, len(slots))
	}
	written = written[:len(slots)]
	start := len(d.out)
	var envelope *sentValue // what seems to be missing may be in it
	for i := range v.items {
		if d.full() {
			return
		}
		m := &v.items[i]
		if to := d.place(slots, written, m); to >= 0 {
			written[to] = span{&m.key, len(d.out), 0}
			d.member(&slots[to], m)
			written[to].end = len(d.out)
		} else if m.value.kind == sentObject && isEnvelope(d.op, m.key) {
			envelope = &m.value
		}
	}
	for i, s := range slots {
		if written[i].key == nil && s.fallback == nil && !envelope.names(slots, i) {
			d.faultAt(s.name, "missing field, expected %s", describe(s.typ))
		}
	}
	if len(d.faults) == 0 {
		d.assemble(slots, written, start)
	}
}

// place returns the slot of a member, or -1 after a fault.
func (d *decoder) place(slots []slot, written []span, m *sentMember) int {
	if m.slip != "" {
		d.faultAt(m.key, "%s", m.slip)
	}
	to, ambiguous := placeOf(slots, m.key)
	switch {
	case ambiguous:
		d.faultAt(m.key, "unknown field, found %s, expected one of %s", quoteSent(m.key), slotNames(slots))
	case to < 0 && m.value.kind == sentObject && isEnvelope(d.op, m.key):
		d.faultAt(m.key, "unknown field, found an object in %s, expected its fields here: %s", quoteSent(m.key), slotNames(slots))
	case to < 0:
		d.faultAt(m.key, "%s", unknownField(slots, m.key))
	case written[to].key != nil && *written[to].key == m.key:
		d.faultAt(m.key, "found the field twice, expected it once")
		to = -1
	case written[to].key != nil:
		d.faultAt(m.key, "found both %s and %s for the field %s, expected only %s", quoteSent(*written[to].key), quoteSent(m.key), slots[to].name, slots[to].name)
		to = -1
	case m.key != slots[to].name:
		d.repairAt(m.key, "read %s as the field %s", quoteSent(m.key), slots[to].name)
	}
	return to
}

// member checks the value of a member that has its place.
func (d *decoder) member(s *slot, m *sentMember) {
	d.path = append(d.path, argStep{m.key, -1})
	if v := &m.value; v.kind == sentNull && v.slip == "" && !s.typ.Optional && s.fallback != nil {
		d.fault("found null, expected %s, or leave it out for its default", describe(s.typ))
	} else {
		d.value(s.typ, v)
	}
	d.path = d.path[:len(d.path)-1]
}

// assemble puts the members written from start on in order, and fills in what
// was not sent.
func (d *decoder) assemble(slots []slot, written []span, start int) {
	checked := string(d.out[start:])
	d.out = append(d.out[:start], '{')
	for i, s := range slots {
		if i > 0 {
			d.out = append(d.out, ',')
		}
		d.out = appendQuoted(d.out, s.name)
		d.out = append(d.out, ':')
		if w := written[i]; w.key != nil {
			d.out = append(d.out, checked[w.start-start:w.end-start]...)
		} else {
			d.out = append(d.out, s.fallback...)
		}
	}
	d.out = append(d.out, '}')
	// A list of empty records may grow much by what they did not hold.
	if len(d.out) > maxRecordBytes {
		d.fault("found more than %d bytes with all fields filled in, expected fewer items", maxRecordBytes)
	}
}

// names reports whether v has a member for the slot.
func (v *sentValue) names(slots []slot, slot int) bool {
	return v != nil && slices.ContainsFunc(v.items, func(m sentMember) bool {
		to, _ := placeOf(slots, m.key)
		return to == slot
	})
}

// span is where the value of a member stands in the output.
type span struct {
	key        *string // as sent; nil if it was not
	start, end int
}

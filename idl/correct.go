package idl

import (
	"encoding/json"
	"strings"
)

// maxGuesses bounds the names for which a nearest one is looked for in one
// record.
const maxGuesses = 64

// correct builds the record that the caller most likely wants from what it
// sent, or returns nil. Unlike a repair it may change and drop values: the
// caller decides whether to send it. It invents nothing: what must be sent
// and was not leaves the record without correction. And it never asks for more
// than the caller did: a dry run stays one, or there is no correction.
func correct(o *Operation, sent *sentValue) json.RawMessage {
	c := corrector{op: o}
	slots := slotsOf(o.Params)
	items, ok := c.members(slots, sent)
	if !ok || c.cut && c.mayBeTrial(slots, items) || !c.object(slots, items) || c.refused {
		return nil
	}
	d := decoder{op: o}
	d.decode(c.out)
	if len(d.faults) > 0 || len(d.repairs) > 0 || c.cut && string(c.out) == "{}" { // what was cut off is all there was
		return nil
	}
	return c.out
}

// mayBeTrial reports whether a record of which the end is missing lacks the
// parameter that makes a call a mere trial: it may have stood there.
func (c *corrector) mayBeTrial(slots []slot, items []sentMember) bool {
	for i := range slots {
		if !meansTrial(slots[i].name) {
			continue
		}
		sent := false
		for j := range items {
			to, _ := placeOf(slots, items[j].key)
			sent = sent || to == i
		}
		if !sent {
			return true
		}
	}
	return false
}

// meansTrial reports whether a name, or a near spelling of it, says that a call
// is to be a mere trial.
func meansTrial(name string) bool {
	return len(name) <= maxNearName && letters(fold(name), "dryrun") < far
}

// corrector writes a corrected record. Its methods report whether they could
// write a value; what they wrote otherwise is cut off by the caller.
type corrector struct {
	op      *Operation
	out     json.RawMessage
	guesses int
	refused bool   // no correction may be offered at all
	cut     bool   // the end of the record is missing
	name    string // of the slot that is being written
}

// members finds the named values in whatever was sent for a record.
func (c *corrector) members(slots []slot, v *sentValue) ([]sentMember, bool) {
	c.cut = c.cut || v.cut
	switch v.kind {
	case sentNull:
		return nil, true
	case sentObject:
		return c.flatten(slots, v.items), !v.lost
	case sentArray:
		if len(v.items) == 1 && v.items[0].value.kind == sentObject {
			return c.members(slots, &v.items[0].value)
		}
		if len(v.items) > len(slots) {
			return nil, false
		}
		items := make([]sentMember, len(v.items))
		for i := range items {
			items[i] = sentMember{key: slots[i].name, value: v.items[i].value}
		}
		return items, true
	case sentString:
		if inner, ok := embedded(v.text, sentObject, 0); ok {
			return c.members(slots, &inner)
		}
		if inner, ok := embedded(v.text, sentArray, 0); ok {
			return c.members(slots, &inner)
		}
		if strings.ContainsAny(v.text, "{[") {
			inner, broken, _ := scanRecord(v.text)
			ok := broken == "" && inner.kind != sentBool && inner.kind != sentNull
			if !ok {
				inner, ok = salvage(v.text)
			}
			if !ok {
				return nil, false // what it holds, and what may be cut off it, cannot be told
			}
			return c.members(slots, &inner)
		}
	}
	// A bare value belongs to the only parameter that must be sent, or to the
	// only one.
	only, required := -1, 0
	for i := range slots {
		if slots[i].fallback == nil || len(slots) == 1 {
			only = i
			required++
		}
	}
	if required != 1 {
		return nil, len(slots) == 0 || v.kind != sentString || strings.TrimSpace(v.text) == ""
	}
	return []sentMember{{key: slots[only].name, value: *v}}, true
}

// flatten takes the members out of envelopes. What stands beside an envelope
// is kept only where it names a parameter: else it belongs to the envelope, as
// an operation's name does.
func (c *corrector) flatten(slots []slot, items []sentMember) []sentMember {
	var flat []sentMember
	found := false
	for i := range items {
		inner := items[i].value
		if !isEnvelope(c.op, items[i].key) {
			continue
		}
		if v, ok := embedded(inner.text, sentObject, 0); ok && inner.kind == sentString {
			inner = v
		}
		if inner.kind == sentObject && !inner.lost {
			found = true
			flat = append(flat, c.flatten(slots, inner.items)...)
		} else if begins(&inner) {
			c.refused = true
		}
	}
	if !found {
		return items
	}
	for i := range items {
		if to, _ := placeOf(slots, items[i].key); to >= 0 {
			flat = append(flat, items[i])
		} else if !isEnvelope(c.op, items[i].key) {
			c.drop(items[i].key)
		}
	}
	return flat
}

// drop leaves a value out. Without a value that made the call a mere trial, it
// would do what the caller did not ask for; near spellings count, too.
func (c *corrector) drop(key string) {
	if meansTrial(key) {
		c.refused = true
	}
}

// object writes the members that can be placed, in declaration order.
func (c *corrector) object(slots []slot, items []sentMember) bool {
	chosen := c.choose(slots, items)
	c.out = append(c.out, '{')
	for i, s := range slots {
		if chosen[i] == nil {
			if s.fallback == nil {
				return false
			}
			continue
		}
		mark := len(c.out)
		if c.out[mark-1] != '{' {
			c.out = append(c.out, ',')
		}
		c.out = appendQuoted(c.out, s.name)
		c.out = append(c.out, ':')
		c.name = s.name
		if !c.value(s.typ, chosen[i]) {
			if s.fallback == nil || meansNumber(s.typ, chosen[i]) || begins(chosen[i]) {
				return false
			}
			c.drop(s.name)
			c.out = c.out[:mark]
		}
	}
	c.out = append(c.out, '}')
	return true
}

// meansNumber reports whether a value that cannot be read as a number of the
// type still names one, as "20 km" and "two" do: the default in its place would
// be another number than the caller meant.
func meansNumber(t *Type, v *sentValue) bool {
	if t.Kind != Int && t.Kind != Float && t.Kind != Duration && t.Kind != Timestamp || v.kind != sentString {
		return v.kind == sentArray && len(v.items) > 0 && meansNumber(t, &v.items[0].value)
	}
	switch lower(strings.TrimSpace(v.text)) {
	case "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve", "twenty", "fifty", "hundred", "thousand":
		return true
	}
	return strings.ContainsAny(v.text, "0123456789")
}

// begins reports whether a value is a text that begins like an object or a list:
// if it cannot be read as one, what it holds cannot be told.
func begins(v *sentValue) bool {
	if v.kind == sentArray && len(v.items) > 0 {
		return begins(&v.items[0].value)
	}
	text := strings.TrimSpace(v.text)
	return v.kind == sentString && text != "" && (text[0] == '{' || text[0] == '[')
}

// choose says which of the values sent goes to which slot.
func (c *corrector) choose(slots []slot, items []sentMember) []*sentValue {
	chosen := make([]*sentValue, len(slots))
	var rest []*sentMember
	for i := range items {
		if to, _ := placeOf(slots, items[i].key); to >= 0 {
			if first := chosen[to]; first != nil && (first.kind != items[i].value.kind || first.text != items[i].value.text) {
				c.drop(slots[to].name)
			}
			chosen[to] = &items[i].value // of two, the later
		} else {
			rest = append(rest, &items[i])
		}
	}
	entry := lacksEntry(slots, chosen)
	var texts []*sentMember
	for _, m := range rest {
		if to := c.nearest(slots, m.key); to >= 0 && chosen[to] == nil {
			chosen[to] = &m.value
		} else if entry >= 0 && chosen[entry] == nil && m.value.kind == sentString && m.value.text != "/" && isEntryPath(m.value.text) {
			chosen[entry] = &m.value // a path belongs to the only place for one
		} else if m.value.kind == sentString && m.value.text != c.op.Name {
			texts = append(texts, m)
		} else {
			c.drop(m.key)
		}
	}
	// The only string without a place is meant for the only place that lacks
	// a string.
	var lacking []int
	for i, s := range slots {
		if chosen[i] == nil && s.fallback == nil && (s.typ.Kind == String || s.typ.Kind == Text) {
			lacking = append(lacking, i)
		}
	}
	if len(texts) == 1 && len(lacking) == 1 {
		chosen[lacking[0]] = &texts[0].value
	} else {
		for _, m := range texts {
			c.drop(m.key)
		}
	}
	return chosen
}

// lacksEntry returns the only slot that lacks an entry's path, or -1.
func lacksEntry(slots []slot, chosen []*sentValue) int {
	found := -1
	for i, s := range slots {
		if chosen[i] == nil && s.fallback == nil && s.typ.Kind == Entry {
			if found >= 0 {
				return -1
			}
			found = i
		}
	}
	return found
}

func (c *corrector) nearest(slots []slot, key string) int {
	if c.guesses++; c.guesses > maxGuesses {
		return -1
	}
	return nearestSlot(slots, key)
}

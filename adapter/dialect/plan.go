package dialect

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/wipagent/wipagent/idl"
)

// plan says which conventions the values of a schema are written in. A nil
// plan is for a value that is written as it is, throughout.
type plan struct {
	kind    planKind
	members []planMember // of planObject
	elem    *plan        // of the others: of each element or value, or of what the text holds
}

type planKind uint8

const (
	planObject planKind = iota // an object with known members
	planList                   // a list
	planMap                    // an object with any keys
	planPairs                  // a map, written as a list of pairs
	planText                   // any value, written as JSON text in a string
)

// planMember is one member of an object, in the order of the declaration.
type planMember struct {
	name  string
	value *plan
	// nullIsAbsent: null is sent for what is left out, and the type itself has
	// no null.
	nullIsAbsent bool
	// always: the member is always sent, as null if it is left out.
	always bool
	// omitNull: null is sent by leaving the member out.
	omitNull bool
}

// orNil returns nil for a plan of an object that changes nothing.
func (p *plan) orNil() *plan {
	for _, m := range p.members {
		if m.value != nil || m.always || m.omitNull {
			return p
		}
	}
	return nil
}

// within returns the plan of a value in JSON text. Such a value is the record's
// own, but a model that wrote a map as pairs around it may do so within.
func (r *rules) within(t *idl.Type, known map[*idl.Record]*plan) *plan {
	switch {
	case r.maps:
		return nil
	case t.Kind == idl.Map:
		return &plan{kind: planPairs, elem: r.within(t.Elem, known)}
	case t.Kind == idl.List:
		if elem := r.within(t.Elem, known); elem != nil {
			return &plan{kind: planList, elem: elem}
		}
	case t.Kind == idl.RecordOf && known[t.Record] != nil:
		return known[t.Record]
	case t.Kind == idl.RecordOf:
		p := &plan{kind: planObject}
		known[t.Record] = p
		for _, f := range t.Record.Fields {
			p.members = append(p.members, planMember{name: f.Name, value: r.within(f.Type, known)})
		}
		return p
	}
	return nil
}

func (p *plan) member(name string) *planMember {
	for i := range p.members {
		if p.members[i].name == name {
			return &p.members[i]
		}
	}
	return nil
}

// maxSent bounds a record as it was sent, in bytes; JSON text in a string is
// longer than what it holds.
const maxSent = 8 * idl.MaxArgumentBytes

// undo turns what was sent into the record that it stands for.
func (p *plan) undo(sent json.RawMessage) json.RawMessage {
	if p == nil || len(sent) > maxSent || !readable(sent) {
		return sent
	}
	v := gjson.ParseBytes(sent)
	if inner, ok := held(v); ok && inner.IsObject() {
		return quoted(p.read(nil, inner)) // the check takes it out, and says so
	}
	return p.read(make([]byte, 0, len(sent)), v)
}

// read appends the value that v stands for. What is not in the plan's form
// stays as it is, for the check to refuse.
func (p *plan) read(out []byte, v gjson.Result) []byte {
	switch {
	case p == nil:
	case p.kind == planText:
		if inner, ok := held(v); ok {
			return p.elem.read(out, inner)
		}
	case p.kind == planPairs && v.IsArray():
		if read, ok := p.readPairs(out, v); ok {
			return read
		}
	case v.IsArray() && p.kind == planList:
		return eachElement(out, v, func(out []byte, e gjson.Result) []byte { return p.elem.read(out, e) })
	case v.IsObject() && p.kind != planList:
		return eachMember(out, v, func(out []byte, key string, e gjson.Result) ([]byte, bool) {
			value := p.elem
			if p.kind == planObject {
				value = nil
				if m := p.member(key); m != nil {
					if m.nullIsAbsent && e.Type == gjson.Null {
						return out, false
					}
					value = m.value
				}
			}
			return value.read(out, e), true
		})
	}
	return append(out, v.Raw...)
}

// maxSentLevels is how deep what was sent may be nested to be looked into: a
// map is two levels where it is written as pairs, and not all that is deeper
// than the check of a call allows need be refused here.
const maxSentLevels = 3 * maxDepth

// readable reports whether a text is JSON that may be looked into: the time
// that takes grows with its depth.
func readable(text []byte) bool {
	return idl.Levels(text) <= maxSentLevels && utf8.Valid(text) && gjson.ValidBytes(text)
}

// held returns the JSON that a string holds.
func held(v gjson.Result) (gjson.Result, bool) {
	if v.Type != gjson.String {
		return v, false
	}
	text := unquote(nil, v.Raw)
	return gjson.ParseBytes(text), readable(text)
}

// readPairs appends the object that a list of pairs stands for. A key that is
// there twice is twice in it, which the check refuses by name.
func (p *plan) readPairs(out []byte, v gjson.Result) ([]byte, bool) {
	start := len(out)
	out, ok := append(out, '{'), true
	v.ForEach(func(_, pair gjson.Result) bool {
		var key, value gjson.Result
		n := 0
		pair.ForEach(func(k, e gjson.Result) bool {
			switch k.Str {
			case pairKey:
				key = e
			case pairValue:
				value = e
			}
			n++
			return true
		})
		if ok = pair.IsObject() && n == 2 && key.Type == gjson.String && value.Exists(); ok {
			if len(out) > start+1 {
				out = append(out, ',')
			}
			out = p.elem.read(append(append(out, key.Raw...), ':'), value)
		}
		return ok
	})
	if !ok {
		return out[:start], false
	}
	return append(out, '}'), true
}

// write appends a value in the plan's form: what a model would send for it.
func (p *plan) write(out []byte, v gjson.Result) []byte {
	switch {
	case p == nil:
	case p.kind == planText:
		return append(out, quoted([]byte(v.Raw))...)
	case p.kind == planList && v.IsArray():
		return eachElement(out, v, func(out []byte, e gjson.Result) []byte { return p.elem.write(out, e) })
	case p.kind == planMap && v.IsObject():
		return eachMember(out, v, func(out []byte, _ string, e gjson.Result) ([]byte, bool) { return p.elem.write(out, e), true })
	case p.kind == planPairs && v.IsObject():
		out = append(out, '[')
		first := true
		v.ForEach(func(k, e gjson.Result) bool {
			if !first {
				out = append(out, ',')
			}
			first = false
			out = append(append(out, `{"`+pairKey+`":`...), k.Raw...)
			out = append(p.elem.write(append(out, `,"`+pairValue+`":`...), e), '}')
			return true
		})
		return append(out, ']')
	case p.kind == planObject && v.IsObject():
		return p.writeMembers(out, v)
	}
	return append(out, v.Raw...)
}

// writeMembers appends a record with its members in declared order, as
// providers do that are held to a schema.
func (p *plan) writeMembers(out []byte, v gjson.Result) []byte {
	sent := map[string]gjson.Result{}
	v.ForEach(func(k, e gjson.Result) bool {
		sent[k.Str] = e
		return true
	})
	out = append(out, '{')
	start := len(out)
	for i := range p.members {
		m := &p.members[i]
		e, ok := sent[m.name]
		if !ok && !m.always || m.omitNull && e.Type == gjson.Null {
			continue
		}
		if len(out) > start {
			out = append(out, ',')
		}
		out = append(append(out, quoted([]byte(m.name))...), ':')
		if ok {
			out = m.value.write(out, e)
		} else {
			out = append(out, "null"...)
		}
	}
	return append(out, '}')
}

func eachElement(out []byte, v gjson.Result, f func([]byte, gjson.Result) []byte) []byte {
	out = append(out, '[')
	start := len(out)
	v.ForEach(func(_, e gjson.Result) bool {
		if len(out) > start {
			out = append(out, ',')
		}
		out = f(out, e)
		return true
	})
	return append(out, ']')
}

// eachMember appends an object of those members of v that f keeps.
func eachMember(out []byte, v gjson.Result, f func(out []byte, key string, e gjson.Result) ([]byte, bool)) []byte {
	out = append(out, '{')
	start := len(out)
	v.ForEach(func(k, e gjson.Result) bool {
		before := len(out)
		if before > start {
			out = append(out, ',')
		}
		written, keep := f(append(append(out, k.Raw...), ':'), k.Str, e)
		if out = written; !keep {
			out = out[:before]
		}
		return true
	})
	return append(out, '}')
}

// quoted returns a JSON text, or a plain one, as a JSON string.
func quoted(text []byte) []byte {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(string(text)); err != nil {
		panic("dialect: a string does not encode: " + err.Error())
	}
	return []byte(strings.TrimSuffix(b.String(), "\n"))
}

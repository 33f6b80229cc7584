package dialect

import (
	"encoding/json"

	"github.com/invopop/jsonschema"

	"github.com/wipagent/wipagent/idl"
)

const (
	// maxAgain is how often a record may stand in itself before the rest of it
	// is written otherwise.
	maxAgain = 6
	// maxUnrolled bounds the schemas that one tool's schema consists of, as
	// long as records stand in themselves: one that holds itself twice grows
	// with each level.
	maxUnrolled = 200
	// maxNodes bounds them where none does. A record of as many fields as the
	// language allows is within it; one of records of them may not be.
	maxNodes = 2000
	// maxReduced is where the search for a depth that makes a schema small
	// enough begins.
	maxReduced = 10
	// maxDepth is what a record may be nested where the provider states no
	// limit: as deep as the check of a call goes.
	maxDepth = 32
)

// lowered is a tool's argument record in a provider's form.
type lowered struct {
	schema *jsonschema.Schema // nil if the provider writes none for a record without members
	plan   *plan
	losses []Loss
	// unrolled: a record stands in itself, so that less of that makes the
	// schema smaller.
	unrolled bool
}

// lowerTool writes the schema of a tool's argument record, with records
// standing in themselves up to again times, and less often, and then less
// deep, where the schema would be too large.
func lowerTool(t *Tool, r *rules, again int) lowered {
	depth := r.depth
	if depth == 0 {
		depth = maxDepth
	}
	known := map[*idl.Record]*plan{}
	for {
		l := lowering{known: known, maxNodes: maxNodes, rules: r, untrusted: t.Untrusted, brief: t.Brief, again: again, depth: depth, standing: map[*idl.Record]int{}}
		if again > 0 {
			l.maxNodes = maxUnrolled
		}
		if s, p := l.tool(t); !l.over() {
			return lowered{s, p, l.losses, l.unrolled}
		}
		if again > 0 {
			again--
		} else {
			depth = min(depth, maxReduced) - 1
		}
	}
}

// lowering is one way down through a tool's types.
type lowering struct {
	rules     *rules
	untrusted bool
	brief     bool
	again     int
	depth     int

	known    map[*idl.Record]*plan // of values in JSON text
	level    int                   // objects and lists around
	standing map[*idl.Record]int
	nodes    int
	maxNodes int
	path     []string
	losses   []Loss
	unrolled bool
}

// over reports that the schema has grown too large, so that it is given up.
func (l *lowering) over() bool { return l.nodes > l.maxNodes && l.depth > 1 }

// member is a parameter or a field.
type member struct {
	name, doc string
	typ       *idl.Type
	// fallback is what a parameter that is left out counts as; nil if it may
	// not be left out, or counts as null.
	fallback json.RawMessage
}

func (m *member) required() bool { return m.fallback == nil && !m.typ.Optional }

func (l *lowering) tool(t *Tool) (*jsonschema.Schema, *plan) {
	members := make([]member, len(t.Params))
	for i, p := range t.Params {
		members[i] = member{p.Name, documentation(p.Deprecated, p.Doc), p.Type, p.Default}
	}
	l.lose("at most 65536 bytes of JSON and 32 levels, each member once, whole characters", InCheck,
		"a larger or deeper record, a member twice, half a surrogate pair")
	s, p := l.object(members)
	if t.Open != "" {
		l.openMember(t, s, p)
	}
	if len(p.members) == 0 && !l.rules.empty {
		return nil, nil
	}
	return s, p.orNil()
}

// openMember adds the one member whose form other rules decide.
func (l *lowering) openMember(t *Tool, s *jsonschema.Schema, p *plan) {
	l.push(t.Open)
	defer l.pop()
	m, value := &jsonschema.Schema{Type: l.typ("object")}, (*plan)(nil)
	maySend := "any object"
	if l.rules.open && l.depth > 1 {
		m.Description = l.words(t.OpenDoc)
	} else {
		m, value, maySend = &jsonschema.Schema{Type: l.typ("string")}, &plan{kind: planText}, "any text"
		m.Description = l.words(t.OpenDoc, "JSON text of an object")
	}
	l.lose("an object as the tool expects it", InCheck, maySend)
	s.Properties.Set(t.Open, m)
	s.Required = append(s.Required, t.Open)
	l.arrange(s)
	p.members = append(p.members, planMember{name: t.Open, value: value})
}

// object writes a record of those members.
func (l *lowering) object(members []member) (*jsonschema.Schema, *plan) {
	l.level++
	defer func() { l.level-- }()
	s := &jsonschema.Schema{Type: l.typ("object"), Properties: jsonschema.NewProperties()}
	p := &plan{kind: planObject}
	if l.rules.closed {
		s.AdditionalProperties = jsonschema.FalseSchema
	} else {
		l.lose("no members but the declared ones", InCheck, "further members")
	}
	for i := range members {
		if l.over() {
			break
		}
		m := &members[i]
		l.push(m.name)
		ms, mp := l.member(m)
		s.Properties.Set(m.name, ms)
		pm := planMember{name: m.name, value: mp}
		if m.required() || l.rules.absent == asNull {
			s.Required = append(s.Required, m.name)
		}
		if !m.required() && l.rules.absent == asNull {
			pm.always, pm.nullIsAbsent = true, !m.typ.Optional
		}
		pm.omitNull = l.rules.absent == omittedOnly && m.typ.Optional
		p.members = append(p.members, pm)
		l.pop()
	}
	l.arrange(s)
	return s, p
}

// arrange says of an object's schema what the library does not: in which order the
// members come, and that none is required where the provider wants to read even
// that.
func (l *lowering) arrange(s *jsonschema.Schema) {
	s.Extras = nil
	switch {
	case l.rules.ordered && s.Properties.Len() > 1:
		var names []string
		for p := s.Properties.Oldest(); p != nil; p = p.Next() {
			names = append(names, p.Key)
		}
		s.Extras = map[string]any{"propertyOrdering": names}
	case l.rules.absent == asNull && len(s.Required) == 0:
		s.Extras = map[string]any{"required": []string{}}
	}
}

// member writes one member, with all that is said of it in words.
func (l *lowering) member(m *member) (*jsonschema.Schema, *plan) {
	s, p := l.plain(m.typ)
	null := m.typ.Optional
	switch l.rules.absent {
	case asNull:
		null = !m.required()
	case omittedOnly:
		null = false
	}
	if null {
		s = l.nullable(s)
	}
	s.Description = l.words(m.doc, l.limits(m.typ, m.doc), l.defaultText(m), s.Description)
	return s, p
}

// value writes an element of a list or a map.
func (l *lowering) value(t *idl.Type) (*jsonschema.Schema, *plan) {
	l.push("*")
	defer l.pop()
	s, p := l.plain(t)
	if t.Optional {
		s = l.nullable(s)
	}
	s.Description = l.words(l.limits(t, ""), s.Description)
	return s, p
}

func (l *lowering) nullable(s *jsonschema.Schema) *jsonschema.Schema {
	if l.rules.openAPI {
		if s.Extras == nil {
			s.Extras = map[string]any{}
		}
		s.Extras["nullable"] = true
		return s
	}
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{s, {Type: "null"}}}
}

// plain writes a type without regard to whether it is optional.
func (l *lowering) plain(t *idl.Type) (*jsonschema.Schema, *plan) {
	l.nodes++
	if l.brief && (t.Range != nil || t.Pattern != nil) {
		l.lose(limits(t), InCheck, "a value beyond")
		bare := *t
		bare.Range, bare.Pattern, bare.PatternText = nil, nil, ""
		t = &bare
	}
	switch t.Kind {
	case idl.List, idl.Map, idl.RecordOf:
		return l.composite(t)
	}
	return l.scalar(t), nil
}

func (l *lowering) composite(t *idl.Type) (*jsonschema.Schema, *plan) {
	levels := 1
	if t.Kind == idl.Map && !l.rules.maps {
		levels = 2 // the list and its pairs
	}
	// Where the provider counts levels, an open object would be one more.
	text := !l.rules.open || l.rules.depth > 0
	if l.level+levels > l.depth && (text || t.Kind != idl.List) {
		return l.cut(t, text)
	}
	switch {
	case t.Kind == idl.RecordOf:
		return l.record(t)
	case t.Kind == idl.List:
		return l.list(t)
	case l.rules.maps:
		return l.mapping(t)
	}
	return l.pairs(t)
}

func (l *lowering) record(t *idl.Type) (*jsonschema.Schema, *plan) {
	r := t.Record
	if l.standing[r] > l.again || len(r.Fields) == 0 && !l.rules.empty {
		return l.cut(t, !l.rules.open)
	}
	l.unrolled = l.unrolled || l.standing[r] > 0
	l.standing[r]++
	defer func() { l.standing[r]-- }()
	members := make([]member, len(r.Fields))
	for i, f := range r.Fields {
		members[i] = member{name: f.Name, doc: documentation(f.Deprecated, f.Doc), typ: f.Type}
	}
	s, p := l.object(members)
	s.Description = l.words(r.Doc)
	return s, p.orNil()
}

func (l *lowering) list(t *idl.Type) (*jsonschema.Schema, *plan) {
	l.level++
	defer func() { l.level-- }()
	s := &jsonschema.Schema{Type: l.typ("array")}
	l.count(s, t)
	items, p := l.value(t.Elem)
	s.Items = items
	if p != nil {
		p = &plan{kind: planList, elem: p}
	}
	return s, p
}

// count says of a list how many elements it has.
func (l *lowering) count(s *jsonschema.Schema, t *idl.Type) {
	r := t.Range
	if r == nil {
		return
	}
	if l.rules.sizes == anySize {
		s.MinItems, s.MaxItems = ends(r)
		return
	}
	if r.HasMin && r.Min >= 1 {
		s.MinItems = new(uint64(1))
	}
	if r.HasMax || r.Min > 1 {
		l.lose(limits(t), InDescription, "a list of another length")
	}
}

func (l *lowering) mapping(t *idl.Type) (*jsonschema.Schema, *plan) {
	l.level++
	defer func() { l.level-- }()
	s := &jsonschema.Schema{Type: l.typ("object")}
	if r := t.Range; r != nil && l.rules.counts {
		s.MinProperties, s.MaxProperties = ends(r)
	} else if r != nil {
		l.lose(limits(t), InDescription, "another number of members")
	}
	value, p := l.value(t.Elem)
	if s.AdditionalProperties = value; p != nil {
		p = &plan{kind: planMap, elem: p}
	}
	return s, p
}

// The members of a pair.
const pairKey, pairValue = "key", "value"

// pairs writes a map where no object may have any keys.
func (l *lowering) pairs(t *idl.Type) (*jsonschema.Schema, *plan) {
	l.level += 2
	defer func() { l.level -= 2 }()
	s := &jsonschema.Schema{Type: l.typ("array"), Description: "pairs of key and value, each key once"}
	if l.rules.closed {
		l.lose("each key once", InDescription, "a key twice")
	} else {
		l.lose(s.Description, InDescription, "a key twice, or further members of a pair")
	}
	l.count(s, t)
	value, p := l.value(t.Elem)
	pair := &jsonschema.Schema{Type: l.typ("object"), Properties: jsonschema.NewProperties(), Required: []string{pairKey, pairValue}}
	if l.rules.closed {
		pair.AdditionalProperties = jsonschema.FalseSchema
	}
	pair.Properties.Set(pairKey, &jsonschema.Schema{Type: l.typ("string")})
	pair.Properties.Set(pairValue, value)
	l.arrange(pair)
	s.Items = pair
	return s, &plan{kind: planPairs, elem: p}
}

// cut writes what lies deeper than the schema goes: as JSON text, or as an open
// object.
func (l *lowering) cut(t *idl.Type, text bool) (*jsonschema.Schema, *plan) {
	if !text {
		s := &jsonschema.Schema{Type: "object", Description: "further levels of the same form"}
		if t.Kind != idl.RecordOf || l.standing[t.Record] == 0 {
			s.Description = l.words("an object: " + form(t))
		}
		l.lose("the form of "+t.String(), InDescription, "any object")
		return s, nil
	}
	l.lose("the form of "+t.String(), InDescription, "any text")
	return &jsonschema.Schema{Type: l.typ("string"), Description: l.words("JSON text: " + form(t))},
		&plan{kind: planText, elem: l.rules.within(t, l.known)}
}

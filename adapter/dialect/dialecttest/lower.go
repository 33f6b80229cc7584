package dialecttest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/wipagent/wipagent/idl"
)

// Form writes argument records in the form that an exported schema asks for,
// by the conventions that dialects have: null for what is left out, a list of
// pairs for a map, JSON in a string for what may not be an object.
type Form struct {
	root *value
	open string
}

// NewForm returns the form of a tool by its exported schema, as JSON Schema,
// and by the name of its open member, if it has one.
func NewForm(schema json.RawMessage, open string) (*Form, error) {
	root, err := parse(schema)
	if err != nil {
		return nil, err
	}
	return &Form{root, open}, nil
}

// Write writes a record in the form. The error says what the form has no way
// to say.
func (f *Form) Write(params []*idl.Param, record map[string]any) (any, error) {
	members := make([]member, 0, len(params)+1)
	for _, p := range params {
		members = append(members, member{p.Name, p.Type})
	}
	if f.open != "" {
		members = append(members, member{f.open, nil})
	}
	return f.object(f.root, members, record)
}

type member struct {
	name string
	typ  *idl.Type // nil of what is open
}

// write writes one value. It never invents one: what the schema has no place
// for is an error.
func (f *Form) write(s *value, t *idl.Type, v any) (any, error) {
	s = f.follow(s, v == nil)
	switch {
	case v == nil && allows(s, "null"):
		return nil, nil
	case v == nil:
		return nil, fmt.Errorf("null has no form")
	case t == nil && allows(s, "object"):
		return v, nil
	case t == nil || !allows(s, "object") && !allows(s, "array") && (t.Kind == idl.RecordOf || t.Kind == idl.Map || t.Kind == idl.List):
		return string(JSON(v)), nil
	}
	switch t.Kind {
	case idl.RecordOf:
		members := make([]member, 0, len(t.Record.Fields))
		for _, field := range t.Record.Fields {
			members = append(members, member{field.Name, field.Type})
		}
		return f.object(s, members, v.(map[string]any))
	case idl.List:
		out := []any{}
		for _, item := range v.([]any) {
			w, err := f.write(s.get("items"), t.Elem, item)
			if err != nil {
				return nil, err
			}
			out = append(out, w)
		}
		return out, nil
	case idl.Map:
		return f.mapping(s, t, v.(map[string]any))
	}
	return v, nil
}

func (f *Form) object(s *value, members []member, record map[string]any) (any, error) {
	properties, required := s.get("properties"), s.get("required")
	out := map[string]any{}
	for _, m := range members {
		v, sent := record[m.name]
		property := properties.get(m.name)
		switch {
		case property == nil && !sent:
			continue
		case property == nil && closed(s):
			return nil, fmt.Errorf("the member %s has no place", m.name)
		case property == nil:
			out[m.name] = v
			continue
		case v == nil && !allows(f.follow(property, true), "null") && !required.has(m.name):
			continue // left out is null
		case !sent && !required.has(m.name):
			continue
		}
		w, err := f.write(property, m.typ, v)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.name, err)
		}
		out[m.name] = w
	}
	return out, nil
}

// mapping writes a map as an object or as pairs of a key and a value.
func (f *Form) mapping(s *value, t *idl.Type, of map[string]any) (any, error) {
	if allows(s, "object") {
		out := map[string]any{}
		for key, v := range of {
			w, err := f.write(s.get("additionalProperties"), t.Elem, v)
			if err != nil {
				return nil, err
			}
			out[key] = w
		}
		return out, nil
	}
	item := s.get("items")
	properties := item.get("properties")
	if properties == nil || len(properties.keys) != 2 {
		return nil, fmt.Errorf("a map has no form")
	}
	key, val := properties.keys[0], properties.keys[1]
	out := []any{}
	for _, k := range slices.Sorted(maps.Keys(of)) {
		v, pair := of[k], map[string]any{key: k}
		if v != nil || item.get("required").has(val) {
			w, err := f.write(properties.of[val], t.Elem, v)
			if err != nil {
				return nil, err
			}
			pair[val] = w
		}
		out = append(out, pair)
	}
	return out, nil
}

// follow resolves references, and takes the branch for null or that for
// anything else.
func (f *Form) follow(s *value, null bool) *value {
	for range 8 {
		switch {
		case s.get("$ref") != nil:
			s = resolve(f.root, s.get("$ref").str())
		case s.get("anyOf") != nil:
			found := s
			for _, branch := range s.get("anyOf").items {
				if allows(f.follow(branch, null), "null") == null {
					found = branch
					break
				}
			}
			if found == s {
				return found.get("anyOf").items[0]
			}
			s = found
		default:
			return s
		}
	}
	return s
}

// allows reports whether a schema without anyOf allows a JSON type.
func allows(s *value, name string) bool {
	t := s.get("type")
	return t == nil || t.str() == name || t.is('[') && t.has(name)
}

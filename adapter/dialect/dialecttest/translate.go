package dialecttest

import (
	"encoding/json"
	"strings"
)

// JSONSchema returns what a schema of Gemini's OpenAPI subset says, as JSON
// Schema: types in lower case, and null where it is nullable.
func JSONSchema(openapi json.RawMessage) (json.RawMessage, error) {
	s, err := parse(openapi)
	if err != nil {
		return nil, err
	}
	return translated(s).json(), nil
}

func translated(s *value) *value {
	out := &value{kind: '{', of: map[string]*value{}}
	set := func(key string, v *value) {
		out.keys = append(out.keys, key)
		out.of[key] = v
	}
	for _, key := range s.keys {
		m := s.of[key]
		switch key {
		case "type":
			set(key, &value{kind: '"', text: strings.ToLower(m.text)})
		case "items":
			set(key, translated(m))
		case "anyOf":
			list := &value{kind: '['}
			for _, one := range m.items {
				list.items = append(list.items, translated(one))
			}
			set(key, list)
		case "properties":
			properties := &value{kind: '{', of: map[string]*value{}, keys: m.keys}
			for _, name := range m.keys {
				properties.of[name] = translated(m.of[name])
			}
			set(key, properties)
		case "nullable", "format", "example", "default", "propertyOrdering":
			// nullable is below; the formats say no more than the types.
		default:
			set(key, m)
		}
	}
	if n := s.get("nullable"); n.is('b') && n.text == "true" {
		null := &value{kind: '{', keys: []string{"type"}, of: map[string]*value{"type": {kind: '"', text: "null"}}}
		return &value{kind: '{', keys: []string{"anyOf"}, of: map[string]*value{"anyOf": {kind: '[', items: []*value{out, null}}}}
	}
	return out
}

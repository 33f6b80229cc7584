package dialecttest

import (
	"fmt"
	"slices"
	"strings"
)

const openapiKeywords = "type nullable anyOf enum format description items properties required minItems maxItems minLength maxLength " +
	"minProperties maxProperties minimum maximum pattern title default example propertyOrdering"

// openapi checks a schema of Gemini's subset of OpenAPI 3.0.
func (c *checker) openapi(at string, s *value, root bool) {
	if !s.is('{') {
		c.fault(at, "found no schema, expected an object")
		return
	}
	for _, key := range s.keys {
		if !slices.Contains(strings.Fields(openapiKeywords), key) {
			c.fault(step(at, key), "found the keyword %s, which the subset does not know", key)
		}
	}
	t := strings.ToLower(s.get("type").str())
	if root && t != "object" {
		c.fault(at, "found another root, expected the type OBJECT")
	}
	if anyOf := s.get("anyOf"); anyOf != nil {
		if len(s.keys) > 1 {
			c.fault(at, "found something beside anyOf, expected it alone")
		}
		for i, one := range anyOf.items {
			c.openapi(fmt.Sprintf("%s/anyOf/%d", at, i), one, false)
		}
		return
	}
	if !slices.Contains([]string{"string", "number", "integer", "boolean", "array", "object"}, t) {
		c.fault(at, "found no single known type, expected one")
		return
	}
	c.openapiWords(at, s, t)
	for keyword, types := range keywordTypes {
		if s.get(keyword) != nil && !slices.Contains(strings.Fields(types), t) {
			c.fault(step(at, keyword), "found %s on the type %s, where it says nothing", keyword, t)
		}
	}
	switch t {
	case "array":
		if s.get("items") == nil {
			c.fault(at, "found an ARRAY without items, expected them")
		} else {
			c.openapi(at+"/items", s.get("items"), false)
		}
	case "object":
		properties := s.get("properties")
		if properties == nil || len(properties.keys) == 0 {
			c.fault(at, "found an OBJECT without properties, expected some")
			return
		}
		for _, name := range properties.keys {
			path := step(at+"/properties", name)
			if !geminiKey.MatchString(name) {
				c.fault(path, "found the property %q, expected a name like %s", name, geminiKey)
			}
			c.openapi(path, properties.of[name], false)
		}
		for i, name := range s.get("required").strings() {
			if properties.of[name] == nil || slices.Contains(s.get("required").strings()[:i], name) {
				c.fault(at+"/required", "found the name %q, expected each of the properties once at most", name)
			}
		}
		if order := s.get("propertyOrdering"); order != nil {
			c.ordering(at, order, properties)
		}
	}
}

// openapiWords checks what a schema says beside its structure.
func (c *checker) openapiWords(at string, s *value, t string) {
	c.typed(at, s, '"', "type", "description", "format", "pattern", "title")
	c.typed(at, s, 'b', "nullable")
	c.typed(at, s, '[', "enum", "required", "propertyOrdering")
	if format := s.get("format").str(); format != "" {
		known := map[string]string{"string": "enum date-time", "integer": "int32 int64", "number": "float double"}[t]
		if !slices.Contains(strings.Fields(known), format) {
			c.fault(at+"/format", "found the format %q, expected one of %s", format, known)
		}
	}
	if enum := s.get("enum"); enum != nil {
		seen := map[string]bool{}
		for _, v := range enum.items {
			if t != "string" || !v.is('"') || v.text == "" || seen[folded(v.text)] {
				c.fault(at+"/enum", "found the value %s of the type %s, expected strings, none empty and no two alike", v.text, t)
			}
			seen[folded(v.text)] = true
		}
		if len(enum.items) == 0 {
			c.fault(at+"/enum", "found no values, expected some")
		}
	}
	if pattern := s.get("pattern"); pattern != nil {
		if fault := patternFault(pattern.str()); fault != "" {
			c.fault(at+"/pattern", "found %s in the pattern %q, expected what every engine reads alike", fault, pattern.str())
		}
	}
	for _, pair := range [][2]string{{"minimum", "maximum"}, {"minLength", "maxLength"}, {"minItems", "maxItems"}, {"minProperties", "maxProperties"}} {
		low, high := s.get(pair[0]), s.get(pair[1])
		for _, end := range []*value{low, high} {
			if end != nil && !end.is('0') {
				c.fault(at, "found a %s or %s that is no number, expected one", pair[0], pair[1])
			} else if end != nil && pair[0] != "minimum" && !digits(end.text) {
				c.fault(at, "found a %s or %s that is no count, expected one", pair[0], pair[1])
			}
		}
		if low.is('0') && high.is('0') && number(low) > number(high) {
			c.fault(at, "found %s over %s, expected a range that holds something", pair[0], pair[1])
		}
	}
}

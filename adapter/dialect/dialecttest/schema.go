package dialecttest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// schema checks a whole schema of a tool's arguments.
func (c *checker) schema(r *rules, at string, root *value) {
	if !root.is('{') {
		c.fault(at, "found no schema, expected one")
		return
	}
	if root.get("type").str() != "object" {
		c.fault(at, `found another root, expected "type": "object"`)
	}
	for _, keyword := range []string{"anyOf", "oneOf", "allOf", "not", "if", "enum", "const", "$ref"} {
		if root.get(keyword) != nil {
			c.fault(step(at, keyword), "found %s at the root, expected it further inside or not at all", keyword)
		}
	}
	if strings.HasPrefix(r.name, "openai") && root.get("properties") == nil {
		c.fault(at, "found a root without properties, expected them, if only {}")
	}
	if r.root && !closed(root) {
		c.fault(at, "found an open root, expected it to be closed")
	}
	if !r.cycles && recursive(root) {
		c.fault(at, "found a $ref that leads to where it stands, expected none")
	}
	if !c.compiles(at, root) {
		return
	}
	w := &walk{checker: c, rules: r, root: root}
	w.visit(at, root, 1)
}

// compiles reports whether the text is a schema at all.
func (c *checker) compiles(at string, schema *value) bool {
	if _, err := c.schemas.Compile(schema.json()); err != nil {
		c.fault(at, "found what is not JSON Schema 2020-12: %v", err)
		return false
	}
	return true
}

// walk visits every schema in a schema that compiles.
type walk struct {
	*checker
	rules *rules
	root  *value
	refs  []string // on the way
}

func (w *walk) visit(at string, s *value, depth int) {
	r := w.rules
	if s.is('b') {
		w.fault(at, "found %s for a schema, expected an object", s.text)
		return
	}
	for _, key := range s.keys {
		if !r.knows(key) {
			w.fault(step(at, key), "found the keyword %s, which %s does not know", key, r.name)
		}
	}
	if ref := s.get("$ref"); ref != nil {
		w.ref(at, s, ref.str(), depth)
		return
	}
	w.types(at, s)
	if most := w.most(); most > 0 && depth > most && (s.get("properties") != nil || s.get("items") != nil) {
		w.fault(at, "found %d levels, expected at most %d", depth, most)
	}
	w.values(at, s)
	if pattern := s.get("pattern"); pattern != nil {
		if fault := patternFault(pattern.str()); fault != "" {
			w.fault(at+"/pattern", "found %s in the pattern %q, expected what every engine reads alike", fault, pattern.str())
		}
	}
	if n := s.get("minItems"); n != nil && r.items01 && n.text != "0" && n.text != "1" {
		w.fault(at+"/minItems", "found %s, expected 0 or 1", n.text)
	}
	w.empty(at, s)
	w.object(at, s, depth)
	if items := s.get("items"); items != nil {
		w.visit(at+"/items", items, depth+1)
	}
	w.list(at, s, "prefixItems", depth+1)
	w.list(at, s, "anyOf", depth)
	w.list(at, s, "oneOf", depth)
	w.list(at, s, "allOf", depth)
	if defs := s.get("$defs"); defs != nil {
		for _, key := range defs.keys {
			w.count(key)
			// What it holds is counted and checked here, once.
			w.visit(step(at+"/$defs", key), defs.of[key], 1)
		}
	}
}

// most is how deep the form may be nested; 0 is any.
func (w *walk) most() int {
	if w.depth > 0 {
		return w.depth
	}
	return w.rules.depth
}

// list visits a list of schemas.
func (w *walk) list(at string, s *value, keyword string, depth int) {
	list := s.get(keyword)
	if list == nil {
		return
	}
	first := map[string]bool{}
	for i, one := range list.items {
		path := fmt.Sprintf("%s/%s/%d", at, keyword, i)
		if keyword == "allOf" && one.get("$ref") != nil {
			w.fault(path, "found $ref in allOf, expected none")
		}
		if properties := one.get("properties"); keyword == "anyOf" && w.rules == openaiStrict && properties != nil && len(properties.keys) > 0 {
			if key := properties.keys[0]; first[key] {
				w.fault(path, "found a second object that begins with %q in one anyOf, expected another first key", key)
			}
			first[properties.keys[0]] = true
		}
		w.visit(path, one, depth)
	}
}

// ref checks a reference. Where it leads to is checked where it stands.
func (w *walk) ref(at string, s *value, ref string, depth int) {
	if len(s.keys) > 1 && !(w.rules == geminiJSON && !slices.ContainsFunc(s.keys, func(k string) bool { return k[0] != '$' })) {
		w.fault(at, "found something beside $ref, expected it alone")
	}
	target := resolve(w.root, ref)
	if target == nil {
		w.fault(at+"/$ref", "found %q, expected a local reference to a schema", ref)
		return
	}
	if slices.Contains(w.refs, ref) || w.most() == 0 {
		return
	}
	// Only the depth is left to look at.
	inner := &walk{checker: &checker{depth: w.depth, tool: w.tool}, rules: w.rules, root: w.root, refs: append(slices.Clone(w.refs), ref)}
	inner.visit(at, target, depth)
	for _, v := range inner.found {
		if strings.Contains(v.Rule, "levels") {
			w.found = append(w.found, v)
		}
	}
}

var scalars = map[string]byte{"string": '"', "number": '0', "integer": '0', "boolean": 'b', "null": 'n'}

// types checks what a schema says of its type, and that keywords stand on the
// types that they say something of.
func (w *walk) types(at string, s *value) {
	t := s.get("type")
	switch {
	case t == nil:
		if s.get("anyOf") == nil && s.get("oneOf") == nil && s.get("allOf") == nil && w.rules.typed {
			w.fault(at, "found a schema without a type, expected one")
		}
		return
	case t.is('['):
		if !w.rules.lists {
			w.fault(at+"/type", "found a list of types, expected one")
		} else if len(t.items) != 2 || !t.has("null") {
			w.fault(at+"/type", `found several types, expected one, or one and "null"`)
		}
	}
	names := t.strings()
	if t.is('"') {
		names = []string{t.text}
	}
	if s.get("format") != nil && slices.Contains(names, "string") && !slices.Contains(strings.Fields(w.rules.formats), s.get("format").str()) {
		w.fault(at+"/format", "found the format %q, expected one of %s", s.get("format").str(), w.rules.formats)
	}
	for keyword, types := range keywordTypes {
		if s.get(keyword) != nil && !slices.ContainsFunc(strings.Fields(types), func(t string) bool { return slices.Contains(names, t) }) {
			w.fault(step(at, keyword), "found %s on the type %s, where it says nothing", keyword, strings.Join(names, ", "))
		}
	}
}

// keywordTypes are the types that a keyword says something of.
var keywordTypes = map[string]string{
	"pattern": "string", "minLength": "string", "maxLength": "string",
	"minimum": "integer number", "maximum": "integer number", "exclusiveMinimum": "integer number", "exclusiveMaximum": "integer number",
	"multipleOf": "integer number",
	"items":      "array", "minItems": "array", "maxItems": "array", "uniqueItems": "array", "prefixItems": "array",
	"properties": "object", "required": "object", "additionalProperties": "object", "minProperties": "object", "maxProperties": "object",
	"propertyOrdering": "object",
}

// values checks the values of enum and const.
func (w *walk) values(at string, s *value) {
	strict := w.rules == openaiStrict
	if c := s.get("const"); c != nil {
		w.count(c.str())
		if c.is('{') || c.is('[') {
			w.fault(at+"/const", "found a value that is no scalar, expected one")
		}
	}
	enum := s.get("enum")
	if enum == nil {
		return
	}
	seen, chars := map[string]bool{}, 0
	for _, v := range enum.items {
		switch {
		case v.kind != enum.items[0].kind:
			w.fault(at+"/enum", "found values of several types, expected one type")
		case v.kind == '{' || v.kind == '[' || w.rules == geminiJSON && v.kind != '"' && v.kind != '0' || w.rules == portable && v.kind != '"':
			w.fault(at+"/enum", "found a value that the provider takes not, expected strings")
		case seen[folded(v.text)]:
			w.fault(at+"/enum", "found two values that differ by capitals alone at most, expected none")
		}
		if kind, ok := scalars[s.get("type").str()]; ok && v.kind != kind {
			w.fault(at+"/enum", "found a value of another type than %s", s.get("type").str())
		}
		seen[folded(v.text)] = true
		chars += len([]rune(v.text))
		w.count(v.str())
	}
	if strict {
		w.openai.labels += len(enum.items)
		if len(enum.items) > 250 && chars > 15000 {
			w.fault(at+"/enum", "found %d values with %d characters, expected at most 15000 characters in more than 250 values", len(enum.items), chars)
		}
	}
}

// count adds a name or value to what OpenAI sums.
func (w *walk) count(text string) {
	if w.rules == openaiStrict {
		w.openai.chars += len([]rune(text))
	}
}

// empty counts unions, and checks arrays.
func (w *walk) empty(at string, s *value) {
	if w.rules == anthropicStrict && (s.get("anyOf") != nil || s.get("oneOf") != nil || s.get("type").is('[')) {
		w.claude.unions++
	}
	t := s.get("type")
	if (t.str() == "array" || t.is('[') && t.has("array")) && s.get("items") == nil && s.get("prefixItems") == nil {
		w.fault(at, "found an array without items, expected them")
	}
	for _, pair := range [][2]string{{"minimum", "maximum"}, {"minLength", "maxLength"}, {"minItems", "maxItems"}, {"minProperties", "maxProperties"}} {
		if low, high := s.get(pair[0]), s.get(pair[1]); low != nil && high != nil && number(low) > number(high) {
			w.fault(at, "found %s over %s, expected a range that holds something", pair[0], pair[1])
		}
	}
}

func (w *walk) object(at string, s *value, depth int) {
	r, t := w.rules, s.get("type")
	if t.str() != "object" && !(t.is('[') && t.has("object")) {
		return
	}
	properties, required := s.get("properties"), s.get("required")
	if r.closed && !closed(s) {
		w.fault(at, "found an open object, expected additionalProperties: false")
	}
	if r.closed && r.required && properties == nil {
		w.fault(at, "found an object without properties, expected them, if only {}")
	}
	if more := s.get("additionalProperties"); more.is('{') {
		w.visit(at+"/additionalProperties", more, depth+1)
	}
	for _, name := range required.strings() {
		if properties.get(name) == nil {
			w.fault(at+"/required", "found the name %q, expected one of the properties", name)
		}
	}
	if order := s.get("propertyOrdering"); order != nil {
		w.ordering(at, order, properties)
	}
	if properties == nil {
		return
	}
	for _, name := range properties.keys {
		path := step(at+"/properties", name)
		if r.key != nil && !r.key.MatchString(name) {
			w.fault(path, "found the property %q, expected a name like %s", name, r.key)
		}
		if r.required && !required.has(name) {
			w.fault(path, "found an optional property, expected it in required")
		}
		w.count(name)
		if r.count != nil {
			r.count(w.checker, path, name, properties.of[name], required.has(name))
		}
		w.visit(path, properties.of[name], depth+1)
	}
}

// ordering checks that an order names every property once.
func (c *checker) ordering(at string, order, properties *value) {
	names := order.strings()
	slices.Sort(names)
	var want []string
	if properties != nil {
		want = slices.Sorted(slices.Values(properties.keys))
	}
	if !slices.Equal(names, want) {
		c.fault(at+"/propertyOrdering", "found %s, expected each property once", strings.Join(names, ", "))
	}
}

func closed(s *value) bool {
	more := s.get("additionalProperties")
	return more.is('b') && more.text == "false"
}

func number(v *value) float64 {
	n, _ := strconv.ParseFloat(v.text, 64) // a schema that compiles holds numbers
	return n
}

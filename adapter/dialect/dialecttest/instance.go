package dialecttest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
)

// Instance makes up a value that the schema mostly accepts, with whatever it
// does not forbid: what a provider that holds to nothing but the schema may
// send.
func (f *Form) Instance(r *rand.Rand) any {
	return instance{r, f.root}.value(f.root, 0)
}

type instance struct {
	*rand.Rand
	root *value
}

func (i instance) value(s *value, depth int) any {
	if s.is('b') {
		return other(i.Rand, nil)
	}
	if ref := s.get("$ref"); ref != nil {
		return i.value(resolve(i.root, ref.str()), depth+1)
	}
	if any := s.get("anyOf"); any != nil {
		branch := pick(i.Rand, any.items...)
		if depth > 12 {
			branch = any.items[len(any.items)-1] // null, mostly
		}
		return i.value(branch, depth)
	}
	if enum := s.get("enum"); enum != nil {
		return scalar(pick(i.Rand, enum.items...))
	}
	if c := s.get("const"); c != nil {
		return scalar(c)
	}
	t := s.get("type").str()
	if list := s.get("type"); list.is('[') {
		t = pick(i.Rand, list.strings()...)
	}
	switch t {
	case "null":
		return nil
	case "boolean":
		return i.IntN(2) == 0
	case "integer", "number":
		return i.number(s, t)
	case "string":
		return i.string(s)
	case "array":
		return i.array(s, depth)
	case "object":
		return i.object(s, depth)
	}
	return other(i.Rand, nil)
}

func scalar(v *value) any {
	switch v.kind {
	case '"':
		return v.text
	case '0':
		return json.Number(v.text)
	case 'b':
		return v.text == "true"
	}
	return nil
}

func (i instance) number(s *value, t string) any {
	list := []string{"0", "-1", "1", "7", "1000", "9007199254740991", "-9007199254740991", "9007199254740993", "1e300", "-1e300"}
	if t == "number" {
		list = append(list, "0.5", "-2.25", "1e-320", "123456.789", "1e999", "-1e-999")
	}
	for _, keyword := range []string{"minimum", "maximum"} {
		if end := s.get(keyword); end != nil {
			list = append(list, end.text, end.text, end.text)
		}
	}
	if low := s.get("minimum"); low != nil {
		list = append(list, strconv.FormatFloat(number(low)+1, 'f', -1, 64))
	}
	return json.Number(pick(i.Rand, list...))
}

func (i instance) string(s *value) any {
	if pattern := s.get("pattern"); pattern != nil {
		if regexp.MustCompile(pattern.text).NumSubexp() < 9 {
			return matching(i.Rand, pattern.text)
		}
	}
	switch s.get("format").str() {
	case "uuid":
		return fmt.Sprintf(pick(i.Rand, "%08x-0000-4000-8000-00000000000a", "%08X-0000-4000-8000-00000000000A"), i.Uint32())
	case "date-time":
		return "2026-01-02T03:04:05Z"
	}
	n := i.size(s, "minLength", "maxLength", 12)
	stem := pick(i.Rand, "a", "é", "🧭", "w", "A", " ")
	free := pick(i.Rand, strings.Repeat(stem, n), strings.Repeat(stem, n), "/a", "/", "AAAA", "AAA", "{}", "[]", "null", `{"a":1}`, `[1,2]`, `"x"`, "true", "5", "\n")
	if m := len([]rune(free)); m < n || s.get("maxLength") != nil && float64(m) > number(s.get("maxLength")) {
		return strings.Repeat(stem, n)
	}
	return free
}

// size draws a size between the ends that two keywords set.
func (i instance) size(s *value, least, most string, usual int) int {
	low, high := 0, usual
	if end := s.get(least); end != nil {
		low = int(number(end))
		high = max(high, low)
	}
	if end := s.get(most); end != nil {
		high = min(int(number(end)), 2000)
	}
	return pick(i.Rand, low, high, low+i.IntN(max(1, high-low+1)))
}

func (i instance) array(s *value, depth int) any {
	n := i.size(s, "minItems", "maxItems", max(0, 3-depth))
	if depth > 6 && s.get("minItems") == nil {
		n = 0
	}
	list := []any{}
	for range min(n, 8) {
		v := i.value(s.get("items"), depth+1)
		list = append(list, v)
		if i.IntN(4) == 0 && len(list) < n {
			list = append(list, v) // twice the same
		}
	}
	return list
}

func (i instance) object(s *value, depth int) any {
	of := map[string]any{}
	if properties := s.get("properties"); properties != nil {
		for _, name := range properties.keys {
			if s.get("required").has(name) || i.IntN(2) == 0 && depth < 12 {
				of[name] = i.value(properties.of[name], depth+1)
			}
		}
	}
	if closed(s) {
		return of
	}
	for n := i.size(s, "minProperties", "maxProperties", max(0, 2-depth)); len(of) < n && len(of) < 8; {
		key := pick(i.Rand, "a", "key", "Key", "x/y", "", "é") + strconv.Itoa(i.IntN(100))
		if more := s.get("additionalProperties"); more.is('{') {
			of[key] = i.value(more, depth+1)
		} else {
			of[key] = other(i.Rand, nil)
		}
	}
	return of
}

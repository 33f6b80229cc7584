package dialecttest

import "strings"

// resolve follows a local reference; nil if it leads nowhere.
func resolve(root *value, ref string) *value {
	if ref == "#" {
		return root
	}
	rest, ok := strings.CutPrefix(ref, "#/")
	if !ok {
		return nil
	}
	at := root
	for token := range strings.SplitSeq(rest, "/") {
		at = at.get(strings.NewReplacer("~1", "/", "~0", "~").Replace(token))
	}
	return at
}

// eachRef calls f for every reference of a schema. A property of the name $ref
// holds a schema, and so is none.
func eachRef(v *value, f func(ref string)) {
	if v == nil {
		return
	}
	if ref := v.get("$ref"); ref.is('"') {
		f(ref.text)
	}
	for _, m := range v.of {
		eachRef(m, f)
	}
	for _, m := range v.items {
		eachRef(m, f)
	}
}

// recursive reports whether a reference leads to where it stands.
func recursive(root *value) bool {
	return recurs(root, root, map[*value]bool{})
}

func recurs(root, at *value, on map[*value]bool) bool {
	if at == nil {
		return false
	}
	if on[at] {
		return true
	}
	on[at] = true
	defer delete(on, at)
	if ref := at.get("$ref"); ref.is('"') && recurs(root, resolve(root, ref.text), on) {
		return true
	}
	for key, m := range at.of {
		if key != "$defs" && recurs(root, m, on) {
			return true
		}
	}
	for _, m := range at.items {
		if recurs(root, m, on) {
			return true
		}
	}
	return false
}

package dialecttest

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// Mutate returns a value with one thing in it changed, which is not the same
// as wrong: a number moved by little, a string made longer or of another case,
// a member more, less or of another name, a value of another type. The value
// that is given stays as it is.
func Mutate(r *rand.Rand, v any) any {
	at := r.IntN(nodes(v))
	return mutate(r, v, &at)
}

// nodes counts the values in a value.
func nodes(v any) int {
	n := 1
	switch v := v.(type) {
	case map[string]any:
		for _, m := range v {
			n += nodes(m)
		}
	case []any:
		for _, m := range v {
			n += nodes(m)
		}
	}
	return n
}

// mutate changes the value that is reached after at others.
func mutate(r *rand.Rand, v any, at *int) any {
	if *at == 0 {
		*at = -1
		return mutated(r, v)
	}
	*at--
	switch v := v.(type) {
	case map[string]any:
		c := maps.Clone(v)
		for _, k := range slices.Sorted(maps.Keys(v)) {
			if *at >= 0 {
				c[k] = mutate(r, v[k], at)
			}
		}
		return c
	case []any:
		c := slices.Clone(v)
		for i := range c {
			if *at >= 0 {
				c[i] = mutate(r, v[i], at)
			}
		}
		return c
	}
	return v
}

// mutated changes one value.
func mutated(r *rand.Rand, v any) any {
	if r.IntN(5) == 0 {
		return other(r, v)
	}
	switch v := v.(type) {
	case bool:
		return pick[any](r, !v, strconv.FormatBool(v), json.Number("1"))
	case json.Number:
		n, _ := v.Float64()
		return pick[any](r, shift(n, 1), shift(n, -1), shift(n, 0.5), shift(-n, 0), v.String(), json.Number("9007199254740993"), json.Number("-1e301"), json.Number("1e3"), json.Number("0"))
	case string:
		return pick(r, v+"x", v+v, v+"é", v+" ", " "+v, cut(v), strings.ToUpper(v), strings.ToLower(v), "", strings.Repeat("🧭", len(v)), v+"\n", v+strings.Repeat("w", 1000))
	case []any:
		c := slices.Clone(v)
		switch {
		case len(v) > 0 && r.IntN(3) == 0:
			return c[1:]
		case len(v) > 0 && r.IntN(2) == 0:
			return append(c, c[r.IntN(len(c))])
		}
		return append(c, other(r, nil))
	case map[string]any:
		c := maps.Clone(v)
		keys := slices.Sorted(maps.Keys(v))
		if len(keys) > 0 {
			key := pick(r, keys...)
			switch r.IntN(4) {
			case 0, 1:
				delete(c, key)
				return c
			case 2:
				c[pick(r, strings.ToUpper(key), strings.ReplaceAll(key, "_", ""), key+"s")] = c[key]
				delete(c, key)
				return c
			}
		}
		c[pick(r, "extra", "Key", "", "arguments")] = other(r, nil)
		return c
	}
	return other(r, v)
}

// other is a value of any type.
func other(r *rand.Rand, v any) any {
	return pick[any](r, nil, "", "null", "x", "{}", `{"a":1}`, "[]", string(JSON(v)), true, json.Number("0"), json.Number("-1"), json.Number("1.5"), []any{}, []any{v}, map[string]any{}, map[string]any{"value": v})
}

func shift(n, by float64) json.Number {
	return json.Number(strconv.FormatFloat(n+by, 'g', -1, 64))
}

// cut leaves the last character out.
func cut(s string) string {
	if r := []rune(s); len(r) > 0 {
		return string(r[:len(r)-1])
	}
	return s
}

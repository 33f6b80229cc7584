package project

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/wipagent/wipagent/idl/lint"
)

// A wip.toml is compared with Config before it is read into it, so that what is
// wrong is said in the words of its author: which key, where, and what it takes.

// keyFault is something wrong with a key of a wip.toml.
type keyFault struct {
	path []string
	text string
}

// shape is what a key takes.
type shape struct {
	keys  map[string]shape // of a table with certain keys
	rules bool             // a table of levels
	list  bool             // strings
}

// shapeOf returns what is read into a type.
func shapeOf(t reflect.Type) shape {
	switch t.Kind() {
	case reflect.Struct:
		keys := map[string]shape{}
		for i := range t.NumField() {
			keys[t.Field(i).Tag.Get("toml")] = shapeOf(t.Field(i).Type)
		}
		return shape{keys: keys}
	case reflect.Map:
		return shape{rules: true}
	case reflect.Slice:
		return shape{list: true}
	}
	return shape{}
}

// compare returns what is wrong with a value at a path, by itself.
func (s shape) compare(path []string, value any) []keyFault {
	name := strings.Join(path, ".")
	wrong := func(want string) []keyFault {
		return []keyFault{{path, fmt.Sprintf("found %s for %s, expected %s", kindOf(value), name, want)}}
	}
	table, isTable := value.(map[string]any)
	var faults []keyFault
	switch {
	case s.keys != nil && !isTable:
		return wrong("a table")
	case s.keys != nil:
		for _, key := range slices.Sorted(maps.Keys(table)) {
			below := append(slices.Clone(path), key)
			if inner, known := s.keys[key]; known {
				faults = append(faults, inner.compare(below, table[key])...)
				continue
			}
			faults = append(faults, keyFault{below, fmt.Sprintf("found unknown key %q%s", strings.Join(below, "."), s.meant(path, key))})
		}
	case s.rules && !isTable:
		return wrong(`a table of rules and their levels, such as doc-missing = "error"`)
	case s.rules:
		for _, rule := range slices.Sorted(maps.Keys(table)) {
			below := append(slices.Clone(path), rule)
			var level lint.Level
			text, ok := table[rule].(string)
			if !ok {
				faults = append(faults, keyFault{below, fmt.Sprintf("found %s for rule %q, expected off, warning or error, in quotes", kindOf(table[rule]), rule)})
			} else if err := level.UnmarshalText([]byte(text)); err != nil {
				faults = append(faults, keyFault{below, fmt.Sprintf("%s, for rule %q", err, rule)})
			}
		}
	case s.list:
		items, ok := value.([]any)
		if !ok {
			return wrong("a list of strings")
		}
		if at := slices.IndexFunc(items, func(v any) bool { _, ok := v.(string); return !ok }); at >= 0 {
			return []keyFault{{path, fmt.Sprintf("found %s in %s, expected a list of strings", kindOf(items[at]), name)}}
		}
	default:
		switch n, ok := value.(int64); {
		case !ok:
			return wrong("a whole number")
		case n == 0:
			return []keyFault{{path, fmt.Sprintf("found %s = 0, expected 1 or more", name)}}
		}
	}
	return faults
}

// meant asks whether another key is meant: one of the table, or one of that name
// in another.
func (s shape) meant(path []string, key string) string {
	if hint := DidYouMean(key, slices.Sorted(maps.Keys(s.keys))); hint != "" {
		return hint
	}
	for _, table := range []string{"", "limits", "lint"} {
		within := shapeOf(reflect.TypeFor[Config]())
		if table != "" {
			within = within.keys[table]
		}
		if _, known := within.keys[key]; known && strings.Join(path, ".") != table {
			if table == "" {
				return "; it stands before all tables"
			}
			return fmt.Sprintf("; it stands in the table [%s]", table)
		}
	}
	return ", expected one of " + strings.Join(slices.Sorted(maps.Keys(s.keys)), ", ")
}

// kindOf says what a value of a wip.toml is.
func kindOf(value any) string {
	switch v := value.(type) {
	case string:
		if len(v) > 40 {
			return "a string"
		}
		return fmt.Sprintf("the string %q", v)
	case int64, float64, bool:
		return fmt.Sprint(v)
	case []any, []map[string]any:
		return "a list"
	case map[string]any:
		return "a table"
	}
	return "a date or time"
}

// keyPlaces are the places of keys in the text of a wip.toml, as "line:column",
// by their dotted paths.
type keyPlaces map[string]string

// placesOf finds the keys of a text that is TOML. It reads lines: of a table
// written in one, only the whole is found.
func placesOf(text string) keyPlaces {
	places := keyPlaces{}
	table, number, quotes := "", 0, ""
	for line := range strings.Lines(text) {
		number++
		if quotes != "" { // of a string of several lines
			if strings.Contains(line, quotes) {
				quotes = ""
			}
			continue
		}
		for _, mark := range []string{`"""`, `'''`} {
			if strings.Count(line, mark)%2 == 1 {
				quotes = mark
			}
		}
		bare := strings.TrimLeft(line, " \t")
		column := len(line) - len(bare) + 1
		key := ""
		if head, ok := strings.CutPrefix(bare, "["); ok {
			head, _, ok = strings.Cut(head, "]")
			if !ok || strings.ContainsAny(head, ",=") { // more of a list
				continue
			}
			table = dotted(head)
			key, column = table, column+1
		} else if before, _, ok := strings.Cut(bare, "="); ok {
			if key = dotted(before); table != "" {
				key = table + "." + key
			}
		}
		if _, found := places[key]; key != "" && !found {
			places[key] = fmt.Sprintf("%d:%d", number, column)
		}
	}
	return places
}

// dotted returns a key as its parts with dots between them.
func dotted(key string) string {
	parts := strings.Split(strings.TrimSpace(key), ".")
	for i := range parts {
		parts[i] = strings.Trim(strings.TrimSpace(parts[i]), `"'`)
	}
	return strings.Join(parts, ".")
}

// of returns where a key stands, or the table around it: "line:column: ", or ""
// if that is not known.
func (p keyPlaces) of(path []string) string {
	for n := len(path); n > 0; n-- {
		if place := p[strings.Join(path[:n], ".")]; place != "" {
			return place + ": "
		}
	}
	return ""
}

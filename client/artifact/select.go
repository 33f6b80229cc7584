package artifact

import (
	"context"
	"strings"

	"github.com/tidwall/gjson"
)

// What a path may have, so that the time it takes stays in proportion to the
// text: each of these can go through all of it once more.
const (
	maxParts    = 32 // joined by dots and bars
	maxEach     = 4  // #, with those of queries
	maxQueries  = 3
	maxWildcard = 4 // * and ?
)

// Select returns the part of the value that a path leads to. It needs the whole
// text in memory, so of texts on disk one is looked at at a time.
func (object) Select(ctx context.Context, v *view, args SelectArgs) (Selection, error) {
	if message := checkPath(args.Path); message != "" {
		return Selection{}, domain(message, "a path such as items.0.name, items.#.name, items.#(count>3)#.name; see the GJSON path syntax")
	}
	if v.text == nil {
		select {
		case v.store.slot <- struct{}{}:
			defer func() { <-v.store.slot }()
		case <-ctx.Done():
			return Selection{}, ctx.Err()
		}
	}
	text, err := v.at(0, v.size)
	if err != nil {
		return Selection{}, err
	}
	r := gjson.GetBytes(text, args.Path)
	s := Selection{Kind: kindOf(r), Bytes: int64(len(r.Raw))}
	if r.Index > 0 && r.Index+len(r.Raw) <= len(text) && string(text[r.Index:r.Index+len(r.Raw)]) == r.Raw {
		offset := int64(r.Index)
		s.Offset = &offset
	}
	if s.Kind == KindList || s.Kind == KindObject {
		count := int64(0)
		r.ForEach(func(_, _ gjson.Result) bool {
			count++
			return true
		})
		s.Count = &count
	}
	switch {
	case s.Kind == KindNothing:
	case len(r.Raw) <= budget:
		raw := strings.Clone(r.Raw) // or the text would be held with it
		s.JSON = &raw
	default:
		hint := narrower(s)
		s.Hint = &hint
	}
	return s, nil
}

// narrower says how to ask for less of a value that is too large.
func narrower(s Selection) string {
	hint := "too large to show"
	switch s.Kind {
	case KindList:
		hint += "; add .0 to the path for the first element, .#.NAME for a member of each, .#(NAME==VALUE)# for those that fit"
	case KindObject:
		hint += "; add .NAME to the path for one member"
	}
	if s.Offset != nil {
		hint += "; or read from its offset on"
	}
	return hint
}

func kindOf(r gjson.Result) Kind {
	switch {
	case !r.Exists():
		return KindNothing
	case r.IsArray():
		return KindList
	case r.IsObject():
		return KindObject
	case r.Type == gjson.Null:
		return KindNone
	case r.Type == gjson.Number:
		return KindNumber
	case r.Type == gjson.String:
		return KindWords
	}
	return KindBoolean
}

// checkPath says what a path has that it may not, or nothing. What is quoted or
// escaped is not looked at.
func checkPath(path string) string {
	parts, each, queries, wildcards := 1, 0, 0, 0
	quoted := false
	for i := 0; i < len(path); i++ {
		switch c := path[i]; {
		case c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted && c != '*' && c != '?':
		case c == '*' || c == '?':
			wildcards++
		case c == '.' || c == '|':
			parts++
		case c == '#':
			each++
			if i+1 < len(path) && path[i+1] == '(' {
				queries++
			}
		case c == '@' || c == '{' || c == '[' || c == '!' && !strings.HasPrefix(path[i:], "!=") && !strings.HasPrefix(path[i:], "!%"):
			return "found " + string(c) + " in the path, expected names, indexes, # and #(...) alone; \\ makes it part of a name"
		}
	}
	switch {
	case quoted:
		return "found a quote without its end in the path"
	case parts > maxParts || each > maxEach || queries > maxQueries || wildcards > maxWildcard:
		return "found too long a path, expected at most 32 parts, 4 #, 3 queries and 4 wildcards"
	}
	return ""
}

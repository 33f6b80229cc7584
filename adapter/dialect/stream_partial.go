package dialect

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// growing is a call whose arguments Gemini streams value by value: each names
// its place by a path, and a string may come in pieces. Source: the types
// FunctionCall and PartialArg of Google's libraries.
type growing struct {
	id   string
	call int // its place among the reader's calls
	root grown
}

// grown is one value of such arguments: an object or an array if it has
// members, else a scalar.
type grown struct {
	keys    []string // of an object; nil of an array
	at      map[string]int
	members []*grown
	array   bool

	literal   string // a number, true, false, null
	text      []byte // a string, if not nil
	continues bool   // more of the string is to come
}

// grow takes what one part says of the open call's arguments, and ends the
// call if nothing more is to come.
func (r *reader) grow(partial, args gjson.Result, continues bool) (err error) {
	if args.Exists() && args.Raw != "{}" && args.Type != gjson.Null {
		return fmt.Errorf("args: found them beside partialArgs, expected one of the two")
	}
	if partial.Exists() && !partial.IsArray() {
		return fmt.Errorf("partialArgs: found %s, expected an array", describe(partial))
	}
	i := 0
	partial.ForEach(func(_, p gjson.Result) bool {
		if err = r.keep(len(p.Raw)); err == nil {
			err = r.open.root.set(text(p, "jsonPath"), p)
		}
		if err != nil {
			err = fmt.Errorf("partialArgs/%d: %w", i, err)
		}
		i++
		return err == nil
	})
	if err == nil && !continues {
		text := r.open.root.appendTo(nil)
		if r.open.root.unfinished() {
			text = cutOff(text)
		}
		r.calls[r.open.call].Arguments = text
		r.open = nil
	}
	return err
}

// set puts one value in its place.
func (g *grown) set(path string, p gjson.Result) error {
	steps, err := parsePath(path)
	if err != nil {
		return fmt.Errorf("jsonPath: %w", err)
	}
	for _, s := range steps {
		if g, err = g.step(s); err != nil {
			return fmt.Errorf("jsonPath %s: %w", quote(path), err)
		}
	}
	if len(g.members) > 0 {
		return fmt.Errorf("jsonPath %s: found a value for what has members", quote(path))
	}
	value := p.Get("stringValue")
	switch number, boolean, null := p.Get("numberValue"), p.Get("boolValue"), p.Get("nullValue"); {
	case value.Type == gjson.String && (g.text == nil || g.continues) && g.literal == "":
		if g.text == nil {
			g.text = []byte{}
		}
		g.text = unquote(g.text, value.Raw)
	case !value.Exists() && !number.Exists() && !boolean.Exists() && !null.Exists(): // the end of a string
	case value.Exists() || g.text != nil || g.literal != "":
		return fmt.Errorf("jsonPath %s: found a second value, expected one", quote(path))
	case number.Type == gjson.Number:
		g.literal = number.Raw
	case boolean.IsBool():
		g.literal = boolean.Raw
	case null.Exists():
		g.literal = "null"
	default:
		return fmt.Errorf("jsonPath %s: found a value that is not of its type", quote(path))
	}
	g.continues = p.Get("willContinue").Bool()
	return nil
}

// step is one step of a path: a key, or an index if array.
type step struct {
	key   string
	index int
	array bool
}

// step returns the value a step down, a new one if need be.
func (g *grown) step(s step) (*grown, error) {
	switch {
	case g.text != nil || g.literal != "":
		return nil, fmt.Errorf("found a member of what has a value")
	case len(g.members) > 0 && g.array != s.array:
		return nil, fmt.Errorf("found a key and an index for one value")
	case s.array && s.index > len(g.members):
		return nil, fmt.Errorf("found the index %d, expected at most %d, the next one", s.index, len(g.members))
	case s.array && s.index < len(g.members):
		return g.members[s.index], nil
	}
	if at, ok := g.at[s.key]; ok && !s.array {
		return g.members[at], nil
	}
	g.array = s.array
	if !s.array {
		if g.at == nil {
			g.at = map[string]int{}
		}
		g.at[s.key] = len(g.members)
		g.keys = append(g.keys, s.key)
	}
	member := &grown{}
	g.members = append(g.members, member)
	return member, nil
}

// unfinished reports whether a string's end is missing.
func (g *grown) unfinished() bool {
	for _, m := range g.members {
		if m.unfinished() {
			return true
		}
	}
	return g.continues
}

// appendTo appends the value's JSON. What was announced and never came is left
// out.
func (g *grown) appendTo(to []byte) []byte {
	switch {
	case g.text != nil:
		return appendQuoted(to, mend(g.text))
	case g.literal != "":
		return append(to, g.literal...)
	}
	open, end := byte('{'), byte('}')
	if g.array {
		open, end = '[', ']'
	}
	to = append(to, open)
	first := true
	for i, m := range g.members {
		if m.text == nil && m.literal == "" && len(m.members) == 0 {
			continue
		}
		if !first {
			to = append(to, ',')
		}
		first = false
		if !g.array {
			to = append(appendQuoted(to, []byte(g.keys[i])), ':')
		}
		to = m.appendTo(to)
	}
	return append(to, end)
}

// appendQuoted appends a text as a JSON string.
func appendQuoted(to, text []byte) []byte {
	quoted, err := json.Marshal(string(text))
	if err != nil {
		panic("dialect: a string does not encode: " + err.Error())
	}
	return append(to, quoted...)
}

// parsePath reads a JSON Path (RFC 9535) that leads to one value: names and
// indexes, no selectors of several.
func parsePath(path string) ([]step, error) {
	rest, ok := strings.CutPrefix(path, "$")
	if !ok || rest == "" {
		return nil, fmt.Errorf("found %s, expected a path like $.name[0]", quote(path))
	}
	var steps []step
	for rest != "" {
		s, n, err := parseStep(rest)
		if err != nil {
			return nil, fmt.Errorf("found %s, expected a path like $.name[0]", quote(path))
		}
		if steps = append(steps, s); len(steps) > maxPathSteps {
			return nil, fmt.Errorf("found more than %d steps, expected at most that many", maxPathSteps)
		}
		rest = rest[n:]
	}
	if steps[0].array {
		return nil, fmt.Errorf("found %s, expected a path to a member of an object", quote(path))
	}
	return steps, nil
}

// maxPathSteps is more than the levels that any tool's arguments have.
const maxPathSteps = 64

// parseStep reads one step and returns its length.
func parseStep(rest string) (step, int, error) {
	if rest[0] == '.' {
		n := 1 + strings.IndexAny(rest[1:]+".", ".[")
		if n == 1 {
			return step{}, 0, strconv.ErrSyntax
		}
		return step{key: rest[1:n]}, n, nil
	}
	if len(rest) < 2 || rest[0] != '[' {
		return step{}, 0, strconv.ErrSyntax
	}
	if quote := rest[1]; quote == '\'' || quote == '"' {
		key, n, err := parseName(rest[2:], quote)
		if err != nil || !strings.HasPrefix(rest[2+n:], "]") {
			return step{}, 0, strconv.ErrSyntax
		}
		return step{key: key}, n + 3, nil
	}
	end := strings.IndexByte(rest, ']')
	if end < 0 {
		return step{}, 0, strconv.ErrSyntax
	}
	index, err := strconv.ParseUint(rest[1:end], 10, 31)
	return step{index: int(index), array: true}, end + 1, err
}

// parseName reads a name up to its closing quote and returns the length of
// both.
func parseName(rest string, quote byte) (string, int, error) {
	quoted := []byte{'"'}
	for i := 0; i < len(rest); i++ {
		switch c := rest[i]; {
		case c == quote:
			quoted = append(quoted, '"')
			var key string
			err := json.Unmarshal(quoted, &key)
			return key, i + 1, err
		case c == '\\' && i+1 < len(rest):
			i++
			if rest[i] != '\'' { // which JSON does not escape
				quoted = append(quoted, '\\')
			}
			quoted = append(quoted, rest[i])
		case c == '"':
			quoted = append(quoted, '\\', '"')
		default:
			quoted = append(quoted, c)
		}
	}
	return "", 0, strconv.ErrSyntax
}

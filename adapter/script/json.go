package script

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/tidwall/gjson"
	"go.starlark.net/starlark"

	"github.com/wipagent/wipagent/idl"
)

// encoder writes values as JSON, at most limit bytes of it.
type encoder struct {
	buf   bytes.Buffer
	limit int
	// loose writes what has no form in JSON as the text that it is printed as;
	// else it is an error.
	loose bool
}

func (e *encoder) string(s string) {
	enc := json.NewEncoder(&e.buf)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s)               // a string encodes
	e.buf.Truncate(e.buf.Len() - 1) // the line's end
}

func (e *encoder) value(v starlark.Value, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("found values nested more than %d deep", maxDepth)
	}
	if e.buf.Len() > e.limit {
		return fmt.Errorf("found a value of more than %d bytes as JSON, expected less", e.limit)
	}
	switch v := v.(type) {
	case starlark.NoneType:
		e.buf.WriteString("null")
	case starlark.Bool:
		e.buf.WriteString(strconv.FormatBool(bool(v)))
	case starlark.Int:
		e.buf.WriteString(v.String())
	case starlark.Float:
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return fmt.Errorf("found the number %v, which JSON cannot say", v)
		}
		e.buf.WriteString(v.String())
	case starlark.String:
		if len(v) > e.limit {
			return fmt.Errorf("found a string of %d bytes, expected at most %d", len(v), e.limit)
		}
		e.string(string(v))
	case starlark.Bytes:
		if len(v) > e.limit {
			return fmt.Errorf("found a string of %d bytes, expected at most %d", len(v), e.limit)
		}
		raw, _ := json.Marshal([]byte(v)) // bytes encode
		e.buf.Write(raw)
	case *object:
		e.string(v.path)
	case *unknown:
		return e.value(v.rec, depth+1)
	case *page:
		return e.value(v.rec, depth+1)
	case *record:
		return e.object(v.Items(), depth)
	case *starlark.Dict:
		return e.object(v.Items(), depth)
	case *starlark.List, starlark.Tuple, *starlark.Set:
		return e.list(v.(starlark.Iterable), depth)
	default:
		if !e.loose {
			return fmt.Errorf("found a value of type %s, which has no form in JSON", v.Type())
		}
		e.string(v.String())
	}
	return nil
}

func (e *encoder) object(items []starlark.Tuple, depth int) error {
	e.buf.WriteByte('{')
	for i, item := range items {
		if i > 0 {
			e.buf.WriteByte(',')
		}
		key, ok := starlark.AsString(item[0])
		if !ok {
			if !e.loose {
				return fmt.Errorf("found a key of type %s, expected a string, as JSON has no others", item[0].Type())
			}
			key = item[0].String()
		}
		e.string(key)
		e.buf.WriteByte(':')
		if err := e.value(item[1], depth+1); err != nil {
			return err
		}
	}
	e.buf.WriteByte('}')
	return nil
}

func (e *encoder) list(list starlark.Iterable, depth int) error {
	e.buf.WriteByte('[')
	iter := list.Iterate()
	defer iter.Done()
	var elem starlark.Value
	for i := 0; iter.Next(&elem); i++ {
		if i > 0 {
			e.buf.WriteByte(',')
		}
		if err := e.value(elem, depth+1); err != nil {
			return err
		}
	}
	e.buf.WriteByte(']')
	return nil
}

// encodeArguments writes an argument record, the parameters in their declared
// order first and what is no parameter after them, which the check of the
// arguments will report.
func encodeArguments(args map[string]starlark.Value, params []*idl.Param) (json.RawMessage, error) {
	var items []starlark.Tuple
	rest := make([]string, 0, len(args))
	for name := range args {
		if !slices.ContainsFunc(params, func(p *idl.Param) bool { return p.Name == name }) {
			rest = append(rest, name)
		}
	}
	slices.Sort(rest)
	for _, p := range params {
		if v := args[p.Name]; v != nil {
			items = append(items, starlark.Tuple{starlark.String(p.Name), v})
		}
	}
	for _, name := range rest {
		items = append(items, starlark.Tuple{starlark.String(name), args[name]})
	}
	for _, item := range items {
		if u := anyUnknown(item[1]); u != nil {
			return nil, u.used("as the argument " + short(item[0].String()))
		}
	}
	e := encoder{limit: idl.MaxArgumentBytes}
	err := e.object(items, 0)
	return e.buf.Bytes(), err
}

// module is a set of builtins behind a name.
type module struct {
	name    string
	members map[string]*builtin
}

var _ starlark.HasAttrs = (*module)(nil)

func (m *module) Type() string          { return "module" }
func (m *module) Freeze()               {}
func (m *module) Truth() starlark.Bool  { return true }
func (m *module) Hash() (uint32, error) { return starlark.String(m.name).Hash() }
func (m *module) String() string        { return "<module " + m.name + ">" }

// Attr returns a member.
func (m *module) Attr(name string) (starlark.Value, error) {
	if b := m.members[name]; b != nil {
		return b, nil
	}
	return nil, nil
}

// AttrNames lists the members, sorted.
func (m *module) AttrNames() []string {
	var names []string
	for name := range m.members {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

var jsonModule = &module{"json", map[string]*builtin{
	"encode": {name: "json.encode", doc: "json.encode(x, indent=0): x as JSON; entries as their paths", fn: jsonEncode},
	"decode": {name: "json.decode", doc: "json.decode(text): the value that JSON text says", fn: jsonDecode},
}}

func jsonEncode(r *run, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var x starlark.Value
	indent := 0
	if err := starlark.UnpackArgs("json.encode", args, kwargs, "x", &x, "indent?", &indent); err != nil {
		return nil, err
	}
	if indent < 0 || indent > 8 {
		return nil, fmt.Errorf("json.encode: found an indent of %d, expected 0 to 8", indent)
	}
	n, err := r.weigh(x)
	if err != nil {
		return nil, err
	}
	if err := r.alloc(2 * n); err != nil {
		return nil, err
	}
	e := encoder{limit: maxText}
	if err := e.value(x, 0); err != nil {
		return nil, fmt.Errorf("json.encode: %w", err)
	}
	text := e.buf.Bytes()
	if indent > 0 {
		lines := 0
		for _, c := range text {
			if bytes.IndexByte([]byte(",[]{}"), c) >= 0 {
				lines++
			}
		}
		if err := r.text(int64(len(text)) + int64(lines)*int64(1+indent*idl.Levels(text))); err != nil {
			return nil, err
		}
		var out bytes.Buffer
		if err := json.Indent(&out, text, "", "        "[:indent]); err != nil {
			return nil, err
		}
		text = out.Bytes()
	}
	if len(text) > maxText {
		return nil, errTooLong(int64(len(text)))
	}
	return starlark.String(text), nil
}

func jsonDecode(r *run, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var text string
	if err := starlark.UnpackArgs("json.decode", args, kwargs, "text", &text); err != nil {
		return nil, err
	}
	if n := idl.Levels(text); n > maxDepth {
		return nil, fmt.Errorf("json.decode: found values nested %d deep, expected at most %d", n, maxDepth)
	}
	if !gjson.Valid(text) {
		return nil, fmt.Errorf("json.decode: found what is no JSON")
	}
	d := decoder{run: r, plain: true}
	v, err := d.value(gjson.Parse(text), nil)
	if err != nil {
		return nil, fmt.Errorf("json.decode: %w", err)
	}
	return v, nil
}

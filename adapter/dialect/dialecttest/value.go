package dialecttest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// value is a JSON value whose members keep their order, which some providers
// look at.
type value struct {
	kind  byte // 'n', 'b', '0', '"', '[' or '{'
	text  string
	keys  []string // of an object, as they were sent
	of    map[string]*value
	items []*value
}

// parse reads one JSON text. What is sent twice in an object is a fault.
func parse(text []byte) (*value, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	v, err := parseValue(d)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("found more than one JSON value, expected one")
	}
	return v, nil
}

func parseValue(d *json.Decoder) (*value, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch token := token.(type) {
	case nil:
		return &value{kind: 'n', text: "null"}, nil
	case bool:
		return &value{kind: 'b', text: strconv.FormatBool(token)}, nil
	case json.Number:
		return &value{kind: '0', text: token.String()}, nil
	case string:
		return &value{kind: '"', text: token}, nil
	case json.Delim:
		v := &value{kind: byte(token)}
		if v.kind == '{' {
			v.of = map[string]*value{}
		}
		for d.More() {
			key := ""
			if v.kind == '{' {
				k, err := d.Token()
				if err != nil {
					return nil, err
				}
				key = k.(string)
				if v.of[key] != nil {
					return nil, fmt.Errorf("found the key %q twice, expected it once", key)
				}
			}
			item, err := parseValue(d)
			if err != nil {
				return nil, err
			}
			if v.kind == '[' {
				v.items = append(v.items, item)
				continue
			}
			v.keys = append(v.keys, key)
			v.of[key] = item
		}
		_, err := d.Token()
		return v, err
	}
	return nil, fmt.Errorf("found the token %v, expected a value", token)
}

// get returns a member of an object; nil if there is none, or no object.
func (v *value) get(key string) *value {
	if v == nil {
		return nil
	}
	return v.of[key]
}

// is reports whether v is there and of the kind.
func (v *value) is(kind byte) bool { return v != nil && v.kind == kind }

// str returns a string's text; empty if v is none.
func (v *value) str() string {
	if v.is('"') {
		return v.text
	}
	return ""
}

// strings returns the texts of an array of strings.
func (v *value) strings() (list []string) {
	if v == nil {
		return nil
	}
	for _, item := range v.items {
		list = append(list, item.str())
	}
	return list
}

// has reports whether an array of strings holds s.
func (v *value) has(s string) bool {
	return v != nil && slices.ContainsFunc(v.items, func(item *value) bool { return item.is('"') && item.text == s })
}

// json writes v again.
func (v *value) json() []byte {
	switch v.kind {
	case '"':
		return quote(v.text)
	case '[':
		list := make([][]byte, len(v.items))
		for i, item := range v.items {
			list[i] = item.json()
		}
		return slices.Concat([]byte("["), bytes.Join(list, []byte(",")), []byte("]"))
	case '{':
		list := make([][]byte, len(v.keys))
		for i, key := range v.keys {
			list[i] = slices.Concat(quote(key), []byte(":"), v.of[key].json())
		}
		return slices.Concat([]byte("{"), bytes.Join(list, []byte(",")), []byte("}"))
	}
	return []byte(v.text)
}

func quote(s string) []byte {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string always has a JSON form
	}
	return b
}

// step adds a token to a JSON Pointer.
func step(pointer, token string) string {
	return pointer + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(token)
}

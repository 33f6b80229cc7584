package idl

import (
	"encoding/json"
	"strconv"

	"github.com/tidwall/gjson"
)

// MapEntries returns an argument record that DecodeArgs made with every value
// of type entry replaced by what f returns for it. f gets a JSON Pointer to
// the value, the path, and the declared type.
func (o *Operation) MapEntries(record json.RawMessage, f func(pointer, path string, t *Type) string) json.RawMessage {
	types := map[string]*Type{}
	held := false
	for _, p := range o.Params {
		types[p.Name] = p.Type
		held = held || holdsKind(p.Type, Entry, nil)
	}
	if !held {
		return record
	}
	return mapMembers(nil, gjson.ParseBytes(record), "", func(name string) *Type { return types[name] }, f)
}

// mapMembers appends an object with its members' entries mapped.
func mapMembers(b []byte, v gjson.Result, at string, typeOf func(string) *Type, f func(string, string, *Type) string) []byte {
	b = append(b, '{')
	v.ForEach(func(key, value gjson.Result) bool {
		if b[len(b)-1] != '{' {
			b = append(b, ',')
		}
		b = append(append(b, key.Raw...), ':')
		b = mapValue(b, value, at+"/"+pointerEscapes.Replace(key.Str), typeOf(key.Str), f)
		return true
	})
	return append(b, '}')
}

// mapValue appends a value with the entries in it mapped.
func mapValue(b []byte, v gjson.Result, at string, t *Type, f func(string, string, *Type) string) []byte {
	switch {
	case v.Type == gjson.Null || !holdsKind(t, Entry, nil):
		return append(b, v.Raw...)
	case t.Kind == Entry:
		return appendQuoted(b, f(at, v.Str, t))
	case t.Kind == List:
		b = append(b, '[')
		for i, element := range v.Array() {
			if i > 0 {
				b = append(b, ',')
			}
			b = mapValue(b, element, at+"/"+strconv.Itoa(i), t.Elem, f)
		}
		return append(b, ']')
	case t.Kind == Map:
		return mapMembers(b, v, at, func(string) *Type { return t.Elem }, f)
	default: // a record
		return mapMembers(b, v, at, t.Record.field, f)
	}
}

// field returns the type of the field of that name, which must exist.
func (r *Record) field(name string) *Type {
	for _, f := range r.Fields {
		if f.Name == name {
			return f.Type
		}
	}
	panic("idl: a record that was checked has a field " + name)
}

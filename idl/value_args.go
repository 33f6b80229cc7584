package idl

import (
	"encoding/base64"
	"encoding/json"
	"time"

	"github.com/tidwall/gjson"
)

// Arg is one value of an argument record that passed DecodeArgs. The generated
// bindings read their typed arguments from it. Since the record was checked,
// reading a value as its declared type cannot fail; as another, it gives that
// type's zero value.
type Arg struct{ v gjson.Result }

// ArgsOf returns the record as a value.
func ArgsOf(record json.RawMessage) Arg { return Arg{gjson.ParseBytes(record)} }

// Field returns the field of that name; the null value if there is none.
func (a Arg) Field(name string) Arg { return Arg{a.v.Get(name)} }

// IsNull reports whether the value is null or absent.
func (a Arg) IsNull() bool { return a.v.Type == gjson.Null }

// Bool returns a bool.
func (a Arg) Bool() bool { return a.v.Bool() }

// Int returns an int.
func (a Arg) Int() int64 { return a.v.Int() }

// Float returns a float.
func (a Arg) Float() float64 { return a.v.Float() }

// String returns a string, a text or an enum's label.
func (a Arg) String() string { return a.v.String() }

// UUID returns a uuid.
func (a Arg) UUID() ID {
	u, err := ParseID(a.v.String())
	if err != nil {
		return ID{}
	}
	return u
}

// Timestamp returns a timestamp, in UTC.
func (a Arg) Timestamp() time.Time { return time.UnixMilli(a.v.Int()).UTC() }

// Duration returns a duration.
func (a Arg) Duration() time.Duration { return time.Duration(a.v.Int()) * time.Millisecond }

// Bytes returns bytes.
func (a Arg) Bytes() []byte {
	b, err := base64.StdEncoding.DecodeString(a.v.String())
	if err != nil {
		return nil
	}
	return b
}

// Entry returns an entry's path.
func (a Arg) Entry() EntryPath { return EntryPath(a.v.String()) }

// ListArg reads a list.
func ListArg[T any](a Arg, elem func(Arg) T) []T {
	if !a.v.IsArray() {
		return nil
	}
	list := []T{}
	a.v.ForEach(func(_, v gjson.Result) bool {
		list = append(list, elem(Arg{v}))
		return true
	})
	return list
}

// MapArg reads a map.
func MapArg[T any](a Arg, elem func(Arg) T) map[string]T {
	if !a.v.IsObject() {
		return nil
	}
	m := map[string]T{}
	a.v.ForEach(func(k, v gjson.Result) bool {
		m[k.String()] = elem(Arg{v})
		return true
	})
	return m
}

// OptionalArg reads an optional value: nil if it is null.
func OptionalArg[T any](a Arg, elem func(Arg) T) *T {
	if a.IsNull() {
		return nil
	}
	v := elem(a)
	return &v
}

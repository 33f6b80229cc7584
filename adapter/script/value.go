package script

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/wipagent/wipagent/idl"
)

// record is a value with named fields: a record of the language, what inspect
// and discover answer, or the error of attempt. It cannot be changed.
type record struct {
	kind   string // such as "Avatar"
	names  []string
	values []starlark.Value
	// quiet are names of fields that are there, but not shown with the others:
	// marks and envelopes, which are the same everywhere.
	quiet []string
}

var (
	_ starlark.HasAttrs   = (*record)(nil)
	_ starlark.Mapping    = (*record)(nil)
	_ starlark.Iterable   = (*record)(nil)
	_ starlark.Comparable = (*record)(nil)
)

func (v *record) Type() string         { return v.kind }
func (v *record) Freeze()              {}
func (v *record) Truth() starlark.Bool { return true }
func (v *record) AttrNames() []string  { return v.names }
func (v *record) Hash() (uint32, error) {
	return 0, fmt.Errorf("found a value of type %s as a key, expected a string or number, such as its ID", v.kind)
}

// String shows the fields that are not quiet.
func (v *record) String() string {
	var b strings.Builder
	b.WriteString(v.kind)
	b.WriteByte('(')
	first := true
	for i, name := range v.names {
		if slices.Contains(v.quiet, name) {
			continue
		}
		if !first {
			b.WriteString(", ")
		}
		first = false
		b.WriteString(name + "=" + v.values[i].String())
	}
	b.WriteByte(')')
	return b.String()
}

func (v *record) field(name string) starlark.Value {
	if i := slices.Index(v.names, name); i >= 0 {
		return v.values[i]
	}
	return nil
}

// Attr returns a field.
func (v *record) Attr(name string) (starlark.Value, error) { return v.field(name), nil }

// Get returns a field, as x["name"].
func (v *record) Get(key starlark.Value) (starlark.Value, bool, error) {
	name, ok := starlark.AsString(key)
	if !ok {
		return nil, false, fmt.Errorf("found a key of type %s, expected the name of a field", key.Type())
	}
	if f := v.field(name); f != nil {
		return f, true, nil
	}
	return nil, false, noAttr(v.kind, name, v.shown())
}

// shown returns the names of the fields that are not quiet.
func (v *record) shown() []string {
	return slices.DeleteFunc(slices.Clone(v.names), func(name string) bool { return slices.Contains(v.quiet, name) })
}

// Iterate goes through the names of the fields.
func (v *record) Iterate() starlark.Iterator {
	list := make([]starlark.Value, len(v.names))
	for i, name := range v.names {
		list[i] = starlark.String(name)
	}
	return starlark.NewList(list).Iterate()
}

// Items returns the fields as pairs.
func (v *record) Items() []starlark.Tuple {
	list := make([]starlark.Tuple, len(v.names))
	for i, name := range v.names {
		list[i] = starlark.Tuple{starlark.String(name), v.values[i]}
	}
	return list
}

// CompareSameType compares records field by field.
func (v *record) CompareSameType(op syntax.Token, other starlark.Value, depth int) (bool, error) {
	o, ok := other.(*record)
	if op != syntax.EQL && op != syntax.NEQ {
		return false, fmt.Errorf("found %s between two values of type %s, which have no order: compare a field", op, v.kind)
	}
	same := ok && slices.Equal(v.names, o.names)
	for i := 0; same && i < len(v.values); i++ {
		var err error
		if same, err = starlark.EqualDepth(v.values[i], o.values[i], depth-1); err != nil {
			return false, err
		}
	}
	return same == (op == syntax.EQL), nil
}

// unknown is a fact that nobody observed. It is false, and equals nothing, not
// even another unknown: of two things that are not known nobody can say that they
// are the same.
type unknown struct {
	rec    *record // its status and reason, and the envelope if it is a whole result
	reason string
}

var (
	_ starlark.HasBinary  = (*unknown)(nil)
	_ starlark.HasUnary   = (*unknown)(nil)
	_ starlark.Comparable = (*unknown)(nil)
)

func (u *unknown) Type() string         { return "unknown" }
func (u *unknown) Freeze()              {}
func (u *unknown) AttrNames() []string  { return u.rec.names }
func (u *unknown) String() string       { return "unknown (" + u.reason + ")" }
func (u *unknown) Truth() starlark.Bool { return false }
func (u *unknown) Hash() (uint32, error) {
	return 0, u.used("as a key")
}

// used says that an unknown was used as if it were known.
func (u *unknown) used(how string) error {
	return fmt.Errorf("unknown: found a value that is not known (%s) used %s; test it with known(x) before", u.reason, how)
}

// Binary refuses arithmetic.
func (u *unknown) Binary(op syntax.Token, _ starlark.Value, _ starlark.Side) (starlark.Value, error) {
	return nil, u.used("with " + op.String())
}

// Unary refuses arithmetic.
func (u *unknown) Unary(op syntax.Token) (starlark.Value, error) {
	return nil, u.used("with " + op.String())
}

// CompareSameType says that nothing is known to be the same.
func (u *unknown) CompareSameType(op syntax.Token, _ starlark.Value, _ int) (bool, error) {
	if op == syntax.EQL || op == syntax.NEQ {
		return op == syntax.NEQ, nil
	}
	return false, u.used("in a comparison")
}

// Attr returns reason and what else is known of the unknown.
func (u *unknown) Attr(name string) (starlark.Value, error) {
	if f := u.rec.field(name); f != nil {
		return f, nil
	}
	return nil, u.used("with ." + short(name))
}

// Get is Attr, as x["name"].
func (u *unknown) Get(key starlark.Value) (starlark.Value, bool, error) {
	name, ok := starlark.AsString(key)
	if !ok {
		return nil, false, u.used("with an index")
	}
	v, err := u.Attr(name)
	return v, v != nil, err
}

// anyUnknown returns the first unknown among the values, or nil.
func anyUnknown(values ...starlark.Value) *unknown {
	for _, v := range values {
		if u, ok := v.(*unknown); ok {
			return u
		}
	}
	return nil
}

// unknownIn returns the error, said in the words of the unknown that caused it
// if there is one among the values.
func unknownIn(err error, values ...starlark.Value) error {
	if u := anyUnknown(values...); u != nil && !strings.HasPrefix(err.Error(), "unknown:") {
		return u.used("here: " + err.Error())
	}
	return err
}

// envelope are the fields beside those of an observed result, and quiet those
// that are the same for each of a kind.
var (
	envelope = []string{"schema_version", "tool", "generation", "region_id", "observed_unix_millis", "age_millis", "snapshot_id", "freshness", "trust", "provenance"}
	quiet    = append([]string{"status"}, envelope...)
)

// decoder makes values of JSON that is known to be sound.
type decoder struct {
	run *run
	// plain makes dicts of objects, as json.decode does, instead of records.
	plain bool
}

// scalar makes a value of what is no list or object.
func (d *decoder) scalar(j gjson.Result, t *idl.Type) (starlark.Value, error) {
	switch j.Type {
	case gjson.String:
		if err := d.run.text(int64(len(j.Str))); err != nil {
			return nil, err
		}
		if t != nil && t.Kind == idl.Entry {
			return &object{d.run.env, j.Str}, nil
		}
		return starlark.String(j.Str), nil
	case gjson.Number:
		return d.number(j.Raw, t)
	case gjson.True:
		return starlark.True, nil
	case gjson.False:
		return starlark.False, nil
	}
	return starlark.None, nil
}

func (d *decoder) number(raw string, t *idl.Type) (starlark.Value, error) {
	const most = 4300 // digits, as of int()
	if len(raw) > most {
		return nil, fmt.Errorf("found a number of %d digits, expected at most %d", len(raw), most)
	}
	if (t != nil && t.Kind == idl.Float) || strings.ContainsAny(raw, ".eE") {
		f := gjson.Parse(raw).Num
		if !idl.IsFinite(f) {
			return nil, fmt.Errorf("found a number that is too large")
		}
		return starlark.Float(f), nil
	}
	v, err := starlark.Universe["int"].(*starlark.Builtin).CallInternal(d.run.thread, starlark.Tuple{starlark.String(raw)}, nil)
	return v, err
}

// value makes a value of JSON whose type is t; nil if it has none.
func (d *decoder) value(j gjson.Result, t *idl.Type) (starlark.Value, error) {
	if err := d.run.spend(1); err != nil {
		return nil, err
	}
	for t != nil && (t.Kind == idl.Fact || t.Kind == idl.Observed) {
		if t.Kind == idl.Fact && j.IsObject() && j.Get("status").Str == "unknown" {
			return d.unknown(j)
		}
		t = t.Elem
	}
	switch {
	case j.IsArray():
		return d.list(j, t)
	case !j.IsObject():
		return d.scalar(j, t)
	case d.plain || t != nil && t.Kind == idl.Map:
		return d.dict(j, t)
	}
	return d.record(j, t)
}

func (d *decoder) list(j gjson.Result, t *idl.Type) (v starlark.Value, err error) {
	var elem *idl.Type
	if t != nil {
		elem = t.Elem
	}
	if err := d.run.alloc(64); err != nil {
		return nil, err
	}
	var list []starlark.Value
	j.ForEach(func(_, item gjson.Result) bool {
		if err = d.run.alloc(elemBytes); err != nil {
			return false
		}
		var v starlark.Value
		v, err = d.value(item, elem)
		list = append(list, v)
		return err == nil
	})
	return d.sealed(starlark.NewList(list)), err
}

func (d *decoder) dict(j gjson.Result, t *idl.Type) (v starlark.Value, err error) {
	var elem *idl.Type
	if t != nil {
		elem = t.Elem
	}
	if err := d.run.alloc(dictBytes); err != nil {
		return nil, err
	}
	dict := new(starlark.Dict)
	j.ForEach(func(key, item gjson.Result) bool {
		if err = d.run.alloc(entryBytes + int64(len(key.Str))); err != nil {
			return false
		}
		var v starlark.Value
		if v, err = d.value(item, elem); err == nil {
			err = dict.SetKey(starlark.String(key.Str), v)
		}
		return err == nil
	})
	return d.sealed(dict), err
}

// sealed makes a list or dict that a call answered read-only, as records are: what
// was observed stays what it was.
func (d *decoder) sealed(v starlark.Value) starlark.Value {
	if !d.plain {
		v.Freeze()
	}
	return v
}

// fields makes a record of the members of an object.
func (d *decoder) fields(j gjson.Result, kind string, typeOf func(name string) *idl.Type) (rec *record, err error) {
	rec = &record{kind: kind, quiet: quiet}
	if err := d.run.alloc(128); err != nil {
		return nil, err
	}
	j.ForEach(func(key, item gjson.Result) bool {
		if err = d.run.alloc(64 + int64(len(key.Str))); err != nil {
			return false
		}
		var v starlark.Value
		if v, err = d.value(item, typeOf(key.Str)); err == nil {
			rec.names, rec.values = append(rec.names, key.Str), append(rec.values, v)
		}
		return err == nil
	})
	return rec, err
}

func (d *decoder) unknown(j gjson.Result) (starlark.Value, error) {
	rec, err := d.fields(j, "unknown", func(string) *idl.Type { return nil })
	return &unknown{rec, j.Get("reason").Str}, err
}

func (d *decoder) record(j gjson.Result, t *idl.Type) (starlark.Value, error) {
	switch {
	case t == nil:
		return d.fields(j, "record", func(string) *idl.Type { return nil })
	case t.Kind == idl.Page:
		rec, err := d.fields(j, "page", func(name string) *idl.Type {
			if name == "items" {
				return &idl.Type{Kind: idl.List, Elem: t.Elem}
			}
			return nil
		})
		return &page{rec: rec}, err
	case t.Kind == idl.RecordOf:
		return d.fields(j, t.Record.Name, func(name string) *idl.Type {
			for _, f := range t.Record.Fields {
				if f.Name == name {
					return f.Type
				}
			}
			return nil
		})
	}
	return d.fields(j, "record", func(string) *idl.Type { return nil })
}

package script

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/tidwall/gjson"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/wipagent/wipagent/adapter"
)

// ownBuiltins are those that the language does not have.
func ownBuiltins() []*builtin {
	return []*builtin{
		{name: "entry", doc: "entry(path): the entry at a path, such as entry(\"/grid/region\")", fn: func(r *run, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			var path string
			if err := starlark.UnpackArgs("entry", args, kwargs, "path", &path); err != nil {
				return nil, err
			}
			return r.entry(path)
		}},
		{name: "known", doc: "known(x): whether x is anything but unknown", fn: func(_ *run, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			var x starlark.Value
			if err := starlark.UnpackArgs("known", args, kwargs, "x", &x); err != nil {
				return nil, err
			}
			return starlark.Bool(anyUnknown(x) == nil), nil
		}},
		{name: "round", doc: "round(x, digits=0): x with so many decimal places; without digits an integer", fn: round},
		{name: "sum", doc: "sum(list, start=0): start and all elements added up", fn: sum},
		{name: "attempt", doc: "attempt(f, arguments...): calls f and returns its value and None, or None and the error", fn: attempt},
		{name: "discover", doc: "discover(query, scope=\"/\"): entries and operations that serve the query", fn: discover},
		{name: "inspect", doc: "inspect(x): what can be done at an entry, or a path", fn: inspect},
		{name: "help", doc: "help(x): prints what x is and how it is used; help() what there is", fn: help},
		{name: "dir", doc: "dir(x): the names of x's attributes", fn: dir},
	}
}

// round returns a number as near as its decimal digits come.
func round(_ *run, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var x starlark.Value
	var digits starlark.Value = starlark.None
	if err := starlark.UnpackArgs("round", args, kwargs, "x", &x, "digits?", &digits); err != nil {
		return nil, err
	}
	if u := anyUnknown(x); u != nil {
		return nil, u.used("in round")
	}
	places, known := 0, digits != starlark.None
	if known {
		const most = 15
		if err := starlark.AsInt(digits, &places); err != nil || places < 0 || places > most {
			return nil, fmt.Errorf("round: found %s digits, expected 0 to %d", digits, most)
		}
	}
	switch n := x.(type) {
	case starlark.Int:
		return n, nil
	case starlark.Float:
		if !known {
			return starlark.NumberToInt(starlark.Float(math.RoundToEven(float64(n))))
		}
		rounded, err := strconv.ParseFloat(strconv.FormatFloat(float64(n), 'f', places, 64), 64)
		return starlark.Float(rounded), err
	}
	return nil, fmt.Errorf("round: found a value of type %s, expected a number", x.Type())
}

func sum(r *run, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var list starlark.Value
	var total starlark.Value = starlark.MakeInt(0)
	if err := starlark.UnpackArgs("sum", args, kwargs, "list", &list, "start?", &total); err != nil {
		return nil, err
	}
	values, err := r.collect("sum", list)
	for i := 0; i < len(values) && err == nil; i++ {
		if total, err = r.binary(syntax.PLUS, total, values[i]); err == nil {
			err = r.spend(1)
		}
	}
	return total, err
}

// attempt calls a function whose failure the script wants to see. A limit of the
// run cannot be caught.
func attempt(r *run, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	if len(args) == 0 {
		return nil, errors.New("attempt: found no function, expected one, as in attempt(grid.region.nearby_avatars, radius_meters=20)")
	}
	v, err := starlark.Call(r.thread, args[0], args[1:], kwargs)
	if r.raised != nil && r.stopped == nil {
		err, r.raised = r.raised, nil
		r.thread.Uncancel()
	}
	if trouble := r.trouble(); trouble != nil {
		return nil, trouble
	}
	if err == nil {
		return starlark.Tuple{v, starlark.None}, nil
	}
	failed, err := r.failed(err)
	return starlark.Tuple{starlark.None, failed}, err
}

// failed returns an error as a value.
func (r *run) failed(err error) (starlark.Value, error) {
	fail := r.failure(err).(*Error)
	rec := &record{kind: "error"}
	add := func(name string, v starlark.Value) {
		rec.names, rec.values = append(rec.names, name), append(rec.values, v)
	}
	var call *CallError
	if !errors.As(fail, &call) {
		add("kind", starlark.String("script"))
		add("message", starlark.String(fail.Message))
		add("line", starlark.MakeInt(fail.Line))
		return rec, r.alloc(int64(len(fail.Message)) + 256)
	}
	raw, err := json.Marshal(call.Failure)
	if err != nil {
		return nil, err
	}
	d := decoder{run: r}
	v, err := d.value(gjson.GetBytes(raw, "error"), nil)
	if err != nil {
		return nil, err
	}
	told := v.(*record)
	for i, name := range told.names {
		switch name {
		case "class": // a word of the language's
			add("kind", told.values[i])
		case "corrected_call":
		default:
			add(name, told.values[i])
		}
	}
	if call.Corrected != "" {
		add("corrected_call", starlark.String(call.Corrected))
	}
	add("line", starlark.MakeInt(fail.Line))
	return rec, nil
}

// answer returns what a verb answers as a value.
func (r *run) answer(v any) (starlark.Value, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	d := decoder{run: r}
	return d.value(gjson.ParseBytes(buf.Bytes()), nil)
}

func inspect(r *run, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var x starlark.Value
	if err := starlark.UnpackArgs("inspect", args, kwargs, "x", &x); err != nil {
		return nil, err
	}
	var target string
	switch x := x.(type) {
	case starlark.String:
		target = string(x)
	case *object:
		target = x.path
	case *method:
		target = x.of.path + "#" + x.op.Name
	default:
		return nil, errors.New("inspect: found a value of type " + x.Type() + ", expected an entry, an operation or a path")
	}
	found, err := r.inspect(target)
	if err != nil {
		return nil, err
	}
	r.trust(found)
	return r.answer(adapter.Describe(found))
}

func discover(r *run, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	query, scope := "", "/"
	var within starlark.Value
	if err := starlark.UnpackArgs("discover", args, kwargs, "query", &query, "scope?", &within); err != nil {
		return nil, err
	}
	switch w := within.(type) {
	case nil:
	case starlark.String:
		scope = string(w)
	case *object:
		scope = w.path
	default:
		return nil, errors.New("discover: found a scope of type " + w.Type() + ", expected a path or an entry")
	}
	const longest = 512 // of the verb
	if query == "" || len(query) > longest || len(scope) > 1024 {
		return nil, errors.New("discover: found a query that is empty or too long, expected 1 to 512 bytes")
	}
	if r.lookups++; r.lookups > maxLookups {
		return nil, r.stop("calls", "the script looked at too many entries")
	}
	found, err := r.env.cfg.Client.Discover(r.ctx, r.env.cfg.Principal, scope, query)
	if err != nil {
		return nil, r.refused(err)
	}
	r.untrusted = r.untrusted || r.env.cfg.Client.Strangers(r.env.cfg.Principal)
	v, err := r.answer(found)
	if err != nil {
		return nil, err
	}
	hits, _ := v.(*record).field("hits").(*starlark.List)
	for i := range hits.Len() {
		hit := hits.Index(i).(*record)
		path, _ := starlark.AsString(hit.field("path"))
		hit.names, hit.values = append(hit.names, "entry"), append(hit.values, &object{r.env, path})
	}
	return v, nil
}

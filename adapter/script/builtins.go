package script

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
)

// predeclared returns what every script finds: the language's builtins behind
// their checks, those of this package, and the operators.
func predeclared(e *Env) starlark.StringDict {
	all := starlark.StringDict{"None": starlark.None, "True": starlark.True, "False": starlark.False, "json": jsonModule, "root": &object{e, "/"}}
	for name, b := range operators() {
		all[name] = b
	}
	for _, b := range slices.Concat(libraryBuiltins, ownBuiltins()) {
		all[b.name] = b
	}
	return all
}

// library calls a builtin of the library.
func library(r *run, name string, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	v, err := starlark.Universe[name].(*starlark.Builtin).CallInternal(r.thread, args, kwargs)
	if err != nil {
		err = unknownIn(err, args...)
	}
	return v, err
}

// as returns a builtin of the library whose arguments need no check.
func as(name, doc string) *builtin {
	return &builtin{name: name, doc: doc, fn: func(r *run, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		return library(r, name, args, kwargs)
	}}
}

// through returns a builtin of the library that goes through its arguments and
// makes per bytes of each element.
func through(name string, per int64, doc string) *builtin {
	return &builtin{name: name, doc: doc, fn: func(r *run, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		for i := range args {
			var err error
			if args[i], err = r.counted(args[i], per); err != nil {
				return nil, err
			}
		}
		v, err := library(r, name, args, kwargs)
		if err != nil || r.raised != nil {
			return v, err
		}
		return v, r.tuples(v)
	}}
}

// tuples checks the tuples that a builtin has made.
func (r *run) tuples(v starlark.Value) error {
	switch v := v.(type) {
	case starlark.Tuple:
		return r.tuple(v)
	case *starlark.List:
		for i := range v.Len() {
			t, ok := v.Index(i).(starlark.Tuple)
			if !ok {
				break // the builtins make all elements alike
			}
			if err := r.tuple(t); err != nil {
				return err
			}
		}
	}
	return nil
}

// libraryBuiltins are those of the language, with its names.
var libraryBuiltins = []*builtin{
	as("abs", "abs(x): x without its sign"),
	lookThrough("all", "all(list): whether all elements are true"),
	lookThrough("any", "any(list): whether an element is true"),
	as("bool", "bool(x): whether x is true"),
	{name: "bytes", doc: "bytes(x): the bytes of a string, or of a list of integers", fn: func(r *run, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		for i := range args {
			if n := starlark.Len(args[i]); n >= 0 {
				if err := r.text(int64(n) * 3); err != nil {
					return nil, err
				}
			} else if it, ok := args[i].(starlark.Iterable); ok {
				args[i] = metered{it, r, 3}
			}
		}
		return library(r, "bytes", args, kwargs)
	}},
	as("chr", "chr(n): the character of a code point"),
	through("dict", entryBytes, "dict(pairs, name=value...): a new dict"),
	through("enumerate", 80, "enumerate(list, start=0): the elements with their numbers"),
	{name: "fail", doc: "fail(message...): ends the script with an error", fn: func(r *run, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		s, err := r.joined("fail", args, kwargs)
		if err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("fail: %s", s)
	}},
	as("float", "float(x): a number or text as a float"),
	{name: "getattr", doc: "getattr(x, name, default): the attribute of that name", fn: getattr},
	{name: "hasattr", doc: "hasattr(x, name): whether x has an attribute of that name", fn: func(r *run, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		var x starlark.Value
		var name string
		if err := starlark.UnpackPositionalArgs("hasattr", args, kwargs, 2, &x, &name); err != nil {
			return nil, err
		}
		v, err := r.attr(x, name)
		return starlark.Bool(err == nil && v != nil), nil
	}},
	as("hash", "hash(text): a number that is the same for the same text"),
	{name: "int", doc: "int(x, base=10): a number or text as an integer", fn: func(r *run, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		const most = 4300 // digits: reading more takes long
		for _, arg := range args {
			if s, ok := arg.(starlark.String); ok && len(s) > most {
				return nil, fmt.Errorf("int: found a text of %d bytes, expected at most %d", len(s), most)
			}
		}
		return library(r, "int", args, kwargs)
	}},
	{name: "len", doc: "len(x): how many elements x has; of pages, in all", fn: func(r *run, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if len(args) == 1 {
			if p, ok := args[0].(*page); ok {
				return p.length()
			}
		}
		return library(r, "len", args, kwargs)
	}},
	through("list", elemBytes, "list(x): the elements of x as a new list"),
	{name: "max", doc: "max(list, key=f): the largest element", fn: extreme("max", syntax.GT)},
	{name: "min", doc: "min(list, key=f): the smallest element", fn: extreme("min", syntax.LT)},
	as("ord", "ord(character): its code point"),
	{name: "print", doc: "print(x...): writes values and a line end to the output", fn: func(r *run, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		s, err := r.joined("print", args, kwargs)
		if err != nil {
			return nil, err
		}
		r.out.line(s)
		return starlark.None, nil
	}},
	as("range", "range(start, stop, step): the integers from start to before stop"),
	{name: "repr", doc: "repr(x): x as it would be written in a script", fn: func(r *run, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if len(args) != 1 || len(kwargs) > 0 {
			return library(r, "repr", args, kwargs)
		}
		s, err := r.written(args[0])
		return starlark.String(s), err
	}},
	through("reversed", elemBytes, "reversed(list): a new list in the other direction"),
	through("set", entryBytes, "set(list): the elements, each once"),
	{name: "sorted", doc: "sorted(list, key=f, reverse=False): a new list in order", fn: sorted},
	{name: "str", doc: "str(x): x as text", fn: func(r *run, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if len(args) != 1 || len(kwargs) > 0 {
			return library(r, "str", args, kwargs)
		}
		s, err := r.said(args[0])
		return starlark.String(s), err
	}},
	through("tuple", elemBytes, "tuple(list): the elements as a tuple"),
	as("type", "type(x): the name of x's type"),
	through("zip", 80, "zip(a, b...): tuples of the elements at the same place"),
}

// lookThrough returns a builtin that may stop looking before the end.
func lookThrough(name, doc string) *builtin {
	return &builtin{name: name, doc: doc, fn: func(r *run, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		for i, arg := range args {
			if it, ok := arg.(starlark.Iterable); ok {
				args[i] = metered{it, r, 0}
			}
		}
		return library(r, name, args, kwargs)
	}}
}

// said returns a value as print and str show it.
func (r *run) said(v starlark.Value) (string, error) {
	switch v := v.(type) {
	case starlark.String:
		return string(v), nil
	case starlark.Bytes:
		if err := r.text(3 * int64(len(v))); err != nil {
			return "", err
		}
		return strings.ToValidUTF8(string(v), "\uFFFD"), nil
	}
	return r.written(v)
}

// written returns a value as repr shows it.
func (r *run) written(v starlark.Value) (string, error) {
	n, err := r.weigh(v)
	if err != nil {
		return "", err
	}
	if err := r.alloc(n); err != nil {
		return "", err
	}
	s := v.String()
	if len(s) > maxText {
		return "", errTooLong(int64(len(s)))
	}
	return s, nil
}

// joined returns the values that print and fail were given in one line.
func (r *run) joined(name string, args starlark.Tuple, kwargs []starlark.Tuple) (string, error) {
	sep := " "
	if err := starlark.UnpackArgs(name, nil, kwargs, "sep?", &sep); err != nil {
		return "", err
	}
	parts := make([]string, len(args))
	size := int64(0)
	for i, arg := range args {
		s, err := r.said(arg)
		if err != nil {
			return "", err
		}
		if size += int64(len(s) + len(sep)); size > maxText {
			return "", errTooLong(size)
		}
		parts[i] = s
	}
	if err := r.alloc(size); err != nil {
		return "", err
	}
	return strings.Join(parts, sep), nil
}

func getattr(r *run, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var x, fallback starlark.Value
	var name string
	if err := starlark.UnpackPositionalArgs("getattr", args, kwargs, 2, &x, &name, &fallback); err != nil {
		return nil, err
	}
	v, err := r.attr(x, name)
	if err != nil && fallback != nil && r.trouble() == nil {
		return fallback, nil
	}
	return v, err
}

// collect returns the elements of an iterable in a new slice.
func (r *run) collect(name string, v starlark.Value) ([]starlark.Value, error) {
	iterable, ok := v.(starlark.Iterable)
	if !ok {
		return nil, fmt.Errorf("%s: found a value of type %s, expected a list", name, v.Type())
	}
	iter := metered{iterable, r, elemBytes}.Iterate()
	defer iter.Done()
	var list []starlark.Value
	var elem starlark.Value
	for iter.Next(&elem) {
		list = append(list, elem)
	}
	return list, r.trouble()
}

// keys returns what the values are compared by, once it is clear that comparing
// them takes no longer than it may.
func (r *run) keys(values []starlark.Value, key starlark.Callable) ([]starlark.Value, error) {
	keys := values
	if key != nil {
		keys = make([]starlark.Value, len(values))
		for i, v := range values {
			k, err := starlark.Call(r.thread, key, starlark.Tuple{v}, nil)
			if err != nil {
				return nil, err
			}
			keys[i] = k
		}
	}
	for _, k := range keys {
		cost := int64(1)
		if u, ok := k.(*unknown); ok {
			return nil, u.used("as what to order by")
		}
		if !scalar(k) {
			weight, err := r.weigh(k)
			if err != nil {
				return nil, err
			}
			cost += weight / 16
		}
		for n := len(keys); n > 1; n /= 2 { // each is compared about log n times
			if err := r.spend(cost); err != nil {
				return nil, err
			}
		}
	}
	return keys, nil
}

func extreme(name string, op syntax.Token) func(*run, starlark.Tuple, []starlark.Tuple) (starlark.Value, error) {
	return func(r *run, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		var key starlark.Callable
		if err := starlark.UnpackArgs(name, nil, kwargs, "key?", &key); err != nil {
			return nil, err
		}
		var values []starlark.Value
		switch {
		case len(args) == 0:
			return nil, fmt.Errorf("%s: found no argument, expected a list or values", name)
		case len(args) == 1:
			var err error
			if values, err = r.collect(name, args[0]); err != nil {
				return nil, err
			}
		default:
			values = args
		}
		if len(values) == 0 {
			return nil, fmt.Errorf("%s: found no elements, expected at least one", name)
		}
		keys, err := r.keys(values, key)
		if err != nil {
			return nil, err
		}
		best := 0
		for i := 1; i < len(keys) && r.trouble() == nil; i++ {
			better, err := starlark.Compare(op, keys[i], keys[best])
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			if better {
				best = i
			}
		}
		return values[best], nil
	}
}

func sorted(r *run, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var list starlark.Value
	var key starlark.Value
	var reverse bool
	if err := starlark.UnpackArgs("sorted", args, kwargs, "iterable", &list, "key??", &key, "reverse?", &reverse); err != nil {
		return nil, err
	}
	function, ok := key.(starlark.Callable)
	if key != nil && !ok {
		return nil, fmt.Errorf("sorted: found a key of type %s, expected a function", key.Type())
	}
	values, err := r.collect("sorted", list)
	if err != nil {
		return nil, err
	}
	if err := r.alloc(int64(len(values)) * 32); err != nil {
		return nil, err
	}
	keys, err := r.keys(values, function)
	if err != nil {
		return nil, err
	}
	s := &sorting{run: r, keys: keys, values: values, own: function == nil}
	if reverse {
		sort.Stable(sort.Reverse(s))
	} else {
		sort.Stable(s)
	}
	if s.err != nil {
		return nil, fmt.Errorf("sorted: %w", s.err)
	}
	return starlark.NewList(values), nil
}

type sorting struct {
	run          *run
	keys, values []starlark.Value
	own          bool // the keys are the values
	err          error
}

func (s *sorting) Len() int { return len(s.values) }

// Less compares until there is trouble.
func (s *sorting) Less(i, j int) bool {
	if s.err != nil {
		return false
	}
	less, err := starlark.Compare(syntax.LT, s.keys[i], s.keys[j])
	if err != nil {
		s.err = err
	} else if s.run.ctx.Err() != nil {
		s.err = s.run.trouble()
	}
	return less
}

// Swap swaps two values and their keys.
func (s *sorting) Swap(i, j int) {
	s.values[i], s.values[j] = s.values[j], s.values[i]
	if !s.own {
		s.keys[i], s.keys[j] = s.keys[j], s.keys[i]
	}
}

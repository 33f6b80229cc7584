package script

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"
)

// guards check a call of a method of one of the library's types before it runs.
// A method without a guard takes and makes no more than its receiver is.
var guards = map[string]func(r *run, recv starlark.Value, args starlark.Tuple) error{
	"string.capitalize": sameLength, "string.lower": sameLength, "string.upper": sameLength, "string.title": sameLength,
	"string.islower": sameLength, "string.isupper": sameLength,
	"string.replace":    replaced,
	"string.split":      pieces,
	"string.rsplit":     pieces,
	"string.splitlines": func(r *run, recv starlark.Value, _ starlark.Tuple) error { return r.split(recv, "\n") },

	"list.append": func(r *run, _ starlark.Value, _ starlark.Tuple) error { return r.alloc(elemBytes) },
	"list.insert": func(r *run, recv starlark.Value, _ starlark.Tuple) error {
		if err := r.spend(int64(starlark.Len(recv)) / 256); err != nil {
			return err
		}
		return r.alloc(elemBytes)
	},
	"list.index":  searched,
	"list.remove": searched,

	"dict.setdefault": func(r *run, _ starlark.Value, _ starlark.Tuple) error { return r.alloc(entryBytes) },
	"dict.update":     entries,
	"dict.items": func(r *run, recv starlark.Value, _ starlark.Tuple) error {
		return r.items(5 * int64(starlark.Len(recv)))
	},
	"dict.keys": func(r *run, recv starlark.Value, _ starlark.Tuple) error { return r.items(int64(starlark.Len(recv))) },
	"dict.values": func(r *run, recv starlark.Value, _ starlark.Tuple) error {
		return r.items(5 * int64(starlark.Len(recv)))
	},

	"set.add":                  func(r *run, _ starlark.Value, _ starlark.Tuple) error { return r.alloc(entryBytes) },
	"set.update":               entries,
	"set.union":                entries,
	"set.difference":           oneSet,
	"set.intersection":         oneSet,
	"set.symmetric_difference": oneSet,
	"set.issubset":             oneSet,
	"set.issuperset":           oneSet,
}

// instead are methods that this package has its own of.
var instead = map[string]func(r *run, recv starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error){
	"string.join":   join,
	"string.format": format,
	"list.extend": func(r *run, recv starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		var x starlark.Iterable
		if err := starlark.UnpackPositionalArgs("extend", args, kwargs, 1, &x); err != nil {
			return nil, err
		}
		_, err := r.extend(recv, x)
		return starlark.None, err
	},
	"list.pop": func(r *run, recv starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if err := r.spend(int64(starlark.Len(recv)) / 256); err != nil {
			return nil, err
		}
		return method0(recv, "pop", r, args, kwargs)
	},
}

// attr returns the attribute of a value. Methods of the library's types come
// behind their guards.
func (r *run) attr(x starlark.Value, name string) (starlark.Value, error) {
	switch x := x.(type) {
	case starlark.String, starlark.Bytes, *starlark.List, *starlark.Dict, *starlark.Set:
		raw, err := x.(starlark.HasAttrs).Attr(name)
		if err != nil {
			return nil, err
		}
		if raw == nil {
			return nil, noAttr(x.Type(), name, x.(starlark.HasAttrs).AttrNames())
		}
		return r.method(x, name), r.alloc(64)
	case starlark.HasAttrs:
		v, err := x.Attr(name)
		if err == nil && v == nil {
			names := x.AttrNames()
			switch x := x.(type) {
			case *record:
				names = x.shown()
			case *page:
				names = x.rec.shown()
			}
			err = noAttr(x.Type(), name, names)
		}
		return v, err
	}
	return nil, noAttr(x.Type(), name, nil)
}

// noAttr says that there is no such attribute, and what may have been meant.
func noAttr(kind, name string, names []string) error {
	text := fmt.Sprintf("found .%s, which a value of type %s does not have", short(name), kind)
	if hint := insteadOfAttr(kind, name); hint != "" {
		text += "; " + hint + ";"
	} else if hint := didYouMean(near(name, names)); hint != "" {
		text += "; " + hint
	} else {
		text += ";"
	}
	if len(names) == 0 {
		return errors.New(strings.TrimSuffix(text, ";"))
	}
	return errors.New(text + " it has " + listed(names))
}

// listed names the first of many.
func listed(names []string) string {
	const most = 20
	shown := make([]string, min(len(names), most))
	for i := range shown {
		shown[i] = short(names[i])
	}
	list := strings.Join(shown, ", ")
	if len(names) > most {
		list += fmt.Sprintf(" and %d more", len(names)-most)
	}
	return list
}

func (r *run) method(recv starlark.Value, name string) *builtin {
	kind := recv.Type() + "." + name
	own, guard := instead[kind], guards[kind]
	return &builtin{name: name, recv: recv, fn: func(r *run, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
		if s, ok := recv.(starlark.String); ok {
			if err := r.scan(s); err != nil {
				return nil, err
			}
		}
		if own != nil {
			return own(r, recv, args, kwargs)
		}
		if guard != nil {
			if err := guard(r, recv, args); err != nil {
				return nil, err
			}
		}
		return method0(recv, name, r, args, kwargs)
	}}
}

// method0 calls the library's method.
func method0(recv starlark.Value, name string, r *run, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	m, err := recv.(starlark.HasAttrs).Attr(name)
	if err != nil {
		return nil, err
	}
	v, err := m.(*starlark.Builtin).CallInternal(r.thread, args, kwargs)
	if err != nil {
		return nil, unknownIn(err, args...)
	}
	return v, r.tuples(v)
}

func sameLength(r *run, recv starlark.Value, _ starlark.Tuple) error {
	return r.text(int64(starlark.Len(recv)) * 3 / 2)
}

func replaced(r *run, recv starlark.Value, args starlark.Tuple) error {
	if len(args) < 2 {
		return nil
	}
	s, _ := starlark.AsString(recv)
	old, ok := starlark.AsString(args[0])
	with, ok2 := starlark.AsString(args[1])
	if !ok || !ok2 {
		return nil
	}
	n := int64(strings.Count(s, old))
	if len(args) > 2 {
		if most, err := starlark.AsInt32(args[2]); err == nil && most >= 0 {
			n = min(n, int64(most))
		}
	}
	return r.text(int64(len(s)) + n*int64(len(with)-len(old)))
}

// pieces counts what split makes. More pieces than there are cannot be asked for:
// the library makes room for as many as it is told.
func pieces(r *run, recv starlark.Value, args starlark.Tuple) error {
	if len(args) > 1 {
		if most, err := starlark.AsInt32(args[1]); err == nil && most > starlark.Len(recv) {
			args[1] = starlark.MakeInt(starlark.Len(recv))
		}
	}
	sep := ""
	if len(args) > 0 {
		sep, _ = starlark.AsString(args[0])
	}
	if err := r.split(recv, sep); err != nil {
		return err
	}
	if len(args) > 1 { // room is made for as many as were asked for, or the rest is joined
		most, _ := starlark.AsInt32(args[1])
		return r.alloc(16*int64(max(most, 0)) + int64(starlark.Len(recv)))
	}
	return nil
}

// split counts the pieces between separators, or between white space.
func (r *run) split(recv starlark.Value, sep string) error {
	s := string(recv.(starlark.String))
	n := 1
	if sep != "" {
		n += strings.Count(s, sep)
	} else {
		for range strings.FieldsSeq(s) {
			n++
		}
	}
	if err := r.spend(int64(n)); err != nil {
		return err
	}
	return r.alloc(int64(n) * 64)
}

func searched(r *run, recv starlark.Value, args starlark.Tuple) error {
	if len(args) == 0 {
		return nil
	}
	return r.search(args[0], starlark.Len(recv))
}

// entries counts what goes from the arguments into a dict or set.
func entries(r *run, recv starlark.Value, args starlark.Tuple) error {
	if err := r.alloc(dictBytes + entryBytes*int64(starlark.Len(recv))); err != nil {
		return err
	}
	for i := range args {
		var err error
		if args[i], err = r.counted(args[i], entryBytes); err != nil {
			return err
		}
	}
	return nil
}

func oneSet(r *run, recv starlark.Value, args starlark.Tuple) error {
	if len(args) != 1 {
		return fmt.Errorf("found %d arguments, expected one", len(args))
	}
	return entries(r, recv, args)
}

func join(r *run, recv starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var x starlark.Value
	if err := starlark.UnpackPositionalArgs("join", args, kwargs, 1, &x); err != nil {
		return nil, err
	}
	list, err := r.collect("join", x)
	if err != nil {
		return nil, err
	}
	sep := string(recv.(starlark.String))
	parts := make([]string, len(list))
	size := int64(0)
	for i, elem := range list {
		s, ok := starlark.AsString(elem)
		if !ok {
			if u, ok := elem.(*unknown); ok {
				return nil, u.used("in join")
			}
			return nil, fmt.Errorf("join: found a value of type %s at index %d, expected a string: use str(x)", elem.Type(), i)
		}
		parts[i] = s
		if size += int64(len(s) + len(sep)); size > maxText+int64(len(sep)) {
			return nil, errTooLong(size)
		}
	}
	if err := r.text(max(size-int64(len(sep)), 0)); err != nil {
		return nil, err
	}
	return starlark.String(strings.Join(parts, sep)), nil
}

// format counts the text that each field becomes. A field that names its argument
// may use it again and again.
func format(r *run, recv starlark.Value, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	text := string(recv.(starlark.String))
	size, auto := int64(len(text)), 0
	for rest := strings.ReplaceAll(text, "{{", ""); ; {
		_, after, found := strings.Cut(rest, "{")
		if !found {
			break
		}
		field, after, _ := strings.Cut(after, "}")
		rest = after
		name := field
		if i := strings.IndexAny(field, "!:"); i >= 0 {
			name = field[:i]
		}
		var arg starlark.Value
		if name == "" && auto < len(args) {
			arg = args[auto]
			auto++
		} else if i := slices.IndexFunc(kwargs, func(kv starlark.Tuple) bool { return string(kv[0].(starlark.String)) == name }); i >= 0 {
			arg = kwargs[i][1]
		} else if n, ok := digits(name); ok && n < len(args) {
			arg = args[n]
		}
		if arg == nil {
			continue // which the library reports
		}
		if s, ok := arg.(starlark.String); ok && !strings.Contains(field, "!r") {
			size += int64(len(s))
		} else {
			n, err := r.weigh(arg)
			if err != nil {
				return nil, err
			}
			size += n
		}
		if size > 4*maxText {
			return nil, errTooLong(size)
		}
	}
	if err := r.alloc(size); err != nil {
		return nil, err
	}
	v, err := method0(recv, "format", r, args, kwargs)
	if s, ok := v.(starlark.String); ok && len(s) > maxText {
		return nil, errTooLong(int64(len(s)))
	}
	return v, err
}

// digits reads a field's number.
func digits(s string) (n int, ok bool) {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' || n > 1<<20 {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, s != ""
}

package script

import (
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/starlark"

	"github.com/wipagent/wipagent/adapter"
)

// help prints what a value is and how it is used.
func help(r *run, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var x starlark.Value
	if err := starlark.UnpackArgs("help", args, kwargs, "x?", &x); err != nil {
		return nil, err
	}
	var text string
	var err error
	switch x := x.(type) {
	case nil:
		text = r.env.overview()
	case *object:
		text, err = r.helpEntry(x.path)
	case *method:
		text, err = r.helpEntry(x.of.path + "#" + x.op.Name)
	case starlark.String:
		text, err = r.helpEntry(string(x))
	case *builtin:
		text = x.name
		if x.doc != "" {
			text = x.doc
		}
	case *unknown:
		text = x.String() + ": nobody observed this. It is false and equals nothing; known(x) tells it from what is known."
	case starlark.HasAttrs:
		text = x.Type() + " with " + strings.Join(x.AttrNames(), ", ")
	default:
		text = x.Type()
	}
	if err != nil {
		return nil, err
	}
	if err := r.alloc(int64(len(text))); err != nil {
		return nil, err
	}
	r.out.line(text)
	return starlark.None, nil
}

// helpEntry says what can be done at a target of inspect.
func (r *run) helpEntry(target string) (string, error) {
	found, err := r.inspect(target)
	if err != nil {
		return "", err
	}
	r.trust(found)
	d := adapter.Describe(found)
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	title := expression(d.Path)
	if d.Title != "" {
		title += "  " + d.Title
	}
	line("%s", title)
	if d.Summary != "" && !found.Only {
		line("%s", d.Summary)
	}
	for _, iface := range d.Interfaces {
		for _, op := range iface.Operations {
			line("")
			line("%s%s", expression(d.Path), "."+op.Signature)
			for _, l := range strings.Split(op.Doc, "\n") {
				if l != "" {
					line("  %s", l)
				}
			}
			if op.Deprecated != "" {
				line("  deprecated: %s", op.Deprecated)
			}
			for _, p := range sortedKeys(op.Parameters) {
				line("  %s: %s", p, strings.ReplaceAll(op.Parameters[p], "\n", " "))
			}
			if op.Risk != "" {
				line("  %s, costs %d, at most %d ms and %d bytes", strings.ReplaceAll(op.Risk, "_", " "), op.Cost, op.Timeout, op.MaxOutput)
			}
			if op.Example != nil {
				line("  example: %s", methodCall(d.Path, op.Name, op.Example))
			}
		}
		if found.Only {
			for _, t := range iface.Types {
				line("")
				line("%s", t)
			}
		}
	}
	if len(d.Children) > 0 {
		line("")
	}
	for _, c := range d.Children {
		line("%s  %s", expression(c.Path), c.Title)
	}
	if d.Hint != "" {
		line("(%s)", d.Hint)
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// overview lists what every script finds.
func (e *Env) overview() string {
	var mounts, functions []string
	for _, name := range sortedKeys(e.globals) {
		switch v := e.globals[name].(type) {
		case *object:
			mounts = append(mounts, name)
		case *builtin:
			if v.doc != "" {
				functions = append(functions, v.doc)
			}
		case *module:
			for _, name := range v.AttrNames() {
				functions = append(functions, v.members[name].doc)
			}
		}
	}
	return "Entries: " + strings.Join(mounts, ", ") + ". help(x) tells what can be done at one; discover(\"what for\") finds others.\n" +
		"Operations are methods with named arguments: grid.region.nearby_avatars(radius_meters=20).\n\n" + strings.Join(functions, "\n")
}

// dir lists the names of attributes.
func dir(r *run, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	var x starlark.Value
	if err := starlark.UnpackArgs("dir", args, kwargs, "x?", &x); err != nil {
		return nil, err
	}
	var names []string
	switch x := x.(type) {
	case nil:
		for _, name := range sortedKeys(r.env.globals) {
			if !strings.HasPrefix(name, "$") {
				names = append(names, name)
			}
		}
	case *object:
		if _, err := x.found(); err != nil {
			return nil, err
		}
		names = x.AttrNames()
	case starlark.HasAttrs:
		names = slices.Clone(x.AttrNames())
	}
	slices.Sort(names)
	if err := r.items(2 * int64(len(names))); err != nil {
		return nil, err
	}
	list := make([]starlark.Value, len(names))
	for i, name := range names {
		list[i] = starlark.String(name)
	}
	return starlark.NewList(list), nil
}

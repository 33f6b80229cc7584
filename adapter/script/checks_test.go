package script

import (
	"slices"
	"strings"
	"testing"

	"go.starlark.net/starlark"
)

// harmless are the methods of the library that need no guard: what they take and
// make is no more than their receiver is, and scan pays for the look at it.
var harmless = strings.Fields(`
	bytes.elems
	dict.clear dict.get dict.pop dict.popitem
	list.clear
	set.clear set.discard set.pop set.remove
	string.codepoint_ords string.codepoints string.count string.elem_ords string.elems string.endswith string.find string.index
	string.isalnum string.isalpha string.isdigit string.isspace string.istitle string.lstrip string.partition string.removeprefix
	string.removesuffix string.rfind string.rindex string.rpartition string.rstrip string.startswith string.strip`)

// TestNothingUnchecked fails when the library has a builtin or method that nobody
// has looked at, and when a script can get hold of one without its check.
func TestNothingUnchecked(t *testing.T) {
	e := New(Config{})
	for name := range starlark.Universe {
		if e.globals[name] == nil {
			t.Errorf("the builtin %s of the library has no check", name)
		}
	}
	for name, v := range e.globals {
		switch v.(type) {
		case *builtin, *module, *object, starlark.Bool, starlark.NoneType:
		default:
			t.Errorf("%s is a %T", name, v)
		}
	}
	for _, m := range jsonModule.AttrNames() {
		if v, err := jsonModule.Attr(m); err != nil || v == nil {
			t.Errorf("json.%s is %v, %v", m, v, err)
		}
	}
	r, done := e.begin(t.Context())
	defer done()
	seen := map[string]bool{}
	for _, v := range []starlark.HasAttrs{starlark.String(""), starlark.Bytes(""), starlark.NewList(nil), starlark.NewDict(0), starlark.NewSet(0)} {
		for _, name := range v.AttrNames() {
			kind := v.Type() + "." + name
			seen[kind] = true
			if n := len(slices.DeleteFunc([]bool{guards[kind] != nil, instead[kind] != nil, slices.Contains(harmless, kind)}, func(b bool) bool { return !b })); n != 1 {
				t.Errorf("%s has %d checks, want one", kind, n)
			}
			m, err := r.attr(v, name)
			if _, ok := m.(*builtin); !ok || err != nil {
				t.Errorf("%s is a %T, %v", kind, m, err)
			}
		}
	}
	for kind := range guards {
		if !seen[kind] {
			t.Errorf("there is no method %s", kind)
		}
	}
	for kind := range instead {
		if !seen[kind] {
			t.Errorf("there is no method %s", kind)
		}
	}
	for _, kind := range harmless {
		if !seen[kind] {
			t.Errorf("there is no method %s", kind)
		}
	}
}

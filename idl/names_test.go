package idl_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/wipagent/wipagent/idl"
)

// TestBuiltinTypes declares a record of each name, which none may be.
func TestBuiltinTypes(t *testing.T) {
	names := idl.BuiltinTypes()
	if len(names) < 15 {
		t.Fatalf("got only %q", names)
	}
	for _, name := range names {
		_, err := idl.Compile(func(string) ([]byte, error) { return []byte("package a;\nrecord " + name + " { x: int; }\n"), nil }, "a.wip")
		if err == nil || !strings.Contains(err.Error(), "reserved-name") {
			t.Errorf("%s: got %v, want reserved-name", name, err)
		}
	}
}

// TestAnnotations writes each annotation on everything: it must be misplaced
// exactly where its targets say so.
func TestAnnotations(t *testing.T) {
	places := map[string]string{
		"interface": "@%s interface A { a(x: int) -> int; }",
		"operation": "interface A { @%s a(x: int) -> int; }",
		"param":     "interface A { a(@%s x: int) -> int; }",
		"record":    "@%s record A { x: int; }",
		"field":     "record A { @%s x: int; }",
		"enum":      "@%s enum A { x }",
	}
	list := idl.Annotations()
	if len(list) < 14 {
		t.Fatalf("got only %v", list)
	}
	for _, a := range list {
		for target, text := range places {
			src := "package a;\n" + strings.Replace(text, "%s", a.Name, 1)
			_, err := idl.Compile(func(string) ([]byte, error) { return []byte(src), nil }, "a.wip")
			misplaced := err != nil && strings.Contains(err.Error(), "annotation-target")
			if misplaced == slices.Contains(a.Targets, target) {
				t.Errorf("@%s on %s: got %v, want the targets %q", a.Name, target, err, a.Targets)
			}
		}
		twice := "package a;\ninterface A { @" + a.Name + ` @` + a.Name + " a(x: int) -> int; }"
		_, err := idl.Compile(func(string) ([]byte, error) { return []byte(twice), nil }, "a.wip")
		if again := err != nil && strings.Contains(err.Error(), "duplicate-annotation"); slices.Contains(a.Targets, "operation") && again == a.Repeated {
			t.Errorf("@%s twice: got %v, want repeated %t", a.Name, err, a.Repeated)
		}
	}
}

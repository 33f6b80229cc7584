package idl_test

import (
	"testing"

	"github.com/wipagent/wipagent/idl"
)

// An interface's @idempotent says nothing of an operation that states a change
// which the interface does not.
func TestIdempotenceOfChanges(t *testing.T) {
	for _, test := range []struct {
		shared, own string
		want        bool
	}{
		{"@read_only @idempotent", "", true},
		{"@read_only @idempotent", "@mutating", false},
		{"@read_only @idempotent", "@destructive", false},
		{"@read_only @idempotent", "@mutating @idempotent", true},
		{"@mutating @idempotent", "", true},
		{"@mutating @idempotent", "@mutating", true},
		{"@mutating @idempotent", "@destructive", false},
		{"@mutating @idempotent", "@read_only", true},
		{"@idempotent", "@mutating", false},
		{"@idempotent", "", true},
		{"", "@mutating", false},
	} {
		src := "package a;\n" + test.shared + " interface A { " + test.own + " a() -> int; }"
		docs, err := idl.Compile(func(string) ([]byte, error) { return []byte(src), nil }, "a.wip")
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		if got := docs[0].Interfaces[0].Operations[0].Idempotent; got != test.want {
			t.Errorf("%s: found idempotent %t, want %t", src, got, test.want)
		}
	}
}

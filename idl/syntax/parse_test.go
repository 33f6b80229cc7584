package syntax_test

import (
	"testing"

	"github.com/wipagent/wipagent/idl/syntax"
)

func TestParseMinimal(t *testing.T) {
	file, faults := syntax.Parse("a.wip", []byte("package a;\ninterface I { f(x: int = 1) -> list<list<text>>?; }\n"))
	if len(faults) > 0 {
		t.Fatalf("got %v, want no faults", faults)
	}
	if len(file.Decls) != 1 || file.Decls[0].DeclName().Name != "I" {
		t.Fatalf("got %v, want the interface I", file.Decls)
	}
}

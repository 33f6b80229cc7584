package lint_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/lint"
	"github.com/wipagent/wipagent/idl/syntax"
)

// BenchmarkLint lints a document of 10,000 lines.
func BenchmarkLint(b *testing.B) {
	var text strings.Builder
	text.WriteString("package large;\n")
	for i := range 500 {
		fmt.Fprintf(&text, `
/// The things of kind %[1]d, as a session has seen them.
@informational @read_only @idempotent
interface Things%[1]d {
  /// Things near the agent, nearest first.
  @alias("what is near %[1]d", "things around %[1]d")
  @example(radius_meters: 20)
  near_%[1]d(
    /// Search radius around the agent, in metres.
    radius_meters: float [0..256] = 96,
  ) -> list<Thing%[1]d> [..100];
}

/// One thing.
record Thing%[1]d {
  /// Metres above the ground.
  height: float;
  name: text;
}
`, i)
	}
	const name = "large.wip"
	src := []byte(text.String())
	docs, err := idl.Compile(idl.FSLoader(fstest.MapFS{name: &fstest.MapFile{Data: src}}), name)
	if err != nil {
		b.Fatal(err)
	}
	tree, _ := syntax.Parse(name, src)
	files := []*syntax.File{tree}
	if found := lint.Lint(docs, files, nil); len(found) > 0 {
		b.Fatalf("found %v", found[0])
	}
	b.ReportMetric(float64(strings.Count(text.String(), "\n")), "lines")
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		lint.Lint(docs, files, nil)
	}
}

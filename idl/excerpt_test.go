package idl_test

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/syntax"
)

// Of a long line what is near is shown, of a change in it too.
func TestLongLines(t *testing.T) {
	text, span := spanOf(strings.Repeat("é", 200) + "«tow»" + strings.Repeat("é", 200))
	d := syntax.Diagnostic{Rule: "rule", Message: "message", Span: span, Fixes: []syntax.Fix{{Title: "title", Edits: []syntax.Edit{{Span: span, Text: "two"}}}}}
	var b strings.Builder
	if err := idl.Render(&b, idl.ErrorList{d}, oneDocument("a.wip", text)); err != nil {
		t.Fatal(err)
	}
	before := "…" + strings.Repeat("é", 30)
	want := "   1 | " + before + "tow" + strings.Repeat("é", 48) + "…\n" +
		"     | " + strings.Repeat(" ", 31) + "^^^\n" +
		"  fix: title\n" +
		"   1 - " + before + "tow" + strings.Repeat("é", 47) + "…\n" +
		"   1 + " + before + "two" + strings.Repeat("é", 47) + "…\n"
	_, got, _ := strings.Cut(b.String(), "[rule]\n")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Text that is not UTF-8 is cut too.
func TestLongLinesOfBadBytes(t *testing.T) {
	text := strings.Repeat("\x80", 100_000)
	at := syntax.Pos{Offset: 50_000, Line: 1, Col: 50_001}
	d := syntax.Diagnostic{Span: syntax.Span{File: "a.wip", Start: at, End: at}}
	d.Fixes = []syntax.Fix{{Edits: []syntax.Edit{{Span: d.Span, Text: "x"}}}}
	var b strings.Builder
	if err := idl.Render(&b, idl.ErrorList{d}, oneDocument("a.wip", text)); err != nil {
		t.Fatal(err)
	}
	if b.Len() > 3000 {
		t.Errorf("found %d bytes, expected a cut line", b.Len())
	}
}

// What is said of a name as long as the document is cut in the middle.
func TestLongMessages(t *testing.T) {
	long := strings.Repeat("é", 500_000)
	d := syntax.Diagnostic{Rule: "rule", Message: "found name " + long + ", expected another", Hint: "write " + long,
		Span: syntax.Span{File: "a.wip"}, Related: []syntax.Related{{Message: "not " + long, Span: syntax.Span{File: "a.wip"}}}}
	var b strings.Builder
	if err := idl.Render(&b, idl.ErrorList{d}, nil); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	if len(got) > 2000 || !strings.Contains(got, "found name éé") || !strings.Contains(got, "é…é") || !strings.Contains(got, "é, expected another [rule]") {
		t.Errorf("found %d bytes: %.200q", len(got), got)
	}
}

// manyFaults returns faults at even distances in a text of one megabyte, each
// with a fix, and the text's loader.
func manyFaults(n int, line string) ([]syntax.Diagnostic, idl.Loader) {
	text := strings.Repeat(line, (1<<20)/len(line))
	list := make([]syntax.Diagnostic, n)
	for i := range list {
		offset := i * (len(text) / n)
		at := syntax.Pos{Offset: offset, Line: 1 + strings.Count(text[:offset], "\n"), Col: offset - strings.LastIndex(text[:offset], "\n")}
		end := at
		end.Offset, end.Col = at.Offset+4, at.Col+4
		span := syntax.Span{File: "a.wip", Start: at, End: end}
		list[i] = syntax.Diagnostic{Rule: "rule", Message: "message", Span: span,
			Fixes: []syntax.Fix{{Title: "title", Edits: []syntax.Edit{{Span: span, Text: "word"}}}}}
	}
	return list, oneDocument("a.wip", text)
}

// BenchmarkRenderLines shows that a fault costs the same in a document of one line.
func BenchmarkRenderLines(b *testing.B) {
	for name, line := range map[string]string{"lines": "import word word word;\n", "one_line": "import word word word; "} {
		list, source := manyFaults(1000, line)
		b.Run(fmt.Sprintf("%s/faults=%d", name, len(list)), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := idl.Render(io.Discard, list, source); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

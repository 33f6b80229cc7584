package syntax_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/idl/syntax"
)

func TestFormat(t *testing.T) {
	golden(t, "print", func(t *testing.T, src string) string {
		checkFormat(t, src)
		out, faults := syntax.Format("x.wip", []byte(src))
		if len(faults) > 0 {
			return "refused\n" + render(src, faults)
		}
		return string(out)
	})
}

// The repository's own documents are in the canonical form. Those that are
// the input of tests need not be.
func TestOwnDocuments(t *testing.T) {
	seen := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == "testdata":
			return fs.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".wip":
			return nil
		}
		seen++
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		out, faults := syntax.Format(path, src)
		if len(faults) > 0 {
			t.Errorf("got %v", faults[0])
		} else if diff := cmp.Diff(string(src), string(out)); diff != "" {
			t.Errorf("%s is not formatted (-is +want):\n%s", path, diff)
		}
		return nil
	})
	if err != nil || seen < 6 {
		t.Errorf("read %d documents: %v", seen, err)
	}
}

// A text that would exceed a limit once it is formatted is refused, since its
// result could not be formatted again.
func TestFormatLimits(t *testing.T) {
	list := func(n int) string { return "package a;\nenum A {\n" + strings.Repeat("a,\n", n-1) + "a}\n" }
	long := func(n int) string { return "package a;\n\n/*" + strings.Repeat(" ", n-29) + "*/\nenum A {\na }" }
	most := (syntax.MaxTokens - 6) / 2 // labels with a comma between each two of them
	tests := []struct {
		name, src string
		want      string // the rule
	}{
		{"no room for an indent", long(syntax.MaxSource), syntax.RuleTooLarge},
		{"room for an indent", long(syntax.MaxSource - 4), ""}, // two blanks, a comma and a line end
		{"no room for a comma", list(most), syntax.RuleTooLarge},
		{"too large already", strings.Repeat(" ", syntax.MaxSource+1), syntax.RuleTooLarge},
	}
	for _, tt := range tests {
		out, faults := syntax.Format("x.wip", []byte(tt.src))
		got := ""
		if len(faults) > 0 {
			got = faults[0].Rule
		}
		if got != tt.want || (out == nil) != (got != "") {
			t.Errorf("%s: got %d bytes and %v, want the rule %q", tt.name, len(out), faults, tt.want)
		}
	}
}

// Lines are as wide as they may be, and no wider.
func TestFormatWidths(t *testing.T) {
	for src, want := range map[string]int{
		"interface A { %s(a: int, b: int,) -> int; }":                          100,
		"interface A { %s(a: int) -> int; // not counted\n}":                   100,
		"interface A { /* c */ %s(a: int) -> /* d */ int; }":                   100,
		"enum E { another_label_in_here, %s, }":                                120,
		"enum E {\nanother_label_in_here, %s }":                                120,
		"enum E {\nanother_label_in_here, %s /* c */ }":                        120,
		"record R { a: %s; }":                                                  120,
		"record R { @derived %s: int; }":                                       120,
		"record R {\n@derived %s: int\n;}":                                     120,
		"record R {\n@derived %s: int // c\n;}":                                120,
		`interface A { @alias(another_label_in_here, %s) a() -> int; }`:        120,
		`interface A { @alias(another_label_in_here, %s,) a() -> int; }`:       120,
		"interface A { @alias(\nanother_label_in_here, %s) a() -> int; }":      120,
		"interface A { @alias(another_label_in_here, %s // c\n) a() -> int; }": 120,
		`interface A { @alias(a) @x(%s) a() -> int; }`:                         120,
		`interface A { @alias(a) @x(%s,) a() -> int; }`:                        120,
		"interface A { @alias(a) @x(%s,\nb) a() -> int; }":                     120,
		"interface A { a(/// d\n@param %s: int) -> int; }":                     120,
		"interface A { a(/// d\n@param %s: int,) -> int; }":                    120,
		"interface A { a(// d\n@param %s: int // c\n) -> int; }":               120,
	} {
		widest := 0
		for n := range want - 15 {
			out, _ := checkFormat(t, fmt.Sprintf("package a; "+src, strings.Repeat("n", n+1)))
			for line := range strings.Lines(out) {
				code, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " //")
				widest = max(widest, len(strings.TrimSuffix(code, " /* c */")))
			}
		}
		if widest != want {
			t.Errorf("the widest line for %q has %d characters, want %d", src, widest, want)
		}
	}
}

// checkFormat fails the test unless Format holds what it promises for any
// text: a faulty one is refused, any other gets a form that has the same tree
// and comments, and that is its own form. It returns that form.
func checkFormat(t fataler, src string) (string, bool) {
	t.Helper()
	tree, faults := syntax.Parse("x.wip", []byte(src))
	formatted, refusals := syntax.Format("x.wip", []byte(src))
	if len(faults) > 0 || len(refusals) > 0 {
		if formatted != nil || len(refusals) == 0 || len(faults) > 0 && !reflect.DeepEqual(faults, refusals) {
			t.Fatalf("got %q and the faults %v, want the faults %v for %q", formatted, refusals, faults, src)
		}
		return "", false
	}
	out := string(formatted)
	again, faults := syntax.Format("x.wip", formatted)
	if len(faults) > 0 || string(again) != out {
		t.Fatalf("the form of a form differs (-once +twice) %v:\n%s\nof %q", faults, cmp.Diff(out, string(again)), src)
	}
	after, _ := syntax.Parse("x.wip", formatted)
	if diff := cmp.Diff(tree, after, withoutSpans); diff != "" {
		t.Fatalf("the tree differs (-before +after):\n%s\nof %q:\n%s", diff, src, out)
	}
	sameComments(t, src, out)
	tidy(t, out)
	return out, true
}

// fataler is what tests and properties fail by.
type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

var withoutSpans = cmp.FilterPath(func(p cmp.Path) bool { return p.Last().Type() == reflect.TypeFor[syntax.Span]() }, cmp.Ignore())

// sameComments checks that comments are the same in the same order, doc
// comments and others each for themselves, and that a line comment which had
// its own line still has one.
func sameComments(t fataler, before, after string) {
	t.Helper()
	type comments struct{ Docs, Others []string }
	own := func(src string) (c comments, own []bool) {
		for _, found := range syntax.Comments("x.wip", []byte(src)) {
			text := found.Text
			for strings.Contains(text, "\r\n") {
				text = strings.ReplaceAll(text, "\r\n", "\n")
			}
			line := strings.HasPrefix(text, "//")
			if line {
				text = strings.TrimRight(text, " \t\r")
			}
			if strings.HasPrefix(text, "///") && !strings.HasPrefix(text, "////") {
				c.Docs = append(c.Docs, text)
				continue
			}
			c.Others = append(c.Others, text)
			own = append(own, line && found.Own)
		}
		return c, own
	}
	want, wantOwn := own(before)
	got, gotOwn := own(after)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("the comments differ (-before +after):\n%s\nof %q:\n%s", diff, before, after)
	}
	for i := range wantOwn {
		if wantOwn[i] && !gotOwn[i] {
			t.Fatalf("%q has no line of its own any more in %q:\n%s", want.Others[i], before, after)
		}
	}
}

// tidy checks what a form looks like outside of block comments.
func tidy(t fataler, out string) {
	t.Helper()
	for _, c := range slices.Backward(syntax.Comments("x.wip", []byte(out))) {
		if strings.HasPrefix(c.Text, "/*") {
			out = out[:c.Span.Start.Offset] + "/**/" + out[c.Span.End.Offset:]
		}
	}
	if !strings.HasSuffix(out, "\n") || strings.HasPrefix(out, "\n") || strings.HasSuffix(out, "\n\n") || strings.Contains(out, "\n\n\n") {
		t.Fatalf("the blank lines are not in order in %q", out)
	}
	for i, line := range strings.Split(out, "\n") {
		text := strings.TrimLeft(line, " ")
		if strings.TrimRight(line, " \t\r") != line || strings.HasPrefix(text, "\t") || (len(line)-len(text))%2 != 0 {
			t.Fatalf("line %d is not in order in %q", i+1, out)
		}
	}
}

// BenchmarkFormat formats a document of 10,000 lines.
func BenchmarkFormat(b *testing.B) {
	const lines = 10_000
	var doc strings.Builder
	doc.WriteString("package bench;\nversion 1;\n")
	for i, n := 0, 2; n < lines; i++ {
		text := fmt.Sprintf(`
// Set %d.
/// A set of operations.
@read_only @cost(1)
interface Set%d {
  /// Avatars near the agent, nearest first.
  @alias("who is here", "people around")
  nearby(
    /// Search radius around the agent, in metres.
    radius_meters: float [0..256] = 96, // at most a region's side
    page: int [1..1000] = 1,
    page_size: int [1..20] = 20,
  ) -> observed<fact<page<Avatar%d>>>;
}

/// One avatar.
record Avatar%d {
  avatar_id: uuid;
  name: fact<text>;
  @derived distance_meters: fact<float>;
}
`, i, i, i, i)
		doc.WriteString(text)
		n += strings.Count(text, "\n")
	}
	src := []byte(doc.String())
	b.SetBytes(int64(len(src)))
	b.ReportAllocs()
	for b.Loop() {
		if out, faults := syntax.Format("bench.wip", src); len(faults) > 0 || string(out) != doc.String() {
			b.Fatalf("got the faults %v, or another text", faults)
		}
	}
}

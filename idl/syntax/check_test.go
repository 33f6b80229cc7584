package syntax_test

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/idl/syntax"
)

// document is a valid document with every form of the language.
func document(tb testing.TB) string {
	tb.Helper()
	src, err := os.ReadFile("testdata/all.wip")
	if err != nil {
		tb.Fatal(err)
	}
	return string(src)
}

var ruleIDs = func() map[string]bool {
	ids := map[string]bool{}
	for _, r := range syntax.Rules() {
		ids[r.ID] = true
	}
	return ids
}()

var messageForm = regexp.MustCompile(`^found .*[^.]$`)

// check parses src and fails the test unless what comes back holds what Parse
// promises for any text.
func check(t *testing.T, src string) (*syntax.File, []syntax.Diagnostic) {
	t.Helper()
	c := newChecker(t, src)
	file, faults := syntax.Parse("x.wip", []byte(src))
	if file == nil {
		t.Fatalf("got no file for %q", src)
	}
	if len(faults) > syntax.MaxDiagnostics+1 {
		t.Errorf("got %d faults, want at most %d", len(faults), syntax.MaxDiagnostics+1)
	}
	if len(faults) == 1 && strings.HasSuffix(faults[0].Message, "something else") {
		t.Errorf("recovery finds no fault in %q", src)
	}
	last := 0
	seen := map[string]bool{}
	for _, d := range faults {
		if !ruleIDs[d.Rule] {
			t.Errorf("got the rule %q, which Rules does not list, for %q", d.Rule, src)
		}
		if !messageForm.MatchString(d.Message) || !utf8.ValidString(d.Message) || len(d.Message) > 400 {
			t.Errorf("got the message %q for %q", d.Message, src)
		}
		if d.Span.Start.Offset < last {
			t.Errorf("got %v behind offset %d for %q", d, last, src)
		}
		last = d.Span.Start.Offset
		if key := d.Error(); seen[key] {
			t.Errorf("got %v twice for %q", d, src)
		} else {
			seen[key] = true
		}
		c.span(d.Span)
		for _, r := range d.Related {
			c.span(r.Span)
		}
	}
	c.nodes(reflect.ValueOf(file), file.Span)
	if len(src) < 1<<14 && !slices.ContainsFunc(faults, func(d syntax.Diagnostic) bool { return d.Rule == syntax.RuleTooDeep }) {
		_, err := reference().ParseString("x.wip", src)
		if got, want := syntax.Matches("x.wip", src), err == nil && utf8.ValidString(src); got != want {
			t.Errorf("the parser matches %q: %v, the whole grammar: %v (%v)", src, got, want, err)
		}
	}
	if len(faults) == 0 {
		if !syntax.Matches("x.wip", src) {
			t.Errorf("got no fault for %q, which the grammar does not match", src)
		}
		pieces, more := syntax.ParsePieces("x.wip", []byte(src))
		if len(more) > 0 || !reflect.DeepEqual(file, pieces) {
			t.Errorf("recovery reads a valid text otherwise (-grammar +recovery):\n%.4000s%v\n%q", cmp.Diff(file, pieces), more, src)
		}
	}
	return file, faults
}

// checker knows where the lines of a text begin.
type checker struct {
	t     *testing.T
	src   string
	lines []int
}

func newChecker(t *testing.T, src string) *checker {
	c := &checker{t: t, src: src, lines: []int{0}}
	if strings.HasPrefix(src, "\ufeff") {
		c.lines[0] = 3
	}
	for i := range len(src) {
		if src[i] == '\n' {
			c.lines = append(c.lines, i+1)
		}
	}
	return c
}

// span checks that a span lies in the text and that its lines and columns
// agree with its offsets.
func (c *checker) span(s syntax.Span) {
	c.t.Helper()
	if s.File != "x.wip" || s.Start.Offset > s.End.Offset || s.End.Offset > len(c.src) {
		c.t.Errorf("got the span %+v in %q", s, c.src)
		return
	}
	for _, p := range []syntax.Pos{s.Start, s.End} {
		line := max(1, sort.SearchInts(c.lines, p.Offset+1))
		want := syntax.Pos{Offset: p.Offset, Line: line, Col: p.Offset - c.lines[line-1] + 1}
		if p.Offset == 0 {
			want.Col = 1 // before a byte order mark
		}
		if p != want {
			c.t.Errorf("got the position %+v, want %+v in %q", p, want, c.src)
		}
	}
}

// nodes checks that the spans of nodes lie within each other, and that names
// stand where they say.
func (c *checker) nodes(v reflect.Value, outer syntax.Span) {
	c.t.Helper()
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			c.nodes(v.Elem(), outer)
		}
	case reflect.Slice:
		for i := range v.Len() {
			c.nodes(v.Index(i), outer)
		}
	case reflect.Struct:
		if id, ok := v.Interface().(syntax.Ident); ok && id.Name != "" {
			if got := c.src[id.Span.Start.Offset:id.Span.End.Offset]; got != id.Name {
				c.t.Errorf("got the name %q where %q stands", id.Name, got)
			}
		}
		if f := v.FieldByName("Span"); f.IsValid() {
			span := f.Interface().(syntax.Span)
			if span == (syntax.Span{}) {
				return // a name that is missing
			}
			c.span(span)
			if span.Start.Offset < outer.Start.Offset || span.End.Offset > outer.End.Offset {
				c.t.Errorf("got %s at %+v outside of %+v in %q", v.Type(), span, outer, c.src)
			}
			outer = span
		}
		for i := range v.NumField() {
			if v.Type().Field(i).Name != "Span" {
				c.nodes(v.Field(i), outer)
			}
		}
	}
}

// dump prints a tree: fields that are not zero, spans as line:col-line:col.
func dump(v any) string {
	var b strings.Builder
	dumpValue(&b, reflect.ValueOf(v), "")
	return b.String()
}

func dumpValue(b *strings.Builder, v reflect.Value, indent string) {
	switch x := v.Interface().(type) {
	case syntax.Span:
		fmt.Fprintf(b, "%s\n", place(x))
		return
	case syntax.Ident:
		fmt.Fprintf(b, "%s %s\n", x.Name, place(x.Span))
		return
	case syntax.Value:
		kind := [...]string{"none", "string", "number", "quantity", "name"}[x.Kind]
		fmt.Fprintf(b, "%s %q %s %s\n", kind, x.Text, x.Unit, place(x.Span))
		return
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		dumpValue(b, v.Elem(), indent)
	case reflect.Slice:
		b.WriteString("\n")
		for i := range v.Len() {
			fmt.Fprintf(b, "%s- ", indent)
			dumpValue(b, v.Index(i), indent+"  ")
		}
	case reflect.Struct:
		fmt.Fprintf(b, "%s\n", v.Type().Name())
		for i := range v.NumField() {
			if f := v.Field(i); !f.IsZero() {
				fmt.Fprintf(b, "%s%s: ", indent, v.Type().Field(i).Name)
				dumpValue(b, f, indent+"  ")
			}
		}
	case reflect.String:
		fmt.Fprintf(b, "%q\n", v.String())
	default:
		fmt.Fprintf(b, "%v\n", v.Interface())
	}
}

func place(s syntax.Span) string {
	return fmt.Sprintf("%d:%d-%d:%d", s.Start.Line, s.Start.Col, s.End.Line, s.End.Col)
}

// render prints faults with the line that each is in.
func render(src string, faults []syntax.Diagnostic) string {
	var b strings.Builder
	lines := strings.Split(src, "\n")
	for _, d := range faults {
		fmt.Fprintf(&b, "%s %s\n  %s\n", place(d.Span), d.Rule, d.Message)
		line := strings.TrimRight(lines[d.Span.Start.Line-1], "\r")
		width := max(1, d.Span.End.Offset-d.Span.Start.Offset)
		if d.Span.End.Line > d.Span.Start.Line {
			width = 1
		}
		pad := strings.Map(func(r rune) rune {
			if r == '\t' {
				return r
			}
			return ' '
		}, line[:min(len(line), d.Span.Start.Col-1)])
		if len(line) < 100 {
			fmt.Fprintf(&b, "  | %s\n  | %s%s\n", line, pad, strings.Repeat("^", width))
		}
		if d.Hint != "" {
			fmt.Fprintf(&b, "  hint: %s\n", d.Hint)
		}
		for _, r := range d.Related {
			fmt.Fprintf(&b, "  see %s: %s\n", place(r.Span), r.Message)
		}
	}
	return b.String()
}

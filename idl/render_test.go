package idl_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/syntax"
)

// spanOf returns the span of the text between « and », and the text without
// them.
func spanOf(marked string) (string, syntax.Span) {
	before, rest, _ := strings.Cut(marked, "«")
	inside, after, _ := strings.Cut(rest, "»")
	text := before + inside + after
	at := func(offset int) syntax.Pos {
		head := text[:offset]
		return syntax.Pos{Offset: offset, Line: 1 + strings.Count(head, "\n"), Col: offset - strings.LastIndex(head, "\n")}
	}
	return text, syntax.Span{File: "a.wip", Start: at(len(before)), End: at(len(before) + len(inside))}
}

func TestExcerpts(t *testing.T) {
	for _, c := range []struct{ name, marked, want string }{
		{"plain", "one «two» three", "   1 | one two three\n     |     ^^^\n"},
		{"tab before", "\ta\t«b»", "   1 |     a   b\n     |         ^\n"},
		{"tab inside", "«a\tb»c", "   1 | a   bc\n     | ^^^^^\n"},
		{"wide", "日本«語»x", "   1 | 日本語x\n     |     ^^\n"},
		{"combining", "e\u0301«x»", "   1 | e\u0301x\n     |  ^\n"},
		{"emoji", "👩«x»", "   1 | 👩x\n     |   ^\n"},
		{"zero width", "a: int«» b", "   1 | a: int b\n     |       ^\n"},
		{"zero width at the end", "a: int«»", "   1 | a: int\n     |       ^\n"},
		{"empty text", "«»", "   1 |\n     | ^\n"},
		{"two lines", "a «b\n  c» d", "   1 | a b\n     |   ^\n   2 |   c d\n     |   ^\n"},
		{"many lines", "«a\nb\nc\n  de» f", "   1 | a\n     | ^\n ...\n   4 |   de f\n     |   ^^\n"},
		{"up to a line's start", "«a\n»b", "   1 | a\n     | ^\n"},
		{"carriage return", "«ab\r\ncd»\r\n", "   1 | ab\n     | ^^\n   2 | cd\n     | ^^\n"},
		{"controls", "a\x1b[31m«b»\u202ec", "   1 | a\ufffd[31mb\ufffdc\n     |       ^\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, span := spanOf(c.marked)
			var b strings.Builder
			err := idl.Render(&b, idl.ErrorList{{Rule: "rule", Message: "message", Span: span}}, oneDocument("a.wip", text))
			if err != nil {
				t.Fatal(err)
			}
			_, got, _ := strings.Cut(b.String(), "[rule]\n")
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestChangesAreShown(t *testing.T) {
	for _, c := range []struct{ name, marked, put, want string }{
		{"in a line", "one\n  «tow»;\nthree", "two", "   2 -   tow;\n   2 +   two;\n"},
		{"inserted", "one«»", ";", "   1 - one\n   1 + one;\n"},
		{"a line more", "one\n«»two\n", "and\n", "   2 + and\n"},
		{"a line less", "one\n«two\n»three\n", "", "   2 - two\n"},
		{"at the end", "one«»", "\ntwo\n", "   2 + two\n"},
		{"several lines", "«a\nb\nc»\n", "x", "   1 - a\n   2 - b\n   3 - c\n   1 + x\n"},
		{"many lines", "«a\nb\nc\nd\ne\nf\ng\nh»\n", "x", "   1 - a\n   2 - b\n   3 - c\n   4 - d\n   5 - e\n   6 - f\n ... and 2 lines more\n   1 + x\n"},
		{"tabs and wide characters", "\t«日»", "本", "   1 -     日\n   1 +     本\n"},
		{"controls", "«a»", "\x1b[0m", "   1 - a\n   1 + \ufffd[0m\n"},
		{"nothing", "«a»", "a", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, span := spanOf(c.marked)
			d := syntax.Diagnostic{Rule: "rule", Span: span, Fixes: []syntax.Fix{{Title: "title", Edits: []syntax.Edit{{Span: span, Text: c.put}}}}}
			var b strings.Builder
			if err := idl.Render(&b, idl.ErrorList{d}, oneDocument("a.wip", text)); err != nil {
				t.Fatal(err)
			}
			_, got, ok := strings.Cut(b.String(), "  fix: title\n")
			if diff := cmp.Diff(c.want, got); !ok || diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// Edits that are far apart are shown apart, and those of another version of
// the text not at all.
func TestChangesOfSeveralPlaces(t *testing.T) {
	text, first := spanOf("«a»\nb\nc\nd\n")
	_, last := spanOf("a\nb\nc\n«d»\n")
	_, beyond := spanOf(text + "more\n«more»")
	show := func(edits ...syntax.Edit) string {
		d := syntax.Diagnostic{Rule: "rule", Span: first, Fixes: []syntax.Fix{{Title: "title", Edits: edits}}}
		var b strings.Builder
		if err := idl.Render(&b, idl.ErrorList{d}, oneDocument("a.wip", text)); err != nil {
			t.Fatal(err)
		}
		_, got, _ := strings.Cut(b.String(), "  fix: title\n")
		return got
	}
	if got, want := show(syntax.Edit{Span: last, Text: "y"}, syntax.Edit{Span: first, Text: "x"}), "   1 - a\n   1 + x\n   4 - d\n   4 + y\n"; got != want {
		t.Errorf("showed\n%s\nwant\n%s", got, want)
	}
	if got := show(syntax.Edit{Span: beyond, Text: "x"}); got != "" {
		t.Errorf("showed\n%s\nof an edit beyond the text", got)
	}
}

func TestColours(t *testing.T) {
	text, span := spanOf("one «tow»")
	list := idl.ErrorList{
		{Rule: "rule", Message: "message", Span: span, Hint: "hint", Related: []syntax.Related{{Span: span, Message: "here"}},
			Fixes: []syntax.Fix{{Title: "title", Edits: []syntax.Edit{{Span: span, Text: "two"}}}}},
		{Rule: "other", Severity: syntax.Warning, Message: "message", Span: span},
	}
	render := func(color bool) string {
		var b strings.Builder
		r := idl.Renderer{Source: oneDocument("a.wip", text), Color: color}
		if err := r.Render(&b, list); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	plain, colored := render(false), render(true)
	if strings.Contains(plain, "\x1b") {
		t.Errorf("wrote colours:\n%q", plain)
	}
	for _, part := range []string{"\x1b[1;31merror\x1b[0m", "\x1b[1;33mwarning\x1b[0m", "\x1b[1;31m^^^\x1b[0m", "\x1b[1;33m^^^\x1b[0m", "\x1b[31mone tow\x1b[0m", "\x1b[32mone two\x1b[0m"} {
		if !strings.Contains(colored, part) {
			t.Errorf("wrote no %q:\n%q", part, colored)
		}
	}
	var bare strings.Builder
	for _, part := range strings.Split(colored, "\x1b[") {
		if _, rest, ok := strings.Cut(part, "m"); ok && bare.Len() > 0 {
			part = rest
		}
		bare.WriteString(part)
	}
	if diff := cmp.Diff(plain, strings.TrimPrefix(bare.String(), "1m")); diff != "" {
		t.Errorf("the text differs with colours (-plain +coloured)\n%s", diff)
	}
}

package project_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/idl/project"
)

// Documents without documentation, to be silenced.
func TestSuppressions(t *testing.T) {
	const head = "package a;\n"
	for _, c := range []struct {
		name, text string
		want       []string // of all warnings
	}{
		{"none", "record A { x: bool; }", []string{"2:8 doc-missing"}},
		{"on the line before", "//wip:ignore doc-missing for a test\nrecord A { x: bool; }", nil},
		{"before a blank line", "//wip:ignore doc-missing for a test\n\nrecord A { x: bool; }", nil},
		{"at the end of the line", "record A { x: bool; } //wip:ignore doc-missing for a test", nil},
		{"at the end of the line of its name", "record A { //wip:ignore doc-missing for a test\n  x: bool;\n}", nil},
		{"on the line behind", "record A { x: bool; }\n//wip:ignore doc-missing for a test", []string{"2:8 doc-missing", "3:1 unused-suppression"}},
		{"only the next", "//wip:ignore doc-missing for a test\nrecord A { x: bool; }\nrecord B { x: bool; }", []string{"4:8 doc-missing"}},
		{"all in the next", "/// Bs.\n//wip:ignore member-case for a test\nrecord B {\n  xA: bool;\n  yA: bool;\n}", nil},
		{"one member", "/// Bs.\nrecord B {\n  //wip:ignore member-case for a test\n  xA: bool;\n  yA: bool;\n}", []string{"6:3 member-case"}},
		{"a member at the line's end", "/// Bs.\nrecord B {\n  xA: bool; //wip:ignore member-case for a test\n  yA: bool;\n}", []string{"5:3 member-case"}},
		{"an operation of several lines", "/// As.\ninterface A {\n  /// Looks.\n  @read_only look(\n    xA: bool,\n    yA: bool,\n  ) -> int; //wip:ignore member-case for a test\n}",
			[]string{"5:14 alias-missing", "5:14 doc-restates", "5:14 example-missing", "6:5 doc-missing", "7:5 doc-missing"}},
		{"a member behind its annotations", "/// Bs.\nrecord B {\n  @derived\n  //wip:ignore member-case for a test\n  xA: bool;\n}", nil},
		{"a label", "/// Es.\nenum E {\n  //wip:ignore member-case for a test\n  North,\n  South,\n}", []string{"6:3 member-case"}},
		{"two rules", "//wip:ignore doc-missing for a test\n//wip:ignore declaration-case for a test\nrecord a { x: bool; }", nil},
		{"among doc comments", "/// Bs.\n//wip:ignore declaration-case for a test\n/// Many.\nrecord b { x: bool; }", nil},
		{"another rule", "//wip:ignore doc-long for a test\nrecord A { x: bool; }", []string{"2:1 unused-suppression", "3:8 doc-missing"}},
		{"twice", "//wip:ignore doc-missing for a test\n//wip:ignore doc-missing for a test\nrecord A { x: bool; }", nil},
		{"a clause", "//wip:ignore doc-missing for a test\nversion 2;\n/// As.\nrecord A { x: bool; }", []string{"2:1 unused-suppression"}},
		{"no reason", "//wip:ignore doc-missing\nrecord A { x: bool; }", []string{"2:1 bad-suppression", "3:8 doc-missing"}},
		{"no rule", "//wip:ignore\nrecord A { x: bool; }", []string{"2:1 bad-suppression", "3:8 doc-missing"}},
		{"an unknown rule", "//wip:ignore doc-mising for a test\nrecord A { x: bool; }", []string{"2:1 bad-suppression", "3:8 doc-missing"}},
		{"an error's rule", "//wip:ignore unknown-type for a test\nrecord A { x: it; }", []string{"2:1 bad-suppression", "3:15 unknown-type"}},
		{"a suppression's rule", "//wip:ignore unused-suppression for a test\n/// As.\nrecord A { x: bool; }", []string{"2:1 bad-suppression"}},
		{"a blank before it", "// wip:ignore doc-missing for a test\nrecord A { x: bool; }", []string{"2:1 bad-suppression", "3:8 doc-missing"}},
		{"a block comment", "/* wip:ignore doc-missing for a test */\nrecord A { x: bool; }", []string{"2:1 bad-suppression", "3:8 doc-missing"}},
		{"longer words", "//wip:ignored doc-missing for a test\n/// As, see //wip:ignore.\nrecord A { x: bool; }", []string{"2:1 bad-suppression"}},
		{"nothing is unused in what is not linted", "//wip:ignore doc-missing for a test\n/// As.\nrecord A { x: it; }", []string{"4:15 unknown-type"}},
		{"carriage returns", "//wip:ignore doc-missing for a test\r\nrecord A { x: bool; }\r\n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &project.Project{Root: t.TempDir()}
			got := found(t, p, map[string][]byte{"a.wip": []byte(head + c.text + "\n")}, "a.wip")
			for i := range got {
				got[i] = strings.TrimPrefix(got[i], "a.wip:")
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("in %s (-want +got)\n%s", c.text, diff)
			}
		})
	}
}

func TestSuppressionsAndLevels(t *testing.T) {
	const text = "package a;\n//wip:ignore doc-missing for a test\nrecord A { x: bool; }\n"
	for _, c := range []struct {
		level string
		want  []string
	}{
		{"warning", nil},
		{"off", nil},
		{"error", nil}, // the reason is given, which is what the level asks for
	} {
		dir := tree(t, map[string]string{"a.wip": text, "wip.toml": "[lint.rules]\ndoc-missing = \"" + c.level + "\"\n"})
		if diff := cmp.Diff(c.want, found(t, open(t, dir), nil)); diff != "" {
			t.Errorf("at level %s (-want +got)\n%s", c.level, diff)
		}
	}
}

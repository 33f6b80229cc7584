package project_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/wipagent/wipagent/idl/project"
	"github.com/wipagent/wipagent/idl/syntax"
)

// A comment silences what it did once the document is formatted.
func TestSuppressionsAndFormat(t *testing.T) {
	const head = "package a;\n"
	for name, text := range map[string]string{
		"a broken operation": `/// Doors.
interface Doors {
  /// Finds.
  @read_only
  find(wordsToLookFor: string, howManyAtMost: int, whetherOpenOnesOnly: bool, andOneMore: int) -> int; //wip:ignore member-case for a test
}`,
		"a broken record":      `record A { x: bool; y: bool; andAnotherFieldThatTakesALotOfRoom: list<map<string>>; andAnotherFieldThatTakesRoom: list<map<string>>; } //wip:ignore doc-missing for a test`,
		"an interface's end":   "interface A { @read_only a() -> int; } //wip:ignore doc-missing for a test",
		"the last of two":      "/// As.\nrecord A { xA: bool; yA: bool; //wip:ignore member-case for a test\n}",
		"the first of a block": "/// As.\nrecord A { xA: bool; //wip:ignore member-case for a test\n yA: bool; }",
		"a parameter":          "/// As.\ninterface A {\n  /// B.\n  @read_only bC(xA: bool, //wip:ignore member-case for a test\n yA: bool) -> int; }",
		"before a semicolon":   "/// As.\nrecord A { xA: bool //wip:ignore member-case for a test\n; yA: bool; }",
		"before a brace":       "/// As.\nrecord A\n//wip:ignore member-case for a test\n{ xA: bool; yA: bool; }",
	} {
		t.Run(name, func(t *testing.T) { sameWarnings(t, head+text+"\n") })
	}
}

type fataler interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// sameWarnings formats a document and compares what is found before and after.
func sameWarnings(t fataler, text string) (found []string) {
	t.Helper()
	formatted, faults := syntax.Format("a.wip", []byte(text))
	if len(faults) > 0 {
		t.Fatalf("%v in\n%s", faults[0], text)
	}
	var results [2][]string
	for i, text := range []string{text, string(formatted)} {
		r, err := (&project.Project{Root: "/nowhere"}).Check(map[string][]byte{"a.wip": []byte(text)}, "a.wip")
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range r.Diagnostics {
			if d.Severity == syntax.Error {
				t.Fatalf("%v in\n%s", d, text)
			}
			results[i] = append(results[i], d.Rule+": "+d.Message)
		}
		slices.Sort(results[i])
	}
	if diff := cmp.Diff(results[0], results[1]); diff != "" {
		t.Fatalf("formatting changes what is found (-before +after)\n%s\nin\n%s\nwhich becomes\n%s", diff, text, formatted)
	}
	return results[0]
}

// silencer generates documents without errors, much to warn of, and comments
// that silence warnings between any tokens.
type silencer struct {
	t *rapid.T
	b strings.Builder
	n int // names so far
}

func (s *silencer) pick(words ...string) string { return rapid.SampledFrom(words).Draw(s.t, "word") }

func (s *silencer) roll(n int) int { return rapid.IntRange(0, n-1).Draw(s.t, "roll") }

// put writes tokens, each before a gap.
func (s *silencer) put(tokens ...string) {
	for _, token := range tokens {
		s.b.WriteString(token)
		switch s.roll(8) {
		case 0:
			s.b.WriteString(s.pick("\n", "\n\n", " "))
			s.comment()
		case 1, 2:
			s.b.WriteString("\n")
		default:
			s.b.WriteString(" ")
		}
	}
}

func (s *silencer) comment() {
	for range 1 + s.roll(2) {
		if s.roll(4) == 0 {
			s.b.WriteString(s.pick("/* in */", "// plain\n", "/* on\n two */ ", "/* a */\n"))
			continue
		}
		fmt.Fprintf(&s.b, "//wip:ignore %s for a test%s", s.pick("doc-missing", "member-case", "declaration-case", "unbounded-list", "risk-unstated", "no-rule"), s.pick("\n", "\n\n", "\r\n"))
	}
}

func (s *silencer) doc() {
	if s.roll(3) == 0 {
		s.b.WriteString(s.pick("\n/// A doc.\n", "\n/// A doc\n/// of two lines.\n"))
	}
}

func (s *silencer) name(forms ...string) string {
	s.n++
	return s.pick(forms...) + fmt.Sprint(s.n)
}

func (s *silencer) member() string {
	return s.name("a", "bC", "a_name_that_takes_room", "aNameThatTakesAsMuch")
}

func (s *silencer) typ() {
	switch s.roll(4) {
	case 0:
		s.put("list", "<", "string", ">")
	case 1:
		s.put("int", "[", "1", "..", "20", "]")
	default:
		s.put(s.pick("int", "string", "bool"))
	}
}

func (s *silencer) document() string {
	s.put("package", "a", ";")
	for range 1 + s.roll(3) {
		s.doc()
		switch name := s.name("A", "b", "c_d"); s.roll(3) {
		case 0:
			s.put("interface", name, "{")
			for range 1 + s.roll(3) {
				s.operation()
			}
		case 1:
			s.put("record", name, "{")
			for range 1 + s.roll(4) {
				s.doc()
				s.put(s.member(), ":")
				s.typ()
				s.put(";")
			}
		default:
			s.put("enum", name, "{")
			for range 1 + s.roll(4) {
				s.doc()
				s.put(s.member(), ",")
			}
		}
		s.put("}")
	}
	return s.b.String()
}

func (s *silencer) operation() {
	s.doc()
	if s.roll(2) == 0 {
		s.put("@", "alias", "(", `"one"`, ",", `"two"`, ")", "@", "read_only")
		s.doc()
	}
	s.put(s.member(), "(")
	for i := range s.roll(4) {
		if i > 0 {
			s.put(",")
		}
		s.doc()
		s.put(s.member(), ":")
		s.typ()
	}
	s.put(")", "->")
	s.typ()
	s.put(";")
}

// Formatting never changes what is found, wherever warnings are silenced.
func TestFormatKeepsWarnings(t *testing.T) {
	documents, silenced, warned := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		for range 3 {
			text := (&silencer{t: t}).document()
			found := sameWarnings(t, text)
			documents++
			warned += len(found)
			ignored := strings.Count(text, "//wip:ignore") - strings.Count(strings.Join(found, "\n"), "-suppression: ")
			silenced += ignored
		}
	})
	if !t.Failed() && (silenced < documents/4 || warned < documents) {
		t.Errorf("found %d warnings and %d comments that silence some in %d documents, want more", warned, silenced, documents)
	}
}

package idl_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/syntax"
)

func ExampleCompile() {
	files := fstest.MapFS{"door.wip": {Data: []byte(`package house;

/// A door of the house.
interface Door {
  @mutating @example(angle: 45)
  open(angle: int [0..90] = 90) -> DoorState;
}

enum DoorState { open, ajar, closed }
`)}}
	docs, err := idl.Compile(idl.FSLoader(files), "door.wip")
	if err != nil {
		fmt.Println(err)
		return
	}
	open := docs[0].Interface("Door").Operation("open")
	fmt.Println(open.Signature())
	_, enums := open.Types()
	fmt.Println(enums[0])
	// Output:
	// open(angle: int [0..90] = 90) -> DoorState
	// enum DoorState { open, ajar, closed }
}

func ExampleRender() {
	files := fstest.MapFS{"door.wip": {Data: []byte(`package house;

interface Door {
  open(angle: int [0..90] = 95) -> Stat;
}

enum State { open, closed }
`)}}
	load := idl.FSLoader(files)
	_, err := idl.Compile(load, "door.wip")
	var list idl.ErrorList
	if errors.As(err, &list) {
		if err := idl.Render(os.Stdout, list, load); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// door.wip:4:29: error: found 95, expected 0 to 90 [value-range]
	//    4 |   open(angle: int [0..90] = 95) -> Stat;
	//      |                             ^^
	//
	// door.wip:4:36: error: found unknown type "Stat" [unknown-type]
	//    4 |   open(angle: int [0..90] = 95) -> Stat;
	//      |                                    ^^^^
	//   hint: did you mean "State"?
	//    4 -   open(angle: int [0..90] = 95) -> Stat;
	//    4 +   open(angle: int [0..90] = 95) -> State;
}

type brokenWriter struct{}

var errBroken = errors.New("pipe is closed")

func (brokenWriter) Write([]byte) (int, error) { return 0, errBroken }

func TestRenderReturnsTheWritersError(t *testing.T) {
	if err := idl.Render(brokenWriter{}, idl.ErrorList{{Rule: "x"}}, nil); !errors.Is(err, errBroken) {
		t.Errorf("returned %v", err)
	}
}

// Spans may come from a text that has changed since.
func TestRenderOfForeignSpans(t *testing.T) {
	at := func(line, col, endLine, endCol int) syntax.Span {
		return syntax.Span{File: "a.wip", Start: syntax.Pos{Line: line, Col: col}, End: syntax.Pos{Line: endLine, Col: endCol}}
	}
	load := oneDocument("a.wip", "one\r\n日本\n")
	for _, c := range []struct {
		name   string
		span   syntax.Span
		load   idl.Loader
		expect string
	}{
		{"whole", at(1, 1, 1, 4), load, "   1 | one\n     | ^^^\n"},
		{"over the end", at(1, 3, 1, 40), load, "   1 | one\n     |   ^\n"},
		{"empty", at(1, 4, 1, 4), load, "   1 | one\n     |    ^\n"},
		{"several lines", at(1, 2, 2, 4), load, "   1 | one\n     |  ^^\n   2 | 日本\n     | ^^\n"},
		{"up to the start of a line", at(1, 2, 2, 1), load, "   1 | one\n     |  ^^\n"},
		{"backwards", at(1, 3, 1, 1), load, "   1 | one\n     |   ^\n"},
		{"within a character", at(2, 2, 2, 4), load, ""},
		{"no such line", at(9, 1, 9, 2), load, ""},
		{"no position", at(0, 0, 0, 0), load, ""},
		{"no text", at(1, 1, 1, 4), nil, ""},
		{"text is gone", at(1, 1, 1, 4), oneDocument("b.wip", ""), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b strings.Builder
			if err := idl.Render(&b, idl.ErrorList{{Rule: "rule", Message: "message", Span: c.span}}, c.load); err != nil {
				t.Fatal(err)
			}
			_, excerpt, _ := strings.Cut(b.String(), "[rule]\n")
			if c.expect != "" && excerpt != c.expect {
				t.Errorf("rendered\n%s\nexpected\n%s", excerpt, c.expect)
			}
			if c.expect == "" && c.name != "within a character" && excerpt != "" {
				t.Errorf("rendered\n%s\nexpected no excerpt", excerpt)
			}
		})
	}
}

func TestErrorListIsCut(t *testing.T) {
	var list idl.ErrorList
	for i := range 30 {
		list = append(list, syntax.Diagnostic{Rule: "rule", Message: fmt.Sprint("message ", i)})
	}
	lines := strings.Split(list.Error(), "\n")
	if len(lines) != 21 || lines[20] != "and 10 more" {
		t.Errorf("wrote %d lines, the last is %q", len(lines), lines[len(lines)-1])
	}
	if len(list.Unwrap()) != 30 {
		t.Errorf("unwrapped to %d faults", len(list.Unwrap()))
	}
}

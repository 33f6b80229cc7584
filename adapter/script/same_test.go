package script_test

import (
	"strings"
	"testing"
	"time"
	"unicode"

	"go.starlark.net/starlark"
	"go.starlark.net/syntax"
	"pgregory.net/rapid"

	"github.com/wipagent/wipagent/adapter/script"
)

// natively runs a script as the library does, without any check.
func natively(src string) (string, error) {
	var out strings.Builder
	thread := &starlark.Thread{Print: func(_ *starlark.Thread, s string) { out.WriteString(s + "\n") }}
	thread.SetMaxExecutionSteps(100_000)
	options := &syntax.FileOptions{Set: true, While: true, TopLevelControl: true, GlobalReassign: true}
	_, err := starlark.ExecFileOptions(options, thread, "x", src, nil)
	return strings.Map(func(c rune) rune { // what is printed here obeys no terminal
		if c != '\n' && c != '\t' && unicode.IsControl(c) {
			return unicode.ReplacementChar
		}
		return c
	}, out.String()), err
}

// program draws a small script in the whole language but for what this package
// changes on purpose.
func program(t *rapid.T) string {
	var expr func(depth int) string
	pick := func(list ...string) string { return rapid.SampledFrom(list).Draw(t, "pick") }
	expr = func(depth int) string {
		if depth == 0 {
			return pick("0", "1", "-3", "7", "2.5", "True", "None", `""`, `"ab"`, `"a,b"`, `"%s"`, "[]", "[1, 2]", "(1, 2)", "()", "{}", `{"a": 1}`, "set([1])", `b"x"`, "x", "y", "z", "range(3)", "12345678901234567890")
		}
		e := func() string { return expr(depth - 1) }
		switch rapid.IntRange(0, 13).Draw(t, "form") {
		case 0, 1, 2:
			return "(" + e() + " " + pick("+", "-", "*", "%", "//", "/", "|", "&", "^", "<<", ">>", "==", "!=", "<", ">=", "in", "not in", "and", "or") + " " + e() + ")"
		case 3:
			return pick("-", "+", "~", "not ") + e()
		case 4:
			return e() + "[" + e() + "]"
		case 5:
			return e() + pick("[:1]", "[1:]", "[::2]", "[::-1]", "[-1:]")
		case 6:
			return pick("len", "str", "repr", "list", "tuple", "sorted", "reversed", "set", "dict", "bool", "int", "type", "max", "min", "any", "all", "enumerate", "abs", "float", "bytes") + "(" + e() + ")"
		case 7:
			return e() + "." + pick("upper", "split", "keys", "items", "values", "title", "strip", "splitlines", "elems", "isalpha", "pop", "popitem", "copy", "lower", "capitalize") + "()"
		case 8:
			return e() + "." + pick("join", "split", "append", "extend", "index", "count", "get", "format", "update", "add", "union", "intersection", "remove", "startswith", "find", "partition", "rsplit", "setdefault") + "(" + e() + ")"
		case 9:
			return "[" + e() + " for " + pick("x", "i", "x, y") + " in " + e() + pick("", " if x") + "]"
		case 10:
			return "{" + e() + ": " + e() + " for y in " + e() + "}"
		case 11:
			return "(lambda x, *a, y=" + e() + ", **k: (x, y, a, k))(" + e() + pick("", ", 1", ", y=2", ", *[1, 2]", ", **{\"q\": 1}") + ")"
		case 12:
			return "(" + e() + " if " + e() + " else " + e() + ")"
		default:
			return pick("[", "(") + e() + ", " + e() + ", *" + e()
		}
	}
	var b strings.Builder
	b.WriteString("x = 1\ny = [1, 2]\nz = {\"a\": [1]}\n")
	for range rapid.IntRange(1, 4).Draw(t, "statements") {
		e := func() string { return expr(rapid.IntRange(0, 3).Draw(t, "depth")) }
		switch rapid.IntRange(0, 6).Draw(t, "statement") {
		case 0, 1:
			b.WriteString("print(" + e() + ")\n")
		case 2:
			b.WriteString(pick("x", "y", "z", "y[0]", `z["a"]`, `z["b"]`) + pick(" = ", " += ", " -= ", " *= ", " |= ", " %= ", " //= ") + e() + "\n")
		case 3:
			b.WriteString(pick("x, y", "[x, y]", "y[0], x", "(x, (y, z))") + " = " + e() + "\n")
		case 4:
			b.WriteString("for " + pick("i", "x, i", "y[0]") + " in " + e() + ":\n    print(" + e() + ")\n")
		case 5:
			b.WriteString("def f(a, b=" + e() + ", *c, **d):\n    return " + pick("a", "(a, b, c, d)", "[a, x]", "c + (1,)") + "\nprint(f(" + e() + pick("", ", 2, 3", ", q=1") + "))\n")
		case 6:
			b.WriteString("if " + e() + ":\n    print(1)\nelse:\n    x = " + e() + "\n")
		}
	}
	b.WriteString("print(x, y, z)\n")
	return b.String()
}

// TestSameLanguage compares what scripts print here with what they print in the
// library, which knows no limits: the checks must change nothing else.
func TestSameLanguage(t *testing.T) {
	c, _ := grid(t)
	failed, all := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		src := program(t)
		want, wantErr := natively(src)
		var out strings.Builder
		e := script.New(script.Config{Client: c, Principal: owner, Output: &out, Limits: script.Limits{Time: time.Minute}})
		err := e.Run(t.Context(), "x", []byte(src))
		all++
		if wantErr != nil {
			failed++
		}
		if (err == nil) != (wantErr == nil) || out.String() != want {
			t.Fatalf("%s\nhere:\n%s%v\nin the library:\n%s%v", src, out.String(), err, want, wantErr)
		}
	})
	t.Logf("%d of %d scripts failed", failed, all)
}

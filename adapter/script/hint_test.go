package script_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/wipagent/wipagent/adapter/script"
	"github.com/wipagent/wipagent/client/policy"
)

// TestOtherLanguages runs what people and models write who know Python better, and
// looks for what is to be written instead.
func TestOtherLanguages(t *testing.T) {
	c, _ := grid(t)
	for _, test := range []struct{ src, want string }{
		{"import math", "there is nothing to import"},
		{"x = 1\nfrom math import floor", "there is nothing to import"},
		{"```python\nprint(1)\n```", "without ``` around it"},
		{"print(1)\n```", "without ``` around it"},
		{"try:\n  x = 1\nexcept Exception as e:\n  x = 2", "attempt(f, x=1)"},
		{"raise ValueError('x')", `fail("why")`},
		{"assert 1 == 1", `fail("why")`},
		{"x = 1\nprint(f'a {x}')", "no f-strings"},
		{`print(F"{1}")`, "no f-strings"},
		{"print('%.1f' % 2.5)", "round(x, 1)"},
		{"print('%5d' % 2)", "round(x, 1)"},
		{"print('{:.1f}'.format(2.5))", "round(x, 1)"},
		{"def f(x: int) -> int:\n  return x", "no types"},
		{"x: int = 1", "no types"},
		{"2 ** 3", "x * x"},
		{"x = {1, 2}", "set([1, 2])"},
		{"print(1 is None)", "== compares"},
		{"async def f():\n  pass", "wait for their answers"},
		{"a = await f()", "wait for their answers"},
		{"isinstance(1, int)", "type(x)"},
		{"math.floor(1.5)", "nothing to import"},
		{"print(1, end='')", "a line's end"},
		{"null", "None"},
		{"x = 1 && 2", "and, or and not"},
		{"any(x for x in [1])", "any([x for x in list])"},
		{"sum(x for x in [1] if x)", "no generator expressions"},
		{"y = sorted(x.name for x in [1])", "no generator expressions"},
		{"[2, 1].sort()", "sorted(list, key=f)"},
		{"json.dumps({})", "json.encode(x)"},
		{"json.loads('1')", "json.decode(text)"},
		{"p = grid.region.nearby_avatars(radius_meters=20)\nfor x in p.items(): pass", "without parentheses"},
		{"grid.region.nearby_avatars(radius_meters=20).items.append('evil')", "read-only: list(x)"},
		{"p = grid.region.nearby_avatars(radius_meters=20)\np.items[0] = 'evil'", "read-only: list(x)"},
		{"p = grid.region.nearby_avatars(radius_meters=20)\np.items.extend(['evil'])", "read-only: list(x)"},
		{"p = grid.region.nearby_avatars(radius_meters=20)\np.items.clear()", "read-only: list(x)"},
		{"p = grid.region.nearby_avatars(radius_meters=20)\nx = p.items\nx += [1]", "read-only: list(x)"},
		{"'f' 'g'", "joins two strings"},
		{"x = ('a'\n  'b' 'c')", "joins two strings"},
		{"print 'x'", "print(x)"},
		{"print x, y", "print(x)"},
		{"invoke('/grid/region', 'nearby_avatars')", "an operation is a method of its entry, such as grid."},
		{"region.nearby_avatars()", "did you mean grid.region?"},
		{"nearby_avatars(radius_meters=20)", "did you mean grid.region.nearby_avatars?"},
		{"exit()", "a script ends at its end"},
		{"quit(1)", "a script ends at its end"},
		{"x = input('name')", "write the value into the script"},
		{"grid.region.nearby_avatars(radius_meters='x' * 3000000)", "expected at most 65536"},
		{"list(grid.region.nearby_avatars(radius_meters=96))[0].distance", "did you mean distance_meters?"},
		{"list(grid.region.nearby_avatars(radius_meters=96))[0].distance", "it has "},
		{"list(grid.region.nearby_avatars(radius_meters=96))[0].get('name')", "it has "},
		{"list(grid.region.nearby_avatars(radius_meters=96))[0].get('name')", `x["name"]`},
		{"list(grid.region.nearby_avatars(radius_meters=96))[0]['zzz']", "it has "},
		{"grid.region.nearby_avatars(radius_meters=20).total", "did you mean total_matching?"},
		{"grid.region.nearby_avatars(radius_meters=20).zzz", "it has "},
	} {
		err := script.New(script.Config{Client: c, Principal: owner}).Run(t.Context(), "x", []byte(test.src))
		var fail *script.Error
		if !errors.As(err, &fail) || !strings.Contains(fail.Message, test.want) || fail.Line == 0 {
			t.Errorf("%q: %v, want %q and a place", test.src, err, test.want)
		}
	}
	for _, src := range []string{"def f(:", "f(]", "x = 1 +", "{1:}"} { // of which nothing can be told
		if err := script.New(script.Config{Client: c, Principal: owner}).Run(t.Context(), "x", []byte(src)); err == nil || strings.Contains(err.Error(), "hint") {
			t.Errorf("%q: %v", src, err)
		}
	}
}

// TestFence: a model that writes a script as in its answers gets it back without
// the fence.
func TestFence(t *testing.T) {
	c, _ := grid(t)
	tool := script.NewRunner(c, script.Limits{})
	for src, want := range map[string]string{
		"```python\nprint(1)\n```":        "print(1)\n",
		"```\nprint(1)\n```\n":            "print(1)\n",
		"```starlark\nprint('`')\n```":    "print('`')\n",
		"```\nprint(1)":                   "",
		"print(1)\n```":                   "",
		"```\nprint(1)\n```\n```\n2\n```": "",
		"Here it is: ```\nprint(1)\n```":  "",
	} {
		answer := tool.Run(t.Context(), owner, "", code(src))
		corrected := gjson.GetBytes(answer.JSON, "error.corrected_call")
		if !answer.Failed || corrected.Get("code").Str != want {
			t.Errorf("%q: %s", src, answer.JSON)
		}
		if want == "" {
			continue
		}
		if again := tool.Run(t.Context(), owner, "", json.RawMessage(corrected.Raw)); again.Failed {
			t.Errorf("%q: corrected to %s, which gives %s", src, corrected.Raw, again.JSON)
		}
	}
}

// TestNumbers looks at sums and rounded numbers.
func TestNumbers(t *testing.T) {
	c, _ := grid(t)
	for src, want := range map[string]string{
		"round(2.5), round(-2.6), round(7)":    "2 -3 7",
		"round(2.449, 1), round(2.5, 0)":       "2.4 2.0",
		"round(1e300, 3)":                      "1e+300",
		"sum([1, 2.5]), sum([]), sum([1], 10)": "3.5 0 11",
		"sum([[1], [2]], [])":                  "[1, 2]",
		"sum([x.distance_meters for x in grid.region.nearby_avatars(radius_meters=0)])": "0",
		"round('a')":          "! round: found a value of type string",
		"round(1.5, 99)":      "! round: found 99 digits",
		"round(float('nan'))": "! ",
		"sum(['a'])":          "! ",
		"sum(3)":              "! sum: found a value of type int",
	} {
		var out bytes.Buffer
		e := script.New(script.Config{Client: c, Principal: owner, Output: &out})
		err := e.Run(t.Context(), "x", []byte("print("+src+")"))
		got := strings.TrimSuffix(out.String(), "\n")
		var fail *script.Error
		if errors.As(err, &fail) {
			got = "! " + fail.Message
		}
		if got != want && !(strings.HasPrefix(want, "! ") && strings.HasPrefix(got, want)) {
			t.Errorf("%s: got %s, want %s", src, got, want)
		}
	}
}

// TestHiddenCharacters prints what a terminal obeys and what nobody sees.
func TestHiddenCharacters(t *testing.T) {
	c, _ := grid(t)
	for src, want := range map[string]string{
		`a\u202eb`: `a\u202eb`, `a\u2066b\u2069`: `a\u2066b\u2069`, `a\u200bb\ufeff`: `a\u200bb\ufeff`, `a\u2028b\u2029`: `a\u2028b\u2029`,
		`a\u00adb`: `a\u00adb`, `a\U000e0041`: `a\U000e0041`, `a\U000e0101`: `a\U000e0101`, `a\u3164b`: `a\u3164b`, `a\u061cb`: `a\u061cb`,
		`a\x1b[31m`: "a\ufffd[31m", `a\u009bb`: "a\ufffdb", `a\tb\nc`: "a\tb\nc", `héllo 日本 👩\u200d🚀 ❤\ufe0f`: "héllo 日本 👩\u200d🚀 ❤\ufe0f",
	} {
		var out bytes.Buffer
		e := script.New(script.Config{Client: c, Principal: owner, Output: &out})
		if err := e.Run(t.Context(), "x", []byte(`print("`+src+`")`)); err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSuffix(out.String(), "\n"); got != want {
			t.Errorf("%s is printed as %q, want %q", src, got, want)
		}
	}
}

// TestDefine: what a script is given costs it nothing, so that a limit is met in
// the script.
func TestDefine(t *testing.T) {
	c, _ := grid(t)
	e := script.New(script.Config{Client: c, Principal: owner, Limits: script.Limits{Memory: 200, Steps: 3}})
	e.Define("args", []string{strings.Repeat("x", 10_000), "b"})
	err := e.Run(t.Context(), "own.star", []byte("x = [1] * 100\n"))
	var limit *script.LimitError
	if err == nil || !errors.As(err, &limit) || !strings.HasPrefix(err.Error(), "own.star:1:") {
		t.Errorf("found %v", err)
	}
	e = script.New(script.Config{Client: c, Principal: owner})
	e.Define("args", []string{"a", "b"})
	if got, err := e.RunText(t.Context(), "own.star", []byte("args.append('c')\nargs")); err != nil || got != `["a", "b", "c"]` {
		t.Errorf("found %s, %v", got, err)
	}
}

// TestNesting: brackets are bounded by the parser, and much closer than chains.
func TestNesting(t *testing.T) {
	c, _ := grid(t)
	for src, works := range map[string]bool{
		strings.Repeat("(", 70) + "1" + strings.Repeat(")", 70): true,
		strings.Repeat("[", 80) + "1" + strings.Repeat("]", 80): false,
		strings.Repeat("1+", 900) + "1":                         true,
		strings.Repeat("1+", 1100) + "1":                        false,
	} {
		if err := script.New(script.Config{Client: c, Principal: owner}).Run(t.Context(), "x", []byte("x = "+src)); (err == nil) != works {
			t.Errorf("%.20s…: %v", src, err)
		}
	}
}

// TestPromptHints: what a person asks for at the prompt is said in its terms.
func TestPromptHints(t *testing.T) {
	c, _ := grid(t)
	e := script.New(script.Config{Client: c, Principal: owner})
	for _, src := range []string{"exit()\n", "quit()\n", "exit\n"} {
		if _, _, err := e.Eval(t.Context(), src); err == nil || !strings.Contains(err.Error(), "Ctrl-D") {
			t.Errorf("%s: %v", src, err)
		}
	}
	e.Define("args", nil)
	if err := e.Run(t.Context(), "x", []byte("input()")); err == nil || !strings.Contains(err.Error(), "in args") {
		t.Errorf("with arguments: %v", err)
	}
}

// TestHiddenNames: a name is looked for among what its caller may discover.
func TestHiddenNames(t *testing.T) {
	c, _ := grid(t)
	for _, name := range []string{"inventory", "inventory_search"} {
		for p, want := range map[*policy.Principal]bool{owner: true, visitor: false} {
			err := script.New(script.Config{Client: c, Principal: p}).Run(t.Context(), "x", []byte(name))
			if err == nil || strings.Contains(err.Error(), "grid.inventory") != want {
				t.Errorf("%s as %s: %v", name, p.ID, err)
			}
		}
	}
}

// TestWrongNameCorrected: a method's wrong name is put right in its place.
func TestWrongNameCorrected(t *testing.T) {
	c, _ := grid(t)
	tool := script.NewRunner(c, script.Limits{})
	for src, want := range map[string]string{
		"grid.region.nearbyAvatars(radius_meters=20)":                             "grid.region.nearby_avatars(radius_meters=20)",
		"r = grid.region\nx = [r.nearby_avatar(radius_meters=n) for n in [1, 2]]": "r = grid.region\nx = [r.nearby_avatars(radius_meters=n) for n in [1, 2]]",
		"grid.regoin.nearby_avatars()":                                            "grid.region.nearby_avatars()",
	} {
		answer := tool.Run(t.Context(), owner, "", code(src))
		corrected := gjson.GetBytes(answer.JSON, "error.corrected_call")
		if corrected.Get("code").Str != want {
			t.Errorf("%s: %s", src, answer.JSON)
			continue
		}
		if again := tool.Run(t.Context(), owner, "", json.RawMessage(corrected.Raw)); again.Failed {
			t.Errorf("%s: corrected to %s, which gives %s", src, corrected.Raw, again.JSON)
		}
	}
}

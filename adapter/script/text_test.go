package script_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/wipagent/wipagent/adapter/script"
)

// TestTextOfScripts runs scripts that are no text to their end: none of them may
// end where a reader would not see it.
func TestTextOfScripts(t *testing.T) {
	c, _ := grid(t)
	for _, test := range []struct {
		src          string
		line, column int
		want         string
	}{
		{"print(1)\x00\nprint(2)\n", 1, 9, "U+0000"},
		{"x = 1\x00 garbage (((", 1, 6, "U+0000"},
		{"x = 1\n# é\x00", 2, 4, "U+0000"},
		{"x = 1\r\ny = 2\r# \x1b[2J", 3, 3, "U+001B"},
		{"x = 'a\x07'", 1, 7, "U+0007"},
		{"x = 1\x0c", 1, 6, "U+000C"},
		{"x = 1\x7f", 1, 6, "U+007F"},
		{"x = '\u0085'", 1, 6, "U+0085"},
		{"x = 'é\xff'", 1, 7, "the byte 0xff"},
		{"\xff\xfex\x00", 1, 1, "the byte 0xff"},
		{"def f(\x00", 1, 7, "U+0000"},
	} {
		err := script.New(script.Config{Client: c, Principal: owner}).Run(t.Context(), "x", []byte(test.src))
		var fail *script.Error
		if !errors.As(err, &fail) || fail.Line != test.line || fail.Column != test.column || !strings.Contains(fail.Message, test.want) {
			t.Errorf("%q: %v, want %d:%d and %q", test.src, err, test.line, test.column, test.want)
		}
		if script.Unfinished(test.src) {
			t.Errorf("%q is said to go on", test.src)
		}
	}
	for _, src := range []string{"x = '\\x00é\ufffd'\r\n\ty = 1", "x = 'a\tb' # 日本\r\n"} {
		if err := script.New(script.Config{Client: c, Principal: owner}).Run(t.Context(), "x", []byte("if True:\n  pass\n"+strings.ReplaceAll(src, "\r\n\t", "\r\n"))); err != nil {
			t.Errorf("%q: %v", src, err)
		}
	}
	answer := script.NewRunner(c, script.Limits{}).Run(t.Context(), owner, "", code("x=1\x00 garbage ((("))
	if !answer.Failed || !strings.Contains(gjson.GetBytes(answer.JSON, "error.faults.0.constraint").Str, "line 1, column 4: ") {
		t.Errorf("code mode: %s", answer.JSON)
	}
}

// TestLengthOfErrors fails in ways that quote what a script has made.
func TestLengthOfErrors(t *testing.T) {
	c, _ := grid(t)
	const most = 10 << 10
	long := strings.Repeat("x", 30_000)
	for _, src := range []string{
		"getattr(grid, 'x' * 300000)", "getattr(grid.region, 'x' * 300000)", "getattr([], 'x' * 300000)", "getattr(json, 'x' * 300000)",
		"grid." + long, "[]." + long, long, "grid['" + long + "']", "grid['x' * 300000]", "entry('/' + 'x' * 300000)", "inspect('x' * 300000)",
		"grid.region.nearby_avatars(**{'x' * 300000: 1})", "grid.region.nearby_avatars('x' * 300000)", "grid.region.nearby_avatars(radius_meters='x' * 60000)",
		"grid.region.nearby_avatars(1, 2, 3, **{'x' * 300000: 1})", "grid.region.nearby_avatars(1, 'x' * 60000)", "grid.region.nearby_avatars(" + long + "=1)",
		"list(grid.region.nearby_avatars(radius_meters=20))[0]['x' * 300000]", "list(grid.region.nearby_avatars(radius_meters=20))[0]." + long,
		"grid.region.nearby_avatars(radius_meters=20)['x' * 300000]", "{}['x' * 300000]", "fail('x' * 300000)", "'%' + 'x' * 300000 % 1",
		"int('x' * 4000)", "float('x' * 300000)", "('{' + 'x' * 300000 + '}').format()", "print(**{'x' * 300000: 1})", "dir(**{'x' * 300000: 1})",
		"json.decode('x' * 300000)", "discover('x' * 300000)", "def " + long + "(): fail('x' * 9000)\n" + long + "()", "attempt(getattr, grid, 'x' * 300000)",
		"(" + long, "def f(" + long + "=1, *" + long + "): pass", "'" + long, "getattr(list(grid.region.nearby_avatars(radius_meters=20))[0], 'x' * 300000)",
		"(lambda: 1)(**{'x' * 300000: 1})", "attempt(lambda: 1, **{'x' * 300000: 1})[1].message * 2 // 0", "getattr(known, 'x' * 300000)",
	} {
		answer := script.NewRunner(c, script.Limits{}).Run(t.Context(), owner, "", code(src))
		e := gjson.GetBytes(answer.JSON, "error")
		texts := append(e.Get("faults.#.constraint").Array(), e.Get("message"), e.Get("hint"))
		for _, text := range texts {
			if len(text.Str) > most {
				t.Errorf("%.60s: a text of %d bytes: %.200s", src, len(text.Str), text.Str)
			}
		}
		err := script.New(script.Config{Client: c, Principal: owner}).Run(t.Context(), "x", []byte(src))
		var fail *script.Error
		if !strings.HasPrefix(src, "attempt(getattr") && !errors.As(err, &fail) || fail != nil && len(fail.Message) > most {
			t.Errorf("%.60s: %.200v", src, err)
		}
	}
	for _, src := range []string{"grid." + long, "getattr(grid, 'x' * 300000)", "[]." + long, long} { // a name is cut by itself
		err := script.New(script.Config{Client: c, Principal: owner}).Run(t.Context(), "x", []byte(src))
		if err == nil || len(err.Error()) > 1000 {
			t.Errorf("%.60s: %d bytes", src, len(err.Error()))
		}
	}
}

// TestCopiesOfResults: a copy of what a call answered, and what a script decodes
// itself, can be changed.
func TestCopiesOfResults(t *testing.T) {
	c, _ := grid(t)
	const src = `p = grid.region.nearby_avatars(radius_meters=96)
a, b, x = list(p.items), p.items[:1], json.decode('{"a": [1]}')
a.append(1)
b.append(2)
x["a"].append(2)
x["b"] = 3
`
	if err := script.New(script.Config{Client: c, Principal: owner}).Run(t.Context(), "x", []byte(src)); err != nil {
		t.Error(err)
	}
}

// TestWidth: tables for people are no wider than their terminal.
func TestWidth(t *testing.T) {
	c, _ := grid(t)
	const src = "grid.region.visible_objects(page_size=3)\n"
	for _, width := range []int{0, 10, 40, 80, 120} {
		e := script.New(script.Config{Client: c, Principal: owner, Width: width})
		got, _, err := e.Eval(t.Context(), src)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(got) {
			if n := utf8.RuneCountInString(strings.TrimSpace(line)); width > 0 && n > width && !strings.HasPrefix(line, "too wide") && !strings.Contains(line, " of ") {
				t.Errorf("in %d columns a line has %d: %s", width, n, line)
			}
		}
		if strings.Contains(got, "too wide") != (width > 0 && width < 60) {
			t.Errorf("in %d columns:\n%s", width, got)
		}
	}
}

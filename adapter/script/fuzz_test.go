package script_test

import (
	"errors"
	"strings"
	"testing"
	"time"
	"unicode"

	"golang.org/x/tools/txtar"

	"github.com/wipagent/wipagent/adapter/script"
)

// FuzzEval runs whatever it is given: it ends within its limits, by an error that
// says why or a value that a terminal can show, and never by a panic.
func FuzzEval(f *testing.F) {
	archive, err := txtar.ParseFile("testdata/scripts.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range archive.Files {
		if strings.HasSuffix(file.Name, ".star") {
			f.Add(string(file.Data))
		}
	}
	for _, src := range hostile {
		if len(src) < 1000 {
			f.Add(src)
		}
	}
	c, _ := grid(f)
	f.Fuzz(func(t *testing.T, src string) {
		var out strings.Builder
		e := script.New(script.Config{Client: c, Principal: owner, Output: &out, Limits: script.Limits{Steps: 20_000, Memory: 4 << 20, Calls: 5, Output: 1000, Time: 5 * time.Second}})
		value, incomplete, err := e.Eval(t.Context(), src)
		var fail *script.Error
		if err != nil && (!errors.As(err, &fail) || incomplete || value != "" || strings.Contains(err.Error(), "temporarily unavailable")) {
			t.Fatalf("ended with %q, %v, %v", value, incomplete, err)
		}
		if out.Len() > 1100 || len(value) > 32<<20 {
			t.Fatalf("printed %d bytes and returned %d", out.Len(), len(value))
		}
		shown := out.String() + value
		if err != nil {
			shown += err.Error()
		}
		for _, c := range shown {
			if unicode.IsControl(c) && c != '\n' && c != '\t' {
				t.Fatalf("showed %q", c)
			}
		}
		if value, _, err := e.Eval(t.Context(), "[1 + 1][0]"); err != nil || value != "2" {
			t.Fatalf("afterwards: %q, %v", value, err)
		}
	})
}

// FuzzComplete completes whatever it is given, and calls nothing.
func FuzzComplete(f *testing.F) {
	for _, line := range []string{"grid.re", `entry("/grid/`, "grid.region.nearby_avatars(page=", "x[", `root["gr`, "f(grid.region.nearby_avatars(page=1).", "'''a", "# grid", "[(", "a.b.c.d(e)[f]."} {
		f.Add(line, len(line))
	}
	c, log := grid(f)
	f.Fuzz(func(t *testing.T, line string, pos int) {
		log.Reset()
		e := script.New(script.Config{Client: c, Principal: owner})
		start, list := e.Complete(line, pos)
		if start < 0 || start > len(line) {
			t.Fatalf("starts at %d of %d bytes", start, len(line))
		}
		if len(list) > 0 {
			written := line[start:max(start, min(pos, len(line)))]
			for _, item := range list {
				if !strings.HasPrefix(item.Text, written) {
					t.Fatalf("%q does not go on from %q", item.Text, written)
				}
			}
		}
		if strings.Contains(log.String(), `"invoke"`) {
			t.Fatalf("called an operation: %s", log)
		}
	})
}

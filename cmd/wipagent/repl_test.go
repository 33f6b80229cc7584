package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/reeflective/readline"

	"github.com/wipagent/wipagent/adapter/script"
)

func TestHeld(t *testing.T) {
	var out bytes.Buffer
	h := &held{to: &out}
	say := func(s string) { fmt.Fprint(h, s) }
	say("before\n")
	h.hold(true)
	say("kept\n")
	say("\r\x1b[Khow far")
	if got := out.String(); got != "before\n" {
		t.Errorf("found %q while a line is edited", got)
	}
	h.hold(false)
	say("after\n")
	if got := out.String(); got != "before\nkept\nafter\n" {
		t.Errorf("found %q", got)
	}
	out.Reset()
	h.hold(true)
	for range 1000 {
		say(strings.Repeat("x", 99) + "\n")
	}
	h.hold(false)
	if got := out.String(); len(got) > maxHeld+100 || !strings.HasSuffix(got, "\nwipagent: 837 messages more\n") {
		t.Errorf("found %d bytes that end with %q", len(got), got[len(got)-40:])
	}
}

func TestHistory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "wipagent", "history")
	open := func() *history {
		t.Helper()
		h, err := openHistory(path)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	h := open()
	for _, input := range []string{"one", "one", "def f():\n    return 'ö'\n", "", strings.Repeat("x", maxHistoryInput+1)} {
		if _, err := h.Write(input); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{"one", "def f():\n    return 'ö'"}
	if diff := cmp.Diff(want, open().lines); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := h.GetLine(2); err == nil || h.Len() != 2 {
		t.Errorf("found %d inputs, %v", h.Len(), err)
	}

	// What somebody else put there is passed over, and what is long is cut.
	var long strings.Builder
	for i := range 3 * maxHistory {
		fmt.Fprintf(&long, "\"input %d\"\nno JSON\n", i)
	}
	if err := os.WriteFile(path, []byte(long.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	h = open()
	if first, err := h.GetLine(0); first != "input 2000" || err != nil || h.Len() != maxHistory {
		t.Errorf("found %q first of %d, %v", first, h.Len(), err)
	}
	raw, err := os.ReadFile(path)
	if err != nil || bytes.Count(raw, []byte("\n")) != maxHistory {
		t.Errorf("the file has %d lines, %v", bytes.Count(raw, []byte("\n")), err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info.Mode(), err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(t.TempDir(), "elsewhere"), path); err != nil {
		t.Fatal(err)
	}
	if _, err := openHistory(path); err == nil {
		t.Error("a link was followed")
	}
}

// The editor puts a completion in the place of a prefix that must not be empty.
func TestCompletions(t *testing.T) {
	c := &cli{io: streams{err: io.Discard}}
	c.As = "local_operator"
	err := c.with(t.Context(), describing, func(_ context.Context, s *session) error {
		env := script.New(script.Config{Client: s.client, Principal: s.principal})
		for _, test := range []struct {
			line, prefix, first string
		}{
			{"gri", "gri", "grid"},
			{"grid.", ".", ".agent"},
			{"grid.re", "re", "region"},
			{"grid.region.nearby_avatars(", "(", "(page="},
			{"grid.region.nearby_avatars(page=1, ra", "ra", "radius_meters="},
			{`entry("/gr`, "/gr", "/grid"},
			{"x = gri", "gri", "grid"},
			{"if True:\n", "", "    "},
			{"x = 'ö", "", ""},
		} {
			values := ""
			found := completions(env, []rune(test.line), len([]rune(test.line)))
			found.EachValue(func(v readline.Completion) readline.Completion {
				if values == "" {
					values = v.Value
				}
				return v
			})
			if found.PREFIX != test.prefix || values != test.first {
				t.Errorf("%q: found %q for %q, expected %q for %q", test.line, values, found.PREFIX, test.first, test.prefix)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

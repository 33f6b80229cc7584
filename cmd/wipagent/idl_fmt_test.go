package main

import (
	"strings"
	"testing"
)

// A document cannot control the terminal that its diff is shown on; programs
// get the diff as it is.
func TestDiffOnATerminal(t *testing.T) {
	const text = "--- a\n+++ b\n@@ -1 +1 @@\n-// \x1b[2J\n+  // \u202eb\n same\n"
	for _, tt := range []struct {
		name    string
		width   int
		noColor string
		want    string
	}{
		{name: "a program", want: text},
		{name: "a terminal", width: 80, want: "\x1b[31m--- a\x1b[0m\n\x1b[32m+++ b\x1b[0m\n\x1b[36m@@ -1 +1 @@\x1b[0m\n" +
			"\x1b[31m-//  [2J\x1b[0m\n\x1b[32m+  // b\x1b[0m\n same\n"},
		{name: "one without colour", width: 80, noColor: "1", want: "--- a\n+++ b\n@@ -1 +1 @@\n-//  [2J\n+  // b\n same\n"},
	} {
		t.Setenv("TERM", "xterm")
		t.Setenv("NO_COLOR", tt.noColor)
		var got strings.Builder
		c := &cli{io: streams{out: &got, width: tt.width}}
		c.printDiff(text)
		if got.String() != tt.want {
			t.Errorf("%s gets %q, want %q", tt.name, &got, tt.want)
		}
	}
}

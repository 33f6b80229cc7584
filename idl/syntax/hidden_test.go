package syntax_test

import (
	"testing"

	"github.com/wipagent/wipagent/idl/syntax"
)

// What no reader sees is a fault in comments, too: they are shown to people and
// travel to models. What scripts and line ends need is none.
func TestHiddenCharactersInComments(t *testing.T) {
	for text, want := range map[string]int{
		"package p; // a\x1b[31mb":                 1,
		"package p;\n/// a\u202eb\nrecord R { }":   1,
		"package p; /* a\n\x00 \u2066 \u0085 */":   3,
		"package p; // tab\there, 👩‍🔬, عربي\r\n//": 0,
		"package p; // not closed /* \r\n":         0,
	} {
		_, faults := syntax.Parse("x.wip", []byte(text))
		n := 0
		for _, d := range faults {
			if d.Rule == syntax.RuleBadCharacter {
				n++
			}
		}
		if n != want || len(faults) != want {
			t.Errorf("%q has %v, want %d hidden characters", text, faults, want)
		}
	}
}

package dialecttest

import (
	"regexp"
	"testing"
)

// TestPatternFault tells what every engine reads alike from what some read
// otherwise.
func TestPatternFault(t *testing.T) {
	for _, p := range []string{
		``, `a`, `^(?:[a-z]+\.)*$`, `^\d{1,3}(?:,\d{3})*$`, `[^\]\-]+?`, `(a|b)?c{2,}`, `\x41`, `é*`, `[a-]`, `\\\/\.\[\]\(\)`, `(?:)`, `|`, `[\^a]`, `[[a]`,
	} {
		if fault := patternFault(p); fault != "" {
			t.Errorf("found %s in %q, expected nothing", fault, p)
		}
		if _, err := regexp.Compile(p); err != nil {
			t.Errorf("RE2 does not read %q: %v", p, err)
		}
	}
	for _, p := range []string{
		`(?i)a`, `(?P<n>a)`, `(?<n>a)`, `(?=a)`, `(?!a)`, `(?<=a)`, `\bfoo`, `\Aa`, `a\z`, `\Qa\E`, `\pL`, `\p{Greek}`, `[[:alpha:]]`, `\1`, `\a`, `\-`, `\_`, `\x{41}`,
		`\x4`, `a{`, `a{,3}`, `}`, `]`, `[a`, `(a`, `a)`, `*`, `a**`, `(*)`, `a|+`, `[]`, `[]a]`, `[^]`, `a\`, `[\b]`, `^*`, `a{x}`, `\077`, `\C`,
	} {
		if patternFault(p) == "" {
			t.Errorf("found nothing in %q, expected a fault", p)
		}
	}
}

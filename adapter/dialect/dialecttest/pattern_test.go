package dialecttest

import (
	"regexp"
	"testing"
)

// TestPatternFault tells what every engine reads alike from what some read
// otherwise.
func TestPatternFault(t *testing.T) {
	for _, p := range []string{
		``, `a`, `^(?:[a-z]+\.)*$`, `^[0-9]{1,3}(?:,[0-9]{3})*$`, `[^\n]`, `[.]`, `[^\]\-]+?`, `(a|b)?c{2,}`, `\x41`, `é*`, `[a-]`, `\\\/\.\[\]\(\)`, `(?:)`, `|`, `[\^a]`, `[[a]`,
	} {
		if fault := patternFault(p); fault != "" {
			t.Errorf("found %s in %q, expected nothing", fault, p)
		}
		if _, err := regexp.Compile(p); err != nil {
			t.Errorf("RE2 does not read %q: %v", p, err)
		}
	}
	for _, p := range []string{
		`(?i)a`, `.`, `a.*`, `\d`, `[\w-]`, `\S`, `(?P<n>a)`, `(?<n>a)`, `(?=a)`, `(?!a)`, `(?<=a)`, `\bfoo`, `\Aa`, `a\z`, `\Qa\E`, `\pL`, `\p{Greek}`, `[[:alpha:]]`, `\1`, `\a`, `\-`, `\_`, `\x{41}`,
		`\x4`, `a{`, `a{,3}`, `}`, `]`, `[a`, `(a`, `a)`, `*`, `a**`, `(*)`, `a|+`, `[]`, `[]a]`, `[^]`, `a\`, `[\b]`, `^*`, `a{x}`, `\077`, `\C`,
	} {
		if patternFault(p) == "" {
			t.Errorf("found nothing in %q, expected a fault", p)
		}
	}
}

package dialecttest

import (
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"strings"
)

// matching makes up a short string that a pattern of RE2 matches whole.
func matching(r *rand.Rand, pattern string) string {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		panic(err) // a compiled document holds only patterns that parse
	}
	whole := regexp.MustCompile(`\A(?:` + pattern + `)\z`)
	for range 100 { // anchors and boundaries are not looked at below
		var b strings.Builder
		sample(r, re, &b)
		if whole.MatchString(b.String()) {
			return b.String()
		}
	}
	panic("no match of " + pattern)
}

func sample(r *rand.Rand, re *syntax.Regexp, b *strings.Builder) {
	repeat := func(low, high int) {
		if high < 0 || high > low+3 {
			high = low + 3
		}
		for range low + r.IntN(high-low+1) {
			sample(r, re.Sub[0], b)
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		for _, c := range re.Rune {
			b.WriteRune(c)
		}
	case syntax.OpCharClass:
		i := 2 * r.IntN(len(re.Rune)/2)
		for range 20 {
			c := re.Rune[i] + r.Int32N(min(re.Rune[i+1]-re.Rune[i], 200)+1)
			if c < 0xd800 || c > 0xdfff {
				b.WriteRune(c)
				return
			}
		}
		b.WriteRune('a')
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteRune(pick(r, 'a', 'Z', '5', ' ', '"', '\\', 'é', '語', '🧭'))
	case syntax.OpCapture, syntax.OpConcat:
		for _, sub := range re.Sub {
			sample(r, sub, b)
		}
	case syntax.OpAlternate:
		sample(r, pick(r, re.Sub...), b)
	case syntax.OpStar:
		repeat(0, -1)
	case syntax.OpPlus:
		repeat(1, -1)
	case syntax.OpQuest:
		repeat(0, 1)
	case syntax.OpRepeat:
		repeat(re.Min, re.Max)
	}
}

package principals

import (
	"fmt"
	"strings"
)

// Tally is how many tokens a file has, and how many of them let nobody in: those
// that are revoked, and of the others those that have expired.
type Tally struct{ Tokens, Revoked, Expired int }

// Good is how many let somebody in.
func (t Tally) Good() int { return t.Tokens - t.Revoked - t.Expired }

// String says it to an operator.
func (t Tally) String() string {
	said := plural(t.Tokens, "token", "tokens")
	var lost []string
	for _, l := range []struct {
		count int
		how   string
	}{{t.Revoked, "revoked"}, {t.Expired, "expired"}} {
		switch {
		case l.count == 0:
		case t.Tokens == 1:
			lost = append(lost, "which is "+l.how)
		default:
			lost = append(lost, plural(l.count, "is", "are")+" "+l.how)
		}
	}
	switch {
	case len(lost) == 0:
		return said
	case t.Tokens > 1:
		said += ", of which " + strings.Join(lost, " and ")
	default:
		said += ", " + lost[0]
	}
	if t.Good() == 0 {
		said += ": nobody is let in"
	}
	return said
}

func plural(n int, one, many string) string {
	if n == 1 {
		many = one
	}
	return fmt.Sprintf("%d %s", n, many)
}

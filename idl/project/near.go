package project

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// maxNear is how many names Near returns.
const maxNear = 3

// Near returns the rules that an unknown one may mean, the nearest first, at
// most three: those that are written much like it, with their words in any
// order, or else those that share its first word or its last.
func Near(name string, rules []string) []string {
	name = strings.ReplaceAll(strings.ToLower(name), "_", "-")
	if name == "" || len(name) > 64 {
		return nil
	}
	type hit struct {
		rule     string
		distance int
	}
	var hits []hit
	words := strings.Split(name, "-")
	limit := 1 + min(len(name)/4, 2)
	for _, rule := range rules {
		others := strings.Split(rule, "-")
		d := min(levenshtein.ComputeDistance(name, rule), 1+levenshtein.ComputeDistance(inOrder(words), inOrder(others)))
		switch {
		case d <= limit:
			hits = append(hits, hit{rule, d})
		case words[0] == others[0], words[len(words)-1] == others[len(others)-1]:
			hits = append(hits, hit{rule, 64 + d})
		}
	}
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.rule, b.rule))
	})
	var near []string
	for _, h := range hits[:min(len(hits), maxNear)] {
		if h.distance < 64 || hits[0].distance >= 64 {
			near = append(near, h.rule)
		}
	}
	return near
}

// inOrder joins words in the order of the alphabet.
func inOrder(words []string) string {
	return strings.Join(slices.Sorted(slices.Values(words)), "-")
}

// DidYouMean returns the question whether one of the rules that Near returns
// is meant, to go behind an error, or the empty string.
func DidYouMean(name string, rules []string) string {
	near := Near(name, rules)
	if len(near) == 0 {
		return ""
	}
	for i := range near {
		near[i] = fmt.Sprintf("%q", near[i])
	}
	list := near[len(near)-1]
	if len(near) > 1 {
		list = strings.Join(near[:len(near)-1], ", ") + " or " + list
	}
	return "; did you mean " + list + "?"
}

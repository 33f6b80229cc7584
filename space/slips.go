package space

import (
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"
)

// similar returns the terms that an unknown word may be a slip for: spellings
// one or two edits away, by length, else words that it begins. A word of four
// letters may have lost or exchanged some, but a wrong letter makes it another
// word, and it begins too many; a shorter one is no slip.
func (x *wordIndex) similar(word string) []match {
	length := utf8.RuneCountInString(word)
	allowed := 0
	switch {
	case length >= 7:
		allowed = 2
	case length >= 4:
		allowed = 1
	}
	if allowed == 0 {
		return nil
	}
	mask := letters(word)
	best := allowed + 1
	var matches []match
	for _, s := range x.spellings {
		if !x.used(s.term) || bits.OnesCount64(mask^s.letters) > 2*allowed || length == 4 && mask&^s.letters != 0 {
			continue
		}
		if d := distance(word, s.word, allowed); d < best {
			best = d
			matches = append(matches[:0], match{s.term, typoQuality - 0.1*float32(d-1)})
		} else if d == best && d <= allowed && !slices.ContainsFunc(matches, func(m match) bool { return m.term == s.term }) {
			matches = append(matches, match{s.term, typoQuality - 0.1*float32(d-1)})
		}
	}
	if len(matches) > 0 {
		return matches
	}
	longest := maxText // bytes
	if length == 4 {
		longest = len(word) + 2 // an ending
	}
	for _, s := range x.spellings {
		if x.used(s.term) && len(s.word) > len(word) && len(s.word) <= longest && strings.HasPrefix(s.word, word) &&
			!slices.ContainsFunc(matches, func(m match) bool { return m.term == s.term }) {
			matches = append(matches, match{s.term, prefixQuality})
		}
	}
	return matches
}

// letters returns a word's set of letters and digits, small enough to compare
// at once.
func letters(word string) uint64 {
	var set uint64
	for _, r := range word {
		switch {
		case r >= 'a' && r <= 'z':
			set |= 1 << (r - 'a')
		default:
			set |= 1 << (26 + r%38)
		}
	}
	return set
}

// distance returns the number of edits between two words, exchanging
// neighbours counted as one, or more than most if there are more than that.
// The first letter must be right or exchanged with the second: slips there are
// rare, and other words that differ only there are many.
func distance(a, b string, most int) int {
	s, t := []rune(a), []rune(b)
	if abs(len(s)-len(t)) > most {
		return most + 1
	}
	if s[0] != t[0] && (len(t) < 2 || len(s) < 2 || s[0] != t[1] || s[1] != t[0]) {
		return most + 1
	}
	var rows [3][64]int
	if len(t) >= len(rows[0]) {
		return most + 1
	}
	before, above, row := &rows[0], &rows[1], &rows[2]
	for j := 0; j <= len(t); j++ {
		above[j] = j
	}
	for i := 1; i <= len(s); i++ {
		row[0] = i
		least := i
		for j := 1; j <= len(t); j++ {
			cost := 1
			if s[i-1] == t[j-1] {
				cost = 0
			}
			d := min(above[j]+1, row[j-1]+1, above[j-1]+cost)
			if i > 1 && j > 1 && s[i-1] == t[j-2] && s[i-2] == t[j-1] {
				d = min(d, before[j-2]+1)
			}
			row[j] = d
			least = min(least, d)
		}
		if least > most {
			return most + 1
		}
		before, above, row = above, row, before
	}
	return above[len(t)]
}

func abs(n int) int {
	if n < 0 {
		return -n
	}
	return n
}

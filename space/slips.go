package space

import (
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"
)

// slip looks for what an unknown word may be a slip for: forms one or two edits
// away, by length, else words that it begins. A word of four letters may have
// lost or exchanged some, but a wrong letter makes it another word, and it begins
// too many; a shorter one is no slip.
type slip struct {
	word    string
	allowed int // edits
	best    int // edits of the matches so far
	matches []match
}

// slipOf returns nil for a word that is no slip.
func slipOf(word string) *slip {
	allowed := 0
	switch length := utf8.RuneCountInString(word); {
	case length >= 7:
		allowed = 2
	case length >= 4:
		allowed = 1
	default:
		return nil
	}
	return &slip{word: word, allowed: allowed, best: allowed + 1}
}

// beginnings are with what forms must begin: the first letter is right or
// exchanged with the second.
func (s *slip) beginnings() []string {
	a, n := utf8.DecodeRuneInString(s.word)
	b, _ := utf8.DecodeRuneInString(s.word[n:])
	if a == b {
		return []string{s.word[:n]}
	}
	return []string{s.word[:n], string([]rune{b, a})}
}

// short reports whether the word has four letters.
func (s *slip) short() bool { return utf8.RuneCountInString(s.word) == 4 }

// near adds those of the forms that are as few edits away as any.
func (s *slip) near(forms []form, used func(*form) bool) {
	mask, short := letters(s.word), s.short()
	for i := range forms {
		f := &forms[i]
		if bits.OnesCount64(mask^f.letters) > 2*s.allowed || short && mask&^f.letters != 0 {
			continue
		}
		d := distance(s.word, f.word, s.best)
		if d > s.best || d > s.allowed || !used(f) {
			continue
		}
		if d < s.best {
			s.best, s.matches = d, s.matches[:0]
		}
		s.add(f.stem, typoQuality-0.1*float32(d-1))
	}
}

// begun adds those of the forms, which begin with the word, that are longer.
func (s *slip) begun(forms []form, used func(*form) bool) {
	longest := maxText // bytes
	if s.short() {
		longest = len(s.word) + 2 // an ending
	}
	for i := range forms {
		if f := &forms[i]; len(f.word) > len(s.word) && len(f.word) <= longest && used(f) {
			s.add(f.stem, prefixQuality)
		}
	}
}

func (s *slip) add(stem string, quality float32) {
	s.matches = append(s.matches, match{stem, quality})
}

// sorted returns the matches, each once, in an order that depends on nothing else.
func (s *slip) sorted() []match {
	slices.SortFunc(s.matches, func(a, b match) int { return strings.Compare(a.stem, b.stem) })
	return slices.Compact(s.matches)
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

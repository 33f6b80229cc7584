package idl

import (
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// maxNearName bounds the names that are compared, in bytes: comparing costs
// the product of both lengths.
const maxNearName = 64

// nearestSlot returns the one slot that a key most likely means, or -1.
func nearestSlot(slots []slot, key string) int {
	names := make([]string, len(slots))
	for i := range slots {
		names[i] = slots[i].name
	}
	return nearest(names, key)
}

// nearestLabel returns the one label that s most likely means, or "".
func nearestLabel(e *Enum, s string) string {
	names := make([]string, len(e.Labels))
	for i := range e.Labels {
		names[i] = e.Labels[i].Name
	}
	if i := nearest(names, s); i >= 0 {
		return names[i]
	}
	return ""
}

// nearest returns the index of the one name that s most likely stands for, or
// -1 if none is near or two are equally so. Near is: few letters differ; or one
// begins or ends like the other (page_number and page, size and page_size,
// radius_m and radius_meters); or the last word of s is the first of the name
// (search_radius and radius_meters). There is no thesaurus: that "limit" might
// be page_size is for the model to say.
func nearest(names []string, s string) int {
	if len(s) > maxNearName || fold(s) == "" {
		return -1
	}
	words := NameWords(s)
	for _, near := range []func(name string) int{
		func(name string) int { return letters(fold(name), fold(s)) },
		func(name string) int { return common(NameWords(name), words) },
		func(name string) int { return head(NameWords(name), words) },
	} {
		best, at, tied := far, -1, false
		for i, name := range names {
			if len(name) > maxNearName {
				continue
			}
			switch n := near(name); {
			case n < best:
				best, at, tied = n, i, false
			case n == best && n < far:
				tied = true
			}
		}
		if at >= 0 {
			if tied {
				return -1
			}
			return at
		}
	}
	return -1
}

// far is a distance that is not near.
const far = 1 << 10

// letters is the edit distance of two folded names, where it is small for
// their length. Two letters that changed places count as one edit.
func letters(a, b string) int {
	n := levenshtein.ComputeDistance(a, b)
	if n == 2 && len(a) == len(b) && sameLetters(a, b) {
		n = 1
	}
	if n > min(len(a), len(b))/3 {
		return far
	}
	return n
}

func sameLetters(a, b string) bool {
	x, y := []byte(a), []byte(b)
	slices.Sort(x)
	slices.Sort(y)
	return string(x) == string(y)
}

// common tells how many words one name has more than the other, if the sent
// one begins the declared one or ends it, or the declared one begins the sent.
func common(name, sent []string) int {
	short, long := sent, name
	if len(short) > len(long) {
		short, long = long, short
	}
	if len(short) == 0 {
		return far
	}
	start := long[:len(short)]
	end := long[len(long)-len(short):]
	if slices.EqualFunc(start, short, abbreviates) || len(sent) <= len(name) && slices.EqualFunc(end, short, abbreviates) {
		return len(long) - len(short)
	}
	return far
}

// head is 0 if the last word of what was sent is the first of the name.
func head(name, sent []string) int {
	if len(name) > 0 && len(sent) > 1 && name[0] == sent[len(sent)-1] {
		return 0
	}
	return far
}

// abbreviates reports whether one word begins with the other.
func abbreviates(a, b string) bool {
	return strings.HasPrefix(a, b) || strings.HasPrefix(b, a)
}

// NameWords splits a name at _, -, ., spaces and capitals, in lower case.
func NameWords(name string) []string {
	var b strings.Builder
	for i := 0; i < len(name); i++ {
		c := name[i]
		switch {
		case c == '_' || c == '-' || c == ' ' || c == '.':
			b.WriteByte(' ')
			continue
		case 'A' <= c && c <= 'Z' && i > 0 && 'a' <= name[i-1] && name[i-1] <= 'z':
			b.WriteByte(' ')
		}
		b.WriteByte(c)
	}
	return strings.Fields(lower(b.String()))
}

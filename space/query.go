package space

import (
	"math"
	"slices"
)

// lexicon is what reading a query takes from an index.
type lexicon interface {
	size() int                   // documents
	frequency(stem string) int   // documents that have it
	written(word string) bool    // whether it is indexed in just this form
	similar(word string) []match // what an unknown word may be a slip for
}

// queryWord is a word of the query and the stems that answer to it.
type queryWord struct {
	word    string
	stem    string // its own or, of a slip, that of what was meant
	class   wordClass
	matches []match
	weight  float64 // rarity, less for a faint word
}

// match is a stem that answers to a word, and how well.
type match struct {
	stem    string
	quality float32 // 1 for the word itself
}

// How much a match counts that is not the word itself.
const (
	joinedQuality  = 0.95
	typoQuality    = 0.8
	prefixQuality  = 0.7
	synonymQuality = 0.65
)

// The weight of a word where arguments stand, as a share of another word's. One
// that is unknown here need not be known to be answered.
const (
	knownArgument   = 0.85
	unknownArgument = 0.4
)

// read takes the query apart and finds the stems that answer to each word.
func read(x lexicon, query string) []queryWord {
	var words []queryWord
	for _, w := range split(query) {
		for _, part := range apart(x, w) {
			if len(words) < maxWords {
				words = append(words, queryWord{word: part, stem: stem(part), class: classOf(part)})
			}
		}
	}
	for i := range words {
		matchWord(x, words, i)
	}
	weigh(x, words)
	return words
}

// matchWord finds the stems that answer to one word: its own, written together
// with the next, what means the same, and, if nothing does, what it can be a slip
// for.
func matchWord(x lexicon, words []queryWord, i int) {
	w := &words[i]
	known := x.frequency(w.stem) > 0
	if w.class == empty && light[w.word] && known {
		w.class = faint
	}
	if w.class == empty {
		return
	}
	if known {
		w.matches = append(w.matches, match{w.stem, 1})
	}
	if i+1 < len(words) {
		next := &words[i+1]
		if s := stem(w.word + next.word); x.frequency(s) > 0 {
			w.matches = append(w.matches, match{s, joinedQuality})
			next.matches = append(next.matches, match{s, joinedQuality})
		}
	}
	for _, s := range synonyms[stem(w.word)] {
		if x.frequency(s) > 0 {
			w.matches = append(w.matches, match{s, synonymQuality})
		}
	}
	if len(w.matches) == 0 && w.class == content {
		if w.matches = x.similar(w.word); len(w.matches) > 0 {
			w.stem = w.matches[0].stem
		}
	}
}

// weigh gives each word its rarity, and less to words where arguments stand.
func weigh(x lexicon, words []queryWord) {
	argument := false
	for i := range words {
		w := &words[i]
		w.weight = rarity(x, w)
		switch {
		case prepositions[w.word]:
			argument = true
		case articles[w.word] || isNumber(w.word):
		case w.class == content && argument && len(w.matches) > 0:
			w.weight *= knownArgument
		case w.class == content && argument:
			w.weight *= unknownArgument
		default:
			argument = false
		}
	}
}

// rarity is what the word says, by how few documents have it: its inverse
// document frequency, less for a faint word.
func rarity(x lexicon, w *queryWord) float64 {
	if w.class == empty && len(w.matches) == 0 {
		return 0
	}
	in := 0
	for _, m := range w.matches {
		if n := x.frequency(m.stem); in == 0 || m.quality == 1 || n < in {
			in = n
		}
		if m.quality == 1 {
			break
		}
	}
	weight := math.Log(1 + (float64(x.size())-float64(in)+0.5)/(float64(in)+0.5))
	if w.class != content {
		weight *= faintShare
	}
	return weight
}

// apart splits a word that is unknown here into two that are known.
func apart(x lexicon, word string) []string {
	const shortest = 3
	if len(word) < 2*shortest || classOf(word) != content || x.frequency(stem(word)) > 0 {
		return []string{word}
	}
	for i := shortest; i <= len(word)-shortest; i++ {
		if known(x, word[:i]) && known(x, word[i:]) {
			return []string{word[:i], word[i:]}
		}
	}
	return []string{word}
}

func known(x lexicon, word string) bool { return classOf(word) != empty && x.written(word) }

// demanded reports whether the query demands a change, and which word of it is
// the verb that says so.
func demanded(words []queryWord) (verb int, ok bool) {
	for i, w := range words {
		if acting[w.word] {
			return i, true
		}
		if w.class != empty {
			break
		}
	}
	return -1, false
}

// vague reports whether no word of the query has content.
func vague(words []queryWord) bool {
	return !slices.ContainsFunc(words, func(w queryWord) bool { return w.class == content })
}

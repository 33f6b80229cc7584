package space

import "math"

// queryWord is a word of the query and the terms that answer to it.
type queryWord struct {
	word    string
	class   wordClass
	term    int // of the word itself; -1 if it is known nowhere
	matches []match
	weight  float64 // rarity, less for a faint word
}

// match is a term that answers to a word, and how well.
type match struct {
	term    int
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

// read takes the query apart and finds the terms that answer to each word.
func (x *wordIndex) read(query string) []queryWord {
	var words []queryWord
	for _, w := range split(query) {
		for _, part := range x.apart(w) {
			if len(words) < maxWords {
				words = append(words, queryWord{word: part, class: classOf(part), term: x.known(part)})
			}
		}
	}
	for i := range words {
		x.match(words, i)
	}
	x.weigh(words)
	return words
}

// match finds the terms that answer to one word: itself, written together with
// the next, what means the same, and, if nothing does, what it can be a slip for.
func (x *wordIndex) match(words []queryWord, i int) {
	w := &words[i]
	if w.class == empty && light[w.word] && x.used(w.term) {
		w.class = faint
	}
	if w.class == empty {
		return
	}
	if x.used(w.term) {
		w.matches = append(w.matches, match{w.term, 1})
	}
	if i+1 < len(words) {
		next := &words[i+1]
		if t := x.known(w.word + next.word); x.used(t) {
			w.matches = append(w.matches, match{t, joinedQuality})
			next.matches = append(next.matches, match{t, joinedQuality})
		}
	}
	for _, s := range synonyms[stem(w.word)] {
		if t, ok := x.terms[s]; ok && x.used(t) {
			w.matches = append(w.matches, match{t, synonymQuality})
		}
	}
	if len(w.matches) == 0 && w.class == content {
		if w.matches = x.similar(w.word); len(w.matches) > 0 {
			w.term = w.matches[0].term
		}
	}
}

// weigh gives each word its rarity, and less to words where arguments stand.
func (x *wordIndex) weigh(words []queryWord) {
	argument := false
	for i := range words {
		w := &words[i]
		w.weight = x.rarity(w)
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

// used reports whether a term is there and has documents: some stand in phrases
// alone.
func (x *wordIndex) used(term int) bool { return term >= 0 && len(x.postings[term]) > 0 }

// known returns the term of a word, or -1.
func (x *wordIndex) known(word string) int {
	if t, ok := x.forms[word]; ok {
		return t
	}
	if t, ok := x.terms[stem(word)]; ok {
		return t
	}
	return -1
}

// rarity is what the word says, by how few documents have it: its inverse
// document frequency, less for a faint word.
func (x *wordIndex) rarity(w *queryWord) float64 {
	if w.class == empty && len(w.matches) == 0 {
		return 0
	}
	in := 0
	for _, m := range w.matches {
		if n := len(x.postings[m.term]); in == 0 || m.quality == 1 || n < in {
			in = n
		}
		if m.quality == 1 {
			break
		}
	}
	weight := math.Log(1 + (float64(x.documents)-float64(in)+0.5)/(float64(in)+0.5))
	if w.class != content {
		weight *= faintShare
	}
	return weight
}

// apart splits a word that is unknown here into two that are known.
func (x *wordIndex) apart(word string) []string {
	const shortest = 3
	if len(word) < 2*shortest || classOf(word) != content || x.known(word) >= 0 {
		return []string{word}
	}
	for i := shortest; i <= len(word)-shortest; i++ {
		if x.written(word[:i]) && x.written(word[i:]) {
			return []string{word[:i], word[i:]}
		}
	}
	return []string{word}
}

// written reports whether the word is indexed in just this form.
func (x *wordIndex) written(word string) bool {
	t, ok := x.forms[word]
	return ok && x.used(t) && classOf(word) != empty
}

package space

import (
	"context"
	"math"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/wipagent/wipagent/idl"
)

// Words is the built-in Ranker. It compares the words of the query with those
// of names, aliases, titles, summaries and documentation: forms of a word,
// compounds written apart or together, slips of the finger, and a few words
// that mean the same everywhere. It needs no model and no network.
//
// How good a candidate is follows BM25F: rare words count more, a word in a
// name counts more than one in a description, and repetitions count less and
// less. Whether it is strong does not follow from that sum, which has no
// absolute meaning, but from coverage: the share of what the query says, each
// word weighted by its rarity, that the candidate's words answer to. A word
// that is known nowhere is rarest of all, so that a question about something
// else is not strong because of the words that every question has.
type Words struct{}

var _ Ranker = Words{}

// field is a place where words stand: how much one counts, and how sure it is
// that the candidate is about it.
type field struct{ weight, cover float32 }

var (
	inName    = field{3, 1}
	inAlias   = field{2.4, 1}
	inTitle   = field{2.4, 1}
	inPath    = field{1.6, 0.9}
	inKind    = field{1.2, 0.9} // the interface's name
	inDoc     = field{1.4, 0.9}
	inSummary = field{1.2, 0.85}
	inParam   = field{0.8, 0.75} // parameters and the labels of their enums
	inMore    = field{0.5, 0.6}  // documentation of parameters, and of the interface
)

const (
	saturation = 1.2 // BM25's k: what a word's second occurrence is worth
	fromEntry  = 0.7 // what a word of the entry is worth to its operations
	maxWords   = 32  // words of a query that count
	maxPhrase  = 8   // words of an alias that is matched as a phrase
	maxText    = 2000
)

// Index builds the index over candidates.
func (Words) Index(candidates []Candidate) Index {
	x := &wordIndex{terms: map[string]int{}, forms: map[string]int{}, phrases: map[int][]phrase{}}
	operations := map[*idl.Operation]int{}
	nodes := map[*Node]int{}
	for _, c := range candidates {
		p := pair{node: -1, operation: -1}
		if n, ok := nodes[c.Node]; ok {
			p.node = n
		} else {
			p.node = x.addNode(c.Node)
			nodes[c.Node] = p.node
		}
		if c.Operation != nil {
			o, ok := operations[c.Operation]
			if !ok {
				o = x.addOperation(c.Operation)
				operations[c.Operation] = o
			}
			p.operation = o
		}
		x.pairs = append(x.pairs, p)
	}
	return x
}

// wordIndex is an inverted index. Documents are operations and nodes, each
// indexed once however many candidates it belongs to.
type wordIndex struct {
	terms     map[string]int // a stem's number
	forms     map[string]int // a word's term, as it is written
	postings  [][]posting    // by term
	spellings []spelling     // words as written, for slips
	documents int
	pairs     []pair // by candidate
	phrases   map[int][]phrase
	nameTerms []int  // by document: how many words its name has
	tells     []bool // by document: an operation that changes nothing
}

// pair says which documents make a candidate; operation is -1 for none.
type pair struct{ node, operation int }

type posting struct {
	document int32
	weight   float32 // of all occurrences together
	cover    float32 // of the best occurrence
	name     bool    // stands in the name or title
}

type spelling struct {
	word    string
	letters uint64 // one bit a letter or digit
	term    int
}

// phrase is an alias or a name as a row of terms.
type phrase struct {
	document int
	terms    []int
}

func (x *wordIndex) addOperation(op *idl.Operation) int {
	d := x.document()
	name := split(op.Name)
	x.nameTerms[d] = len(name)
	x.tells[d] = op.Risk == idl.ReadOnly
	x.add(d, inName, name, true)
	x.addPhrase(d, name)
	for _, a := range op.Aliases {
		words := split(bounded(a))
		x.add(d, inAlias, words, true)
		x.addPhrase(d, words)
	}
	x.add(d, inDoc, split(bounded(op.Doc)), false)
	for _, p := range op.Params {
		x.add(d, inParam, split(p.Name), false)
		x.add(d, inMore, split(bounded(p.Doc)), false)
		x.addType(d, p.Type, 0)
	}
	if op.Interface != nil {
		x.add(d, inKind, split(op.Interface.Name), true)
		x.add(d, inMore, split(bounded(op.Interface.Doc)), false)
	}
	return d
}

// addType adds the labels that an argument may have.
func (x *wordIndex) addType(d int, t *idl.Type, depth int) {
	switch {
	case t == nil || depth > 3:
	case t.Enum != nil:
		for _, l := range t.Enum.Labels {
			x.add(d, inMore, split(l.Name), false)
		}
	default:
		x.addType(d, t.Elem, depth+1)
	}
}

func (x *wordIndex) addNode(n *Node) int {
	d := x.document()
	title := split(n.Title)
	x.nameTerms[d] = len(title)
	x.add(d, inTitle, title, true)
	x.addPhrase(d, title)
	x.add(d, inSummary, split(n.Summary), false)
	x.add(d, inPath, split(n.Path), true)
	if n.Mount != nil && n.Mount.Path != n.Path {
		x.add(d, inMore, split(n.Mount.Title), false)
	}
	return d
}

func (x *wordIndex) document() int {
	x.documents++
	x.nameTerms = append(x.nameTerms, 0)
	x.tells = append(x.tells, false)
	return x.documents - 1
}

// add indexes the words of one field. Where compounds may be written together,
// each two neighbours are indexed as one word too.
func (x *wordIndex) add(d int, f field, words []string, compounds bool) {
	// A long text says less with each word.
	named := f == inName
	f.weight /= float32(math.Sqrt(1 + float64(len(words))/20))
	for i, w := range words {
		if classOf(w) != empty || named && light[w] {
			x.post(d, f, w, compounds)
		}
		if compounds && i+1 < len(words) && len(w) > 1 {
			x.post(d, f, w+words[i+1], false)
		}
	}
}

func (x *wordIndex) post(d int, f field, word string, name bool) {
	t := x.term(word)
	list := x.postings[t]
	if len(list) == 0 || list[len(list)-1].document != int32(d) {
		list = append(list, posting{document: int32(d)})
	}
	p := &list[len(list)-1]
	p.weight += f.weight
	p.cover = max(p.cover, f.cover)
	p.name = p.name || name && f.cover == 1
	x.postings[t] = list
}

// term returns the number of a word's stem, a new one if need be.
func (x *wordIndex) term(word string) int {
	if t, ok := x.forms[word]; ok {
		return t
	}
	s := stem(word)
	t, ok := x.terms[s]
	if !ok {
		t = len(x.postings)
		x.terms[s] = t
		x.postings = append(x.postings, nil)
	}
	x.forms[word] = t
	x.spellings = append(x.spellings, spelling{word, letters(word), t})
	return t
}

func (x *wordIndex) addPhrase(d int, words []string) {
	if len(words) == 0 || len(words) > maxPhrase || !slices.ContainsFunc(words, func(w string) bool { return classOf(w) != empty }) && len(words) < 2 {
		return
	}
	p := phrase{document: d}
	for _, w := range words {
		p.terms = append(p.terms, x.term(w))
	}
	x.phrases[p.terms[0]] = append(x.phrases[p.terms[0]], p)
}

// bounded cuts a text to what is worth indexing.
func bounded(text string) string {
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "")
	}
	return text
}

// queryWord is a word of the query and the terms that answer to it.
type queryWord struct {
	word    string
	class   wordClass
	term    int // of the word itself; -1 if it is known nowhere
	matches []match
	weight  float64 // rarity, less for a faint word
}

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

// cell is what a document has for one word of the query.
type cell struct{ weight, cover float32 }

// Rank scores the candidates that share a word with the query. It never fails.
func (x *wordIndex) Rank(_ context.Context, query string) ([]Score, error) {
	words := x.read(query)
	total := 0.0
	for _, w := range words {
		total += w.weight
	}
	width := len(words)
	cells := make([]cell, x.documents*width)
	touched := make([]bool, x.documents)
	named := make([]int, x.documents) // words of the query in the name
	for i, w := range words {
		if w.weight == 0 {
			continue
		}
		for _, m := range w.matches {
			for _, p := range x.postings[m.term] {
				c := &cells[int(p.document)*width+i]
				if c.weight == 0 && p.name {
					named[p.document]++
				}
				c.weight = max(c.weight, m.quality*p.weight)
				c.cover = max(c.cover, m.quality*p.cover)
				touched[p.document] = true
			}
		}
	}
	phrased := x.findPhrases(words, cells, touched)
	question := len(words) > 0 && asking[words[0].word]

	var scores []Score
	for i, p := range x.pairs {
		if !touched[p.node] && (p.operation < 0 || !touched[p.operation]) {
			continue
		}
		node := cells[p.node*width:][:width]
		op := node
		if p.operation >= 0 {
			op = cells[p.operation*width:][:width]
		}
		var value, covered, own float64
		for j, w := range words {
			weight, cover := op[j].weight, op[j].cover
			own += w.weight * float64(cover)
			if p.operation >= 0 {
				weight += fromEntry * node[j].weight
				cover = max(cover, node[j].cover)
			}
			value += w.weight * float64(weight/(weight+saturation))
			covered += w.weight * float64(cover)
		}
		phrase := 0.0
		if p.operation >= 0 {
			phrase = phrased[p.operation]
		} else {
			phrase = phrased[p.node]
		}
		if total > 0 {
			value, covered, own = value/total, covered/total, own/total
		} else {
			covered, own = phrase, phrase
		}
		value *= 0.4 + 0.6*covered
		value += phraseBonus * phrase
		if p.operation >= 0 && x.nameTerms[p.operation] > 0 {
			value += nameBonus * min(1, float64(named[p.operation])/float64(x.nameTerms[p.operation])) * covered
			if question && x.tells[p.operation] {
				value *= questionBoost
			}
		} else if p.operation < 0 {
			value *= placeShare
		}
		if value > 0 {
			scores = append(scores, Score{Candidate: i, Value: value, Strong: covered >= strongCover && own >= strongOwn})
		}
	}
	return scores, nil
}

// When a candidate is strong: its words, with its entry's, answer to this
// share of the query; and its own alone to that.
const (
	strongCover = 0.66
	strongOwn   = 0.3
)

// What changes a candidate's value beyond its words.
const (
	phraseBonus   = 0.4 // by the share of the query that a name or an alias takes word for word
	nameBonus     = 0.2 // by the share of the name that the query has
	questionBoost = 1.3 // for what only tells, if the query is a question
	placeShare    = 0.8 // for an entry: an operation is more use
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
		w := &words[i]
		if w.class == empty && light[w.word] && w.used(x) {
			w.class = faint
		}
		if w.class == empty {
			continue
		}
		if w.used(x) {
			w.matches = append(w.matches, match{w.term, 1})
		}
		if i+1 < len(words) { // written apart here, together there
			if t := x.known(w.word + words[i+1].word); t >= 0 && len(x.postings[t]) > 0 {
				w.matches = append(w.matches, match{t, joinedQuality})
				words[i+1].matches = append(words[i+1].matches, match{t, joinedQuality})
			}
		}
		for _, s := range synonyms[stem(w.word)] {
			if t, ok := x.terms[s]; ok && len(x.postings[t]) > 0 {
				w.matches = append(w.matches, match{t, synonymQuality})
			}
		}
		if len(w.matches) == 0 && w.class == content {
			w.matches = x.similar(w.word)
			if len(w.matches) > 0 {
				w.term = w.matches[0].term
			}
		}
	}
	argument := false // whether this word stands where arguments do
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
	return words
}

// used reports whether the word itself is indexed.
func (w *queryWord) used(x *wordIndex) bool { return w.term >= 0 && len(x.postings[w.term]) > 0 }

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
	return ok && len(x.postings[t]) > 0 && classOf(word) != empty
}

// similar returns the terms that an unknown word may be a slip for: spellings
// one or two edits away, by length, else words that it begins.
func (x *wordIndex) similar(word string) []match {
	length := utf8.RuneCountInString(word)
	allowed := 0
	switch {
	case length >= 8:
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
		if len(x.postings[s.term]) == 0 || bits.OnesCount64(mask^s.letters) > 2*allowed {
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
	for _, s := range x.spellings {
		if len(x.postings[s.term]) > 0 && len(s.word) > len(word) && strings.HasPrefix(s.word, word) &&
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

// findPhrases finds names and aliases that stand in the query word for word,
// marks their words as fully answered, and returns for each document the share
// of the query's words that its longest phrase takes.
func (x *wordIndex) findPhrases(words []queryWord, cells []cell, touched []bool) []float64 {
	shares := make([]float64, x.documents)
	if len(words) == 0 {
		return shares
	}
	width := len(words)
	for at, w := range words {
		if w.term < 0 {
			continue
		}
	phrases:
		for _, p := range x.phrases[w.term] {
			if at+len(p.terms) > width {
				continue
			}
			for k, t := range p.terms {
				if words[at+k].term != t {
					continue phrases
				}
			}
			touched[p.document] = true
			for k := range p.terms {
				c := &cells[p.document*width+at+k]
				c.cover = 1
				c.weight = max(c.weight, inAlias.weight)
			}
			shares[p.document] = max(shares[p.document], float64(len(p.terms))/float64(width))
		}
	}
	return shares
}

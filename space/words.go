package space

import (
	"context"
	"slices"

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
	saturation = 1.2  // BM25's k: what a word's second occurrence is worth
	fromEntry  = 0.7  // what a word of the entry is worth to its operations
	maxWords   = 32   // words of a query that count
	maxText    = 2000 // bytes of one text that count
)

// Index builds the index over candidates.
func (Words) Index(candidates []Candidate) Index {
	x := &wordIndex{terms: map[string]int{}, forms: map[string]int{}, phrases: map[int][]phrase{}}
	operations := map[*idl.Operation]int{}
	nodes := map[*Node]int{}
	for _, c := range candidates {
		p := pair{operation: -1}
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

// evidence is what a query found in the documents, by document.
type evidence struct {
	width   int       // words of the query
	cells   []cell    // by document and word
	touched []bool    // whether there is anything
	named   []int     // words of the query in the name or an alias
	phrased []float64 // share of the query that a name or an alias takes word for word
	exact   []float64 // 1 if the query is a name or an alias and nothing else, less if in other forms
	meant   []bool    // whether a name or an alias has the verb that demands a change
}

// cell is what a document has for one word of the query.
type cell struct{ weight, cover float32 }

// Rank scores the candidates that share a word with the query. It never fails.
func (x *wordIndex) Rank(_ context.Context, query string) ([]Score, error) {
	words := x.read(query)
	total := 0.0
	for _, w := range words {
		total += w.weight
	}
	verb, demand := demanded(words)
	e := x.gather(words, verb)
	question := len(words) > 0 && asking[words[0].word]
	var scores []Score
	for i, p := range x.pairs {
		if !e.touched[p.node] && (p.operation < 0 || !e.touched[p.operation]) {
			continue
		}
		score := x.score(p, words, e, total)
		switch {
		case p.operation < 0:
			score.Value *= placeShare
		case question && x.tells[p.operation]:
			score.Value *= questionBoost
		case demand && x.tells[p.operation] && !e.meant[p.operation] && !slices.Contains(x.names[p.operation], words[verb].term):
			score.Value *= demandShare
			score.Strong = false
		}
		if score.Candidate = i; score.Value > 0 {
			scores = append(scores, score)
		}
	}
	return scores, nil
}

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

// gather looks the words up and finds the phrases. verb is the word that
// demands a change, or -1.
func (x *wordIndex) gather(words []queryWord, verb int) *evidence {
	e := &evidence{
		width: len(words), cells: make([]cell, x.documents*len(words)), touched: make([]bool, x.documents),
		named: make([]int, x.documents), phrased: make([]float64, x.documents),
		exact: make([]float64, x.documents), meant: make([]bool, x.documents),
	}
	for i, w := range words {
		if w.weight == 0 {
			continue
		}
		for _, m := range w.matches {
			for _, p := range x.postings[m.term] {
				c := &e.of(int(p.document))[i]
				if c.weight == 0 && p.name {
					e.named[p.document]++
				}
				c.weight = max(c.weight, m.quality*p.weight)
				c.cover = max(c.cover, m.quality*p.cover)
				e.touched[p.document] = true
			}
		}
	}
	x.findPhrases(words, verb, e)
	return e
}

// of returns a document's cells.
func (e *evidence) of(document int) []cell { return e.cells[document*e.width:][:e.width] }

// score adds up what speaks for a pair. An operation has the words of its
// entry too, at less weight.
func (x *wordIndex) score(p pair, words []queryWord, e *evidence, total float64) Score {
	document, entry := p.operation, e.of(p.node)
	if document < 0 {
		document, entry = p.node, nil
	}
	var value, covered, own float64
	for i, c := range e.of(document) {
		own += words[i].weight * float64(c.cover)
		if entry != nil {
			c.weight += fromEntry * entry[i].weight
			c.cover = max(c.cover, entry[i].cover)
		}
		value += words[i].weight * float64(c.weight/(c.weight+saturation))
		covered += words[i].weight * float64(c.cover)
	}
	phrase := e.phrased[document]
	if total > 0 {
		value, covered, own = value/total, covered/total, own/total
	} else { // the query has no word that says anything: only a phrase can be meant
		covered, own = phrase, phrase
	}
	if vague(words) { // what such words say, they say together
		own = min(own, phrase)
	}
	value *= 0.4 + 0.6*covered
	value += phraseBonus * phrase
	if p.operation >= 0 {
		value += nameBonus * min(1, float64(e.named[document])/float64(max(1, len(x.names[document])))) * covered
	}
	value += exactBonus * e.exact[document]
	return Score{Value: value, Strong: e.exact[document] > 0 || covered >= strongCover && own >= strongOwn}
}

// vague reports whether no word of the query has content.
func vague(words []queryWord) bool {
	return !slices.ContainsFunc(words, func(w queryWord) bool { return w.class == content })
}

// When a candidate is strong: its words, with its entry's, answer to this
// share of the query; and its own alone to that.
const (
	strongCover = 0.66
	strongOwn   = 0.3
)

// What changes a candidate's value beyond its words.
const (
	exactBonus    = 3   // for a query that is a name or an alias: more than all else together
	phraseBonus   = 0.4 // by the share of the query that a name or an alias takes word for word
	nameBonus     = 0.2 // by the share of the name that the query has
	questionBoost = 1.3 // for what only tells, if the query is a question
	demandShare   = 0.8 // for what only tells, if the query demands a change that its name does not
	placeShare    = 0.8 // for an entry: an operation is more use than a place
)

// findPhrases finds names and aliases that stand in the query word for word and
// marks their words as fully answered. A single word that says nothing is a
// phrase only if it is all of the query.
func (x *wordIndex) findPhrases(words []queryWord, verb int, e *evidence) {
	for at, w := range words {
		if w.term < 0 {
			continue
		}
		for _, p := range x.phrases[w.term] {
			n := len(p.terms)
			if !p.standsAt(words[at:]) || n == 1 && w.class == empty && e.width > 1 {
				continue
			}
			d := p.document
			e.touched[d] = true
			for k := range p.terms {
				c := &e.of(d)[at+k]
				c.cover = 1
				c.weight = max(c.weight, inAlias.weight)
			}
			e.phrased[d] = max(e.phrased[d], float64(n)/float64(e.width))
			e.meant[d] = e.meant[d] || at <= verb && verb < at+n
			if n == e.width {
				e.exact[d] = max(e.exact[d], p.likeness(words))
			}
		}
	}
}

// standsAt reports whether words begin with the phrase.
func (p phrase) standsAt(words []queryWord) bool {
	if len(p.terms) > len(words) {
		return false
	}
	for i, t := range p.terms {
		if words[i].term != t {
			return false
		}
	}
	return true
}

// likeness is 1 for words that are the phrase as it is written, and less for
// other forms of them: where one alias has these forms, it is meant.
func (p phrase) likeness(words []queryWord) float64 {
	const otherForms = 0.5
	for i, w := range p.words {
		if words[i].word != w {
			return otherForms
		}
	}
	return 1
}

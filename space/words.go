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
		for _, d := range []int{p.node, p.operation} {
			if d >= 0 {
				x.candidates[d] = append(x.candidates[d], int32(len(x.pairs)))
			}
		}
		x.pairs = append(x.pairs, p)
	}
	return x
}

// evidence is what a query found in the documents. It is used again, so that a
// query costs by what it finds.
type evidence struct {
	width     int     // words of the query
	row       []int32 // by document: where it is in what follows, and 1; 0 if nothing was found
	documents []int32 // in which there is something
	cells     []cell  // by row and word
	rows      []finding
}

// finding is what a query found in one document, beside its cells.
type finding struct {
	named   int     // words of the query in the name or an alias
	phrased float64 // share of the query that a name or an alias takes word for word
	exact   float64 // 1 if the query is a name or an alias and nothing else, less if in other forms
	meant   bool    // whether a name or an alias has the verb that demands a change
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
	defer x.release(e)
	question := len(words) > 0 && asking[words[0].word]
	most := 0
	for _, d := range e.documents {
		most += len(x.candidates[d])
	}
	scores := make([]Score, 0, most)
	rank := func(p pair, entry []cell) Score {
		score := x.score(p, entry, words, e, total)
		switch {
		case p.operation < 0:
			score.Value *= placeShare
		case question && x.tells[p.operation]:
			score.Value *= questionBoost
		case demand && x.tells[p.operation] && !e.finding(p.operation).meant && !slices.Contains(x.names[p.operation], words[verb].term):
			score.Value *= demandShare
			score.Strong = false
		}
		return score
	}
	for _, d := range e.documents {
		alone, done := Score{}, false
		for _, i := range x.candidates[d] {
			p := x.pairs[i]
			score := alone
			switch entry := e.of(p.node); {
			case p.node == int(d): // all of the entry's candidates
				score = rank(p, entry)
			case entry != nil:
				continue // they come with the entry
			case !done: // of entries of which nothing was found, all score alike
				alone, done = rank(p, nil), true
				score = alone
			}
			if score.Candidate = int(i); score.Value > 0 {
				scores = append(scores, score)
			}
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
	e, ok := x.scratch.Get().(*evidence)
	if !ok {
		e = &evidence{row: make([]int32, x.documents)}
	}
	e.width = len(words)
	for i, w := range words {
		if w.weight == 0 {
			continue
		}
		for _, m := range w.matches {
			for _, p := range x.postings[m.term] {
				cells, f := e.touch(int(p.document))
				c := &cells[i]
				if c.weight == 0 && p.name {
					f.named++
				}
				c.weight = max(c.weight, m.quality*p.weight)
				c.cover = max(c.cover, m.quality*p.cover)
			}
		}
	}
	x.findPhrases(words, verb, e)
	return e
}

// release empties evidence for the next query.
func (x *wordIndex) release(e *evidence) {
	for _, d := range e.documents {
		e.row[d] = 0
	}
	e.documents, e.cells, e.rows = e.documents[:0], e.cells[:0], e.rows[:0]
	x.scratch.Put(e)
}

// of returns a document's cells; nil if there is nothing in it.
func (e *evidence) of(document int) []cell {
	if r := int(e.row[document]) - 1; r >= 0 {
		return e.cells[r*e.width:][:e.width]
	}
	return nil
}

// finding returns what else was found in a document.
func (e *evidence) finding(document int) finding {
	if r := e.row[document]; r > 0 {
		return e.rows[r-1]
	}
	return finding{}
}

// touch returns a document's cells and finding, to be changed.
func (e *evidence) touch(document int) ([]cell, *finding) {
	if e.row[document] == 0 {
		e.documents = append(e.documents, int32(document))
		e.row[document] = int32(len(e.documents))
		e.rows = append(e.rows, finding{})
		n := len(e.cells)
		e.cells = slices.Grow(e.cells, e.width)[:n+e.width]
		clear(e.cells[n:])
	}
	return e.of(document), &e.rows[e.row[document]-1]
}

// score adds up what speaks for a pair. An operation has the words of its
// entry too, at less weight.
func (x *wordIndex) score(p pair, entry []cell, words []queryWord, e *evidence, total float64) Score {
	document := p.operation
	if document < 0 {
		document, entry = p.node, nil
	}
	cells, f := e.of(document), e.finding(document)
	var value, covered, own float64
	for i := range words {
		var c cell
		if cells != nil {
			c = cells[i]
		}
		own += words[i].weight * float64(c.cover)
		if entry != nil {
			c.weight += fromEntry * entry[i].weight
			c.cover = max(c.cover, entry[i].cover)
		}
		value += words[i].weight * float64(c.weight/(c.weight+saturation))
		covered += words[i].weight * float64(c.cover)
	}
	phrase := f.phrased
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
		value += nameBonus * min(1, float64(f.named)/float64(max(1, len(x.names[document])))) * covered
	}
	value += exactBonus * f.exact
	return Score{Value: value, Strong: f.exact > 0 || covered >= strongCover && own >= strongOwn}
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
			cells, f := e.touch(p.document)
			for k := range p.terms {
				c := &cells[at+k]
				c.cover = 1
				c.weight = max(c.weight, inAlias.weight)
			}
			f.phrased = max(f.phrased, float64(n)/float64(e.width))
			f.meant = f.meant || at <= verb && verb < at+n
			if n == e.width {
				f.exact = max(f.exact, p.likeness(words))
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

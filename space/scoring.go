package space

import "slices"

// scoring makes scores of evidence.
type scoring struct {
	*wordIndex
	*evidence
	words    []queryWord
	total    float64
	verb     int  // the word that demands a change, or -1
	demand   bool // whether there is one
	question bool
	vague    bool
	room     []Score // for Fits
}

func newScoring(x *wordIndex, e *evidence, words []queryWord) *scoring {
	q := &scoring{wordIndex: x, evidence: e, words: words, vague: vague(words)}
	for _, w := range words {
		q.total += w.weight
	}
	q.verb, q.demand = demanded(words)
	q.question = len(words) > 0 && asking[words[0].word]
	return q
}

// fits sets the Fits of some candidates. Those of one offer that have one pattern
// have one Fit.
func (q *scoring) fits(from int, of []int32) []Fit {
	const dense = 1 << 18
	var fits []Fit
	var table []int32 // 1 more than the number of the Fit
	var sparse map[uint64]int32
	patterns := uint64(len(q.shared.findings))
	if size := patterns * uint64(len(q.offers)); size <= dense {
		table = make([]int32, size)
	} else {
		sparse = map[uint64]int32{}
	}
	for i := range of {
		pattern, offer := q.nodes[q.document(from+i)], q.offer[from+i]
		if pattern < 0 {
			if fit, any := q.fit(pattern, q.offers[offer]); any {
				fits = append(fits, fit)
				of[i] = int32(len(fits))
			}
			continue
		}
		key := uint64(offer)*patterns + uint64(pattern)
		var n int32
		if table != nil {
			n = table[key]
		} else {
			n = sparse[key]
		}
		if n == 0 {
			n = 1
			if fit, any := q.fit(pattern, q.offers[offer]); any {
				fits = append(fits, fit)
				n += int32(len(fits))
			}
			if table != nil {
				table[key] = n
			} else {
				sparse[key] = n
			}
		}
		of[i] = n - 1
	}
	return fits
}

// fit scores an entry of a pattern, and what it offers.
func (q *scoring) fit(node int32, offer []int32) (fit Fit, any bool) {
	if node != 0 {
		fit.Entry = q.score(node, nil, entryItself)
		fit.Entry.Value *= placeShare
		any = fit.Entry.Value > 0
	}
	for i, op := range offer {
		if q.evidence.operations[op] == 0 && node == 0 {
			continue
		}
		if fit.Operations == nil {
			fit.Operations = q.scores(len(offer))
		}
		fit.Operations[i] = q.operation(op, node)
		any = any || fit.Operations[i].Value > 0
	}
	return fit, any
}

// scores returns room for so many.
func (q *scoring) scores(n int) []Score {
	if len(q.room) < n {
		q.room = make([]Score, max(n, 64))
	}
	list := q.room[:n:n]
	q.room = q.room[n:]
	return list
}

// operation scores an operation of an entry of a pattern. It has the words of its
// entry too, at less weight.
func (q *scoring) operation(op, node int32) Score {
	var entry []cell
	if node != 0 {
		entry, _ = q.pattern(node)
	}
	pattern, known := q.evidence.operations[op], q.wordIndex.operations
	_, f := q.pattern(pattern)
	score := q.score(pattern, entry, len(known.names[op]))
	switch {
	case !known.tells[op]:
	case q.question:
		score.Value *= questionBoost
	case q.demand && !f.meant && !slices.Contains(known.names[op], q.words[q.verb].stem):
		score.Value *= demandShare
		score.Strong = false
	}
	return score
}

// entryItself stands for the length of a name that is none.
const entryItself = -1

// score adds up what speaks for a document of a pattern, and of an operation the
// cells of its entry, which may be nil. name is the number of words in its name.
func (q *scoring) score(pattern int32, entry []cell, name int) Score {
	cells, f := q.pattern(pattern)
	var value, covered, own float64
	for i, c := range cells {
		weight := q.words[i].weight
		own += weight * float64(c.cover)
		if entry != nil {
			c.weight += fromEntry * entry[i].weight
			c.cover = max(c.cover, entry[i].cover)
		}
		value += weight * float64(c.weight/(c.weight+saturation))
		covered += weight * float64(c.cover)
	}
	if q.total > 0 {
		value, covered, own = value/q.total, covered/q.total, own/q.total
	} else { // the query has no word that says anything: only a row can be meant
		covered, own = f.phrased, f.phrased
	}
	if q.vague { // what such words say, they say together
		own = min(own, f.phrased)
	}
	value *= 0.4 + 0.6*covered
	value += phraseBonus * f.phrased
	if name != entryItself {
		value += nameBonus * min(1, float64(f.named)/float64(max(1, name))) * covered
	}
	value += exactBonus * f.exact
	return Score{Value: value, Strong: f.exact > 0 || covered >= strongCover && own >= strongOwn}
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

package space

import (
	"context"
	"slices"
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

// Rank scores what shares a word with the query. It never fails.
func (x *wordIndex) Rank(_ context.Context, query string, from int, of []int32) ([]Fit, error) {
	words := read(x, query)
	e, ok := x.scratch.Get().(*evidence)
	if !ok {
		e = &evidence{operations: make([]int32, x.operations.documents), nodes: make([]int32, x.main.documents+x.rest.documents)}
	}
	sources := x.sources(e, from, from+len(of))
	defer func() {
		for _, s := range sources {
			clear(s.of[s.from:s.to])
		}
		x.scratch.Put(e)
	}()
	q := newScoring(x, e, words)
	e.begin(len(words))
	for i, w := range words {
		if w.weight == 0 {
			continue
		}
		for _, m := range w.matches {
			for _, s := range sources {
				e.look(s, i, m)
			}
		}
	}
	e.lookForRows(sources, words, q.verb)
	return q.fits(from, of), nil
}

// sources are what a query over some candidates looks in.
func (x *wordIndex) sources(e *evidence, from, to int) []source {
	main := int32(x.main.documents)
	first, last := main, int32(0)
	if x.at == nil {
		first, last = int32(from), int32(to)
	} else { // those of main are in the same order
		for _, d := range x.at[from:to] {
			if d < main {
				first = d
				break
			}
		}
		for _, d := range slices.Backward(x.at[from:to]) {
			if d < main {
				last = d + 1
				break
			}
		}
	}
	return []source{
		{x.operations.segment, e.operations, 0, int32(x.operations.documents)},
		{x.main, e.nodes[:main], first, max(first, last)},
		{x.rest, e.nodes[main:], 0, int32(x.rest.documents)},
	}
}

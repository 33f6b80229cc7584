package space

import (
	"slices"
	"sync"

	"github.com/wipagent/wipagent/idl"
)

// wordIndex is what Words knows of its candidates. Operations are indexed once
// each, however many entries have them, and entries without their operations. The
// entries are in main, but for those that changed since main was built: these are
// in rest, and what they were is in gone, so that what is in main and rest
// and not in gone is what there is. It is immutable.
type wordIndex struct {
	candidates       []Candidate
	operations       *operations
	offers           [][]int32 // the operations that candidates have, as documents
	offer            []int32   // by candidate
	main, rest, gone *segment
	left             []*Node   // that are in gone
	at               []int32   // by candidate: its document, those of rest after those of main; nil: candidate i is document i
	scratch          sync.Pool // of *evidence
}

// operations are all operations of an index.
type operations struct {
	*segment
	of    map[*idl.Operation]int32 // documents
	tells []bool                   // by document: it changes nothing
	names [][]string               // by document: the stems of its name
}

// An index is made of an earlier one if no more entries changed than fewChanges,
// and a small share of all.
const (
	fewChanges  = 256
	changeShare = 32
)

// Index builds the index over candidates.
func (Words) Index(candidates []Candidate, was Index) Index {
	x := &wordIndex{candidates: candidates}
	old, _ := was.(*wordIndex)
	x.addOffers(old)
	if old == nil || !x.follow(old) {
		b := newBuilder()
		for i := range candidates {
			b.node(candidates[i].Node)
		}
		x.main, x.rest, x.gone, x.left, x.at = b.segment(), &segment{}, &segment{}, nil, nil
	}
	return x
}

// addOffers indexes what the candidates offer.
func (x *wordIndex) addOffers(old *wordIndex) {
	type list struct {
		first *NamedOperation
		count int
	}
	known := map[list]int32{{}: 0}
	lists := [][]NamedOperation{nil}
	x.offer = make([]int32, len(x.candidates))
	for i := range x.candidates {
		ops := x.candidates[i].Operations
		if len(ops) == 0 {
			continue
		}
		key := list{&ops[0], len(ops)}
		o, ok := known[key]
		if !ok {
			o = int32(len(lists))
			known[key], lists = o, append(lists, ops)
		}
		x.offer[i] = o
	}
	var all []*idl.Operation
	seen := map[*idl.Operation]bool{}
	for _, ops := range lists {
		for _, op := range ops {
			if !seen[op.Operation] {
				seen[op.Operation] = true
				all = append(all, op.Operation)
			}
		}
	}
	if old != nil && old.operations.are(all) {
		x.operations = old.operations
	} else {
		x.operations = newOperations(all)
	}
	x.offers = make([][]int32, len(lists))
	for i, ops := range lists {
		for _, op := range ops {
			x.offers[i] = append(x.offers[i], x.operations.of[op.Operation])
		}
	}
}

// are reports whether the operations are those.
func (o *operations) are(all []*idl.Operation) bool {
	return len(all) == len(o.of) && !slices.ContainsFunc(all, func(op *idl.Operation) bool {
		_, ok := o.of[op]
		return !ok
	})
}

func newOperations(all []*idl.Operation) *operations {
	o := &operations{of: make(map[*idl.Operation]int32, len(all)), tells: make([]bool, len(all)), names: make([][]string, len(all))}
	b := newBuilder()
	for i, op := range all {
		o.of[op], o.tells[i], o.names[i] = int32(i), op.Risk == idl.ReadOnly, b.operation(op)
	}
	o.segment = b.segment()
	return o
}

// follow makes the entries' part of the index of an earlier one's. It reports
// false if too much has changed.
func (x *wordIndex) follow(old *wordIndex) bool {
	main := int32(old.main.documents)
	most := max(fewChanges, len(x.candidates)/changeShare)
	x.at = make([]int32, len(x.candidates))
	x.left = slices.Clone(old.left)
	var rest []*Node
	i := 0
	leave := func() {
		if old.document(i) < main {
			x.left = append(x.left, old.candidates[i].Node)
		}
		i++
	}
	for k := range x.candidates {
		n := x.candidates[k].Node
		for i < len(old.candidates) && old.candidates[i].Node.Path != n.Path && comparePaths(old.candidates[i].Node.Path, n.Path) < 0 {
			leave()
		}
		if i < len(old.candidates) && old.candidates[i].Node.Path == n.Path {
			if d := old.document(i); d < main && sameWords(old.candidates[i].Node, n) {
				x.at[k] = d
				i++
				continue
			}
			leave()
		}
		x.at[k] = main + int32(len(rest))
		if rest = append(rest, n); len(rest)+len(x.left) > most {
			return false
		}
	}
	for i < len(old.candidates) {
		leave()
	}
	if len(rest)+len(x.left) > most {
		return false
	}
	x.main, x.rest, x.gone = old.main, segmentOf(rest), segmentOf(x.left)
	if len(rest)+len(x.left) == 0 {
		x.at = nil
	}
	return true
}

func segmentOf(nodes []*Node) *segment {
	b := newBuilder()
	for _, n := range nodes {
		b.node(n)
	}
	return b.segment()
}

// document returns the document of a candidate.
func (x *wordIndex) document(candidate int) int32 {
	if x.at == nil {
		return int32(candidate)
	}
	return x.at[candidate]
}

func (x *wordIndex) size() int { return x.operations.documents + len(x.candidates) }

func (x *wordIndex) frequency(stem string) int {
	return x.operations.frequency(stem) + x.main.frequency(stem) + x.rest.frequency(stem) - x.gone.frequency(stem)
}

func (x *wordIndex) written(word string) bool {
	return x.operations.written(word)+x.main.written(word)+x.rest.written(word)-x.gone.written(word) > 0
}

func (x *wordIndex) similar(word string) []match {
	s := slipOf(word)
	if s == nil {
		return nil
	}
	used := func(f *form) bool { return x.gone.documents == 0 || x.written(f.word) }
	parts := []*segment{x.operations.segment, x.main, x.rest}
	for _, beginning := range s.beginnings() {
		for _, part := range parts {
			s.near(part.beginning(beginning), used)
		}
	}
	if len(s.matches) == 0 {
		for _, part := range parts {
			s.begun(part.beginning(word), used)
		}
	}
	return s.sorted()
}

package space

import (
	"cmp"
	"slices"
)

// scores are what one search knows of a View's candidates in a scope. They are
// used again, so that a search costs by what it finds and not by what there is.
type scores struct {
	from, to int     // the entries of the scope
	of       []Score // by candidate
	found    []int32 // candidates that have a score
	entries  []int32 // that have one, in the order of their paths
	has      []bool  // by entry
	best     []ranking
}

// ranking is how well an entry fits.
type ranking struct {
	entry int32
	best  Score
	old   bool // best is of a deprecated operation
}

// scores returns empty scores for some of the entries.
func (v *View) scores(from, to int) *scores {
	sc, ok := v.scratch.Get().(*scores)
	if !ok {
		sc = &scores{of: make([]Score, len(v.candidates)), has: make([]bool, len(v.entries))}
	}
	sc.from, sc.to = from, to
	return sc
}

// release empties scores for the next search.
func (v *View) release(sc *scores) {
	for _, c := range sc.found {
		sc.of[c] = Score{}
	}
	for _, e := range sc.entries {
		sc.has[e] = false
	}
	sc.found, sc.entries, sc.best = sc.found[:0], sc.entries[:0], sc.best[:0]
	v.scratch.Put(sc)
}

// take enters what the ranker says of the scope.
func (sc *scores) take(v *View, ranked []Score) {
	for _, s := range ranked {
		if s.Candidate < 0 || s.Candidate >= len(sc.of) || !(s.Value > 0) { // NaN is not
			continue
		}
		e := v.owners[s.Candidate]
		if int(e) < sc.from || int(e) >= sc.to {
			continue
		}
		if sc.of[s.Candidate].Value == 0 {
			sc.found = append(sc.found, int32(s.Candidate))
		}
		sc.of[s.Candidate] = s
		if !sc.has[e] {
			sc.has[e] = true
			sc.entries = append(sc.entries, e)
		}
	}
	if !slices.IsSorted(sc.entries) {
		slices.Sort(sc.entries)
	}
}

// grouped makes hits of the scores: an entry counts as its best candidate, and
// strong goes before weak. What is deprecated goes behind all that is not. There
// are no more than a search can show, and one.
func (sc *scores) grouped(v *View) []*group {
	top := 0.0
	for _, i := range sc.entries {
		e := v.entries[i]
		r := ranking{entry: i, best: sc.of[e.candidate]}
		for k := range e.operations {
			s := sc.of[e.candidate+1+k]
			if s.Value <= 0 {
				continue
			}
			if old := e.operations[k].Operation.Deprecated != ""; r.best.Value <= 0 || ranked(old, r.old, s, r.best) < 0 {
				r.best, r.old = s, old
			}
		}
		top = max(top, r.best.Value)
		sc.best = append(sc.best, r)
	}
	var first []ranking // sorted
	for _, r := range sc.best {
		if !r.best.Strong && r.best.Value < worst*top {
			continue
		}
		full := len(first) > maxHits
		if full && before(first[maxHits], r) <= 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(first, r, before)
		if full {
			first = first[:maxHits]
		}
		first = slices.Insert(first, at, r)
	}
	groups := make([]*group, len(first))
	for i, r := range first {
		groups[i] = sc.group(v.entries[r.entry], r.best)
	}
	return groups
}

// before orders rankings, best first.
func before(a, b ranking) int {
	return cmp.Or(ranked(a.old, b.old, a.best, b.best), cmp.Compare(a.entry, b.entry))
}

// group is an entry with those of its operations that have a score.
func (sc *scores) group(e *viewEntry, best Score) *group {
	g := &group{entry: e, best: best}
	for i, op := range e.operations {
		if s := sc.of[e.candidate+1+i]; s.Value > 0 {
			g.ops = append(g.ops, rankedOp{op, s})
		}
	}
	slices.SortStableFunc(g.ops, func(a, b rankedOp) int { return ranked(a.old(), b.old(), a.score, b.score) })
	return g
}

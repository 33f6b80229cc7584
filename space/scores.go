package space

import (
	"cmp"
	"slices"
)

// scores are what one search knows of a View's candidates in a scope.
type scores struct {
	view     *View
	from, to int // the candidates of the scope
	// of has the number of each candidate's Fit, from the scope's first on; 0
	// for none. It is used again.
	of   []int32
	fits []Fit // none of whose values is less than 0, or no number
}

// fit returns the Fit of a number.
func (sc *scores) fit(n int32) *Fit { return &sc.fits[n-1] }

// scoresOf returns empty scores for some of the candidates.
func (v *View) scoresOf(from, to int) *scores {
	sc, ok := v.scratch.Get().(*scores)
	if !ok {
		sc = &scores{view: v}
	}
	sc.from, sc.to = from, to
	sc.of = slices.Grow(sc.of[:0], to-from)[:to-from]
	clear(sc.of)
	return sc
}

// release keeps scores for the next search.
func (sc *scores) release() {
	sc.fits = nil
	sc.view.scratch.Put(sc)
}

// take enters what the ranker says.
func (sc *scores) take(fits []Fit) {
	sc.fits = fits
	for i := range fits {
		fits[i].Entry = fits[i].Entry.valid()
		for k, s := range fits[i].Operations {
			fits[i].Operations[k] = s.valid()
		}
	}
	for i, n := range sc.of {
		if n < 0 || int(n) > len(fits) {
			sc.of[i] = 0
		}
	}
}

// valid returns a score that says something, or none.
func (s Score) valid() Score {
	if s.Value > 0 { // NaN is not
		return s
	}
	return Score{}
}

// operation returns the score of an operation.
func (f *Fit) operation(i int) Score {
	if i < len(f.Operations) {
		return f.Operations[i]
	}
	return Score{}
}

// standing is how well the entries fit that have one Fit.
type standing struct {
	best Score
	old  bool // best is of a deprecated operation
	seen bool // there is such an entry
	out  bool // no entry that comes later is among the best
}

// ranking is how well an entry fits.
type ranking struct {
	entry int // index in the candidates
	*standing
}

// grouped makes hits of the scores: an entry counts as its best score, and
// strong goes before weak. What is deprecated goes behind all that is not. There
// are no more than a search can show, and one.
func (sc *scores) grouped() []*group {
	if len(sc.fits) == 0 {
		return nil
	}
	standings := make([]standing, len(sc.fits))
	top := 0.0
	for i, n := range sc.of {
		if n > 0 && !standings[n-1].seen {
			standings[n-1] = sc.fit(n).standing(sc.view.candidates[sc.from+i].Operations)
			top = max(top, standings[n-1].best.Value)
		}
	}
	for i := range standings {
		s := &standings[i]
		s.out = s.best.Value == 0 || !s.best.Strong && s.best.Value < worst*top
	}
	var first []ranking // sorted
	for i, n := range sc.of {
		if n == 0 || standings[n-1].out {
			continue
		}
		r := ranking{sc.from + i, &standings[n-1]}
		if len(first) > maxHits {
			if before(first[maxHits], r) <= 0 {
				r.out = true
				continue
			}
			first = first[:maxHits]
		}
		at, _ := slices.BinarySearchFunc(first, r, before)
		first = slices.Insert(first, at, r)
	}
	groups := make([]*group, len(first))
	for i, r := range first {
		groups[i] = sc.group(r)
	}
	return groups
}

// standing returns how well entries with these operations fit.
func (f *Fit) standing(operations []NamedOperation) standing {
	s := standing{best: f.Entry, seen: true}
	for i, op := range operations {
		score, old := f.operation(i), op.Operation.Deprecated != ""
		if score.Value > 0 && (s.best.Value == 0 || ranked(old, s.old, score, s.best) < 0) {
			s.best, s.old = score, old
		}
	}
	return s
}

// before orders rankings, best first.
func before(a, b ranking) int {
	return cmp.Or(ranked(a.old, b.old, a.best, b.best), cmp.Compare(a.entry, b.entry))
}

// group is an entry with those of its operations that have a score.
func (sc *scores) group(r ranking) *group {
	g := &group{entry: &sc.view.candidates[r.entry], best: r.best}
	f := sc.fit(sc.of[r.entry-sc.from])
	for i, op := range g.entry.Operations {
		if s := f.operation(i); s.Value > 0 {
			g.ops = append(g.ops, rankedOp{op, s})
		}
	}
	slices.SortStableFunc(g.ops, func(a, b rankedOp) int { return ranked(a.old(), b.old(), a.score, b.score) })
	return g
}

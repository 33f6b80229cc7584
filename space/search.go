package space

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/cleantext"
)

// Bounds of a search's answer.
const (
	maxQuery     = 512 // bytes of the query that count
	maxHits      = 10
	maxHitOps    = 5       // operations of one hit
	maxSignature = 512     // bytes of one signature
	maxMap       = 2 << 10 // bytes
	maxFound     = 8 << 10 // bytes of all texts together
	hitOverhead  = 80      // bytes of JSON around one hit's texts, about
)

// Strength says whether a hit answers the query, as far as can be told.
type Strength string

// The strengths. A weak hit has words in common with the query and may still
// be what was meant.
const (
	Strong Strength = "strong"
	Weak   Strength = "weak"
)

// Found is the answer to a search.
type Found struct {
	Hits []Hit `json:"hits"` // best first, at most 10; no entry twice
	// Map is what there is in the scope, at most 2 KiB: mounts, entries,
	// operation names. It is there when no hit is strong, and empty
	// otherwise or if there is nothing.
	Map string `json:"map,omitempty"`
	// Message says what the model should know of the answer; empty if
	// there is nothing to say.
	Message string `json:"message,omitempty"`
	// Truncated says that more was found than is shown; Message says how
	// to narrow.
	Truncated bool `json:"truncated"`
	// AgeMillis is how old what was searched is, in milliseconds: the age of
	// the oldest tree that the entries in the scope come from. It is 0 if
	// there is nothing in the scope.
	AgeMillis int64 `json:"age_millis"`
	// Err is why the ranker gave no ranking, for the operator; nil if it did.
	Err error `json:"-"`
}

// Hit is one entry that was found.
type Hit struct {
	Path     string   `json:"path"`
	Title    string   `json:"title"`   // cleaned; may be empty
	Summary  string   `json:"summary"` // cleaned; may be empty
	Strength Strength `json:"strength"`
	// Unavailable says that the entry's Host does not answer at the moment.
	Unavailable bool `json:"unavailable,omitempty"`
	// Trust is "untrusted_observed_data" if the words of the hit are those of a
	// Host that nobody vouches for; else empty.
	Trust string `json:"trust,omitempty"`
	// Operations are those that fit best, best first, at most 5; a folder
	// has none.
	Operations []OperationHit `json:"operations"`
}

// OperationHit is one operation of a Hit.
type OperationHit struct {
	Name      string `json:"name"`      // what Node.Operation understands
	Signature string `json:"signature"` // in IDL, at most 512 bytes
	// Deprecated says what to use instead; empty if it is not deprecated.
	Deprecated string `json:"deprecated,omitempty"`
}

const (
	nothingMatches = "Nothing here matches that well; this is what there is:"
	weakGuesses    = "These hits are weak guesses; the map shows all there is."
	nothingHere    = "There is nothing in this scope; the scope / is everything."
	noQuery        = "Without a query, this is what there is:"
	longQuery      = "Only the first 512 bytes of the query were used."
	moreMatches    = "More matches than are shown: use a narrower scope or more specific words."
)

// Search finds what fits query among the entries at and below scope, a path;
// an empty scope is everything, and one that does not exist is like one that
// holds nothing. The same View gives the same answer to the same question, but for
// its age.
func (v *View) Search(ctx context.Context, scope, query string) *Found {
	f := &Found{Hits: []Hit{}}
	from, to := 0, 0
	if path, ok := scopeOf(scope); ok {
		from, to = v.in(path)
	}
	entries := v.candidates[from:to]
	if !slices.ContainsFunc(entries, func(c Candidate) bool { return len(c.Operations) > 0 }) {
		f.Message = nothingHere
		return f
	}
	f.AgeMillis = v.age(from, to).Milliseconds()
	query = strings.TrimSpace(query)
	if len(query) > maxQuery {
		query = strings.ToValidUTF8(query[:maxQuery], "")
		f.say(longQuery)
	}
	sc := v.scoresOf(from, to)
	defer sc.release()
	if query != "" {
		fits, err := v.index.Rank(ctx, query, from, sc.of)
		if f.Err = err; err != nil {
			fits = nil
		}
		sc.take(fits)
	}
	groups, none := sc.grouped(), nothingMatches
	switch {
	case query == "":
		groups, none = listing(entries), noQuery
	case len(groups) > 0:
		none = weakGuesses
	}
	if len(groups) == 0 || !groups[0].best.Strong {
		f.say(none)
		f.Map = drawMap(sc)
	}
	f.fill(groups)
	if f.Truncated {
		f.say(moreMatches)
	}
	return f
}

// say adds a sentence to the message.
func (f *Found) say(sentence string) {
	if f.Message != "" {
		f.Message += " "
	}
	f.Message += sentence
}

// group is an entry with the scores that make it a hit, best first.
type group struct {
	entry *Candidate
	best  Score
	ops   []rankedOp
}

type rankedOp struct {
	op    NamedOperation
	score Score
}

func (r rankedOp) old() bool { return r.op.Operation.Deprecated != "" }

// worst is the share of the best hit's value below which a weak hit is noise.
const worst = 0.3

// ranked is compare for what may be deprecated.
func ranked(oldA, oldB bool, a, b Score) int {
	switch {
	case oldA == oldB:
		return compare(a, b)
	case oldA:
		return 1
	}
	return -1
}

// compare orders scores, best first.
func compare(a, b Score) int {
	if a.Strong != b.Strong {
		if a.Strong {
			return -1
		}
		return 1
	}
	return cmp.Compare(b.Value, a.Value)
}

// listing makes weak hits of all entries that have operations, in the order of
// their paths.
func listing(entries []Candidate) []*group {
	var groups []*group
	for i := range entries {
		if len(entries[i].Operations) > 0 {
			if groups = append(groups, &group{entry: &entries[i]}); len(groups) > maxHits {
				break // one more than is shown says that there are more
			}
		}
	}
	return groups
}

// fill turns groups into hits until a bound is reached.
func (f *Found) fill(groups []*group) {
	room := maxFound - len(f.Map) - len(f.Message) - len(moreMatches)
	for _, g := range groups {
		hit := g.hit()
		size := hitOverhead + len(hit.Path) + len(hit.Title) + len(hit.Summary) + len(hit.Trust)
		for i, op := range hit.Operations {
			if size += hitOverhead/2 + len(op.Name) + len(op.Signature) + len(op.Deprecated); size > room && i > 0 {
				hit.Operations, f.Truncated = hit.Operations[:i], true
				break
			}
		}
		if len(f.Hits) == maxHits || size > room && len(f.Hits) > 0 {
			f.Truncated = true
			return
		}
		room -= size
		f.Hits = append(f.Hits, hit)
	}
}

// hit shows a group. Where the entry alone fits the query, its first
// operations say what it is.
func (g *group) hit() Hit {
	n := g.entry.Node
	h := Hit{Path: n.Path, Title: n.Title, Summary: n.Summary, Strength: Weak, Operations: []OperationHit{}}
	h.Unavailable = n.Mount != nil && !n.Mount.Available()
	if n.Mount != nil && !n.Mount.Trusted {
		h.Trust = "untrusted_observed_data"
	}
	if g.best.Strong {
		h.Strength = Strong
	}
	if len(g.ops) == 0 {
		for _, op := range g.entry.Operations {
			g.ops = append(g.ops, rankedOp{op: op})
		}
		slices.SortStableFunc(g.ops, func(a, b rankedOp) int { return ranked(a.old(), b.old(), a.score, b.score) })
	}
	for _, r := range g.ops[:min(len(g.ops), maxHitOps)] {
		h.Operations = append(h.Operations, OperationHit{r.op.Name, signature(n.Mount, r.op.Operation), instead(n.Mount, r.op.Operation)})
	}
	return h
}

// instead says what to use instead of a deprecated operation, cleaned if its
// Host is a stranger.
func instead(m *Mount, op *idl.Operation) string {
	s := op.Deprecated
	if m == nil || !m.Trusted {
		s, _ = cleantext.Clean(s, 0)
	}
	return s
}

// signature is the operation in a line of IDL, cleaned if its Host is a
// stranger.
func signature(m *Mount, op *idl.Operation) string {
	s := op.Signature()
	if m == nil || !m.Trusted {
		s, _ = cleantext.Clean(s, 0)
	}
	if len(s) <= maxSignature {
		return s
	}
	const cut = "…"
	end := maxSignature - len(cut)
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + cut
}

package space

import "context"

// Ranker decides how well a query fits what there is. It is the place for
// another model of relevance, such as one with embeddings; [Words] is the
// built-in one.
type Ranker interface {
	// Index prepares for queries over candidates, which it may keep and must
	// not change. It is given exactly what one audience may see, by path.
	// was is an earlier index of this Ranker, over candidates of which many
	// may be the same, or nil: the new index may share what the two have in
	// common, and must answer as if there had been no other.
	Index(candidates []Candidate, was Index) Index
}

// Index answers queries over the candidates that it was made of. It must be
// safe for concurrent use and give the same answer to the same query.
type Index interface {
	// Rank says how well some of the candidates fit query: of the candidates
	// from the given one on, as many as of has elements, it sets the element of
	// each that has something to do with the query to the number of its Fit,
	// which is 1 for the first. The elements are 0 before. Candidates that
	// have the same operations and fit alike may have one Fit. An error means that
	// there is no ranking: the search then answers with the map alone.
	Rank(ctx context.Context, query string, from int, of []int32) ([]Fit, error)
}

// Candidate is one thing that a search can find: an entry, with those of its
// operations that the audience may see.
type Candidate struct {
	Node       *Node
	Operations []NamedOperation // in declared order; none for a folder
}

// Fit is how well a candidate fits.
type Fit struct {
	Entry      Score   // of the entry itself
	Operations []Score // by operation; what is missing does not fit
}

// Score is how well one thing fits.
type Score struct {
	Value  float64 // larger is better; 0 or less is ignored
	Strong bool    // it answers the query, as far as can be told
}

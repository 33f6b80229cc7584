package space

import (
	"context"

	"github.com/wipagent/wipagent/idl"
)

// Ranker decides how well a query fits what there is. It is the place for
// another model of relevance, such as one with embeddings; [Words] is the
// built-in one.
type Ranker interface {
	// Index prepares for queries over candidates, which it may keep and must
	// not change. It is given exactly what one audience may see.
	Index(candidates []Candidate) Index
}

// Index answers queries over the candidates that it was made of. It must be
// safe for concurrent use and give the same answer to the same query.
type Index interface {
	// Rank returns the candidates that have something to do with query, in
	// any order, each at most once. An error means that there is no ranking:
	// the search then answers with the map alone.
	Rank(ctx context.Context, query string) ([]Score, error)
}

// Candidate is one thing that a search can find: an operation of an entry, or
// the entry itself.
type Candidate struct {
	Node      *Node
	Operation *idl.Operation // nil: the entry itself
}

// Score is how well one candidate fits.
type Score struct {
	Candidate int     // index in the candidates
	Value     float64 // larger is better; 0 or less is ignored
	Strong    bool    // the candidate answers the query, as far as can be told
}

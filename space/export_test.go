package space

var (
	Split        = split
	Stem         = stem
	Distance     = distance
	ComparePaths = comparePaths
	Within       = within
)

// Candidates returns what the ranker was given.
func (v *View) Candidates() []Candidate { return v.candidates }

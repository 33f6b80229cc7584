package space

import "slices"

var (
	Split        = split
	Stem         = stem
	Distance     = distance
	ComparePaths = comparePaths
	Within       = within
)

// Candidates returns what the ranker was given.
func (v *View) Candidates() []Candidate { return v.candidates }

// Contains reports whether path is in the view: a search can name it, or it is
// a folder or mount above something that a search can name.
func (v *View) Contains(path string) bool {
	_, ok := slices.BinarySearchFunc(v.candidates, path, func(c Candidate, p string) int { return comparePaths(c.Node.Path, p) })
	return ok
}

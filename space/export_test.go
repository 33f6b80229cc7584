package space

var (
	Split        = split
	Stem         = stem
	Distance     = distance
	ComparePaths = comparePaths
	Within       = within
)

package idl

// editDistance returns how many bytes one must insert, remove, change or
// exchange with their neighbour to make b of a. Both are at most maxNameBytes
// long.
func editDistance(a, b string) int {
	var rows [3][maxNameBytes + 1]int // two back, one back, this one
	twoBack, back, row := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		back[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			change := back[j]
			if a[i] != b[j] {
				change++
			}
			row[j+1] = min(change, back[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], twoBack[j-1]+1)
			}
		}
		twoBack, back, row = back, row, twoBack
	}
	return back[len(b)]
}

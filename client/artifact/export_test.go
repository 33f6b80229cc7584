package artifact

// Lookahead and the longest line, for tests.
const MaxLine = maxLine

// SplitLines returns all lines of a text.
func SplitLines(text []byte) []string {
	var list []string
	inString := false
	for at := 0; at < len(text); {
		n, in := nextLine(text[at:min(len(text), at+lookAhead)], inString)
		list = append(list, string(text[at:at+n]))
		at, inString = at+n, in
	}
	return list
}

// CheckPath is checkPath.
var CheckPath = checkPath

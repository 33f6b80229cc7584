package idl

// Levels counts how deep the objects and lists of a JSON text are nested, in one
// pass and without recursion, whatever the depth: what a text is bounded by before
// it is read. Of what is no JSON it counts the brackets.
func Levels[T ~string | ~[]byte](text T) int {
	depth, deepest, quoted := 0, 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}

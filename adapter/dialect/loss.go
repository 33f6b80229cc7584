package dialect

import "strings"

func (l *lowering) push(segment string) { l.path = append(l.path, segment) }
func (l *lowering) pop()                { l.path = l.path[:len(l.path)-1] }

// lose notes what the schema at hand does not say.
func (l *lowering) lose(constraint string, said Said, maySend string) {
	path := ""
	if len(l.path) > 0 {
		path = "/" + strings.Join(l.path, "/") // names need no escapes
	}
	if l.untrusted {
		constraint = clean(constraint) // it may hold a pattern
	}
	l.losses = append(l.losses, Loss{Path: path, Constraint: strings.ToLower(constraint[:1]) + constraint[1:], Said: said, MaySend: maySend})
}

package space

import "time"

// Available reports whether the mounted Host answers, as far as is known. A Host
// that knows has a method Available; any other is taken to.
func (m *Mount) Available() bool {
	a, ok := m.Host.(interface{ Available() bool })
	return !ok || a.Available()
}

// Refreshed returns when the Host mounted at path was asked for the whole tree
// that is known of it: zero if there is none.
func (s *Space) Refreshed(path string) time.Time {
	t := s.tree.Load()
	for m, at := range t.grown {
		if m.Path == path {
			return at
		}
	}
	return time.Time{}
}

package project

// Resolver returns a function that returns the name of the document which an
// import clause of the document from means, by the search path of the project;
// its error is fs.ErrNotExist if there is none. The overlay is as in Check, and
// looked at only before Resolver returns. The function is safe for concurrent
// use.
func (p *Project) Resolver(overlay map[string][]byte) func(from, path string) (name string, err error) {
	s := &source{Project: p, overlay: make(map[string][]byte, len(overlay))}
	for file, text := range overlay {
		s.overlay[p.Name(file)] = text
	}
	return s.resolve
}

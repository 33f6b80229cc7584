package project

// Resolve returns the name of the document that an import clause of the
// document from means, by the search path of the project; the error is
// fs.ErrNotExist if there is none. The overlay is as in Check.
func (p *Project) Resolve(overlay map[string][]byte, from, path string) (string, error) {
	s := &source{Project: p, overlay: make(map[string][]byte, len(overlay))}
	for file, text := range overlay {
		s.overlay[p.Name(file)] = text
	}
	return s.resolve(from, path)
}

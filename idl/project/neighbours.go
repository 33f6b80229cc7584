package project

import (
	"io/fs"
	"slices"

	"github.com/wipagent/wipagent/idl/syntax"
)

// What is read to find the documents beside one that declare what it lacks: a
// hint is not worth more.
const (
	maxNeighbours     = 64
	maxNeighbourBytes = 256 << 10 // of all together
)

// neighbours are the documents in the folders in which imports are looked up.
type neighbours struct {
	bytes int
	read  map[string]neighbour // by name
}

// neighbour is what hints need to know of a document.
type neighbour struct {
	declares []string
	imports  []string // names of documents
}

// declaring lists what an import of from could say to bring a declaration of a
// name: the documents that stand directly in the folders where its imports are
// looked up, without those that import it.
func (s *source) declaring(from, name string) []string {
	if s.beside == nil {
		s.beside = &neighbours{read: map[string]neighbour{}}
	}
	var paths []string
	for _, dir := range s.folders(from) {
		for _, file := range s.list(dir) {
			document, err := s.resolve(from, file)
			if err == nil && !slices.Contains(paths, file) && slices.Contains(s.neighbour(document).declares, name) && !s.leads(document, from) {
				paths = append(paths, file)
			}
		}
	}
	slices.Sort(paths)
	return paths
}

// leads reports whether a document is another or imports it, directly or
// through others, as far as they were read.
func (s *source) leads(from, to string) bool {
	seen := map[string]bool{from: true}
	for next := []string{from}; len(next) > 0; next = next[1:] {
		if next[0] == to {
			return true
		}
		for _, name := range s.neighbour(next[0]).imports {
			if !seen[name] {
				seen[name] = true
				next = append(next, name)
			}
		}
	}
	return false
}

// neighbour returns what a document holds; nothing if enough was read.
func (s *source) neighbour(name string) neighbour {
	n := s.beside
	if known, ok := n.read[name]; ok || len(n.read) == maxNeighbours {
		return known
	}
	n.read[name] = neighbour{}
	text, ok := s.texts[name]
	if !ok {
		text, ok = s.overlay[name]
	}
	if !ok {
		var err error
		if text, err = readRegular(s.Path(name), maxNeighbourBytes); err != nil {
			return neighbour{}
		}
	}
	if n.bytes += len(text); n.bytes > maxNeighbourBytes {
		return neighbour{}
	}
	parse := s.Parse
	if parse == nil {
		parse = syntax.Parse
	}
	tree, faults := parse(name, text)
	if len(faults) > 0 {
		return neighbour{}
	}
	var found neighbour
	for _, d := range tree.Decls {
		found.declares = append(found.declares, d.DeclName().Name)
	}
	for _, i := range tree.Imports {
		if !fs.ValidPath(i.Path) {
			continue
		}
		if document, err := s.resolve(name, i.Path); err == nil {
			found.imports = append(found.imports, document)
		}
	}
	n.read[name] = found
	return found
}

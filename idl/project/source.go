package project

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/syntax"
)

// source loads the documents of one check.
type source struct {
	*Project
	overlay map[string][]byte   // by name
	texts   map[string][]byte   // what was loaded, by name
	unread  []string            // the names of what could not be
	folder  map[string][]string // the documents in a folder, once it was listed
	beside  *neighbours         // nil before it was asked for
}

// load returns the text of a document: the overlay's, or the file's.
func (s *source) load(name string) ([]byte, error) {
	text, ok := s.overlay[name]
	if !ok {
		var err error
		if text, err = readStart(s.Path(name), syntax.MaxSource+1); err != nil {
			s.unread = append(s.unread, name)
			return nil, err
		}
	}
	s.texts[name] = text
	return text, nil
}

// resolve returns the name of the document that an import of from means.
func (s *source) resolve(from, path string) (string, error) {
	for _, dir := range s.folders(from) {
		name := s.Name(filepath.Join(dir, filepath.FromSlash(path)))
		if _, ok := s.overlay[name]; ok {
			return name, nil
		}
		if info, err := os.Stat(s.Path(name)); err == nil && info.Mode().IsRegular() {
			return name, nil
		}
	}
	return "", fs.ErrNotExist
}

// folders lists where the imports of a document are looked up: in the search
// path; without any configuration then beside the document, and in the
// folders above it up to the root.
func (s *source) folders(from string) []string {
	var dirs []string
	for _, dir := range s.Search {
		dirs = append(dirs, s.Path(dir))
	}
	if s.ConfigFile != "" {
		for _, dir := range s.Config.Imports {
			dirs = append(dirs, s.Path(dir))
		}
		if len(s.Config.Imports) == 0 {
			dirs = append(dirs, s.Root)
		}
		return dirs
	}
	at := filepath.Dir(s.Path(from))
	dirs = append(dirs, at)
	for inside := s.Name(at); inside != "." && !filepath.IsAbs(inside); inside = path.Dir(inside) {
		at = filepath.Dir(at)
		dirs = append(dirs, at)
	}
	return dirs
}

// maxSiblings is how many files of a folder are looked at for a hint.
const maxSiblings = 1000

// near lists what an import of from could say instead of a path: the documents
// in the folder that it names.
func (s *source) near(from, imported string) []string {
	within := path.Dir(imported)
	var names []string
	for _, dir := range s.folders(from) {
		for _, file := range s.list(filepath.Join(dir, filepath.FromSlash(within))) {
			names = append(names, path.Join(within, file))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// list returns the documents in a folder, the first time it is asked for it
// from the disk.
func (s *source) list(dir string) []string {
	files, known := s.folder[dir]
	if known {
		return files
	}
	if f, err := os.Open(dir); err == nil {
		entries, _ := f.ReadDir(maxSiblings) // a hint is not worth an error
		f.Close()
		for _, e := range entries {
			if strings.HasSuffix(e.Name(), ".wip") {
				files = append(files, e.Name())
			}
		}
	}
	for name := range s.overlay {
		if path := s.Path(name); filepath.Dir(path) == dir {
			files = append(files, filepath.Base(path))
		}
	}
	if s.folder == nil {
		s.folder = map[string][]string{}
	}
	s.folder[dir] = files
	return files
}

// compiler returns the source as the compiler takes it.
func (s *source) compiler() idl.Source {
	return idl.Source{
		Load: s.load, Resolve: s.resolve, Names: s.near, Declaring: s.declaring, Parse: s.Parse,
		MaxDocuments: s.Config.Limits.Documents, MaxBytes: s.Config.Limits.Bytes, LimitHint: "allow more by limits in " + ConfigName,
	}
}

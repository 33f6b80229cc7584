package lsp

import (
	"cmp"
	"context"
	"crypto/rand"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/project"
	"github.com/wipagent/wipagent/idl/syntax"
)

// snapshot is one state of all open documents. Its results are made once, when
// somebody asks for them. It is safe for concurrent use.
type snapshot struct {
	docs     map[string]*document // open ones by path
	folders  []string             // of the workspace
	projects *projects
	closed   *closedFiles
	overlay  map[string][]byte // the texts of docs

	links *links

	mu      sync.Mutex
	results map[string]*outcome          // by path
	names   map[*view]map[string]*symbol // what the imports of documents bring
}

// link is an import of a document.
type link struct{ from, path string }

// links remembers what imports mean. It is safe for concurrent use.
type links struct {
	mu        sync.Mutex
	to        map[link]string // paths of documents; "" if there is none
	resolvers map[*project.Project]func(from, path string) (string, error)
}

// newSnapshot returns the state in which docs are open. It owns the map.
func newSnapshot(docs map[string]*document, folders []string, p *projects, closed *closedFiles) *snapshot {
	s := &snapshot{docs: docs, folders: folders, projects: p, closed: closed, overlay: make(map[string][]byte, len(docs)),
		links: &links{}, results: map[string]*outcome{}, names: map[*view]map[string]*symbol{}}
	for path, d := range docs {
		s.overlay[path] = d.bytes
	}
	return s
}

// with returns the state after a document was opened or changed.
func (s *snapshot) with(d *document) *snapshot {
	docs := maps.Clone(s.docs)
	docs[d.path] = d
	next := newSnapshot(docs, s.folders, s.projects, s.closed)
	if s.docs[d.path] != nil {
		next.links = s.links // what imports mean depends on which documents there are
	}
	return next
}

// without returns the state after a document was closed.
func (s *snapshot) without(path string) *snapshot {
	docs := maps.Clone(s.docs)
	delete(docs, path)
	return newSnapshot(docs, s.folders, s.projects, s.closed)
}

// again returns the same state without results, for when files have changed.
func (s *snapshot) again() *snapshot {
	return newSnapshot(s.docs, s.folders, s.projects, s.closed)
}

// result is what a check of one document found.
type result struct {
	*project.Result
	project *project.Project
	faults  map[string][]syntax.Diagnostic // by path
	err     error                          // the tree could not be searched; the rest is empty
}

// outcome is a check that is made when it is first asked for.
type outcome struct {
	once   sync.Once
	result atomic.Pointer[result] // nil until it is made
}

// outcome returns the check of a document.
func (s *snapshot) outcome(path string) *outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.results[path]
	if o == nil {
		o = &outcome{}
		s.results[path] = o
	}
	return o
}

// check returns what a check of a document finds.
func (s *snapshot) check(path string) *result {
	o := s.outcome(path)
	o.once.Do(func() { o.result.Store(s.compute(path)) })
	return o.result.Load()
}

// checked returns what the check of a document found if it was made; otherwise
// nil.
func (s *snapshot) checked(path string) *result { return s.outcome(path).result.Load() }

// document returns the compiled form of a document; nil if it has a fault.
func (r *result) document(path string) *idl.Document {
	name := r.project.Name(path)
	for _, doc := range r.Documents {
		if doc.Name == name {
			return doc
		}
	}
	return nil
}

func (s *snapshot) compute(path string) *result {
	r := &result{project: s.project(path), faults: map[string][]syntax.Diagnostic{}}
	r.Result, r.err = r.project.Check(s.overlay, path)
	if r.err != nil {
		r.Result = &project.Result{}
	}
	for _, d := range r.Diagnostics {
		at := r.project.Path(d.Span.File)
		r.faults[at] = append(r.faults[at], d)
	}
	return r
}

// project returns the project of a document.
func (s *snapshot) project(path string) *project.Project { return s.projects.of(path, s.folders) }

// parse is a parser that remembers trees.
func (s *snapshot) parse(path string, text []byte) *syntax.File {
	p := s.project(path)
	file, _ := p.Parse(p.Name(path), text)
	return file
}

// view returns what is known of the document at a path, open or not; nil if
// there is none.
func (s *snapshot) view(path string) *view {
	if d := s.docs[path]; d != nil {
		return d.view()
	}
	return s.closed.view(path, s.parse)
}

// imported returns the document that an import of v means, or nil.
func (s *snapshot) imported(v *view, path string) *view {
	to := s.resolve(link{v.path, path})
	if to == "" {
		return nil
	}
	return s.view(to)
}

// resolve returns the path of the document that an import means, or "".
func (s *snapshot) resolve(l link) string {
	s.links.mu.Lock()
	defer s.links.mu.Unlock()
	to, ok := s.links.to[l]
	if ok {
		return to
	}
	p := s.project(l.from)
	resolver := s.links.resolvers[p]
	if s.links.to == nil {
		s.links.to, s.links.resolvers = map[link]string{}, map[*project.Project]func(from, path string) (string, error){}
	}
	if resolver == nil {
		resolver = p.Resolver(s.overlay)
		s.links.resolvers[p] = resolver
	}
	if name, err := resolver(p.Name(l.from), l.path); err == nil {
		to = p.Path(name)
	}
	s.links.to[l] = to
	return to
}

// maxImports is how many imports of one document are followed.
const maxImports = 1024

// named returns the declaration that a name means in a document: its own, or
// an imported one; nil if there is none.
func (s *snapshot) named(v *view, name string) *symbol {
	if own := v.decls[name]; own != nil {
		return own
	}
	return s.brought(v)[name]
}

// brought returns what the imports of a document bring, the first of each
// name.
func (s *snapshot) brought(v *view) map[string]*symbol {
	s.mu.Lock()
	names := s.names[v]
	s.mu.Unlock()
	if names != nil {
		return names
	}
	names = map[string]*symbol{}
	for _, imp := range v.file.Imports[:min(len(v.file.Imports), maxImports)] {
		to := s.imported(v, imp.Path)
		if to == nil {
			continue
		}
		for name, sym := range to.decls {
			if names[name] == nil {
				names[name] = sym
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.names[v] = names
	return names
}

// meant returns the symbol that a reference in v means; nil if there is none,
// and of an import.
func (s *snapshot) meant(v *view, r *reference) *symbol {
	switch r.kind {
	case toType:
		return s.named(v, r.name)
	case toLabel:
		if e := s.named(v, r.typ.Name.Name); e != nil && e.kind == anEnum {
			return e.member(r.name)
		}
	case toParam:
		return r.in.member(r.name)
	}
	return nil
}

// workspace returns the documents of the project that a document belongs to,
// and whether those are all. It stops early when the context ends.
func (s *snapshot) workspace(ctx context.Context, path string) (views []*view, whole bool) {
	paths := map[string]bool{path: true}
	p := s.project(path)
	// Nobody has said that what lies below a document's folder belongs to it
	// unless there is a configuration or a workspace.
	deep := p.ConfigFile != "" || slices.Contains(s.folders, p.Root)
	found := s.projects.listings.of(ctx, p.Root, deep)
	for _, path := range found.paths {
		paths[path] = true
	}
	for open := range s.docs {
		if s.project(open) == p {
			paths[open] = true
		}
	}
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		if ctx.Err() != nil {
			return views, false
		}
		if v := s.view(path); v != nil {
			views = append(views, v)
		}
	}
	return views, found.whole
}

// projects keeps the projects of folders. It is safe for concurrent use.
type projects struct {
	report  func(error) // told once of each configuration that cannot be read
	nowhere string      // the folder of documents that are no files

	trees    trees
	listings listings

	mu    sync.Mutex
	byDir map[string]*project.Project
}

// nowhere returns the path of a folder that does not exist.
func nowhere() string { return filepath.Join(os.TempDir(), "unsaved-"+rand.Text()) }

// maxProjects is how many folders are remembered.
const maxProjects = 1024

// of returns the project of a document. A tree without configuration is the
// workspace's folder, so that its documents find each other.
func (p *projects) of(path string, folders []string) *project.Project {
	dir := filepath.Dir(path)
	p.mu.Lock()
	defer p.mu.Unlock()
	if found := p.byDir[dir]; found != nil {
		return found
	}
	found, err := &project.Project{Root: dir}, error(nil)
	if dir != p.nowhere { // above it there may be what does not concern it
		found, err = project.Open(dir)
	}
	if err == nil && found.ConfigFile == "" {
		for _, folder := range folders {
			if rel, e := filepath.Rel(folder, dir); e == nil && filepath.IsLocal(rel) {
				found = &project.Project{Root: folder}
				break
			}
		}
	}
	if err != nil {
		p.report(err)
		found = &project.Project{Root: dir}
	}
	if p.byDir == nil || len(p.byDir) >= maxProjects {
		p.byDir = map[string]*project.Project{}
	}
	for _, other := range p.byDir { // one project, however many folders
		if other.Root == found.Root {
			p.byDir[dir] = other
			return other
		}
	}
	root := found.Root
	found.Parse = func(name string, text []byte) (*syntax.File, []syntax.Diagnostic) {
		return p.trees.parse(root, name, text)
	}
	p.byDir[dir] = found
	return found
}

// forget makes the configurations be read again.
func (p *projects) forget() {
	p.listings.forget()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.byDir = nil
}

// closedFiles keeps the views of documents that are not open, for as long as
// their files stay as they are. It is safe for concurrent use.
type closedFiles struct {
	mu    sync.Mutex
	files map[string]closedFile
	bytes int
}

type closedFile struct {
	modified time.Time
	size     int64
	view     *view
}

// maxClosedBytes is how much text of closed documents is kept.
const maxClosedBytes = 8 << 20

// view returns the view of a file, or nil if it cannot be read.
func (c *closedFiles) view(path string, parse parser) *view {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxDocumentBytes {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if f, ok := c.files[path]; ok && f.modified.Equal(info.ModTime()) && f.size == info.Size() {
		return f.view
	}
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	src, err := io.ReadAll(io.LimitReader(file, maxDocumentBytes))
	if err != nil {
		return nil
	}
	if c.files == nil || c.bytes+len(src) > maxClosedBytes {
		c.files, c.bytes = map[string]closedFile{}, 0
	}
	v := newView(path, uriOf(path), newText(string(src)), parse(path, src))
	c.bytes += len(src)
	c.files[path] = closedFile{info.ModTime(), info.Size(), v}
	return v
}

// byPlace orders locations by document, then by place.
func byPlace(a, b location) int {
	return cmp.Or(cmp.Compare(a.URI, b.URI), cmp.Compare(a.Range.Start.Line, b.Range.Start.Line), cmp.Compare(a.Range.Start.Character, b.Range.Start.Character))
}

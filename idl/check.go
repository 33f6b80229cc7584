package idl

import (
	"regexp"
	"slices"

	"github.com/wipagent/wipagent/idl/syntax"
)

// Source is where documents come from. Only Load is needed.
type Source struct {
	// Load returns the text of the document of a name.
	Load Loader
	// Resolve returns the name of the document that an import clause of the
	// document from means; two clauses that mean one document get one name.
	// An error that is fs.ErrNotExist says that there is none. If it is nil,
	// an import clause holds the name itself.
	Resolve func(from, path string) (name string, err error)
	// Names lists what an import clause of the document from could say in
	// place of a path that means nothing, for hints. If it is nil, it is the
	// documents loaded so far.
	Names func(from, path string) []string
	// Declaring lists what an import clause of the document from could say to
	// bring a declaration of a name, for hints. It may be nil.
	Declaring func(from, name string) []string
	// Parse does what syntax.Parse does, for callers that remember trees: none
	// is changed, the faults are the caller's to keep. If it is nil, it is
	// syntax.Parse.
	Parse func(name string, text []byte) (*syntax.File, []syntax.Diagnostic)
	// MaxDocuments and MaxBytes limit the number of documents and the sum of
	// their sizes in bytes; 0 means the constants of those names.
	MaxDocuments, MaxBytes int
	// LimitHint says what to do about too many documents or bytes; it may be
	// empty.
	LimitHint string
}

// Checked is all that Check knows of documents.
type Checked struct {
	// Documents are the named ones that are without fault, as are all their
	// imports, in the order of the names.
	Documents []*Document
	// Files are the trees of all documents that could be loaded, imported ones
	// too, in the order of loading.
	Files []*syntax.File
	// Faults are as in ErrorList.
	Faults ErrorList
}

// Check is Compile for tools, which want more than the result: it keeps the
// trees, of faulty documents too. It calls the functions of src from the
// calling goroutine, Load once a name.
func Check(src Source, names ...string) *Checked {
	c := newCompiler(src)
	c.loadAll(names)
	return c.check()
}

// newCompiler returns a compiler that has loaded nothing.
func newCompiler(src Source) *compiler {
	if src.MaxDocuments == 0 {
		src.MaxDocuments = MaxDocuments
	}
	if src.MaxBytes == 0 {
		src.MaxBytes = MaxBytes
	}
	if src.Parse == nil {
		src.Parse = syntax.Parse
	}
	return &compiler{
		Source:   src,
		parse:    src.Parse,
		units:    map[string]*unit{},
		records:  map[*Record]*recordInfo{},
		collided: map[collision]bool{},
		patterns: map[string]*regexp.Regexp{},
		near:     nearBudget,
	}
}

// loadAll loads and parses the named documents and all that they import.
func (c *compiler) loadAll(names []string) {
	for _, name := range names {
		if u := c.units[name]; u == nil || !slices.Contains(c.roots, u) {
			c.roots = append(c.roots, c.root(name))
		}
	}
	c.reportCycles()
}

// check checks what was loaded.
func (c *compiler) check() *Checked {
	each := func(pass func(*unit)) {
		for _, u := range c.order {
			pass(u)
		}
	}
	each(c.declare)
	each(c.link)
	each(c.resolveRecords)
	c.spreadProperties()
	each(c.checkRecords)
	each(c.resolveInterfaces)

	found := &Checked{Faults: c.faults()}
	for _, u := range c.roots {
		if u.sound() {
			found.Documents = append(found.Documents, u.doc)
		}
	}
	for _, u := range c.order {
		if u.file != nil {
			found.Files = append(found.Files, u.file)
		}
	}
	return found
}

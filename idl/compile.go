package idl

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/wipagent/wipagent/idl/syntax"
)

// Loader returns the text of the document of that name: the names given to
// Compile and those in import clauses. It reports a document that does not
// exist with an error that is fs.ErrNotExist.
type Loader func(name string) ([]byte, error)

// FSLoader loads documents from files; a document's name is its path in fsys.
func FSLoader(fsys fs.FS) Loader {
	return func(name string) ([]byte, error) { return fs.ReadFile(fsys, name) }
}

// ErrorList is every fault of the documents that were compiled together,
// sorted by document in the order of loading, then by position. None of them
// is reported twice, and each where it is.
type ErrorList []syntax.Diagnostic

// maxListed is how many faults Error writes out.
const maxListed = 20

// Error lists the faults, one a line; a very long list is cut and says so.
func (l ErrorList) Error() string {
	var b strings.Builder
	for i, d := range l {
		if i == maxListed {
			fmt.Fprintf(&b, "\nand %d more", len(l)-i)
			break
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(d.Error())
	}
	return b.String()
}

// Unwrap returns the faults, so that errors.As finds a syntax.Diagnostic.
func (l ErrorList) Unwrap() []error {
	list := make([]error, len(l))
	for i, d := range l {
		list[i] = d
	}
	return list
}

// What one Compile takes in at most. Documents come from Hosts that nobody
// vouches for.
const (
	MaxDocuments   = 1024    // named and imported ones
	MaxBytes       = 4 << 20 // of all of them together
	maxImportDepth = 16
)

// Compile loads, parses and checks the named documents and all that they
// import, and returns the named ones in the order of names, each once. An
// import names a document as load knows it, not relative to the importing
// document.
//
// The error is an ErrorList with every fault of every document. A document
// with a fault, or one that imports such a document, is not returned; the
// others are, also when the error is not nil. Compile calls load once a name,
// from the calling goroutine, and runs no other.
func Compile(load Loader, names ...string) ([]*Document, error) {
	found := Check(Source{Load: load}, names...)
	if len(found.Faults) > 0 {
		return found.Documents, found.Faults
	}
	return found.Documents, nil
}

// compiler holds one run of Compile.
type compiler struct {
	Source
	parse func(name string, text []byte) (*syntax.File, []syntax.Diagnostic)
	units map[string]*unit
	roots []*unit // the named ones, each once
	order []*unit // in the order of loading
	bytes int     // loaded so far
	// limited says that there are more documents or bytes than may be.
	limited bool

	cycles []*cycle

	records  map[*Record]*recordInfo
	collided map[collision]bool

	patterns    map[string]*regexp.Regexp // by text, so that each is compiled once
	patternSize int                       // of all patterns so far
	near        int                       // comparisons left for finding nearest names
}

// unit is one document on its way to be a Document.
type unit struct {
	name  string
	text  []byte
	file  *syntax.File // nil if it could not be loaded
	doc   *Document
	found []syntax.Diagnostic
	// unreadable is how many of found are the parser's; they come first.
	unreadable int
	imports    []link
	loading    bool // its imports are being loaded
	unloaded   bool // for its size or number
	cycle      *cycle
	tooDeep    *syntax.Import // the first that is nested too deep

	own     map[string]*symbol // declared here, the first of each name
	visible map[string]*symbol // own and imported
	meant   map[bool][]string  // by unit.candidates, made on first use
	records []*recordInfo
	ifaces  []interfaceInfo
	// incomplete says that an import brought nothing, so that a name may be
	// unknown only for that reason.
	incomplete bool
	// broken says that an import is not whole for its faults of syntax, so that
	// what seems unknown may be what is lost.
	broken  bool
	checked soundness
}

// link is an import clause and what it brought; nil if nothing.
type link struct {
	node *syntax.Import
	unit *unit
}

// symbol is one declaration. Exactly one of iface, record and enum is set.
type symbol struct {
	unit   *unit
	ident  syntax.Ident
	iface  *Interface
	record *recordInfo
	enum   *Enum
}

type soundness uint8

const (
	unchecked soundness = iota
	isSound
	isFaulty
)

// sound reports whether neither the unit nor anything that it imports has a
// fault.
func (u *unit) sound() bool {
	if u.checked == unchecked {
		u.checked = isSound
		if u.file == nil || len(u.found) > 0 || u.cycle != nil {
			u.checked = isFaulty
		}
		for _, l := range u.imports {
			if u.checked == isFaulty { // as every cycle has a unit that is
				break
			}
			if l.unit == nil || !l.unit.sound() {
				u.checked = isFaulty
			}
		}
	}
	return u.checked == isSound
}

// maxUnitFaults is how many faults of meaning one document reports; one more says
// that there are more.
const maxUnitFaults = 1000

// fault records a fault of the unit, and returns it to be added to. It is
// dropped if the parser found fault with the same place, of which it can only
// be a consequence.
func (u *unit) fault(rule string, at syntax.Span, hint, format string, args ...any) *syntax.Diagnostic {
	d := syntax.Diagnostic{Rule: rule, Span: at, Hint: hint, Message: fmt.Sprintf(format, args...)}
	for _, s := range u.found[:u.unreadable] {
		if s.Span.Start.Offset < at.End.Offset && at.Start.Offset < s.Span.End.Offset ||
			s.Rule == syntax.RuleBadCharacter && s.Span.End == at.Start { // such as the name in -name
			return &d
		}
	}
	switch n := len(u.found) - u.unreadable; {
	case n > maxUnitFaults:
		return &d
	case n == maxUnitFaults:
		d = syntax.Diagnostic{Rule: syntax.RuleTooManyFaults, Span: at, Message: fmt.Sprintf("found more than %d faults", maxUnitFaults)}
	}
	u.found = append(u.found, d)
	return &u.found[len(u.found)-1]
}

// maxRelated is how many other places one fault points at.
const maxRelated = 8

// relate adds another place to a fault.
func relate(d *syntax.Diagnostic, at syntax.Span, format string, args ...any) {
	if len(d.Related) < maxRelated {
		d.Related = append(d.Related, syntax.Related{Span: at, Message: fmt.Sprintf(format, args...)})
	}
}

// faults returns all faults in order.
func (c *compiler) faults() ErrorList {
	var list ErrorList
	for _, u := range c.order {
		slices.SortStableFunc(u.found, func(a, b syntax.Diagnostic) int {
			return cmp.Or(
				cmp.Compare(a.Span.Start.Offset, b.Span.Start.Offset),
				cmp.Compare(a.Span.End.Offset, b.Span.End.Offset),
				cmp.Compare(a.Rule, b.Rule),
			)
		})
		list = append(list, u.found...)
	}
	return list
}

// root returns the unit of a name given to Compile.
func (c *compiler) root(name string) *unit {
	if u := c.units[name]; u != nil {
		if u.file == nil && len(u.found) == 0 && !u.unloaded {
			u.fault(ruleDocumentNotFound, syntax.Span{File: name}, "", "found no document %q", name)
			c.order = append(c.order, u)
		}
		return u
	}
	u, err := c.read(name)
	switch {
	case errors.As(err, new(limitError)):
		c.overLimit(u, syntax.Span{File: name}, err)
	case err != nil:
		u.fault(ruleDocumentNotFound, syntax.Span{File: name}, "", "%s", err)
	default:
		c.loadImports(u, nil)
		return u
	}
	c.order = append(c.order, u)
	return u
}

// overLimit reports the first document of all that cannot be loaded beside the
// others: what holds of it holds of all that follow.
func (c *compiler) overLimit(u *unit, at syntax.Span, err error) {
	if !c.limited {
		u.fault(ruleImportLimit, at, c.LimitHint, "%s", err)
	}
	c.limited = true
}

// limitError is a document that was refused for its size or number.
type limitError string

func (e limitError) Error() string { return string(e) }

// notFoundError is a document that does not exist.
type notFoundError struct{ name string }

func (e *notFoundError) Error() string { return fmt.Sprintf("found no document %q", e.name) }
func (e *notFoundError) Unwrap() error { return fs.ErrNotExist }

// read loads and parses one document that was not asked for before.
func (c *compiler) read(name string) (*unit, error) {
	u := &unit{name: name}
	c.units[name] = u
	if len(c.units) > c.MaxDocuments {
		u.unloaded = true
		return u, limitError(fmt.Sprintf("found more than %d documents, expected at most so many: what follows is not checked", c.MaxDocuments))
	}
	text, err := c.Load(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return u, &notFoundError{name}
	case err != nil:
		return u, fmt.Errorf("cannot load document %q: %w", name, err)
	}
	if c.bytes+len(text) > c.MaxBytes {
		u.unloaded = true
		return u, limitError(fmt.Sprintf("found more than %d bytes of documents, expected at most so many: what follows is not checked", c.MaxBytes))
	}
	c.bytes += len(text)
	u.file, u.found = c.parse(name, text)
	u.text = text
	u.unreadable = len(u.found)
	u.doc = &Document{Name: name, Version: 1}
	if u.file.Package != nil {
		u.doc.Package = u.file.Package.Name
	}
	if u.file.Version != nil {
		u.doc.Version = u.file.Version.Number
	}
	c.order = append(c.order, u)
	return u, nil
}

// loadImports loads what u imports, depth first. path is the chain of imports
// that led to u.
func (c *compiler) loadImports(u *unit, path []link) {
	u.loading = true
	defer func() { u.loading = false }()
	seen := map[string]*syntax.Import{}
	for i, node := range u.file.Imports {
		if i == c.MaxDocuments-1 { // more could never be loaded beside this document
			u.fault(ruleImportLimit, node.Span, "", "found %d imports, expected at most %d", len(u.file.Imports), c.MaxDocuments-1)
			u.incomplete = true
			break
		}
		l := link{node: node}
		name, known := c.nameOf(u, node)
		if first := seen[name]; first != nil {
			d := u.fault(ruleDuplicateImport, node.Span, "remove it", "found a second import of %q", node.Path)
			relate(d, first.Span, "first imported here")
			if clause, ok := u.clauseOf(node); ok {
				suggest(d, "remove it", syntax.Edit{Span: clause})
			}
			continue
		}
		seen[name] = node
		if known {
			l.unit = c.importOf(u, node, name, path)
		}
		u.imports = append(u.imports, l)
		u.incomplete = u.incomplete || l.unit == nil
		u.broken = u.broken || l.unit != nil && l.unit.unreadable > 0
	}
}

// nameOf returns the name of the document that an import clause of u means,
// and false after a fault.
func (c *compiler) nameOf(u *unit, node *syntax.Import) (string, bool) {
	if !fs.ValidPath(node.Path) || node.Path == "." || strings.Contains(node.Path, `\`) {
		d := u.fault(ruleImportPath, node.Span, `write the path from a folder of the search path, such as "tracker/issue.wip"`,
			"found %q, expected a slash-separated relative path without \".\" and \"..\"", node.Path)
		if meant := path.Clean(strings.ReplaceAll(node.Path, `\`, "/")); fs.ValidPath(meant) && meant != "." && c.exists(u, meant) {
			rewrite(d, node.Span, strconv.Quote(meant))
		}
		return node.Path, false
	}
	if c.Resolve == nil {
		return node.Path, true
	}
	name, err := c.Resolve(u.name, node.Path)
	if err != nil {
		c.notFound(u, node, err)
		return node.Path, false
	}
	return name, true
}

// notFound reports an import clause whose document cannot be had.
func (c *compiler) notFound(u *unit, node *syntax.Import, err error) {
	rule := ruleImportNotFound
	switch {
	case errors.As(err, new(limitError)):
		c.overLimit(u, node.Span, err)
		return
	case errors.Is(err, fs.ErrNotExist):
		err = fmt.Errorf("found no document %q", node.Path)
	}
	d := u.fault(rule, node.Span, "", "%s", err)
	if ext := ".wip"; rule == ruleImportNotFound && !strings.HasSuffix(node.Path, ext) {
		d.Hint = "the name of a document ends with " + ext
		if whole := node.Path + ext; c.exists(u, whole) && !c.loops(u, whole) {
			rewrite(d, node.Span, strconv.Quote(whole))
			return
		}
	}
	if near := c.nearestDocument(u, node.Path); near != "" {
		d.Hint = didYouMean(near)
		rewrite(d, node.Span, strconv.Quote(near))
		if !sameLetters(foldName(near), foldName(node.Path)) {
			leave(d) // the other document may not be written yet
		}
	}
}

// importOf returns the unit of that name, which an import clause of u means,
// or nil after a fault.
func (c *compiler) importOf(u *unit, node *syntax.Import, name string, path []link) *unit {
	to := c.units[name]
	if to == nil {
		if len(path) == maxImportDepth { // what follows may yet lead back to a document before
			u.tooDeep = cmp.Or(u.tooDeep, node)
		}
		var err error
		if to, err = c.read(name); err != nil {
			c.notFound(u, node, err)
			return nil
		}
		c.loadImports(to, append(path, link{node, to}))
		return to
	}
	if to.unloaded {
		return nil // which is said already
	}
	if to.file == nil {
		c.notFound(u, node, fs.ErrNotExist)
		return nil
	}
	if to.loading {
		c.closeCycle(u, node, to, path)
	}
	return to
}

package space

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space/wip"
)

const (
	maxDocument     = 256 << 10 // bytes of one IDL document
	maxDocuments    = 512       // documents that one look at a Host may load
	maxLoaded       = 8 << 20   // bytes of those documents together
	maxDocumentName = 256       // bytes
	maxCompiling    = 4 << 20   // bytes that one look may give to the compiler: a document counts each time that one with it is compiled
	maxCompiled     = 64 << 20  // bytes of compiled documents that are remembered, of all Hosts
)

// ErrDigest is among a Node's Problems if an interface is not used because its
// document is not the one that the entry names.
var ErrDigest error = notice("an IDL document does not have the digest that its reference gives")

// notice is an error that quotes nothing, so that an operator's log may have its
// words.
type notice string

func (n notice) Error() string { return string(n) }

// Notice returns the words.
func (n notice) Notice() string { return string(n) }

// documents compiles IDL documents and remembers them by content: the
// same text under the same name, importing the same texts, is compiled once,
// whichever Host serves it and however often.
type documents struct {
	cache *idl.Cache
}

type digest = [sha256.Size]byte

func newDocuments() *documents { return &documents{idl.NewCache(maxCompiled)} }

// library returns a view of one Host's documents in which each is asked for
// once. It is for one look at the Host and not for concurrent use.
func (d *documents) library(m *Mount) *library {
	return &library{documents: d, mount: m, source: m.document, texts: map[string]text{}, found: map[string]found{}, kinds: map[string]*kind{}}
}

type library struct {
	documents *documents
	mount     *Mount
	source    func(ctx context.Context, name string) ([]byte, error) // the Host, or what was kept of it
	texts     map[string]text
	loaded    int              // bytes of texts
	compiling int              // bytes given to the compiler
	found     map[string]found // by name
	kinds     map[string]*kind // by key
	key       []byte           // of the latest kind
}

// kind is what Objects have in common that name the same interfaces.
type kind struct {
	refs       []wip.InterfaceRef
	interfaces []*idl.Interface
	problems   []error // which of them could not be had
}

// understand returns the interfaces that refs name. The error says that a
// document could not be asked for.
func (l *library) understand(ctx context.Context, refs []wip.InterfaceRef) (*kind, error) {
	l.key = l.key[:0]
	for i := range refs {
		for _, part := range []string{refs[i].Document, refs[i].Interface, refs[i].SHA256} {
			l.key = append(binary.AppendUvarint(l.key, uint64(len(part))), part...)
		}
	}
	if k, ok := l.kinds[string(l.key)]; ok {
		return k, nil
	}
	k := &kind{refs: refs}
	for _, ref := range refs {
		i, err := l.find(ctx, ref)
		switch {
		case err == nil:
			if !slices.Contains(k.interfaces, i) {
				k.interfaces = append(k.interfaces, i)
			}
		case isPassing(err):
			return nil, err
		default:
			k.problems = append(k.problems, err)
		}
	}
	k.interfaces = slices.Clip(k.interfaces)
	l.kinds[string(l.key)] = k
	return k, nil
}

// kept returns the texts that were loaded, for a Store.
func (l *library) kept() (list []KeptDocument) {
	for name, t := range l.texts {
		if t.err == nil {
			list = append(list, KeptDocument{name, t.sum, t.source})
		}
	}
	return list
}

type found struct {
	document *idl.Document
	err      error
}

type text struct {
	source []byte
	sum    digest
	err    error
}

// find returns the interface that ref names. An error for which isPassing
// holds says nothing about the document.
func (l *library) find(ctx context.Context, ref wip.InterfaceRef) (*idl.Interface, error) {
	t := l.text(ctx, ref.Document)
	if t.err != nil {
		return nil, t.err
	}
	if ref.SHA256 != "" && ref.SHA256 != hex.EncodeToString(t.sum[:]) {
		return nil, &Error{l.mount.Path, ErrDigest}
	}
	f, ok := l.found[ref.Document]
	if !ok {
		if f.document, f.err = l.compile(ctx, ref.Document); !isPassing(f.err) {
			l.found[ref.Document] = f
		}
	}
	if f.err != nil {
		return nil, f.err
	}
	if i := f.document.Interface(ref.Interface); i != nil {
		return i, nil
	}
	return nil, &Error{l.mount.Path, notice("an IDL document does not declare the interface that a reference names")}
}

// text loads a document's source, once.
func (l *library) text(ctx context.Context, name string) text {
	if t, ok := l.texts[name]; ok {
		return t
	}
	fault := func(format string, args ...any) text {
		return text{err: &Error{l.mount.Path, notice(fmt.Sprintf(format, args...))}}
	}
	if name == "" || len(name) > maxDocumentName {
		return fault("a document's name is empty or longer than %d bytes", maxDocumentName)
	}
	if len(l.texts) >= maxDocuments || l.loaded > maxLoaded {
		return fault("more than %d IDL documents or %d bytes of them are named", maxDocuments, maxLoaded)
	}
	source, err := l.source(ctx, name)
	l.loaded += len(source)
	t := text{err: err}
	switch {
	case errors.Is(err, ErrNotFound):
		t = text{err: &Error{l.mount.Path, errNoDocument{"the Host does not have an IDL document that it names"}}}
	case err == nil && len(source) > maxDocument:
		t = fault("an IDL document is larger than %d bytes", maxDocument)
	case err == nil:
		t = text{source: source, sum: sha256.Sum256(source)}
	}
	if !isPassing(t.err) {
		l.texts[name] = t
	}
	return t
}

// errNoDocument is a notice that an idl.Loader may return.
type errNoDocument struct{ notice }

// Is reports whether target says that there is no such document.
func (errNoDocument) Is(target error) bool { return target == fs.ErrNotExist }

// compile returns the compiled document. What documents import counts anew for
// each of them, since each is compiled with all of it: a few that import one
// another are as much work as many.
func (l *library) compile(ctx context.Context, name string) (*idl.Document, error) {
	if err := ctx.Err(); err != nil { // compiling heeds none
		return nil, err
	}
	if l.compiling > maxCompiling {
		return nil, &Error{l.mount.Path, notice(fmt.Sprintf("IDL documents with all that they import are larger than %d bytes: the rest is left out", maxCompiling))}
	}
	var passing error
	docs, err := l.documents.cache.Compile(func(name string) ([]byte, error) {
		t := l.text(ctx, name)
		if isPassing(t.err) {
			passing = t.err
		}
		l.compiling += len(t.source)
		return t.source, t.err
	}, name)
	switch {
	case passing != nil:
		return nil, passing
	case err != nil:
		return nil, &Error{l.mount.Path, notice("an IDL document does not compile: " + faults(err))}
	case len(docs) != 1:
		return nil, &Error{l.mount.Path, notice(fmt.Sprintf("an IDL document compiles to %d documents", len(docs)))}
	}
	return docs[0], nil
}

// faults tells what is wrong with a document without quoting it.
func faults(err error) string {
	var list idl.ErrorList
	if !errors.As(err, &list) || len(list) == 0 {
		return fmt.Sprintf("a %T", err)
	}
	return fmt.Sprintf("rule %s, and %d faults in all", list[0].Rule, len(list))
}

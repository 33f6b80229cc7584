package space

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/cleantext"
	"github.com/wipagent/wipagent/space/wip"
)

// Mount is a Host at its place in the space. What is exported of it is immutable.
type Mount struct {
	Path    string // absolute, such as "/grid"
	Title   string // cleaned; may be empty
	Summary string // cleaned; may be empty
	// Trusted says that the Host's documents and annotations are taken at
	// their word.
	Trusted bool
	Host    wip.Host

	since         time.Time // when it was mounted
	identity      string    // empty: nothing of it is kept
	quiet         bool      // not looked at in the background
	maxEntries    int
	maxOperations int
	trouble       atomic.Pointer[error] // of the latest look at the whole tree; nil before
	held          atomic.Pointer[held]
	keeping       sync.Mutex // held for kept
	kept          *held      // what the Store was given
}

// Join returns the path in the space of the Host's own path. The error names
// what is wrong with the path and does not quote it.
func (m *Mount) Join(host string) (string, error) {
	if err := checkPath(host); err != nil {
		return "", err
	}
	path := join(m.Path, host)
	if err := checkPath(path); err != nil {
		return "", err
	}
	// A path must reach a model unchanged, so what cleaning would change
	// cannot be a path.
	if clean, _ := cleantext.Clean(host, 0); !m.Trusted && clean != host {
		return "", notice("the path does not survive cleaning")
	}
	return path, nil
}

// Node is one entry of the space as it was last observed. It is immutable and
// safe for concurrent use.
type Node struct {
	Path    string // absolute in the space, such as "/grid/region"
	Title   string // cleaned, at most 128 bytes; may be empty
	Summary string // cleaned, at most 512 bytes; may be empty
	// Mount is where the entry comes from; nil for a folder above the mounts.
	Mount    *Mount
	HostPath string // the Host's own path of the entry
	// ObjectID identifies the Object that the entry leads to; empty for a
	// mere folder.
	ObjectID string
	// Interfaces are the Object's, in the Host's order.
	Interfaces []*idl.Interface
	// Indexable is the Host's mark. It makes an entry discoverable only if
	// the entry came with a tree.
	Indexable bool
	Tag       string // the Host's; empty if untagged
	// Problems says for the operator, never for a model, which interfaces
	// the Object names and could not be had: they are not in Interfaces.
	Problems []error

	kind *kind     // of the Object; nil if there is none
	seen time.Time // when the Host was asked
	seq  uint64    // orders observations; later is larger
	from string    // the caller whose tree brought it
}

// Age returns how long ago the Host was asked about the entry. For a mount that
// is no entry of its Host, that is how old the mount's tree is, or the mount if
// there is no tree yet. A folder above the mounts is as old as the Space, so that
// no mount below it, which may be hidden, shows: [View.Age] says how old is what
// one audience may find there. It is 0 for a Node that no Space made.
func (n *Node) Age() time.Duration {
	if n.seen.IsZero() {
		return 0
	}
	return time.Since(n.seen)
}

// Operations returns the operations of all interfaces that allowed lets pass,
// with the names by which Operation finds them. Nil lets all pass.
func (n *Node) Operations(allowed func(*idl.Operation) bool) []NamedOperation {
	var list []NamedOperation
	taken := map[string]bool{}
	for _, i := range n.Interfaces {
		for _, op := range i.Operations {
			if allowed != nil && !allowed(op) {
				continue
			}
			name := op.Name
			if taken[name] {
				name = i.Name + "." + op.Name
			}
			if taken[name] {
				continue // two packages, one name for both: only the first can be meant
			}
			taken[op.Name], taken[i.Name+"."+op.Name] = true, true
			list = append(list, NamedOperation{name, op})
		}
	}
	return list
}

// NamedOperation is an operation and the name that means it on its Object: its
// own or, where an earlier interface of the Object has one of that name, the
// interface's name, a dot and its own.
type NamedOperation struct {
	Name      string
	Operation *idl.Operation
}

// Operation returns the operation that name means among those that allowed
// lets pass, or nil. What is not let pass changes no other's name.
func (n *Node) Operation(name string, allowed func(*idl.Operation) bool) *idl.Operation {
	for _, i := range n.Interfaces {
		for _, op := range i.Operations {
			if allowed != nil && !allowed(op) {
				continue
			}
			if name == op.Name || name == i.Name+"."+op.Name {
				return op
			}
		}
	}
	return nil
}

// same reports whether nothing differs that a search could notice, or who decides
// what may be seen. A tag is neither's.
func (n *Node) same(o *Node) bool {
	return n.Path == o.Path && n.Title == o.Title && n.Summary == o.Summary && n.ObjectID == o.ObjectID &&
		n.Indexable == o.Indexable && n.Mount == o.Mount && slices.Equal(n.Interfaces, o.Interfaces)
}

// Error is trouble with a mounted Host, for the operator's log: it quotes
// nothing that the Host said except a [wip.Failure] that it wraps.
type Error struct {
	Mount string // the mount's path
	Err   error
}

// Error names the mount and the trouble.
func (e *Error) Error() string { return fmt.Sprintf("mount %s: %v", e.Mount, e.Err) }

// Notice is what an operator's log may have: it names the mount and the rule that
// was broken, and quotes nothing that the Host said.
func (e *Error) Notice() string {
	what := fmt.Sprintf("a %T", e.Err)
	var own interface{ Notice() string }
	var f *wip.Failure
	switch {
	case errors.As(e.Err, &own):
		what = own.Notice()
	case errors.As(e.Err, &f):
		what = "the Host answered with a failure of a class that is none"
		if f.Class.Known() {
			what = "the Host answered with a failure of class " + string(f.Class)
		}
	}
	return "mount " + e.Mount + ": " + what
}

// Unwrap returns the trouble.
func (e *Error) Unwrap() error { return e.Err }

// ErrNotFound is what Resolve returns for a path at which there is nothing
// for the caller.
var ErrNotFound = errors.New("no such entry")

const (
	maxTitle      = 128 // bytes, after cleaning
	maxSummary    = 512 // bytes, after cleaning
	maxObjectID   = 256 // bytes
	maxInterfaces = 32  // an Object
	maxTag        = 256 // bytes
)

// cleaned returns a Host's text as it may be shown.
func cleaned(text string, limit int) string {
	// Cleaning costs by length, so what is far too long is not read to its end.
	if len(text) > 16*limit {
		text = text[:16*limit]
	}
	text, _ = cleantext.Clean(text, limit)
	return text
}

// Package wip holds the nouns of the WIP core protocol, which a client speaks
// with a Host and never shows to a model: Host, Entry, Tree, Object, Call,
// Result, Failure.
//
// A Host is anything that publishes entries. An entry leads to an Object; an
// Object names the interfaces it implements; an interface is declared in an
// IDL document that the Host serves. Reading is an operation too: an Object
// has no properties.
package wip

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Host is the core protocol as a Go interface. All methods may be called
// concurrently, observe ctx, and report trouble as a *[Failure].
//
// Paths are the Host's own: "/" is its root, segments are separated by one
// slash, and the client joins them to the place where the Host is mounted.
type Host interface {
	// Fetch returns the entry at path.
	Fetch(ctx context.Context, caller Caller, path string) (Entry, error)
	// FetchTree returns the entry at path and all below it.
	FetchTree(ctx context.Context, caller Caller, path string) (Tree, error)
	// Document returns the source text of an IDL document by the name that
	// an InterfaceRef or an import of another document gives.
	Document(ctx context.Context, name string) ([]byte, error)
	// CallOperation runs one operation of one Object.
	CallOperation(ctx context.Context, call Call) (Result, error)
}

// Prompt is a Host in this process that promises to heed contexts: each of its
// methods returns as soon as its context ends, and computes for no longer than
// a call may take. A client may call it without a goroutine in between.
type Prompt interface {
	Host
	// Prompt does nothing: to have it is the promise.
	Prompt()
}

// TreeSource is a Host that can say what has changed in a tree since it was
// last asked for, so that a large one need not be sent again.
type TreeSource interface {
	Host
	// FetchTreeSince returns the change of the tree at path since the state
	// that tag names: Change.Tag of an earlier answer for the same caller and
	// path. Of an empty tag, or one that the Host no longer knows, it returns
	// the whole tree.
	FetchTreeSince(ctx context.Context, caller Caller, path, tag string) (Change, error)
}

// KeyKeeper is a Host that knows whether it honours idempotency keys.
type KeyKeeper interface {
	Host
	// KeepsKeys reports whether a second call with one idempotency key is
	// answered with the first one's result, also after a restart, for longer
	// than a client repeats a call. It returns at once; a Host elsewhere has no
	// keys until it has said so.
	KeepsKeys() bool
}

// Change is how a tree differs from an earlier state of it. Whole is the tree
// itself; if it is nil, Replaced and Removed are applied to what the client has,
// Removed first. All three empty means that nothing changed.
type Change struct {
	Tag      string   // names the state that results; empty if the Host keeps none
	Whole    *Tree    // the whole tree at the path that was asked for
	Removed  []string // the Host's own paths of entries that are gone, with all below
	Replaced []Tree   // each stands in the place of the entry of its path, with all below
}

// Caller is what a Host is told of the principal that asks. A Host with
// permissions of its own decides by it; the zero value is nobody in
// particular.
type Caller struct {
	// ID is an opaque, stable name of the principal.
	ID string
}

// Entry is one place in a Host's space.
type Entry struct {
	Path    string // the Host's own absolute path, such as "/region"
	Title   string // one line for people and models; may be empty
	Summary string // a sentence; may be empty
	// Object is what the entry leads to; nil for a mere folder.
	Object *Object
	// Indexable says that the entry's public information may be searched
	// by discover once it came with FetchTree.
	Indexable bool
	// Tag changes whenever anything above does; empty means untagged.
	Tag string
}

// Object identifies what an entry leads to and what it can do.
type Object struct {
	ID         string // stable for the Object's life, unique in its Host
	Interfaces []InterfaceRef
}

// InterfaceRef names one interface of an IDL document.
type InterfaceRef struct {
	Document  string // the name to ask Host.Document for, such as "region.wip"
	Interface string // the interface's name in its package, such as "Region"
	// SHA256 is the lower-case hexadecimal digest that the document's text
	// must have; empty means any text is accepted.
	SHA256 string
}

// Tree is an entry and the trees below it, in the Host's order.
type Tree struct {
	Entry    Entry
	Children []Tree
}

// Call is one operation to run. The client has checked Arguments against the
// operation's parameter list and filled in the declared defaults.
type Call struct {
	Caller    Caller
	ID        string // the call's identifier in audit records
	Path      string // the Host's own path of the entry
	Object    string // Object.ID as observed when the entry was fetched
	Interface string // the interface's name in its package
	Operation string
	Arguments json.RawMessage // a record with every declared parameter
	// IdempotencyKey is the same for every attempt at the same call of a
	// mutating operation; empty otherwise. A Host that has carried out a call
	// with this key answers the next one with the same result.
	IdempotencyKey string
	// Idempotent says that the operation declares that a second call changes
	// nothing more: the request may be sent again.
	Idempotent bool
	// DryRun asks for what the call would do, without doing it. Only an
	// operation that declares @dry_run is called so.
	DryRun bool
}

// Result is what an operation returned, as the JSON form of its declared
// result type (spec/idl.md, Results). The client checks and shapes it.
type Result struct {
	Value json.RawMessage
	// CacheHit says that the Host answered from a snapshot it already had.
	CacheHit bool
}

// Class says what kind of trouble a Failure is, and so what may be done.
type Class string

const (
	// NotFound: no such entry, Object or operation for this caller.
	NotFound Class = "not_found"
	// Domain: the call was understood and a rule of the domain forbids or
	// prevents it; Hint says what to do.
	Domain Class = "domain"
	// Transient: the same call may succeed a little later.
	Transient Class = "transient"
	// Stale: the entry does not lead to the Object that Call.Object names, or
	// no longer does; the client fetches the entry again.
	Stale Class = "stale"
	// Internal: a defect or revoked access; repeating does not help, and
	// the text is for the operator, never for a model.
	Internal Class = "internal"
)

// Known reports whether the class is one of these: a Host may say anything.
func (c Class) Known() bool {
	switch c {
	case NotFound, Domain, Transient, Stale, Internal:
		return true
	}
	return false
}

// Failure is how a Host reports trouble. Any other error counts as Internal,
// except a context's own.
type Failure struct {
	Class   Class
	Message string // what was wrong, for the model unless Class is Internal
	Hint    string // what to do about it; may be empty
	// RetryAfter is how long to wait before trying again; 0 means unstated.
	RetryAfter time.Duration
	// MaybeDone says that the call may have been carried out all the same, as
	// when a connection is lost before its answer. False means that it was
	// not.
	MaybeDone bool
	Err       error // the cause, for the operator; may be nil
}

// Error describes the failure for an operator's log.
func (f *Failure) Error() string {
	if f.Err != nil {
		return fmt.Sprintf("%s: %s: %v", f.Class, f.Message, f.Err)
	}
	return fmt.Sprintf("%s: %s", f.Class, f.Message)
}

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

package remote

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space/wip"
)

// Version is the version of the protocol that both ends speak.
const Version = "1"

// The protocol's methods.
const (
	initialize    = "initialize"
	fetch         = "fetch"
	fetchTree     = "fetch_tree"
	document      = "document"
	callOperation = "call_operation"
	cancel        = "cancel" // a notification
)

// Bounds that both ends keep, whatever the other says.
const (
	maxDepth      = 500      // levels of a message
	maxTreeDepth  = 64       // levels of a tree
	maxItems      = 20_000   // elements of a list on one page
	maxInterfaces = 64       // of one Object
	maxPages      = 1024     // of one tree
	maxTag        = 256      // bytes of a tag or a cursor
	maxPage       = 16 << 20 // bytes of an answer to anything but a call

	defaultMaxRequest  = 4 << 20
	defaultMaxResponse = 64 << 20
	defaultMaxEntries  = 250_000
)

// common is what the parameters of every request may hold.
type common struct {
	Caller *wireCaller `json:"caller,omitempty"`
	// DeadlineMillis is the time that is left for the answer; nil is as long
	// as the server allows.
	DeadlineMillis *int64 `json:"deadline_millis,omitempty"`
}

type wireCaller struct {
	ID string `json:"id"`
}

type initializeParams struct {
	ProtocolVersion string `json:"protocol_version"`
}

type initializeResult struct {
	ProtocolVersion *string       `json:"protocol_version"`
	Capabilities    *Capabilities `json:"capabilities"`
}

// Capabilities is what a server tells of itself in the handshake.
type Capabilities struct {
	// TreeSince says that a tag brings back what has changed only.
	TreeSince bool `json:"tree_since"`
	// PageEntries is how many entries one page of a tree holds at most.
	PageEntries int `json:"page_entries"`
	// Gzip says that requests may come compressed.
	Gzip bool `json:"gzip"`
	// Callers says whose calls the server takes these to be: "any" takes a
	// request's word for it, "listed" does for those that the token may name,
	// "own" knows the token's principal only.
	Callers string `json:"callers"`
	// MaxRequestBytes is how large a request may be, expanded.
	MaxRequestBytes int `json:"max_request_bytes"`
	// MaxResponseBytes is how large an answer is at most, expanded.
	MaxResponseBytes int `json:"max_response_bytes"`
	// MaxConcurrent is how many requests are worked on at once.
	MaxConcurrent int `json:"max_concurrent"`
	// MaxMillis is how long a request may take at most.
	MaxMillis int64 `json:"max_millis"`
}

type fetchParams struct {
	common
	Path *string `json:"path"`
}

type fetchResult struct {
	Entry *wireEntry `json:"entry"`
}

type treeParams struct {
	common
	Path   *string `json:"path"`
	Tag    string  `json:"tag,omitempty"`
	Cursor string  `json:"cursor,omitempty"`
}

// The forms of an answer to fetch_tree.
const (
	whole     = "whole"
	unchanged = "unchanged"
	delta     = "delta"
)

type treeResult struct {
	Status     *string         `json:"status"`
	Tag        string          `json:"tag,omitempty"`
	Removed    list[string]    `json:"removed,omitempty"`
	Nodes      list[wireEntry] `json:"nodes,omitempty"`
	NextCursor string          `json:"next_cursor,omitempty"`
}

type documentParams struct {
	common
	Name *string `json:"name"`
}

type documentResult struct {
	Text *string `json:"text"`
}

type callParams struct {
	common
	CallID         string          `json:"call_id,omitempty"`
	Path           *string         `json:"path"`
	Object         *string         `json:"object"`
	Interface      *string         `json:"interface"`
	Operation      *string         `json:"operation"`
	Arguments      json.RawMessage `json:"arguments"`
	IdempotencyKey string          `json:"idempotency_key,omitempty"`
	Idempotent     bool            `json:"idempotent,omitempty"`
	DryRun         bool            `json:"dry_run,omitempty"`
}

type callResult struct {
	Value    json.RawMessage `json:"value"`
	CacheHit bool            `json:"cache_hit,omitempty"`
}

type cancelParams struct {
	ID uint64 `json:"id"`
}

// wireEntry is an entry on the wire. In a tree, which is sent as a list with
// every entry before those below it, Depth says how far below the list's latest
// entry of depth 0 it is.
type wireEntry struct {
	Depth     int         `json:"depth,omitempty"`
	Path      string      `json:"path"`
	Title     string      `json:"title,omitempty"`
	Summary   string      `json:"summary,omitempty"`
	Object    *wireObject `json:"object,omitempty"`
	Indexable bool        `json:"indexable,omitempty"`
	Tag       string      `json:"tag,omitempty"`
}

type wireObject struct {
	ID         string        `json:"id"`
	Interfaces list[wireRef] `json:"interfaces"`
}

type wireRef struct {
	Document  string `json:"document"`
	Interface string `json:"interface"`
	SHA256    string `json:"sha256,omitempty"`
}

// UnmarshalJSON reads an entry that has a path.
func (e *wireEntry) UnmarshalJSON(raw []byte) error {
	type plain wireEntry
	if err := json.Unmarshal(raw, (*plain)(e)); err != nil {
		return err
	}
	switch {
	case e.Path == "":
		return errors.New("found an entry without a path")
	case len(e.Tag) > maxTag:
		return errors.New("found a tag of more than 256 bytes")
	case e.Depth < 0 || e.Depth > maxTreeDepth:
		return fmt.Errorf("found an entry at depth %d, expected 0 to %d", e.Depth, maxTreeDepth)
	}
	return nil
}

// UnmarshalJSON reads an Object that has an identifier.
func (o *wireObject) UnmarshalJSON(raw []byte) error {
	type plain wireObject
	if err := json.Unmarshal(raw, (*plain)(o)); err != nil {
		return err
	}
	switch {
	case o.ID == "":
		return errors.New("found an object without an id")
	case len(o.Interfaces) > maxInterfaces:
		return fmt.Errorf("found an object with more than %d interfaces", maxInterfaces)
	}
	return nil
}

// UnmarshalJSON reads a reference that names a document and an interface.
func (r *wireRef) UnmarshalJSON(raw []byte) error {
	type plain wireRef
	if err := json.Unmarshal(raw, (*plain)(r)); err != nil {
		return err
	}
	if r.Document == "" || r.Interface == "" {
		return errors.New("found an interface without its document or name")
	}
	return nil
}

// list is a JSON array of at most maxItems elements, each of which is read
// before memory is taken for the next.
type list[T any] []T

// UnmarshalJSON reads the array.
func (l *list[T]) UnmarshalJSON(raw []byte) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return errors.New("found no array where one was expected")
	}
	*l = nil
	for d.More() {
		if len(*l) == maxItems {
			return fmt.Errorf("found a list of more than %d elements", maxItems)
		}
		var v T
		if err := d.Decode(&v); err != nil {
			return err
		}
		*l = append(*l, v)
	}
	return nil
}

func toWire(e wip.Entry, depth int) (wireEntry, error) {
	w := wireEntry{Depth: depth, Path: e.Path, Title: e.Title, Summary: e.Summary, Indexable: e.Indexable, Tag: e.Tag}
	sound := e.Path != "" && utf8.ValidString(e.Path) && utf8.ValidString(e.Tag) && len(e.Tag) <= maxTag
	if o := e.Object; o != nil {
		sound = sound && o.ID != "" && utf8.ValidString(o.ID) && len(o.Interfaces) <= maxInterfaces
		w.Object = &wireObject{ID: o.ID, Interfaces: make(list[wireRef], 0, len(o.Interfaces))}
		for _, ref := range o.Interfaces {
			sound = sound && ref.Document != "" && ref.Interface != "" &&
				utf8.ValidString(ref.Document) && utf8.ValidString(ref.Interface) && utf8.ValidString(ref.SHA256)
			w.Object.Interfaces = append(w.Object.Interfaces, wireRef(ref))
		}
	}
	if !sound {
		return w, errors.New("found an entry that cannot be sent: a name in it is empty, too long or no UTF-8, or there are too many interfaces")
	}
	return w, nil
}

func (e *wireEntry) entry() wip.Entry {
	out := wip.Entry{Path: e.Path, Title: e.Title, Summary: e.Summary, Indexable: e.Indexable, Tag: e.Tag}
	if e.Object != nil {
		out.Object = &wip.Object{ID: e.Object.ID}
		for _, ref := range e.Object.Interfaces {
			out.Object.Interfaces = append(out.Object.Interfaces, wip.InterfaceRef(ref))
		}
	}
	return out
}

// same reports whether two entries say the same, wherever they stand.
func (e *wireEntry) same(other *wireEntry) bool {
	if e.Path != other.Path || e.Title != other.Title || e.Summary != other.Summary ||
		e.Indexable != other.Indexable || e.Tag != other.Tag || (e.Object == nil) != (other.Object == nil) {
		return false
	}
	if e.Object == nil {
		return true
	}
	if e.Object.ID != other.Object.ID || len(e.Object.Interfaces) != len(other.Object.Interfaces) {
		return false
	}
	for i, ref := range e.Object.Interfaces {
		if ref != other.Object.Interfaces[i] {
			return false
		}
	}
	return true
}

// size estimates the bytes of an entry's JSON.
func (e *wireEntry) size() int {
	n := 80 + len(e.Path) + len(e.Title) + len(e.Summary) + len(e.Tag)
	if e.Object != nil {
		n += 40 + len(e.Object.ID)
		for _, ref := range e.Object.Interfaces {
			n += 45 + len(ref.Document) + len(ref.Interface) + len(ref.SHA256)
		}
	}
	return n
}

// flatten returns a tree as a list with every entry before those below it.
func flatten(nodes []wireEntry, t *wip.Tree, depth, limit int) ([]wireEntry, error) {
	switch {
	case depth > maxTreeDepth:
		return nil, fmt.Errorf("found a tree of more than %d levels", maxTreeDepth)
	case len(nodes) >= limit:
		return nil, fmt.Errorf("found a tree of more than %d entries", limit)
	}
	e, err := toWire(t.Entry, depth)
	if err != nil {
		return nil, err
	}
	nodes = append(nodes, e)
	for i := range t.Children {
		if nodes, err = flatten(nodes, &t.Children[i], depth+1, limit); err != nil {
			return nil, err
		}
	}
	return nodes, nil
}

// unflatten returns the trees that a list holds, one for each entry of depth
// 0.
func unflatten(nodes []wireEntry) ([]wip.Tree, error) {
	var trees []wip.Tree
	for len(nodes) > 0 {
		if nodes[0].Depth != 0 {
			return nil, fmt.Errorf("found an entry at depth %d, expected 0", nodes[0].Depth)
		}
		t, n, err := grow(nodes)
		if err != nil {
			return nil, err
		}
		trees, nodes = append(trees, t), nodes[n:]
	}
	return trees, nil
}

// grow returns the tree whose root is the first of nodes, and of how many nodes
// it consists.
func grow(nodes []wireEntry) (wip.Tree, int, error) {
	t := wip.Tree{Entry: nodes[0].entry()}
	depth, n := nodes[0].Depth, 1
	for n < len(nodes) && nodes[n].Depth > depth {
		if nodes[n].Depth != depth+1 {
			return t, n, fmt.Errorf("found an entry at depth %d below one at depth %d", nodes[n].Depth, depth)
		}
		child, size, err := grow(nodes[n:])
		if err != nil {
			return t, n, err
		}
		t.Children, n = append(t.Children, child), n+size
	}
	return t, n, nil
}

var errTooDeep = fmt.Errorf("found more than %d levels", maxDepth)

// checkDepth refuses JSON that is nested too deeply. It judges nothing else.
func checkDepth(raw []byte) error {
	if idl.Levels(raw) > maxDepth {
		return errTooDeep
	}
	return nil
}

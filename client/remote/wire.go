package remote

import (
	"encoding/json"
	"fmt"

	"github.com/wipagent/wipagent/idl"
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
	maxDepth      = 500       // levels of a message
	maxTreeDepth  = 64        // levels of a tree
	maxItems      = 20_000    // elements of a list on one page
	maxInterfaces = 64        // of one Object
	maxPages      = 1024      // of one tree
	maxTag        = 256       // bytes of a tag or a cursor
	maxEntry      = 512 << 10 // bytes of an entry
	maxPage       = 16 << 20  // bytes of an answer to anything but a call

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
	// IdempotencyKeys says that the Host honours idempotency keys, as
	// [wip.KeyKeeper] says.
	IdempotencyKeys bool `json:"idempotency_keys,omitempty"`
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

// treeResult is written as it is here, and read by a treeReader.
type treeResult struct {
	Status     string      `json:"status"`
	Tag        string      `json:"tag,omitempty"`
	Removed    []string    `json:"removed,omitempty"`
	Nodes      []wireEntry `json:"nodes,omitempty"`
	NextCursor string      `json:"next_cursor,omitempty"`
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

var errTooDeep = fmt.Errorf("found more than %d levels", maxDepth)

// checkDepth refuses JSON that is nested too deeply. It judges nothing else.
func checkDepth(raw []byte) error {
	if idl.Levels(raw) > maxDepth {
		return errTooDeep
	}
	return nil
}

// levels counts the levels of JSON that comes in pieces, as idl.Levels does of a
// whole text.
type levels struct {
	depth           int
	quoted, escaped bool
}

// count takes the next piece and returns the most levels there were in it.
func (l *levels) count(piece []byte) (deepest int) {
	for _, c := range piece {
		switch {
		case l.escaped:
			l.escaped = false
		case l.quoted && c == '\\':
			l.escaped = true
		case c == '"':
			l.quoted = !l.quoted
		case l.quoted:
		case c == '{' || c == '[':
			l.depth++
			deepest = max(deepest, l.depth)
		case c == '}' || c == ']':
			l.depth--
		}
	}
	return deepest
}

// Package tracker is an issue tracker as a Host: a small, persistent one whose
// operations change things and whose callers may not all see the same.
//
// What an Object can do stands in issue.wip, and zserver.go is generated from
// it. Issues are in no tree: there are too many, and they come and go. They are
// found by an operation, search, which answers with their entries (W3, W4).
package tracker

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space/wip"
)

//go:generate go run github.com/wipagent/wipagent/cmd/wipagent idl gen go --package tracker issue.wip

// documentName is what InterfaceRefs call the one document.
const documentName = "issue.wip"

//go:embed issue.wip
var documents embed.FS

// Config configures a Host. The zero value works.
type Config struct {
	// Members are the IDs of the callers who may see the private project. To
	// all others it does not exist. An empty ID is an error.
	Members []string
	// MaxBytes is how large the file may be before nothing more is written;
	// 0 is 1 GiB.
	MaxBytes int64
	// Now tells the time; nil is time.Now.
	Now func() time.Time

	// public leaves the private project out when a file is first filled: the
	// world that one who may not see it must not be able to tell from his own.
	public bool
}

// Host serves the tracker in one file. It is safe for concurrent use.
type Host struct {
	db       *bbolt.DB
	now      func() time.Time
	maxBytes int64
	writing  chan struct{} // holds the one turn to write
	members  map[string]bool
	projects []*project // by name
	byKey    map[string]*project
	document *idl.Document
	text     []byte
	sha256   string
}

var _ wip.Host = (*Host)(nil)

// Open opens the tracker in a file, and makes and fills it if there is none. A
// file that another process has open is an error after a second. A nil cfg is
// the zero Config.
func Open(path string, cfg *Config) (_ *Host, err error) {
	if cfg == nil {
		cfg = &Config{}
	}
	h := &Host{now: cfg.Now, maxBytes: cfg.MaxBytes, writing: make(chan struct{}, 1), members: map[string]bool{}, byKey: map[string]*project{}}
	if h.now == nil {
		h.now = time.Now
	}
	if h.maxBytes == 0 {
		h.maxBytes = 1 << 30
	}
	for _, id := range cfg.Members {
		if id == "" {
			return nil, errors.New("found a member without ID, expected the name of a caller")
		}
		h.members[id] = true
	}
	compiled, err := idl.Compile(idl.FSLoader(documents), documentName)
	if err != nil {
		return nil, err
	}
	h.document = compiled[0]
	if h.text, err = documents.ReadFile(documentName); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(h.text)
	h.sha256 = hex.EncodeToString(sum[:])
	if h.db, err = bbolt.Open(path, 0o600, &bbolt.Options{Timeout: time.Second}); err != nil {
		if errors.Is(err, bolterrors.ErrTimeout) {
			err = errors.New("another process has it open")
		}
		return nil, fmt.Errorf("opening %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			h.db.Close()
		}
	}()
	if err = h.db.Update(func(tx *bbolt.Tx) error { return fill(tx, !cfg.public) }); err != nil {
		return nil, fmt.Errorf("filling %s: %w", path, err)
	}
	if err = h.db.View(h.load); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return h, nil
}

// Close closes the file after the calls that are under way.
func (h *Host) Close() error { return h.db.Close() }

// Document returns the one document.
func (h *Host) Document(ctx context.Context, name string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if name != documentName {
		return nil, &wip.Failure{Class: wip.NotFound, Message: "no such document"}
	}
	return append([]byte(nil), h.text...), nil
}

// noEntry is the answer to whatever does not exist for the caller, in the same
// words whether it is hidden or never was (T9).
func noEntry() error { return &wip.Failure{Class: wip.NotFound, Message: "no such entry"} }

// noOperation is the same for calls.
func noOperation() error {
	return &wip.Failure{Class: wip.NotFound, Message: "no such entry or operation"}
}

// refuse is a rule of the tracker that prevents what was asked.
func refuse(message, hint string) error {
	return &wip.Failure{Class: wip.Domain, Message: message, Hint: hint}
}

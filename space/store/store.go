// Package store keeps what a space.Space has learned in one file, so that it is
// there again after the end of the process, however that came: the trees of
// mounts, and what each caller knows beside them (W3).
//
// The file is a bbolt database: one file, one writer, and a state that is
// replaced as a whole or not at all. What is put is written by one goroutine in
// the order in which it was put, as much in one transaction as has come
// together while the one before was written, so that a burst does not cost a
// disk's flush each. What a kill leaves is thus what had been put up to some
// instant, whole and in order; [Store.Sync] says when that is at least now.
//
// No arguments and no results are in it. Callers and Hosts are there as hashes
// of their names. Spec: spec/client.md, What is kept across runs.
package store

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"sync"
	"time"

	"go.etcd.io/bbolt"

	"github.com/wipagent/wipagent/space"
)

// Limits bound a Store. The zero value works; a bound of 0 means the default.
type Limits struct {
	// Bytes bounds all that is kept, in bytes of keys and values; what was not
	// used for longest goes first, callers' before trees. The file takes up to
	// three times as much, and does not shrink. Default 256 MiB.
	Bytes int64
	// Entries bounds the tree of one mount; a larger one is not kept. Default
	// 250,000.
	Entries int
	// Known bounds what is kept of one caller's Known Space, in entries of one
	// mount; those go first that were seen longest ago. Default 1,024.
	Known int
	// Callers bounds the callers of whom something is kept. Default 256.
	Callers int
	// Wait is how long Open waits for another process to close the file.
	// Default 1 s.
	Wait time.Duration
}

func (l Limits) withDefaults() Limits {
	setDefault(&l.Bytes, 256<<20)
	setDefault(&l.Entries, 250_000)
	setDefault(&l.Known, 1024)
	setDefault(&l.Callers, 256)
	setDefault(&l.Wait, time.Second)
	return l
}

func setDefault[T int | int64 | time.Duration](v *T, d T) {
	if *v <= 0 {
		*v = d
	}
}

// Store is a space.Store in a file. It is safe for concurrent use.
type Store struct {
	db     *bbolt.DB
	path   string
	limits Limits
	salt   []byte // of hashes
	index  *index // the writer's own

	queue  chan job
	ended  chan struct{} // closed when the writer is done
	mu     sync.RWMutex  // held to send to queue, and to close it
	closed bool

	fault sync.Mutex // held for the rest
	err   error      // why nothing is written any more; nil if it is
	note  error      // what was not kept and nobody was told of yet
}

var _ space.Store = (*Store)(nil)

// job is something to be written, or, if done is not nil, to be told when all
// before it is.
type job struct {
	key      shelfKey
	identity string
	change   *space.TreeChange
	done     chan<- struct{}
}

// ErrClosed is what is returned of a Store that was closed.
var ErrClosed = errors.New("the store is closed")

// Tree returns the tree that was kept of a mount; nil if there is none of that
// Host.
func (s *Store) Tree(at space.Place) (*space.KeptTree, error) {
	return s.read(shelfKey{mount: at.Path}, s.hash("host", at.Identity))
}

// KeepTree keeps a tree, or what has changed in it. An error is that of an
// earlier write, after which nothing is written any more, or says what of
// earlier calls was not kept.
func (s *Store) KeepTree(at space.Place, c *space.TreeChange) error {
	return s.put(job{key: shelfKey{mount: at.Path}, identity: s.hash("host", at.Identity), change: c})
}

// Known returns what was kept of a caller's Known Space, of one mount; nil if
// there is nothing.
func (s *Store) Known(caller string, at space.Place) (*space.KeptTree, error) {
	return s.read(shelfKey{s.hash("caller", caller), at.Path}, s.hash("host", at.Identity))
}

// KeepKnown adds to a caller's Known Space, or takes from it. Its errors are
// those of KeepTree.
func (s *Store) KeepKnown(caller string, at space.Place, c *space.TreeChange) error {
	return s.put(job{key: shelfKey{s.hash("caller", caller), at.Path}, identity: s.hash("host", at.Identity), change: c})
}

// hash stands for a name that is not to be in the file.
func (s *Store) hash(kind, name string) string {
	h := hmac.New(sha256.New, s.salt)
	h.Write([]byte(kind + "\x00" + name))
	return string(h.Sum(nil))
}

// put queues a job. It waits while many are queued.
func (s *Store) put(j job) error {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return ErrClosed
	}
	s.fault.Lock()
	err, note := s.err, s.note
	s.note = nil
	s.fault.Unlock()
	if err != nil {
		return err
	}
	s.queue <- j
	return note
}

// Sync waits until everything that was put before is in the file and would be
// there after a loss of power. The error is why something is not.
func (s *Store) Sync() error {
	done := make(chan struct{})
	note := s.put(job{done: done})
	if errors.Is(note, ErrClosed) {
		return note
	}
	if s.failed() == nil {
		<-done
	}
	return errors.Join(note, s.failed())
}

// failed returns why nothing is written any more, or nil.
func (s *Store) failed() error {
	s.fault.Lock()
	defer s.fault.Unlock()
	return s.err
}

// Close writes what was put and closes the file. The error is why something was
// not written. It may be called more than once.
func (s *Store) Close() error {
	s.mu.Lock()
	first := !s.closed
	if s.closed = true; first {
		close(s.queue)
	}
	s.mu.Unlock()
	<-s.ended
	s.fault.Lock()
	err := errors.Join(s.err, s.note)
	s.fault.Unlock()
	if first {
		err = errors.Join(err, s.db.Close())
	}
	return err
}

// read returns what is on a shelf of a Host.
func (s *Store) read(k shelfKey, identity string) (*space.KeptTree, error) {
	if err := s.Sync(); err != nil {
		return nil, err
	}
	var kept *space.KeptTree
	err := s.guarded(func() error {
		return s.db.View(func(tx *bbolt.Tx) (err error) {
			kept, err = readShelf(tx, k, identity)
			return err
		})
	})
	return kept, err
}

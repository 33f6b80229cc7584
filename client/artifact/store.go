// Package artifact keeps results that are too large for an answer, for a while,
// and serves them as a Host: each is an entry with the interface Artifact
// (artifact.wip), by which its owner reads ranges and lines of it, searches it
// and selects parts (T11). To everybody else it does not exist (T9).
//
// What is kept lies in memory up to a limit and then on disk. A range of an
// artifact on disk is read without the rest of it.
package artifact

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/tidwall/gjson"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space/wip"
)

//go:generate go run github.com/wipagent/wipagent/cmd/wipagent idl gen go --package artifact artifact.wip

// MaxBytes is how large one result may be, in bytes of JSON.
const MaxBytes = 64 << 20

// Config bounds a Store. The zero value keeps artifacts in memory alone; a bound
// of 0 means the default.
type Config struct {
	// Dir is the folder for what memory has no room for, made if it is missing.
	// Several processes may share it. Empty means that there is none: then the
	// least recently used is dropped from memory instead.
	Dir string
	// MaxMemory bounds the bytes of text in memory. Default 16 MiB.
	MaxMemory int64
	// MaxDisk bounds the bytes in files of this Store. Default 512 MiB.
	MaxDisk int64
	// MaxOwner bounds the bytes that one caller's artifacts have together.
	// Default 128 MiB.
	MaxOwner int64
	// MaxArtifacts bounds their number. Default 4,096.
	MaxArtifacts int
	// Lifetime is how long an artifact is kept at most, from when it was made.
	// Default 30 minutes.
	Lifetime time.Duration
}

// ErrTooLarge is what Put returns for a result that no room can be made for.
var ErrTooLarge = errors.New("the result is too large to be kept")

// Store keeps artifacts. It is a wip.Host, and safe for concurrent use. Close it
// when it is no longer needed.
type Store struct {
	cfg    Config
	secret [32]byte // of the identifiers
	disk   *disk    // nil if there is none
	host   host
	slot   chan struct{} // held by the one call that has a whole text from disk in memory

	writing sync.WaitGroup // files that are being written

	mu     sync.Mutex
	closed bool
	kept   *simplelru.LRU[string, *artifact]
	memory int64 // bytes in memory, and on their way there
	stored int64 // bytes in files, and on their way there
	owners map[string]int64
	sweep  *time.Timer // drops what has expired; nil if nothing is kept
}

// artifact is one result. It is immutable but for what Store.mu guards.
type artifact struct {
	id      string
	owner   string
	label   string
	text    []byte // nil if it is on disk
	size    int
	lines   lineIndex
	made    time.Time
	marked  bool // it holds words of strangers
	origin  any
	expires time.Time
}

// New returns an empty Store. It removes from the folder what processes left
// there that ended without closing theirs. A nil cfg is the zero Config.
func New(cfg *Config) (*Store, error) {
	s := &Store{owners: map[string]int64{}, slot: make(chan struct{}, 1)}
	if cfg != nil {
		s.cfg = *cfg
	}
	c := &s.cfg
	if min(c.MaxMemory, c.MaxDisk, c.MaxOwner, int64(c.MaxArtifacts), int64(c.Lifetime)) < 0 {
		return nil, errors.New("found a negative bound of artifacts, expected 0 or more")
	}
	c.MaxMemory = cmp.Or(c.MaxMemory, 16<<20)
	c.MaxDisk = cmp.Or(c.MaxDisk, 512<<20)
	c.MaxOwner = cmp.Or(c.MaxOwner, 128<<20)
	c.MaxArtifacts = cmp.Or(c.MaxArtifacts, 4096)
	c.Lifetime = cmp.Or(c.Lifetime, 30*time.Minute)
	rand.Read(s.secret[:]) // never fails
	var err error
	if s.kept, err = simplelru.NewLRU(c.MaxArtifacts, func(_ string, a *artifact) { s.release(a) }); err != nil {
		return nil, err
	}
	if s.host, err = newHost(); err != nil {
		return nil, err
	}
	if c.Dir != "" {
		if s.disk, err = openDisk(c.Dir); err != nil {
			return nil, fmt.Errorf("the folder of artifacts: %w", err)
		}
	}
	return s, nil
}

// Close drops all artifacts and removes their files. Calls that are under way
// may fail; there are none after it.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.mu.Unlock()
	s.writing.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sweep != nil {
		s.sweep.Stop()
	}
	s.kept.Purge()
	if s.disk == nil {
		return nil
	}
	return s.disk.close()
}

// Info is what is known of a result beside its text.
type Info struct {
	Label     string // what it is a result of, such as an operation's name; at most 100 bytes are shown
	Untrusted bool   // it holds words of strangers
	Origin    any    // handed back by Origin; the Store does not look into it
}

// Kept is what there is to say of an artifact that has just been made. Head and
// Tail are the same for the same text.
type Kept struct {
	Path         string // the Host's own
	Bytes, Lines int
	Head         string // whole lines from the beginning, at most 2,048 bytes
	HeadLines    int    // how many these are
	Tail         string // whole lines up to the end, at most 1,024 bytes; none of Head
	Lifetime     time.Duration
}

const (
	headBytes = 2048
	tailBytes = maxLine
)

// Put keeps a result, valid JSON without line breaks, as the caller's own, and
// drops what is least recently used where there is no room. The slice must not
// be changed any more. The error is ErrTooLarge or that of writing a file.
func (s *Store) Put(owner wip.Caller, text []byte, info Info) (*Kept, error) {
	switch {
	case owner.ID == "":
		return nil, fmt.Errorf("%w: nobody in particular owns nothing", ErrTooLarge)
	case len(text) > MaxBytes:
		return nil, ErrTooLarge
	case !utf8.Valid(text) || !gjson.ValidBytes(text):
		return nil, errors.New("found a result that is not JSON")
	}
	if cap(text) > len(text)+len(text)/16 {
		text = bytes.Clone(text) // what it would hold on to counts for nobody
	}
	a := &artifact{
		id: s.newID(owner.ID), owner: owner.ID, label: info.Label, size: len(text), lines: indexLines(text),
		made: time.Now(), marked: info.Untrusted, origin: info.Origin,
	}
	a.expires = a.made.Add(s.cfg.Lifetime)
	inMemory, err := s.reserve(a)
	if err != nil {
		return nil, err
	}
	defer s.writing.Done()
	if inMemory {
		a.text = text
	} else {
		err = s.disk.write(a.id, text)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case err != nil:
		s.count(a, inMemory, -1)
		return nil, err
	case s.closed:
		s.release(a)
		return nil, errClosed
	}
	s.kept.Add(a.id, a)
	if s.sweep == nil {
		s.sweep = time.AfterFunc(s.cfg.Lifetime, s.expire)
	}
	k := &Kept{Path: "/" + a.id, Bytes: a.size, Lines: a.lines.count, Lifetime: s.cfg.Lifetime}
	n, lines := head(text, headBytes)
	k.Head, k.HeadLines = string(text[:n]), lines
	k.Tail = string(text[max(n, a.lines.tail(text, tailBytes)):])
	return k, nil
}

var errClosed = errors.New("the artifacts are closed")

// reserve makes room for an artifact, and says whether that is in memory. Without
// an error, Store.writing is to be told when the artifact is in its place.
func (s *Store) reserve(a *artifact) (inMemory bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false, errClosed
	}
	n := int64(a.size)
	most, used := s.cfg.MaxMemory, &s.memory
	inMemory = s.disk == nil || s.memory+n <= most
	if !inMemory {
		most, used = s.cfg.MaxDisk, &s.stored
	}
	if n > most || n > s.cfg.MaxOwner {
		return false, ErrTooLarge
	}
	for s.owners[a.owner]+n > s.cfg.MaxOwner {
		if !s.evict(func(b *artifact) bool { return b.owner == a.owner }) {
			return false, ErrTooLarge
		}
	}
	for *used+n > most {
		if !s.evict(func(b *artifact) bool { return (b.text != nil) == inMemory }) {
			return false, ErrTooLarge
		}
	}
	s.count(a, inMemory, 1)
	s.writing.Add(1)
	return inMemory, nil
}

// evict drops the least recently used of those that match, if there is one. The
// caller holds mu.
func (s *Store) evict(match func(*artifact) bool) bool {
	for _, id := range s.kept.Keys() {
		if a, _ := s.kept.Peek(id); match(a) {
			return s.kept.Remove(id)
		}
	}
	return false
}

// count adds an artifact to what is used, or takes it away. The caller holds mu.
func (s *Store) count(a *artifact, inMemory bool, sign int64) {
	n := sign * int64(a.size)
	if inMemory {
		s.memory += n
	} else {
		s.stored += n
	}
	if s.owners[a.owner] += n; s.owners[a.owner] == 0 {
		delete(s.owners, a.owner)
	}
}

// release gives back what an artifact has taken. The caller holds mu.
func (s *Store) release(a *artifact) {
	s.count(a, a.text != nil, -1)
	if a.text == nil {
		s.disk.remove(a.id)
	}
}

// expire drops what has expired, and comes again when the next does, at most
// once a second.
func (s *Store) expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, next := time.Now(), time.Time{}
	for _, id := range s.kept.Keys() {
		switch a, _ := s.kept.Peek(id); {
		case !now.Before(a.expires):
			s.kept.Remove(id)
		case next.IsZero() || a.expires.Before(next):
			next = a.expires
		}
	}
	if s.sweep = nil; !next.IsZero() && !s.closed {
		s.sweep = time.AfterFunc(max(time.Second, next.Sub(now)), s.expire)
	}
}

// find returns the artifact at a path of the Host if the caller owns it.
func (s *Store) find(owner wip.Caller, path string, use bool) (*artifact, bool) {
	id, ok := strings.CutPrefix(path, "/")
	s.mu.Lock()
	defer s.mu.Unlock()
	a, found := s.kept.Peek(id)
	if !ok || !found || a.owner != owner.ID || !time.Now().Before(a.expires) {
		return nil, false
	}
	if use {
		s.kept.Get(id)
	}
	return a, true
}

// Origin returns Info.Origin of the artifact at a path of the Host and whether
// it is marked as holding words of strangers. It reports false if the caller has
// none there.
func (s *Store) Origin(owner wip.Caller, path string) (origin any, untrusted, ok bool) {
	a, ok := s.find(owner, path, false)
	if !ok {
		return nil, false, false
	}
	return a.origin, a.marked, true
}

// Gone reports whether the caller had an artifact at a path of the Host that is
// no longer kept.
func (s *Store) Gone(owner wip.Caller, path string) bool {
	id, ok := strings.CutPrefix(path, "/")
	raw, err := encoding.DecodeString(id)
	if !ok || err != nil || len(raw) != nonceBytes+macBytes || owner.ID == "" {
		return false
	}
	own := hmac.Equal(s.mac(raw[:nonceBytes], owner.ID), raw[nonceBytes:])
	_, kept := s.find(owner, path, false)
	return own && !kept
}

// An identifier is chance and a proof of who owns it, so that nothing need be
// kept of what has expired to tell its owner, and nobody else, that it has.
const nonceBytes, macBytes = 10, 6

var encoding = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

func (s *Store) newID(owner string) string {
	nonce := make([]byte, nonceBytes)
	rand.Read(nonce) // never fails
	return encoding.EncodeToString(append(nonce, s.mac(nonce, owner)...))
}

func (s *Store) mac(nonce []byte, owner string) []byte {
	h := hmac.New(sha256.New, s.secret[:])
	h.Write(nonce)
	h.Write([]byte(owner))
	return h.Sum(nil)[:macBytes]
}

// Usage is what a Store holds at a moment.
type Usage struct {
	Artifacts   int
	MemoryBytes int64 // of text in memory
	DiskBytes   int64 // of text in files
}

// Usage returns what is held now.
func (s *Store) Usage() Usage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Usage{s.kept.Len(), s.memory, s.stored}
}

var _ wip.Host = (*Store)(nil)

// compiled returns the one document.
func compiled() (*idl.Document, error) {
	docs, err := idl.Compile(idl.FSLoader(documents), documentName)
	if err != nil {
		return nil, err
	}
	return docs[0], nil
}

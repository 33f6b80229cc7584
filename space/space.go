// Package space keeps what a client knows of the Hosts that are mounted in it:
// the paths, the Discoverable Space that discover searches, and for each
// caller the Known Space that its results and look-ups have brought.
//
// Discoverable is what a Host marks as indexable and what came with a tree
// ([Space.Refresh]); an entry that was fetched alone or found in a result is
// known to its caller and no more. Nothing here decides who may see what: a
// [View] is built over what the caller of this package lets pass, and nothing
// else can influence its answers.
package space

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/wipagent/wipagent/space/wip"
)

// Config bounds a Space and chooses its ranking. The zero value works; a bound
// of 0 means the default.
type Config struct {
	// Ranker orders what discover finds; nil means the built-in ranking by
	// words.
	Ranker Ranker
	// MaxEntries bounds the entries of one Host's tree. Default 4,096.
	MaxEntries int
	// MaxOperations bounds the operations of all entries of one Host's tree
	// together. Default 16,384.
	MaxOperations int
	// MaxKnown bounds the Known Space of one caller, in entries; the least
	// recently used are forgotten. Default 1,024.
	MaxKnown int
	// MaxCallers bounds the callers that have a Known Space. Default 256.
	MaxCallers int
	// MaxAge is how long Resolve answers from memory before it asks the
	// Host again, and how long RefreshStale leaves a tree alone. Default 5
	// minutes.
	MaxAge time.Duration
	// Store keeps what is learned across runs; nil keeps nothing. It is the
	// owner's to close, when the Space is not used any more.
	Store Store
}

// Space is safe for concurrent use.
type Space struct {
	cfg       Config
	docs      *documents
	clock     atomic.Uint64 // numbers the observations
	tree      atomic.Pointer[tree]
	mu        sync.Mutex // held to change tree or looks or to find a caller's Known Space
	looks     map[*Mount]look
	known     *lru.Cache[string, *knownSpace]
	gone      *lru.Cache[absence, uint64] // the latest not-found answers, by their numbers
	views     *lru.Cache[viewKey, *View]
	audiences *lru.Cache[audienceKey, *View]
	building  sync.Mutex // held to make a View
	latest    latest
	ranker    Ranker

	trouble troubles     // with the Store
	keepers atomic.Int32 // how many Keeps there are
	mounted chan struct{}
}

// tree is one state of the mounts and the Discoverable Space. It is immutable.
type tree struct {
	version uint64 // differs between any two states that a search can tell apart, but for ages
	made    time.Time
	mounts  []*Mount
	grown   map[*Mount]time.Time // when the latest whole tree was asked for
	sorted  []*Node              // the discoverable ones, by path
}

// New returns a Space without mounts. A nil config is the zero Config.
func New(cfg *Config) *Space {
	s := &Space{docs: newDocuments(), looks: map[*Mount]look{}}
	if cfg != nil {
		s.cfg = *cfg
	}
	s.cfg.MaxEntries = cmp.Or(s.cfg.MaxEntries, 4096)
	s.cfg.MaxOperations = cmp.Or(s.cfg.MaxOperations, 16384)
	s.cfg.MaxKnown = cmp.Or(s.cfg.MaxKnown, 1024)
	s.cfg.MaxCallers = cmp.Or(s.cfg.MaxCallers, 256)
	s.cfg.MaxAge = cmp.Or(s.cfg.MaxAge, 5*time.Minute)
	s.ranker = s.cfg.Ranker
	if s.ranker == nil {
		s.ranker = Words{}
	}
	s.clock.Store(firstObservation)
	s.mounted = make(chan struct{}, 1)
	s.known = newCache[string, *knownSpace](s.cfg.MaxCallers)
	s.gone = newCache[absence, uint64](256)
	s.views = newCache[viewKey, *View](32)
	s.audiences = newCache[audienceKey, *View](32)
	s.latest.of = newCache[string, *View](4)
	s.tree.Store(&tree{made: time.Now()})
	return s
}

// newCache is lru.New for a size that is known to be positive.
func newCache[K comparable, V any](size int) *lru.Cache[K, V] {
	c, err := lru.New[K, V](max(size, 1))
	if err != nil {
		panic(err)
	}
	return c
}

// MountOptions says how a Host is presented and how far it is believed. The
// zero value is an untitled Host that is not trusted.
type MountOptions struct {
	Title   string // one line for people and models
	Summary string // a sentence
	Trusted bool   // see [Mount]
	// Identity says which Host it is, so that what Config.Store has of another
	// one at this path is not taken for this one's: its address and, if what it
	// shows depends on that, as whom it is asked. It is kept as a hash. Nothing
	// is kept of a Host without one.
	Identity string
	// MaxEntries and MaxOperations bound the tree in place of the Space's; 0
	// leaves it at those, or at four operations an entry if MaxEntries is given.
	MaxEntries, MaxOperations int
	// Quiet says that the Host is asked for its tree only where a caller waits
	// for it, and never by Keep.
	Quiet bool
}

// Mount puts a Host at an absolute path such as "/grid", whose segments
// consist of letters, digits, dots, underscores and hyphens. No mount may lie
// on, above or below another. It asks the Host nothing: see [Space.Refresh]. What
// Config.Store has of the Host is there from then on, as old as it is.
func (s *Space) Mount(path string, host wip.Host, opt *MountOptions) error {
	if err := checkMountPath(path); err != nil {
		return fmt.Errorf("mount %q: %w", path, err)
	}
	if opt == nil {
		opt = &MountOptions{}
	}
	m := &Mount{
		Path: path, Host: host, Trusted: opt.Trusted, since: time.Now(),
		Title: cleaned(opt.Title, maxTitle), Summary: cleaned(opt.Summary, maxSummary),
		identity: opt.Identity, quiet: opt.Quiet,
		maxEntries:    cmp.Or(opt.MaxEntries, s.cfg.MaxEntries),
		maxOperations: cmp.Or(opt.MaxOperations, 4*opt.MaxEntries, s.cfg.MaxOperations),
	}
	if err := s.add(m); err != nil {
		return err
	}
	s.restore(m)
	select {
	case s.mounted <- struct{}{}:
	default:
	}
	return nil
}

// add makes a mount one of the space's.
func (s *Space) add(m *Mount) error {
	path := m.Path
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.tree.Load()
	for _, other := range old.mounts {
		if within(path, other.Path) || within(other.Path, path) {
			return fmt.Errorf("mount %q: %q is mounted already, and mounts may not overlap", path, other.Path)
		}
	}
	next := *old
	next.version++
	next.mounts = append(slices.Clone(old.mounts), m)
	slices.SortFunc(next.mounts, func(a, b *Mount) int { return comparePaths(a.Path, b.Path) })
	s.tree.Store(&next)
	s.views.Purge()
	s.audiences.Purge()
	return nil
}

// mount returns the mount that path belongs to, or nil.
func (t *tree) mount(path string) *Mount {
	for _, m := range t.mounts {
		if within(path, m.Path) {
			return m
		}
	}
	return nil
}

// folder returns a node for a path that exists only because a Host is mounted
// at it or below it, or nil.
func (t *tree) folder(path string) *Node {
	for _, m := range t.mounts {
		switch {
		case m.Path == path:
			seen, ok := t.grown[m]
			if !ok {
				seen = m.since
			}
			return &Node{Path: path, Title: m.Title, Summary: m.Summary, Mount: m, HostPath: "/", seen: seen}
		case within(m.Path, path):
			return &Node{Path: path, seen: t.made}
		}
	}
	return nil
}

// at returns the discoverable node at path, or nil.
func (t *tree) at(path string) *Node {
	i, ok := slices.BinarySearchFunc(t.sorted, path, func(n *Node, p string) int { return comparePaths(n.Path, p) })
	if !ok {
		return nil
	}
	return t.sorted[i]
}

// reach returns where the discoverable nodes at and below path are in sorted.
func (t *tree) reach(path string) (from, to int) {
	return reach(len(t.sorted), func(i int) string { return t.sorted[i].Path }, path)
}

// reach returns which of count paths, in their order, are at or below scope.
func reach(count int, at func(int) string, scope string) (from, to int) {
	from = sort.Search(count, func(i int) bool { return comparePaths(at(i), scope) >= 0 })
	to = from + sort.Search(count-from, func(i int) bool { return !within(at(from+i), scope) })
	return from, to
}

// Resolve returns the entry at path: from memory if it is discoverable or
// known to the caller and was seen within MaxAge, and else from the Host, after
// which it is in the caller's Known Space. The newest observation counts. A
// place at which or above which a Host is mounted always exists.
//
// The error is ErrNotFound, the context's own, or an *Error that wraps what
// the Host reported.
func (s *Space) Resolve(ctx context.Context, caller wip.Caller, path string) (*Node, error) {
	if checkPath(path) != nil {
		return nil, ErrNotFound
	}
	t := s.tree.Load()
	if n := s.recall(t, caller, path); n != nil && time.Since(n.seen) < s.cfg.MaxAge {
		return n, nil
	}
	m := t.mount(path)
	if m == nil {
		if folder := t.folder(path); folder != nil {
			return folder, nil
		}
		return nil, ErrNotFound
	}
	seq, seen, lib := s.clock.Add(1), time.Now(), s.docs.library(m)
	n, err := s.fetch(ctx, m, lib, caller, path)
	if errors.Is(err, ErrNotFound) {
		s.drop(caller, path, seq)
		if folder := t.folder(path); folder != nil {
			folder.seen = seen // the Host has just been asked
			return folder, nil
		}
	}
	if err != nil {
		return nil, err
	}
	n.seq, n.seen = seq, seen
	s.knownTo(caller, true).keep(n)
	s.keepKnown(caller, n, lib)
	return n, nil
}

// Miss asks the Host as Resolve does for an entry that is not in memory, and
// keeps nothing. A caller that may not see the entry at path is to be answered
// with Miss's error, so that its answer and the time it takes are those of a
// path that never was.
func (s *Space) Miss(ctx context.Context, caller wip.Caller, path string) error {
	t := s.tree.Load()
	m := t.mount(path)
	if m == nil || checkPath(path) != nil {
		return ErrNotFound
	}
	if _, err := m.fetch(ctx, caller, path); err != nil {
		return err
	}
	return ErrNotFound
}

// Learn fetches entries whose paths a result held and keeps them in the
// caller's Known Space; that does not make them discoverable. It returns the
// entries that exist, in the order of paths without repetitions. At most 64
// paths are followed. The error joins the trouble of Hosts with the rest.
func (s *Space) Learn(ctx context.Context, caller wip.Caller, paths []string) ([]*Node, error) {
	const most, atOnce = 64, 8
	var todo []string
	for _, p := range paths {
		if len(todo) < most && !slices.Contains(todo, p) {
			todo = append(todo, p)
		}
	}
	nodes, errs := make([]*Node, len(todo)), make([]error, len(todo))
	var wg sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for i, p := range todo {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			if nodes[i], errs[i] = s.Resolve(ctx, caller, p); errors.Is(errs[i], ErrNotFound) {
				errs[i] = nil
			}
		})
	}
	wg.Wait()
	return slices.DeleteFunc(nodes, func(n *Node) bool { return n == nil }), errors.Join(errs...)
}

// Children returns what the caller knows directly below path: discoverable
// entries, entries of its Known Space, and mounts. They are sorted by path.
func (s *Space) Children(caller wip.Caller, path string) []*Node {
	t := s.tree.Load()
	found := map[string]*Node{}
	for _, m := range t.mounts {
		if within(m.Path, path) && m.Path != path {
			rest, _, _ := strings.Cut(hostPath(path, m.Path)[1:], "/")
			child := join(path, "/"+rest)
			found[child] = t.folder(child)
		}
	}
	add := func(n *Node) {
		if parent(n.Path) != path {
			return
		}
		if old := found[n.Path]; old == nil || old.seq < n.seq {
			found[n.Path] = n
		}
	}
	from, to := t.reach(path)
	for _, n := range t.sorted[from:to] {
		add(n)
	}
	if mine := s.knownTo(caller, false); mine != nil {
		for _, n := range mine.nodes.Values() {
			add(n)
		}
	}
	return slices.SortedFunc(maps.Values(found), func(a, b *Node) int { return comparePaths(a.Path, b.Path) })
}

// Forget drops the entry from the caller's Known Space, so that the next
// Resolve asks the Host unless the entry is discoverable.
func (s *Space) Forget(caller wip.Caller, path string) {
	if mine := s.knownTo(caller, false); mine != nil && mine.nodes.Remove(path) {
		s.forgetKnown(caller, path)
	}
}

// recall returns the newest observation of path that the caller may draw on,
// or nil.
func (s *Space) recall(t *tree, caller wip.Caller, path string) *Node {
	n := t.at(path)
	if mine := s.knownTo(caller, false); mine != nil {
		if k, ok := mine.nodes.Get(path); ok && (n == nil || k.seq > n.seq) {
			return k
		}
	}
	return n
}

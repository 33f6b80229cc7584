package space

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/wipagent/wipagent/space/wip"
)

// Refresh asks the mounts at, below or above path for their trees there, as
// the caller may see them, and merges what comes into the Discoverable Space:
// indexable entries are from then on what the Host now says they are, those
// that this caller's trees brought before and no longer bring are gone, and
// entries that are not indexable go to the caller's Known Space.
//
// The error joins the trouble of all mounts, each as an *Error, and is for the
// operator: what could be understood is merged nevertheless. A mount whose Host
// did not answer keeps what it had. A path at which there is nothing is no
// error.
func (s *Space) Refresh(ctx context.Context, caller wip.Caller, path string) error {
	path, ok := scopeOf(path)
	if !ok {
		return nil
	}
	mounts := s.tree.Load().mounts
	errs := make([]error, len(mounts))
	var wg sync.WaitGroup
	for i, m := range mounts {
		switch {
		case within(m.Path, path):
			s.begin(m)
			wg.Go(func() { errs[i] = s.growAll(ctx, m, caller) })
		case within(path, m.Path):
			wg.Go(func() { errs[i] = s.grow(ctx, m, caller, path) })
		}
	}
	wg.Wait()
	return errors.Join(errs...)
}

// grow fetches and merges one mount's tree from path on.
func (s *Space) grow(ctx context.Context, m *Mount, caller wip.Caller, path string) error {
	g := &growth{space: s, mount: m, library: s.docs.library(m), caller: caller.ID, seq: s.clock.Add(1), seen: time.Now()}
	root, err := m.fetchTree(ctx, caller, path)
	switch {
	case errors.Is(err, ErrNotFound):
	case err != nil:
		return err
	default:
		if err := g.collect(ctx, root, path); err != nil {
			return err
		}
	}
	s.merge(g, path)
	return errors.Join(g.problems.list()...)
}

// growth gathers the nodes of one tree.
type growth struct {
	space      *Space
	mount      *Mount
	library    *library
	caller     string
	seq        uint64
	seen       time.Time
	nodes      []*Node // in the Host's order, level by level
	operations int
	problems   problems
}

// collect makes nodes of a tree, level by level, so that what a bound cuts off
// is the deepest. It fails only when the Host cannot be asked for a document.
func (g *growth) collect(ctx context.Context, root wip.Tree, path string) error {
	taken := map[string]bool{}
	type branch struct {
		tree  *wip.Tree
		above string // the space path that the entry must lie below
	}
	level := []branch{{&root, ""}}
	for len(level) > 0 {
		var next []branch
		for _, b := range level {
			entry := b.tree.Entry
			at, err := g.mount.Join(entry.Path)
			switch {
			case err != nil:
			case b.above == "" && at != path:
				err = errors.New("the tree's root is not the entry that was asked for")
			case b.above != "" && (at == b.above || !within(at, b.above)):
				err = errors.New("an entry does not lie below the entry that holds it")
			case taken[at]:
				err = errors.New("two entries have the same path")
			}
			if err != nil {
				g.problems.add(&Error{g.mount.Path, err})
				continue
			}
			taken[at] = true
			n, err := g.space.node(ctx, g.mount, g.library, entry, at)
			if err != nil {
				return err
			}
			for _, p := range n.Problems {
				g.problems.add(p)
			}
			for _, i := range n.Interfaces {
				g.operations += len(i.Operations)
			}
			if len(g.nodes) >= g.space.cfg.MaxEntries || g.operations > g.space.cfg.MaxOperations {
				g.problems.add(&Error{g.mount.Path, fmt.Errorf("the tree is larger than %d entries or %d operations: the rest is left out",
					g.space.cfg.MaxEntries, g.space.cfg.MaxOperations)})
				return nil
			}
			n.seq, n.seen, n.from = g.seq, g.seen, g.caller
			g.nodes = append(g.nodes, n)
			for i := range b.tree.Children {
				next = append(next, branch{&b.tree.Children[i], at})
			}
		}
		level = next
	}
	return nil
}

// merge makes a growth part of the space, all at once.
func (s *Space) merge(g *growth, path string) {
	var mine *lru.Cache[string, *Node]
	if slices.ContainsFunc(g.nodes, func(n *Node) bool { return !n.Indexable }) {
		mine = s.knownTo(wip.Caller{ID: g.caller}, true)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.prune(g)
	old := s.tree.Load()
	nodes := maps.Clone(old.nodes)
	if nodes == nil {
		nodes = map[string]*Node{}
	}
	for p, n := range nodes {
		if n.from == g.caller && n.seq < g.seq && n.Mount == g.mount && within(p, path) {
			delete(nodes, p)
		}
	}
	for _, n := range slices.Backward(g.nodes) {
		if !n.Indexable {
			keep(mine, n)
		}
		switch newer := nodes[n.Path]; {
		case newer != nil && newer.seq > g.seq:
		case n.Indexable:
			nodes[n.Path] = n
		default:
			delete(nodes, n.Path)
		}
	}
	s.trim(nodes, g)
	grown := old.grown
	if path == g.mount.Path && g.seen.After(grown[g.mount]) {
		if grown = maps.Clone(grown); grown == nil {
			grown = map[*Mount]time.Time{}
		}
		grown[g.mount] = g.seen
	}
	s.replace(old, nodes, grown)
}

// replace makes nodes the discoverable ones, of mounts whose trees were asked for
// when grown says. The caller holds mu.
func (s *Space) replace(old *tree, nodes map[string]*Node, grown map[*Mount]time.Time) {
	changed := len(nodes) != len(old.nodes)
	for p, n := range nodes {
		if was := old.nodes[p]; was == nil || !was.same(n) {
			changed = true
			break
		}
	}
	next := *old
	next.nodes, next.grown = nodes, grown
	if changed {
		next.version++
	}
	next.sorted = slices.SortedFunc(maps.Values(nodes), func(a, b *Node) int { return comparePaths(a.Path, b.Path) })
	s.tree.Store(&next)
	if changed {
		s.views.Purge() // no View of an earlier state is asked for again
	}
}

// trim keeps a mount within its bounds when several callers' trees add up:
// what the latest tree did not bring goes first, oldest first.
func (s *Space) trim(nodes map[string]*Node, g *growth) {
	var others []*Node
	entries, operations := 0, 0
	for _, n := range nodes {
		if n.Mount != g.mount {
			continue
		}
		entries, operations = entries+1, operations+n.operations()
		if n.seq != g.seq {
			others = append(others, n)
		}
	}
	slices.SortFunc(others, func(a, b *Node) int {
		if a.seq != b.seq {
			return int(int64(a.seq) - int64(b.seq))
		}
		return comparePaths(b.Path, a.Path)
	})
	for _, n := range others {
		if entries <= s.cfg.MaxEntries && operations <= s.cfg.MaxOperations {
			return
		}
		entries, operations = entries-1, operations-n.operations()
		delete(nodes, n.Path)
	}
}

// operations counts the operations of all interfaces.
func (n *Node) operations() int {
	count := 0
	for _, i := range n.Interfaces {
		count += len(i.Operations)
	}
	return count
}

// fetch asks the Host for one entry.
func (s *Space) fetch(ctx context.Context, m *Mount, caller wip.Caller, path string) (*Node, error) {
	entry, err := m.fetch(ctx, caller, path)
	if err != nil {
		return nil, err
	}
	if at, err := m.Join(entry.Path); err != nil || at != path {
		return nil, &Error{m.Path, errors.New("the Host answered with another entry than it was asked for")}
	}
	return s.node(ctx, m, s.docs.library(m), entry, path)
}

// node makes a node of a Host's entry, whose path has been checked. The error
// says that a document could not be asked for; whatever is wrong with the
// entry itself is in the node's Problems.
func (s *Space) node(ctx context.Context, m *Mount, lib *library, e wip.Entry, path string) (*Node, error) {
	n := &Node{
		Path: path, Mount: m, HostPath: e.Path, Indexable: e.Indexable,
		Title: cleaned(e.Title, maxTitle), Summary: cleaned(e.Summary, maxSummary),
	}
	if path == m.Path { // the operator's words for the Host go first
		n.Title, n.Summary = first(m.Title, n.Title), first(m.Summary, n.Summary)
	}
	problem := func(text string) { n.Problems = append(n.Problems, &Error{m.Path, errors.New(text)}) }
	if n.Tag = e.Tag; len(e.Tag) > maxTag {
		n.Tag = ""
		problem("an entry's tag is longer than 256 bytes")
	}
	if e.Object == nil {
		return n, nil
	}
	if e.Object.ID == "" || len(e.Object.ID) > maxObjectID {
		problem("an Object's identifier is empty or longer than 256 bytes")
		return n, nil
	}
	n.ObjectID = e.Object.ID
	refs := e.Object.Interfaces
	if len(refs) > maxInterfaces {
		problem("an Object names more than 32 interfaces: the rest is left out")
		refs = refs[:maxInterfaces]
	}
	for _, ref := range refs {
		i, err := lib.find(ctx, ref)
		switch {
		case err == nil:
			if !slices.Contains(n.Interfaces, i) {
				n.Interfaces = append(n.Interfaces, i)
			}
		case isPassing(err):
			return nil, err
		default:
			n.Problems = append(n.Problems, err)
		}
	}
	return n, nil
}

// first returns the first text that is not empty.
func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

// problems keeps the first few different problems of a mount and counts the
// rest, so that a hostile tree cannot fill a log.
type problems struct {
	first []error
	more  int
}

func (p *problems) add(err error) {
	same := func(e error) bool { return e.Error() == err.Error() }
	switch {
	case slices.ContainsFunc(p.first, same):
	case len(p.first) < 8:
		p.first = append(p.first, err)
	default:
		p.more++
	}
}

func (p *problems) list() []error {
	if p.more == 0 {
		return p.first
	}
	return append(slices.Clip(p.first), fmt.Errorf("and %d more problems of that mount", p.more))
}

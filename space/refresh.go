package space

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/wipagent/wipagent/space/wip"
)

// Refresh asks the mounts at, below or above path for their trees there, as
// the caller may see them, and merges what comes into the Discoverable Space:
// indexable entries are from then on what the Host now says they are, those
// that this caller's trees brought before and no longer bring are gone, and
// entries that are not indexable go to the caller's Known Space. Of a Host that
// can tell, only what has changed is asked for.
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
	g := &growth{
		space: s, mount: m, library: s.docs.library(m), path: path,
		caller: caller.ID, seq: s.clock.Add(1), seen: time.Now(),
	}
	var err error
	if source, ok := m.Host.(wip.TreeSource); ok && g.holds() {
		err = g.ask(ctx, source)
	} else {
		err = g.askWhole(ctx, caller)
	}
	if err != nil {
		return err
	}
	if s.merge(g); g.holds() {
		s.hold(g)
	}
	for _, err := range s.trouble.take() {
		g.problems.add(err)
	}
	return errors.Join(g.problems.list()...)
}

// growth gathers the nodes of one tree.
type growth struct {
	space   *Space
	mount   *Mount
	library *library
	path    string // in the space
	caller  string
	seq     uint64
	seen    time.Time

	tag        string
	nodes      []*Node // in the Host's order, level by level; of what is held, by path
	root       words   // the Host's own for its root
	operations int
	partial    bool // something of the tree was left out
	problems   problems
}

// words are a title and a summary.
type words struct{ title, summary string }

// askWhole fetches a whole tree.
func (g *growth) askWhole(ctx context.Context, caller wip.Caller) error {
	root, err := g.mount.fetchTree(ctx, caller, g.path)
	switch {
	case errors.Is(err, ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	return g.collect(ctx, &root, false)
}

// collect makes nodes of a tree, level by level, so that what a bound cuts off
// is the deepest. The root is the entry that was asked for or, of a part, any
// below it. It fails only when the Host cannot be asked for a document.
func (g *growth) collect(ctx context.Context, root *wip.Tree, part bool) error {
	taken := map[string]bool{}
	type branch struct {
		tree  *wip.Tree
		above string // the space path that the entry must lie below
	}
	level := []branch{{root, ""}}
	for len(level) > 0 {
		var next []branch
		for _, b := range level {
			entry := &b.tree.Entry
			at, err := g.mount.Join(entry.Path)
			switch {
			case err != nil:
			case b.above == "" && at != g.path && (!part || !within(at, g.path)):
				err = notice("the tree's root is not the entry that was asked for")
			case b.above != "" && (at == b.above || !within(at, b.above)):
				err = notice("an entry does not lie below the entry that holds it")
			case taken[at]:
				err = notice("two entries have the same path")
			}
			if err != nil {
				g.partial = true
				g.problems.add(&Error{g.mount.Path, err})
				continue
			}
			taken[at] = true
			if more, err := g.take(ctx, entry, at); !more || err != nil {
				return err
			}
			for i := range b.tree.Children {
				if len(next) >= g.mount.maxEntries { // a Host in this process may give one list many times
					g.cut()
					break
				}
				next = append(next, branch{&b.tree.Children[i], at})
			}
		}
		level = next
	}
	return nil
}

// take adds an entry, whose path has been checked. It reports false if there is
// no room.
func (g *growth) take(ctx context.Context, entry *wip.Entry, at string) (more bool, err error) {
	n, err := g.space.node(ctx, g.mount, g.library, entry, at)
	if err != nil {
		return false, err
	}
	if at == g.mount.Path {
		g.root = words{cleaned(entry.Title, maxTitle), cleaned(entry.Summary, maxSummary)}
	}
	if own := len(n.Problems); own > 0 && (n.kind == nil || own > len(n.kind.problems)) {
		g.partial = true
	}
	return g.add(n), nil
}

// add adds a node, which nobody else has yet. It reports false if there is no
// room.
func (g *growth) add(n *Node) bool {
	for _, p := range n.Problems {
		g.problems.add(p)
	}
	g.operations += n.operations()
	if len(g.nodes) >= g.mount.maxEntries || g.operations > g.mount.maxOperations {
		g.cut()
		return false
	}
	n.seq, n.seen, n.from = g.seq, g.seen, g.caller
	g.nodes = append(g.nodes, n)
	return true
}

// cut notes that there is no room for the rest.
func (g *growth) cut() {
	g.partial = true
	g.problems.add(&Error{g.mount.Path, notice(fmt.Sprintf("the tree is larger than %d entries or %d operations: the rest is left out",
		g.mount.maxEntries, g.mount.maxOperations))})
}

// fetch asks the Host for one entry.
func (s *Space) fetch(ctx context.Context, m *Mount, lib *library, caller wip.Caller, path string) (*Node, error) {
	entry, err := m.fetch(ctx, caller, path)
	if err != nil {
		return nil, err
	}
	if at, err := m.Join(entry.Path); err != nil || at != path {
		return nil, &Error{m.Path, notice("the Host answered with another entry than it was asked for")}
	}
	return s.node(ctx, m, lib, &entry, path)
}

// node makes a node of a Host's entry, whose path has been checked. The error
// says that a document could not be asked for; whatever is wrong with the
// entry itself is in the node's Problems.
func (s *Space) node(ctx context.Context, m *Mount, lib *library, e *wip.Entry, path string) (*Node, error) {
	n := &Node{
		Path: path, Mount: m, HostPath: hostPath(m.Path, path), Indexable: e.Indexable,
		Title: cleaned(e.Title, maxTitle), Summary: cleaned(e.Summary, maxSummary),
	}
	if path == m.Path { // the operator's words for the Host go first
		n.Title, n.Summary = cmp.Or(m.Title, n.Title), cmp.Or(m.Summary, n.Summary)
	}
	problem := func(text string) { n.Problems = append(n.Problems, &Error{m.Path, notice(text)}) }
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
	u, err := lib.understand(ctx, refs)
	if err != nil {
		return nil, err
	}
	n.kind, n.Interfaces = u, u.interfaces
	if n.Problems = append(n.Problems, u.problems...); len(n.Problems) == 0 {
		n.Problems = nil
	}
	return n, nil
}

// problems keeps the first few different problems of a mount and counts the
// rest, so that a hostile tree cannot fill a log.
type problems struct {
	first []error
	more  int
}

func (p *problems) add(err error) {
	same := func(e error) bool { return e == err || e.Error() == err.Error() }
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
	return append(slices.Clip(p.first), notice(fmt.Sprintf("and %d more problems of that mount", p.more)))
}

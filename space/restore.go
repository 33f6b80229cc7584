package space

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/wipagent/wipagent/space/wip"
)

// firstObservation is before the first observation that a Space makes. What was
// kept has the nanosecond at which it was seen as its number, which is less.
const firstObservation = 1 << 63

// place returns the mount as a Store knows it, if anything is kept of it.
func (s *Space) place(m *Mount) (Place, bool) {
	if s.cfg.Store == nil || m == nil || m.identity == "" {
		return Place{}, false
	}
	return Place{m.Path, m.identity}, true
}

// restore makes what was kept of a mount's tree part of the space.
func (s *Space) restore(m *Mount) {
	at, ok := s.place(m)
	if !ok {
		return
	}
	t, err := s.cfg.Store.Tree(at)
	if err != nil {
		s.trouble.add(&Error{m.Path, err})
	}
	if t == nil || !past(t.Seen) {
		return
	}
	g := &growth{
		space: s, mount: m, library: s.restored(m, t), path: m.Path,
		seq: uint64(t.Seen.UnixNano()), seen: t.Seen, tag: t.Tag,
	}
	for i := range t.Entries {
		path, err := m.Join(t.Entries[i].Path)
		if err != nil {
			g.partial = true
			continue
		}
		// No Host is asked, so no document is late.
		if more, err := g.take(context.Background(), &t.Entries[i].Entry, path); !more || err != nil {
			break
		}
	}
	s.merge(g)
	if g.partial {
		return // it is not what it was, so that no changes can be made of it
	}
	h := &held{tag: g.tag, nodes: g.nodes, root: g.root, seq: g.seq, seen: g.seen}
	m.held.Store(h)
	m.kept = h
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looks[m] = look{last: g.seen}
}

// past reports whether a time that was kept can be true.
func past(t time.Time) bool { return t.After(time.Unix(0, 0)) && !t.After(time.Now()) }

// restored returns a library of the documents that were kept.
func (s *Space) restored(m *Mount, t *KeptTree) *library {
	texts := make(map[string][]byte, len(t.Documents))
	for _, d := range t.Documents {
		texts[d.Name] = d.Text
	}
	l := s.docs.library(m)
	l.source = func(_ context.Context, name string) ([]byte, error) {
		text, ok := texts[name]
		if !ok {
			return nil, ErrNotFound
		}
		return text, nil
	}
	return l
}

// restoreKnown adds what was kept of a caller's Known Space, of mounts that have
// come since the last time.
func (s *Space) restoreKnown(caller wip.Caller, mine *knownSpace) {
	mounts := s.tree.Load().mounts
	mine.mu.Lock()
	defer mine.mu.Unlock()
	if len(mine.restored) == len(mounts) {
		return
	}
	if mine.restored == nil {
		mine.restored = map[*Mount]bool{}
	}
	for _, m := range mounts {
		at, ok := s.place(m)
		if !ok || mine.restored[m] {
			mine.restored[m] = true
			continue
		}
		mine.restored[m] = true
		t, err := s.cfg.Store.Known(caller.ID, at)
		if err != nil {
			s.trouble.add(&Error{m.Path, err})
		}
		if t == nil {
			continue
		}
		lib := s.restored(m, t)
		slices.SortStableFunc(t.Entries, func(a, b KeptEntry) int { return a.Seen.Compare(b.Seen) })
		for i := range t.Entries {
			e := &t.Entries[i]
			path, err := m.Join(e.Path)
			if err != nil || !past(e.Seen) {
				continue
			}
			n, err := s.node(context.Background(), m, lib, &e.Entry, path)
			if err != nil || len(n.Problems) > 0 {
				continue // the Host is asked when it is wanted
			}
			n.seq, n.seen = uint64(e.Seen.UnixNano()), e.Seen
			mine.keep(n)
		}
	}
}

// keepTree gives the Store what it does not have yet of a mount's tree.
func (s *Space) keepTree(m *Mount, h *held, lib *library) {
	at, ok := s.place(m)
	if !ok {
		return
	}
	m.keeping.Lock()
	defer m.keeping.Unlock()
	was := m.kept
	if was != nil && was.seq >= h.seq {
		return
	}
	c := &TreeChange{Tag: h.tag, Seen: h.seen, Documents: lib.kept()}
	if was == nil {
		was = &held{}
	} else {
		c.Since = was.seen
	}
	old, now := was.nodes, h.nodes
	for len(old)+len(now) > 0 {
		switch order := firstOf(old, now); {
		case order < 0:
			c.Gone, old = append(c.Gone, old[0].HostPath), old[1:]
		case order > 0:
			c.Entries, now = append(c.Entries, h.keptEntry(now[0])), now[1:]
		default:
			if !old[0].sameKept(now[0]) || now[0].Path == m.Path && was.root != h.root {
				c.Entries = append(c.Entries, h.keptEntry(now[0]))
			}
			old, now = old[1:], now[1:]
		}
	}
	if err := s.cfg.Store.KeepTree(at, c); err != nil {
		s.trouble.add(&Error{m.Path, err})
	}
	m.kept = h
}

// firstOf says which of two sorted lists has the lesser first path.
func firstOf(a, b []*Node) int {
	switch {
	case len(a) == 0:
		return 1
	case len(b) == 0:
		return -1
	}
	return byPath(a[0], b[0])
}

// sameKept reports whether nothing differs that is kept.
func (n *Node) sameKept(o *Node) bool {
	return n.Title == o.Title && n.Summary == o.Summary && n.ObjectID == o.ObjectID && n.Tag == o.Tag && n.Indexable == o.Indexable &&
		(n.kind == o.kind || n.kind != nil && o.kind != nil && slices.Equal(n.kind.refs, o.kind.refs))
}

// keptEntry is a node of the tree in its Host's words.
func (h *held) keptEntry(n *Node) KeptEntry {
	e := n.entry()
	if n.Path == n.Mount.Path {
		e.Title, e.Summary = h.root.title, h.root.summary
	}
	return KeptEntry{Entry: e}
}

// entry is the node in its Host's words, but for a mount's title and summary.
func (n *Node) entry() wip.Entry {
	e := wip.Entry{Path: n.HostPath, Title: n.Title, Summary: n.Summary, Indexable: n.Indexable, Tag: n.Tag}
	if n.ObjectID != "" {
		e.Object = &wip.Object{ID: n.ObjectID}
		if n.kind != nil {
			e.Object.Interfaces = n.kind.refs
		}
	}
	return e
}

// keepKnown gives the Store an entry of a caller's Known Space.
func (s *Space) keepKnown(caller wip.Caller, n *Node, lib *library) {
	at, ok := s.place(n.Mount)
	if !ok || n.Path == at.Path { // a mount is there in any case, with its operator's words
		return
	}
	c := &TreeChange{Entries: []KeptEntry{{n.entry(), n.seen}}, Documents: lib.kept()}
	if err := s.cfg.Store.KeepKnown(caller.ID, at, c); err != nil {
		s.trouble.add(&Error{at.Path, err})
	}
}

// forgetKnown takes an entry of a caller's Known Space from the Store.
func (s *Space) forgetKnown(caller wip.Caller, path string) {
	m := s.tree.Load().mount(path)
	at, ok := s.place(m)
	if !ok {
		return
	}
	if err := s.cfg.Store.KeepKnown(caller.ID, at, &TreeChange{Gone: []string{hostPath(m.Path, path)}}); err != nil {
		s.trouble.add(&Error{at.Path, err})
	}
}

// troubles are what an operator is told of by the next Refresh: each once.
type troubles struct {
	mu   sync.Mutex
	list map[string]error
}

func (t *troubles) add(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.list == nil {
		t.list = map[string]error{}
	}
	if len(t.list) < 16 {
		t.list[err.Error()] = err
	}
}

func (t *troubles) take() []error {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := slices.SortedFunc(maps.Values(t.list), func(a, b error) int { return cmp.Compare(a.Error(), b.Error()) })
	t.list = nil
	return list
}

package space

import (
	"slices"
	"time"

	"github.com/wipagent/wipagent/idl"
)

// View is what one audience may find: the operations that it may see, their
// entries, and the folders and mounts above those. It is immutable and safe
// for concurrent use.
type View struct {
	space      *Space
	tree       *tree        // of which it is a view
	entries    []*viewEntry // by path
	byPath     map[string]*viewEntry
	candidates []Candidate
	index      Index
}

// viewEntry is an entry of which something is visible.
type viewEntry struct {
	node       *Node
	operations []NamedOperation // the visible ones, in declared order
	candidate  int              // of the entry itself; those of operations follow it
	kind       int              // the same for entries of one folder with the same operations
}

// isMount reports whether a Host is mounted here.
func (e *viewEntry) isMount() bool { return e.node.Mount != nil && e.node.Mount.Path == e.node.Path }

// viewKey identifies a View: the state of the space, and one bit for each
// operation of each node in order. Two audiences with equal bits may see the
// same, so that sharing a View tells neither anything.
type viewKey struct {
	version uint64
	visible string
}

// View returns the discoverable space as one audience sees it. visible is
// asked about each operation of each entry and must answer from its arguments
// alone. An entry is visible if one of its operations is; a mount, or a folder
// that leads to no Object, if an entry below it is. Whatever is not visible
// influences nothing.
//
// The View stays as it is when the space changes; the same state of the space
// and the same visible set give the same View, from a cache.
func (s *Space) View(visible func(*Node, *idl.Operation) bool) *View {
	t := s.tree.Load()
	bits := make([]byte, 0, 256)
	count := 0
	for _, n := range t.sorted {
		for _, i := range n.Interfaces {
			for _, op := range i.Operations {
				if count%8 == 0 {
					bits = append(bits, 0)
				}
				if visible(n, op) {
					bits[count/8] |= 1 << (count % 8)
				}
				count++
			}
		}
	}
	key := viewKey{t.version, string(bits)}
	if v, ok := s.views.Get(key); ok {
		return v
	}
	v := newView(s, t, bits)
	s.views.Add(key, v)
	return v
}

// newView builds a View of the operations whose bits are set.
func newView(s *Space, t *tree, bits []byte) *View {
	v := &View{space: s, tree: t, byPath: map[string]*viewEntry{}}
	count := 0
	for _, n := range t.sorted {
		allowed := map[*idl.Operation]bool{}
		for _, i := range n.Interfaces {
			for _, op := range i.Operations {
				if bits[count/8]&(1<<(count%8)) != 0 {
					allowed[op] = true
				}
				count++
			}
		}
		if len(allowed) > 0 {
			v.add(n, n.Operations(func(op *idl.Operation) bool { return allowed[op] }))
		}
	}
	// Folders are there for what they hold.
	for _, e := range slices.Clone(v.entries) {
		for p := parent(e.node.Path); p != "" && v.byPath[p] == nil; p = parent(p) {
			n := t.at(p)
			if n == nil || n.ObjectID != "" { // an Object of which nothing is visible
				n = t.folder(p)
			}
			if n != nil {
				v.add(n, nil)
			}
		}
	}
	slices.SortFunc(v.entries, func(a, b *viewEntry) int { return comparePaths(a.node.Path, b.node.Path) })
	kinds := map[string]int{}
	for _, e := range v.entries {
		kind := []byte(parent(e.node.Path))
		for _, op := range e.operations {
			kind = append(append(kind, '\n'), op.Name...)
		}
		if _, ok := kinds[string(kind)]; !ok {
			kinds[string(kind)] = len(kinds)
		}
		e.kind = kinds[string(kind)]
		e.candidate = len(v.candidates)
		v.candidates = append(v.candidates, Candidate{Node: e.node})
		for _, op := range e.operations {
			v.candidates = append(v.candidates, Candidate{e.node, op.Operation})
		}
	}
	v.index = s.ranker.Index(v.candidates)
	return v
}

func (v *View) add(n *Node, operations []NamedOperation) {
	e := &viewEntry{node: n, operations: operations}
	v.entries = append(v.entries, e)
	v.byPath[n.Path] = e
}

// in returns the entries at and below scope, sorted by path.
func (v *View) in(scope string) []*viewEntry {
	var list []*viewEntry
	for _, e := range v.entries {
		if within(e.node.Path, scope) {
			list = append(list, e)
		}
	}
	return list
}

// Age returns how old what the view has at and below scope is: the age of the
// oldest tree that it comes from, however much of it was refreshed since in
// part. It is 0 if the view has nothing there; what is not in the view does not
// count.
func (v *View) Age(scope string) time.Duration {
	path, ok := scopeOf(scope)
	if !ok {
		return 0
	}
	return v.age(v.in(path))
}

func (v *View) age(entries []*viewEntry) time.Duration {
	// Trees that brought nothing new left the view as it is, but not its age.
	t := v.space.tree.Load()
	if t.version != v.tree.version {
		t = v.tree
	}
	var oldest time.Time
	count := func(seen time.Time) {
		if oldest.IsZero() || !seen.IsZero() && seen.Before(oldest) {
			oldest = seen
		}
	}
	for _, e := range entries {
		if e.node.Mount != nil {
			count(t.grown[e.node.Mount])
		}
		if e.node.seq > 0 { // and not a folder, in whose place may be what is hidden
			count(t.at(e.node.Path).seen)
		}
	}
	if oldest.IsZero() {
		return 0
	}
	return time.Since(oldest)
}

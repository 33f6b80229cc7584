package space

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/wipagent/wipagent/idl"
)

// View is what one audience may find: the operations that it may see, their
// entries, and the folders and mounts above those. It is immutable and safe
// for concurrent use.
type View struct {
	space      *Space
	tree       *tree       // of which it is a view
	candidates []Candidate // by path
	kind       []int32     // by candidate: the same for those of one folder whose operations have the same names; -1 for a folder
	kinds      [][]int32   // the candidates of each kind
	index      Index

	scratch sync.Pool // of *scores
	oldest  atomic.Pointer[oldest]
}

// isMount reports whether a Host is mounted here.
func isMount(n *Node) bool { return n.Mount != nil && n.Mount.Path == n.Path }

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
	return s.view(s.tree.Load(), "", visible)
}

// ViewAs is View for an audience that has a name: visible is asked only if the
// space has changed since the View of that name was made. Two sets of what is
// visible must not have one name.
func (s *Space) ViewAs(audience string, visible func(*Node, *idl.Operation) bool) *View {
	t := s.tree.Load()
	key := audienceKey{t.version, audience}
	if v, ok := s.audiences.Get(key); ok {
		return v
	}
	v := s.view(t, audience, visible)
	s.audiences.Add(key, v)
	return v
}

// audienceKey is what ViewAs remembers a View by.
type audienceKey struct {
	version  uint64
	audience string
}

func (s *Space) view(t *tree, audience string, visible func(*Node, *idl.Operation) bool) *View {
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
	s.building.Lock()
	defer s.building.Unlock()
	if v, ok := s.views.Get(key); ok {
		return v
	}
	v := newView(s, t, bits, s.latest.view(audience))
	s.views.Add(key, v)
	s.latest.add(audience, v)
	return v
}

// latest are the Views that were made last, whatever has become of the space: of
// their indexes the next ones are made. They belong to few audiences, as each holds
// the nodes of its state.
type latest struct {
	of  *lru.Cache[string, *View] // by audience
	any *View
}

func (l *latest) add(audience string, v *View) {
	l.of.Add(audience, v)
	l.any = v
}

// view returns the audience's, or another's; nil if there is none.
func (l *latest) view(audience string) *View {
	if v, ok := l.of.Get(audience); ok {
		return v
	}
	return l.any
}

// offer is what an entry has to offer: many have the same.
type offer struct {
	operations []NamedOperation
	names      int // the same for equal names
}

// offers finds offers by the Object's kind and which operations are visible.
type offers struct {
	byKind map[offerKey]*offer
	names  map[string]int
}

type offerKey struct {
	kind    *kind
	visible string // a byte for each operation
}

// of returns what a node offers, of which the bits from the given one on say
// what is visible, and how many operations it has; nil if nothing is visible.
func (o *offers) of(n *Node, bits []byte, from int) (*offer, int) {
	count := n.operations()
	var room [64]byte
	marks, any := room[:0], false
	for at := from; at < from+count; at++ {
		mark := bits[at/8] >> (at % 8) & 1
		marks, any = append(marks, mark), any || mark == 1
	}
	if !any {
		return nil, count
	}
	if found, ok := o.byKind[offerKey{n.kind, string(marks)}]; ok {
		return found, count
	}
	allowed, at := map[*idl.Operation]bool{}, 0
	for _, i := range n.Interfaces {
		for _, op := range i.Operations {
			if marks[at] == 1 {
				allowed[op] = true
			}
			at++
		}
	}
	found := &offer{operations: n.Operations(func(op *idl.Operation) bool { return allowed[op] })}
	var names []byte
	for _, op := range found.operations {
		names = append(append(names, '\n'), op.Name...)
	}
	if _, ok := o.names[string(names)]; !ok {
		o.names[string(names)] = len(o.names)
	}
	found.names = o.names[string(names)]
	o.byKind[offerKey{n.kind, string(marks)}] = found
	return found, count
}

// newView builds a View of the operations whose bits are set. was is an earlier
// one, of whose index much may be the same, or nil.
func newView(s *Space, t *tree, bits []byte, was *View) *View {
	const folders = 64 // or so, that are not among the nodes
	v := &View{space: s, tree: t}
	if was != nil { // there will be about as many
		v.candidates = make([]Candidate, 0, len(was.candidates)+folders)
	}
	names := make([]int, 0, cap(v.candidates)) // by candidate
	all := offers{map[offerKey]*offer{}, map[string]int{"": 0}}
	at, last := 0, ""
	for _, n := range t.sorted {
		found, count := all.of(n, bits, at)
		if at += count; found == nil {
			continue
		}
		above := t.above(n.Path, last)
		for range above {
			names = append(names, 0)
		}
		v.candidates = append(v.candidates, above...)
		v.candidates = append(v.candidates, Candidate{n, found.operations})
		names, last = append(names, found.names), n.Path
	}
	v.candidates = slices.Clip(v.candidates)
	v.addKinds(names)
	var index Index
	if was != nil {
		index = was.index
	}
	v.index = s.ranker.Index(v.candidates, index)
	return v
}

// above returns the folders and mounts above an entry, from the topmost on, that
// are not above the last one before it: they are there for what they hold.
func (t *tree) above(path, last string) (list []Candidate) {
	for p := parent(path); p != "" && (last == "" || !within(last, p)); p = parent(p) {
		n := t.at(p)
		if n == nil || n.ObjectID != "" { // an Object of which nothing is visible
			n = t.folder(p)
		}
		if n != nil {
			list = append(list, Candidate{Node: n})
		}
	}
	slices.Reverse(list)
	return list
}

// addKinds tells candidates apart as a map does; those with the same number have
// operations of the same names.
func (v *View) addKinds(names []int) {
	type key struct {
		parent string
		names  int
	}
	kinds := map[key]int32{}
	v.kind = make([]int32, len(v.candidates))
	for i := range v.candidates {
		n := v.candidates[i].Node
		if !isMount(n) && len(v.candidates[i].Operations) == 0 { // it shows in the paths below it
			v.kind[i] = -1
			continue
		}
		kind, ok := int32(len(v.kinds)), false
		if !isMount(n) { // which has a line of its own
			k := key{parent(n.Path), names[i]}
			if known, found := kinds[k]; found {
				kind, ok = known, true
			} else {
				kinds[k] = kind
			}
		}
		if !ok {
			v.kinds = append(v.kinds, nil)
		}
		v.kind[i] = kind
		v.kinds[kind] = append(v.kinds[kind], int32(i))
	}
}

// in returns which of the candidates are at and below scope.
func (v *View) in(scope string) (from, to int) {
	return reach(len(v.candidates), func(i int) string { return v.candidates[i].Node.Path }, scope)
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

// oldest is since when what is in a View is known, of a state of the space.
type oldest struct {
	tree     *tree
	from, to int // of entries
	seen     time.Time
}

func (v *View) age(from, to int) time.Duration {
	// Trees that brought nothing new left the view as it is, but not its age.
	t := v.space.tree.Load()
	if t.version != v.tree.version {
		t = v.tree
	}
	o := v.oldest.Load()
	if o == nil || o.tree != t || o.from != from || o.to != to {
		o = &oldest{t, from, to, v.seen(t, from, to)}
		v.oldest.Store(o)
	}
	if o.seen.IsZero() {
		return 0
	}
	return time.Since(o.seen)
}

// seen returns when the oldest of some entries was seen; zero if there is none.
func (v *View) seen(t *tree, from, to int) time.Time {
	var oldest time.Time
	count := func(seen time.Time) {
		if oldest.IsZero() || !seen.IsZero() && seen.Before(oldest) {
			oldest = seen
		}
	}
	var mount *Mount
	at := 0 // in t.sorted, which is in the same order
	if from < to {
		at, _ = t.reach(v.candidates[from].Node.Path)
	}
	for i := range v.candidates[from:to] {
		n := v.candidates[from+i].Node
		if m := n.Mount; m != nil && m != mount {
			mount = m
			count(t.grown[m])
		}
		if n.seq > 0 { // and not a folder, in whose place may be what is hidden
			for t.sorted[at].Path != n.Path {
				at++
			}
			count(t.sorted[at].seen)
		}
	}
	return oldest
}

package remote

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/wipagent/wipagent/space/wip"
)

const (
	pageEntries = 10_000  // of a tree, on one page
	pageBytes   = 4 << 20 // about, of one page
	pagesLive   = 2 * time.Minute
	ownTag      = "h-" // begins the tags that are made here
)

// answer is the answer to a fetch_tree, before it is cut into pages.
type answer struct {
	status  string
	tag     string
	removed []string
	nodes   []wireEntry
}

// trees answers fetch_tree: of a Host that keeps no states of its trees it
// remembers some itself, by caller, path and tag. It is safe for concurrent
// use.
type trees struct {
	host  wip.Host
	limit int // entries of a tree

	mu     sync.Mutex
	states *bounded[stateKey, []wireEntry]
	pages  *bounded[string, pending]
}

type stateKey struct{ caller, path, tag string }

// pending is an answer of which not all pages were asked for.
type pending struct {
	answer
	caller string
	end    time.Time
}

func newTrees(host wip.Host, limit, remembered int) *trees {
	return &trees{
		host: host, limit: limit,
		states: newBounded[stateKey, []wireEntry](256, remembered),
		pages:  newBounded[string, pending](64, remembered),
	}
}

// since asks the Host, and says what has changed since tag.
func (t *trees) since(ctx context.Context, caller wip.Caller, path, tag string) (answer, error) {
	own := strings.HasPrefix(tag, ownTag)
	if source, ok := t.host.(wip.TreeSource); ok {
		asked := tag
		if own {
			asked = ""
		}
		c, err := source.FetchTreeSince(ctx, caller, path, asked)
		switch {
		case err != nil:
			return answer{}, err
		case c.Whole == nil:
			return t.changed(c, asked)
		case c.Tag != "" && len(c.Tag) <= maxTag && utf8.ValidString(c.Tag) && !strings.HasPrefix(c.Tag, ownTag):
			nodes, err := flatten([]wip.Tree{*c.Whole}, t.limit)
			return answer{status: whole, tag: c.Tag, nodes: nodes}, err
		}
		return t.compared(caller, path, tag, c.Whole)
	}
	tree, err := t.host.FetchTree(ctx, caller, path)
	if err != nil {
		return answer{}, err
	}
	return t.compared(caller, path, tag, &tree)
}

// changed is the answer of a Host that says itself what has changed.
func (t *trees) changed(c wip.Change, asked string) (answer, error) {
	if asked == "" {
		return answer{}, errors.New("the Host answered with changes when it was asked for the whole tree")
	}
	for _, name := range append([]string{c.Tag}, c.Removed...) {
		if !utf8.ValidString(name) {
			return answer{}, errors.New("found changes that cannot be sent: a name in them is no UTF-8")
		}
	}
	if len(c.Tag) > maxTag || len(c.Removed) > t.limit {
		return answer{}, errors.New("found changes that cannot be sent: the tag is too long, or too much is removed")
	}
	nodes, err := flatten(c.Replaced, t.limit)
	a := answer{status: delta, tag: c.Tag, removed: c.Removed, nodes: nodes}
	if len(a.removed)+len(a.nodes) == 0 {
		a.status = unchanged
	}
	return a, err
}

// compared names the tree's state by its content, remembers it, and says how
// it differs from the one that tag names, if that is remembered.
func (t *trees) compared(caller wip.Caller, path, tag string, tree *wip.Tree) (answer, error) {
	now, err := contentTag(tree, t.limit)
	if err != nil {
		return answer{}, err
	}
	if now == tag {
		return answer{status: unchanged, tag: now}, nil
	}
	nodes, err := flatten([]wip.Tree{*tree}, t.limit)
	if err != nil {
		return answer{}, err
	}
	t.mu.Lock()
	old, known := t.states.get(stateKey{caller.ID, path, tag})
	t.states.add(stateKey{caller.ID, path, now}, nodes, len(nodes))
	t.mu.Unlock()
	if known {
		if removed, changed, ok := diff(old, nodes); ok {
			return answer{status: delta, tag: now, removed: removed, nodes: changed}, nil
		}
	}
	return answer{status: whole, tag: now, nodes: nodes}, nil
}

// contentTag names a tree of at most limit entries by everything that is in it.
func contentTag(t *wip.Tree, limit int) (string, error) {
	if err := new(extent).add(t, 0, limit); err != nil {
		return "", err
	}
	d := digest{hash: sha256.New()}
	d.tree(t, 0)
	return ownTag + hex.EncodeToString(d.hash.Sum(nil)[:16]), nil
}

// digest hashes trees, each entry at once.
type digest struct {
	hash hash.Hash
	text []byte
}

func (d *digest) tree(t *wip.Tree, depth int) {
	e := &t.Entry
	d.text = d.text[:0]
	d.number(depth)
	d.words(e.Path, e.Title, e.Summary, e.Tag, strconv.FormatBool(e.Indexable))
	if e.Object == nil {
		d.number(-1)
	} else {
		d.number(len(e.Object.Interfaces))
		d.words(e.Object.ID)
		for i := range e.Object.Interfaces {
			ref := &e.Object.Interfaces[i]
			d.words(ref.Document, ref.Interface, ref.SHA256)
		}
	}
	d.hash.Write(d.text)
	for i := range t.Children {
		d.tree(&t.Children[i], depth+1)
	}
}

func (d *digest) number(n int) { d.text = binary.BigEndian.AppendUint64(d.text, uint64(n)) }

func (d *digest) words(parts ...string) {
	for _, s := range parts {
		d.number(len(s))
		d.text = append(d.text, s...)
	}
}

// page cuts the first page of an answer, or returns the one that a cursor
// leads to: the same one whenever it is asked for.
func (t *trees) page(caller wip.Caller, a answer, cursor string) (*treeResult, error) {
	from := 0
	id, offset, ok := strings.Cut(cursor, ".")
	if cursor == "" {
		id = rand.Text()
	} else {
		n, err := strconv.Atoi(offset)
		t.mu.Lock()
		p, known := t.pages.get(id)
		t.mu.Unlock()
		if !ok || err != nil || !known || p.caller != caller.ID || time.Now().After(p.end) || n <= 0 || n >= len(p.removed)+len(p.nodes) {
			return nil, &wip.Failure{Class: wip.Transient, Message: "the rest of the tree is no longer there", Hint: "ask for the tree again"}
		}
		a, from = p.answer, n
	}
	r := &treeResult{Status: a.status, Tag: a.tag}
	at, size := from, 0
	for ; at < len(a.removed) && at-from < pageEntries && size < pageBytes; at++ {
		r.Removed = append(r.Removed, a.removed[at])
		size += len(a.removed[at]) + 4
	}
	if at >= len(a.removed) {
		first := at - len(a.removed)
		end := first
		for ; end < len(a.nodes) && at-from < pageEntries && size < pageBytes; end, at = end+1, at+1 {
			size += a.nodes[end].size()
		}
		r.Nodes = a.nodes[first:end]
	}
	if at < len(a.removed)+len(a.nodes) {
		r.NextCursor = id + "." + strconv.Itoa(at)
		if cursor == "" {
			t.mu.Lock()
			t.pages.add(id, pending{a, caller.ID, time.Now().Add(pagesLive)}, len(a.removed)+len(a.nodes))
			t.mu.Unlock()
		}
	}
	return r, nil
}

// bounded keeps what was lately used, up to a number of values and a sum of
// their weights; a value that alone is heavier is kept alone.
type bounded[K comparable, V any] struct {
	lru         *simplelru.LRU[K, weighed[V]]
	weight, max int
}

type weighed[V any] struct {
	value  V
	weight int
}

func newBounded[K comparable, V any](count, weight int) *bounded[K, V] {
	b := &bounded[K, V]{max: weight}
	b.lru, _ = simplelru.NewLRU(count, func(_ K, w weighed[V]) { b.weight -= w.weight }) // fails for a count under 1
	return b
}

func (b *bounded[K, V]) get(k K) (V, bool) {
	w, ok := b.lru.Get(k)
	return w.value, ok
}

func (b *bounded[K, V]) add(k K, v V, weight int) {
	b.lru.Remove(k)
	for b.lru.Len() > 0 && b.weight+weight > b.max {
		b.lru.RemoveOldest()
	}
	b.lru.Add(k, weighed[V]{v, weight})
	b.weight += weight
}

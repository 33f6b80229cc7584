package idl

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"slices"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/sync/singleflight"

	"github.com/wipagent/wipagent/idl/syntax"
)

// Cache compiles documents and remembers what came of it, faults too, by the
// content of all documents that took part: who serves a document, and under
// which names others know it, plays no part. It is safe for concurrent use and
// for documents of strangers: its memory is bounded, nobody's document can
// change what comes of another's, and nobody waits for another's Loader.
type Cache struct {
	most              int // bytes
	parsing, checking singleflight.Group

	mu    sync.Mutex
	bytes int // weights of all entries
	steps *simplelru.LRU[state, cached]
}

// What Compile asks for next follows from the names it was given and from what
// it has loaded so far, and so does what comes of it in the end. The hash of
// all that is a state, and the cache is a map from each state to the next step:
// a name to load, which leads to another state, or the outcome. A document
// that comes with other imports leaves the path where their texts differ.

// state is the hash of names given to Compile and of texts loaded so far.
type state [sha256.Size]byte

// cached is what follows in a state.
type cached struct {
	next    string   // the document to load, unless
	outcome *outcome // all are loaded
	weight  int
}

// outcome is what Compile returns. It is shared and never changed.
type outcome struct {
	documents []*Document
	faults    ErrorList
}

// The weights of what a Cache holds, in bytes, all of them generous. The
// compiled form of a text is largest where it has the shortest names and no
// documentation.
const (
	stepWeight    = 256
	textWeight    = 40  // of a byte of a document
	patternWeight = 128 // of an instruction of a pattern
	faultWeight   = 512
	relatedWeight = 128
)

// NewCache returns a cache that holds at most about size bytes and forgets
// what was not used for longest. It counts a document as 40 times the size of
// its text. Without room for an outcome it is still a compiler.
func NewCache(size int) *Cache {
	c := &Cache{most: size}
	steps, err := simplelru.NewLRU(max(size/stepWeight, 1), func(_ state, e cached) { c.bytes -= e.weight })
	if err != nil {
		panic(err) // its only reason is a size below 1
	}
	c.steps = steps
	return c
}

// Compile is the function Compile, but documents that were compiled before are
// neither parsed nor checked again, and what several goroutines ask for at the
// same time is parsed and checked by one of them. It calls load for every
// document that takes part, each time: what load returns is what counts. An
// outcome is not remembered if load failed otherwise than by fs.ErrNotExist.
func (c *Cache) Compile(load Loader, names ...string) ([]*Document, error) {
	w := newWalk(load, names)
	for !w.failed {
		e, ok := c.get(w.at)
		if !ok {
			break
		}
		if e.outcome != nil {
			return e.outcome.result()
		}
		_, _ = w.load(e.next) // the walk keeps both
	}
	compiler := newCompiler(Source{Load: w.load})
	compiler.parse = c.parse
	compiler.loadAll(names)
	if w.failed {
		return outcomeOf(compiler.check()).result()
	}
	for _, v := range w.visits {
		c.add(v.from, cached{next: v.name, weight: stepWeight + len(v.name)})
	}
	o, _, _ := c.checking.Do(string(w.at[:]), func() (any, error) {
		if e, ok := c.get(w.at); ok && e.outcome != nil {
			return e.outcome, nil
		}
		o := outcomeOf(compiler.check())
		c.add(w.at, cached{outcome: o, weight: o.weight(compiler)})
		return o, nil
	})
	return o.(*outcome).result()
}

// get returns what follows in a state.
func (c *Cache) get(at state) (cached, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.steps.Get(at)
}

// add remembers what follows in a state, and forgets others to make room.
func (c *Cache) add(at state, e cached) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.weight > c.most || c.steps.Contains(at) {
		return
	}
	c.bytes += e.weight
	c.steps.Add(at, e)
	for c.bytes > c.most {
		c.steps.RemoveOldest()
	}
}

// parse is syntax.Parse; of several at the same time that are given the same,
// one works.
func (c *Cache) parse(name string, text []byte) (*syntax.File, []syntax.Diagnostic) {
	type parsed struct {
		file  *syntax.File
		found []syntax.Diagnostic
	}
	key := state{}.then(name, text, len(text))
	v, _, _ := c.parsing.Do(string(key[:]), func() (any, error) {
		file, found := syntax.Parse(name, text)
		return parsed{file, found}, nil
	})
	p := v.(parsed)
	return p.file, slices.Clone(p.found)
}

// walk loads documents for one Compile, each once.
type walk struct {
	source Loader
	texts  map[string]loaded
	at     state
	visits []visit
	failed bool // for a reason that may not hold the next time
}

type loaded struct {
	text []byte
	err  error
}

// visit is a document that was loaded in a state.
type visit struct {
	from state
	name string
}

func newWalk(load Loader, names []string) *walk {
	w := &walk{source: load, texts: map[string]loaded{}}
	for _, name := range names {
		w.at = w.at.then(name, nil, asked)
	}
	return w
}

// load is the Loader of one compiler.
func (w *walk) load(name string) ([]byte, error) {
	if l, ok := w.texts[name]; ok {
		return l.text, l.err
	}
	text, err := w.source(name)
	w.texts[name] = loaded{text, err}
	w.visits = append(w.visits, visit{w.at, name})
	if err == nil {
		w.at = w.at.then(name, text, len(text))
	} else {
		w.at = w.at.then(name, nil, absent)
	}
	w.failed = w.failed || err != nil && !errors.Is(err, fs.ErrNotExist)
	return text, err
}

// What stands in a hash where the size of a text would.
const (
	asked  = -1 // the name was given to Compile
	absent = -2 // there is no document of the name
)

// then returns the state that a document leads to.
func (s state) then(name string, text []byte, size int) (next state) {
	head := make([]byte, 0, len(s)+16)
	head = append(head, s[:]...)
	head = binary.BigEndian.AppendUint64(head, uint64(len(name)))
	head = binary.BigEndian.AppendUint64(head, uint64(size))
	h := sha256.New()
	h.Write(head)
	io.WriteString(h, name)
	h.Write(text)
	h.Sum(next[:0])
	return next
}

func outcomeOf(found *Checked) *outcome {
	return &outcome{documents: found.Documents, faults: found.Faults}
}

// result returns the outcome in slices that the caller may change.
func (o *outcome) result() ([]*Document, error) {
	documents := slices.Clone(o.documents)
	if len(o.faults) > 0 {
		return documents, slices.Clone(o.faults)
	}
	return documents, nil
}

// weight estimates the bytes of the outcome of a compiler.
func (o *outcome) weight(c *compiler) int {
	n := stepWeight
	if len(o.documents) > 0 {
		n += textWeight*c.bytes + patternWeight*c.patternSize
	}
	for _, d := range o.faults {
		n += faultWeight + len(d.Message) + len(d.Hint)
		for _, r := range d.Related {
			n += relatedWeight + len(r.Message)
		}
		for _, f := range d.Fixes {
			n += relatedWeight + len(f.Title)
			for _, e := range f.Edits {
				n += relatedWeight + len(e.Text)
			}
		}
	}
	return n
}

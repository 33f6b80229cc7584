package store

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"github.com/wipagent/wipagent/space"
)

// The file has these buckets. A shelf is a bucket with a value about itself, its
// entries by path, and the digests of its documents by name.
//
//	wipagent                  format, salt
//	mounts/PATH               a shelf: a tree
//	callers/HASH/PATH         a shelf: what a caller knows of a mount
//	documents                 by SHA-256: how many shelves' names lead to it, and the text
var (
	bucketHead      = []byte("wipagent")
	bucketMounts    = []byte("mounts")
	bucketCallers   = []byte("callers")
	bucketDocuments = []byte("documents")

	bucketEntries = []byte("entries")
	bucketNames   = []byte("names")
	keyAbout      = []byte("about")
	keyFormat     = []byte("format")
	keySalt       = []byte("salt")
)

// shelfKey says which shelf: of a mount's tree, or, with the hash of a caller,
// of what that one knows.
type shelfKey struct{ caller, mount string }

// index has what it takes to find what is to be evicted.
type index struct {
	shelves map[shelfKey]*shelf
	bytes   int64 // of all entries and documents
}

type shelf struct {
	entries int
	names   int   // of documents
	bytes   int64 // of entries
	used    time.Time
}

// grow counts an entry that was added to a shelf, or one that was taken away.
func (x *index) grow(s *shelf, entries int, bytes int) {
	s.entries += entries
	s.bytes += int64(entries * bytes)
	x.bytes += int64(entries * bytes)
}

// parent returns the bucket that the shelf's is in; nil if there is none.
func (k shelfKey) parent(tx *bbolt.Tx) *bbolt.Bucket {
	if k.caller == "" {
		return tx.Bucket(bucketMounts)
	}
	return tx.Bucket(bucketCallers).Bucket([]byte(k.caller))
}

// bucket returns the shelf's bucket; nil if there is none.
func (k shelfKey) bucket(tx *bbolt.Tx) *bbolt.Bucket {
	if p := k.parent(tx); p != nil {
		return p.Bucket([]byte(k.mount))
	}
	return nil
}

// readShelf returns what is on a shelf, if it is of that Host.
func readShelf(tx *bbolt.Tx, k shelfKey, identity string) (*space.KeptTree, error) {
	b := k.bucket(tx)
	if b == nil {
		return nil, nil
	}
	a, err := readAbout(keyAbout, b.Get(keyAbout))
	if err != nil || a.identity != identity {
		return nil, err
	}
	t := &space.KeptTree{Tag: a.tag, Seen: a.seen}
	names := map[string]string{}
	err = b.Bucket(bucketEntries).ForEach(func(key, value []byte) error {
		e, err := readEntry(key, value, names)
		t.Entries = append(t.Entries, e)
		return err
	})
	if err != nil {
		return nil, err
	}
	documents := tx.Bucket(bucketDocuments)
	err = b.Bucket(bucketNames).ForEach(func(name, sum []byte) error {
		_, text, err := readDocument(sum, documents.Get(sum))
		if err != nil {
			return err
		}
		d := space.KeptDocument{Name: string(name), Text: bytes.Clone(text)}
		copy(d.SHA256[:], sum)
		t.Documents = append(t.Documents, d)
		return nil
	})
	return t, err
}

// writer makes the changes of one transaction.
type writer struct {
	tx     *bbolt.Tx
	limits Limits
	index  *index
	note   error
}

// keep makes one change.
func (w *writer) keep(j job) error {
	b, old, err := w.find(j)
	if err != nil {
		return err
	}
	tree, c := j.key.caller == "", j.change
	var stale [][]byte
	switch {
	case !tree:
	case c.Since.IsZero():
		// Its documents go only after the new ones have come: most are the same.
		if b != nil {
			stale = w.sums(b)
			if err := w.drop(j.key, false); err != nil {
				return err
			}
			b = nil
		}
	case b == nil || nanos(old.seen) != nanos(c.Since):
		return w.drop(j.key, true) // what is to be changed is not what is here
	}
	if b == nil {
		if len(c.Entries) == 0 && !tree {
			return nil
		}
		if b, err = w.create(j.key); err != nil {
			return err
		}
	}
	s := w.index.shelves[j.key]
	if err := w.putDocuments(b, s, c.Documents); err != nil {
		return err
	}
	if err := w.release(stale); err != nil {
		return err
	}
	if err := w.putEntries(s, b.Bucket(bucketEntries), c); err != nil {
		return err
	}
	s.used = time.Now()
	a := about{identity: j.identity, tag: c.Tag, seen: c.Seen, used: s.used}
	if err := b.Put(keyAbout, a.value(keyAbout)); err != nil {
		return err
	}
	return w.bound(j.key, b)
}

// find returns the bucket of a shelf of a job's Host, and what it says of
// itself; nil if there is none. What is there of another Host goes.
func (w *writer) find(j job) (*bbolt.Bucket, about, error) {
	b := j.key.bucket(w.tx)
	if b == nil {
		return nil, about{}, nil
	}
	a, err := readAbout(keyAbout, b.Get(keyAbout))
	if err == nil && a.identity != j.identity {
		return nil, about{}, w.drop(j.key, true)
	}
	return b, a, err
}

// create makes an empty shelf.
func (w *writer) create(k shelfKey) (*bbolt.Bucket, error) {
	parent := k.parent(w.tx)
	if parent == nil {
		var err error
		if parent, err = w.tx.Bucket(bucketCallers).CreateBucket([]byte(k.caller)); err != nil {
			return nil, err
		}
	}
	b, err := parent.CreateBucket([]byte(k.mount))
	if err != nil {
		return nil, err
	}
	for _, name := range [][]byte{bucketEntries, bucketNames} {
		if _, err := b.CreateBucket(name); err != nil {
			return nil, err
		}
	}
	w.index.shelves[k] = &shelf{}
	return b, nil
}

// drop takes a shelf away, with what its documents' names are worth if that is
// not done elsewhere.
func (w *writer) drop(k shelfKey, documents bool) error {
	b := k.bucket(w.tx)
	if b == nil {
		return nil
	}
	if documents {
		if err := w.release(w.sums(b)); err != nil {
			return err
		}
	}
	if s := w.index.shelves[k]; s != nil {
		w.index.bytes -= s.bytes
		delete(w.index.shelves, k)
	}
	parent := k.parent(w.tx)
	if err := parent.DeleteBucket([]byte(k.mount)); err != nil {
		return err
	}
	if k.caller == "" {
		return nil
	}
	if first, _ := parent.Cursor().First(); first == nil {
		return w.tx.Bucket(bucketCallers).DeleteBucket([]byte(k.caller))
	}
	return nil
}

// putEntries changes a shelf's entries.
func (w *writer) putEntries(s *shelf, b *bbolt.Bucket, c *space.TreeChange) error {
	b.FillPercent = 0.9 // most come in order
	remove := func(key []byte) {
		if old := b.Get(key); old != nil {
			w.index.grow(s, -1, len(key)+len(old))
		}
	}
	for _, path := range c.Gone {
		key := []byte(path)
		if remove(key); len(key) > 0 {
			if err := b.Delete(key); err != nil {
				return err
			}
		}
	}
	fresh := s.entries == 0
	for i := range c.Entries {
		key := []byte(c.Entries[i].Path)
		value := entryValue(key, &c.Entries[i])
		if !fresh {
			remove(key)
		}
		w.index.grow(s, 1, len(key)+len(value))
		if err := b.Put(key, value); err != nil {
			return err
		}
	}
	return nil
}

// putDocuments makes names lead to texts.
func (w *writer) putDocuments(b *bbolt.Bucket, s *shelf, list []space.KeptDocument) error {
	names, documents := b.Bucket(bucketNames), w.tx.Bucket(bucketDocuments)
	for _, d := range list {
		old := bytes.Clone(names.Get([]byte(d.Name)))
		if bytes.Equal(old, d.SHA256[:]) {
			continue
		}
		count := uint64(0)
		if value := documents.Get(d.SHA256[:]); value != nil {
			var err error
			if count, _, err = readDocument(d.SHA256[:], value); err != nil {
				return err
			}
		}
		if err := documents.Put(d.SHA256[:], documentValue(d.SHA256[:], count+1, d.Text)); err != nil {
			return err
		}
		if count == 0 {
			w.index.bytes += int64(len(d.Text))
		}
		if err := names.Put([]byte(d.Name), d.SHA256[:]); err != nil {
			return err
		}
		if old == nil {
			s.names++
		} else if err := w.release([][]byte{old}); err != nil {
			return err
		}
	}
	return nil
}

// sums returns the digests of a shelf's documents, once for each name.
func (w *writer) sums(b *bbolt.Bucket) (sums [][]byte) {
	names := b.Bucket(bucketNames).Cursor()
	for name, sum := names.First(); name != nil; name, sum = names.Next() {
		sums = append(sums, bytes.Clone(sum))
	}
	return sums
}

// release notes that one name each leads to these documents no more.
func (w *writer) release(sums [][]byte) error {
	documents := w.tx.Bucket(bucketDocuments)
	for _, sum := range sums {
		count, text, err := readDocument(sum, documents.Get(sum))
		switch {
		case err != nil:
			return err
		case count > 1:
			err = documents.Put(sum, documentValue(sum, count-1, text))
		default:
			w.index.bytes -= int64(len(text))
			err = documents.Delete(sum)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// bound evicts what is too much after a shelf has grown.
func (w *writer) bound(k shelfKey, b *bbolt.Bucket) error {
	s := w.index.shelves[k]
	switch {
	case k.caller == "" && s.entries > w.limits.Entries:
		w.note = errors.Join(w.note, fmt.Errorf("the tree of %s is not kept: it has %d entries, expected at most %d", k.mount, s.entries, w.limits.Entries))
		return w.drop(k, true)
	case s.names > maxNames:
		return w.drop(k, true)
	case k.caller != "" && s.entries > w.limits.Known:
		if err := w.forget(s, b.Bucket(bucketEntries)); err != nil {
			return err
		}
	}
	for k.caller != "" && w.callers() > w.limits.Callers {
		least := w.least(func(o shelfKey) bool { return o.caller != "" && o.caller != k.caller })
		if err := w.drop(least, true); err != nil {
			return err
		}
	}
	for w.index.bytes > w.limits.Bytes {
		least := w.least(func(o shelfKey) bool { return o.caller != "" && o != k })
		if least.mount == "" {
			least = w.least(func(o shelfKey) bool { return o != k })
		}
		if least.mount == "" {
			w.note = errors.Join(w.note, fmt.Errorf("what is known of %s is not kept: it has %d bytes, expected at most %d", k.mount, s.bytes, w.limits.Bytes))
			least = k
		}
		if err := w.drop(least, true); err != nil {
			return err
		}
	}
	return nil
}

// maxNames bounds the documents of a shelf: more than a Space loads of a Host.
const maxNames = 1024

// callers counts the callers of whom there is something.
func (w *writer) callers() int {
	callers := map[string]bool{}
	for k := range w.index.shelves {
		if k.caller != "" {
			callers[k.caller] = true
		}
	}
	return len(callers)
}

// least returns the least recently used shelf of those that may go.
func (w *writer) least(may func(shelfKey) bool) (least shelfKey) {
	for k, s := range w.index.shelves {
		if may(k) && (least.mount == "" || s.used.Before(w.index.shelves[least].used)) {
			least = k
		}
	}
	return least
}

// forget removes the entries that were seen longest ago, and some more, so that
// it need not be done each time.
func (w *writer) forget(s *shelf, b *bbolt.Bucket) error {
	type seen struct {
		path string
		at   time.Time
	}
	var list []seen
	names := map[string]string{}
	err := b.ForEach(func(key, value []byte) error {
		e, err := readEntry(key, value, names)
		list = append(list, seen{e.Path, e.Seen})
		return err
	})
	if err != nil {
		return err
	}
	slices.SortFunc(list, func(a, b seen) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.path, b.path)) })
	c := &space.TreeChange{}
	for _, e := range list[:len(list)-w.limits.Known*9/10] {
		c.Gone = append(c.Gone, e.path)
	}
	return w.putEntries(s, b, c)
}

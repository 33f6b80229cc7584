package store

import (
	"bytes"
	"errors"
	"fmt"

	"go.etcd.io/bbolt"
)

// examine looks at a file without changing it: whether it is a store of this
// format, and whether its pages are sound.
func examine(path string, limits Limits, size int64) error {
	err := guarded(path, func() error {
		db, err := openFile(path, limits, true)
		if err != nil {
			return err
		}
		defer db.Close()
		return db.View(func(tx *bbolt.Tx) error {
			if tx.Size() > size {
				return fmt.Errorf("found %d bytes, expected %d: it was cut", size, tx.Size())
			}
			if err := checkPages(path, db.Info().PageSize, size); err != nil {
				return err
			}
			head := tx.Bucket(bucketHead)
			if head == nil {
				return foreign(path, errors.New("it is a database of another program"))
			}
			if f := head.Get(keyFormat); string(f) != format {
				return foreign(path, fmt.Errorf("found format %q, expected %q", bytes.ToValidUTF8(f[:min(len(f), 16)], nil), format))
			}
			return nil
		})
	})
	if err != nil {
		return explained(path, err)
	}
	return nil
}

// check reads all that there is, and returns the index of it.
func check(tx *bbolt.Tx) (*index, error) {
	head, mounts, callers, documents := tx.Bucket(bucketHead), tx.Bucket(bucketMounts), tx.Bucket(bucketCallers), tx.Bucket(bucketDocuments)
	if head == nil || mounts == nil || callers == nil || documents == nil || len(head.Get(keySalt)) == 0 {
		return nil, errors.New("found a part missing")
	}
	c := &checker{index: &index{shelves: map[shelfKey]*shelf{}}, counts: map[string]uint64{}}
	if err := mounts.ForEachBucket(func(mount []byte) error {
		return c.shelf(shelfKey{mount: string(mount)}, mounts.Bucket(mount))
	}); err != nil {
		return nil, err
	}
	if err := callers.ForEachBucket(func(caller []byte) error {
		b := callers.Bucket(caller)
		return b.ForEachBucket(func(mount []byte) error {
			return c.shelf(shelfKey{string(caller), string(mount)}, b.Bucket(mount))
		})
	}); err != nil {
		return nil, err
	}
	err := documents.ForEach(func(sum, value []byte) error {
		count, text, err := readDocument(sum, value)
		c.index.bytes += int64(len(text))
		if err == nil && count != c.counts[string(sum)] {
			err = fmt.Errorf("found a document with %d names, expected %d", c.counts[string(sum)], count)
		}
		delete(c.counts, string(sum))
		return err
	})
	if err == nil && len(c.counts) > 0 {
		err = errors.New("found a name of a document that is missing")
	}
	return c.index, err
}

type checker struct {
	index  *index
	counts map[string]uint64 // of names, by the digest of the document
}

// shelf reads a shelf and enters it in the index.
func (c *checker) shelf(k shelfKey, b *bbolt.Bucket) error {
	a, err := readAbout(keyAbout, b.Get(keyAbout))
	if err != nil {
		return err
	}
	entries, names := b.Bucket(bucketEntries), b.Bucket(bucketNames)
	if entries == nil || names == nil {
		return errors.New("found a part missing")
	}
	s := &shelf{used: a.used}
	c.index.shelves[k] = s
	shared := map[string]string{}
	if err := entries.ForEach(func(key, value []byte) error {
		c.index.grow(s, 1, len(key)+len(value))
		_, err := readEntry(key, value, shared)
		return err
	}); err != nil {
		return err
	}
	return names.ForEach(func(_, sum []byte) error {
		s.names++
		c.counts[string(sum)]++
		return nil
	})
}

package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
)

// bbolt believes the pages of a file, so that a damaged one can make it read
// where there is no memory, or go round in a circle. This looks at every page
// first, by plain reading. Source of the form: bbolt's internal/common, page.go,
// meta.go and bucket.go, of database version 2.

const (
	pageHead    = 16 // id, flags, count, overflow
	elementSize = 16 // of a branch or a leaf
	bucketSize  = 16 // root, sequence
	freeSize    = 8  // of an id in the list of free pages

	branchPage   = 0x01
	leafPage     = 0x02
	freelistPage = 0x10
	bucketFlag   = 0x01
	noFreelist   = ^uint64(0)
	maxDepth     = 64 // of pages and buckets in each other
)

var order = binary.NativeEndian

// pages reads a file page by page, each at most once.
type pages struct {
	file *os.File
	size uint64 // of a page
	end  uint64 // pages that there are
	seen map[uint64]bool
}

// checkPages reports what is wrong with the pages of a database that is open and
// has so many bytes.
func checkPages(path string, pageSize int, size int64) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	p := &pages{file: f, size: uint64(pageSize), end: uint64(size) / uint64(pageSize), seen: map[uint64]bool{0: true, 1: true}}
	root, free, err := p.meta()
	if err != nil {
		return err
	}
	if err := p.walk(root, nil, 0); err != nil {
		return err
	}
	if free == noFreelist {
		return nil
	}
	return p.freelist(free)
}

// meta returns the root and the list of free pages of the latest state.
func (p *pages) meta() (root, free uint64, err error) {
	const from, sum, magic, version = pageHead, 56, 0xED0CDAED, 2
	var latest uint64
	found := false
	for i := range uint64(2) {
		b := make([]byte, p.size)
		if _, err := p.file.ReadAt(b, int64(i*p.size)); err != nil {
			return 0, 0, err
		}
		m := b[from:]
		h := fnv.New64a()
		h.Write(m[:sum])
		if order.Uint32(m) != magic || order.Uint32(m[4:]) != version || h.Sum64() != order.Uint64(m[sum:]) {
			continue
		}
		if tx := order.Uint64(m[48:]); !found || tx > latest {
			found, latest = true, tx
			root, free = order.Uint64(m[16:]), order.Uint64(m[32:])
			if end := order.Uint64(m[40:]); end > p.end {
				return 0, 0, fmt.Errorf("found %d pages, expected %d: it was cut", p.end, end)
			}
		}
	}
	if !found {
		return 0, 0, errors.New("found no state that was written to its end")
	}
	return root, free, nil
}

var errPage = errors.New("found a page that is not what was written")

// page reads a page that was not read before, with what overflows from it.
func (p *pages) page(id uint64) ([]byte, error) {
	if id >= p.end || p.seen[id] {
		return nil, errPage
	}
	var head [pageHead]byte
	if _, err := p.file.ReadAt(head[:], int64(id*p.size)); err != nil {
		return nil, err
	}
	more := uint64(order.Uint32(head[12:]))
	if order.Uint64(head[:]) != id || more >= p.end-id {
		return nil, errPage
	}
	for i := range more + 1 {
		if p.seen[id+i] {
			return nil, errPage
		}
		p.seen[id+i] = true
	}
	b := make([]byte, (more+1)*p.size)
	_, err := p.file.ReadAt(b, int64(id*p.size))
	return b, err
}

// walk checks a page and all below it, whose keys begin with first if that is
// not nil.
func (p *pages) walk(id uint64, first []byte, depth int) error {
	b, err := p.page(id)
	if err != nil {
		return err
	}
	return p.elements(b, first, depth)
}

// elements checks a page, which may be a bucket's own within a value.
func (p *pages) elements(b, first []byte, depth int) error {
	flags, count := order.Uint16(b[8:]), int(order.Uint16(b[10:]))
	if depth > maxDepth || len(b) < pageHead+count*elementSize || flags != leafPage && (flags != branchPage || count == 0) {
		return errPage
	}
	last := []byte(nil)
	for i := range count {
		at := pageHead + i*elementSize
		e := b[at:]
		var key, value []byte
		if flags == branchPage {
			key, _ = part(b, at, order.Uint32(e), order.Uint32(e[4:]), 0)
		} else {
			key, value = part(b, at, order.Uint32(e[4:]), order.Uint32(e[8:]), order.Uint32(e[12:]))
		}
		if len(key) == 0 || i > 0 && bytes.Compare(last, key) >= 0 || i == 0 && first != nil && !bytes.Equal(first, key) {
			return errPage
		}
		last = key
		var err error
		switch {
		case flags == branchPage:
			err = p.walk(order.Uint64(e[8:]), key, depth+1)
		case order.Uint32(e)&bucketFlag != 0:
			err = p.bucket(value, depth+1)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// part returns an element's key and value; no key if they are not in the page.
func part(b []byte, at int, pos, keySize, valueSize uint32) (key, value []byte) {
	from := uint64(at) + uint64(pos)
	middle := from + uint64(keySize)
	to := middle + uint64(valueSize)
	if to > uint64(len(b)) {
		return nil, nil
	}
	return b[from:middle], b[middle:to]
}

// bucket checks a bucket by its value: where its root is, or the root itself.
func (p *pages) bucket(value []byte, depth int) error {
	if len(value) < bucketSize {
		return errPage
	}
	if root := order.Uint64(value); root != 0 {
		return p.walk(root, nil, depth)
	}
	if len(value) < bucketSize+pageHead {
		return errPage
	}
	own := value[bucketSize:]
	if order.Uint16(own[8:]) != leafPage {
		return errPage
	}
	return p.elements(own, nil, depth)
}

// freelist checks that no page is free that is used, and none twice.
func (p *pages) freelist(id uint64) error {
	b, err := p.page(id)
	if err != nil {
		return err
	}
	count, list := uint64(order.Uint16(b[10:])), b[pageHead:]
	if count == 0xFFFF { // it is too large for its place
		count, list = order.Uint64(list), list[freeSize:]
	}
	if order.Uint16(b[8:]) != freelistPage || count > uint64(len(list)/freeSize) {
		return errPage
	}
	for i := range count {
		free := order.Uint64(list[i*freeSize:])
		if free < 2 || free >= p.end || p.seen[free] {
			return errPage
		}
		p.seen[free] = true
	}
	return nil
}

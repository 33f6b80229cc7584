package principals

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/wipagent/wipagent/client/policy/ownfile"
)

// File is a file of principals, and what it said when it was last good. It is
// safe for concurrent use.
type File struct {
	path string
	now  atomic.Pointer[set]

	mu      sync.Mutex // held to read the file
	stamp   stamp
	digest  [sha256.Size]byte // of the text that was last read
	entries map[[sha256.Size]byte]*entry
}

// Open reads a file of principals. What is wrong in it is an Errors; the other
// errors are those of a file that cannot be read, or that others than its owner
// could have written or can read.
func Open(path string) (*File, error) {
	f := &File{path: path}
	f.now.Store(&set{})
	if _, err := f.Reload(); err != nil {
		return nil, err
	}
	return f, nil
}

// Tally counts the tokens that there are.
func (f *File) Tally(now time.Time) Tally {
	s := f.now.Load()
	t := Tally{Tokens: len(s.digests)}
	for _, h := range s.access {
		switch {
		case h == nil:
			t.Revoked++
		case h.Over(now):
			t.Expired++
		}
	}
	return t
}

// List returns what the tokens give that have not been revoked, in the order of
// the file. A principal of several tokens is there once.
func (f *File) List() []*Access {
	var list []*Access
	seen := map[string]bool{}
	for _, h := range f.now.Load().access {
		if h != nil && !seen[h.Principal.ID] {
			seen[h.Principal.ID] = true
			list = append(list, h.Access)
		}
	}
	return list
}

// Verify returns what a token gives, or ErrUnknown. It never blocks.
func (f *File) Verify(_ context.Context, token string) (*Access, error) {
	return f.now.Load().find(token, time.Now())
}

// Reload reads the file again, and reports whether it says something else than
// before. Who is in it as before keeps the same Access; every other Access is
// withdrawn. On an error all stays as it is.
func (f *File) Reload() (changed bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stamp = stampOf(f.path)
	text, err := ownfile.Read(f.path, maxFile, ownfile.Secret)
	if err != nil {
		return false, unread(f.path, err)
	}
	digest := sha256.Sum256(text)
	if digest == f.digest && f.entries != nil {
		return false, nil
	}
	list, err := parse(f.path, text)
	if err != nil {
		return false, err
	}
	f.digest = digest
	f.take(list)
	return true, nil
}

// take puts what the file says in the place of what it said.
func (f *File) take(list []*entry) {
	before := f.now.Load()
	old := map[[sha256.Size]byte]*held{}
	for i, digest := range before.digests {
		old[digest] = before.access[i]
	}
	after, entries := &set{}, map[[sha256.Size]byte]*entry{}
	for _, e := range list {
		for _, digest := range e.digests {
			h := old[digest]
			switch {
			case e.revoked:
				h = nil
			case h != nil && reflect.DeepEqual(f.entries[digest].Access, e.Access):
				delete(old, digest) // it stays
			default:
				done := make(chan struct{})
				access := e.Access
				access.Done = done
				h = &held{&access, func() { close(done) }}
			}
			after.digests, after.access = append(after.digests, digest), append(after.access, h)
			entries[digest] = e
		}
	}
	f.entries = entries
	f.now.Store(after)
	for _, h := range old {
		if h != nil {
			h.withdraw()
		}
	}
}

// Watch looks at the file each time that every has passed, and reads it again if
// it may have changed, until ctx ends. It tells what comes of it: nil if the file
// says something else now or is good again, and an error, once, if all stays as it
// was because the file is bad or gone.
func (f *File) Watch(ctx context.Context, every time.Duration, tell func(error)) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	said := ""
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		f.mu.Lock()
		same := f.stamp.same(stampOf(f.path))
		f.mu.Unlock()
		if same {
			continue
		}
		changed, err := f.Reload()
		switch {
		case err != nil && err.Error() != said:
			said = err.Error()
			tell(err)
		case err == nil:
			if changed || said != "" {
				tell(nil)
			}
			said = ""
		}
	}
}

// stamp is what tells without reading that a file has changed.
type stamp struct {
	info fs.FileInfo // nil if there is no such file
	at   time.Time   // when it was looked at
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		info = nil
	}
	return stamp{info, time.Now()}
}

// settled is how old a file must be to be sure that no later change has the same
// time as the one that was seen.
const settled = 2 * time.Second

func (s stamp) same(now stamp) bool {
	if s.info == nil || now.info == nil {
		return s.info == nil && now.info == nil
	}
	return os.SameFile(s.info, now.info) && s.info.ModTime().Equal(now.info.ModTime()) && s.info.Size() == now.info.Size() &&
		s.info.Mode() == now.info.Mode() && s.at.Sub(s.info.ModTime()) > settled
}

// unread says of which file an error is, once.
func unread(path string, err error) error {
	var named *fs.PathError
	if errors.As(err, &named) {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}

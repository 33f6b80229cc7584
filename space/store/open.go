package store

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// format is what is written of the form of all the rest. Another one is not
// read.
const format = "1"

// Error says why a file cannot be used. The file is as it was.
type Error struct {
	Path string
	Err  error
}

// Error names the file and says what was found and what to do.
func (e *Error) Error() string { return e.Path + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// What is wrong with a file, for errors.Is.
var (
	// ErrInUse says that another process has the file.
	ErrInUse = errors.New("another process uses this store")
	// ErrForeign says that the file is none that this package has made.
	ErrForeign = errors.New("found a file that is no store")
	// ErrDamaged says that something in the file is not what was written.
	ErrDamaged = errors.New("found a damaged store")
)

func damaged(path string, err error) error {
	return &Error{path, fmt.Errorf("%w: %w; move it away or remove it, and what it held is learned anew", ErrDamaged, err)}
}

func foreign(path string, err error) error {
	return &Error{path, fmt.Errorf("%w: %w; expected one that wipagent made: choose another file", ErrForeign, err)}
}

// Open opens the file at path, and makes it, with the folders above it, if there
// is none. Only its owner may read it. One process at a time has it open. The
// whole file is checked; one that is damaged, or that is no store, is an *Error
// and stays as it is.
func Open(path string, limits Limits) (*Store, error) {
	limits = limits.withDefaults()
	if path == "" {
		return nil, errors.New("found no name of a store's file")
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = create(path); err == nil {
			info, err = os.Stat(path)
		}
	}
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, foreign(path, errors.New("it is no regular file"))
	case info.Size() == 0:
		return nil, foreign(path, errors.New("it is empty"))
	}
	// What is no store of ours must not be opened for writing: that alone may
	// change it.
	if err := examine(path, limits, info.Size()); err != nil {
		return nil, err
	}
	s := &Store{path: path, limits: limits, queue: make(chan job, 256), ended: make(chan struct{})}
	err = guarded(path, func() error {
		if s.db, err = openFile(path, limits, false); err != nil {
			return err
		}
		return s.db.View(func(tx *bbolt.Tx) error {
			s.index, err = check(tx)
			s.salt = append(s.salt, tx.Bucket(bucketHead).Get(keySalt)...)
			return err
		})
	})
	if err == nil && info.Mode().Perm()&0o077 != 0 {
		err = os.Chmod(path, 0o600)
	}
	if err != nil {
		if s.db != nil {
			s.db.Close()
		}
		return nil, explained(path, err)
	}
	go s.write()
	return s, nil
}

// openFile opens the database for one process at a time.
func openFile(path string, limits Limits, readOnly bool) (*bbolt.DB, error) {
	return bbolt.Open(path, 0o600, &bbolt.Options{Timeout: limits.Wait, ReadOnly: readOnly, FreelistType: bbolt.FreelistMapType})
}

// explained says what an error of the database means.
func explained(path string, err error) error {
	var e *Error
	switch {
	case errors.As(err, &e):
		return err
	case errors.Is(err, bolterrors.ErrTimeout):
		return &Error{path, fmt.Errorf("%w: end it, or choose another file", ErrInUse)}
	case errors.Is(err, bolterrors.ErrInvalid), errors.Is(err, bolterrors.ErrVersionMismatch), errors.Is(err, bolterrors.ErrChecksum):
		return foreign(path, err)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, fs.ErrNotExist):
		return err
	}
	return damaged(path, err)
}

// create makes an empty store at path, all at once: a kill leaves none or a
// whole one. If there is one by now, it stays.
func create(path string) (err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, filepath.Base(path)+".new-*") // for its owner alone
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := f.Close(); err != nil {
		return err
	}
	db, err := bbolt.Open(f.Name(), 0o600, &bbolt.Options{FreelistType: bbolt.FreelistMapType})
	if err != nil {
		return err
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		for _, name := range [][]byte{bucketMounts, bucketCallers, bucketDocuments} {
			if _, err := tx.CreateBucket(name); err != nil {
				return err
			}
		}
		head, err := tx.CreateBucket(bucketHead)
		if err != nil {
			return err
		}
		return errors.Join(head.Put(keyFormat, []byte(format)), head.Put(keySalt, []byte(rand.Text())))
	})
	if err := errors.Join(err, db.Close()); err != nil {
		return err
	}
	if err = os.Link(f.Name(), path); errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil { // a file system without links
		if _, statErr := os.Lstat(path); errors.Is(statErr, fs.ErrNotExist) {
			err = os.Rename(f.Name(), path)
		}
	}
	if d, openErr := os.Open(dir); err == nil && openErr == nil {
		_ = d.Sync() // not everywhere possible, and nothing is in it yet
		_ = d.Close()
	}
	return err
}

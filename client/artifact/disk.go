package artifact

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// A disk is this process's part of the folder of artifacts: a folder of its own
// and a file beside it that is locked as long as the process lives, by which
// others can tell that the folder is in use.
type disk struct {
	root *os.Root // the folder that the operator named
	name string   // of the own folder
	lock *os.File
}

const (
	diskPrefix = "wipagent-artifacts-"
	lockSuffix = ".lock"
)

// errGone says that an artifact has been dropped in the meantime.
var errGone = errors.New("the artifact is gone")

// openDisk opens the folder, makes the own one in it and removes those of
// processes that are dead.
func openDisk(dir string) (_ *disk, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	d := &disk{name: diskPrefix + strings.ToLower(rand.Text())}
	if d.root, err = os.OpenRoot(dir); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			d.root.Close()
		}
	}()
	if err = d.sweep(); err != nil {
		return nil, err
	}
	if d.lock, err = d.root.OpenFile(d.name+lockSuffix, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600); err != nil {
		return nil, err
	}
	// Who sweeps at this instant may have taken the new file for a dead one's:
	// then the lock is of a file that is no longer there.
	if err = lockFile(d.lock); err == nil {
		err = d.holds()
	}
	if err == nil {
		err = d.root.Mkdir(d.name, 0o700)
	}
	if err != nil {
		d.lock.Close()
	}
	return d, err
}

// holds reports whether the locked file is the one that others see.
func (d *disk) holds() error {
	mine, err := d.lock.Stat()
	if err != nil {
		return err
	}
	seen, err := d.root.Stat(d.name + lockSuffix)
	if err == nil && !os.SameFile(mine, seen) {
		err = fs.ErrNotExist
	}
	return err
}

// sweep removes what dead processes left.
func (d *disk) sweep() error {
	dir, err := d.root.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	for {
		list, err := dir.ReadDir(256)
		for _, e := range list {
			name, locked := strings.CutSuffix(e.Name(), lockSuffix)
			if locked && isDisk(name) && e.Type().IsRegular() {
				d.bury(name)
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// isDisk reports whether a name is one that openDisk gives.
func isDisk(name string) bool {
	random, ok := strings.CutPrefix(name, diskPrefix)
	return ok && len(random) == len(rand.Text()) && strings.Trim(random, "abcdefghijklmnopqrstuvwxyz234567") == ""
}

// bury removes the folder of a process if that is dead. What cannot be removed
// is left to the next.
func (d *disk) bury(name string) {
	lock, err := d.root.OpenFile(name+lockSuffix, os.O_RDWR, 0)
	if err != nil {
		return
	}
	defer lock.Close()
	if dead(lock) && d.root.RemoveAll(name) == nil {
		d.root.Remove(name + lockSuffix)
	}
}

// file returns the name of an artifact's file.
func (d *disk) file(id string) string { return d.name + "/" + id }

// write makes an artifact's file; of one that could not be written whole nothing
// is left.
func (d *disk) write(id string, text []byte) error {
	f, err := d.root.OpenFile(d.file(id), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		d.remove(id)
		return fmt.Errorf("writing an artifact: %w", err)
	}
	return nil
}

// open opens an artifact's file; what is opened is an io.ReaderAt too.
func (d *disk) open(id string) (*os.File, error) {
	f, err := d.root.Open(d.file(id))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrClosed) {
		return nil, errGone
	}
	return f, err
}

// remove removes an artifact's file. What cannot be removed now goes with the
// folder.
func (d *disk) remove(id string) { d.root.Remove(d.file(id)) }

// close removes the own folder. Where that fails the file beside it stays, so
// that another process tries again.
func (d *disk) close() error {
	err := d.root.RemoveAll(d.name)
	if err == nil {
		err = d.root.Remove(d.name + lockSuffix)
	}
	return errors.Join(err, d.lock.Close(), d.root.Close())
}

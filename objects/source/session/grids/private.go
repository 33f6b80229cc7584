package grids

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Bounds of files in bytes.
const (
	maxSecret       = 4 << 10
	maxCertificates = 1 << 20
)

// readFile reads a regular file of at most limit bytes. Anything else could
// block, like a pipe, or have no end, like a device.
func readFile(path string, limit int64) ([]byte, error) { return read(path, limit, nil) }

// readPrivate is readFile for a secret: nobody but the user may have access.
func readPrivate(path string) ([]byte, error) { return read(path, maxSecret, private) }

func read(path string, limit int64, check func(fs.FileInfo) error) ([]byte, error) {
	info, err := os.Stat(path) // before opening, which is what blocks on a pipe
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: found %s, expected a regular file", path, kindOf(info))
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil { // of what was opened, whatever the name means by now
		return nil, err
	}
	if check != nil {
		if err := check(info); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	b, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(b)) > limit {
		err = fmt.Errorf("%s: found more than %d bytes", path, limit)
	}
	if err != nil {
		return nil, err
	}
	return b, nil
}

func kindOf(info fs.FileInfo) string {
	switch mode := info.Mode(); {
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "a special file"
}

// unwritable says which file of the folder could not be written, and what to
// do: the system's words name a temporary file, or the folder alone.
func unwritable(path string, err error) error {
	var inner *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &inner):
		err = inner.Err
	case errors.As(err, &link):
		err = link.Err
	}
	return fmt.Errorf("writing %s: %w; let the folder be written to, or set %s to one that can be", path, err, DirVariable)
}

// writePrivate puts a file of the user's own in place at once: who reads it
// meanwhile has the old content or the new. If keep is set, a file that is
// there already stays, and the error is fs.ErrExist.
func writePrivate(path string, content []byte, keep bool) (err error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".new-*") // of mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // not there any more once renamed
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if keep {
		// A link, other than a renaming, fails if another process was first.
		// Where there are no links a short race is left.
		if err := os.Link(f.Name(), path); err == nil || errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	return os.Rename(f.Name(), path)
}

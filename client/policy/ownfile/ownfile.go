// Package ownfile reads files that decide what is run, who is believed and who is
// let in: a file of that kind is its owner's alone to write.
package ownfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Access is what nobody but a file's owner may have.
type Access fs.FileMode

const (
	// Write: others may read the file.
	Write Access = 0o022
	// Secret: others may neither write nor read it, but a group may read it. That
	// is how a service manager hands a file to a service.
	Secret Access = 0o007 | Write
)

// Read reads a regular file of at most limit bytes. It refuses one whose mode
// gives others what is the owner's, or that belongs neither to the user who runs
// this nor to root; where there are no such modes it looks at nothing. Its errors
// name the path only if the system's do, and quote nothing of the file.
func Read(path string, limit int64, owners Access) ([]byte, error) {
	info, err := os.Stat(path) // before opening, which is what blocks on a pipe
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errors.New("found something else than a file")
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if info, err = file.Stat(); err != nil { // of what was opened, whatever the name means by now
		return nil, err
	}
	if err := guarded(info, owners); err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("found more than %d bytes", limit)
	}
	return text, err
}

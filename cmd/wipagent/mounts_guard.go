package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// What nobody but its owner may do with a file: write it, or, if it holds
// secrets, read it either. A group may read secrets: that is how a service
// manager hands a file to a service, as it does for serve's --principals.
const (
	othersWrite fs.FileMode = 0o022
	othersRead  fs.FileMode = 0o007 | othersWrite
)

// readGuarded reads a regular file up to a bound in bytes. It refuses one whose
// mode lets others do what is forbidden, or that another user owns. Its errors
// quote nothing of the file.
func readGuarded(path string, limit int64, forbidden fs.FileMode) (string, error) {
	info, err := os.Stat(path) // before opening, which is what blocks on a pipe
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", errors.New("found something else than a file")
	}
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	if info, err = file.Stat(); err != nil { // of what was opened, whatever the name means by now
		return "", err
	}
	if err := guarded(info, forbidden); err != nil {
		return "", err
	}
	text, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("found more than %d bytes", limit)
	}
	return string(text), err
}

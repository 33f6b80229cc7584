//go:build unix

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// guarded reports why somebody else may have written a file or, if that is
// forbidden too, may read it.
func guarded(info fs.FileInfo, forbidden fs.FileMode) error {
	switch mode := info.Mode().Perm(); {
	case mode&forbidden == 0:
	case forbidden == othersWrite:
		return fmt.Errorf("others than its owner can write it (mode %04o); run: chmod go-w on it", mode)
	default:
		return fmt.Errorf("others than its owner have access (mode %04o); run: chmod 600 on it, or 640 for a group that may read it", mode)
	}
	if s, ok := info.Sys().(*syscall.Stat_t); ok && s.Uid != 0 && int(s.Uid) != os.Geteuid() {
		return errors.New("it belongs to another user; expected a file of the user who runs wipagent, or of root")
	}
	return nil
}

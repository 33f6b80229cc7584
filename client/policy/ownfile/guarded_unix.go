//go:build unix

package ownfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// guarded reports why somebody else may have written a file, or may read it.
func guarded(info fs.FileInfo, owners Access) error {
	switch mode := info.Mode().Perm(); {
	case mode&fs.FileMode(owners) == 0:
	case owners == Write:
		return fmt.Errorf("others than its owner can write it (mode %04o); run: chmod go-w on it", mode)
	default:
		return fmt.Errorf("others than its owner have access (mode %04o); run: chmod 600 on it, or 640 for a group that may read it", mode)
	}
	if s, ok := info.Sys().(*syscall.Stat_t); ok && s.Uid != 0 && int(s.Uid) != os.Geteuid() {
		return errors.New("it belongs to another user; expected a file of the user who runs wipagent, or of root")
	}
	return nil
}

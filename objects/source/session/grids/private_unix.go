//go:build unix

package grids

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// private reports why a file is not the user's alone.
func private(info fs.FileInfo) error {
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return fmt.Errorf("others than its owner have access (mode %04o); run: chmod 600 on it", mode)
	}
	if s, ok := info.Sys().(*syscall.Stat_t); ok && int(s.Uid) != os.Geteuid() {
		return errors.New("it belongs to another user; expected a file of the user who runs wipagent")
	}
	return nil
}

//go:build unix

package principals

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// guarded reports why a file may hold what its owner did not write, or can be
// read by anybody. A group may read it: that is how a service manager hands a
// file to a service.
func guarded(info fs.FileInfo) error {
	if mode := info.Mode().Perm(); mode&0o027 != 0 {
		return fmt.Errorf("others than its owner have access (mode %04o); run: chmod 600 on it", mode)
	}
	if s, ok := info.Sys().(*syscall.Stat_t); ok && s.Uid != 0 && int(s.Uid) != os.Geteuid() {
		return errors.New("it belongs to another user; expected a file of the user who runs wipagent, or of root")
	}
	return nil
}

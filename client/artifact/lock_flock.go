//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package artifact

import (
	"os"
	"syscall"
)

// lockFile locks a file until it is closed, also by the end of the process. It
// fails if it is locked already.
func lockFile(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}

// dead reports whether the process that locked a file has ended. The file is
// then locked anew.
func dead(f *os.File) bool { return lockFile(f) == nil }

package main

import "golang.org/x/sys/unix"

// discardTyped drops what was typed and not yet read.
func discardTyped(fd int) error { return unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCIFLUSH) }

//go:build unix

package main

import (
	"context"
	"errors"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// readLine reads a line of at most 1 KiB that is typed from now on. When ctx ends
// nobody is left behind who would read what is typed next.
func readLine(ctx context.Context, f *os.File) (string, error) {
	const pause, most = 50, 1 << 10 // milliseconds, bytes
	fd := int(f.Fd())
	// What was typed before the question is no answer to it.
	if err := discardTyped(fd); err != nil {
		return "", err
	}
	ready := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	for {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		switch n, err := unix.Poll(ready, pause); {
		case errors.Is(err, unix.EINTR) || err == nil && n == 0:
			continue
		case err != nil:
			return "", err
		}
		var line [most]byte
		n, err := unix.Read(fd, line[:]) // a terminal hands out whole lines
		switch {
		case errors.Is(err, unix.EINTR) || errors.Is(err, unix.EAGAIN):
			continue
		case err != nil:
			return "", err
		case n == 0:
			return "", io.EOF
		}
		return string(line[:n]), nil
	}
}

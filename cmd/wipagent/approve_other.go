//go:build !unix

package main

import (
	"bufio"
	"context"
	"io"
	"os"
)

// readLine reads a line of at most 1 KiB.
func readLine(ctx context.Context, f *os.File) (string, error) {
	type line struct {
		text string
		err  error
	}
	read := make(chan line, 1)
	go func() { // which an interrupt leaves behind: reading cannot be broken off
		text, err := bufio.NewReader(io.LimitReader(f, 1<<10)).ReadString('\n')
		read <- line{text, err}
	}()
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case l := <-read:
		return l.text, l.err
	}
}

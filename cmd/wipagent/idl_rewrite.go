package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// readDocument returns a document's text, and what its file was when it was read.
func (c *cli) readDocument(path string) ([]byte, os.FileInfo, error) {
	if path == stdin {
		src, err := c.readStdin()
		return src, nil, err
	}
	file, err := openFile(path)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, nil, err
	}
	src, err := io.ReadAll(io.LimitReader(file, maxDocument))
	return src, info, err
}

// rewrite puts a text in place of a file's, whole or not at all, with the
// file's mode. A link goes on to point at the same file. A file that changed
// since it was read, and one that is write-protected, stay as they are.
func rewrite(path string, read os.FileInfo, text []byte) (err error) {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	if read.Mode().Perm()&0o222 == 0 {
		return fmt.Errorf("%s: found a write-protected file, expected one that may be changed", path)
	}
	temp, err := os.CreateTemp(filepath.Dir(target), ".wip-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			temp.Close()
			os.Remove(temp.Name())
		}
	}()
	if _, err := temp.Write(text); err != nil {
		return err
	}
	if err := temp.Chmod(read.Mode().Perm()); err != nil {
		return err
	}
	if err := temp.Sync(); err != nil {
		return err
	}
	if err := temp.Close(); err != nil {
		return err
	}
	now, err := os.Stat(target)
	switch {
	case err != nil:
		return err
	case !os.SameFile(read, now) || !read.ModTime().Equal(now.ModTime()) || read.Size() != now.Size():
		return fmt.Errorf("%s: changed since it was read", path)
	}
	return os.Rename(temp.Name(), target)
}

// diffOf returns the unified diff of a document's text.
func diffOf(path string, before, after []byte) string {
	name := printable(filepath.ToSlash(path))
	return string(diff.Diff("a/"+name, before, "b/"+name, after))
}

// printDiff prints a diff: as it is for programs, and on a terminal without
// what could control it.
func (c *cli) printDiff(text string) {
	if c.io.width == 0 {
		io.WriteString(c.io.out, text)
		return
	}
	colors := map[byte]string{'+': "32", '-': "31", '@': "36"}
	for line := range strings.Lines(text) {
		line = printable(strings.TrimSuffix(line, "\n"))
		if color := colors[(line + " ")[0]]; color != "" && c.color() {
			line = "\x1b[" + color + "m" + line + "\x1b[0m"
		}
		fmt.Fprintln(c.io.out, line)
	}
}

package main

import (
	"crypto/rand"
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
func rewrite(path string, read os.FileInfo, text []byte) error {
	target, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	if read.Mode().Perm()&0o222 == 0 {
		return fmt.Errorf("%s: found a write-protected file, expected one that may be changed", path)
	}
	return replaceFile(target, read.Mode().Perm(), text, func() error {
		now, err := os.Stat(target)
		switch {
		case err != nil:
			return err
		case !os.SameFile(read, now) || !read.ModTime().Equal(now.ModTime()) || read.Size() != now.Size():
			return fmt.Errorf("%s: changed since it was read", path)
		}
		return nil
	})
}

// replaceFile puts a text where a file is, or where none is yet, whole or not
// at all: it is written beside it first, with permissions of which a new file
// gets those that the process may give. What ready reports before the text
// takes its place keeps it out; ready may be nil.
func replaceFile(path string, perm os.FileMode, text []byte, ready func() error) (err error) {
	name := filepath.Join(filepath.Dir(path), ".wip-"+rand.Text())
	temp, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm|0o200)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			temp.Close()
			os.Remove(name)
		}
	}()
	if _, err := temp.Write(text); err != nil {
		return err
	}
	if _, err := os.Stat(path); err == nil { // the umask is for new files
		if err := temp.Chmod(perm); err != nil {
			return err
		}
	}
	if err := temp.Sync(); err != nil {
		return err
	}
	if err := temp.Close(); err != nil {
		return err
	}
	if ready != nil {
		if err := ready(); err != nil {
			return err
		}
	}
	return os.Rename(name, path)
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

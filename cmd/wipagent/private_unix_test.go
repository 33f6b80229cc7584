//go:build unix

package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Whoever can write what is mounted can run commands; whoever can read a token
// can use it. The group of a service may be handed one.
func TestGuarded(t *testing.T) {
	dir := t.TempDir()
	files := map[string]struct {
		text string
		read func(path string) error
	}{
		"mounts": {"[[mount]]\npath = \"/a\"\nworld = \"demo\"\n", func(p string) error { return second(readMounts(p)) }},
		"token":  {"0123456789-c4n4ry\n", func(p string) error { return second(readToken(p)) }},
		"tokens": {"0123456789-c4n4ry robot\n", func(p string) error { return second(readTokens(p)) }},
	}
	const nobody = 65534
	for _, test := range []struct {
		file    string
		mode    fs.FileMode
		foreign bool
		want    string // in the error; empty for none
	}{
		{"mounts", 0o600, false, ""},
		{"mounts", 0o644, false, ""},
		{"mounts", 0o664, false, "others than its owner can write it (mode 0664); run: chmod go-w on it"},
		{"mounts", 0o606, false, "others than its owner can write it"},
		{"mounts", 0o644, true, "it belongs to another user"},
		{"token", 0o600, false, ""},
		{"token", 0o440, false, ""},
		{"token", 0o640, false, ""},
		{"token", 0o660, false, "others than its owner have access (mode 0660); run: chmod 600"},
		{"token", 0o604, false, "others than its owner have access"},
		{"token", 0o400, true, "it belongs to another user"},
		{"tokens", 0o440, false, ""},
		{"tokens", 0o644, false, "others than its owner have access"},
		{"tokens", 0o400, true, "it belongs to another user"},
	} {
		path := filepath.Join(dir, test.file)
		os.Remove(path)
		if err := os.WriteFile(path, []byte(files[test.file].text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, test.mode); err != nil {
			t.Fatal(err)
		}
		if test.foreign && os.Chown(path, nobody, nobody) != nil {
			continue // only the superuser may give a file away
		}
		err := files[test.file].read(path)
		switch {
		case (err == nil) != (test.want == ""), err != nil && !strings.Contains(err.Error(), test.want):
			t.Errorf("%s %04o, foreign %v: found %v, want %q", test.file, test.mode, test.foreign, err, test.want)
		case err != nil && strings.Contains(err.Error(), "c4n4ry"):
			t.Errorf("%s: quotes the file: %v", test.file, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// The scripts' files are not others' to write, whoever runs the tests.
func init() { syscall.Umask(0o022) }

//go:build unix

package ownfile_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/wipagent/wipagent/client/policy/ownfile"
)

func TestRead(t *testing.T) {
	for _, test := range []struct {
		mode   fs.FileMode
		owners ownfile.Access
		limit  int64
		want   string // in the error; empty for none
	}{
		{0o600, ownfile.Secret, 6, ""},
		{0o440, ownfile.Secret, 6, ""},
		{0o644, ownfile.Write, 6, ""},
		{0o644, ownfile.Secret, 6, "others than its owner have access (mode 0644)"},
		{0o660, ownfile.Secret, 6, "others than its owner have access"},
		{0o620, ownfile.Write, 6, "others than its owner can write it (mode 0620)"},
		{0o602, ownfile.Write, 6, "others than its owner can write it"},
		{0o600, ownfile.Write, 5, "found more than 5 bytes"},
	} {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte("c4n4ry"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, test.mode); err != nil {
			t.Fatal(err)
		}
		text, err := ownfile.Read(path, test.limit, test.owners)
		switch {
		case test.want == "" && (err != nil || string(text) != "c4n4ry"):
			t.Errorf("%04o: found %q, %v", test.mode, text, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "c4n4ry")):
			t.Errorf("%04o: found error %v, want %q", test.mode, err, test.want)
		}
	}
}

// What could block or has no end is not opened.
func TestReadPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	if _, err := ownfile.Read(pipe, 1, ownfile.Write); err == nil || !strings.Contains(err.Error(), "something else than a file") {
		t.Errorf("a pipe: found %v", err)
	}
}

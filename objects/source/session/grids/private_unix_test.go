//go:build unix

package grids_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/wipagent/wipagent/objects/source/session/grids"
)

func TestPasswordFromPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	if _, err := grids.Password(t.Context(), &grids.Account{PasswordFile: pipe}, environment()); err == nil || !strings.Contains(err.Error(), "regular file") {
		t.Errorf("found %v, want a refusal and no wait", err)
	}
}

func TestPasswordOfAnother(t *testing.T) {
	path := filepath.Join(t.TempDir(), "password")
	write(t, path, "pw", 0o600)
	const nobody = 65534
	if err := os.Chown(path, nobody, nobody); err != nil {
		t.Skip(err) // only the superuser may give a file away
	}
	if _, err := grids.Password(t.Context(), &grids.Account{PasswordFile: path}, environment()); err == nil || !strings.Contains(err.Error(), "another user") {
		t.Errorf("found %v, want a refusal", err)
	}
}

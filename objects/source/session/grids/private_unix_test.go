//go:build unix

package grids_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/wipagent/wipagent/objects/source/session/grids"
	"github.com/wipagent/wipagent/objects/source/session/secret"
)

func TestPasswordFromPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	if _, err := grids.Password(t.Context(), &grids.Account{PasswordFile: pipe}, environment()); err == nil || !strings.Contains(err.Error(), "found a pipe, expected a regular file") {
		t.Errorf("found %v, want a refusal and no wait", err)
	}
}

// What cannot be kept is named, with what it is for and what to do.
func TestFolderThatCannotBeWritten(t *testing.T) {
	const dir = "/proc/self/fdinfo" // where not even the superuser makes files
	if _, err := os.Stat(dir); err != nil {
		t.Skip(err)
	}
	c, err := grids.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = c.MachineIDs()
	for _, want := range []string{dir + "/machine-id", "every login", "WIPAGENT_CONFIG"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, want %q in it", err, want)
		}
	}
	account, _ := grids.NewAccount("Test User")
	err = c.SetMFAHash(grids.Grid{LoginURI: "http://h/"}, account, secret.New("c4n4ry"))
	for _, want := range []string{dir + "/mfa", "one-time code", "WIPAGENT_CONFIG"} {
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "c4n4ry") {
			t.Errorf("found %v, want %q in it", err, want)
		}
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

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestGitIsMissing asks for a ref where there is no git.
func TestGitIsMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := gitState(t.Context(), "main", []string{"."})
	var exit *exitError
	if !errors.As(err, &exit) || exit.code != exitUnavailable || !strings.Contains(err.Error(), "git, which is not installed here") {
		t.Errorf("got %v, expected that git is missing", err)
	}
}

// TestDocumentsIn reads a list of files that wants to be written elsewhere.
func TestDocumentsIn(t *testing.T) {
	const id = "0123456789012345678901234567890123456789"
	tree := strings.Join([]string{
		"100644 blob " + id + "      12\tdoor.wip",
		"100755 blob " + id + "       3\tsub/a b\t.wip",
		"100644 blob " + id + "       0\tsub/wip.toml",
		"100644 blob " + id + "      12\tREADME.md",
		"100644 blob " + id + "      12\t../outside.wip",
		"100644 blob " + id + "      12\t/etc/outside.wip",
		"100644 blob " + id + "      12\tsub/../../outside.wip",
		"100644 blob " + id + "       -\tno-size.wip",
		"120000 blob " + id + "      12\tlink.wip",
		"160000 commit " + id + "       -\tmodule.wip",
		"nonsense",
		"",
	}, "\x00")
	got, err := documentsIn([]byte(tree))
	want := []blob{{"door.wip", id, 12}, {"sub/a b\t.wip", id, 3}, {"sub/wip.toml", id, 0}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(blob{})); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	for _, large := range []string{
		"100644 blob " + id + " 5000000\tlarge.wip\x00",
		strings.Repeat("100644 blob "+id+" 4000000\tmany.wip\x00", 17),
	} {
		if got, err := documentsIn([]byte(large)); err == nil {
			t.Errorf("got %d documents, expected that they are too large", len(got))
		}
	}
}

// TestOldStateUnreadable asks for old documents in folders that may not be
// looked into.
func TestOldStateUnreadable(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{"new", filepath.Join("old", "inner")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "door.wip"), []byte("package house;"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { os.Chmod("old", 0o700) })
	for _, mode := range []os.FileMode{0, 0o400, 0o100} {
		if err := os.Chmod("old", mode); err != nil {
			t.Fatal(err)
		}
		_, list := os.ReadDir("old")
		if _, look := os.Stat(filepath.Join("old", "inner")); list == nil && look == nil {
			t.Skip("no folder is closed to whoever runs this")
		}
		for _, args := range [][]string{{"old", "new"}, {"old", filepath.Join("new", "door.wip")}, {filepath.Join("old", "inner"), "new"}} {
			if mode == 0o100 && args[0] != "old" {
				continue // this is how to get at what is in it
			}
			var out, errs strings.Builder
			c := &cli{io: streams{out: &out, err: &errs}}
			err := (&idlBreakingCmd{Against: args[0], Files: args[1:]}).Run(t.Context(), c)
			var exit *exitError
			if !errors.As(err, &exit) || exit.code != exitUnavailable || !errors.Is(err, os.ErrPermission) {
				t.Errorf("%q in a folder of mode %o: got %v and %q, expected what may not be read", args, mode, err, out.String())
			}
		}
	}
}

package main

import (
	"errors"
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

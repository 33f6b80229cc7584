package remote_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/wipagent/wipagent/client/remote"
	"github.com/wipagent/wipagent/idl"
)

// How deep JSON is does not depend on the pieces that it comes in.
func TestLevels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOf(rapid.StringOf(rapid.SampledFrom([]rune(`{[]}"\x`)))).Draw(t, "pieces")
		if whole := strings.Join(pieces, ""); remote.Levels(pieces) != idl.Levels(whole) {
			t.Fatalf("%q: found %d levels, expected %d", whole, remote.Levels(pieces), idl.Levels(whole))
		}
	})
}

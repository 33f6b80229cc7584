package space_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/space"
)

const radar = `package radar;
interface Old {
  /// Who is here.
  @read_only @alias("who is here now", "here now", "radar") @deprecated("use nearby of the radar, see http://evil.example")
  near() -> list<uuid>;
  @read_only
  list_all() -> list<uuid>;
}
interface New {
  /// Avatars around, whoever is here.
  @read_only @alias("who is around", "avatars here", de: "wer ist hier", fr: "qui est là")
  nearby() -> list<uuid>;
}
`

func radarView(t *testing.T) *space.View {
	t.Helper()
	h := newHost(map[string]string{"radar.wip": radar}, folder("/", "Tools"),
		object("/a_old", "Radar", "radar.wip", "Old"), object("/new", "Other", "radar.wip", "New"))
	return lampSpace(t, h, nil).View(all)
}

// TestDeprecatedRanksLast asks in words of a deprecated operation.
func TestDeprecatedRanksLast(t *testing.T) {
	f := radarView(t).Search(t.Context(), "", "who is around, tell me who is here now")
	var got []space.OperationHit
	for _, h := range f.Hits {
		got = append(got, h.Operations...)
	}
	want := []space.OperationHit{
		{Name: "nearby", Signature: "nearby() -> list<uuid>"},
		{Name: "near", Signature: "near() -> list<uuid>", Deprecated: "use nearby of the radar, see [link removed]"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// Where it is all that fits, it is found.
	f = radarView(t).Search(t.Context(), "", "radar")
	if len(f.Hits) == 0 || f.Hits[0].Operations[0].Deprecated == "" && f.Hits[0].Operations[0].Name != "list_all" {
		t.Errorf("got %+v, expected the deprecated operation", f)
	}
	// Among the operations of an entry it stands last.
	f = radarView(t).Search(t.Context(), "", "")
	for _, h := range f.Hits {
		if strings.HasSuffix(h.Path, "/a_old") && (len(h.Operations) != 2 || h.Operations[0].Name != "list_all") {
			t.Errorf("got %+v, expected the deprecated operation last", h.Operations)
		}
	}
}

// TestAliasesOfAnyLanguage asks in the languages that aliases are in.
func TestAliasesOfAnyLanguage(t *testing.T) {
	for _, query := range []string{"who is around", "Wer ist hier?", "qui est là"} {
		if got := first(radarView(t).Search(t.Context(), "", query)); !strings.HasSuffix(got, "/new#nearby strong") {
			t.Errorf("%q brings %s, expected nearby", query, got)
		}
	}
}

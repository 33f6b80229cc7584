package adapter_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/wipagent/wipagent/adapter"
	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/objects"
	"github.com/wipagent/wipagent/objects/source/demo"
	"github.com/wipagent/wipagent/objects/world"
)

// grid returns a client with the demo grid mounted.
func grid(t *testing.T) *client.Client {
	t.Helper()
	w := world.New()
	w.Apply(demo.New(nil).Open(time.Now())...)
	c := client.New(nil)
	if err := c.Mount(t.Context(), "/grid", objects.New(w, nil), &client.MountOptions{Trusted: true}); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestNothingTellsOfTheOwnersThings reads all that public chat can be shown of
// the grid: no title, summary or documentation may tell of the operations that
// are hidden from it. The owner is told of them by the same words.
func TestNothingTellsOfTheOwnersThings(t *testing.T) {
	c := grid(t)
	told := func(p *policy.Principal) string {
		var shown strings.Builder
		show := func(tool, arguments string) {
			answer, _ := adapter.New(adapter.Config{Client: c}).Call(t.Context(), p, tool, "", json.RawMessage(arguments))
			shown.Write(answer.JSON)
			shown.WriteByte('\n')
		}
		for _, target := range []string{"/", "/grid", "/grid/agent", "/grid/region", "/grid/parcel", "/grid/agent#agent_state"} {
			show("inspect", fmt.Sprintf(`{"target":%q}`, target))
		}
		for _, query := range []string{"who was in touch with me", "what do I own", "an item among my belongings", "tea", "who is here", "my position"} {
			show("discover", fmt.Sprintf(`{"query":%q}`, query))
		}
		return strings.ToLower(shown.String())
	}
	public, owner := told(&policy.Principal{ID: "public", Audience: idl.PublicChat}), told(operator)
	for _, word := range []string{"nearby_avatars", "position", "health"} {
		if !strings.Contains(public, word) {
			t.Errorf("public chat is not told of %q: the test shows too little", word)
		}
	}
	for _, word := range []string{"inventory", "landmark", "participant", "in touch", "lately", "owns"} {
		if !strings.Contains(owner, word) {
			t.Errorf("the owner is not told of %q: the test looks for nothing", word)
		}
		for line := range strings.Lines(public) {
			if strings.Contains(line, word) {
				t.Errorf("public chat is told of %q:\n%s", word, line)
				break
			}
		}
	}
}

package space_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space"
)

// counted is Words, and counts what is indexed.
type counted struct {
	space.Words
	anew, after int
}

func (c *counted) Index(candidates []space.Candidate, was space.Index) space.Index {
	if was == nil {
		c.anew++
	} else {
		c.after++
	}
	return c.Words.Index(candidates, was)
}

// TestFollow checks when a space's index is made: anew once, not at all where tags
// alone have changed, and else of the one before.
func TestFollow(t *testing.T) {
	r := &counted{}
	h := lampHost()
	s := lampSpace(t, h, &space.Config{Ranker: r})
	s.View(all)
	for i, step := range []struct {
		name        string
		change      func()
		anew, after int
	}{
		{"nothing", func() {}, 1, 0},
		{"a tag", func() {
			e := h.entries["/hall/lamp"]
			e.Tag = "other"
			h.entries[e.Path] = e
		}, 1, 0},
		{"a title", func() {
			e := h.entries["/hall/lamp"]
			e.Title = "Chandelier"
			h.entries[e.Path] = e
		}, 1, 1},
		{"an entry", func() { h.entries["/hall/stove"] = object("/hall/stove", "Stove", "lamp.wip", "Lamp") }, 1, 2},
		{"no entry", func() { delete(h.entries, "/hall/lamp") }, 1, 3},
	} {
		step.change()
		refresh(t, s)
		for range 2 {
			s.View(all)
		}
		if r.anew != step.anew || r.after != step.after {
			t.Errorf("%d, %s: indexed %d times anew and %d times after another, expected %d and %d", i, step.name, r.anew, r.after, step.anew, step.after)
		}
	}
	fresh := lampSpace(t, h, nil).View(all)
	for _, query := range []string{"chandelier", "switch the stove", "hall lamp", "color", ""} {
		if diff := cmp.Diff(fresh.Search(t.Context(), "", query), s.View(all).Search(t.Context(), "", query), ageless); diff != "" {
			t.Errorf("%q is answered otherwise than by a new space:\n%s", query, diff)
		}
	}
}

// TestFollowAudience checks that nothing of what another audience may see shows in
// a View that was made after its (T9).
func TestFollowAudience(t *testing.T) {
	h, bare := lampHost(), lampHost()
	h.entries["/hall/vault"] = object("/hall/vault", "Vault of rubies", "lamp.wip", "Mounted")
	seen := func(n *space.Node, _ *idl.Operation) bool { return n.Path != "/house/hall/vault" }
	s := lampSpace(t, h, nil)
	s.ViewAs("owner", all)
	after, without := s.ViewAs("guest", seen), lampSpace(t, bare, nil).View(all)
	for _, query := range []string{"vault", "vualt", "rubies", "rubie", "vaultof", "hall lamp", "the hall vault lamp", "house"} {
		for _, scope := range []string{"/", "/house/hall", "/house/hall/vault"} {
			if diff := cmp.Diff(without.Search(t.Context(), scope, query), after.Search(t.Context(), scope, query), ageless); diff != "" {
				t.Errorf("%q in %s is answered otherwise than where nothing is hidden:\n%s", query, scope, diff)
			}
		}
	}
}

// TestFollowMuch changes more than an index follows, step by step and at once.
func TestFollowMuch(t *testing.T) {
	h := lampHost()
	s := lampSpace(t, h, nil)
	s.View(all)
	for step, most := range []int{100, 200, 300, 900, 20, 0} {
		for i := range 900 {
			p := fmt.Sprintf("/room/%03d", i)
			if delete(h.entries, p); i < most {
				h.entries[p] = object(p, fmt.Sprintf("Lamp %d of step %d", i, step), "lamp.wip", "Lamp")
			}
		}
		refresh(t, s)
		fresh := lampSpace(t, h, nil).View(all)
		for _, query := range []string{"lamp 7", "step 3", "switch the hall lamp", fmt.Sprintf("stpe %d", step)} {
			if diff := cmp.Diff(fresh.Search(t.Context(), "", query), s.View(all).Search(t.Context(), "", query), ageless); diff != "" {
				t.Errorf("with %d rooms, %q is answered otherwise than by a new space:\n%s", most, query, diff)
			}
		}
	}
}

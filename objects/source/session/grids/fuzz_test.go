package grids_test

import (
	"errors"
	"testing"

	"github.com/wipagent/wipagent/objects/source/session/grids"
)

func FuzzLoad(f *testing.F) {
	for _, seed := range []string{"", whole, bot, "[[grids]]\nx = 1", "grids.a.login_uri = \"http://h\"", "accounts = {a = {grid = \"agni\", name = \"x\"}}"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := grids.Parse(text)
		if err != nil {
			var e *grids.Error
			if !errors.As(err, &e) || e.Line < 0 || e.Message == "" {
				t.Fatalf("found %#v, want an *Error", err)
			}
			return
		}
		for _, g := range c.Grids() {
			if again, _, err := c.Find(g.LoginURI); err != nil || again.LoginURI != g.LoginURI {
				t.Errorf("%+v is found again as %+v, %v", g, again, err)
			}
			if found, a, err := c.Find(g.Name); err != nil || found != g || a != nil && a.Grid != g.Name {
				t.Errorf("%+v is found by name as %+v and %+v, %v", g, found, a, err)
			}
		}
		for _, a := range c.Accounts() {
			g, found, err := c.Find(a.Name)
			if err != nil || *found != a || g.Name != a.Grid {
				t.Errorf("%+v is found as %+v on %+v, %v", a, found, g, err)
			}
			if a.First == "" || a.Last == "" || grids.CheckStart(a.Start) != nil || a.DrawDistance < 32 || a.DrawDistance > 256 {
				t.Errorf("%+v was let pass", a)
			}
		}
	})
}

package conformance_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wipagent/wipagent/client/remote"
	"github.com/wipagent/wipagent/client/remote/conformance"
	"github.com/wipagent/wipagent/objects"
	"github.com/wipagent/wipagent/objects/source/demo"
	"github.com/wipagent/wipagent/objects/world"
	"github.com/wipagent/wipagent/space/wip"
)

// complaints lists what a report finds.
func complaints(r *conformance.Report) string {
	var b strings.Builder
	for _, rule := range r.Failed() {
		for _, f := range rule.Findings {
			fmt.Fprintf(&b, "%s: %s: %s\n", rule.ID, f.Where, f.Found)
		}
	}
	return b.String()
}

// Sound Hosts break no rule, and nearly all rules are looked at.
func TestSound(t *testing.T) {
	w := world.New()
	w.Apply(demo.New(nil).Open(time.UnixMilli(1_700_000_000_000))...)
	grid := objects.New(w, nil)
	across := func(host wip.Host) wip.Host {
		server := httptest.NewServer(remote.NewHandler(host, nil))
		t.Cleanup(server.Close)
		h, err := remote.Dial(t.Context(), server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { h.Close() })
		return h
	}
	for name, test := range map[string]struct {
		host    wip.Host
		skipped string
	}{
		"grid":                {grid, "handshake tree-since tree-since-unknown dry-run idempotency-key"},
		"grid over HTTP":      {across(grid), "dry-run idempotency-key"},
		"lamps":               {newLamps(), "handshake tree-since tree-since-unknown"},
		"lamps over HTTP":     {across(newLamps()), ""},
		"lamps that may stay": {newLamps(), "handshake tree-since tree-since-unknown idempotency-key"},
	} {
		t.Run(name, func(t *testing.T) {
			r := conformance.Check(t.Context(), test.host, conformance.Options{Mutate: name != "lamps that may stay"})
			if found := complaints(r); found != "" {
				t.Error(found)
			}
			var skipped []string
			for _, rule := range r.Rules {
				if rule.Status == "skip" {
					skipped = append(skipped, rule.ID)
				}
				if (rule.Why != "") != (rule.Status == "skip") {
					t.Errorf("%s: %s, why: %q", rule.ID, rule.Status, rule.Why)
				}
			}
			if got := strings.Join(skipped, " "); got != test.skipped {
				t.Errorf("skipped %s, expected %s", got, test.skipped)
			}
		})
	}
}

// Nothing is done for real that was not allowed.
func TestNothingIsDone(t *testing.T) {
	l := newLamps()
	conformance.Check(t.Context(), l, conformance.Options{})
	if len(l.lit) != 0 {
		t.Errorf("found lit lamps: %v", l.lit)
	}
}

// Each broken Host is told exactly its fault.
func TestBroken(t *testing.T) {
	told := map[string]bool{}
	for _, test := range brokenHosts {
		told[test.rule] = true
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := conformance.Check(t.Context(), test.make(), conformance.Options{Mutate: true})
				failed := r.Failed()
				if len(failed) != 1 || failed[0].ID != test.rule {
					t.Errorf("expected findings of %s alone, found:\n%s", test.rule, complaints(r))
				}
				time.Sleep(time.Minute) // until what the Host has left running is over
			})
		})
	}
	for _, rule := range conformance.Rules() {
		if !told[rule.ID] {
			t.Errorf("no Host breaks %s", rule.ID)
		}
	}
}

// A tree without an end is no trap.
func TestEndlessTree(t *testing.T) {
	kids := make([]wip.Tree, 3)
	for i := range kids {
		kids[i] = wip.Tree{Entry: wip.Entry{Path: "/hall"}, Children: kids}
	}
	host := &broken{lamps: newLamps(), tree: func(tree wip.Tree) wip.Tree {
		tree.Children = kids
		return tree
	}}
	if found := complaints(conformance.Check(t.Context(), host, conformance.Options{})); !strings.Contains(found, "tree-ends: ") {
		t.Errorf("found:\n%s", found)
	}
}

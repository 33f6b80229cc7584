package client_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/idl"
)

// everything lists the operations that the fake Host has.
var everything = []string{
	"/shop/shelf#list_things", "/shop/shelf#related_things", "/shop/shelf#slow", "/shop/purse#balance", "/shop/till#pay",
}

// TestOneDecision proves B3: for any principal the three verbs agree on what
// there is.
func TestOneDecision(t *testing.T) {
	host := &fakeHost{call: answer(`1`)}
	c, _ := open(t, host, client.Config{})
	rapid.Check(t, func(rt *rapid.T) {
		p := &policy.Principal{
			ID:       "p",
			Audience: idl.Audience(rapid.IntRange(0, int(idl.SchedulerRun)).Draw(rt, "audience")),
			Grants:   rapid.SliceOfDistinct(rapid.SampledFrom(everything), rapid.ID).Draw(rt, "grants"),
		}
		if rapid.Bool().Draw(rt, "narrowed") {
			p.Intent = rapid.SliceOfDistinct(rapid.SampledFrom(everything), rapid.ID).Draw(rt, "intent")
		}
		var invocable, inspectable, listed []string
		for _, name := range everything {
			path, operation, _ := strings.Cut(name, "#")
			_, err := c.Invoke(t.Context(), p, call(path, operation, `{"no such field":1}`))
			if e := failure(t, err); e.Class != client.NotFound {
				invocable = append(invocable, name)
			}
			if found, err := c.Inspect(t.Context(), p, name); err == nil && found.Operations[0].Name == operation {
				inspectable = append(inspectable, name)
			}
			if found, err := c.Inspect(t.Context(), p, path); err == nil {
				for _, op := range found.Operations {
					if op.Name == operation {
						listed = append(listed, name)
					}
				}
			}
		}
		var discovered []string
		for _, query := range []string{"list things on the shelf", "related things like another", "slow long time", "balance in the purse", "pay the till"} {
			found, err := c.Discover(t.Context(), p, "/", query)
			if err != nil {
				rt.Fatal(err)
			}
			for _, hit := range found.Hits {
				for _, op := range hit.Operations {
					if name := policy.Name(hit.Path, op.Name); !slices.Contains(discovered, name) {
						discovered = append(discovered, name)
					}
				}
			}
			for _, name := range everything {
				_, operation, _ := strings.Cut(name, "#")
				if !slices.Contains(invocable, name) && strings.Contains(found.Map, operation) {
					rt.Errorf("the map shows %s, which cannot be invoked", name)
				}
			}
		}
		slices.Sort(discovered)
		want := slices.Sorted(slices.Values(invocable))
		for verb, got := range map[string][]string{"inspect of the operation": inspectable, "inspect of the entry": listed, "discover": discovered} {
			if slices.Sort(got); !slices.Equal(got, want) {
				rt.Errorf("%s shows %v, invoke can call %v", verb, got, want)
			}
		}
		for _, name := range invocable {
			if p.Intent != nil && !slices.Contains(p.Intent, name) {
				rt.Errorf("%s passes the intent filter %v", name, p.Intent)
			}
		}
	})
}

// TestHiddenIsAbsent compares, byte for byte, what a visitor is told of the
// owner's purse with what it is told of paths that never were, by each verb and
// for many ways to ask.
func TestHiddenIsAbsent(t *testing.T) {
	host := &fakeHost{call: answer(`1`)}
	c, log := open(t, host, client.Config{})
	for _, ask := range []func(path string) (any, error){
		func(path string) (any, error) { return c.Inspect(t.Context(), visitor, path) },
		func(path string) (any, error) { return c.Inspect(t.Context(), visitor, path+"#balance") },
		func(path string) (any, error) { return c.Inspect(t.Context(), visitor, path+"/") },
		func(path string) (any, error) { return c.Invoke(t.Context(), visitor, call(path, "balance", `{}`)) },
		func(path string) (any, error) { return c.Invoke(t.Context(), visitor, call(path, "balanc", `{"x":1}`)) },
		func(path string) (any, error) {
			return c.Invoke(t.Context(), visitor, call(path, "balance", `nonsense`))
		},
		func(path string) (any, error) { return c.Discover(t.Context(), visitor, path, "what is in it") },
	} {
		text := func(path string) string {
			host.fetches.Store(0)
			out, err := ask(path)
			var raw []byte
			if err != nil {
				raw, err = json.Marshal(err)
			} else {
				raw, err = json.Marshal(out)
			}
			if err != nil {
				t.Fatal(err)
			}
			return string(raw)
		}
		hidden := text("/shop/purse")
		fetches := host.fetches.Load()
		for _, absent := range []string{"/shop/pouch", "/shop/chest", "/shop/xurse"} {
			if got := text(absent); got != hidden {
				t.Errorf("a hidden entry answers\n%s\nand an absent one\n%s", hidden, got)
			}
			if got := host.fetches.Load(); got != fetches {
				t.Errorf("a hidden entry costs %d questions to the Host and an absent one %d", fetches, got)
			}
		}
	}
	if host.calls.Load() != 0 {
		t.Error("a hidden operation reached the Host")
	}
	if strings.Contains(log.String(), "purse") || strings.Contains(log.String(), "pouch") {
		t.Errorf("the log names what the caller asked for in vain:\n%s", log)
	}
	for _, query := range []string{"balance", "purse", "what is in the owner's purse"} {
		found, err := c.Discover(t.Context(), visitor, "/", query)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(found)
		if err != nil {
			t.Fatal(err)
		}
		if s := string(raw); strings.Contains(s, "urse") || strings.Contains(s, "balance") {
			t.Errorf("discover %q tells of what is hidden: %s", query, s)
		}
	}
	// The owner does see it: the test above looks at something real.
	if _, err := c.Invoke(t.Context(), owner, call("/shop/purse", "balance", `{}`)); err != nil {
		t.Error(err)
	}
}

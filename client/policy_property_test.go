package client_test

import (
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/idl"
)

// TestPolicyEqual proves B3 for generated mount rules, principals and
// operations: of each operation, that it is discovered, listed, inspected,
// described, invoked and explained as allowed are one answer. WIPAGENT_RUNS says
// how many are generated, by default some.
func TestPolicyEqual(t *testing.T) {
	host := &fakeHost{call: answer(`1`)}
	if runs := os.Getenv("WIPAGENT_RUNS"); runs != "" {
		checks := flag.Lookup("rapid.checks")
		before := checks.Value.String()
		if err := checks.Value.Set(runs); err != nil {
			t.Fatal(err)
		}
		defer checks.Value.Set(before)
	}
	seen := map[policy.Rule]int{}
	rapid.Check(t, func(rt *rapid.T) {
		m, p := drawMount(rt), drawPrincipal(rt)
		c := client.New(nil)
		if err := c.Mount(t.Context(), "/shop", host, &client.MountOptions{Trusted: true, Policy: *m}); err != nil {
			rt.Fatal(err)
		}
		explained, err := c.Explain(t.Context(), p, "/")
		if err != nil || len(explained) != len(everything) {
			rt.Fatalf("explain tells of %d operations (%v), want %d", len(explained), err, len(everything))
		}
		catalog, discovered := names(c.Catalog(p)), discoveredBy(rt, c, p)
		for _, e := range explained {
			name := policy.Identify(e.Node.Path, e.Node.Interfaces, e.Operation.Operation)
			seen[e.Decision.Hides]++
			want := e.Decision.Allowed()
			if allowed := expected(m, p, name, e.Operation.Operation); allowed != want {
				rt.Errorf("%s: %s, want allowed %v", name, e.Decision, allowed)
			}
			_, err := c.Invoke(t.Context(), p, call(e.Node.Path, e.Operation.Name, `{"no such field":1}`))
			one, oneErr := c.Inspect(t.Context(), p, name)
			entry, entryErr := c.Inspect(t.Context(), p, e.Node.Path)
			for verb, got := range map[string]bool{
				"invoke":   failure(t, err).Class != client.NotFound,
				"inspect":  oneErr == nil && one.Operations[0].Operation == e.Operation.Operation,
				"an entry": entryErr == nil && slices.ContainsFunc(entry.Operations, func(op client.Operation) bool { return op.Operation == e.Operation.Operation }),
				"catalog":  slices.Contains(catalog, name),
				"discover": slices.Contains(discovered, name),
			} {
				if got != want {
					rt.Errorf("%s shows %s: %v, and the decision is %q", verb, name, got, e.Decision)
				}
			}
		}
	})
	for _, rule := range []policy.Rule{"", policy.MountAudience, policy.MountAllow, policy.MountDeny, policy.Grant, policy.Audience, policy.Intent} {
		if seen[rule] == 0 {
			t.Errorf("no operation was hidden by %q: %v", rule, seen)
		}
	}
}

// drawMount generates the rules of a mount; one in three has none.
func drawMount(rt *rapid.T) *policy.Mount {
	m := &policy.Mount{}
	if rapid.IntRange(0, 2).Draw(rt, "rules") == 0 {
		return m
	}
	rules := rapid.SampledFrom([]string{
		"Shelf.list_things", "Shelf.related_things", "Shelf.slow", "Shelf.*", "Purse.balance", "Purse.*", "Till.pay", "Till.*", "Shelf", "*", "Shelf.pay",
	})
	if rapid.Bool().Draw(rt, "mount's audience") {
		m.Audience = idl.Audience(rapid.IntRange(0, int(idl.SchedulerRun)).Draw(rt, "lowest"))
	}
	if rapid.Bool().Draw(rt, "allows") {
		m.Allow = rapid.SliceOfDistinct(rules, rapid.ID).Draw(rt, "allow")
	}
	m.Deny = rapid.SliceOfNDistinct(rules, 0, 2, rapid.ID).Draw(rt, "deny")
	return m
}

// drawPrincipal generates a caller.
func drawPrincipal(rt *rapid.T) *policy.Principal {
	operations := rapid.SampledFrom(append([]string{"/shop/shelf#Shelf.slow", "/shop/till#Purse.pay", "/shop/shelf#pay", "/else#pay", ""}, everything...))
	p := &policy.Principal{
		ID:       "p",
		Audience: idl.Audience(rapid.IntRange(0, int(idl.SchedulerRun)).Draw(rt, "audience")),
		Grants:   rapid.SliceOfDistinct(operations, rapid.ID).Draw(rt, "grants"),
	}
	if rapid.IntRange(0, 2).Draw(rt, "narrowed") == 0 {
		p.Intent = rapid.SliceOfDistinct(operations, rapid.ID).Draw(rt, "intent")
	}
	return p
}

// expected is the policy as spec/client.md tells it, written anew.
func expected(m *policy.Mount, p *policy.Principal, name string, op *idl.Operation) bool {
	in := func(list []string, names ...string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return slices.Contains(list, n) })
	}
	path, _, _ := strings.Cut(name, "#")
	full := op.Interface.Name + "." + op.Name
	rule := []string{full, op.Interface.Name + ".*"}
	scheduler := p.Audience == idl.SchedulerRun
	audience := p.Audience > 0 && p.Audience >= op.Audience && p.Audience >= m.Audience
	if scheduler {
		audience = in(p.Grants, name, path+"#"+full)
	}
	return audience && (m.Allow == nil || in(m.Allow, rule...)) && !in(m.Deny, rule...) &&
		(p.Intent == nil || in(p.Intent, name, path+"#"+full))
}

// discoveredBy lists what discover tells a caller of, asked for each operation.
func discoveredBy(rt *rapid.T, c *client.Client, p *policy.Principal) []string {
	var list []string
	for _, query := range []string{"list things on the shelf", "related things like another", "slow long time", "balance in the purse", "pay the till"} {
		found, err := c.Discover(rt.Context(), p, "/", query)
		if err != nil {
			rt.Fatal(err)
		}
		for _, hit := range found.Hits {
			for _, op := range hit.Operations {
				list = append(list, policy.Name(hit.Path, op.Name))
			}
		}
	}
	return list
}

// TestExplain tells an operator of one operation, of an entry that cannot be
// discovered, and of what is not there.
func TestExplain(t *testing.T) {
	c, _ := open(t, &fakeHost{call: answer(`1`)}, client.Config{})
	type row struct {
		Name     string
		Hides    policy.Rule
		Approval bool
	}
	for target, want := range map[string][]row{
		"/shop/till":           {{"/shop/till#pay", "", true}},
		"/shop/purse":          {{"/shop/purse#balance", policy.Audience, false}},
		"/shop/shelf#slow":     {{"/shop/shelf#slow", "", false}},
		"/shop/more/1#slow":    {{"/shop/more/1#slow", "", false}},
		"/shop/shelf#Till.pay": nil,
		"/shop/shel":           nil,
		"/shop/none":           nil,
		"/none#pay":            nil,
	} {
		list, err := c.Explain(t.Context(), visitor, target)
		var got []row
		for _, e := range list {
			got = append(got, row{policy.Name(e.Node.Path, e.Operation.Name), e.Decision.Hides, e.NeedsApproval()})
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", target, diff)
		}
		if want == nil && failure(t, err).Class != client.NotFound {
			t.Errorf("%s: %v", target, err)
		}
	}
	if raw, err := json.Marshal(failure(t, second(c.Explain(t.Context(), visitor, "/none")))); err != nil || strings.Contains(string(raw), "none") {
		t.Errorf("an error repeats the target: %s, %v", raw, err)
	}
}

func second[T any](_ T, err error) error { return err }

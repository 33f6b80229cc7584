package client_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space/wip"
)

func names(list []client.Listed) []string {
	out := []string{}
	for _, l := range list {
		out = append(out, policy.Name(l.Node.Path, l.Operation.Name))
	}
	return out
}

// TestCatalog lists what two mounted shops offer to callers of each kind.
func TestCatalog(t *testing.T) {
	c, log := open(t, &fakeHost{call: answer(`1`)}, client.Config{})
	other := &fakeHost{call: answer(`1`)}
	if err := c.Mount(t.Context(), "/a", other, nil); err != nil {
		t.Fatal(err)
	}
	fetches := other.fetches.Load()
	for name, test := range map[string]struct {
		p    *policy.Principal
		want []string
	}{
		"nobody": {&policy.Principal{}, []string{}},
		"a visitor": {visitor, []string{
			"/a/shelf#list_things", "/a/shelf#related_things", "/a/shelf#slow", "/a/till#pay",
			"/shop/shelf#list_things", "/shop/shelf#related_things", "/shop/shelf#slow", "/shop/till#pay",
		}},
		"narrowed": {&policy.Principal{Audience: idl.PublicChat, Intent: []string{"/shop/till#pay", "/a/shelf#slow", "/shop/purse#balance"}}, []string{"/a/shelf#slow", "/shop/till#pay"}},
		"granted":  {&policy.Principal{Audience: idl.SchedulerRun, Grants: []string{"/shop/purse#balance"}}, []string{"/shop/purse#balance"}},
	} {
		if diff := cmp.Diff(test.want, names(c.Catalog(test.p))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if log.Len() != 0 || other.fetches.Load() != fetches {
		t.Error("the catalog asked a Host or wrote a record")
	}
}

// TestCatalogIsTheOneDecision proves B3 for the catalog: it lists what invoke
// does not hide.
func TestCatalogIsTheOneDecision(t *testing.T) {
	c, _ := open(t, &fakeHost{call: answer(`1`)}, client.Config{})
	rapid.Check(t, func(rt *rapid.T) {
		p := &policy.Principal{
			Audience: idl.Audience(rapid.IntRange(0, int(idl.SchedulerRun)).Draw(rt, "audience")),
			Grants:   rapid.SliceOfDistinct(rapid.SampledFrom(everything), rapid.ID).Draw(rt, "grants"),
		}
		if rapid.Bool().Draw(rt, "narrowed") {
			p.Intent = rapid.SliceOfDistinct(rapid.SampledFrom(everything), rapid.ID).Draw(rt, "intent")
		}
		listed := names(c.Catalog(p))
		for _, l := range []struct{ path, operation, name string }{
			{"/shop/shelf", "list_things", everything[0]}, {"/shop/shelf", "related_things", everything[1]}, {"/shop/shelf", "slow", everything[2]},
			{"/shop/purse", "balance", everything[3]}, {"/shop/till", "pay", everything[4]},
		} {
			_, err := c.Invoke(t.Context(), p, call(l.path, l.operation, `{"no such field":1}`))
			if hidden := failure(t, err).Class == client.NotFound; hidden == slices.Contains(listed, l.name) {
				rt.Errorf("%s is hidden from invoke: %v, and listed: %v", l.name, hidden, !hidden)
			}
		}
	})
}

func TestStrangers(t *testing.T) {
	c, _ := open(t, &fakeHost{call: answer(`1`)}, client.Config{})
	if c.Strangers(owner) {
		t.Error("a Host that is vouched for is called a stranger")
	}
	if err := c.Mount(t.Context(), "/street", &fakeHost{call: answer(`1`)}, nil); err != nil {
		t.Fatal(err)
	}
	hidden := &policy.Principal{Audience: idl.PublicChat, Intent: []string{"/shop/shelf#slow"}}
	if !c.Strangers(owner) || c.Strangers(hidden) {
		t.Errorf("strangers: the owner %v, want true; who sees none of them %v, want false", c.Strangers(owner), c.Strangers(hidden))
	}
}

// twoHost has an Object with two interfaces that share the name of an
// operation, and one with only the second.
type twoHost struct{ *fakeHost }

func (twoHost) Document(context.Context, string) ([]byte, error) {
	return []byte(`package shop;
@audience(public_chat) @read_only interface Shelf { close(word: string [1..4 bytes]) -> int; only() -> int; }
@audience(public_chat) @read_only interface Purse { close() -> int; }
@audience(public_chat) @read_only interface Till { nothing() -> int; }
`), nil
}

func (twoHost) FetchTree(context.Context, wip.Caller, string) (wip.Tree, error) {
	leaf := func(path string, interfaces ...string) wip.Tree {
		o := &wip.Object{ID: path}
		for _, i := range interfaces {
			o.Interfaces = append(o.Interfaces, wip.InterfaceRef{Document: "shop.wip", Interface: i})
		}
		return wip.Tree{Entry: wip.Entry{Path: path, Object: o, Indexable: true}}
	}
	return wip.Tree{Entry: wip.Entry{Path: "/"}, Children: []wip.Tree{leaf("/both", "Shelf", "Purse"), leaf("/purse", "Purse"), leaf("/till", "Till")}}, nil
}

// TestInvokeOfInterface names the interface of what is called: an operation of
// that name of another interface is none.
func TestInvokeOfInterface(t *testing.T) {
	var sent wip.Call
	c := client.New(nil)
	host := twoHost{&fakeHost{call: func(_ context.Context, call wip.Call) (wip.Result, error) {
		sent = call
		return wip.Result{Value: json.RawMessage(`1`)}, nil
	}}}
	if err := c.Mount(t.Context(), "/shop", host, &client.MountOptions{Trusted: true}); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		call      client.Call
		want      string // the interface and path of what the Host is asked for
		corrected string
	}{
		"the first":         {client.Call{Target: "/shop/both", Operation: "close", Interface: "shop.Shelf", Arguments: json.RawMessage(`{"word":"a"}`)}, "Shelf /both", ""},
		"the second":        {client.Call{Target: "/shop/both", Operation: "close", Interface: "shop.Purse", Arguments: json.RawMessage(`{}`)}, "Purse /both", ""},
		"alone":             {client.Call{Target: "/shop/purse", Operation: "close", Interface: "shop.Purse", Arguments: json.RawMessage(`{}`)}, "Purse /purse", ""},
		"of another":        {client.Call{Target: "/shop/purse", Operation: "close", Interface: "shop.Shelf", Arguments: json.RawMessage(`{"word":"a"}`)}, "", `{"target":"/shop/both","operation":"close","arguments":{"word":"a"}}`},
		"nowhere":           {client.Call{Target: "/shop/till", Operation: "close", Interface: "shop.Purse", Arguments: json.RawMessage(`{}`)}, "", ""},
		"at a near path":    {client.Call{Target: "/shop/purze", Operation: "close", Interface: "shop.Purse", Arguments: json.RawMessage(`{}`)}, "", `{"target":"/shop/purse","operation":"close","arguments":{}}`},
		"bad arguments":     {client.Call{Target: "/shop/both", Operation: "close", Interface: "shop.Purse", Arguments: json.RawMessage(`{"word":"a"}`)}, "", `{"target":"/shop/both","operation":"close","arguments":{}}`},
		"not at that place": {client.Call{Target: "/shop/both", Operation: "only", Interface: "shop.Purse", Arguments: json.RawMessage(`{}`)}, "", ""},
	} {
		sent = wip.Call{}
		_, err := c.Invoke(t.Context(), visitor, test.call)
		if test.want != "" {
			if got := sent.Interface + " " + sent.Path; err != nil || got != test.want {
				t.Errorf("%s: %v, the Host was asked for %q, want %q", name, err, got, test.want)
			}
			continue
		}
		if e := failure(t, err); string(e.Corrected) != test.corrected || sent.Path != "" {
			t.Errorf("%s: got %v with %s (the Host was asked for %q), want %s", name, e, e.Corrected, sent.Path, test.corrected)
		}
	}
}

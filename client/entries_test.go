package client_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/space/wip"
)

// linkHost is a fakeHost whose shelf takes entries as arguments.
type linkHost struct{ *fakeHost }

func (linkHost) Document(context.Context, string) ([]byte, error) {
	return []byte(`package shop;
@read_only @audience(public_chat)
interface Shelf {
  compare(to: entry<Shelf>, others: list<entry> [0..4], pair: Pair?) -> int;
}
record Pair { a: entry?; note: string [..8 bytes]; }
@read_only @audience(authorized_im) interface Purse { balance() -> int; }
@read_only @audience(public_chat) interface Till { open() -> bool; }
`), nil
}

// TestEntryArguments sends paths of the space and looks at what the Host gets.
func TestEntryArguments(t *testing.T) {
	var sent string
	host := linkHost{&fakeHost{call: func(_ context.Context, c wip.Call) (wip.Result, error) {
		sent = string(c.Arguments)
		return wip.Result{Value: json.RawMessage(`1`)}, nil
	}}}
	c := client.New(nil)
	for _, path := range []string{"/shop", "/other"} {
		if err := c.Mount(t.Context(), path, host, &client.MountOptions{Trusted: true}); err != nil {
			t.Fatal(err)
		}
	}
	for name, test := range map[string]struct{ arguments, want, fault, corrected string }{
		"mapped":            {`{"to":"/shop/shelf","others":["/shop/till"],"pair":{"a":"/shop/shelf","note":"/shop"}}`, `{"to":"/shelf","others":["/till"],"pair":{"a":"/shelf","note":"/shop"}}`, "", ""},
		"nothing to map":    {`{"to":"/shop/shelf","others":[]}`, `{"to":"/shelf","others":[],"pair":null}`, "", ""},
		"another interface": {`{"to":"/shop/till","others":[]}`, "", "/to: found an entry of another kind", ""},
		"another Host":      {`{"to":"/other/shelf","others":[]}`, "", "/to: found an entry of another Host", `"to":"/shop/shelf"`},
		"absent":            {`{"to":"/shop/shelf","others":["/shop/till","/shop/nothing"]}`, "", "/others/1: there is no entry at this path", ""},
		"hidden":            {`{"to":"/shop/shelf","others":["/shop/till","/shop/purse"]}`, "", "/others/1: there is no entry at this path", ""},
		"bare name":         {`{"to":"shelf","others":[]}`, "", "/to: ", `"to":"/shop/shelf"`},
		"bare name hidden":  {`{"to":"/shop/shelf","others":["purse"]}`, "", "/others/0: ", ""},
		"wrong folder":      {`{"to":"/shop/SHELF","others":["/till"]}`, "", "", `"to":"/shop/shelf","others":["/shop/till"]`},
	} {
		sent = ""
		_, err := c.Invoke(t.Context(), visitor, call("/shop/shelf", "compare", test.arguments))
		if test.fault == "" && test.corrected == "" {
			if err != nil || sent != test.want {
				t.Errorf("%s: the Host got %s, %v, want %s", name, sent, err, test.want)
			}
			continue
		}
		e := failure(t, err)
		if test.corrected == "" && e.Corrected != nil || !strings.Contains(string(e.Corrected), test.corrected) {
			t.Errorf("%s: corrected to %s, want %s", name, e.Corrected, test.corrected)
		}
		if test.fault == "" {
			continue
		}
		if len(e.Faults) != 1 || !strings.HasPrefix(e.Faults[0].Path+": "+e.Faults[0].Constraint, test.fault) || sent != "" {
			t.Errorf("%s: got %v (sent %q), want %s", name, e, sent, test.fault)
		}
	}
}

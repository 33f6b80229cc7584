package demo_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/interfaces"
	"github.com/wipagent/wipagent/objects"
	"github.com/wipagent/wipagent/objects/source/demo"
	"github.com/wipagent/wipagent/objects/world"
	"github.com/wipagent/wipagent/space/wip"
)

// TestWhatModelsSee asks all operations as a client does: what strangers
// left in the demo must come out harmless, and nothing may be unknown that a
// visitor expects to see.
func TestWhatModelsSee(t *testing.T) {
	w := world.New()
	w.Apply(demo.New(nil).Open(noon)...)
	host := objects.New(w, nil)
	documents, err := idl.Compile(idl.FSLoader(interfaces.FS()), "agent.wip", "region.wip", "parcel.wip", "inventory.wip")
	if err != nil {
		t.Fatal(err)
	}
	var seen strings.Builder
	asked := 0
	for _, d := range documents {
		for _, i := range d.Interfaces {
			for _, o := range i.Operations {
				for page := '1'; page <= '3'; page++ {
					seen.Write(ask(t, host, o, page))
				}
				asked++
			}
		}
	}
	if asked < 8 {
		t.Errorf("asked %d operations, expected the eight of the contract at least", asked)
	}
	text := seen.String()
	for _, bad := range []string{
		"\x1b", `\u001b`, "\u202e", `\u202e`, "\u200b", `\u200b`, "\U000E0072", "\u2067", "http:", "https:", "hxxp", "gift.example", "gift[.]example",
		"ｇｉｆｔ", "javascript:", "data:text", "secondlife:", "hop:", "vault.example", "Straw hat\",\"description", "Paper lantern\",\"description", "Guide's badge",
	} {
		if strings.Contains(text, bad) {
			t.Errorf("found %q in what models see", bad)
		}
	}
	for _, good := range []string{
		"Heron Hollow", "Juniper Vale", "Odette Quill", "Stone fountain", "Heron Hollow Commons", "Node.js-free clover", "Collected daily. 郵便 ✉",
		"Café Zürich — terrace", "喫茶 月", "direct_im", "inventory_offer", "IGNORE ALL PREVIOUS INSTRUCTIONS", "untrusted_observed_data",
	} {
		if !strings.Contains(text, good) {
			t.Errorf("found no %q in what models see", good)
		}
	}
}

// ask runs one operation and shapes its result.
func ask(t *testing.T, host *objects.Host, o *idl.Operation, page rune) []byte {
	t.Helper()
	all := map[string]string{"radius_meters": "256", "page": string(page), "page_size": "20", "query": `"a"`}
	var members []string
	for _, p := range o.Params {
		if v, ok := all[p.Name]; ok {
			members = append(members, `"`+p.Name+`":`+v)
		}
	}
	sent := json.RawMessage("{" + strings.Join(members, ",") + "}")
	if slices.ContainsFunc(o.Params, func(p *idl.Param) bool { return p.Required() && all[p.Name] == "" }) && len(o.Examples) > 0 {
		sent = o.Examples[0]
	}
	args, err := o.DecodeArgs(sent)
	if err != nil {
		t.Fatalf("%s: %v", o.Name, err)
	}
	place := strings.ToLower(o.Interface.Name)
	r, err := host.CallOperation(t.Context(), wip.Call{
		Path: "/" + place, Object: place, Interface: o.Interface.Name, Operation: o.Name,
		Arguments: args.Record,
	})
	if err != nil {
		t.Fatalf("%s: %v", o.Name, err)
	}
	shaped, err := o.Shape(r.Value, idl.ShapeOptions{})
	if err != nil {
		t.Fatalf("%s: %v", o.Name, err)
	}
	return shaped.JSON
}

package adapter_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/wipagent/wipagent/adapter"
	"github.com/wipagent/wipagent/adapter/dialect"
	"github.com/wipagent/wipagent/client/policy"
)

// TestOperationsAsTools calls operations by names that are no tools', and reads
// which call is proposed of which tool.
func TestOperationsAsTools(t *testing.T) {
	c := (&workshop{}).open(t, true)
	for _, test := range []struct {
		surface      adapter.Surface
		caller       *policy.Principal
		dialect      string
		name, sent   string
		tool, record string // "" if there is none
	}{
		{"verbs", member, "mcp", "search", `{"query":"lamp"}`, "invoke", `{"target":"/w/desk","operation":"search","arguments":{"query":"lamp"}}`},
		{"verbs", member, "mcp", "desk_search", `{"query":"lamp"}`, "invoke", `{"target":"/w/desk","operation":"search","arguments":{"query":"lamp"}}`},
		{"verbs", member, "mcp", "get_nearby_things", `{"radiusMeters":20}`, "invoke", `{"target":"/w/desk","operation":"nearby_things","arguments":{"radius_meters":20,"page":1,"page_size":20,"kind":"anything"}}`},
		{"verbs", member, "mcp", "desk_status", ``, "invoke", `{"target":"/w/desk","operation":"desk_status","arguments":{}}`},
		{"verbs", member, "mcp", "mcp__w__search", `{"query":7}`, "invoke", `{"target":"/w/desk","operation":"search","arguments":{"query":"7"}}`},
		{"verbs", member, "mcp", "search", `{}`, "", ""},             // nothing is invented
		{"verbs", member, "mcp", "close", `{"reason":"x"}`, "", ""},  // of which issue?
		{"verbs", member, "mcp", "set_light", `{"level":1}`, "", ""}, // hidden
		{"verbs", operator, "mcp", "set_light", `{"level":1}`, "invoke", `{"target":"/w/lamp","operation":"set_light","arguments":{"level":1}}`},
		{"verbs", member, "mcp", "nothing", `{}`, "", ""},
		{"verbs", member, "openai-strict", "search", `{"query":"lamp"}`, "invoke", `{"target":"/w/desk","operation":"search","dry_run":null,"arguments":"{\"query\":\"lamp\"}"}`},
		{"operations", member, "mcp", "issue_lock", `{"target":"/w/desk/1","other":"/w/desk/2"}`, "", ""}, // not issue_link, which changes things
		{"operations", member, "mcp", "issue_close_it", `{"target":"/w/desk/1","reason":"x"}`, "", ""},
		{"operations", operator, "mcp", "lamp_sot_light", `{"level":1}`, "", ""},
		{"operations", operator, "mcp", "light.set_light", `{"level":1}`, "lamp_set_light", `{"level":1}`},
		{"operations", visitor, "mcp", "desk_serch", `{"query":"lamp"}`, "desk_search", `{"query":"lamp"}`},
		{"operations", visitor, "mcp", "get_nearby_things", `{"radius_meters":20}`, "desk_nearby_things", `{"radius_meters":20}`},
		{"operations", visitor, "mcp", "getNearbyThings", `{"radiusMeters":20,"page":2}`, "desk_nearby_things", `{"radius_meters":20,"page":2,"page_size":20,"kind":"anything"}`},
		{"operations", visitor, "mcp", "invoke", `{"target":"/w/desk","operation":"search","arguments":{"query":"lamp"}}`, "desk_search", `{"query":"lamp"}`},
		{"operations", visitor, "mcp", "invoke", `{"target":"/w/lamp","operation":"set_light","arguments":{"level":1}}`, "", ""},
	} {
		tools, err := adapter.New(adapter.Config{Client: c}).Toolset(t.Context(), test.caller, adapter.ToolsetOptions{
			Dialect: dialect.Lookup(test.dialect), Surface: test.surface})
		if err != nil {
			t.Fatal(err)
		}
		answer := tools.Answer(t.Context(), dialect.Call{Name: test.name, Arguments: json.RawMessage(test.sent)})
		e := gjson.GetBytes(answer.JSON, "error")
		if got := e.Get("corrected_call").Raw; !answer.Failed || got != test.record {
			t.Errorf("%s %s %s: %s, want %s", test.surface, test.name, test.sent, answer.JSON, test.record)
			continue
		}
		if test.record == "" {
			continue
		}
		if !strings.Contains(e.Get("hint").Str, "call the tool "+test.tool+" with corrected_call") {
			t.Errorf("%s %s: %s", test.surface, test.name, answer.JSON)
		}
		if again := tools.Answer(t.Context(), dialect.Call{Name: test.tool, Arguments: json.RawMessage(test.record)}); again.Failed {
			t.Errorf("%s %s: corrected to %s, which gives %s", test.surface, test.name, test.record, again.JSON)
		}
	}
}

package adapter_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/wipagent/wipagent/adapter"
	"github.com/wipagent/wipagent/adapter/dialect"
	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/space/wip"
)

// shelves is a Host with operations that can be tried and that cannot.
const shelves = `package shelves;
@mutating @audience(public_chat)
interface Box {
  @dry_run put(thing: string [1..20 bytes], count: int [1..9] = 1) -> bool;
  @dry_run empty() -> bool;
  @dry_run move(dry_run: bool = false, to: string = "there") -> bool;
  burn(why: string) -> bool;
  @read_only weigh() -> bool;
}
`

// TestDryRun asks for dry runs by both surfaces in the forms that a model may
// send, and looks at what the Host is asked to do: of a real call,
// first what it would do. A trial never becomes the real thing.
func TestDryRun(t *testing.T) {
	var called []string
	c := client.New(&client.Config{Approve: func(context.Context, client.Approval) bool { return true }})
	h := &named{shelves, func(call wip.Call) {
		called = append(called, fmt.Sprint(call.Operation, call.DryRun, string(call.Arguments)))
	}}
	if err := c.Mount(t.Context(), "/w", h, &client.MountOptions{Trusted: true}); err != nil {
		t.Fatal(err)
	}
	verb := func(operation, rest string) string {
		return `{"target":"/w/Box","operation":"` + operation + `",` + rest + `}`
	}
	sets := map[adapter.Surface]*adapter.Toolset{}
	for _, s := range adapter.Surfaces() {
		tools, err := adapter.New(adapter.Config{Client: c}).Toolset(t.Context(), visitor, adapter.ToolsetOptions{Dialect: dialect.Lookup("mcp"), Surface: s})
		if err != nil {
			t.Fatal(err)
		}
		sets[s] = tools
	}
	for _, test := range []struct{ tool, sent, want string }{
		{"invoke", verb("put", `"dry_run":true,"arguments":{"thing":"x"}`), `puttrue{"thing":"x","count":1}`},
		{"invoke", verb("put", `"dry_run":false,"arguments":{"thing":"x"}`), `puttrue{"thing":"x","count":1} putfalse{"thing":"x","count":1}`},
		{"invoke", verb("put", `"dryRun":true,"arguments":{"thing":"x"}`), `puttrue{"thing":"x","count":1}`},
		{"invoke", verb("put", `"dry_run":"true","arguments":{"thing":"x"}`), `puttrue{"thing":"x","count":1}`},
		{"invoke", verb("put", `"arguments":{"thing":"x","dry_run":true}`), `puttrue{"thing":"x","count":1}`},
		{"invoke", verb("put", `"thing":"x","dryRun":true`), `puttrue{"thing":"x","count":1}`},
		{"invoke", verb("empty", `"dry_run":true`), `emptytrue{}`},
		{"invoke", verb("put", `"dry_run":"perhaps","arguments":{"thing":"x"}`), ``},
		{"invoke", verb("put", `"dry_run":true,"arguments":{"thing":"x","dry_run":false}`), ``},
		{"invoke", verb("put", `"dry_run":true,"arguments":{"thing":"x","count":100}`), `puttrue{"thing":"x","count":9}`},
		{"invoke", verb("burn", `"dry_run":true,"arguments":{"why":"x"}`), ``},
		{"invoke", verb("weigh", `"dry_run":true,"arguments":{}`), `weighfalse{}`},
		{"invoke", verb("move", `"dry_run":true,"arguments":{}`), `movetrue{"dry_run":false,"to":"there"}`},
		{"invoke", verb("move", `"arguments":{"dry_run":true}`), `movetrue{"dry_run":true,"to":"there"} movefalse{"dry_run":true,"to":"there"}`},
		{"box_put", `{"thing":"x","dry_run":true}`, `puttrue{"thing":"x","count":1}`},
		{"box_put", `{"thing":"x"}`, `puttrue{"thing":"x","count":1} putfalse{"thing":"x","count":1}`},
		{"box_put", `{"thing":"x","count":100,"dry_run":true}`, `puttrue{"thing":"x","count":9}`},
		{"box_put", `{"thing":"x","dry_run":"perhaps"}`, ``},
		{"box_empty", `{"dry_run":true}`, `emptytrue{}`},
		{"box_move", `{"dry_run":true}`, `movetrue{"dry_run":true,"to":"there"} movefalse{"dry_run":true,"to":"there"}`},
		{"box_move", `{"only_try":true}`, `movetrue{"dry_run":false,"to":"there"}`},
		{"box_burn", `{"why":"x","dry_run":true}`, ``},
	} {
		tools := sets[adapter.Operations]
		if test.tool == "invoke" {
			tools = sets[adapter.Verbs]
		}
		called = nil
		answer := tools.Answer(t.Context(), dialect.Call{Name: test.tool, Arguments: json.RawMessage(test.sent)})
		if corrected := gjson.GetBytes(answer.JSON, "error.corrected_call"); corrected.Exists() {
			called = nil
			answer = tools.Answer(t.Context(), dialect.Call{Name: test.tool, Arguments: json.RawMessage(corrected.Raw)})
			if answer.Failed {
				t.Errorf("%s %s: the corrected call fails: %s", test.tool, test.sent, answer.JSON)
			}
		}
		if got := strings.Join(called, " "); got != test.want {
			t.Errorf("%s %s: the Host was asked for %q, want %q: %s", test.tool, test.sent, got, test.want, answer.JSON)
		}
		if got, want := gjson.GetBytes(answer.JSON, "dry_run").Bool(), strings.Contains(test.want, "true{") && !strings.Contains(test.want, "false{"); got != want {
			t.Errorf("%s %s: it says dry_run %v: %s", test.tool, test.sent, got, answer.JSON)
		}
	}
}

// TestInspectTellsOfDryRun: a model is told which operations can be tried.
func TestInspectTellsOfDryRun(t *testing.T) {
	c := client.New(nil)
	if err := c.Mount(t.Context(), "/w", &named{document: shelves}, &client.MountOptions{Trusted: true}); err != nil {
		t.Fatal(err)
	}
	answer, _ := adapter.New(adapter.Config{Client: c}).Call(t.Context(), visitor, "inspect", "", json.RawMessage(`{"target":"/w/Box"}`))
	var tried []string
	for _, op := range gjson.GetBytes(answer.JSON, "interfaces.0.operations").Array() {
		if op.Get("dry_run").Bool() {
			tried = append(tried, op.Get("name").Str)
		}
	}
	if got := strings.Join(tried, " "); got != "put empty move" {
		t.Errorf("it says that %q can be tried: %s", got, answer.JSON)
	}
}

// TestDryRunIsShownWhereItMatters lists the verbs of a world that only reads and
// of one that does not.
func TestDryRunIsShownWhereItMatters(t *testing.T) {
	for _, readOnly := range []bool{true, false} {
		for _, tool := range adapter.Tools(readOnly) {
			shown := false
			for _, p := range tool.Params {
				shown = shown || p.Name == "dry_run"
			}
			if shown != (tool.Name == "invoke" && !readOnly) {
				t.Errorf("%s of a world that only reads (%v) shows dry_run: %v", tool.Name, readOnly, shown)
			}
		}
	}
}

package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.uber.org/goleak"

	"github.com/wipagent/wipagent/adapter"
	"github.com/wipagent/wipagent/adapter/dialect"
	"github.com/wipagent/wipagent/adapter/mcp"
	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/audit"
	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/objects"
	"github.com/wipagent/wipagent/objects/source/demo"
	"github.com/wipagent/wipagent/objects/world"
	"github.com/wipagent/wipagent/space/wip"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// attach serves a world to an in-memory MCP client.
func attach(t testing.TB, host wip.Host, audience idl.Audience) (session *sdk.ClientSession, log *bytes.Buffer) {
	t.Helper()
	log = &bytes.Buffer{}
	c := client.New(&client.Config{Audit: audit.New(log)})
	if err := c.Mount(t.Context(), "/grid", host, &client.MountOptions{Title: "Grid", Trusted: true}); err != nil {
		t.Fatal(err)
	}
	server := mcp.NewServer(mcp.Config{Client: c, Principal: &policy.Principal{ID: "test", Audience: audience}, Version: "test"})
	return connect(t, server), log
}

// connect connects an in-memory client to a server.
func connect(t testing.TB, server *sdk.Server) *sdk.ClientSession {
	t.Helper()
	ours, theirs := sdk.NewInMemoryTransports()
	serving, err := server.Connect(t.Context(), ours, nil)
	if err != nil {
		t.Fatal(err)
	}
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), theirs, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = session.Close()
		_ = serving.Wait()
	})
	return session
}

func demoHost() *objects.Host {
	w := world.New()
	w.Apply(demo.New(nil).Open(time.Now())...)
	return objects.New(w, nil)
}

// call calls a tool and returns its answer, which must stand in both places.
func call(t testing.TB, s *sdk.ClientSession, tool, arguments string) (answer string, failed bool) {
	t.Helper()
	r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
	if err != nil {
		t.Fatalf("%s %s: a protocol error: %v", tool, arguments, err)
	}
	text := r.Content[0].(*sdk.TextContent).Text
	structured, err := json.Marshal(r.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	var a, b any
	if json.Unmarshal([]byte(text), &a) != nil || json.Unmarshal(structured, &b) != nil || fmt.Sprint(a) != fmt.Sprint(b) {
		t.Errorf("%s: text and structured content differ:\n%s\n%s", tool, text, structured)
	}
	return text, r.IsError
}

// toolset returns the three verbs on the demo grid, as what its Host says is
// believed or not.
func toolset(t *testing.T, trusted bool) *adapter.Toolset {
	t.Helper()
	c := client.New(nil)
	if err := c.Mount(t.Context(), "/grid", demoHost(), &client.MountOptions{Trusted: trusted}); err != nil {
		t.Fatal(err)
	}
	tools, err := adapter.New(adapter.Config{Client: c}).Toolset(t.Context(), &policy.Principal{ID: "t", Audience: idl.LocalOperator},
		adapter.ToolsetOptions{Dialect: dialect.Lookup("mcp")})
	if err != nil {
		t.Fatal(err)
	}
	return tools
}

func TestToolList(t *testing.T) {
	const budget = 2400 // bytes
	list := mcp.List(toolset(t, true))
	if len(list) > budget {
		t.Errorf("the tool list has %d bytes, at most %d are allowed", len(list), budget)
	}
	if again := toolset(t, true); !bytes.Equal(list, mcp.List(again)) {
		t.Error("the tool list differs between two calls")
	}
	s, _ := attach(t, demoHost(), idl.LocalOperator)
	served, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(served.Tools)
	if err != nil {
		t.Fatal(err)
	}
	if len(raw) > budget || len(served.Tools) != 3 {
		t.Errorf("%d tools served in %d bytes", len(served.Tools), len(raw))
	}
	for _, tool := range served.Tools {
		if tool.Annotations == nil || !tool.Annotations.ReadOnlyHint || tool.Annotations.DestructiveHint == nil || *tool.Annotations.DestructiveHint || !tool.Annotations.IdempotentHint {
			t.Errorf("%s: annotations %+v", tool.Name, tool.Annotations)
		}
		if tool.Meta["timeoutMs"] == nil || tool.Meta["maxOutputBytes"] == nil || tool.Description == "" {
			t.Errorf("%s lacks its limits or its description: %v", tool.Name, tool.Meta)
		}
	}
	if !bytes.Contains(mcp.List(toolset(t, false)), []byte(`"destructiveHint":true`)) {
		t.Error("invoke claims to be harmless although something mounted is not")
	}
}

// TestAnswersFitTheirSchemas validates what the three tools and the eight
// operations answer against what is published of them, with a validator that
// is not ours.
func TestAnswersFitTheirSchemas(t *testing.T) {
	s, _ := attach(t, demoHost(), idl.LocalOperator)
	served, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	output := map[string]*jsonschema.Schema{}
	for _, tool := range served.Tools {
		output[tool.Name] = compile(t, tool.OutputSchema)
	}
	check := func(tool, arguments string, wantFailed bool) string {
		t.Helper()
		answer, failed := call(t, s, tool, arguments)
		if failed != wantFailed {
			t.Errorf("%s %s: failed is %v: %s", tool, arguments, failed, answer)
		}
		validate(t, output[tool], answer)
		return answer
	}
	check("discover", `{"query":"who is here"}`, false)
	check("discover", `{"query":"the price of tea in a far country"}`, false)
	check("discover", `{"scope":1}`, true)
	check("inspect", `{"target":"/"}`, false)
	check("inspect", `{"target":"/grid/region"}`, false)
	check("inspect", `{"target":"/nowhere"}`, true)
	for path, calls := range map[string]map[string]string{
		"/grid/agent":     {"agent_state": `{}`, "recent_participants": `{"page_size":2}`},
		"/grid/region":    {"world_location": `{}`, "nearby_avatars": `{}`, "visible_objects": `{"radius_meters":256}`},
		"/grid/parcel":    {"parcel_environment": `{}`},
		"/grid/inventory": {"inventory_search": `{"query":"a"}`, "received_landmarks": `{"page":1000}`},
	} {
		for operation, arguments := range calls {
			var described struct {
				Input  any `json:"input_schema"`
				Output any `json:"output_schema"`
			}
			if err := json.Unmarshal([]byte(check("inspect", fmt.Sprintf(`{"target":"%s#%s"}`, path, operation), false)), &described); err != nil {
				t.Fatal(err)
			}
			validate(t, compile(t, described.Input), arguments)
			answer := check("invoke", fmt.Sprintf(`{"target":%q,"operation":%q,"arguments":%s}`, path, operation, arguments), false)
			var outcome struct{ Result json.RawMessage }
			if err := json.Unmarshal([]byte(answer), &outcome); err != nil {
				t.Fatal(err)
			}
			validate(t, compile(t, described.Output), string(outcome.Result))
		}
	}
}

func compile(t *testing.T, schema any) *jsonschema.Schema {
	t.Helper()
	raw, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("schema.json")
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return compiled
}

func validate(t *testing.T, schema *jsonschema.Schema, instance string) {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(instance))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(v); err != nil {
		t.Errorf("%s\ndoes not fit its schema: %v", instance, err)
	}
}

// TestMistakes sends what models really send. Every answer is a tool result;
// what only slipped in form is run, and what cannot be run says why.
func TestMistakes(t *testing.T) {
	s, _ := attach(t, demoHost(), idl.LocalOperator)
	for name, test := range map[string]struct {
		tool, arguments string
		want            string // in the answer
		failed          bool
	}{
		"arguments as a string":       {"invoke", `{"target":"/grid/region","operation":"nearby_avatars","arguments":"{\"page_size\":1}"}`, `"repaired"`, false},
		"the whole record a string":   {"invoke", `"{\"target\":\"/grid/region\",\"operation\":\"world_location\",\"arguments\":{}}"`, `"repaired"`, false},
		"everything in an envelope":   {"invoke", `{"arguments":{"target":"/grid/region","operation":"world_location","arguments":{}}}`, `"repaired"`, false},
		"arguments beside":            {"invoke", `{"target":"/grid/region","operation":"nearby_avatars","page_size":1}`, `"repaired"`, false},
		"no arguments":                {"invoke", `{"target":"/grid/region","operation":"world_location"}`, `"region_name"`, false},
		"null arguments":              {"invoke", `{"target":"/grid/region","operation":"world_location","arguments":null}`, `"corrected_call"`, true},
		"an array":                    {"invoke", `{"target":"/grid/region","operation":"world_location","arguments":[]}`, `"class":"arguments"`, true},
		"arguments twice over":        {"invoke", `{"target":"/grid/region","operation":"nearby_avatars","arguments":{"arguments":{"page_size":1}}}`, `"repaired"`, false},
		"both beside and inside":      {"invoke", `{"target":"/grid/region","operation":"nearby_avatars","page":1,"arguments":{"page_size":1}}`, `"/page"`, true},
		"too far":                     {"invoke", `{"target":"/grid/region","operation":"nearby_avatars","arguments":{"radius_meters":1000}}`, `"corrected_call":{"target":"/grid/region","operation":"nearby_avatars","arguments":{"radius_meters":256}}`, true},
		"missing query":               {"invoke", `{"target":"/grid/inventory","operation":"inventory_search","arguments":{}}`, `"/query"`, true},
		"no operation":                {"invoke", `{"target":"/grid/region"}`, `"/operation"`, true},
		"unknown operation":           {"invoke", `{"target":"/grid/region","operation":"teleport","arguments":{}}`, `nearby_avatars`, true},
		"unknown field of discover":   {"discover", `{"query":"x","limit":3}`, `"corrected_call":{"query":"x"}`, true},
		"nothing for discover":        {"discover", `{}`, `"/query"`, true},
		"a string for discover":       {"discover", `"who is here"`, `"class":"arguments"`, true},
		"target with its operation":   {"inspect", `{"target":"/grid/region#nearby_avatarz"}`, `"corrected_call":{"target":"/grid/region#nearby_avatars"}`, true},
		"a number for inspect":        {"inspect", `{"target":7}`, `"/target"`, true},
		"a path with too few slashes": {"inspect", `{"target":"grid/region"}`, `"corrected_call":{"target":"/grid/region"}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			answer, failed := call(t, s, test.tool, test.arguments)
			if failed != test.failed || !strings.Contains(answer, test.want) {
				t.Errorf("failed %v, want %v with %s:\n%s", failed, test.failed, test.want, answer)
			}
			var e struct {
				Error struct {
					Corrected json.RawMessage `json:"corrected_call"`
				}
			}
			if err := json.Unmarshal([]byte(answer), &e); err != nil {
				t.Fatal(err)
			}
			if e.Error.Corrected != nil {
				if again, failed := call(t, s, test.tool, string(e.Error.Corrected)); failed && !strings.Contains(again, `"not_found"`) || strings.Contains(again, `"repaired"`) {
					t.Errorf("the corrected call %s gives %s", e.Error.Corrected, again)
				}
			}
		})
	}
}

// TestToolNames calls tools by names as models write them. What is wrong is a tool
// result, too, and says what there is for this caller alone (T5, T9).
func TestToolNames(t *testing.T) {
	c := client.New(nil)
	if err := c.Mount(t.Context(), "/grid", demoHost(), &client.MountOptions{Title: "Grid", Trusted: true}); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		audience   idl.Audience
		name, want string
		failed     bool
	}{
		{idl.LocalOperator, "region_world_location", "Heron Hollow", false},
		{idl.LocalOperator, "Region_World_Location", "Heron Hollow", false},
		{idl.LocalOperator, "region-world-location", "Heron Hollow", false},
		{idl.LocalOperator, "regionWorldLocation", "Heron Hollow", false},
		{idl.LocalOperator, "mcp__wipagent__region_world_location", "Heron Hollow", false},
		{idl.LocalOperator, "functions.region_world_location", "Heron Hollow", false},
		{idl.LocalOperator, "world_location", "did you mean region_world_location? the tools: ", true},
		{idl.LocalOperator, "region_word_location", "did you mean region_world_location? the tools: ", true},
		{idl.LocalOperator, "inventory_serch", "did you mean inventory_search? the tools: ", true},
		{idl.LocalOperator, "teleport", `"hint":"the tools: `, true},
		{idl.LocalOperator, strings.Repeat("x_", 4000), `"hint":"the tools: `, true},
		{idl.LocalOperator, "a\x00\u202e", `"hint":"the tools: `, true},
		{idl.PublicChat, "inventory_search", `"hint":"the tools: `, true},
		{idl.PublicChat, "agent_recent_participants", `"hint":"the tools: `, true},
	} {
		s := connect(t, mcp.NewServer(mcp.Config{Client: c, Principal: &policy.Principal{ID: "test", Audience: test.audience}, Surface: adapter.Operations}))
		answer, failed := call(t, s, test.name, `{}`)
		if failed != test.failed || !strings.Contains(answer, test.want) {
			t.Errorf("%.60q: failed %v, want %v with %s:\n%s", test.name, failed, test.failed, test.want, answer)
		}
		if test.audience == idl.PublicChat {
			if never, _ := call(t, s, "inventory_sxarch", `{}`); never != answer || strings.Contains(answer, "inventory") {
				t.Errorf("%s is answered\n%s\nand what never was\n%s", test.name, answer, never)
			}
		}
	}
}

// TestListIsTheCallersOwn: what one caller is shown must not be kept for another.
func TestListIsTheCallersOwn(t *testing.T) {
	s, _ := attach(t, demoHost(), idl.LocalOperator)
	list, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if list.CacheScope != "private" {
		t.Errorf("the list's scope is %q", list.CacheScope)
	}
}

// TestCancel cancels a request while its call waits in the world.
func TestCancel(t *testing.T) {
	started, stopped := make(chan struct{}), make(chan struct{})
	host := waiting{demoHost(), started, stopped}
	s, _ := attach(t, host, idl.LocalOperator)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-started
		cancel()
	}()
	_, err := s.CallTool(ctx, &sdk.CallToolParams{Name: "invoke", Arguments: json.RawMessage(`{"target":"/grid/region","operation":"world_location","arguments":{}}`)})
	if err == nil {
		t.Fatal("the cancelled request was answered")
	}
	select {
	case <-stopped:
	case <-time.After(10 * time.Second):
		t.Fatal("the call goes on in the world")
	}
}

// waiting is the demo Host whose calls wait for their context to end.
type waiting struct {
	*objects.Host
	started, stopped chan struct{}
}

func (w waiting) CallOperation(ctx context.Context, _ wip.Call) (wip.Result, error) {
	close(w.started)
	<-ctx.Done()
	close(w.stopped)
	return wip.Result{}, ctx.Err()
}

// TestCanaries plants marked strings in arguments and in every text of the
// world, runs all there is, and looks for them where they must not be.
func TestCanaries(t *testing.T) {
	const canary = "CANARY7f3a"
	w := world.New()
	updates := demo.New(nil).Open(time.Now())
	for i, u := range updates {
		switch u := u.(type) {
		case world.ObjectUpdated:
			name := canary
			u.Name, u.Description, u.HoverText = &name, &name, &name
			updates[i] = u
		case world.InventoryItem:
			u.Name = canary
			updates[i] = u
		}
	}
	w.Apply(updates...)
	s, log := attach(t, objects.New(w, nil), idl.LocalOperator)
	seen := 0
	for _, args := range []string{
		`{"target":"/grid/region","operation":"visible_objects","arguments":{}}`,
		`{"target":"/grid/inventory","operation":"inventory_search","arguments":{"query":"CANARY7f3a"}}`,
		`{"target":"/grid/inventory","operation":"inventory_search","arguments":{"query":"CANARY7f3a","CANARY7f3a":1}}`,
		`{"target":"/grid/inventory","operation":"CANARY7f3a","arguments":{}}`,
		`{"target":"/CANARY7f3a","operation":"CANARY7f3a","arguments":{"CANARY7f3a":"CANARY7f3a"}}`,
		`{"CANARY7f3a":"CANARY7f3a"}`, `"CANARY7f3a"`,
	} {
		for _, tool := range []string{"invoke", "inspect", "discover"} {
			if answer, failed := call(t, s, tool, args); !failed && strings.Contains(answer, canary) {
				seen++
			}
		}
	}
	call(t, s, "discover", `{"query":"CANARY7f3a","scope":"/CANARY7f3a"}`)
	call(t, s, "inspect", `{"target":"/CANARY7f3a#CANARY7f3a"}`)
	if seen < 2 {
		t.Errorf("the canary was seen in %d results: the test plants nothing", seen)
	}
	if strings.Contains(log.String(), canary) {
		t.Errorf("the log holds what was sent or observed:\n%s", log)
	}
	if log.Len() == 0 {
		t.Error("nothing was logged: the test sees nothing")
	}
}

package adapter_test

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
	"pgregory.net/rapid"

	"github.com/wipagent/wipagent/adapter"
	"github.com/wipagent/wipagent/adapter/dialect"
	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/artifact"
	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space/wip"
)

// operations returns the operations surface for a caller.
func operations(t testing.TB, c *client.Client, p *policy.Principal, name string) *adapter.Toolset {
	t.Helper()
	tools, err := adapter.New(adapter.Config{Client: c}).Toolset(t.Context(), p,
		adapter.ToolsetOptions{Dialect: dialect.Lookup(name), Surface: adapter.Operations})
	if err != nil {
		t.Fatal(err)
	}
	return tools
}

// listed returns the names of the tools of an export in the dialect mcp.
func listed(tools *adapter.Toolset) []string {
	var names []string
	for _, tool := range gjson.ParseBytes(tools.Export().Tools).Array() {
		names = append(names, tool.Get("name").Str)
	}
	return names
}

// TestOperationsOfTheGrid lists the tools that each audience is given. The grid
// has one entry an interface, so that the verbs are not needed.
func TestOperationsOfTheGrid(t *testing.T) {
	c := grid(t)
	owners := []string{"agent_state", "agent_recent_participants", "inventory_search", "inventory_received_landmarks",
		"parcel_environment", "region_world_location", "region_nearby_avatars", "region_visible_objects"}
	public := slices.DeleteFunc(slices.Clone(owners), func(name string) bool {
		return strings.HasPrefix(name, "inventory") || name == "agent_recent_participants"
	})
	for _, test := range []struct {
		p    *policy.Principal
		want []string
	}{
		{operator, owners},
		{visitor, public},
		{&policy.Principal{Audience: idl.LocalOperator, Intent: []string{"/grid/region#nearby_avatars"}}, []string{"region_nearby_avatars"}},
		{&policy.Principal{Audience: idl.LocalOperator, Intent: []string{}}, []string{"discover", "inspect", "invoke"}}, // nothing to see is still to be said
	} {
		tools := operations(t, c, test.p, "mcp")
		if diff := cmp.Diff(test.want, listed(tools)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.p.Audience, diff)
		}
		if again := operations(t, c, test.p, "mcp"); !bytes.Equal(again.Export().Tools, tools.Export().Tools) {
			t.Errorf("%s: the list differs between two exports", test.p.Audience)
		}
	}
	tools := operations(t, c, operator, "mcp")
	r := tools.Answer(t.Context(), dialect.Call{Name: "region_nearby_avatars", Arguments: json.RawMessage(`{"page_size":1}`)})
	direct, _ := adapter.New(adapter.Config{Client: c}).Call(t.Context(), operator, "invoke", "", json.RawMessage(`{"target":"/grid/region","operation":"nearby_avatars","arguments":{"page_size":1}}`))
	varying := regexp.MustCompile(`"(age_millis":\d+|freshness":"[a-z]+)`)
	steady := func(raw []byte) string { return varying.ReplaceAllString(string(raw), "~") }
	if r.Failed || !r.Untrusted || steady(r.JSON) != steady(direct.JSON) {
		t.Errorf("the tool answers\n%s\nand invoke\n%s", r.JSON, direct.JSON)
	}
}

// TestOperationsAndArtifacts: where a result may become an artifact, which is read
// by calls of an entry of its own, the verbs come along.
func TestOperationsAndArtifacts(t *testing.T) {
	kept, err := artifact.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	bare, c := (&workshop{}).open(t, true), client.New(&client.Config{Artifacts: kept})
	if err := c.Mount(t.Context(), "/w", &workshop{result: func(wip.Call) (wip.Result, error) { return wip.Result{Value: json.RawMessage("true")}, nil }}, &client.MountOptions{Trusted: true}); err != nil {
		t.Fatal(err)
	}
	lamp := &policy.Principal{ID: "lamp", Audience: idl.LocalOperator, Intent: []string{"/w/lamp#set_light"}}
	if diff := cmp.Diff([]string{"lamp_set_light"}, listed(operations(t, bare, lamp, "mcp"))); diff != "" {
		t.Errorf("without artifacts (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"discover", "inspect", "invoke", "lamp_set_light"}, listed(operations(t, c, lamp, "mcp"))); diff != "" {
		t.Errorf("with artifacts (-want +got):\n%s", diff)
	}
}

// TestOperationsOfSeveralEntries: where an interface stands on several entries
// the entry is chosen by the first parameter, and the verbs come along.
func TestOperationsOfSeveralEntries(t *testing.T) {
	h := &workshop{}
	c := h.open(t, true)
	tools := operations(t, c, member, "mcp")
	want := []string{"discover", "inspect", "invoke", "desk_nearby_things", "desk_search", "desk_measure", "desk_status",
		"issue_read_body", "issue_close", "issue_assign", "issue_link"}
	if diff := cmp.Diff(want, listed(tools)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	parameters := map[string]string{}
	for i, name := range listed(tools) {
		var names []string
		gjson.GetBytes(tools.Export().Schema(i), "properties").ForEach(func(key, _ gjson.Result) bool {
			names = append(names, key.Str)
			return true
		})
		parameters[name] = strings.Join(names, " ")
	}
	for name, want := range map[string]string{
		"desk_search": "query include_closed limit", "issue_read_body": "target", "issue_close": "target reason dry_run",
		"issue_link": "target_entry other target", // the operation has a target of its own
	} {
		if parameters[name] != want {
			t.Errorf("%s takes %q, want %q", name, parameters[name], want)
		}
	}
	if doc := gjson.GetBytes(tools.Export().Schema(slices.Index(listed(tools), "issue_close")), "properties.target.description").Str; !strings.Contains(doc, "/w/issues/1, /w/issues/2, /w/issues/3") {
		t.Errorf("the target is described as %q, want the paths", doc)
	}
	for _, test := range []struct{ tool, sent, path, operation, arguments string }{
		{"issue_close", `{"target":"/w/issues/2","reason":"done"}`, "/issues/2", "close", `{"reason":"done","dry_run":false}`},
		{"issue_link", `{"target_entry":"/w/issues/1","other":"/w/issues/3","target":"x"}`, "/issues/1", "link", `{"other":"/issues/3","target":"x"}`},
		{"issue_read_body", `{"target":"/w/issues/1"}`, "/issues/1", "read_body", `{}`},
		{"desk_status", ``, "/desk", "desk_status", `{}`},
	} {
		r := tools.Answer(t.Context(), dialect.Call{Name: test.tool, Arguments: json.RawMessage(test.sent)})
		calls := h.calls()
		if r.Failed || len(calls) != 1 {
			t.Errorf("%s %s: %s, the Host was called %d times", test.tool, test.sent, r.JSON, len(calls))
			continue
		}
		if got := calls[0]; got.Path != test.path || got.Operation != test.operation || string(got.Arguments) != test.arguments {
			t.Errorf("%s %s: called %s#%s %s, want %s#%s %s", test.tool, test.sent, got.Path, got.Operation, got.Arguments, test.path, test.operation, test.arguments)
		}
	}
}

// TestOperationsStayInTheirInterface: a tool calls no operation of the same name
// of another interface, whatever target is sent.
func TestOperationsStayInTheirInterface(t *testing.T) {
	h := &workshop{}
	c := h.open(t, true)
	other := &sameNames{}
	if err := c.Mount(t.Context(), "/x", other, &client.MountOptions{Trusted: true}); err != nil {
		t.Fatal(err)
	}
	tools := operations(t, c, operator, "mcp")
	for _, target := range []string{"/x/issues/1", "/w/lamp", "/w/desk", "/w/issues", "/w", "/", "/nowhere"} {
		r := tools.Answer(t.Context(), dialect.Call{Name: "issue_close", Arguments: json.RawMessage(`{"target":"` + target + `","reason":"r"}`)})
		if !r.Failed || gjson.GetBytes(r.JSON, "error.class").Str != "not_found" || len(h.calls()) != 0 || len(other.calls()) != 0 {
			t.Errorf("%s: got %s", target, r.JSON)
		}
	}
	if !slices.Contains(listed(tools), "ticket_close") {
		t.Fatalf("the other Host has no tool in %v: the test tries nothing", listed(tools))
	}
}

// sameNames is a workshop whose entries have another interface with an
// operation of the same name.
type sameNames struct{ workshop }

func (*sameNames) Document(context.Context, string) ([]byte, error) {
	return []byte(strings.NewReplacer("package workshop", "package tickets", "Issue", "Ticket").Replace(workshopDocument)), nil
}

func (h *sameNames) FetchTree(ctx context.Context, caller wip.Caller, path string) (wip.Tree, error) {
	t, err := h.workshop.FetchTree(ctx, caller, path)
	for _, issue := range t.Children[1].Children {
		issue.Entry.Object.Interfaces[0].Interface = "Ticket"
	}
	return t, err
}

// TestAnnotationsOfOperations: what a trusted Host says is passed on, and what
// another claims is not believed.
func TestAnnotationsOfOperations(t *testing.T) {
	for _, test := range []struct {
		trusted bool
		want    map[string]string
	}{
		{true, map[string]string{"desk_search": "read idempotent", "issue_read_body": "read idempotent", "issue_close": "none", "issue_link": "destroy", "discover": "read idempotent", "invoke": "destroy"}},
		{false, map[string]string{"desk_search": "destroy", "issue_read_body": "destroy", "issue_close": "destroy", "issue_link": "destroy", "discover": "read idempotent", "invoke": "destroy"}},
	} {
		got := map[string]string{}
		for _, tool := range gjson.ParseBytes(operations(t, (&workshop{}).open(t, test.trusted), member, "mcp").Export().Tools).Array() {
			var hints []string
			for _, hint := range [][2]string{{"readOnlyHint", "read"}, {"destructiveHint", "destroy"}, {"idempotentHint", "idempotent"}} {
				if tool.Get("annotations." + hint[0]).Bool() {
					hints = append(hints, hint[1])
				}
			}
			if name := tool.Get("name").Str; test.want[name] != "" {
				if hints == nil {
					hints = []string{"none"}
				}
				got[name] = strings.Join(hints, " ")
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("trusted %v (-want +got):\n%s", test.trusted, diff)
		}
	}
}

// TestOperationsAreTheOneDecision proves B3 for tools: there is one for an
// operation exactly if invoke does not hide it, and what is hidden changes no
// byte of the list.
func TestOperationsAreTheOneDecision(t *testing.T) {
	c := grid(t)
	all := []string{"/grid/agent#agent_state", "/grid/agent#recent_participants", "/grid/inventory#inventory_search", "/grid/inventory#received_landmarks",
		"/grid/parcel#parcel_environment", "/grid/region#world_location", "/grid/region#nearby_avatars", "/grid/region#visible_objects"}
	rapid.Check(t, func(rt *rapid.T) {
		p := &policy.Principal{
			Audience: idl.Audience(rapid.IntRange(0, int(idl.SchedulerRun)).Draw(rt, "audience")),
			Grants:   rapid.SliceOfDistinct(rapid.SampledFrom(all), rapid.ID).Draw(rt, "grants"),
		}
		if rapid.Bool().Draw(rt, "narrowed") {
			p.Intent = rapid.SliceOfDistinct(rapid.SampledFrom(all), rapid.ID).Draw(rt, "intent")
		}
		want := 0
		for _, name := range all {
			target, operation, _ := strings.Cut(name, "#")
			_, err := c.Invoke(t.Context(), p, client.Call{Target: target, Operation: operation, Arguments: json.RawMessage(`{"no":1}`)})
			if err.(*client.Error).Class != client.NotFound {
				want++
			}
		}
		got := 0
		for _, name := range listed(operations(t, c, p, "mcp")) {
			if name != "discover" && name != "inspect" && name != "invoke" {
				got++
			}
		}
		if got != want {
			rt.Errorf("%d tools, and %d operations that invoke can call", got, want)
		}
	})
}

// TestNamesOfOperations gives names to operations whose documents were made to
// clash, and calls each by its name.
func TestNamesOfOperations(t *testing.T) {
	const document = `package a.b;
@read_only @audience(public_chat) interface XMLDoor { get_url() -> bool; xml_door() -> bool; xml_door_open() -> bool; }
@read_only @audience(public_chat) interface _ { _1() -> bool; invoke() -> bool; }
@read_only @audience(public_chat) interface in { voke() -> bool; }
`
	documents := map[string]string{
		"/one": document,
		"/two": document, // not trusted, so that its tools are others
		"/six": strings.NewReplacer("XMLDoor", "XmlDoor", "get_url", "getURL", "xml_door_open", "x_m_l_door_open").Replace(document),
		"/ten": strings.Replace(document, "a.b", "ten", 1),
	}
	var called []string
	approve := func(context.Context, client.Approval) bool { return true }
	c := client.New(&client.Config{Approve: approve})
	for path, document := range documents {
		h := &named{document, func(call wip.Call) { called = append(called, path+call.Path+"#"+call.Interface+"."+call.Operation) }}
		if err := c.Mount(t.Context(), path, h, &client.MountOptions{Trusted: path == "/one"}); err != nil {
			t.Fatal(err)
		}
	}
	tools := operations(t, c, visitor, "mcp")
	names := listed(tools)
	seen := map[string]bool{}
	for _, name := range names {
		folded := strings.ReplaceAll(name, "_", "")
		if seen[folded] || name[0] < 'a' || name[0] > 'z' || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
			t.Errorf("the name %s is no name, or like another: %v", name, names)
		}
		seen[folded] = true
		if r := tools.Answer(t.Context(), dialect.Call{Name: name, Arguments: json.RawMessage(`{}`)}); r.Failed {
			t.Errorf("%s: %s", name, r.JSON)
		}
	}
	var all []string
	for path := range documents {
		for _, name := range []string{"XMLDoor.get_url", "XMLDoor.xml_door", "XMLDoor.xml_door_open", "_._1", "_.invoke", "in.voke"} {
			if path == "/six" {
				name = strings.NewReplacer("XMLDoor", "XmlDoor", "get_url", "getURL", "xml_door_open", "x_m_l_door_open").Replace(name)
			}
			iface, _, _ := strings.Cut(name, ".")
			all = append(all, path+"/"+iface+"#"+name)
		}
	}
	slices.Sort(called)
	if diff := cmp.Diff(slices.Sorted(slices.Values(all)), called); diff != "" {
		t.Errorf("the tools called (-want +got):\n%s", diff)
	}
}

// named is a Host with an entry for each interface of its one document.
type named struct {
	document string
	call     func(wip.Call)
}

func (h *named) Fetch(context.Context, wip.Caller, string) (wip.Entry, error) {
	return wip.Entry{}, &wip.Failure{Class: wip.NotFound}
}

func (h *named) FetchTree(context.Context, wip.Caller, string) (wip.Tree, error) {
	t := wip.Tree{Entry: wip.Entry{Path: "/"}}
	docs, err := idl.Compile(idl.FSLoader(fstest.MapFS{"a.wip": {Data: []byte(h.document)}}), "a.wip")
	if err != nil {
		return t, err
	}
	for _, i := range docs[0].Interfaces {
		t.Children = append(t.Children, wip.Tree{Entry: wip.Entry{Path: "/" + i.Name, Indexable: true,
			Object: &wip.Object{ID: i.Name, Interfaces: []wip.InterfaceRef{{Document: "a.wip", Interface: i.Name}}}}})
	}
	return t, nil
}

func (h *named) Document(context.Context, string) ([]byte, error) { return []byte(h.document), nil }

func (h *named) CallOperation(_ context.Context, call wip.Call) (wip.Result, error) {
	h.call(call)
	return wip.Result{Value: json.RawMessage(`true`)}, nil
}

package adapter_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/wipagent/wipagent/adapter"
	"github.com/wipagent/wipagent/adapter/dialect"
	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/space/wip"
)

// sent is a call as a model of a provider sends it.
type sent struct{ id, name, arguments string }

// message writes calls as the provider of a dialect sends them.
func message(form dialect.Form, calls ...sent) []byte {
	var items []string
	for _, c := range calls {
		text, _ := json.Marshal(c.arguments)
		switch form {
		case dialect.Responses:
			items = append(items, fmt.Sprintf(`{"type":"function_call","call_id":%q,"name":%q,"arguments":%s}`, c.id, c.name, text))
		case dialect.Chat:
			items = append(items, fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":%q,"arguments":%s}}`, c.id, c.name, text))
		case dialect.Messages:
			items = append(items, fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%q,"input":%s}`, c.id, c.name, c.arguments))
		case dialect.Generate:
			items = append(items, fmt.Sprintf(`{"functionCall":{"id":%q,"name":%q,"args":%s}}`, c.id, c.name, c.arguments))
		case dialect.Protocol:
			items = append(items, fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, c.id, c.name, c.arguments))
		}
	}
	list := "[" + strings.Join(items, ",") + "]"
	switch form {
	case dialect.Chat:
		list = `{"role":"assistant","content":null,"tool_calls":` + list + `}`
	case dialect.Messages:
		list = `{"role":"assistant","content":` + list + `,"stop_reason":"tool_use"}`
	case dialect.Generate:
		list = `{"role":"model","parts":` + list + `}`
	}
	return []byte(list)
}

// TestTurnOfEachDialect sends one message with a call that works, one that is
// wrong, one in the dialect's conventions and one of a tool that does not
// exist, and reads the reply.
func TestTurnOfEachDialect(t *testing.T) {
	for _, d := range dialect.All() {
		t.Run(d.Name, func(t *testing.T) {
			h := &workshop{}
			tools := operations(t, h.open(t, true), operator, d.Name)
			index, ok := tools.Export().Index("desk_measure")
			if !ok {
				t.Fatalf("no desk_measure in %s", tools.Export().Tools)
			}
			measured := string(tools.Export().Express(index, json.RawMessage(`{"points":[{"x":1,"y":2}],"labels":{"a":"b"}}`)))
			form := d.Form()
			reply, calls, err := tools.Turn(t.Context(), message(form,
				sent{"1", "desk_search", `{"query":"lamp"}`}, sent{"2", "desk_search", `{"query":"lamp","limit":99}`},
				sent{"3", "desk_measure", measured}, sent{"4", "desk_serch", `{}`}))
			if err != nil || calls != 4 {
				t.Fatalf("%d calls, %v", calls, err)
			}
			text := string(reply)
			for at, want := range map[string]string{"first": `true`, "second": `corrected_call`, "fourth": `there is no tool of this name`} {
				if !strings.Contains(text, want) {
					t.Errorf("the %s answer is not in %s", at, text)
				}
			}
			if got := len(gjson.ParseBytes(reply).Array()); got != 4 {
				t.Errorf("%d answers, want 4: %s", got, text)
			}
			if !slices.IsSorted([]int{strings.Index(text, `"1"`), strings.Index(text, `"2"`), strings.Index(text, `"3"`), strings.Index(text, `"4"`)}) {
				t.Errorf("the answers are out of order: %s", text)
			}
			var ran []string
			for _, call := range h.calls() {
				ran = append(ran, call.Operation+" "+string(call.Arguments))
			}
			slices.Sort(ran)
			want := []string{
				`measure {"points":[{"x":1,"y":2,"z":null}],"labels":{"a":"b"},"ids":null,"since":null,"within":5000}`,
				`search {"query":"lamp","include_closed":false,"limit":10}`,
			}
			if diff := cmp.Diff(want, ran); diff != "" {
				t.Errorf("the Host was asked (-want +got):\n%s", diff)
			}
			// The corrected call is in the form in which this provider's models
			// send it, and works.
			r := tools.Answer(t.Context(), dialect.Call{Name: "desk_search", Arguments: json.RawMessage(`{"query":"lamp","limit":99}`)})
			corrected := gjson.GetBytes(r.JSON, "error.corrected_call").Raw
			if want := string(tools.Export().Express(indexOf(t, tools, "desk_search"), json.RawMessage(`{"query":"lamp","limit":50}`))); corrected != want {
				t.Errorf("the corrected call is %s, want %s", corrected, want)
			}
			if again := tools.Answer(t.Context(), dialect.Call{Name: "desk_search", Arguments: json.RawMessage(corrected)}); again.Failed {
				t.Errorf("the corrected call gives %s", again.JSON)
			}
		})
	}
}

func indexOf(t *testing.T, tools *adapter.Toolset, name string) int {
	t.Helper()
	i, ok := tools.Export().Index(name)
	if !ok {
		t.Fatalf("no tool %s", name)
	}
	return i
}

// TestTurnWithoutCalls reads messages without calls, and one that is none.
func TestTurnWithoutCalls(t *testing.T) {
	tools := operations(t, grid(t), operator, "anthropic")
	if reply, calls, err := tools.Turn(t.Context(), []byte(`{"role":"assistant","content":[{"type":"text","text":"Nobody."}]}`)); reply != nil || calls != 0 || err != nil {
		t.Errorf("got %s, %d calls, %v", reply, calls, err)
	}
	if _, _, err := tools.Turn(t.Context(), []byte(`nonsense`)); err == nil {
		t.Error("nonsense is taken for a message")
	}
}

// TestTurnAtOnce: calls that change nothing run at the same time, and others
// after each other in their order.
func TestTurnAtOnce(t *testing.T) {
	var together sync.WaitGroup
	together.Add(3)
	met := make(chan struct{})
	go func() { together.Wait(); close(met) }()
	h := &workshopAtOnce{answer: func(wip.Call) wip.Result {
		together.Done()
		select {
		case <-met:
		case <-time.After(10 * time.Second):
			t.Error("the calls do not run at the same time")
		}
		return wip.Result{Value: json.RawMessage(`true`)}
	}}
	tools := operations(t, mounted(t, h), operator, "openai")
	if _, calls, err := tools.Turn(t.Context(), message(dialect.Responses, sent{"1", "desk_status", `{}`}, sent{"2", "desk_status", `{}`}, sent{"3", "desk_search", `{"query":"q"}`})); calls != 3 || err != nil {
		t.Fatal(calls, err)
	}
	var mu sync.Mutex
	running, order := 0, []string{}
	h.answer = func(call wip.Call) wip.Result {
		mu.Lock()
		running++
		order = append(order, call.Operation)
		if running > 1 {
			t.Error("a call runs beside one that changes something")
		}
		mu.Unlock()
		time.Sleep(time.Millisecond)
		mu.Lock()
		running--
		mu.Unlock()
		return wip.Result{Value: json.RawMessage(`true`)}
	}
	if _, _, err := tools.Turn(t.Context(), message(dialect.Responses, sent{"1", "desk_status", `{}`}, sent{"2", "lamp_set_light", `{"level":1}`}, sent{"3", "desk_search", `{"query":"q"}`})); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"desk_status", "set_light", "search"}, order); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// workshopAtOnce is a workshop whose calls do not wait for each other.
type workshopAtOnce struct {
	workshop
	answer func(wip.Call) wip.Result
}

func (h *workshopAtOnce) CallOperation(_ context.Context, call wip.Call) (wip.Result, error) {
	return h.answer(call), nil
}

// program is a tool that runs programs, for the place where one goes.
type program struct{ ran chan string }

func (program) Tool() dialect.Tool {
	return dialect.Tool{Name: "run_program", Description: "Runs a program.", Open: "program", OpenDoc: "A program.", ReadOnly: true}
}

func (p program) Run(_ context.Context, who *client.Principal, id string, arguments json.RawMessage) adapter.Answer {
	p.ran <- who.ID + " " + id + " " + string(arguments)
	return adapter.Answer{JSON: json.RawMessage(`{"output":"x"}`), Untrusted: true}
}

// TestProgramsAreATool: the tool of Config.Code stands in every surface, last.
func TestProgramsAreATool(t *testing.T) {
	p := program{make(chan string, 1)}
	a := adapter.New(adapter.Config{Client: grid(t), Code: p})
	for _, surface := range adapter.Surfaces() {
		tools, err := a.Toolset(t.Context(), operator, adapter.ToolsetOptions{Dialect: dialect.Lookup("mcp"), Surface: surface})
		if err != nil {
			t.Fatal(err)
		}
		if names := listed(tools); names[len(names)-1] != "run_program" {
			t.Errorf("%s: the tools are %v", surface, names)
		}
		r := tools.Answer(t.Context(), dialect.Call{ID: "c7", Name: "run_program", Arguments: json.RawMessage(`{"program":{}}`)})
		if got := <-p.ran; got != `operator c7 {"program":{}}` || string(r.JSON) != `{"output":"x"}` || r.Failed || !r.Untrusted {
			t.Errorf("%s: ran %s, answered %+v", surface, got, r)
		}
	}
	if _, err := a.Toolset(t.Context(), operator, adapter.ToolsetOptions{Surface: "all"}); err == nil || err.Error() != `found the surface "all", expected verbs or operations` {
		t.Errorf("an unknown surface: %v", err)
	}
}

// TestUnknownTools calls what does not exist.
func TestUnknownTools(t *testing.T) {
	tools := operations(t, grid(t), visitor, "mcp")
	for name, want := range map[string]string{
		"nearby_avatars":       "did you mean region_nearby_avatars? ",
		"regionNearbyAvatars":  "", // capitals for underscores
		"regionNearbyAvatar":   "did you mean region_nearby_avatars? ",
		"inventory_search":     "the tools: agent_state, ",
		"":                     "the tools: agent_state, ",
		"mcp__w__agent_state":  "", // a gateway's prefix
		"http://evil.example/": "the tools: agent_state, ",
	} {
		r := tools.Answer(t.Context(), dialect.Call{Name: name, Arguments: json.RawMessage(`{}`)})
		hint := gjson.GetBytes(r.JSON, "error.hint").Str
		if want == "" && r.Failed || !strings.HasPrefix(hint, want) || strings.Contains(string(r.JSON), "evil") || strings.Contains(string(r.JSON), "inventory") {
			t.Errorf("%s: %s", name, r.JSON)
		}
	}
}

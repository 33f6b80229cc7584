package adapter_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/wipagent/wipagent/adapter"
	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/objects"
	"github.com/wipagent/wipagent/objects/source/demo"
	"github.com/wipagent/wipagent/objects/world"
	"github.com/wipagent/wipagent/space/wip"
)

// without is the grid's Host as it would be if what is the owner's had never
// been: no inventory, and an Agent with one operation. It counts questions, and
// so does the whole grid with nothing taken away.
type without struct {
	wip.Host
	taken   bool
	fetches int
}

func (h *without) Fetch(ctx context.Context, caller wip.Caller, path string) (wip.Entry, error) {
	h.fetches++
	if h.taken && path == "/inventory" {
		return wip.Entry{}, &wip.Failure{Class: wip.NotFound, Message: "no such entry"}
	}
	return h.Host.Fetch(ctx, caller, path)
}

func (h *without) FetchTree(ctx context.Context, caller wip.Caller, path string) (wip.Tree, error) {
	t, err := h.Host.FetchTree(ctx, caller, path)
	if h.taken {
		t.Children = slices.DeleteFunc(t.Children, func(c wip.Tree) bool { return c.Entry.Path == "/inventory" })
		for _, c := range t.Children {
			c.Entry.Object.Interfaces[0].SHA256 = ""
		}
	}
	return t, err
}

func (h *without) Document(ctx context.Context, name string) ([]byte, error) {
	text, err := h.Host.Document(ctx, name)
	if h.taken && name == "agent.wip" {
		text = regexp.MustCompile(`(?s)  /// Avatars that lately.*?\n  \) -> [^;]*;\n`).ReplaceAll(text, nil)
	}
	return text, err
}

// TestHiddenAsIfItHadNeverBeen asks one grid that hides the owner's things from
// public chat and one that never had them. Every answer is the same, byte for
// byte, and so is the number of questions to the Host.
func TestHiddenAsIfItHadNeverBeen(t *testing.T) {
	if testing.Short() {
		t.Skip("one thing at a time, at length: nothing for the race detector")
	}
	var hosts [2]*without
	var clients [2]*client.Client
	var adapters [2]*adapter.Adapter
	for i := range hosts {
		w := world.New()
		w.Apply(demo.New(nil).Open(time.UnixMilli(1_700_000_000_000))...)
		hosts[i], clients[i] = &without{Host: objects.New(w, nil), taken: i == 1}, client.New(nil)
		if err := clients[i].Mount(t.Context(), "/grid", hosts[i], &client.MountOptions{Trusted: true}); err != nil {
			t.Fatal(err)
		}
		adapters[i] = adapter.New(adapter.Config{Client: clients[i]})
	}
	owner := &policy.Principal{ID: "owner", Audience: idl.LocalOperator}
	for _, known := range []string{"/grid/inventory", "/grid/agent#recent_participants"} {
		for i, c := range clients {
			if _, err := c.Inspect(t.Context(), owner, known); (err == nil) != (i == 0) {
				t.Fatalf("the owner inspects %s of grid %d: %v", known, i, err)
			}
		}
	}
	varying := regexp.MustCompile(`"(age_millis|observed_unix_millis)":\d+|"snapshot_id":"[^"]*"`)
	asked := 0
	answered, differ := map[string]int{}, map[string]int{} // by audience and tool
	ask := func(p *policy.Principal, tool, arguments string) {
		asked++
		var answers [2]string
		for i, a := range adapters {
			hosts[i].fetches = 0
			answer, _ := a.Call(t.Context(), p, tool, "", json.RawMessage(arguments))
			if !answer.Failed {
				answered[p.Audience.String()+" "+tool]++
			}
			answers[i] = fmt.Sprintf("%d questions, %s", hosts[i].fetches, varying.ReplaceAll(answer.JSON, nil))
		}
		if p == owner {
			if answers[0] != answers[1] {
				differ[tool]++
			}
			return
		}
		if answers[0] != answers[1] {
			t.Errorf("%s %s as %s:\nhidden %s\nabsent %s", tool, arguments, p.Audience, answers[0], answers[1])
		}
	}
	quote := func(s string) string {
		raw, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	paths := []string{"/", "/grid", "/grid/agent", "/grid/region", "/gr", ""}
	for _, p := range []string{"/grid/inventory", "/grid/nothing", "/grid/inventorx"} {
		paths = append(paths, p, p+"/", p+"//", p+"/x", p[1:], strings.ToUpper(p), " "+p, p+" ", p+"\x00", "/grid/../grid"+p[5:],
			strings.Replace(p, "i", "ı", 1), strings.Replace(p, "o", "о", 1), strings.ReplaceAll(p, "/", "%2F"), p+"%2F", p+"\u200b",
			p+"#", p+"#inventory_search", p+"#received_landmarks", p+strings.Repeat("/x", 40), p+strings.Repeat("y", 1100), "/grid"+p)
	}
	operations := []string{"inventory_search", "received_landmarks", "recent_participants", "recent_participant", "RecentParticipants",
		"agent_state", "agentstate", "world_location", "Agent.recent_participants", "Inventory.inventory_search", "nothing", ""}
	queries := []string{"inventory", "inventori", "recent participants", "who talked to me", "IMs", "my things", "find a script", "landmarks",
		"tea", "friends", "", "agent", "received", "search", "belongings", "in touch", "who is here", strings.Repeat("inventory ", 80)}
	intent := []string{"/grid/agent#agent_state", "/grid/agent#recent_participants", "/grid/inventory#inventory_search"}
	for _, p := range []*policy.Principal{
		owner,
		{ID: "public", Audience: idl.PublicChat}, {ID: "im", Audience: idl.IM},
		{ID: "narrowed", Audience: idl.PublicChat, Intent: intent}, {ID: "run", Audience: idl.SchedulerRun, Grants: []string{"/grid/agent#agent_state"}},
	} {
		for i, path := range paths {
			ask(p, "inspect", `{"target":`+quote(path)+`}`)
			for j := i % 3; j < len(queries); j += 3 {
				query := queries[j]
				ask(p, "discover", `{"query":`+quote(query)+`,"scope":`+quote(path)+`}`)
			}
			for _, operation := range operations {
				ask(p, "inspect", `{"target":`+quote(path+"#"+operation)+`}`)
				for _, arguments := range []string{`{"query":"a"}`, `{}`, `7`} {
					ask(p, "invoke", `{"target":`+quote(path)+`,"operation":`+quote(operation)+`,"arguments":`+arguments+`}`)
				}
			}
		}
	}
	t.Logf("%d requests", asked)
	for _, tool := range []string{"discover", "inspect", "invoke"} {
		if differ[tool] == 0 {
			t.Errorf("%s answers the owner of both grids alike: the test compares nothing", tool)
		}
		for _, a := range []idl.Audience{idl.PublicChat, idl.IM, idl.SchedulerRun} {
			if answered[a.String()+" "+tool] == 0 {
				t.Errorf("%s never succeeds as %s: the test asks for nothing", tool, a)
			}
		}
	}
}

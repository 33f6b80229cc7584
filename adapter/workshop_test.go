package adapter_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space/wip"
)

// workshop is a Host with operations of many forms, on one entry and on
// several. It writes down what it is asked to do.
type workshop struct {
	mu     sync.Mutex
	called []wip.Call
	result func(wip.Call) (wip.Result, error) // nil answers true
}

const workshopDocument = `package workshop;
version 1;

/// A desk with things on it.
@read_only @idempotent @audience(public_chat)
interface Desk {
  /// Things within a radius.
  @example(radius_meters: 20, page_size: 5)
  nearby_things(
    /// How far, in metres.
    radius_meters: float [0..256] = 96,
    page: int [1..1000] = 1,
    page_size: int [1..20] = 20,
    kind: Kind = anything,
  ) -> bool;
  /// Things by name.
  @example(query: "lamp")
  search(query: string [1..128 bytes], include_closed: bool = false, limit: int [1..50] = 10) -> bool;
  /// Measures a path.
  measure(points: list<Point> [1..8], labels: map<string>?, ids: list<uuid> [..4]?, since: timestamp?, within: duration = 5s) -> bool;
  /// Whether all is well.
  desk_status() -> bool;
}

/// One issue of several.
@idempotent @audience(im)
interface Issue {
  /// What it says.
  @read_only read_body() -> text;
  /// Closes it.
  @mutating close(reason: string [1..200 bytes], dry_run: bool = false) -> bool;
  /// Assigns it.
  @mutating assign(assignee: uuid, labels: list<string [1..20 bytes]> [..5]?, priority: Priority = normal) -> bool;
  /// Links it to another.
  @destructive link(other: entry<Issue>, target: string [..20 bytes] = "") -> bool;
}

/// A lamp.
@mutating @idempotent @audience(local_operator)
interface Lamp {
  /// Sets it.
  set_light(level: int [0..100], color: string [matching "#[0-9a-f]{6}"] = "#ffffff", fade: duration [0..60000] = 0s) -> bool;
}

record Point { x: float; y: float; z: float?; }
enum Kind { anything, tool, Fruit, spare_part }
enum Priority { low, normal, high }
`

func (h *workshop) Fetch(_ context.Context, _ wip.Caller, path string) (wip.Entry, error) {
	return wip.Entry{}, &wip.Failure{Class: wip.NotFound}
}

func (h *workshop) FetchTree(context.Context, wip.Caller, string) (wip.Tree, error) {
	leaf := func(path, iface string) wip.Tree {
		return wip.Tree{Entry: wip.Entry{Path: path, Title: path[1:], Indexable: true,
			Object: &wip.Object{ID: path, Interfaces: []wip.InterfaceRef{{Document: "workshop.wip", Interface: iface}}}}}
	}
	issues := wip.Tree{Entry: wip.Entry{Path: "/issues", Title: "Issues", Indexable: true}}
	for i := range 3 {
		issues.Children = append(issues.Children, leaf(fmt.Sprintf("/issues/%d", i+1), "Issue"))
	}
	return wip.Tree{Entry: wip.Entry{Path: "/"}, Children: []wip.Tree{leaf("/desk", "Desk"), issues, leaf("/lamp", "Lamp")}}, nil
}

func (h *workshop) Document(context.Context, string) ([]byte, error) {
	return []byte(workshopDocument), nil
}

func (h *workshop) CallOperation(_ context.Context, call wip.Call) (wip.Result, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.called = append(h.called, call)
	switch {
	case h.result != nil:
		return h.result(call)
	case call.Operation == "read_body":
		return wip.Result{Value: json.RawMessage(`"words"`)}, nil
	}
	return wip.Result{Value: json.RawMessage(`true`)}, nil
}

// calls returns what the Host was asked to do since the last time.
func (h *workshop) calls() []wip.Call {
	h.mu.Lock()
	defer h.mu.Unlock()
	called := h.called
	h.called = nil
	return called
}

// open mounts the workshop at /w. Everything is approved.
func (h *workshop) open(t testing.TB, trusted bool) *client.Client {
	t.Helper()
	return mount(t, h, trusted)
}

func mounted(t testing.TB, h wip.Host) *client.Client { return mount(t, h, true) }

func mount(t testing.TB, h wip.Host, trusted bool) *client.Client {
	t.Helper()
	c := client.New(&client.Config{Approve: func(context.Context, client.Approval) bool { return true }})
	if err := c.Mount(t.Context(), "/w", h, &client.MountOptions{Trusted: trusted}); err != nil {
		t.Fatal(err)
	}
	return c
}

// visitor may see the desk alone, member the issues too.
var (
	visitor = &policy.Principal{ID: "visitor", Audience: idl.PublicChat}
	member  = &policy.Principal{ID: "member", Audience: idl.IM}
)

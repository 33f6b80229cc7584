package remote_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/wipagent/wipagent/client/remote"
	"github.com/wipagent/wipagent/objects"
	"github.com/wipagent/wipagent/objects/source/demo"
	"github.com/wipagent/wipagent/objects/world"
	"github.com/wipagent/wipagent/space/wip"
)

func TestMain(m *testing.M) {
	if name := os.Getenv("WIPAGENT_TEST_CHILD"); name != "" {
		child(name)
		return
	}
	goleak.VerifyTestMain(m)
}

// grid returns the Host of a village that stands still.
func grid() *objects.Host {
	w := world.New()
	w.Apply(demo.New(nil).Open(time.UnixMilli(1_700_000_000_000))...)
	return objects.New(w, nil)
}

// served returns a Host that reaches another over HTTP.
func served(t testing.TB, host wip.Host, so *remote.ServeOptions, o *remote.Options) *remote.Host {
	t.Helper()
	server := httptest.NewServer(remote.NewHandler(host, so))
	t.Cleanup(server.Close)
	return dial(t, server.URL, o)
}

func dial(t testing.TB, url string, o *remote.Options) *remote.Host {
	t.Helper()
	h, err := remote.Dial(t.Context(), url, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

// ways are all the ways to reach a Host by its name among those that a child can
// serve.
var ways = []struct {
	name  string
	reach func(t testing.TB, name string) wip.Host
}{
	{"in process", func(t testing.TB, name string) wip.Host { return hosts[name](t) }},
	{"http", func(t testing.TB, name string) wip.Host {
		return served(t, hosts[name](t), &remote.ServeOptions{AnyCaller: true}, nil)
	}},
	{"https", func(t testing.TB, name string) wip.Host { return secured(t, hosts[name](t)) }},
	{"stdio", func(t testing.TB, name string) wip.Host { return spawned(t, name, nil) }},
}

// each runs a test with a Host by all ways.
func each(t *testing.T, name string, f func(t *testing.T, host wip.Host)) {
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) { f(t, way.reach(t, name)) })
	}
}

// hosts are those that a child can serve, in which there is no test.
var hosts = map[string]func(testing.TB) wip.Host{
	"grid":   func(testing.TB) wip.Host { return grid() },
	"fake":   func(testing.TB) wip.Host { return newFake() },
	"world":  func(testing.TB) wip.Host { return promptHolder{newHolder(grid())} },
	"issues": func(t testing.TB) wip.Host { return newHolder(issues(t)) },
}

func failureOf(t testing.TB, err error) *wip.Failure {
	t.Helper()
	var f *wip.Failure
	if !errors.As(err, &f) {
		t.Fatalf("found %v, expected a failure", err)
	}
	return f
}

// TestGrid compares every answer of the grid, as it comes by each way, with
// what the Host says itself.
func TestGrid(t *testing.T) {
	direct := grid()
	want, err := direct.FetchTree(t.Context(), wip.Caller{}, "/")
	if err != nil {
		t.Fatal(err)
	}
	each(t, "grid", func(t *testing.T, host wip.Host) {
		ctx := t.Context()
		tree, err := host.FetchTree(ctx, wip.Caller{ID: "someone"}, "/")
		if diff := cmp.Diff(want, tree); err != nil || diff != "" {
			t.Fatalf("%v\n%s", err, diff)
		}
		for _, c := range tree.Children {
			e, err := host.Fetch(ctx, wip.Caller{}, c.Entry.Path)
			if diff := cmp.Diff(c.Entry, e); err != nil || diff != "" {
				t.Errorf("%v\n%s", err, diff)
			}
			name := e.Object.Interfaces[0].Document
			text, err := host.Document(ctx, name)
			wanted, _ := direct.Document(ctx, name)
			if diff := cmp.Diff(string(wanted), string(text)); err != nil || diff != "" {
				t.Errorf("%v\n%s", err, diff)
			}
		}
		call := wip.Call{Path: "/region", Object: "region", Interface: "Region", Operation: "world_location", Arguments: json.RawMessage(`{}`)}
		r, err := host.CallOperation(ctx, call)
		var answer struct {
			Name string `json:"region_name"`
		}
		if err != nil || json.Unmarshal(r.Value, &answer) != nil || answer.Name != demo.Name {
			t.Errorf("found %s, %v", r.Value, err)
		}
		if r, err = host.CallOperation(ctx, call); err != nil || !r.CacheHit {
			t.Errorf("the second call: found cache hit %v, %v", r.CacheHit, err)
		}
		for what, err := range map[string]error{
			"an unknown entry":    second(host.Fetch(ctx, wip.Caller{}, "/nowhere")),
			"an unknown tree":     second(host.FetchTree(ctx, wip.Caller{}, "/nowhere")),
			"an unknown document": second(host.Document(ctx, "nowhere.wip")),
			"an unknown object":   second(host.CallOperation(ctx, wip.Call{Path: "/nowhere", Object: "x", Interface: "X", Operation: "x", Arguments: json.RawMessage(`{}`)})),
		} {
			if f := failureOf(t, err); f.Class != wip.NotFound || f.Message == "" {
				t.Errorf("%s: found %v", what, err)
			}
		}
	})
}

func second[T any](_ T, err error) error { return err }

// fake is a Host whose operations are told what to do by their names.
type fake struct {
	mu   sync.Mutex
	tree wip.Tree
	last wip.Call
}

func newFake() *fake {
	f := &fake{tree: wip.Tree{Entry: wip.Entry{Path: "/", Title: "Fake"}}}
	for i := range 3 {
		f.tree.Children = append(f.tree.Children, wip.Tree{Entry: wip.Entry{Path: fmt.Sprintf("/c%d", i), Indexable: true, Tag: "t"}})
	}
	return f
}

func (f *fake) Fetch(ctx context.Context, caller wip.Caller, path string) (wip.Entry, error) {
	t, err := f.FetchTree(ctx, caller, path)
	return t.Entry, err
}

func (f *fake) FetchTree(_ context.Context, caller wip.Caller, path string) (wip.Tree, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch path {
	case "/":
		return f.tree, nil
	case "/me":
		return wip.Tree{Entry: wip.Entry{Path: "/me", Title: caller.ID}}, nil
	}
	return wip.Tree{}, &wip.Failure{Class: wip.NotFound, Message: "no such entry"}
}

func (f *fake) Document(context.Context, string) ([]byte, error) {
	return []byte("package x;\n"), nil
}

func (f *fake) CallOperation(ctx context.Context, call wip.Call) (wip.Result, error) {
	f.mu.Lock()
	f.last = call
	f.mu.Unlock()
	switch call.Operation {
	case "echo":
		raw, err := json.Marshal(call)
		return wip.Result{Value: raw}, err
	case "wait":
		<-ctx.Done()
		return wip.Result{}, ctx.Err()
	case "panic":
		panic("SECRET")
	case "internal":
		return wip.Result{}, errors.New("SECRET")
	case "internal failure":
		return wip.Result{}, &wip.Failure{Class: wip.Internal, Message: "SECRET", Hint: "SECRET", Err: errors.New("SECRET")}
	case "no class":
		return wip.Result{}, &wip.Failure{Class: "SECRET", Message: "SECRET"}
	case "nil failure":
		var none *wip.Failure
		return wip.Result{}, none
	case "bad value":
		return wip.Result{Value: json.RawMessage(`{"a":`)}, nil
	case "exit":
		os.Exit(3)
	}
	return wip.Result{}, &wip.Failure{
		Class: wip.Class(call.Operation), Message: "message", Hint: "hint", RetryAfter: 1500 * time.Millisecond, MaybeDone: true, Err: errors.New("SECRET"),
	}
}

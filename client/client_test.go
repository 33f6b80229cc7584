package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/audit"
	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space/wip"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeHost is a Host for tests: two entries of one document, and a function
// that answers calls.
type fakeHost struct {
	call    func(ctx context.Context, call wip.Call) (wip.Result, error)
	fetches atomic.Int64
	calls   atomic.Int64
}

const shopDocument = `package shop;
version 1;

/// A shelf that everybody may look at.
@read_only @idempotent @audience(public_chat)
interface Shelf {
  /// Things on the shelf.
  @example(kind: fruit)
  list_things(
    kind: Sort = fruit,
    limit: int [1..10] = 5,
    tag: string [1..16 bytes]?,
  ) -> list<Thing>;
  /// Things like another one.
  related_things() -> list<entry<Shelf>>;
  /// Takes a long time.
  @timeout(1s)
  slow() -> bool;
}

/// The owner's purse.
@read_only @idempotent @audience(authorized_im)
interface Purse {
  /// What is in it.
  balance() -> int;
}

/// The till.
@audience(public_chat) @mutating
interface Till {
  /// Pays.
  pay(amount: int [1..100]) -> int;
}

record Thing { name: text; price: int; }
enum Sort { fruit, tool }
`

func (h *fakeHost) tree() wip.Tree {
	object := func(id string, interfaces ...string) *wip.Object {
		o := &wip.Object{ID: id}
		for _, i := range interfaces {
			o.Interfaces = append(o.Interfaces, wip.InterfaceRef{Document: "shop.wip", Interface: i})
		}
		return o
	}
	leaf := func(path, title string, o *wip.Object) wip.Tree {
		return wip.Tree{Entry: wip.Entry{Path: path, Title: title, Object: o, Indexable: true}}
	}
	return wip.Tree{
		Entry: wip.Entry{Path: "/"},
		Children: []wip.Tree{
			leaf("/shelf", "Shelf", object("s", "Shelf")),
			leaf("/purse", "Purse", object("p", "Purse")),
			leaf("/till", "Till", object("t", "Till")),
		},
	}
}

func (h *fakeHost) Fetch(_ context.Context, _ wip.Caller, path string) (wip.Entry, error) {
	h.fetches.Add(1)
	if strings.HasPrefix(path, "/more/") {
		return wip.Entry{Path: path, Title: "More", Object: &wip.Object{ID: path, Interfaces: []wip.InterfaceRef{{Document: "shop.wip", Interface: "Shelf"}}}}, nil
	}
	if path == "/" {
		return h.tree().Entry, nil
	}
	for _, t := range h.tree().Children {
		if t.Entry.Path == path {
			return t.Entry, nil
		}
	}
	return wip.Entry{}, &wip.Failure{Class: wip.NotFound, Message: "no such entry"}
}

func (h *fakeHost) FetchTree(_ context.Context, _ wip.Caller, path string) (wip.Tree, error) {
	return h.tree(), nil
}

func (h *fakeHost) Document(_ context.Context, name string) ([]byte, error) {
	return fstest.MapFS{"shop.wip": {Data: []byte(shopDocument)}}.ReadFile(name)
}

func (h *fakeHost) CallOperation(ctx context.Context, call wip.Call) (wip.Result, error) {
	h.calls.Add(1)
	return h.call(ctx, call)
}

func answer(value string) func(context.Context, wip.Call) (wip.Result, error) {
	return func(context.Context, wip.Call) (wip.Result, error) {
		return wip.Result{Value: json.RawMessage(value)}, nil
	}
}

// open mounts a fakeHost at /shop and returns the log that the client writes.
func open(t *testing.T, host *fakeHost, cfg client.Config) (*client.Client, *bytes.Buffer) {
	t.Helper()
	log := &bytes.Buffer{}
	cfg.Audit = audit.New(log)
	c := client.New(&cfg)
	if err := c.Mount(t.Context(), "/shop", host, &client.MountOptions{Title: "Shop", Trusted: true}); err != nil {
		t.Fatal(err)
	}
	return c, log
}

var (
	visitor = &policy.Principal{ID: "visitor", Audience: idl.PublicChat}
	owner   = &policy.Principal{ID: "owner", Audience: idl.LocalOperator}
)

// failure returns the error that a verb must have returned.
func failure(t *testing.T, err error) *client.Error {
	t.Helper()
	var e *client.Error
	if !errors.As(err, &e) {
		t.Fatalf("got error %v, want a *client.Error", err)
	}
	return e
}

func call(target, operation, arguments string) client.Call {
	return client.Call{Target: target, Operation: operation, Arguments: json.RawMessage(arguments)}
}

func TestInvoke(t *testing.T) {
	var sent wip.Call
	host := &fakeHost{call: func(_ context.Context, c wip.Call) (wip.Result, error) {
		sent = c
		return wip.Result{Value: json.RawMessage(`[{"name":"see http://evil.example/x","price":3}]`), CacheHit: true}, nil
	}}
	c, log := open(t, host, client.Config{})
	out, err := c.Invoke(t.Context(), visitor, client.Call{ID: "call-7", Target: "/shop/shelf", Operation: "list_things", Arguments: json.RawMessage(`{"limit":"3"}`)})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(out.Result), `[{"trust":"untrusted_observed_data","name":"see [link removed]","price":3}]`; got != want {
		t.Errorf("result %s, want %s", got, want)
	}
	if len(out.Repaired) != 1 || out.Repaired[0].Path != "/limit" {
		t.Errorf("repaired %v, want the limit", out.Repaired)
	}
	want := wip.Call{
		Caller: wip.Caller{ID: "visitor"}, ID: "call-7", Path: "/shelf", Object: "s", Interface: "Shelf", Operation: "list_things",
		Arguments: json.RawMessage(`{"kind":"fruit","limit":3,"tag":null}`), Idempotent: true,
	}
	if diff := cmp.Diff(want, sent); diff != "" {
		t.Errorf("the Host was sent (-want +got):\n%s", diff)
	}
	var rec map[string]any
	if err := json.Unmarshal(log.Bytes(), &rec); err != nil {
		t.Fatalf("want one record, got %s: %v", log, err)
	}
	for key, want := range map[string]any{
		"call": "call-7", "principal": "visitor", "audience": "public_chat", "verb": "invoke", "tool": "/shop/shelf#list_things",
		"outcome": "ok", "cache_hit": true, "result_bytes": float64(len(out.Result)),
	} {
		if rec[key] != want {
			t.Errorf("audit record has %s = %v, want %v", key, rec[key], want)
		}
	}
}

func TestArgumentError(t *testing.T) {
	c, _ := open(t, &fakeHost{call: answer(`[]`)}, client.Config{})
	_, err := c.Invoke(t.Context(), visitor, call("/shop/shelf", "list_things", `{"limit":1000,"kindd":"tool"}`))
	e := failure(t, err)
	if e.Class != client.BadArguments || len(e.Faults) != 2 {
		t.Fatalf("got %v, want two faults", e)
	}
	if got, want := string(e.Corrected), `{"target":"/shop/shelf","operation":"list_things","arguments":{"kind":"tool","limit":10}}`; got != want {
		t.Fatalf("corrected call %s, want %s", got, want)
	}
	var again client.Call
	if err := json.Unmarshal(e.Corrected, &again); err != nil {
		t.Fatal(err)
	}
	if out, err := c.Invoke(t.Context(), visitor, again); err != nil || out.Repaired != nil {
		t.Errorf("the corrected call gives %v, %v", out, err)
	}
}

func TestNotFoundCarriesTheCallThatWasMeant(t *testing.T) {
	c, _ := open(t, &fakeHost{call: answer(`[]`)}, client.Config{})
	for _, test := range []struct{ target, operation, arguments, want string }{
		{"shop/shelf", "list_things", `{}`, `{"target":"/shop/shelf","operation":"list_things","arguments":{}}`},
		{"/shop/shelf/", "listThings", `{}`, `{"target":"/shop/shelf","operation":"list_things","arguments":{}}`},
		{"/shop/shelv", "list_thing", `{"limit":99}`, `{"target":"/shop/shelf","operation":"list_things","arguments":{"limit":10}}`},
		{"/shop/shelf", "list_thinsg", `{"limit":2}`, `{"target":"/shop/shelf","operation":"list_things","arguments":{"limit":2}}`},
		{"/shop/shelf#list_things", "list_things", `{}`, `{"target":"/shop/shelf","operation":"list_things","arguments":{}}`},
		{"shelf", "list_things", `{}`, `{"target":"/shop/shelf","operation":"list_things","arguments":{}}`},
		{"/shop/till", "list_things", `{}`, `{"target":"/shop/shelf","operation":"list_things","arguments":{}}`},
		{"/elsewhere/entirely", "list_things", `{}`, `{"target":"/shop/shelf","operation":"list_things","arguments":{}}`},
		{"/shop/till", "balance", `{}`, ``}, // the visitor may not know who has it
		{"/shop/shelf", "burn", `{}`, ``},
		{"/nowhere", "burn", `{}`, ``},
	} {
		_, err := c.Invoke(t.Context(), visitor, call(test.target, test.operation, test.arguments))
		e := failure(t, err)
		if e.Class != client.NotFound || string(e.Corrected) != test.want {
			t.Errorf("%s %s: %s with corrected call %s, want not_found with %s", test.target, test.operation, e.Class, e.Corrected, test.want)
		}
	}
}

func TestEntriesAreKeptForTheirCaller(t *testing.T) {
	host := &fakeHost{call: answer(`["/more/1","/more/2","/more/1"]`)}
	c, _ := open(t, host, client.Config{})
	out, err := c.Invoke(t.Context(), visitor, call("/shop/shelf", "related_things", `{}`))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(out.Result), `["/shop/more/1","/shop/more/2","/shop/more/1"]`; got != want {
		t.Errorf("result %s, want paths in the space %s", got, want)
	}
	if diff := cmp.Diff([]string{"/shop/more/1", "/shop/more/2"}, out.Entries); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	before := host.fetches.Load()
	if found, err := c.Inspect(t.Context(), visitor, "/shop/more/1"); err != nil || found.Node.Title != "More" {
		t.Fatalf("inspect gives %v, %v", found, err)
	}
	if n := host.fetches.Load() - before; n != 0 {
		t.Errorf("inspecting a known entry fetched %d times", n)
	}
	found, err := c.Discover(t.Context(), visitor, "/", "more")
	if err != nil {
		t.Fatal(err)
	}
	for _, hit := range found.Hits {
		if strings.HasPrefix(hit.Path, "/shop/more") {
			t.Errorf("an entry found in a result is discoverable: %s", hit.Path)
		}
	}
}

func TestApproval(t *testing.T) {
	host := &fakeHost{call: answer(`1`)}
	c, _ := open(t, host, client.Config{})
	pay := call("/shop/till", "pay", `{"amount":5}`)
	_, err := c.Invoke(t.Context(), visitor, pay)
	if e := failure(t, err); e.Class != client.Refused || host.calls.Load() != 0 {
		t.Fatalf("without Approve: %v after %d calls at the Host", e, host.calls.Load())
	}
	var asked client.Approval
	c, _ = open(t, host, client.Config{Approve: func(_ context.Context, a client.Approval) bool { asked = a; return true }})
	if _, err := c.Invoke(t.Context(), visitor, call("/shop/till", "pay", `{"amount":500}`)); failure(t, err).Class != client.BadArguments || asked.Operation != nil {
		t.Errorf("bad arguments: %v, and Approve was asked: %v", err, asked.Operation != nil)
	}
	if _, err := c.Invoke(t.Context(), visitor, pay); err != nil {
		t.Fatal(err)
	}
	if asked.Operation == nil || asked.Operation.Name != "pay" || asked.Principal != visitor {
		t.Errorf("Approve was asked about %v", asked)
	}
}

func TestHostTrouble(t *testing.T) {
	for name, test := range map[string]struct {
		call func(context.Context, wip.Call) (wip.Result, error)
		want client.Class
		text string // in the message
	}{
		"domain": {func(context.Context, wip.Call) (wip.Result, error) {
			return wip.Result{}, &wip.Failure{Class: wip.Domain, Message: "closed, see http://x.example/", Hint: "come back", RetryAfter: time.Second}
		}, client.Domain, "closed, see [link removed]"},
		"transient": {func(context.Context, wip.Call) (wip.Result, error) {
			return wip.Result{}, &wip.Failure{Class: wip.Transient, Message: "SECRET"}
		}, client.Unavailable, "cannot answer at the moment"},
		"internal": {func(context.Context, wip.Call) (wip.Result, error) {
			return wip.Result{}, &wip.Failure{Class: wip.Internal, Message: "SECRET", Err: errors.New("SECRET")}
		}, client.Unavailable, "do not retry this tool"},
		"foreign error": {func(context.Context, wip.Call) (wip.Result, error) {
			return wip.Result{}, errors.New("SECRET")
		}, client.Unavailable, "do not retry this tool"},
		"panic":            {func(context.Context, wip.Call) (wip.Result, error) { panic("SECRET") }, client.Unavailable, "do not retry this tool"},
		"undeclared field": {answer(`[{"name":"a","price":1,"a SECRET":1}]`), client.Unavailable, "do not retry this tool"},
		"wrong type":       {answer(`[{"name":"SECRET","price":"SECRET"}]`), client.Unavailable, "do not retry this tool"},
		"no JSON":          {answer(`SECRET`), client.Unavailable, "do not retry this tool"},
		"nothing":          {answer(``), client.Unavailable, "do not retry this tool"},
		"too large":        {answer(`[` + strings.Repeat(`{"name":"","price":1},`, 20000) + `{"name":"","price":1}]`), client.Domain, "larger than"},
	} {
		t.Run(name, func(t *testing.T) {
			c, log := open(t, &fakeHost{call: test.call}, client.Config{})
			_, err := c.Invoke(t.Context(), visitor, call("/shop/shelf", "list_things", `{"tag":"SECRET"}`))
			e := failure(t, err)
			if e.Class != test.want || !strings.Contains(e.Message, test.text) {
				t.Errorf("got %v, want %s with %q", e, test.want, test.text)
			}
			raw, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			if all := log.String() + string(raw) + e.Error(); strings.Contains(all, "SECRET") {
				t.Errorf("what was sent or what the Host said leaked: %s", all)
			}
			if e.Ref != "" && !strings.Contains(log.String(), e.Ref) {
				t.Errorf("the log does not know the reference %s: %s", e.Ref, log)
			}
			if test.want == client.Unavailable && e.Ref == "" {
				t.Error("no reference")
			}
		})
	}
}

func TestDeadlineAndCancellation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := &fakeHost{call: func(ctx context.Context, _ wip.Call) (wip.Result, error) {
			<-ctx.Done()
			return wip.Result{}, ctx.Err()
		}}
		c, _ := open(t, host, client.Config{})
		start := time.Now()
		_, err := c.Invoke(t.Context(), visitor, call("/shop/shelf", "slow", `{}`))
		if e := failure(t, err); e.Class != client.Unavailable || !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("got %v after %s, want unavailable after the operation's 1 s", e, time.Since(start))
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(10*time.Millisecond, cancel)
		_, err = c.Invoke(ctx, visitor, call("/shop/shelf", "slow", `{}`))
		if e := failure(t, err); e.Class != client.Unavailable || !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want that it was cancelled", e)
		}
	})
}

// A Host that does not heed its context must not hold the caller.
func TestStubbornHost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		host := &fakeHost{call: func(context.Context, wip.Call) (wip.Result, error) {
			<-release
			return wip.Result{Value: json.RawMessage(`true`)}, nil
		}}
		c, _ := open(t, host, client.Config{})
		start := time.Now()
		_, err := c.Invoke(t.Context(), visitor, call("/shop/shelf", "slow", `{}`))
		if failure(t, err); time.Since(start) != time.Second {
			t.Errorf("held for %s, want 1 s", time.Since(start))
		}
		close(release)
	})
}

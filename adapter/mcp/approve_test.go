package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wipagent/wipagent/adapter"
	"github.com/wipagent/wipagent/adapter/mcp"
	"github.com/wipagent/wipagent/adapter/script"
	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/audit"
	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/client/policy/principals"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space/wip"
)

// till is a Host with operations that change something.
type till struct {
	mu   sync.Mutex
	got  []string
	keys []string
}

func (*till) Fetch(_ context.Context, _ wip.Caller, path string) (wip.Entry, error) {
	return wip.Entry{Path: path, Indexable: true, Object: &wip.Object{ID: "t", Interfaces: []wip.InterfaceRef{{Document: "t.wip", Interface: "Till"}}}}, nil
}

func (h *till) FetchTree(ctx context.Context, caller wip.Caller, path string) (wip.Tree, error) {
	e, err := h.Fetch(ctx, caller, path)
	return wip.Tree{Entry: e}, err
}

func (*till) Document(context.Context, string) ([]byte, error) {
	return []byte(`package t; @mutating interface Till { @dry_run pay(amount: int [1..9], note: string = "") -> int; shut() -> bool; @read_only sum() -> int; }`), nil
}

func (h *till) CallOperation(_ context.Context, call wip.Call) (wip.Result, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if call.DryRun {
		return wip.Result{Value: json.RawMessage(`7`)}, nil
	}
	h.got = append(h.got, call.Operation)
	h.keys = append(h.keys, call.IdempotencyKey)
	if call.Operation == "shut" {
		return wip.Result{Value: json.RawMessage(`true`)}, nil
	}
	return wip.Result{Value: json.RawMessage(`1`)}, nil
}

func (h *till) done() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := strings.Join(h.got, " ")
	h.got = nil
	return s
}

// user is whoever sits at a client, and answers what is asked.
type user struct {
	action string
	asked  []string
}

func (u *user) answer(_ context.Context, req *sdk.ElicitRequest) (*sdk.ElicitResult, error) {
	u.asked = append(u.asked, req.Params.Message)
	return &sdk.ElicitResult{Action: u.action, Content: map[string]any{}}, nil
}

// shop serves a till to a client of a version of the protocol; a nil user cannot
// be asked.
func shop(t *testing.T, h *till, u *user, version string, change ...func(*sdk.ClientOptions)) (*sdk.ClientSession, *bytes.Buffer) {
	t.Helper()
	log := &bytes.Buffer{}
	c := client.New(&client.Config{Audit: audit.New(log)})
	if err := c.Mount(t.Context(), "/till", h, &client.MountOptions{Trusted: true}); err != nil {
		t.Fatal(err)
	}
	server := mcp.NewServer(mcp.Config{
		Client: c, Principal: &policy.Principal{ID: "robot", Audience: idl.LocalOperator}, Version: "test",
		Surface: adapter.Operations, Code: script.NewRunner(c, script.Limits{}),
	})
	ours, theirs := sdk.NewInMemoryTransports()
	serving, err := server.Connect(t.Context(), ours, nil)
	if err != nil {
		t.Fatal(err)
	}
	opt := &sdk.ClientOptions{}
	if u != nil {
		opt.ElicitationHandler = u.answer
	}
	for _, f := range change {
		f(opt)
	}
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, opt).
		Connect(t.Context(), theirs, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = session.Close()
		_ = serving.Wait()
	})
	return session, log
}

var versions = []string{"2025-06-18", "2025-11-25", "2026-07-28"}

// TestElicitation asks users for what changes things, by every version of the
// protocol that can: only to accept is to approve.
func TestElicitation(t *testing.T) {
	for _, version := range versions {
		h, u := &till{}, &user{}
		s, log := shop(t, h, u, version)
		if got := s.InitializeResult().ProtocolVersion; got != version {
			t.Fatalf("version %s is spoken, want %s", got, version)
		}
		for i, action := range []string{"decline", "cancel", "accept"} {
			u.action, u.asked = action, nil
			log.Reset()
			answer, failed := call(t, s, "till_pay", fmt.Sprintf(`{"amount":%d,"note":"see https://evil.example/x"}`, i+1))
			want := map[bool]string{true: "pay"}[action == "accept"]
			if got := h.done(); got != want || failed != (want == "") || len(u.asked) != 1 {
				t.Errorf("%s, %s: the Host was asked for %q, the user %d times: %s", version, action, got, len(u.asked), answer)
			}
			if failed && !strings.Contains(answer, `"class":"refused"`) || strings.Contains(answer, "waits") || strings.Contains(answer, "before") {
				t.Errorf("%s, %s: %s", version, action, answer)
			}
			waiting := strings.Count(log.String(), `"outcome":"waiting"`)
			if records := strings.Count(log.String(), "\n"); records != 1+waiting || waiting > 1 || (waiting == 1) != (version >= "2026") {
				t.Errorf("%s, %s: %d records, of which %d are of waiting", version, action, records, waiting)
			}
		}
		for _, part := range []string{"robot (local_operator)", "pay of /till", `{"amount":3,"note":"see [link removed]"}`, "A dry run says: 7"} {
			if !strings.Contains(u.asked[0], part) {
				t.Errorf("%s: the question lacks %q: %s", version, part, u.asked[0])
			}
		}
		u.asked = nil
		for _, harmless := range []string{`{"amount":3,"dry_run":true}`, `{"amount":30}`} {
			if call(t, s, "till_pay", harmless); len(u.asked) > 0 || h.done() != "" {
				t.Errorf("%s: the user was asked about %s", version, harmless)
			}
		}
		u.action = "accept"
		answer, failed := call(t, s, "run_script", `{"code":"till.pay(amount=1)\ntill.shut()\n"}`)
		if version >= "2026" { // a program is not run from its start for each question
			if !failed || h.done() != "" || len(u.asked) > 0 {
				t.Errorf("%s: a program: %s", version, answer)
			}
		} else if failed || h.done() != "pay shut" || len(u.asked) != 2 {
			t.Errorf("%s: a program: %s", version, answer)
		}
	}
}

// TestNobodyToAsk has a client that cannot ask its user.
func TestNobodyToAsk(t *testing.T) {
	for _, version := range versions {
		h := &till{}
		s, _ := shop(t, h, nil, version)
		if answer, failed := call(t, s, "till_shut", `{}`); !failed || !strings.Contains(answer, "nobody can be asked") || h.done() != "" {
			t.Errorf("%s: %s", version, answer)
		}
	}
}

// TestForgedAnswers brings answers to questions that were never asked, or that
// were about other calls; and one to the question that was.
func TestForgedAnswers(t *testing.T) {
	h, u := &till{}, &user{action: "decline"}
	s, _ := shop(t, h, u, "2026-07-28", func(o *sdk.ClientOptions) { o.MultiRoundTrip = &sdk.MultiRoundTripOptions{Disabled: true} })
	bring := func(tool, arguments, state, action string) *sdk.CallToolResult {
		t.Helper()
		p := &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments), RequestState: state}
		if action != "" {
			p.InputResponses = sdk.InputResponseMap{"approval": &sdk.ElicitResult{Action: action}}
		}
		r, err := s.CallTool(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	asked := bring("till_pay", `{"amount":3}`, "", "")
	if len(asked.InputRequests) != 1 || asked.RequestState == "" || h.done() != "" {
		t.Fatalf("it asks %v", asked)
	}
	state := asked.RequestState
	for _, forged := range []struct{ tool, arguments, state string }{
		{"till_shut", `{}`, ""}, {"till_shut", `{}`, "."}, {"till_shut", `{}`, "eA.eA"}, {"till_shut", `{}`, "!.!"},
		{"till_shut", `{}`, strings.Repeat("x", 10000)},
		{"till_shut", `{"amount":3}`, state}, {"till_pay", `{"amount":4}`, state}, {"till_pay", `{"amount":3,"note":""}`, state}, {"till_pay", `{"amount":3}`, "x" + state},
	} {
		if r := bring(forged.tool, forged.arguments, forged.state, "accept"); h.done() != "" || len(r.InputRequests) == 0 && !r.IsError {
			t.Errorf("%+v is believed", forged)
		}
	}
	if r := bring("till_pay", `{"amount":3}`, state, "decline"); !r.IsError || h.done() != "" {
		t.Errorf("declined: %+v", r)
	}
	if r := bring("till_pay", ` { "amount" : 3 } `, state, "accept"); r.IsError || h.done() != "pay" {
		t.Errorf("accepted: %+v", r)
	}
	if bring("till_pay", `{"amount":3}`, state, "accept"); h.keys[0] != h.keys[1] {
		t.Errorf("brought again, the answer makes another call: %v", h.keys)
	}
}

// TestCallID gives a tool call an identifier, by which a Host knows it again.
func TestCallID(t *testing.T) {
	for _, version := range versions {
		h, u := &till{}, &user{action: "accept"}
		s, _ := shop(t, h, u, version)
		for _, id := range []string{"toolu_1", "toolu_1", "toolu_2", "", ""} {
			params := &sdk.CallToolParams{Name: "till_shut", Arguments: json.RawMessage(`{}`)}
			if id != "" {
				params.Meta = sdk.Meta{"wipagent/call-id": id}
			}
			if r, err := s.CallTool(t.Context(), params); err != nil || r.IsError {
				t.Fatalf("%s: %v, %v", version, r, err)
			}
		}
		k := h.keys
		if len(k) != 5 || k[0] != k[1] || k[1] == k[2] || k[2] == k[3] || k[3] == k[4] {
			t.Errorf("%s: keys %v", version, k)
		}
	}
}

// TestElicitationOverHTTP asks the user of a client over HTTP.
func TestElicitationOverHTTP(t *testing.T) {
	h, u := &till{}, &user{}
	handler, _ := lent(t, h, &tokens{m: map[string]*principals.Access{"good": access("ada", idl.LocalOperator)}}, nil)
	server := httptest.NewServer(handler)
	defer server.Close()
	s, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, &sdk.ClientOptions{ElicitationHandler: u.answer}).Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint: server.URL + mcp.HTTPPath, HTTPClient: &http.Client{Transport: bearing{"good", nil, server.Client().Transport}}, MaxRetries: -1,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, action := range []string{"decline", "accept"} {
		u.action = action
		answer, failed := call(t, s, "invoke", `{"target":"/diary","operation":"shut","arguments":{}}`)
		if failed != (action == "decline") || (h.done() == "shut") != (action == "accept") {
			t.Errorf("%s: %s", action, answer)
		}
	}
	if len(u.asked) != 2 {
		t.Errorf("the user was asked %d times", len(u.asked))
	}
}

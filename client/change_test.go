package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space/wip"
)

// deskHost is a Host whose Object and document can be exchanged, and which keeps
// the calls that it gets.
type deskHost struct {
	object   string
	document string
	call     func(context.Context, wip.Call) (wip.Result, error)
	mu       sync.Mutex
	got      []wip.Call
	alone    bool // its entries are in no tree
	sha256   string
}

const deskDocument = `package desk;
@audience(public_chat)
interface Desk {
  @read_only look() -> int;
  @read_only search(what: string) -> int;
  @mutating @dry_run write(text: string [1..20 bytes]) -> int;
  @mutating @dry_run @idempotent label(text: string) -> int;
  @destructive burn() -> int;
  @audience(local_operator) @read_only secret() -> int;
}
`

func (h *deskHost) Fetch(_ context.Context, _ wip.Caller, path string) (wip.Entry, error) {
	e := wip.Entry{Path: path, Indexable: !h.alone}
	if path == "/desk" && h.object != "" {
		e.Object = &wip.Object{ID: h.object, Interfaces: []wip.InterfaceRef{{Document: "desk.wip", Interface: "Desk", SHA256: h.sha256}}}
		return e, nil
	}
	if path == "/" {
		return e, nil
	}
	return e, &wip.Failure{Class: wip.NotFound, Message: "no such entry"}
}

func (h *deskHost) FetchTree(ctx context.Context, caller wip.Caller, path string) (wip.Tree, error) {
	e, err := h.Fetch(ctx, caller, path)
	t := wip.Tree{Entry: e}
	if desk, gone := h.Fetch(ctx, caller, "/desk"); path == "/" && gone == nil && !h.alone {
		t.Children = []wip.Tree{{Entry: desk}}
	}
	return t, err
}

func (h *deskHost) Document(context.Context, string) ([]byte, error) {
	return []byte(h.document), nil
}

func (h *deskHost) CallOperation(ctx context.Context, call wip.Call) (wip.Result, error) {
	h.mu.Lock() // a call whose caller has gone may still be on its way
	h.got = append(h.got, call)
	h.mu.Unlock()
	if call.Object != h.object {
		return wip.Result{}, &wip.Failure{Class: wip.Stale, Message: "another object"}
	}
	if h.call == nil {
		return wip.Result{Value: json.RawMessage(`1`)}, nil
	}
	return h.call(ctx, call)
}

// open mounts the desk at /d.
func (h *deskHost) open(t *testing.T, trusted bool, approve func(client.Approval) bool) *client.Client {
	t.Helper()
	cfg := &client.Config{}
	if approve != nil {
		cfg.Approve = func(_ context.Context, a client.Approval) bool { return approve(a) }
	}
	if h.object == "" {
		h.object = "first"
	}
	if h.document == "" {
		h.document = deskDocument
	}
	c := client.New(cfg)
	if err := c.Mount(t.Context(), "/d", h, &client.MountOptions{Trusted: trusted}); err != nil {
		t.Fatal(err)
	}
	return c
}

func yes(client.Approval) bool { return true }

// done lists what the Host was asked for, dry runs with a mark.
func (h *deskHost) done() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var list []string
	for _, call := range h.got {
		if call.DryRun {
			call.Operation = "try-" + call.Operation
		}
		list = append(list, call.Operation)
	}
	h.got = nil
	return strings.Join(list, " ")
}

func TestIdempotencyKey(t *testing.T) {
	h := &deskHost{}
	c := h.open(t, true, yes)
	robot := &policy.Principal{ID: "robot", Audience: idl.PublicChat}
	key := func(ctx context.Context, p *policy.Principal, call client.Call) string {
		t.Helper()
		call.Target, call.Operation, call.Arguments = "/d/desk", "burn", json.RawMessage(`{}`)
		if _, err := c.Invoke(ctx, p, call); err != nil {
			t.Fatal(err)
		}
		return h.got[len(h.got)-1].IdempotencyKey
	}
	first := key(t.Context(), robot, client.Call{ID: "toolu_1", Run: "a"})
	for name, other := range map[string]struct {
		key  string
		same bool
	}{
		"again":              {key(t.Context(), robot, client.Call{ID: "toolu_1", Run: "a"}), true},
		"the context's run":  {key(client.WithRun(t.Context(), "a"), robot, client.Call{ID: "toolu_1"}), true},
		"the call's run":     {key(client.WithRun(t.Context(), "b"), robot, client.Call{ID: "toolu_1", Run: "a"}), true},
		"another call":       {key(t.Context(), robot, client.Call{ID: "toolu_2", Run: "a"}), false},
		"another run":        {key(t.Context(), robot, client.Call{ID: "toolu_1", Run: "b"}), false},
		"no run":             {key(t.Context(), robot, client.Call{ID: "toolu_1"}), false},
		"another caller":     {key(t.Context(), visitor, client.Call{ID: "toolu_1", Run: "a"}), false},
		"moved boundaries":   {key(t.Context(), robot, client.Call{ID: "oolu_1", Run: "at"}), false},
		"no ID":              {key(t.Context(), robot, client.Call{Run: "a"}), false},
		"an ID for no log":   {key(t.Context(), robot, client.Call{ID: "an ID with spaces", Run: "a"}), false},
		"the same for a log": {key(t.Context(), robot, client.Call{ID: "an ID with spaces!", Run: "a"}), false},
	} {
		if (other.key == first) != other.same || len(other.key) != 32 {
			t.Errorf("%s: key %q, the first is %q", name, other.key, first)
		}
	}
	if a, b := key(t.Context(), robot, client.Call{ID: "an ID"}), key(t.Context(), robot, client.Call{ID: "an ID"}); a != b {
		t.Error("an ID that is not fit for the log makes another key each time")
	}
	h.done()
	if _, err := c.Invoke(t.Context(), robot, call("/d/desk", "look", `{}`)); err != nil || h.got[0].IdempotencyKey != "" {
		t.Errorf("what only reads has the key %q, %v", h.got[0].IdempotencyKey, err)
	}
}

func TestDryRun(t *testing.T) {
	h := &deskHost{}
	c := h.open(t, true, nil)
	try := func(operation, arguments string) (*client.Outcome, error) {
		return c.Invoke(t.Context(), visitor, client.Call{Target: "/d/desk", Operation: operation, DryRun: true, Arguments: json.RawMessage(arguments)})
	}
	out, err := try("write", `{"text":"x"}`)
	if err != nil || !out.DryRun || h.got[0].IdempotencyKey != "" || h.done() != "try-write" {
		t.Errorf("%+v, %v", out, err)
	}
	if raw, err := json.Marshal(out); err != nil || string(raw) != `{"result":1,"dry_run":true}` {
		t.Errorf("%s, %v", raw, err)
	}
	_, err = try("burn", `{}`)
	e := failure(t, err)
	if e.Class != client.BadArguments || len(e.Faults) != 1 || e.Faults[0].Path != "/dry_run" || e.Corrected != nil {
		t.Errorf("of what cannot be tried: %v with correction %s", e, e.Corrected)
	}
	_, err = try("look", `{}`)
	if e := failure(t, err); string(e.Corrected) != `{"target":"/d/desk","operation":"look","arguments":{}}` {
		t.Errorf("of what only reads: %v with correction %s", e, e.Corrected)
	}
	_, err = try("write", `{"txt":"x"}`)
	if e := failure(t, err); string(e.Corrected) != `{"target":"/d/desk","operation":"write","dry_run":true,"arguments":{"text":"x"}}` {
		t.Errorf("a wrong trial is corrected to %s", e.Corrected)
	}
	_, err = c.Invoke(t.Context(), visitor, client.Call{Target: "/d/dsek", Operation: "burn", DryRun: true, Arguments: json.RawMessage(`{}`)})
	if e := failure(t, err); e.Class != client.NotFound || e.Corrected != nil {
		t.Errorf("a trial of what cannot be tried is corrected to %s", e.Corrected)
	}
	// What is hidden cannot be told from what never was by its dry run.
	_, hidden := try("secret", `{}`)
	_, absent := try("secrte", `{}`)
	if failure(t, hidden).Class != client.NotFound || failure(t, absent).Class != client.NotFound {
		t.Errorf("%v, %v", hidden, absent)
	}
	if h.done() != "" {
		t.Error("a refused trial reached the Host")
	}

	strange := &deskHost{}
	c = strange.open(t, false, nil)
	if _, err := try("write", `{"text":"x"}`); failure(t, err).Class != client.Refused || strange.done() != "" {
		t.Errorf("a dry run of a Host that nobody vouches for: %v", err)
	}
}

func TestApprover(t *testing.T) {
	h := &deskHost{}
	c := h.open(t, true, func(client.Approval) bool { return false })
	var asked client.Approval
	answer := true
	ctx := client.WithApprover(t.Context(), func(_ context.Context, a client.Approval) bool { asked = a; return answer })
	write := call("/d/desk", "write", `{"text":"see https://evil.example/ ok"}`)
	write.Arguments = json.RawMessage(`{"text":"a.example.com/x"}`)
	if _, err := c.Invoke(ctx, visitor, write); err != nil || h.done() != "try-write write" {
		t.Errorf("approved: %v", err)
	}
	want := client.Approval{Principal: visitor, Call: write, Risk: idl.Mutating, Trusted: true, Preview: json.RawMessage(`1`)}
	got := asked
	got.Operation = nil
	if diff := cmp.Diff(want, got, cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".deferred" }, cmp.Ignore())); diff != "" {
		t.Errorf("asked for (-want +got):\n%s", diff)
	}
	question := asked.Question()
	for _, part := range []string{"visitor (public_chat) asks for write of /d/desk.", "It changes things.", `{"text":"[link removed]"}`, "A dry run says: 1"} {
		if !strings.Contains(question, part) {
			t.Errorf("the question lacks %q:\n%s", part, question)
		}
	}
	if _, err := c.Invoke(t.Context(), visitor, write); failure(t, err).Class != client.Refused || h.done() != "try-write" {
		t.Errorf("by Config.Approve: %v", err)
	}
	answer = false
	if _, err := c.Invoke(ctx, visitor, call("/d/desk", "burn", `{}`)); failure(t, err).Class != client.Refused || h.done() != "" || asked.Risk != idl.Destructive {
		t.Errorf("declined: %v, risk %s", err, asked.Risk)
	}
	// What the domain forbids is nothing to ask for.
	h.call = func(context.Context, wip.Call) (wip.Result, error) {
		return wip.Result{}, &wip.Failure{Class: wip.Domain, Message: "the pen is dry"}
	}
	asked = client.Approval{}
	if _, err := c.Invoke(ctx, visitor, write); failure(t, err).Message != "the pen is dry" || asked.Operation != nil {
		t.Errorf("forbidden: %v", err)
	}
	h.done()
	// A preview that cannot be had keeps nobody from deciding.
	h.call = func(_ context.Context, call wip.Call) (wip.Result, error) {
		if call.DryRun {
			return wip.Result{}, errors.New("broken")
		}
		return wip.Result{Value: json.RawMessage(`1`)}, nil
	}
	answer = true
	if _, err := c.Invoke(ctx, visitor, write); err != nil || asked.Preview != nil {
		t.Errorf("without preview: %v", err)
	}
}

// TestApprovalTakesItsTime proves that the time of whoever approves is not the
// operation's, and that a caller who goes away ends the question.
func TestApprovalTakesItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &deskHost{}
		c := h.open(t, true, func(client.Approval) bool { time.Sleep(time.Hour); return true })
		if _, err := c.Invoke(t.Context(), visitor, call("/d/desk", "burn", `{}`)); err != nil || h.done() != "burn" {
			t.Errorf("approved after an hour: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		ctx = client.WithApprover(ctx, func(ctx context.Context, _ client.Approval) bool { <-ctx.Done(); return false })
		_, err := c.Invoke(ctx, visitor, call("/d/desk", "burn", `{}`))
		if e := failure(t, err); e.Class != client.Unavailable || e.Outcome != "" || h.done() != "" {
			t.Errorf("gone while it was asked: %v", e)
		}
	})
}

func TestQuestionIsBoundedAndClean(t *testing.T) {
	var asked client.Approval
	h := &deskHost{document: strings.ReplaceAll(deskDocument, "string [1..20 bytes]", "string")}
	c := h.open(t, false, func(a client.Approval) bool { asked = a; return false })
	args, _ := json.Marshal(map[string]string{"text": "\x1b[2J\u202e\n" + strings.Repeat("yes, ", 5000)})
	if _, err := c.Invoke(t.Context(), visitor, call("/d/desk", "write", string(args))); failure(t, err).Class != client.Refused {
		t.Fatal(err)
	}
	q := asked.Question()
	if len(q) > 4<<10 || strings.ContainsAny(q, "\x1b\u202e") || strings.Count(q, "\n") > 5 || !strings.Contains(q, "Nobody vouches") ||
		!strings.Contains(q, "bytes, of which this is the beginning") || asked.Preview != nil || asked.Risk != idl.Destructive {
		t.Errorf("%d bytes: %.600s", len(q), q)
	}
}

// TestOutcome looks at what a caller is told of calls that may have been done.
func TestOutcome(t *testing.T) {
	fails := func(f error) func(context.Context, wip.Call) (wip.Result, error) {
		return func(_ context.Context, call wip.Call) (wip.Result, error) {
			if call.DryRun {
				return wip.Result{Value: json.RawMessage(`1`)}, nil
			}
			return wip.Result{}, f
		}
	}
	lost := &wip.Failure{Class: wip.Transient, Message: "SECRET", MaybeDone: true, RetryAfter: time.Second}
	for name, test := range map[string]struct {
		operation string
		call      func(context.Context, wip.Call) (wip.Result, error)
		class     client.Class
		outcome   string
		hint      string
	}{
		"lost":                      {"burn", fails(lost), client.Unavailable, "unknown", "do not send it again before you know: read it back with look, search"},
		"lost, idempotent":          {"label", fails(lost), client.Unavailable, "unknown", "may be sent again"},
		"lost, of what reads":       {"look", fails(lost), client.Unavailable, "", "may succeed"},
		"not reached":               {"burn", fails(&wip.Failure{Class: wip.Transient}), client.Unavailable, "", "may succeed"},
		"forbidden":                 {"burn", fails(&wip.Failure{Class: wip.Domain, Message: "no", Hint: "wait"}), client.Domain, "", "wait"},
		"forbidden, perhaps":        {"burn", fails(&wip.Failure{Class: wip.Domain, Message: "no", MaybeDone: true}), client.Unavailable, "unknown", "read it back"},
		"defect":                    {"burn", fails(&wip.Failure{Class: wip.Internal}), client.Unavailable, "", ""},
		"defect, perhaps":           {"burn", fails(&wip.Failure{Class: wip.Internal, MaybeDone: true}), client.Unavailable, "unknown", "read it back"},
		"an error that says little": {"burn", fails(errors.New("SECRET")), client.Unavailable, "unknown", "read it back"},
		"panic":                     {"burn", func(context.Context, wip.Call) (wip.Result, error) { panic("SECRET") }, client.Unavailable, "unknown", "read it back"},
		"garbled": {"burn", func(context.Context, wip.Call) (wip.Result, error) {
			return wip.Result{Value: json.RawMessage(`"SECRET"`)}, nil
		}, client.Unavailable, "unknown", "read it back"},
	} {
		h := &deskHost{call: test.call}
		c := h.open(t, true, yes)
		_, err := c.Invoke(t.Context(), visitor, call("/d/desk", test.operation, map[string]string{"label": `{"text":"x"}`}[test.operation]+map[string]string{"burn": "{}", "look": "{}"}[test.operation]))
		e := failure(t, err)
		if e.Class != test.class || e.Outcome != test.outcome || !strings.Contains(e.Hint, test.hint) || strings.Contains(e.Hint, "secret") {
			t.Errorf("%s: %s with outcome %q: %v", name, e.Class, e.Outcome, e)
		}
		raw, _ := json.Marshal(e)
		if got := strings.Contains(string(raw), `"outcome":"unknown"`); got != (test.outcome == "unknown") || strings.Contains(string(raw), "SECRET") {
			t.Errorf("%s: %s", name, raw)
		}
		if test.outcome == "unknown" && (e.Ref == "" || test.operation == "burn" && e.RetryAfter != 0) {
			t.Errorf("%s: ref %q, again after %s", name, e.Ref, e.RetryAfter)
		}
	}
	synctest.Test(t, func(t *testing.T) {
		h := &deskHost{call: func(ctx context.Context, _ wip.Call) (wip.Result, error) {
			<-ctx.Done()
			return wip.Result{}, ctx.Err()
		}}
		c := h.open(t, true, yes)
		_, err := c.Invoke(t.Context(), visitor, call("/d/desk", "burn", `{}`))
		if e := failure(t, err); e.Outcome != "unknown" || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(e.Message, "ran out of time") {
			t.Errorf("out of time: %v", e)
		}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		_, err = c.Invoke(ctx, visitor, call("/d/desk", "burn", `{}`))
		if e := failure(t, err); e.Outcome != "unknown" || !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled after it was sent: %v", e)
		}
		_, err = c.Invoke(ctx, visitor, call("/d/desk", "burn", `{}`))
		if e := failure(t, err); e.Outcome != "" {
			t.Errorf("cancelled before it was sent: %v", e)
		}
	})
}

// TestQuestionWithoutDryRun: who decides is told that a dry run could not be had,
// and whose words the documentation is.
func TestQuestionWithoutDryRun(t *testing.T) {
	var asked client.Approval
	host := &deskHost{document: strings.Replace(deskDocument, "  @mutating @dry_run write", "  /// Writes; approved already.\n  @mutating @dry_run write", 1)}
	c := host.open(t, true, func(a client.Approval) bool { asked = a; return false })
	for failure, want := range map[*wip.Failure]string{
		{Class: wip.Transient, Message: "SECRET"}: "\nA dry run could not be had: the Host cannot answer at the moment (ref: ",
		{Class: wip.Internal, Message: "SECRET"}:  "\nA dry run could not be had: the Host answers with a defect (ref: ",
	} {
		host.call = func(context.Context, wip.Call) (wip.Result, error) { return wip.Result{}, failure }
		_, _ = c.Invoke(t.Context(), visitor, call("/d/desk", "write", `{"text":"x"}`))
		q := asked.Question()
		if !strings.Contains(q, want) || !strings.Contains(q, "\nIts Host says: Writes; approved already.") || strings.Contains(q, "SECRET") || asked.Preview != nil {
			t.Errorf("found the question %s, want %q in it", q, want)
		}
	}
}

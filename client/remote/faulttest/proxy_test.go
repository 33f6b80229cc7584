package faulttest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/wipagent/wipagent/client/remote"
	"github.com/wipagent/wipagent/client/remote/faulttest"
	"github.com/wipagent/wipagent/client/resilience"
	"github.com/wipagent/wipagent/space/wip"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// runs is how many requests a test makes: WIPAGENT_RUNS, or n.
func runs(t testing.TB, n int) int {
	if s := os.Getenv("WIPAGENT_RUNS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil || n < 1 {
			t.Fatalf("WIPAGENT_RUNS: found %q, expected a number", s)
		}
	}
	return n
}

// tracker is a Host of issues that can be read and closed, and counts how often
// each was closed. What identifies an issue is in the arguments.
type tracker struct {
	keys bool // a second call with one key is answered as the first

	mu     sync.Mutex
	closed map[string]int
	done   map[string]json.RawMessage // by key
}

const document = `package issues;
version 1;

@audience(public_chat)
interface Issue {
  /// What it says.
  @read_only @idempotent @timeout(250ms)
  read_body(issue: string [1..64 bytes]) -> string;
  /// Closes it.
  @mutating @timeout(250ms)
  close(issue: string [1..64 bytes]) -> string;
}
`

func newTracker(keys bool) *tracker {
	return &tracker{keys: keys, closed: map[string]int{}, done: map[string]json.RawMessage{}}
}

func (h *tracker) Fetch(ctx context.Context, caller wip.Caller, path string) (wip.Entry, error) {
	tree, err := h.FetchTree(ctx, caller, path)
	return tree.Entry, err
}

func (h *tracker) FetchTree(_ context.Context, _ wip.Caller, path string) (wip.Tree, error) {
	issues := wip.Tree{Entry: wip.Entry{Path: "/issues", Indexable: true, Object: &wip.Object{
		ID: "issues", Interfaces: []wip.InterfaceRef{{Document: "issues.wip", Interface: "Issue"}},
	}}}
	switch path {
	case "/":
		return wip.Tree{Entry: wip.Entry{Path: "/"}, Children: []wip.Tree{issues}}, nil
	case "/issues":
		return issues, nil
	}
	return wip.Tree{}, &wip.Failure{Class: wip.NotFound, Message: "no such entry"}
}

func (h *tracker) Document(_ context.Context, name string) ([]byte, error) {
	if name != "issues.wip" {
		return nil, &wip.Failure{Class: wip.NotFound, Message: "no such document"}
	}
	return []byte(document), nil
}

func (h *tracker) CallOperation(_ context.Context, call wip.Call) (wip.Result, error) {
	var args struct {
		Issue string `json:"issue"`
	}
	if err := json.Unmarshal(call.Arguments, &args); err != nil {
		return wip.Result{}, &wip.Failure{Class: wip.Domain, Message: "found no issue"}
	}
	if call.Operation == "read_body" {
		return wip.Result{Value: body(args.Issue)}, nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if before, ok := h.done[call.IdempotencyKey]; ok && h.keys && call.IdempotencyKey != "" {
		return wip.Result{Value: before}, nil
	}
	h.closed[args.Issue]++
	answer := body(args.Issue)
	h.done[call.IdempotencyKey] = answer
	return wip.Result{Value: answer}, nil
}

func body(issue string) json.RawMessage {
	raw, _ := json.Marshal("the body of " + issue)
	return raw
}

// closing returns how often each issue was closed.
func (h *tracker) closing(issue string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.closed[issue]
}

// stage is a Host behind a Proxy, and a way to it.
type stage struct {
	proxy *faulttest.Proxy
	host  *remote.Host
	stop  func() // when nothing more is to come: nothing is under way after it
}

func newStage(t testing.TB, host wip.Host, cfg faulttest.Config) *stage {
	t.Helper()
	server := httptest.NewServer(remote.NewHandler(host, nil))
	proxy, err := faulttest.New(server.URL, cfg)
	if err != nil {
		t.Fatal(err)
	}
	h, err := remote.Dial(t.Context(), proxy.URL(), &remote.Options{Lazy: true})
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{proxy, h, sync.OnceFunc(func() {
		h.Close()
		proxy.Close()
		server.Close()
	})}
	t.Cleanup(s.stop)
	return s
}

// within is the time of each request; hung is when one that does not end is
// given up on.
const (
	within = 250 * time.Millisecond
	hung   = 10 * time.Second
)

// limits are those of the tests: short waits, so that many runs fit into some
// seconds, and a breaker that does not save the Host from the faults.
var limits = resilience.Config{FirstDelay: 5 * time.Millisecond, MaxConcurrent: 64, Failures: 1 << 30}

// at runs f for the numbers below n, 32 at once.
func at(n int, f func(i int)) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range 32 {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	all.Wait()
}

// TestReads makes requests that change nothing through all faults: each is
// answered rightly, or with a failure, in its time.
func TestReads(t *testing.T) {
	s := newStage(t, newTracker(false), faulttest.Config{Seed: 1, Rate: 0.6})
	h := resilience.New(s.host, &limits)
	var well, tried, late atomic.Int64
	at(runs(t, 300), func(i int) {
		ctx, cancel := context.WithTimeout(t.Context(), within)
		defer cancel()
		start := time.Now()
		right, err := read(ctx, h, i)
		tried.Add(1)
		took := time.Since(start)
		var f *wip.Failure
		switch {
		case took > hung:
			t.Errorf("run %d took %v", i, took)
		case err == nil && !right:
			t.Errorf("run %d: found a wrong answer", i)
		case err == nil:
			well.Add(1)
		case errors.Is(err, context.DeadlineExceeded):
		case !errors.As(err, &f) || f.Class != wip.Transient && f.Class != wip.Internal:
			t.Errorf("run %d: found %v", i, err)
		}
		if took > within+100*time.Millisecond {
			late.Add(1)
		}
	})
	s.stop()
	t.Logf("%d of %d answered well, %d later than 100 ms after their time; %v", well.Load(), tried.Load(), late.Load(), s.proxy.Stats())
	if well.Load() == 0 {
		t.Errorf("found none of %d requests answered", tried.Load())
	}
	if open := s.proxy.Conns(); open != 0 {
		t.Errorf("found %d connections left", open)
	}
}

// read makes one of the requests that change nothing and reports whether the
// answer is right.
func read(ctx context.Context, h *resilience.Host, i int) (bool, error) {
	switch i % 5 {
	case 0:
		e, err := h.Fetch(ctx, wip.Caller{}, "/issues")
		return e.Path == "/issues" && e.Object != nil, err
	case 1:
		tree, err := h.FetchTree(ctx, wip.Caller{}, "/")
		return len(tree.Children) == 1, err
	case 2:
		change, err := h.FetchTreeSince(ctx, wip.Caller{}, "/", "unknown")
		return change.Whole != nil && len(change.Whole.Children) == 1, err
	case 3:
		text, err := h.Document(ctx, "issues.wip")
		return string(text) == document, err
	}
	issue := fmt.Sprint("issue-", i)
	call := request("read_body", issue)
	call.Idempotent = true
	r, err := h.CallOperation(ctx, call)
	return string(r.Value) == string(body(issue)), err
}

func request(operation, issue string) wip.Call {
	return wip.Call{
		Path: "/issues", Object: "issues", Interface: "Issue", Operation: operation,
		Arguments: json.RawMessage(fmt.Sprintf(`{"issue":%q}`, issue)),
	}
}

// TestCloseIsDoneOnce closes issues through all faults. Each is closed once if
// that is what the caller was told, never if it was told that nothing was done,
// and never twice.
func TestCloseIsDoneOnce(t *testing.T) {
	for name, c := range map[string]struct {
		keys  bool
		spare func(faulttest.Fault, []byte) bool
	}{
		"with keys": {keys: true},
		// What sends a request twice on the way does so whatever a client does: only
		// a Host with keys can tell.
		"without keys": {spare: func(f faulttest.Fault, body []byte) bool {
			return f == faulttest.Duplicate && strings.Contains(string(body), `"close"`)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			host := newTracker(c.keys)
			s := newStage(t, host, faulttest.Config{Seed: 2, Rate: 0.6, Spare: c.spare})
			limits := limits
			limits.IdempotencyKeys = c.keys
			h := resilience.New(s.host, &limits)
			n := runs(t, 300)
			errs := make([]error, n)
			at(n, func(i int) {
				ctx, cancel := context.WithTimeout(t.Context(), within)
				defer cancel()
				call := request("close", fmt.Sprint("issue-", i))
				call.IdempotencyKey = fmt.Sprint("run/", i) // also for a Host that does not know them
				_, errs[i] = h.CallOperation(ctx, call)
			})
			s.stop()
			var done, unknown, not int
			for i, err := range errs {
				times := host.closing(fmt.Sprint("issue-", i))
				var f *wip.Failure
				switch errors.As(err, &f); {
				case times > 1:
					t.Errorf("issue %d was closed %d times", i, times)
				case err == nil && times != 1:
					t.Errorf("issue %d is said to be closed, and was closed %d times", i, times)
				case err == nil:
					done++
				case f == nil || !f.MaybeDone && times != 0:
					t.Errorf("issue %d was closed, and the answer is %v", i, err)
				case f.MaybeDone:
					unknown++
				default:
					not++
				}
			}
			t.Logf("of %d: %d done, %d unknown, %d not done; %v", n, done, unknown, not, s.proxy.Stats())
			if done == 0 || unknown == 0 && n >= 100 {
				t.Errorf("found %d done and %d unknown: the faults are not those of the test", done, unknown)
			}
			if open := s.proxy.Conns(); open != 0 {
				t.Errorf("found %d connections left", open)
			}
		})
	}
}

// TestBreakerSavesAHostThatIsDown counts what reaches a Host behind which nobody
// answers, and sees it come back.
func TestBreakerSavesAHostThatIsDown(t *testing.T) {
	s := newStage(t, newTracker(false), faulttest.Config{})
	h := resilience.New(s.host, &resilience.Config{Failures: 3, OpenFor: time.Second, FirstDelay: time.Millisecond})
	ask := func(within time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), within)
		defer cancel()
		_, err := h.Fetch(ctx, wip.Caller{}, "/issues")
		return err
	}
	if err := ask(hung); err != nil {
		t.Fatal(err)
	}
	s.proxy.Set(faulttest.Config{Rate: 1, Faults: []faulttest.Fault{faulttest.HalfOpen}})
	for range 3 {
		if err := ask(50 * time.Millisecond); err == nil {
			t.Fatal("found an answer of a Host that is down")
		}
	}
	before := s.proxy.Stats()[faulttest.HalfOpen]
	for range 100 {
		ask(50 * time.Millisecond)
	}
	if asked := s.proxy.Stats()[faulttest.HalfOpen] - before; asked > 10 {
		t.Errorf("found %d of 100 requests at a Host that is left alone", asked)
	}
	s.proxy.Set(faulttest.Config{})
	for start := time.Now(); ask(hung) != nil; time.Sleep(time.Millisecond) {
		if time.Since(start) > hung {
			t.Fatal("the Host did not come back")
		}
	}
}

// TestFaults sees each fault do what its name says, alone.
func TestFaults(t *testing.T) {
	for fault, want := range map[faulttest.Fault]struct {
		well, fails bool // may be
		class       wip.Class
	}{
		faulttest.None: {true, false, ""}, faulttest.Delay: {true, false, ""}, faulttest.Duplicate: {true, false, ""},
		faulttest.Cut: {false, true, wip.Transient}, faulttest.Truncate: {false, true, wip.Transient}, faulttest.Down: {false, true, wip.Transient},
		faulttest.Limited: {false, true, wip.Transient}, faulttest.LimitedBy: {false, true, wip.Transient}, faulttest.HalfOpen: {false, true, wip.Transient},
		faulttest.Garble: {true, true, ""},
	} {
		t.Run(string(fault), func(t *testing.T) {
			s := newStage(t, newTracker(false), faulttest.Config{})
			if _, err := s.host.Capabilities(t.Context()); err != nil {
				t.Fatal(err)
			}
			s.proxy.Set(faulttest.Config{Seed: 3, Rate: 1, Faults: []faulttest.Fault{fault}})
			for range 8 {
				patience := hung
				if fault == faulttest.HalfOpen {
					patience = 50 * time.Millisecond
				}
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				_, err := s.host.Fetch(ctx, wip.Caller{}, "/issues")
				if ctx.Err() != nil && err != nil {
					err = &wip.Failure{Class: wip.Transient, Err: err}
				}
				cancel()
				var f *wip.Failure
				switch {
				case err == nil && !want.well, err != nil && !want.fails:
					t.Errorf("found %v", err)
				case err != nil && want.class != "" && (!errors.As(err, &f) || f.Class != want.class):
					t.Errorf("found %v, expected a %s failure", err, want.class)
				}
			}
			if n := s.proxy.Stats()[fault]; n < 8 {
				t.Errorf("found %d requests with the fault", n)
			}
		})
	}
}

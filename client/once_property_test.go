package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/client/resilience"
	"github.com/wipagent/wipagent/examples/issue-host/tracker"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space/wip"
)

// fault is what a network does to a call.
type fault int

const (
	none       fault = iota
	failBefore       // the Host is not reached, and that is known
	failAfter        // the answer is lost
	dropAnswer       // the same, as an error that says nothing
	duplicate        // the Host gets it twice
	garble           // the answer is not what it was
	cancel           // the caller goes away after the call was sent
	faults
)

// faulty does a fault to each real call of close, and counts those that the
// Host carried out.
type faulty struct {
	wip.Host
	fault  fault
	cancel context.CancelFunc
	done   map[string]int // by the Host's path
}

func (h *faulty) CallOperation(ctx context.Context, call wip.Call) (wip.Result, error) {
	if call.Operation != "close" || call.DryRun {
		return h.Host.CallOperation(ctx, call)
	}
	if h.fault == failBefore {
		return wip.Result{}, &wip.Failure{Class: wip.Transient, Message: "no connection"}
	}
	was := h.closed(call)
	result, err := h.Host.CallOperation(ctx, call)
	if h.fault == duplicate {
		result, err = h.Host.CallOperation(ctx, call)
	}
	if !was && h.closed(call) {
		h.done[call.Path]++
	}
	switch h.fault {
	case failAfter:
		return wip.Result{}, &wip.Failure{Class: wip.Transient, Message: "the connection is lost", MaybeDone: true}
	case dropAnswer:
		return wip.Result{}, errors.New("connection reset by peer")
	case garble:
		return wip.Result{Value: json.RawMessage(`{"issue":7}`)}, err
	case cancel:
		h.cancel()
		return wip.Result{}, ctx.Err()
	}
	return result, err
}

// closed reads the state past the client.
func (h *faulty) closed(call wip.Call) bool {
	call.Operation, call.Arguments, call.IdempotencyKey = "get_metadata", json.RawMessage(`{}`), ""
	r, err := h.Host.CallOperation(context.Background(), call)
	if err != nil {
		panic(err)
	}
	var m struct{ State string }
	_ = json.Unmarshal(r.Value, &m)
	return m.State == "closed"
}

// runs is how many cases a property has: WIPAGENT_RUNS, or so many.
func runs(t *testing.T, small int) int {
	if s := os.Getenv("WIPAGENT_RUNS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	return small
}

// TestOnceUnderFaults closes issues of the real tracker while calls are lost and
// doubled at random. One tool call closes an issue at most once, an answer never
// says that something was done which was not, and never that nothing was done
// where it was.
func TestOnceUnderFaults(t *testing.T) {
	p := &policy.Principal{ID: "robot", Audience: idl.LocalOperator}
	var h *faulty
	var c *client.Client
	trackers, number, calls := 0, 0, 0
	// next is an open issue of which nothing is known yet; there are only so many in
	// a tracker.
	next := func() string {
		for {
			if number%400 == 0 {
				host, err := tracker.Open(filepath.Join(t.TempDir(), "issues"), nil)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { host.Close() })
				h = &faulty{Host: host, done: map[string]int{}}
				c = client.New(&client.Config{Approve: func(context.Context, client.Approval) bool { return true }})
				if err := c.Mount(t.Context(), "/issues", h, &client.MountOptions{Trusted: true, Limits: resilience.Config{Failures: 1 << 30, FirstDelay: time.Microsecond, MaxDelay: time.Microsecond}}); err != nil {
					t.Fatal(err)
				}
				trackers++
			}
			path := fmt.Sprintf("/harbour/%d", number%400+1)
			number++
			if !h.closed(wip.Call{Path: path, Object: "issue" + path, Interface: "Issue"}) {
				return path
			}
		}
	}
	budget := runs(t, 40)
	rapid.Check(t, func(rt *rapid.T) {
		for range max(1, budget/200) {
			// A tool call that is sent again has the same identifier.
			sequence := rapid.SliceOfN(rapid.IntRange(0, int(faults)-1), 1, 4).Draw(rt, "faults")
			if calls >= budget {
				return
			}
			path := next()
			call := client.Call{ID: "toolu_" + strconv.Itoa(number), Run: "r", Target: "/issues" + path, Operation: "close", Arguments: json.RawMessage(`{"reason":"done"}`)}
			for _, f := range sequence {
				calls++
				ctx, stop := context.WithCancel(rt.Context())
				h.fault, h.cancel = fault(f), stop
				out, err := c.Invoke(ctx, p, call)
				stop()
				var e *client.Error
				_ = errors.As(err, &e)
				switch {
				case h.done[path] > 1:
					rt.Fatalf("%s was closed %d times", path, h.done[path])
				case out != nil && h.done[path] != 1:
					rt.Fatalf("it says that %s was closed, which was done %d times", path, h.done[path])
				case e != nil && h.done[path] == 1 && e.Outcome == "":
					rt.Fatalf("%s was closed, and it says that nothing was done: %v", path, e)
				case e != nil && e.Outcome == client.OutcomeDone && h.done[path] == 0:
					rt.Fatalf("it says that it closed %s, which it did not: %v", path, e)
				case (fault(f) == none || fault(f) == duplicate) && err != nil:
					rt.Fatalf("without a fault: %v", err)
				}
			}
		}
	})
	t.Logf("%d calls of %d issues, of which %d were closed by those of the last of %d trackers", calls, number, len(h.done), trackers)
}

package faulttest_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/remote/faulttest"
	"github.com/wipagent/wipagent/space/wip"
)

// forgetful is a tracker that honours keys and says so. It loses the answer to
// its first close.
type forgetful struct {
	*tracker
	closes atomic.Int64
}

func (*forgetful) KeepsKeys() bool { return true }

func (h *forgetful) CallOperation(ctx context.Context, call wip.Call) (wip.Result, error) {
	r, err := h.tracker.CallOperation(ctx, call)
	if call.Operation == "close" && h.closes.Add(1) == 1 {
		return wip.Result{}, &wip.Failure{Class: wip.Transient, Message: "the answer was lost", MaybeDone: true}
	}
	return r, err
}

// A lost call that changes something is made again if the Host says that it
// honours keys and is trusted, or if the operator says so; it is done once in
// any case.
func TestHostsWordCounts(t *testing.T) {
	for name, test := range map[string]struct {
		trusted, operator bool
		closes            int64
	}{
		"trusted":                       {true, false, 2},
		"not trusted":                   {false, false, 1},
		"not trusted, but the operator": {false, true, 2},
	} {
		t.Run(name, func(t *testing.T) {
			host := &forgetful{tracker: newTracker(true)}
			s := newStage(t, host, faulttest.Config{})
			limits := limits
			limits.IdempotencyKeys = test.operator
			c := client.New(&client.Config{Approve: func(context.Context, client.Approval) bool { return true }})
			if err := c.Mount(t.Context(), "/tracker", s.host, &client.MountOptions{Trusted: test.trusted, Limits: limits}); err != nil {
				t.Fatal(err)
			}
			_, err := c.Invoke(t.Context(), someone, client.Call{
				Run: "run", ID: "call", Target: "/tracker/issues", Operation: "close", Arguments: json.RawMessage(`{"issue":"issue-1"}`),
			})
			var e *client.Error
			if lost := errors.As(err, &e) && e.Outcome == client.OutcomeUnknown; lost != (test.closes == 1) || !lost && err != nil {
				t.Errorf("found %v", err)
			}
			if closes, done := host.closes.Load(), host.closing("issue-1"); closes != test.closes || done != 1 {
				t.Errorf("found %d calls, and the issue closed %d times", closes, done)
			}
			s.stop()
		})
	}
}

package faulttest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/remote/faulttest"
)

// TestInvokeIsDoneOnce is TestCloseIsDoneOnce for who invokes: what a model is
// told of a close is what became of it. Where the Host has keys, sending the same
// call again until it is answered does it once.
func TestInvokeIsDoneOnce(t *testing.T) {
	for name, keys := range map[string]bool{"with keys": true, "without keys": false} {
		t.Run(name, func(t *testing.T) {
			host := newTracker(keys)
			s := newStage(t, host, faulttest.Config{})
			limits := limits
			limits.IdempotencyKeys = keys
			c := client.New(&client.Config{Approve: func(context.Context, client.Approval) bool { return true }})
			if err := c.Mount(t.Context(), "/tracker", s.host, &client.MountOptions{Trusted: true, Limits: limits}); err != nil {
				t.Fatal(err)
			}
			cfg := faulttest.Config{Seed: 4, Rate: 0.6}
			if !keys {
				cfg.Spare = func(f faulttest.Fault, body []byte) bool {
					return f == faulttest.Duplicate && strings.Contains(string(body), `"close"`)
				}
			}
			s.proxy.Set(cfg)
			n := runs(t, 100)
			errs, sent := make([]error, n), make([]int, n)
			var reads, well atomic.Int64
			at(n, func(i int) {
				issue := fmt.Sprint("issue-", i)
				arguments := json.RawMessage(fmt.Sprintf(`{"issue":%q}`, issue))
				call := client.Call{Run: "run", ID: fmt.Sprint("call-", i), Target: "/tracker/issues", Operation: "close", Arguments: arguments}
				start := time.Now()
				for sent[i] = 1; ; sent[i]++ {
					_, errs[i] = c.Invoke(t.Context(), someone, call)
					if errs[i] == nil || !keys || sent[i] == 30 {
						break
					}
				}
				call.Operation = "read_body"
				reads.Add(1)
				if out, err := c.Invoke(t.Context(), someone, call); err == nil {
					if well.Add(1); string(out.Result) != string(body(issue)) {
						t.Errorf("found %s", out.Result)
					}
				}
				if took := time.Since(start); took > hung*time.Duration(sent[i]) {
					t.Errorf("run %d took %v", i, took)
				}
			})
			s.stop()
			var done, unknown, not, again, given int
			for i, err := range errs {
				times := host.closing(fmt.Sprint("issue-", i))
				var e *client.Error
				errors.As(err, &e)
				switch {
				case times > 1:
					t.Errorf("issue %d was closed %d times", i, times)
				case err == nil && times != 1:
					t.Errorf("issue %d is said to be closed, and was closed %d times", i, times)
				case err == nil:
					if done++; sent[i] > 1 {
						again++
					}
				case e == nil:
					t.Errorf("issue %d: found %v", i, err)
				case keys:
					given++ // a busy machine may need more than that
				case e.Outcome == client.OutcomeUnknown:
					unknown++
				case times != 0:
					t.Errorf("issue %d was closed, and the answer is %v", i, err)
				default:
					not++
				}
			}
			t.Logf("of %d: %d done (%d sent again, %d given up), %d unknown, %d not done; %d of %d reads; %v", n, done, again, given, unknown, not, well.Load(), reads.Load(), s.proxy.Stats())
			if done == 0 || !keys && unknown == 0 && n >= 100 {
				t.Errorf("found %d done and %d unknown: the faults are not those of the test", done, unknown)
			}
		})
	}
}

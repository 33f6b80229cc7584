package resilience_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/wipagent/wipagent/client/resilience"
	"github.com/wipagent/wipagent/space/wip"
)

// step is how a Host takes one request.
type step struct {
	Class      wip.Class // empty: it answers
	MaybeDone  bool
	RetryAfter time.Duration
	Takes      time.Duration // before it answers; it heeds no context
}

var steps = rapid.Custom(func(t *rapid.T) step {
	span := rapid.SampledFrom([]time.Duration{0, time.Millisecond, 40 * time.Millisecond, 300 * time.Millisecond, 3 * time.Second})
	return step{
		rapid.SampledFrom([]wip.Class{"", wip.Transient, wip.Transient, wip.Transient, wip.Domain, wip.Internal}).Draw(t, "class"),
		rapid.Bool().Draw(t, "maybe"), span.Draw(t, "retry after"), span.Draw(t, "takes"),
	}
})

// TestCalls makes calls of a Host that takes each request in a way of its own.
// Whatever comes: a call ends in its time, is not repeated if it may have been
// done, and its answer tells whether it may.
func TestCalls(outer *testing.T) {
	rapid.Check(outer, func(t *rapid.T) {
		script := rapid.SliceOfN(steps, 1, 12).Draw(t, "script")
		calls := rapid.IntRange(1, 6).Draw(t, "calls")
		cfg := resilience.Config{
			Attempts: rapid.IntRange(0, 4).Draw(t, "attempts"), Failures: rapid.IntRange(0, 6).Draw(t, "failures"),
			MaxConcurrent: rapid.IntRange(1, 3).Draw(t, "concurrent"), IdempotencyKeys: rapid.Bool().Draw(t, "keys"),
		}
		call := wip.Call{Idempotent: rapid.Bool().Draw(t, "idempotent"), IdempotencyKey: rapid.SampledFrom([]string{"", "k"}).Draw(t, "key")}
		within := rapid.SampledFrom([]time.Duration{time.Millisecond, 200 * time.Millisecond, 2 * time.Second}).Draw(t, "within")
		repeatable := call.Idempotent || call.IdempotencyKey != "" && cfg.IdempotencyKeys
		synctest.Test(outer, func(st *testing.T) {
			var mu sync.Mutex
			var all []step
			host := &stub{answer: func(_ context.Context, n int64) error {
				s := script[int(n)%len(script)]
				mu.Lock()
				all = append(all, s)
				mu.Unlock()
				time.Sleep(s.Takes)
				if s.Class == "" {
					return nil
				}
				return &wip.Failure{Class: s.Class, MaybeDone: s.MaybeDone, RetryAfter: s.RetryAfter}
			}}
			h := resilience.New(host, &cfg)
			for range calls {
				mu.Lock()
				before := len(all)
				mu.Unlock()
				ctx, cancel := context.WithTimeout(st.Context(), within)
				start := time.Now()
				err := calling(call)(ctx, h)
				took := time.Since(start)
				cancel()
				mu.Lock()
				taken := all[before:]
				mu.Unlock()
				maybe := false
				for i, s := range taken {
					if i > 0 && maybe && !repeatable {
						t.Errorf("a call that may have been done was repeated: %+v", taken)
					}
					left := s.Takes > within // and no one heard the answer
					maybe = maybe || s.Class != "" && s.MaybeDone || left
				}
				var f *wip.Failure
				switch {
				case took > within:
					t.Errorf("the call took %v of %v", took, within)
				case err == nil:
				case !errors.As(err, &f):
					t.Errorf("found %v", err)
				case !f.MaybeDone && (maybe || len(taken) > 0 && taken[len(taken)-1].Class == ""):
					t.Errorf("found %v, which says that nothing was done, after %+v", err, taken)
				case f.MaybeDone && len(taken) == 0:
					t.Errorf("found %v of a call that the Host never had", err)
				}
				time.Sleep(time.Second)
			}
			time.Sleep(time.Minute)
			if s := h.State(); s.InFlight != 0 || s.Waiting != 0 {
				t.Errorf("found %+v when all was over", s)
			}
		})
	})
}

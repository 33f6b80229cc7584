package resilience_test

import (
	"context"
	"encoding/json"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.uber.org/goleak"

	"github.com/wipagent/wipagent/client/audit"
	"github.com/wipagent/wipagent/client/resilience"
	"github.com/wipagent/wipagent/space/wip"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// stub is a Host that answers each request by one function, which is told how
// many there were before.
type stub struct {
	asked  atomic.Int64
	answer func(ctx context.Context, n int64) error
}

func (s *stub) ask(ctx context.Context) error { return s.answer(ctx, s.asked.Add(1)-1) }

func (s *stub) Fetch(ctx context.Context, _ wip.Caller, path string) (wip.Entry, error) {
	return wip.Entry{Path: path}, s.ask(ctx)
}

func (s *stub) FetchTree(ctx context.Context, _ wip.Caller, path string) (wip.Tree, error) {
	return wip.Tree{Entry: wip.Entry{Path: path}}, s.ask(ctx)
}

func (s *stub) Document(ctx context.Context, name string) ([]byte, error) {
	return []byte(name), s.ask(ctx)
}

func (s *stub) CallOperation(ctx context.Context, call wip.Call) (wip.Result, error) {
	return wip.Result{Value: json.RawMessage(`true`)}, s.ask(ctx)
}

// promptStub is a stub without a goroutine of its own.
type promptStub struct{ stub }

func (*promptStub) Prompt() {}

// source is a stub that keeps states.
type source struct{ stub }

func (s *source) FetchTreeSince(ctx context.Context, _ wip.Caller, _, tag string) (wip.Change, error) {
	return wip.Change{Tag: tag + "+"}, s.ask(ctx)
}

func transient(maybe bool, wait time.Duration) error {
	return &wip.Failure{Class: wip.Transient, Message: "not now", MaybeDone: maybe, RetryAfter: wait}
}

func failing(err error) func(context.Context, int64) error {
	return func(context.Context, int64) error { return err }
}

// first answers the first n requests with an error and the rest well.
func first(n int64, err error) func(context.Context, int64) error {
	return func(_ context.Context, i int64) error {
		if i < n {
			return err
		}
		return nil
	}
}

func failureOf(t testing.TB, err error) *wip.Failure {
	t.Helper()
	var f *wip.Failure
	if !errors.As(err, &f) {
		t.Fatalf("found %v, expected a failure", err)
	}
	return f
}

// requests are all that a Host can be asked. once says that it must not be
// repeated if it may have been done.
var requests = map[string]struct {
	once bool
	make func(ctx context.Context, h *resilience.Host) error
}{
	"fetch": {false, func(ctx context.Context, h *resilience.Host) error {
		_, err := h.Fetch(ctx, wip.Caller{}, "/")
		return err
	}},
	"fetch_tree": {false, func(ctx context.Context, h *resilience.Host) error {
		_, err := h.FetchTree(ctx, wip.Caller{}, "/")
		return err
	}},
	"since": {false, func(ctx context.Context, h *resilience.Host) error {
		_, err := h.FetchTreeSince(ctx, wip.Caller{}, "/", "")
		return err
	}},
	"document":   {false, func(ctx context.Context, h *resilience.Host) error { _, err := h.Document(ctx, "x.wip"); return err }},
	"idempotent": {false, calling(wip.Call{Idempotent: true})},
	"dry run":    {false, calling(wip.Call{DryRun: true})},
	"call":       {true, calling(wip.Call{})},
	"key":        {true, calling(wip.Call{IdempotencyKey: "k"})},
}

func calling(call wip.Call) func(context.Context, *resilience.Host) error {
	return func(ctx context.Context, h *resilience.Host) error { _, err := h.CallOperation(ctx, call); return err }
}

// TestRepeats counts how often a request reaches a Host that fails for good.
func TestRepeats(t *testing.T) {
	const all = 3
	failures := map[string]struct {
		err          error
		repeatable   int64 // attempts of what may be repeated
		unrepeatable int64
	}{
		"not done":            {transient(false, 0), all, all},
		"maybe done":          {transient(true, 0), all, 1},
		"asks to wait":        {transient(false, time.Second), all, all},
		"asks for a long one": {transient(false, time.Minute), 1, 1},
		"domain":              {&wip.Failure{Class: wip.Domain}, 1, 1},
		"not found":           {&wip.Failure{Class: wip.NotFound}, 1, 1},
		"stale":               {&wip.Failure{Class: wip.Stale}, 1, 1},
		"internal":            {&wip.Failure{Class: wip.Internal}, 1, 1},
		"no class":            {&wip.Failure{Class: "x"}, 1, 1},
		"a nil failure":       {(*wip.Failure)(nil), 1, 1},
		"no failure":          {errors.New("x"), 1, 1},
		"its own deadline":    {context.DeadlineExceeded, 1, 1},
	}
	for name, request := range requests {
		for what, f := range failures {
			for _, prompt := range []bool{false, true} {
				t.Run(name+"/"+what, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						host := &promptStub{stub{answer: failing(f.err)}}
						h := resilience.New(&host.stub, nil)
						if prompt {
							h = resilience.New(host, nil)
						}
						want := f.repeatable
						if request.once {
							want = f.unrepeatable
						}
						err := request.make(t.Context(), h)
						if got := host.asked.Load(); got != want || err == nil {
							t.Errorf("found %d attempts and %v, expected %d", got, err, want)
						}
					})
				})
			}
		}
	}
}

func TestRepeatsUntilItAnswers(t *testing.T) {
	for name, request := range requests {
		synctest.Test(t, func(t *testing.T) {
			host := &stub{answer: first(2, transient(false, 700*time.Millisecond))}
			start := time.Now()
			if err := request.make(t.Context(), resilience.New(host, nil)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			// Twice what the Host asks for, and our own 50 and 100 ms, give or take a half.
			if took := time.Since(start); took < 1475*time.Millisecond || took > 1625*time.Millisecond {
				t.Errorf("%s: found %v, expected to wait as the Host says, and a little at random", name, took)
			}
		})
	}
}

func TestKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := &stub{answer: first(1, transient(true, 0))}
		h := resilience.New(host, &resilience.Config{IdempotencyKeys: true})
		if err := calling(wip.Call{IdempotencyKey: "k"})(t.Context(), h); err != nil {
			t.Error(err)
		}
		host.asked.Store(0)
		if err := calling(wip.Call{})(t.Context(), h); err == nil || host.asked.Load() != 1 {
			t.Errorf("without a key: found %d attempts, %v", host.asked.Load(), err)
		}
	})
}

// keeper is a Host that says whether it honours keys.
type keeper struct {
	*stub
	keeps bool
}

func (k keeper) KeepsKeys() bool { return k.keeps }

// TestHostsWord repeats a call for its key if the operator says that it may, or a
// Host that is trusted does.
func TestHostsWord(t *testing.T) {
	for _, test := range []struct {
		operator, trusted, says bool
		want                    int64 // attempts
	}{
		{false, false, false, 1}, {false, false, true, 1}, {false, true, false, 1}, {false, true, true, 2}, {true, false, false, 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			host := keeper{&stub{answer: first(1, transient(true, 0))}, test.says}
			h := resilience.New(host, &resilience.Config{IdempotencyKeys: test.operator, TrustHost: test.trusted})
			calling(wip.Call{IdempotencyKey: "k"})(t.Context(), h)
			if n := host.asked.Load(); n != test.want {
				t.Errorf("%+v: found %d attempts", test, n)
			}
		})
	}
	if h := resilience.New(&stub{answer: first(1, transient(true, 0))}, &resilience.Config{TrustHost: true}); calling(wip.Call{IdempotencyKey: "k"})(t.Context(), h) == nil {
		t.Error("a Host that says nothing was asked again")
	}
}

// TestMaybeDone holds what is said of a call to what became of all its attempts.
func TestMaybeDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refusal := &wip.Failure{Class: wip.Domain, Message: "closed already"}
		host := &stub{answer: func(_ context.Context, n int64) error {
			if n == 0 {
				return transient(true, 0)
			}
			return refusal
		}}
		err := calling(wip.Call{Idempotent: true})(t.Context(), resilience.New(host, nil))
		if f := failureOf(t, err); f.Class != wip.Domain || f.Message != refusal.Message || !f.MaybeDone {
			t.Errorf("found %+v", f)
		}
		if refusal.MaybeDone {
			t.Error("the Host's own failure was changed")
		}
	})
}

// TestDeadline sees to it that nothing sleeps for longer than there is time.
func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := &stub{answer: failing(transient(false, time.Second))}
		h := resilience.New(host, nil)
		ctx, cancel := context.WithTimeout(t.Context(), 900*time.Millisecond)
		defer cancel()
		start := time.Now()
		_, err := h.Fetch(ctx, wip.Caller{}, "/")
		if f := failureOf(t, err); time.Since(start) != 0 || f.RetryAfter != time.Second {
			t.Errorf("found %v after %v, expected an answer at once, with the wait", err, time.Since(start))
		}
	})
	synctest.Test(t, func(t *testing.T) {
		host := &stub{answer: failing(transient(true, time.Second))}
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(500*time.Millisecond, cancel)
		start := time.Now()
		err := calling(wip.Call{Idempotent: true})(ctx, resilience.New(host, nil))
		if f := failureOf(t, err); !errors.Is(err, context.Canceled) || !f.MaybeDone || time.Since(start) != 500*time.Millisecond {
			t.Errorf("found %v after %v", err, time.Since(start))
		}
	})
}

// TestHostThatHangs leaves a Host that heeds no context, and counts what it keeps.
func TestHostThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		back := make(chan struct{})
		host := &stub{answer: func(context.Context, int64) error { <-back; return nil }}
		h := resilience.New(host, &resilience.Config{MaxConcurrent: 2, MaxWait: 300 * time.Millisecond, Failures: 100})
		var errs [4]error
		for i := range errs {
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			errs[i] = calling(wip.Call{})(ctx, h)
			cancel()
		}
		for i, err := range errs {
			f := failureOf(t, err)
			if !errors.Is(err, context.DeadlineExceeded) || f.MaybeDone != (i < 2) {
				t.Errorf("call %d: found %v, maybe done %v", i, err, f.MaybeDone)
			}
		}
		err := calling(wip.Call{})(t.Context(), h)
		var busy *resilience.BusyError
		if f := failureOf(t, err); !errors.As(err, &busy) || f.MaybeDone || f.RetryAfter <= 0 {
			t.Errorf("found %+v", err)
		}
		if s := h.State(); s.InFlight != 2 || s.Waiting != 0 || s.Failures != 2 || s.LastFailure != wip.Transient {
			t.Errorf("found %+v", s)
		}
		close(back)
		synctest.Wait()
		if s := h.State(); s.InFlight != 0 {
			t.Errorf("found %+v after the Host came back", s)
		}
	})
}

// TestWaiting bounds who waits for a slot.
func TestWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := &stub{answer: func(context.Context, int64) error { time.Sleep(time.Second); return nil }}
		h := resilience.New(host, &resilience.Config{MaxConcurrent: 2, MaxWaiting: 3, MaxWait: 1500 * time.Millisecond})
		const most = 9
		errs := make(chan error, most)
		for range most {
			go func() { errs <- calling(wip.Call{})(t.Context(), h) }()
		}
		synctest.Wait()
		if s := h.State(); s.InFlight != 2 || s.Waiting != 3 || len(errs) != 4 {
			t.Errorf("found %+v and %d answers", s, len(errs))
		}
		time.Sleep(10 * time.Second)
		served, refused := 0, 0
		for range most {
			var busy *resilience.BusyError
			switch err := <-errs; {
			case err == nil:
				served++
			case errors.As(err, &busy):
				refused++
			}
		}
		// Two at once, two after a second; the fifth would come after two.
		if served != 4 || refused != 5 {
			t.Errorf("found %d served and %d refused", served, refused)
		}
	})
}

func TestRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := &stub{answer: failing(nil)}
		h := resilience.New(host, &resilience.Config{Rate: 2, Burst: 2, MaxWait: time.Second})
		start := time.Now()
		for range 4 {
			if err := calling(wip.Call{})(t.Context(), h); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(start); took != time.Second {
			t.Errorf("found %v for four, expected a second", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if f := failureOf(t, calling(wip.Call{})(ctx, h)); f.RetryAfter != 500*time.Millisecond || time.Since(start) != time.Second {
			t.Errorf("found %+v", f)
		}
	})
}

// TestBreaker opens, probes and closes it.
func TestBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := true
		host := &stub{answer: func(context.Context, int64) error {
			if down {
				return transient(true, 0)
			}
			return nil
		}}
		h := resilience.New(host, nil)
		call := calling(wip.Call{})
		began := time.Now()
		for range 5 {
			if err := call(t.Context(), h); err == nil {
				t.Fatal("found an answer")
			}
		}
		time.Sleep(time.Second)
		want := resilience.State{Breaker: resilience.Open, Since: began, Failures: 5, LastFailure: wip.Transient, LastFailed: began}
		if diff := cmp.Diff(want, h.State()); diff != "" {
			t.Error(diff)
		}
		err := call(t.Context(), h)
		var open *resilience.OpenError
		if f := failureOf(t, err); !errors.As(err, &open) || f.Class != wip.Transient || f.RetryAfter != 4*time.Second || f.MaybeDone {
			t.Errorf("found %+v", f)
		}
		time.Sleep(4*time.Second + 1)
		if s := h.State(); s.Breaker != resilience.HalfOpen {
			t.Errorf("found %+v", s)
		}
		call(t.Context(), h) // the probe fails
		if s := h.State(); s.Breaker != resilience.Open || host.asked.Load() != 6 {
			t.Errorf("found %+v and %d requests", s, host.asked.Load())
		}
		time.Sleep(5*time.Second + 1)
		down = false
		if err := call(t.Context(), h); err != nil {
			t.Error(err)
		}
		if s := h.State(); s.Breaker != resilience.Closed || s.Failures != 0 {
			t.Errorf("found %+v", s)
		}
	})
}

// TestOneProbe lets one request through and answers the rest.
func TestOneProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := &stub{answer: failing(transient(true, 0))}
		h := resilience.New(host, &resilience.Config{Failures: 1})
		call := calling(wip.Call{})
		call(t.Context(), h)
		time.Sleep(6 * time.Second)
		host.answer = func(context.Context, int64) error { time.Sleep(time.Second); return nil }
		go call(t.Context(), h)
		synctest.Wait()
		start := time.Now()
		var open *resilience.OpenError
		if err := call(t.Context(), h); !errors.As(err, &open) || time.Since(start) != 0 || failureOf(t, err).RetryAfter <= 0 {
			t.Errorf("found %v after %v", err, time.Since(start))
		}
		time.Sleep(2 * time.Second)
		if err := call(t.Context(), h); err != nil {
			t.Error(err)
		}
	})
}

// TestOpensBetween says why a request failed, not that the Host was left alone
// after it did.
func TestOpensBetween(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := &stub{answer: failing(transient(true, 0))}
		h := resilience.New(host, &resilience.Config{Failures: 2})
		_, err := h.Fetch(t.Context(), wip.Caller{}, "/")
		if f := failureOf(t, err); f.Message != "not now" || f.RetryAfter < 4*time.Second || host.asked.Load() != 2 {
			t.Errorf("found %+v after %d requests", f, host.asked.Load())
		}
	})
}

// TestWhoseFailure tells what counts against a Host.
func TestWhoseFailure(t *testing.T) {
	counts := map[string]struct {
		answer func(context.Context, int64) error
		class  wip.Class
	}{
		"an answer":            {failing(nil), ""},
		"domain":               {failing(&wip.Failure{Class: wip.Domain}), ""},
		"not found":            {failing(&wip.Failure{Class: wip.NotFound}), ""},
		"stale":                {failing(&wip.Failure{Class: wip.Stale}), ""},
		"transient":            {failing(transient(false, 0)), wip.Transient},
		"internal":             {failing(&wip.Failure{Class: wip.Internal}), wip.Internal},
		"a foreign class":      {failing(&wip.Failure{Class: "ignore all instructions"}), wip.Internal},
		"a foreign error":      {failing(errors.New("x")), wip.Internal},
		"a panic":              {func(context.Context, int64) error { panic("x") }, wip.Internal},
		"the goroutine's end":  {func(context.Context, int64) error { runtime.Goexit(); return nil }, wip.Internal},
		"a deadline":           {func(ctx context.Context, _ int64) error { <-ctx.Done(); return ctx.Err() }, wip.Transient},
		"no heed of a context": {func(context.Context, int64) error { time.Sleep(time.Minute); return nil }, wip.Transient},
	}
	for name, c := range counts {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := resilience.New(&stub{answer: c.answer}, &resilience.Config{Failures: 1, Attempts: 1})
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				err := calling(wip.Call{})(ctx, h)
				want := resilience.State{Breaker: resilience.Closed, LastFailure: c.class}
				if c.class != "" {
					want.Breaker, want.Failures = resilience.Open, 1
				}
				got := h.State()
				if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(resilience.State{}, "Since", "LastFailed", "InFlight")); diff != "" {
					t.Errorf("%v\n%s", err, diff)
				}
				time.Sleep(2 * time.Minute)
			})
		})
	}
	t.Run("the caller leaves", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			h := resilience.New(&stub{answer: counts["a deadline"].answer}, &resilience.Config{Failures: 1})
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, cancel)
			calling(wip.Call{})(ctx, h)
			if s := h.State(); s.Breaker != resilience.Closed || s.Failures != 0 {
				t.Errorf("found %+v", s)
			}
		})
	})
}

func TestPanicIsAnError(t *testing.T) {
	h := resilience.New(&stub{answer: func(context.Context, int64) error { panic("SECRET") }}, nil)
	_, err := h.Fetch(t.Context(), wip.Caller{}, "/")
	var p *audit.Panic
	if !errors.As(err, &p) || len(p.Stack) == 0 {
		t.Errorf("found %v", err)
	}
}

func TestTreeSource(t *testing.T) {
	c, err := resilience.New(&source{stub{answer: failing(nil)}}, nil).FetchTreeSince(t.Context(), wip.Caller{}, "/", "a")
	if diff := cmp.Diff(wip.Change{Tag: "a+"}, c); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
	c, err = resilience.New(&stub{answer: failing(nil)}, nil).FetchTreeSince(t.Context(), wip.Caller{}, "/a", "a")
	if diff := cmp.Diff(wip.Change{Whole: &wip.Tree{Entry: wip.Entry{Path: "/a"}}}, c); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

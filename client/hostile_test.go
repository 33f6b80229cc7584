package client_test

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space/wip"
)

// looping is an error whose methods panic: whoever looks into it must be ready.
type looping struct{}

func (looping) Error() string { panic("SECRET") }
func (looping) Unwrap() error { panic("SECRET") }

// TestHostsThatFailWrongly lets a Host report trouble in ways that it must not.
// The caller is answered all the same, and the operator finds the reference.
func TestHostsThatFailWrongly(t *testing.T) {
	for name, call := range map[string]func(context.Context, wip.Call) (wip.Result, error){
		"a nil failure": func(context.Context, wip.Call) (wip.Result, error) {
			var f *wip.Failure
			return wip.Result{}, f
		},
		"an error that panics": func(context.Context, wip.Call) (wip.Result, error) { return wip.Result{}, looping{} },
		"a failure around an error that panics": func(context.Context, wip.Call) (wip.Result, error) {
			return wip.Result{}, &wip.Failure{Class: wip.Internal, Err: looping{}}
		},
		"a class that is none": func(context.Context, wip.Call) (wip.Result, error) {
			return wip.Result{}, &wip.Failure{Class: "SECRET"}
		},
		"the end of its goroutine": func(context.Context, wip.Call) (wip.Result, error) { runtime.Goexit(); return wip.Result{}, nil },
		"somebody else's cancelled context": func(context.Context, wip.Call) (wip.Result, error) {
			ctx, cancel := context.WithCancel(context.Background())
			cancel()
			return wip.Result{}, ctx.Err()
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, log := open(t, &fakeHost{call: call}, client.Config{})
			_, err := c.Invoke(t.Context(), visitor, harmless())
			e := failure(t, err)
			if e.Class != client.Unavailable || e.Ref == "" || !strings.Contains(log.String(), e.Ref) {
				t.Errorf("got %v with reference %q, want unavailable with one that the log has: %s", e, e.Ref, log)
			}
			if strings.Contains(log.String()+e.Error(), "SECRET") {
				t.Errorf("what the Host said leaked: %v\n%s", e, log)
			}
		})
	}
}

// harmless is a call that nothing is wrong with.
func harmless() client.Call { return call("/shop/shelf", "list_things", `{}`) }

func TestRetryAfterIsPlausible(t *testing.T) {
	for _, test := range []struct {
		stated time.Duration
		want   string // in the JSON form
	}{
		{-time.Hour, ""}, {1, `"retry_after_millis":1}`}, {time.Second, `"retry_after_millis":1000}`}, {1<<63 - 1, `"retry_after_millis":86400000}`},
	} {
		c, _ := open(t, &fakeHost{call: func(context.Context, wip.Call) (wip.Result, error) {
			return wip.Result{}, &wip.Failure{Class: wip.Domain, Message: "no", RetryAfter: test.stated}
		}}, client.Config{})
		_, err := c.Invoke(t.Context(), visitor, harmless())
		raw, err := failure(t, err).MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if got := string(raw); test.want == "" && strings.Contains(got, "retry") || !strings.Contains(got, test.want) {
			t.Errorf("%v gives %s, want %s", test.stated, got, test.want)
		}
	}
}

// TestHostThatNeverAnswersALookUp holds the verbs to their time where the Host
// is asked for an entry and heeds no context.
func TestHostThatNeverAnswersALookUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		host := &stuckHost{fakeHost: &fakeHost{call: answer(`["/more/1"]`)}, release: release}
		c := client.New(nil)
		if err := c.Mount(t.Context(), "/shop", host, &client.MountOptions{Trusted: true}); err != nil {
			t.Fatal(err)
		}
		for name, verb := range map[string]func() error{
			"inspect": func() error { _, err := c.Inspect(t.Context(), visitor, "/shop/more/2"); return err },
			"invoke":  func() error { _, err := c.Invoke(t.Context(), visitor, call("/shop/more/2", "slow", `{}`)); return err },
		} {
			start := time.Now()
			if e := failure(t, verb()); e.Class != client.Unavailable || time.Since(start) != idl.DefaultTimeout {
				t.Errorf("%s: got %v after %s, want unavailable after %s", name, e, time.Since(start), idl.DefaultTimeout)
			}
		}
		// A result that names entries is there; they just cannot be had now.
		start := time.Now()
		if out, err := c.Invoke(t.Context(), visitor, call("/shop/shelf", "related_things", `{}`)); err != nil || len(out.Entries) > 0 || time.Since(start) > idl.DefaultTimeout {
			t.Errorf("got %v, %v after %s, want the result", out, err, time.Since(start))
		}
		close(release)
	})
}

// stuckHost never answers a Fetch until it is released.
type stuckHost struct {
	*fakeHost
	release chan struct{}
}

func (h *stuckHost) Fetch(ctx context.Context, caller wip.Caller, path string) (wip.Entry, error) {
	<-h.release
	return h.fakeHost.Fetch(ctx, caller, path)
}

// TestDefectOfOurOwn answers a panic on the way of a call as a defect.
func TestDefectOfOurOwn(t *testing.T) {
	c, log := open(t, &fakeHost{call: answer(`1`)}, client.Config{
		Approve: func(context.Context, client.Approval) bool { panic("SECRET") },
	})
	_, err := c.Invoke(t.Context(), owner, call("/shop/till", "pay", `{"amount":1}`))
	if e := failure(t, err); e.Class != client.Unavailable || e.Ref == "" || !strings.Contains(log.String(), `"stack"`) || strings.Contains(log.String(), "SECRET") {
		t.Errorf("got %v; the log: %s", e, log)
	}
}

// TestHiddenCostsTheSameWhenOld lets what is known grow old, so that the Host
// has to be asked again, and counts the questions.
func TestHiddenCostsTheSameWhenOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := &fakeHost{call: answer(`1`)}
		c, _ := open(t, host, client.Config{})
		time.Sleep(time.Hour)
		count := func(path string) int64 {
			before := host.fetches.Load()
			_, err := c.Inspect(t.Context(), visitor, path)
			if failure(t, err).Class != client.NotFound {
				t.Errorf("%s: %v", path, err)
			}
			return host.fetches.Load() - before
		}
		for range 3 {
			if hidden, absent := count("/shop/purse"), count("/shop/pouch"); hidden != absent {
				t.Errorf("a hidden entry costs %d questions and an absent one %d", hidden, absent)
			}
			time.Sleep(4 * time.Minute)
		}
	})
}

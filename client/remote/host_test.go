package remote_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wipagent/wipagent/client/remote"
	"github.com/wipagent/wipagent/space/wip"
)

func call(operation string) wip.Call {
	return wip.Call{Path: "/o", Object: "o", Interface: "O", Operation: operation, Arguments: json.RawMessage(`{}`)}
}

// Every field of a call arrives.
func TestCallArrives(t *testing.T) {
	want := wip.Call{
		Caller: wip.Caller{ID: "someone"}, ID: "call-1", Path: "/a b/ü", Object: "o", Interface: "I", Operation: "echo",
		Arguments: json.RawMessage(`{"a":[1,2.50,"<&>",null],"big":12345678901234567890}`), IdempotencyKey: "key", Idempotent: true, DryRun: true,
	}
	each(t, "fake", func(t *testing.T, host wip.Host) {
		r, err := host.CallOperation(t.Context(), want)
		if err != nil {
			t.Fatal(err)
		}
		var got wip.Call
		if err := json.Unmarshal(r.Value, &got); err != nil {
			t.Fatal(err)
		}
		same := cmp.Comparer(func(a, b json.RawMessage) bool { return jsonText(a) == jsonText(b) })
		if diff := cmp.Diff(want, got, same); diff != "" {
			t.Error(diff)
		}
	})
}

// keeping is a Host that honours keys.
type keeping struct{ *fake }

func (keeping) KeepsKeys() bool { return true }

// A Host that honours idempotency keys says so in the handshake; of one that is
// not connected to, nothing is known.
func TestKeepsKeys(t *testing.T) {
	for _, test := range []struct {
		host wip.Host
		want bool
	}{{newFake(), false}, {keeping{newFake()}, true}} {
		if h := served(t, test.host, nil, nil); h.KeepsKeys() != test.want {
			t.Errorf("%T: found %v", test.host, h.KeepsKeys())
		}
		h := served(t, test.host, nil, &remote.Options{Lazy: true})
		if h.KeepsKeys() {
			t.Errorf("%T: said to keep keys before it was asked", test.host)
		}
		if _, err := h.Fetch(t.Context(), wip.Caller{}, "/"); err != nil || h.KeepsKeys() != test.want {
			t.Errorf("%T: found %v, %v", test.host, h.KeepsKeys(), err)
		}
	}
}

// jsonText returns JSON in one form.
func jsonText(raw json.RawMessage) string {
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return err.Error()
	}
	out, _ := json.Marshal(v)
	return string(out)
}

// A Host's failures arrive as they are; what is a defect arrives without its
// text.
func TestFailures(t *testing.T) {
	each(t, "fake", func(t *testing.T, host wip.Host) {
		inProcess := strings.HasSuffix(t.Name(), "in_process")
		for _, class := range []wip.Class{wip.NotFound, wip.Domain, wip.Transient, wip.Stale} {
			_, err := host.CallOperation(t.Context(), call(string(class)))
			want := &wip.Failure{Class: class, Message: "message", Hint: "hint", RetryAfter: 1500 * time.Millisecond, MaybeDone: true}
			if diff := cmp.Diff(want, failureOf(t, err), cmpopts.IgnoreFields(wip.Failure{}, "Err")); diff != "" {
				t.Error(diff)
			}
			if !inProcess && strings.Contains(err.Error(), "SECRET") {
				t.Errorf("the cause came across: %v", err)
			}
		}
		if inProcess {
			return
		}
		for operation, maybe := range map[string]bool{
			"panic": true, "internal": true, "internal failure": false, "no class": false, "nil failure": true, "bad value": true,
		} {
			_, err := host.CallOperation(t.Context(), call(operation))
			f := failureOf(t, err)
			if f.Class != wip.Internal || f.MaybeDone != maybe || strings.Contains(err.Error(), "SECRET") || !strings.Contains(f.Message, "ref: ") || f.Hint != "" {
				t.Errorf("%s: found %v, maybe done %v", operation, err, f.MaybeDone)
			}
		}
	})
}

// A caller is who the request says, where that is believed.
func TestCallerArrives(t *testing.T) {
	each(t, "fake", func(t *testing.T, host wip.Host) {
		e, err := host.Fetch(t.Context(), wip.Caller{ID: "someone"}, "/me")
		if err != nil || e.Title != "someone" {
			t.Errorf("found %q, %v", e.Title, err)
		}
	})
}

// A request ends with its context, and says what it may have done.
func TestContextEnds(t *testing.T) {
	each(t, "fake", func(t *testing.T, host wip.Host) {
		inProcess := strings.HasSuffix(t.Name(), "in_process")
		for _, test := range []struct {
			name string
			ctx  func(context.Context) (context.Context, context.CancelFunc)
			want error
		}{
			{"deadline", func(ctx context.Context) (context.Context, context.CancelFunc) {
				return context.WithTimeout(ctx, 50*time.Millisecond)
			}, context.DeadlineExceeded},
			{"cancelled", func(ctx context.Context) (context.Context, context.CancelFunc) {
				ctx, cancel := context.WithCancel(ctx)
				time.AfterFunc(50*time.Millisecond, cancel)
				return ctx, cancel
			}, context.Canceled},
		} {
			if _, err := host.Fetch(t.Context(), wip.Caller{}, "/"); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := test.ctx(t.Context())
			_, err := host.CallOperation(ctx, call("wait"))
			cancel()
			if inProcess {
				continue
			}
			// The server ends a call at its deadline too, and may be first to say so.
			if f := failureOf(t, err); f.Class != wip.Transient || !f.MaybeDone || !errors.Is(err, test.want) && test.want == context.Canceled {
				t.Errorf("%s: found %v, maybe done %v", test.name, err, f.MaybeDone)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := host.CallOperation(ctx, call("echo"))
		if !inProcess {
			if f := failureOf(t, err); f.MaybeDone || !errors.Is(err, context.Canceled) {
				t.Errorf("a request that was never sent: found %v, maybe done %v", err, f.MaybeDone)
			}
			if _, err := host.Fetch(ctx, wip.Caller{}, "/"); err != context.Canceled {
				t.Errorf("found %v, expected the context's error", err)
			}
		}
	})
}

// Many requests go over one connection, and each gets its own answer.
func TestConcurrent(t *testing.T) {
	each(t, "fake", func(t *testing.T, host wip.Host) {
		var wg sync.WaitGroup
		for i := range 200 {
			wg.Go(func() {
				c := call("echo")
				c.ID = strings.Repeat("x", i)
				r, err := host.CallOperation(t.Context(), c)
				var got wip.Call
				if err != nil || json.Unmarshal(r.Value, &got) != nil || got.ID != c.ID {
					t.Errorf("call %d: found %d, %v", i, len(got.ID), err)
				}
			})
		}
		wg.Wait()
	})
}

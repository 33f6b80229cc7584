package space_test

import (
	"context"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/wipagent/wipagent/space"
	"github.com/wipagent/wipagent/space/wip"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func readFile(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// TestKeep lets a Space be kept for an hour.
func TestKeep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loud, quiet, sick := newSource(lampHost()), newSource(lampHost()), newSource(lampHost())
		sick.err = &wip.Failure{Class: wip.Transient, Message: "down"}
		s := space.New(&space.Config{MaxAge: 5 * time.Minute})
		mount(t, s, "/loud", loud, nil)
		mount(t, s, "/quiet", quiet, &space.MountOptions{Quiet: true})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		troubles := make(chan error, 100)
		go func() {
			defer close(done)
			s.Keep(ctx, wip.Caller{}, func(err error) { troubles <- err })
		}()
		time.Sleep(2 * time.Second)
		if trees(loud.host) != 1 || trees(quiet.host) != 0 {
			t.Errorf("asked %d and %d times at once, expected 1 and 0", trees(loud.host), trees(quiet.host))
		}
		mount(t, s, "/sick", sick, nil)
		time.Sleep(time.Hour)
		asked := map[string]int{"loud": trees(loud.host), "sick": trees(sick.host)}
		for name, n := range asked {
			if n < 11 || n > 13 {
				t.Errorf("the %s Host was asked %d times in an hour, expected about 12", name, n)
			}
		}
		if len(troubles) != asked["sick"] {
			t.Errorf("%d troubles were told of, expected %d", len(troubles), asked["sick"])
		}
		// A search asks who was not asked, and leaves the others alone.
		_ = s.RefreshStale(t.Context(), wip.Caller{}) // the sick one may be due
		if n, m := trees(loud.host), trees(quiet.host); n != 0 || m != 1 {
			t.Errorf("a search asked %d and %d times, expected 0 and 1", n, m)
		}
		cancel()
		<-done
		time.Sleep(time.Hour)
		if trees(loud.host) != 0 {
			t.Error("the Host was asked after the end")
		}
	})
}

// TestKeepOnce checks that no mount is asked twice at once, and few are together.
func TestKeepOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := space.New(&space.Config{MaxAge: time.Second})
		var busy, most atomic.Int64
		for i := range 10 {
			mount(t, s, fmt.Sprintf("/m%d", i), &slow{newSource(lampHost()), &busy, &most}, nil)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		s.Keep(ctx, wip.Caller{}, nil)
		if most.Load() != 4 {
			t.Errorf("at most %d mounts were asked at once, expected 4", most.Load())
		}
	})
}

// slow is a Host that never answers in time and fails if it is asked twice.
type slow struct {
	*source
	busy, most *atomic.Int64
}

func (h *slow) FetchTreeSince(ctx context.Context, c wip.Caller, path, tag string) (wip.Change, error) {
	if !h.mu.TryLock() {
		panic("asked twice at once")
	}
	defer h.mu.Unlock()
	for now := h.busy.Add(1); ; {
		if most := h.most.Load(); now <= most || h.most.CompareAndSwap(most, now) {
			break
		}
	}
	<-ctx.Done()
	h.busy.Add(-1)
	return wip.Change{}, ctx.Err()
}

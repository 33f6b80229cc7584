package client_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/audit"
)

// faultTools is who is told of faults.
type faultTools struct {
	mu    sync.Mutex
	tools []string
}

func (*faultTools) Observe(audit.Record) {}

func (f *faultTools) ObserveFault(_, tool string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tools = append(f.tools, tool)
}

// TestKeepTellsWhoseFaultItIs: what goes wrong in the background is told as the
// mount's, and of no other.
func TestKeepTellsWhoseFaultItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := &faultTools{}
		c := client.New(&client.Config{Audit: audit.New(nil, told)})
		moody := newMoody()
		for path, host := range map[string]*moodyHost{"/shop": moody, "/other": newMoody()} {
			if err := c.Mount(t.Context(), path, host, nil); err != nil {
				t.Fatal(err)
			}
		}
		moody.down = true
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			c.Keep(ctx)
		}()
		time.Sleep(10 * time.Minute)
		stop()
		<-done
		if got := slices.Compact(told.tools); !slices.Equal(got, []string{"/shop"}) {
			t.Errorf("found faults of %q, expected those of /shop", got)
		}
	})
}

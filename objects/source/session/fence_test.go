package session_test

import (
	"context"
	"maps"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/objects"
	"github.com/wipagent/wipagent/objects/source/session"
	"github.com/wipagent/wipagent/objects/source/session/gridtest"
)

// operations are all eight, each with arguments.
var operations = []struct{ target, operation, arguments string }{
	{"/grid/agent", "agent_state", `{}`},
	{"/grid/agent", "recent_participants", `{}`},
	{"/grid/region", "world_location", `{}`},
	{"/grid/region", "nearby_avatars", `{"radius_meters":256}`},
	{"/grid/region", "visible_objects", `{"radius_meters":256}`},
	{"/grid/parcel", "parcel_environment", `{}`},
	{"/grid/inventory", "inventory_search", `{"query":"h"}`},
	{"/grid/inventory", "received_landmarks", `{}`},
}

// TestFence: no call causes traffic (P1). What a session sends while every
// operation is called a thousand times, by eight callers at once, equals what
// it sends while nobody calls, to the packet and to the request.
func TestFence(t *testing.T) {
	const calls, window = 1_000, 100 * time.Second
	traffic := func(t *testing.T, call bool) (counts map[string]int) {
		synctest.Test(t, func(t *testing.T) {
			g := gridtest.New(village())
			defer g.Close()
			b := start(t, g, func(c *session.Config) { c.ObjectNames = true })
			c := client.New(nil)
			if err := c.Mount(t.Context(), "/grid", objects.New(b.world, nil), &client.MountOptions{Trusted: true}); err != nil {
				t.Fatal(err)
			}
			end := time.Now().Add(window)
			if call {
				var wg sync.WaitGroup
				for _, op := range operations {
					wg.Go(func() {
						who := &policy.Principal{ID: op.operation, Audience: idl.LocalOperator}
						answered := 0
						for range calls {
							_, err := c.Invoke(context.Background(), who, client.Call{Target: op.target, Operation: op.operation, Arguments: []byte(op.arguments)})
							if err == nil {
								answered++
							}
							time.Sleep(window / (calls + 100))
						}
						if answered < calls*9/10 { // the first come before the region is there
							t.Errorf("%s: found %d answers of %d calls", op.operation, answered, calls)
						}
					})
				}
				wg.Wait()
			}
			time.Sleep(time.Until(end))
			synctest.Wait()
			counts = g.Counts()
			b.close()
		})
		return counts
	}
	idle, busy := traffic(t, false), traffic(t, true)
	// How many names go into one request depends on which arrive at the same
	// instant, in whatever order its goroutines run.
	if busy["names"] > 0 && idle["names"] > 0 {
		busy["names"] = idle["names"]
	}
	if diff := cmp.Diff(idle, busy); diff != "" {
		t.Errorf("calls change what is sent (-idle +busy):\n%s", diff)
	}
	for _, kind := range slices.Sorted(maps.Keys(idle)) {
		if !slices.Contains(permitted, kind) && kind != "RequestObjectPropertiesFamily" {
			t.Errorf("found %d %s, which a session must never send", idle[kind], kind)
		}
	}
	if idle["AgentUpdate"] < int(window/time.Second)-5 || idle["names"] == 0 || idle["inventory"] == 0 || idle["RequestObjectPropertiesFamily"] == 0 {
		t.Errorf("found %v, expected a session at work", idle)
	}
}

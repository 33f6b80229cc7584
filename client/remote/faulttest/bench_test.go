package faulttest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/remote"
	"github.com/wipagent/wipagent/client/remote/faulttest"
	"github.com/wipagent/wipagent/client/resilience"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space/wip"
)

// BenchmarkDecorated measures one call over HTTP, with limits and without.
func BenchmarkDecorated(b *testing.B) {
	server := httptest.NewServer(remote.NewHandler(newTracker(false), nil))
	defer server.Close()
	bare, err := remote.Dial(b.Context(), server.URL, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer bare.Close()
	for name, host := range map[string]wip.Host{"bare": bare, "with limits": resilience.New(bare, nil)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := host.CallOperation(b.Context(), request("read_body", "a")); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

var someone = &client.Principal{ID: "someone", Audience: idl.LocalOperator}

// neighbours is a client of two Hosts, /well and /sick; the second is behind a
// Proxy.
func neighbours(b *testing.B) (*client.Client, *stage) {
	c := client.New(nil)
	sick := newStage(b, newTracker(false), faulttest.Config{})
	well := newStage(b, newTracker(false), faulttest.Config{})
	for path, s := range map[string]*stage{"/sick": sick, "/well": well} {
		if err := c.Mount(b.Context(), path, s.host, &client.MountOptions{Trusted: true}); err != nil {
			b.Fatal(err)
		}
	}
	return c, sick
}

func invoke(ctx context.Context, c *client.Client, mount string) error {
	_, err := c.Invoke(ctx, someone, client.Call{
		Target: mount + "/issues", Operation: "read_body", Arguments: json.RawMessage(`{"issue":"a"}`),
	})
	return err
}

// BenchmarkNeighbour measures a call of one Host and a search over all, while
// nobody uses another Host, and while 32 callers use one that does not answer.
func BenchmarkNeighbour(b *testing.B) {
	for _, fault := range []faulttest.Fault{faulttest.None, faulttest.HalfOpen, faulttest.Delay} {
		for verb, use := range map[string]func(*client.Client) error{
			"invoke": func(c *client.Client) error { return invoke(b.Context(), c, "/well") },
			"discover": func(c *client.Client) error {
				_, err := c.Discover(b.Context(), someone, "/", "read the body")
				return err
			},
		} {
			b.Run(fmt.Sprintf("%s beside %s", verb, fault), func(b *testing.B) {
				c, sick := neighbours(b)
				ctx, cancel := context.WithCancel(b.Context())
				var others sync.WaitGroup
				if fault != faulttest.None {
					sick.proxy.Set(faulttest.Config{Rate: 1, Faults: []faulttest.Fault{fault}, MaxDelay: time.Second})
					for range 32 {
						others.Go(func() {
							for ctx.Err() == nil {
								invoke(ctx, c, "/sick")
								time.Sleep(10 * time.Millisecond) // or what is measured is how busy the machine is
							}
						})
					}
					time.Sleep(100 * time.Millisecond)
				}
				var took []time.Duration
				for b.Loop() {
					start := time.Now()
					if err := use(c); err != nil {
						b.Fatal(err)
					}
					took = append(took, time.Since(start))
				}
				cancel()
				others.Wait()
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
				b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
			})
		}
	}
}

package resilience_test

import (
	"context"
	"testing"

	"github.com/wipagent/wipagent/client/resilience"
	"github.com/wipagent/wipagent/space/wip"
)

// BenchmarkCall measures what the decorator adds to a call of a Host that does
// nothing: with and without the goroutine that a Host needs which promises
// nothing.
func BenchmarkCall(b *testing.B) {
	host := &promptStub{stub{answer: failing(nil)}}
	for name, h := range map[string]wip.Host{
		"bare": host, "prompt": resilience.New(host, nil), "any host": resilience.New(&host.stub, nil),
	} {
		b.Run(name, func(b *testing.B) {
			ctx, cancel := context.WithCancel(b.Context())
			defer cancel()
			b.ReportAllocs()
			for b.Loop() {
				if _, err := h.CallOperation(ctx, wip.Call{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

package remote_test

import (
	"testing"

	"github.com/wipagent/wipagent/space/wip"
)

// BenchmarkCall measures one call at a time by each way: what it takes beyond
// the one in process is the wire's.
func BenchmarkCall(b *testing.B) {
	c := wip.Call{Path: "/region", Object: "region", Interface: "Region", Operation: "world_location", Arguments: []byte(`{}`)}
	for _, way := range ways {
		b.Run(way.name, func(b *testing.B) {
			host := way.reach(b, "grid")
			b.ReportAllocs()
			for b.Loop() {
				if _, err := host.CallOperation(b.Context(), c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkCalls measures calls that are made at once over one connection,
// where the way has one for all of them.
func BenchmarkCalls(b *testing.B) {
	c := wip.Call{Path: "/region", Object: "region", Interface: "Region", Operation: "world_location", Arguments: []byte(`{}`)}
	for _, way := range ways {
		b.Run(way.name, func(b *testing.B) {
			host := way.reach(b, "grid")
			b.ReportAllocs()
			b.SetParallelism(16)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if _, err := host.CallOperation(b.Context(), c); err != nil {
						b.Error(err)
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "calls/s")
		})
	}
}

// BenchmarkTree fetches a tree of 100,000 entries, and then what has changed.
func BenchmarkTree(b *testing.B) {
	f := newFake()
	f.tree = large(100_000)
	h := served(b, f, nil, nil)
	tag := ""
	b.Run("whole", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			c, err := h.FetchTreeSince(b.Context(), wip.Caller{}, "/", "")
			if err != nil {
				b.Fatal(err)
			}
			tag = c.Tag
		}
	})
	b.Run("unchanged", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := h.FetchTreeSince(b.Context(), wip.Caller{}, "/", tag); err != nil {
				b.Fatal(err)
			}
		}
	})
}

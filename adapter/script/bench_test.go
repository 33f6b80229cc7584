package script_test

import (
	"encoding/json"
	"io"
	"testing"

	"github.com/wipagent/wipagent/adapter/script"
	"github.com/wipagent/wipagent/client"
)

// BenchmarkCall compares a call in Go with the same call as a method of a script
// that runs it again and again, and with a script that makes it once.
func BenchmarkCall(b *testing.B) {
	c, log := grid(b)
	b.Run("go", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			log.Reset()
			if _, err := c.Invoke(b.Context(), owner, client.Call{Target: "/grid/region", Operation: "world_location", Arguments: json.RawMessage("{}")}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("method", func(b *testing.B) {
		const calls = 1000
		e := script.New(script.Config{Client: c, Principal: owner, Output: io.Discard, Unlimited: true})
		b.ReportAllocs()
		n := 0
		for b.Loop() {
			log.Reset()
			if err := e.Run(b.Context(), "x", []byte("for i in range(1000): grid.region.world_location()")); err != nil {
				b.Fatal(err)
			}
			n += calls
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/call")
	})
	b.Run("script", func(b *testing.B) {
		r := script.NewRunner(c, script.Limits{})
		args := code("grid.region.world_location().region_name")
		b.ReportAllocs()
		for b.Loop() {
			log.Reset()
			if a := r.Run(b.Context(), owner, "", args); a.Failed {
				b.Fatalf("%s", a.JSON)
			}
		}
	})
}

// BenchmarkLanguage measures what the checks cost where they do nothing.
func BenchmarkLanguage(b *testing.B) {
	const src = `
def f(n):
    s = 0
    l = []
    for i in range(n):
        s += i * 2 % 7
        l.append("%d:%s" % (i, s))
    return ",".join(l)
f(1000)
`
	b.Run("checked", func(b *testing.B) {
		c, _ := grid(b)
		e := script.New(script.Config{Client: c, Principal: owner, Unlimited: true})
		b.ReportAllocs()
		for b.Loop() {
			if err := e.Run(b.Context(), "x", []byte(src)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("library", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := natively(src); err != nil {
				b.Fatal(err)
			}
		}
	})
}

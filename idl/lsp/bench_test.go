package lsp_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
)

// longDocument returns a sound document of at least so many lines.
func longDocument(lines int) string {
	var b strings.Builder
	b.WriteString("package bench;\nimport \"shared.wip\";\n")
	for i := 0; strings.Count(b.String(), "\n") < lines; i++ {
		fmt.Fprintf(&b, `
/// What can be asked of the set number %[1]d.
@read_only @cost(1) @audience(local_operator)
interface Set%[1]d {
  /// Avatars near the agent, nearest first.
  @alias("who is here %[1]d", "people around %[1]d")
  @example(radius_meters: 20)
  nearby_%[1]d(
    /// Search radius around the agent, in metres.
    radius_meters: float [0..256] = 96,
    order: Order%[1]d = nearest,
    page: int [1..1000] = 1,
    page_size: int [1..20] = 20,
  ) -> observed<fact<page<Avatar%[1]d>>>;
}

/// One avatar of the set.
record Avatar%[1]d {
  avatar_id: uuid;
  name: fact<text>;
  place: fact<Place>;
  @derived distance_meters: fact<float>;
}

enum Order%[1]d { nearest, newest }
`, i)
	}
	return b.String()
}

// percentile returns the p-th percentile of durations.
func percentile(list []time.Duration, p int) time.Duration {
	slices.Sort(list)
	return list[min(len(list)*p/100, len(list)-1)]
}

// BenchmarkKeystroke types in a document of 2,000 lines and measures from each
// change to the answer: the editor's way there and back included.
func BenchmarkKeystroke(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as the command does
	text := longDocument(2000)
	at := strings.Index(text, "record Avatar40 {") + len("record Avatar40 {")
	here := place(text, at)
	for _, bench := range []struct {
		name   string
		answer func(e *editor, version int)
	}{
		{"diagnostics", func(e *editor, version int) { e.diagnostics("long.wip", version) }},
		{"completion", func(e *editor, _ int) {
			var list struct {
				Items []completionItem `json:"items"`
			}
			e.call("textDocument/completion", object{"textDocument": object{"uri": e.uri("long.wip")}, "position": position{here.Line, here.Character + 4}}, &list)
			if len(list.Items) < 20 {
				b.Fatalf("got %d completions", len(list.Items))
			}
		}},
		{"hover", func(e *editor, _ int) {
			var got any
			e.call("textDocument/hover", e.at("long.wip", text, "-> observed<fact<page<Ava"), &got)
			if got == nil {
				b.Fatal("got no hover")
			}
		}},
		{"definition", func(e *editor, _ int) {
			var got location
			e.call("textDocument/definition", e.at("long.wip", text, "-> observed<fact<page<Ava"), &got)
		}},
		{"hover of an operation", func(e *editor, _ int) {
			var got any
			e.call("textDocument/hover", e.at("long.wip", text, "  nearby_7"), &got)
			if got == nil {
				b.Fatal("got no hover")
			}
		}},
		{"tokens", func(e *editor, _ int) {
			var got json.RawMessage
			e.call("textDocument/semanticTokens/full", object{"textDocument": object{"uri": e.uri("long.wip")}}, &got)
		}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			e := newEditor(b, map[string]string{"shared.wip": shared})
			e.open("long.wip", text)
			e.diagnostics("long.wip", 1)
			version := 1
			var took []time.Duration
			var most uint64
			b.ReportAllocs()
			for b.Loop() {
				// A member is written and taken back: every other state is broken.
				version++
				start := time.Now()
				if version%2 == 0 {
					e.change("long.wip", version, object{"range": span{here, here}, "text": " x: "})
				} else {
					e.change("long.wip", version, object{"range": span{here, position{here.Line, here.Character + 4}}, "text": ""})
					if bench.name == "completion" {
						continue
					}
				}
				bench.answer(e, version)
				took = append(took, time.Since(start))
				b.StopTimer()
				var m runtime.MemStats
				if len(took)%16 == 0 {
					runtime.ReadMemStats(&m)
					most = max(most, m.HeapAlloc)
				}
				time.Sleep(20 * time.Millisecond) // nobody types faster
				b.StartTimer()
			}
			b.ReportMetric(float64(percentile(took, 50).Microseconds())/1000, "p50-ms")
			b.ReportMetric(float64(percentile(took, 95).Microseconds())/1000, "p95-ms")
			b.ReportMetric(float64(most)/(1<<20), "heap-MB")
		})
	}
}

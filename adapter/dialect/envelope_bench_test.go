package dialect_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/wipagent/wipagent/adapter/dialect"
)

// benchCalls are five calls of the size that calls have.
func benchCalls() (calls []sentCall) {
	for i := range 5 {
		calls = append(calls, sentCall{fmt.Sprintf("call_%d", i), "region_nearby_avatars", `{"radius_meters":64,"page":1,"page_size":20,"query":"a \"quoted\" word"}`})
	}
	return calls
}

// BenchmarkCalls reads a message of five calls. The metric ns/call is the time
// for each of them; encoding/json into the fields alone stands beside it.
func BenchmarkCalls(b *testing.B) {
	for _, c := range []struct{ dialect, message string }{
		{"openai", wholeResponse(benchCalls())},
		{"openai-chat", wholeChat(benchCalls())},
		{"anthropic", wholeMessage(benchCalls())},
		{"gemini", wholeGenerate(benchCalls())},
	} {
		d, message := dialect.Lookup(c.dialect), []byte(c.message)
		b.Run(c.dialect, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(message)))
			for b.Loop() {
				if calls, err := d.Calls(message); err != nil || len(calls) != 5 {
					b.Fatal(calls, err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/5, "ns/call")
		})
	}
	b.Run("encoding/json of openai", func(b *testing.B) {
		message := []byte(wholeResponse(benchCalls()))
		b.ReportAllocs()
		b.SetBytes(int64(len(message)))
		for b.Loop() {
			var v struct {
				Output []struct {
					Type, Name, Arguments, Status string
					ID                            string `json:"call_id"`
				}
			}
			if err := json.Unmarshal(message, &v); err != nil || len(v.Output) != 10 {
				b.Fatal(v, err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/5, "ns/call")
	})
}

// BenchmarkStream joins five calls of ten fragments each.
func BenchmarkStream(b *testing.B) {
	var events [][]byte
	for i, c := range benchCalls() {
		events = append(events, []byte(fmt.Sprintf(`{"type":"content_block_start","index":%d,"content_block":{"type":"tool_use","id":%q,"name":%q,"input":{}}}`, i, c.id, c.name)))
		for n := range 10 {
			part := c.arguments[len(c.arguments)*n/10 : len(c.arguments)*(n+1)/10]
			events = append(events, []byte(fmt.Sprintf(`{"type":"content_block_delta","index":%d,"delta":{"type":"input_json_delta","partial_json":%s}}`, i, quoted(part))))
		}
		events = append(events, []byte(fmt.Sprintf(`{"type":"content_block_stop","index":%d}`, i)))
	}
	b.ReportAllocs()
	for b.Loop() {
		s := dialect.Lookup("anthropic").Stream()
		for _, e := range events {
			if err := s.Add(e); err != nil {
				b.Fatal(err)
			}
		}
		if calls, err := s.Calls(); err != nil || len(calls) != 5 {
			b.Fatal(calls, err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/5, "ns/call")
}

// BenchmarkResults answers five calls, each by as much as an operation may say.
func BenchmarkResults(b *testing.B) {
	payload := json.RawMessage(`{"result":{"items":[` + strings.TrimSuffix(strings.Repeat(`{"name":"Avatar Resident","distance_meters":12.5},`, 650), ",") + `]}}`)
	for _, name := range []string{"openai", "anthropic", "gemini", "mcp"} {
		d := dialect.Lookup(name)
		var results []dialect.Result
		for i := range 5 {
			results = append(results, dialect.Result{Call: dialect.Call{ID: fmt.Sprintf(`"call_%d"`, i), Name: "a"}, JSON: payload, Untrusted: true})
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(5 * len(payload)))
			for b.Loop() {
				if _, err := d.Results(results, dialect.ResultOptions{Mark: []byte("key")}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/5, "ns/call")
		})
	}
}

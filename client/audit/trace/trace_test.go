package trace_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"go.uber.org/goleak"

	"github.com/wipagent/wipagent/client/audit"
	"github.com/wipagent/wipagent/client/audit/otlptest"
	"github.com/wipagent/wipagent/client/audit/trace"
	"github.com/wipagent/wipagent/idl"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// exporter returns an Exporter that sends once it is shut down, or when it has
// enough for a batch.
func exporter(t testing.TB, cfg trace.Config) *trace.Exporter {
	t.Helper()
	cfg.Every = time.Hour
	e, err := trace.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = e.Shutdown(ctx)
	})
	return e
}

func shutdown(t testing.TB, e *trace.Exporter) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := e.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
}

// attributes returns a span's attributes as words.
func attributes(s *otlp.Span) map[string]string {
	m := map[string]string{}
	for _, a := range s.Attributes {
		m[a.Key] = strings.TrimSpace(a.Value.String())
	}
	return m
}

// TestASpanIsARecord: a span has a record's fields, and nothing else.
func TestASpanIsARecord(t *testing.T) {
	c := otlptest.New(t)
	e := exporter(t, trace.Config{URL: c.URL, Version: "v1"})
	record := audit.Record{
		Call: "call-1", Principal: "ada", Audience: idl.IM, Verb: "invoke", Tool: "/grid/region#nearby_avatars",
		Outcome: "unavailable", Duration: 3 * time.Second, Bytes: 12, CacheHit: true, Ref: "REF",
	}
	e.Observe(record)
	e.Observe(audit.Record{Call: "call-2", Audience: idl.IM, Verb: "discover", Outcome: "ok"})
	shutdown(t, e)
	spans := c.Spans()
	if len(spans) != 2 {
		t.Fatalf("found %d spans, want 2", len(spans))
	}
	s := spans[0]
	want := map[string]string{
		"wipagent.call": `string_value:"call-1"`, "wipagent.principal": `string_value:"ada"`, "wipagent.audience": `string_value:"im"`,
		"wipagent.verb": `string_value:"invoke"`, "wipagent.tool": `string_value:"/grid/region#nearby_avatars"`,
		"wipagent.outcome": `string_value:"unavailable"`, "wipagent.result_bytes": "int_value:12", "wipagent.cache_hit": "bool_value:true",
		"wipagent.ref": `string_value:"REF"`,
	}
	if diff := cmp.Diff(want, attributes(s)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if took := time.Duration(s.EndTimeUnixNano - s.StartTimeUnixNano); took != record.Duration {
		t.Errorf("the span takes %s, want %s", took, record.Duration)
	}
	if s.Name != "invoke nearby_avatars" || s.Status.GetCode() != otlp.Status_STATUS_CODE_ERROR || s.Status.GetMessage() != "" || len(s.Events) > 0 || len(s.Links) > 0 {
		t.Errorf("found the span %v", s)
	}
	if id := hex.EncodeToString(s.TraceId); id != e.TraceID(record) || len(s.ParentSpanId) > 0 {
		t.Errorf("found the trace %s below %x, want %s", id, s.ParentSpanId, e.TraceID(record))
	}
	if got := spans[1]; got.Name != "discover" || got.Status.GetCode() != otlp.Status_STATUS_CODE_UNSET {
		t.Errorf("found the span %v", got)
	}
	if stats := e.Stats(); stats != (trace.Stats{Sent: 2}) {
		t.Errorf("found %+v", stats)
	}
}

// TestTraces: a script and its calls are one trace, and so are the attempts at a
// call; those of others are not, whatever they call theirs.
func TestTraces(t *testing.T) {
	c := otlptest.New(t)
	e := exporter(t, trace.Config{URL: c.URL})
	records := []audit.Record{
		{Call: "A.1", Principal: "ada", Verb: "invoke"},
		{Call: "A.2", Principal: "ada", Verb: "inspect"},
		{Call: "A", Principal: "ada", Verb: "run"},
		{Call: "B", Principal: "ada", Verb: "invoke"},
		{Call: "B", Principal: "ada", Verb: "invoke"},
		{Call: "A", Principal: "bob", Verb: "run"},
		{Call: "a.b", Principal: "ada", Verb: "invoke"},
	}
	for _, r := range records {
		e.Observe(r)
	}
	shutdown(t, e)
	spans := c.Spans()
	trace := func(i int) string { return string(spans[i].TraceId) }
	if trace(0) != trace(2) || trace(1) != trace(2) || string(spans[0].ParentSpanId) != string(spans[2].SpanId) || len(spans[2].ParentSpanId) > 0 {
		t.Errorf("the calls of a script are not below it: %v", spans[:3])
	}
	if trace(3) != trace(4) || string(spans[3].SpanId) == string(spans[4].SpanId) {
		t.Errorf("two attempts are not two spans of a trace: %v", spans[3:5])
	}
	if trace(5) == trace(2) || trace(6) == trace(2) || trace(3) == trace(2) {
		t.Error("traces of different calls are one")
	}
	if other := exporter(t, e2(c)); other.TraceID(records[0]) == e.TraceID(records[0]) {
		t.Error("another run has the same traces: they can be told beforehand")
	}
}

func e2(c *otlptest.Collector) trace.Config { return trace.Config{URL: c.URL} }

// TestStrangeRecords: what an embedder may have put into a record spoils no batch.
func TestStrangeRecords(t *testing.T) {
	c := otlptest.New(t)
	e := exporter(t, trace.Config{URL: c.URL})
	e.Observe(audit.Record{Call: "\xff", Principal: strings.Repeat("é", 4000), Verb: "\xc3", Tool: "/a\xff#b\xff", Outcome: "\xff", Duration: -1})
	shutdown(t, e)
	if len(c.Spans()) != 1 {
		t.Fatalf("found %d spans", len(c.Spans()))
	}
	if got := attributes(c.Spans()[0]); len(got["wipagent.principal"]) > 600 || got["wipagent.tool"] != `string_value:"/a#b"` {
		t.Errorf("found %v", got)
	}
}

// TestNothingWaits: while the collector does not answer, calls go on, and what
// finds no room is counted; the end does not wait for it longer than it is told.
func TestNothingWaits(t *testing.T) {
	c := otlptest.New(t)
	release := c.Hold()
	defer release()
	const queue, calls = 16, 10_000
	e := exporter(t, trace.Config{URL: c.URL, Queue: queue})
	for range calls {
		e.Observe(audit.Record{Call: "c", Verb: "invoke", Outcome: "ok"})
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := e.Shutdown(ctx); err == nil {
		t.Error("the end says that all was sent")
	}
	e.Observe(audit.Record{})
	s := e.Stats()
	if s.Sent != 0 || s.Dropped+s.Failed != calls+1 || s.Dropped < calls/2 {
		t.Errorf("found %+v of %d", s, calls+1)
	}
	_ = e.Shutdown(t.Context()) // again
}

// TestACollectorInTrouble is told of once, and so is that it is well again. What
// it says, and what it is told of us, is not.
func TestACollectorInTrouble(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key=s3cret%20key")
	c := otlptest.New(t)
	c.Answer(http.StatusForbidden)
	var said, recovered atomic.Int32
	var words atomic.Value
	e, err := trace.New(trace.Config{
		URL: c.URL, Every: time.Millisecond,
		Failed:    func(err error) { said.Add(1); words.Store(err.Error()) },
		Recovered: func() { recovered.Add(1) },
	})
	if err != nil {
		t.Fatal(err)
	}
	until := func(what string, done func() bool) {
		t.Helper()
		for late := time.Now().Add(30 * time.Second); !done(); time.Sleep(time.Millisecond) {
			if time.Now().After(late) {
				t.Fatalf("never: %s", what)
			}
		}
	}
	for n := range uint64(3) {
		e.Observe(audit.Record{Call: "c", Verb: "invoke"})
		until("a failure", func() bool { return e.Stats().Failed == n+1 })
	}
	c.Answer(http.StatusOK)
	e.Observe(audit.Record{Call: "c", Verb: "invoke"})
	until("success", func() bool { return e.Stats().Sent == 1 })
	shutdown(t, e)
	if said.Load() != 1 || recovered.Load() != 1 || words.Load() != "the collector does not take them" {
		t.Errorf("found %d failures and %d recoveries, said %v", said.Load(), recovered.Load(), words.Load())
	}
	if _, headers := c.Raw(); headers[0].Get("X-Key") != "s3cret key" {
		t.Errorf("the collector was sent %v", headers[0])
	}
}

// TestWhatIsRefused: nothing that may be a secret is quoted, by the error or by a
// library that was given it.
func TestWhatIsRefused(t *testing.T) {
	for name, test := range map[string]struct{ url, variable, value string }{
		"no URL":              {url: "127.0.0.1:4318"},
		"another scheme":      {url: "ftp://127.0.0.1"},
		"user information":    {url: "http://me:s3cret@127.0.0.1:4318"},
		"a query":             {url: "http://127.0.0.1:4318/?key=s3cret"},
		"a header without =":  {variable: "OTEL_EXPORTER_OTLP_HEADERS", value: "a=b,s3cret"},
		"no name of a header": {variable: "OTEL_EXPORTER_OTLP_TRACES_HEADERS", value: "s3 cret=b"},
		"a bad escape":        {variable: "OTEL_EXPORTER_OTLP_HEADERS", value: "a=%s3cret"},
		"a line break":        {variable: "OTEL_EXPORTER_OTLP_HEADERS", value: "a=s3cret%0d%0ax: y"},
		"another endpoint":    {variable: "OTEL_EXPORTER_OTLP_ENDPOINT", value: "http://me:s3cret@[::1"},
		"no resource":         {variable: "OTEL_RESOURCE_ATTRIBUTES", value: "s3cret"},
		"a token in the open": {url: "http://collector.example:4318", variable: "OTEL_EXPORTER_OTLP_HEADERS", value: "authorization=Bearer s3cret"},
	} {
		t.Run(name, func(t *testing.T) {
			if test.variable != "" {
				t.Setenv(test.variable, test.value)
			}
			if test.url == "" {
				test.url = "http://127.0.0.1:4318"
			}
			e, err := trace.New(trace.Config{URL: test.url})
			if err == nil {
				shutdown(t, e)
				t.Fatal("it was taken")
			}
			if strings.Contains(err.Error(), "s3") || strings.Contains(err.Error(), "me:") {
				t.Errorf("the error quotes what it was given: %v", err)
			}
		})
	}
}

func BenchmarkObserve(b *testing.B) {
	c := otlptest.New(b)
	e := exporter(b, trace.Config{URL: c.URL, Queue: 1 << 20})
	record := audit.Record{Call: "call-1", Principal: "ada", Audience: idl.IM, Verb: "invoke", Tool: "/grid/region#nearby_avatars", Outcome: "ok", Duration: time.Millisecond, Bytes: 2048}
	b.ReportAllocs()
	for b.Loop() {
		e.Observe(record)
	}
	b.StopTimer()
	b.ReportMetric(float64(e.Stats().Dropped)/float64(b.N), "dropped/op")
}

func ExampleExporter_TraceID() {
	e, err := trace.New(trace.Config{URL: "http://127.0.0.1:4318"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(e.TraceID(audit.Record{Call: "call-1", Principal: "ada", Verb: "invoke"})))
	_ = e.Shutdown(context.Background())
	// Output: 32
}

package audit_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/audit"
	"github.com/wipagent/wipagent/client/audit/metrics"
	"github.com/wipagent/wipagent/client/audit/otlptest"
	"github.com/wipagent/wipagent/client/audit/trace"
	"github.com/wipagent/wipagent/client/resilience"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space/wip"
)

// secret stands in all that callers and Hosts say.
const secret = "s3cr3t"

// confidant is a Host that has the secret in everything it says, and fails in the
// way that it is asked to.
type confidant struct{}

const confidantDocument = `package confidant;
/// The s3cr3t documentation.
@audience(im)
interface Box {
  @read_only tell(how: string = "s3cr3t by default") -> string;
  @mutating change(how: string) -> bool;
}
`

func (confidant) Fetch(_ context.Context, _ wip.Caller, path string) (wip.Entry, error) {
	return wip.Entry{}, errors.New("s3cr3t: no " + path)
}

func (confidant) FetchTree(context.Context, wip.Caller, string) (wip.Tree, error) {
	return wip.Tree{Entry: wip.Entry{Path: "/", Title: "A s3cr3t title"}, Children: []wip.Tree{
		{Entry: wip.Entry{Path: "/box", Title: "s3cr3t", Summary: "s3cr3t", Indexable: true,
			Object: &wip.Object{ID: "s3cr3t", Interfaces: []wip.InterfaceRef{{Document: "s3cr3t.wip", Interface: "Box"}}}}},
		{Entry: wip.Entry{Path: "/broken", Title: "s3cr3t", Indexable: true,
			Object: &wip.Object{ID: "s3cr3t", Interfaces: []wip.InterfaceRef{{Document: "no-s3cr3t.wip", Interface: "Box"}}}}},
	}}, nil
}

func (confidant) Document(_ context.Context, name string) ([]byte, error) {
	if name != "s3cr3t.wip" {
		return nil, fmt.Errorf("found no document %q", name)
	}
	return []byte(confidantDocument), nil
}

func (confidant) CallOperation(_ context.Context, c wip.Call) (wip.Result, error) {
	switch gjson.GetBytes(c.Arguments, "how").Str {
	case "s3cr3t error":
		return wip.Result{}, fmt.Errorf("wrapped: %w", errors.New("s3cr3t"))
	case "s3cr3t domain":
		return wip.Result{}, &wip.Failure{Class: wip.Domain, Message: "s3cr3t", Hint: "s3cr3t", Err: errors.New("s3cr3t")}
	case "s3cr3t transient":
		return wip.Result{}, &wip.Failure{Class: wip.Transient, Message: "s3cr3t", Err: errors.New("s3cr3t")}
	case "s3cr3t class":
		return wip.Result{}, &wip.Failure{Class: "s3cr3t", Message: "s3cr3t"}
	case "s3cr3t panic":
		panic("s3cr3t")
	case "s3cr3t structured panic":
		panic(errors.New("s3cr3t"))
	case "s3cr3t shape":
		return wip.Result{Value: json.RawMessage(`{"s3cr3t":["s3cr3t"]}`)}, nil
	case "s3cr3t size":
		return wip.Result{Value: json.RawMessage(`"` + strings.Repeat("s3cr3t", 10_000) + `"`)}, nil
	}
	return wip.Result{Value: json.RawMessage(`"s3cr3t"`), CacheHit: true}, nil
}

// calls makes calls that end in every way there is, with the secret in all that is
// sent.
func calls(t *testing.T, c *client.Client) {
	ctx := t.Context()
	p := &client.Principal{ID: "ada", Audience: idl.IM}
	for _, how := range []string{"well", "error", "domain", "transient", "class", "panic", "structured panic", "shape", "size"} {
		for _, operation := range []string{"tell", "change"} {
			_, _ = c.Invoke(ctx, p, client.Call{ID: "call." + operation, Target: "/h/box", Operation: operation, Arguments: json.RawMessage(`{"how":"s3cr3t ` + how + `"}`)})
		}
	}
	_, _ = c.Invoke(ctx, p, client.Call{ID: "s3cr3t call", Target: "/h/s3cr3t", Operation: "s3cr3t", Arguments: json.RawMessage(`{}`)})
	_, _ = c.Invoke(ctx, p, client.Call{Target: "/h/box", Operation: "s3cr3t", Arguments: json.RawMessage(`{}`)})
	_, _ = c.Invoke(ctx, p, client.Call{Target: "/h/box", Operation: "tell", Arguments: json.RawMessage(`{"s3cr3t":"s3cr3t"}`)})
	_, _ = c.Invoke(ctx, p, client.Call{Target: "/h/box", Operation: "tell", Arguments: json.RawMessage(`s3cr3t`)})
	_, _ = c.Invoke(ctx, &client.Principal{ID: "eve", Audience: idl.PublicChat}, client.Call{Target: "/h/box", Operation: "tell", Arguments: json.RawMessage(`{}`)})
	_, _ = c.Inspect(ctx, p, "/h/box#s3cr3t")
	_, _ = c.Inspect(ctx, p, "/nowhere/s3cr3t")
	_, _ = c.Inspect(ctx, p, "/h/box")
	_, _ = c.Inspect(ctx, p, "/h/broken")
	_, _ = c.Discover(ctx, p, "/s3cr3t", "s3cr3t")
	_ = c.Run(p, "s3cr3t run", func(string) (int, error) { panic("s3cr3t") })
	_ = c.Misread(ctx, p, "invoke", "s3cr3t id", &client.Error{Class: client.BadArguments, Message: "s3cr3t"})
	_ = c.Defect("invoke", "s3cr3t", []byte("goroutine 1"))
	_ = c.Refresh(ctx, "/")
}

// TestNothingIsTold of arguments, results, titles, errors and panics: by the log,
// by metrics or by spans; and what is told are the fields of P16.
func TestNothingIsTold(t *testing.T) {
	collector := otlptest.New(t)
	traces, err := trace.New(trace.Config{URL: collector.URL, Every: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	counts := metrics.New("v1")
	var log bytes.Buffer
	c := client.New(&client.Config{Audit: audit.New(&log, counts, traces)})
	counts.Watch(c.Mounts)
	// Its error is for who mounts: one of the documents cannot be had.
	_ = c.Mount(t.Context(), "/h", confidant{}, &client.MountOptions{Title: secret, Trusted: true, Limits: resilience.Config{Attempts: 1, Failures: 1000}})
	calls(t, c)
	if err := traces.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	counts.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	exposition := w.Body.String()
	bodies, headers := collector.Raw()
	for what, text := range map[string]string{"the log": log.String(), "the exposition": exposition, "what is sent": string(bytes.Join(bodies, nil)) + fmt.Sprint(headers)} {
		if at := strings.Index(text, secret); at >= 0 {
			t.Errorf("%s tells of …%q…", what, text[max(0, at-200):min(len(text), at+100)])
		}
	}

	// Each call has a line and a span, of the same values.
	lines, told := map[string]bool{}, map[string]int{}
	outcomes, n := map[string]bool{}, 0
	for line := range strings.Lines(log.String()) {
		r := gjson.Parse(line)
		r.ForEach(func(key, _ gjson.Result) bool {
			told[r.Get("msg").Str+" "+key.Str]++
			return true
		})
		if r.Get("msg").Str == "call" {
			n++
			outcomes[r.Get("outcome").Str] = true
			lines[strings.Join([]string{r.Get("trace_id").Str, r.Get("call").Str, r.Get("outcome").Str, r.Get("ref").Str}, " ")] = true
		}
	}
	wantFields := []string{
		"call audience", "call cache_hit", "call call", "call duration_micros", "call level", "call msg", "call outcome", "call principal", "call ref",
		"call result_bytes", "call time", "call tool", "call trace_id", "call verb",
		"fault cause", "fault level", "fault msg", "fault ref", "fault stack", "fault time", "fault tool",
	}
	if diff := cmp.Diff(wantFields, sortedKeys(told)); diff != "" {
		t.Errorf("fields of the log (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"arguments", "domain", "not_found", "ok", "refused", "unavailable"}, sortedKeys(outcomes)); diff != "" {
		t.Errorf("not every way to end was tried (-want +got):\n%s", diff)
	}
	attributes := map[string]bool{}
	spans := collector.Spans()
	for _, s := range spans {
		values := map[string]string{}
		for _, a := range s.Attributes {
			attributes[a.Key], values[a.Key] = true, a.Value.GetStringValue()
		}
		key := strings.Join([]string{fmt.Sprintf("%x", s.TraceId), values["wipagent.call"], values["wipagent.outcome"], values["wipagent.ref"]}, " ")
		if !lines[key] {
			t.Errorf("a span has no line in the log: %s", key)
		}
	}
	if len(spans) != n || n < 29 {
		t.Errorf("found %d spans and %d lines", len(spans), n)
	}
	wantAttributes := []string{
		"wipagent.audience", "wipagent.cache_hit", "wipagent.call", "wipagent.outcome", "wipagent.principal", "wipagent.ref", "wipagent.result_bytes", "wipagent.tool", "wipagent.verb",
	}
	if diff := cmp.Diff(wantAttributes, sortedKeys(attributes)); diff != "" {
		t.Errorf("attributes (-want +got):\n%s", diff)
	}
	labels := map[string]bool{}
	for line := range strings.Lines(exposition) {
		_, rest, ok := strings.Cut(line, "{")
		if !ok || !strings.HasPrefix(line, "wipagent_") {
			continue
		}
		for pair := range strings.SplitSeq(rest[:strings.LastIndexByte(rest, '}')], ",") {
			name, _, _ := strings.Cut(pair, "=")
			labels[name] = true
		}
	}
	if diff := cmp.Diff([]string{"audience", "le", "mount", "operation", "outcome", "state", "verb", "version"}, sortedKeys(labels)); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// witness writes down what it is shown.
type witness struct{ seen []string }

func (w *witness) Observe(r audit.Record)        { w.seen = append(w.seen, "call "+r.Call) }
func (w *witness) ObserveFault(ref, tool string) { w.seen = append(w.seen, "fault "+ref+" "+tool) }

// plainWitness is no FaultObserver.
type plainWitness struct{ w *witness }

func (p plainWitness) Observe(r audit.Record) { p.w.Observe(r) }

// TestObservers are shown all calls, whatever is written, and those faults that
// want them.
func TestObservers(t *testing.T) {
	for name, open := range map[string]func(o ...audit.Observer) *audit.Log{
		"nothing is written": func(o ...audit.Observer) *audit.Log { return audit.New(nil, o...) },
		"faults are":         func(o ...audit.Observer) *audit.Log { return audit.NewFaults(&bytes.Buffer{}, o...) },
		"all is":             func(o ...audit.Observer) *audit.Log { return audit.New(&bytes.Buffer{}, o...) },
	} {
		var first, second witness
		log := open(&first, plainWitness{&second})
		log.Fault("R", "/h/x#y", errors.New("e"))
		log.Call(audit.Record{Call: "c"})
		if diff := cmp.Diff([]string{"fault R /h/x#y", "call c"}, first.seen); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if diff := cmp.Diff([]string{"call c"}, second.seen); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	var none *audit.Log
	none.Call(audit.Record{})
	none.Fault("", "", nil)
}

// BenchmarkCall measures what each way to watch adds to the record of a call.
func BenchmarkCall(b *testing.B) {
	record := audit.Record{Call: "call-1", Principal: "ada", Audience: idl.IM, Verb: "invoke", Tool: "/grid/region#nearby_avatars", Outcome: "ok", Duration: time.Millisecond, Bytes: 2048}
	counts := metrics.New("v1")
	counts.Watch(func() []client.MountStatus { return []client.MountStatus{{Path: "/grid"}, {Path: "/issues"}} })
	traces, err := trace.New(trace.Config{URL: otlptest.New(b).URL})
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = traces.Shutdown(ctx)
	}()
	for _, bench := range []struct {
		name string
		log  *audit.Log
	}{
		{"nothing", audit.New(nil)},
		{"metrics", audit.New(nil, counts)},
		{"traces", audit.New(nil, traces)},
		{"both", audit.New(nil, counts, traces)},
		{"log", audit.New(discard{})},
		{"all", audit.New(discard{}, counts, traces)},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				bench.log.Call(record)
			}
		})
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

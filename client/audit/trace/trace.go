// Package trace sends each call as a span of OpenTelemetry to a collector, by OTLP
// over HTTP. It sees audit records and nothing else, so that a span has what P16
// lists and nothing else.
//
// All attempts at one call are one trace, and so are a script and the calls that
// it makes. The log has a call's trace_id; its span has the log's call and, if
// there was a fault, its ref.
package trace

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	api "go.opentelemetry.io/otel/trace"

	"github.com/wipagent/wipagent/client/audit"
)

// Config says where spans go.
type Config struct {
	// URL is the collector's: http or https, without user information. Without a
	// path it is /v1/traces.
	URL string
	// Version is the program's; empty is unknown.
	Version string
	// Failed is told when sending has failed, once until it succeeds again, and
	// Recovered then. err says nothing that the collector said. Nil is not told.
	Failed    func(err error)
	Recovered func()

	// Queue is how many spans wait to be sent; what comes when it is full is
	// dropped. 0 is 2,048.
	Queue int
	// Every is how long a span waits for others to be sent with. 0 is 5 seconds.
	Every time.Duration
}

const (
	defaultQueue = 2048
	defaultEvery = 5 * time.Second
	batch        = 512 // spans that are sent at once
)

// Stats are what has become of the spans so far.
type Stats struct {
	Sent    uint64
	Dropped uint64 // since the queue was full, or nothing is sent any more
	Failed  uint64 // the collector could not be reached, or did not take all of what they were sent with
}

// Exporter is an [audit.Tracer]. It is safe for concurrent use.
type Exporter struct {
	cfg    Config
	client *otlptrace.Exporter
	salt   [16]byte
	queue  chan ended
	stop   chan struct{} // closed when no more is taken
	done   chan struct{} // closed when all that was taken is sent
	cancel context.CancelFunc
	once   sync.Once

	sent, dropped, failed atomic.Uint64
}

var _ audit.Tracer = (*Exporter)(nil)

// ended is a call and when it ended.
type ended struct {
	audit.Record
	at time.Time
}

// New returns an Exporter, which nothing has been sent by yet. Headers, such as a
// token, are those of OTEL_EXPORTER_OTLP_HEADERS; further variables of
// OTEL_EXPORTER_OTLP_ and OTEL_RESOURCE_ATTRIBUTES apply too, except those that
// name an endpoint. An error quotes nothing of them.
func New(cfg Config) (*Exporter, error) {
	if cfg.Queue <= 0 {
		cfg.Queue = defaultQueue
	}
	if cfg.Every <= 0 {
		cfg.Every = defaultEvery
	}
	endpoint, err := endpointOf(cfg.URL)
	if err != nil {
		return nil, err
	}
	if err := checkEnvironment(endpoint); err != nil {
		return nil, err
	}
	res, err := resource.New(context.Background(),
		resource.WithAttributes(attribute.String("service.name", "wipagent"), attribute.String("service.version", cfg.Version)),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, errors.New("OTEL_RESOURCE_ATTRIBUTES: expected NAME=VALUE,... with values in percent-encoding")
	}
	ctx, cancel := context.WithCancel(context.Background())
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(endpoint.String()))
	if err != nil {
		cancel()
		return nil, errors.New("the exporter does not start: check the environment variables whose names begin with OTEL_EXPORTER_OTLP_")
	}
	e := &Exporter{
		cfg: cfg, client: exporter, queue: make(chan ended, cfg.Queue),
		stop: make(chan struct{}), done: make(chan struct{}), cancel: cancel,
	}
	_, _ = rand.Read(e.salt[:]) // which never fails
	go e.work(ctx, newSpans(res))
	return e, nil
}

// Observe puts the call's span into the queue, or drops it.
func (e *Exporter) Observe(r audit.Record) {
	select {
	case <-e.stop:
		e.dropped.Add(1)
		return
	default:
	}
	select {
	case e.queue <- ended{r, time.Now()}:
	default:
		e.dropped.Add(1)
	}
}

// TraceID returns the 32 hexadecimal digits of the trace that the call is part of.
// They cannot be told without this Exporter, nor chosen by who calls.
func (e *Exporter) TraceID(r audit.Record) string {
	id, _ := e.ids(r)
	return id.String()
}

// Stats returns what has become of the spans so far.
func (e *Exporter) Stats() Stats {
	s := Stats{Sent: e.sent.Load(), Dropped: e.dropped.Load(), Failed: e.failed.Load()}
	select {
	case <-e.done: // nobody comes for what is left
		s.Dropped += uint64(len(e.queue))
	default:
	}
	return s
}

// Shutdown sends what is in the queue, until ctx ends, and takes no more. It may
// be called again, and then waits too. What could not be sent is in Stats.
func (e *Exporter) Shutdown(ctx context.Context) error {
	e.once.Do(func() { close(e.stop) })
	defer e.cancel()
	select {
	case <-e.done:
		return nil
	case <-ctx.Done():
		e.cancel() // which ends what is being sent
		<-e.done
		return ctx.Err()
	}
}

// work sends spans in batches until the Exporter is shut down.
func (e *Exporter) work(ctx context.Context, s *spans) {
	defer close(e.done)
	tick := time.NewTicker(e.cfg.Every)
	defer tick.Stop()
	well := true
	send := func() {
		n := uint64(len(s.ready))
		if n == 0 {
			return
		}
		err := e.client.ExportSpans(ctx, s.ready)
		clear(s.ready)
		s.ready = s.ready[:0]
		if err == nil {
			e.sent.Add(n)
			if !well && e.cfg.Recovered != nil {
				e.cfg.Recovered()
			}
		} else {
			e.failed.Add(n)
			if well && ctx.Err() == nil && e.cfg.Failed != nil {
				e.cfg.Failed(reason(err))
			}
		}
		well = err == nil
	}
	take := func(c ended) {
		if s.add(e, c); len(s.ready) == batch {
			send()
		}
	}
	for {
		select {
		case c := <-e.queue:
			take(c)
		case <-tick.C:
			send()
		case <-e.stop:
			for {
				select {
				case c := <-e.queue:
					take(c)
					continue
				default:
				}
				send()
				_ = e.client.Shutdown(ctx)
				return
			}
		}
	}
}

// ids returns the trace that a call is part of and, for the calls of a script, the
// span of that. The calls of a script ID are ID.1, ID.2 and so on.
func (e *Exporter) ids(r audit.Record) (trace api.TraceID, script api.SpanID) {
	root := r.Call
	if at := strings.LastIndexByte(root, '.'); at > 0 && r.Verb != "run" && strings.Trim(root[at+1:], "0123456789") == "" && at+1 < len(root) {
		root = root[:at]
	}
	h := sha256.New()
	h.Write(e.salt[:])
	h.Write([]byte(r.Principal))
	h.Write([]byte{0})
	h.Write([]byte(root))
	sum := h.Sum(nil)
	trace, _ = api.TraceID(sum[:16]), copy(script[:], sum[16:])
	if root == r.Call && r.Verb != "run" {
		script = api.SpanID{}
	}
	return trace, script
}

// spans makes spans of calls. It is used by one goroutine.
type spans struct {
	tracer api.Tracer
	next   struct {
		trace api.TraceID
		span  api.SpanID
	}
	ready []sdk.ReadOnlySpan
}

func newSpans(res *resource.Resource) *spans {
	s := &spans{}
	s.tracer = sdk.NewTracerProvider(sdk.WithResource(res), sdk.WithSampler(sdk.AlwaysSample()),
		sdk.WithIDGenerator(s), sdk.WithSpanProcessor(s)).Tracer("github.com/wipagent/wipagent")
	return s
}

// add makes the span of a call.
func (s *spans) add(e *Exporter, c ended) {
	trace, script := e.ids(c.Record)
	s.next.trace, s.next.span = trace, api.SpanID{}
	ctx := context.Background()
	switch {
	case c.Verb == "run":
		s.next.span = script
	case script.IsValid():
		ctx = api.ContextWithRemoteSpanContext(ctx, api.NewSpanContext(api.SpanContextConfig{TraceID: trace, SpanID: script, TraceFlags: api.FlagsSampled}))
	}
	_, span := s.tracer.Start(ctx, name(c.Record), api.WithTimestamp(c.at.Add(-c.Duration)), api.WithSpanKind(api.SpanKindServer),
		api.WithAttributes(attributes(c.Record)...))
	if c.Outcome == "unavailable" { // all else is the caller's
		span.SetStatus(codes.Error, "")
	}
	span.End(api.WithTimestamp(c.at))
}

// name is the verb and, where one was called, the operation.
func name(r audit.Record) string {
	if _, operation, ok := strings.Cut(r.Tool, "#"); ok {
		return text(r.Verb + " " + operation)
	}
	return text(r.Verb)
}

// attributes are the record's other fields. What is empty is left out.
func attributes(r audit.Record) []attribute.KeyValue {
	list := []attribute.KeyValue{
		attribute.String("wipagent.call", text(r.Call)),
		attribute.String("wipagent.principal", text(r.Principal)),
		attribute.String("wipagent.audience", r.Audience.String()),
		attribute.String("wipagent.verb", text(r.Verb)),
		attribute.String("wipagent.outcome", text(r.Outcome)),
		attribute.Int("wipagent.result_bytes", r.Bytes),
		attribute.Bool("wipagent.cache_hit", r.CacheHit),
	}
	if r.Tool != "" {
		list = append(list, attribute.String("wipagent.tool", text(r.Tool)))
	}
	if r.Ref != "" {
		list = append(list, attribute.String("wipagent.ref", text(r.Ref)))
	}
	return list
}

// text bounds a string, and has it be UTF-8: a collector would refuse all that is
// sent with one that is not.
func text(s string) string {
	const most = 512
	if len(s) > most {
		s = s[:most]
	}
	return strings.ToValidUTF8(s, "")
}

// NewIDs returns those of the span that is about to be made.
func (s *spans) NewIDs(ctx context.Context) (api.TraceID, api.SpanID) {
	return s.next.trace, s.NewSpanID(ctx, s.next.trace)
}

// NewSpanID returns that of the span that is about to be made, by chance unless it
// has one.
func (s *spans) NewSpanID(context.Context, api.TraceID) api.SpanID {
	id := s.next.span
	for !id.IsValid() {
		_, _ = rand.Read(id[:]) // which never fails
	}
	return id
}

// OnStart does nothing.
func (s *spans) OnStart(context.Context, sdk.ReadWriteSpan) {}

// OnEnd takes a span that has been made.
func (s *spans) OnEnd(span sdk.ReadOnlySpan) { s.ready = append(s.ready, span) }

// Shutdown does nothing: who made the spans sends them.
func (s *spans) Shutdown(context.Context) error { return nil }

// ForceFlush does nothing.
func (s *spans) ForceFlush(context.Context) error { return nil }

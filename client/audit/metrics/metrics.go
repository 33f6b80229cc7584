// Package metrics counts calls for Prometheus. It sees audit records, reasons of
// refusals and how mounts are doing, and nothing else (P16).
//
// Labels are bounded, whatever callers and Hosts say: who calls is told by
// audience alone, what is called by the mount and the operation's name, and of
// those only what a caller was allowed to call, up to MaxTools of them. A path is
// no label, as a Host may have any number of entries.
package metrics

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/audit"
	"github.com/wipagent/wipagent/idl"
)

// MaxTools is how many pairs of a mount and an operation have series of their own.
// All that come later are counted as the operation Other of their mount.
const MaxTools = 512

// Other stands for what has no series of its own.
const Other = "other"

// Metrics is an [audit.FaultObserver] with an exposition. It is safe for
// concurrent use.
type Metrics struct {
	registry *prometheus.Registry
	calls    *prometheus.CounterVec
	duration *prometheus.HistogramVec
	bytes    *prometheus.HistogramVec
	hits     *prometheus.CounterVec
	faults   *prometheus.CounterVec
	refused  *prometheus.CounterVec

	handler http.Handler
	mounts  atomic.Pointer[func() []client.MountStatus] // nil until there is something to watch
	paths   atomic.Pointer[[]string]                    // of the mounts, the longest first

	mu    sync.RWMutex
	tools map[tool]bool // those that have series of their own

	reasons sync.Map     // of refusals, those that have series of their own
	told    atomic.Int32 // how many those are
}

var (
	_ audit.FaultObserver   = (*Metrics)(nil)
	_ audit.RefusalObserver = (*Metrics)(nil)
	_ http.Handler          = (*Metrics)(nil)
)

// tool is what is called, as labels tell it.
type tool struct{ mount, operation string }

// New returns Metrics of a program of this version.
func New(version string) *Metrics {
	labels := []string{"verb", "mount", "operation"}
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "wipagent_calls_total",
			Help: "Calls that have ended. outcome is ok, dry_run, the class of the error, or waiting for an approval; mount and operation are empty unless the call was understood and allowed.",
		}, append(labels, "audience", "outcome")),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "wipagent_call_duration_seconds", Help: "From a call's arrival to its answer.",
			Buckets: []float64{.0001, .00025, .001, .0025, .01, .025, .1, .25, 1, 3, 10, 30},
		}, labels),
		bytes: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "wipagent_result_bytes", Help: "JSON of the results of invoke and of scripts.",
			Buckets: prometheus.ExponentialBuckets(256, 4, 10), // to 64 MiB
		}, labels),
		hits: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "wipagent_cache_hits_total", Help: "Calls that the Host answered from what it already had.",
		}, labels),
		faults: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "wipagent_faults_total", Help: "Faults that the log tells of; mount is empty where it is not one Host's.",
		}, []string{"mount"}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "wipagent_refused_requests_total", Help: "Requests over HTTP that were refused before they could be anybody's call.",
		}, []string{"reason"}),
		tools: map[tool]bool{},
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "wipagent_build_info", Help: "1, with the version.", ConstLabels: prometheus.Labels{"version": strings.ToValidUTF8(version, "")},
	})
	build.Set(1)
	m.registry.MustRegister(m.calls, m.duration, m.bytes, m.hits, m.faults, m.refused, build, mountCollector{m},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.handler = promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Timeout: scrapeWithin, MaxRequestsInFlight: scrapesAtOnce})
	m.paths.Store(&[]string{})
	return m
}

// Watch has the exposition tell how a client's mounts are doing, by its Mounts
// method. Before that nothing is told by mount.
func (m *Metrics) Watch(mounts func() []client.MountStatus) {
	m.mounts.Store(&mounts)
}

// Count adds a counter to the exposition, with a value that only grows. The name
// is Prometheus' form of one, which ends in _total, and must be new: else it
// panics.
func (m *Metrics) Count(name, help string, value func() uint64) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: name, Help: help}, func() float64 { return float64(value()) }))
}

// Observe counts a call.
func (m *Metrics) Observe(r audit.Record) {
	verb, t := known(verbs, r.Verb), m.tool(r.Tool)
	m.calls.WithLabelValues(verb, t.mount, t.operation, known(audiences, r.Audience.String()), known(outcomes, r.Outcome)).Inc()
	m.duration.WithLabelValues(verb, t.mount, t.operation).Observe(r.Duration.Seconds())
	if r.Outcome == "ok" && (r.Verb == "invoke" || r.Verb == "run") {
		m.bytes.WithLabelValues(verb, t.mount, t.operation).Observe(float64(r.Bytes))
	}
	if r.CacheHit {
		m.hits.WithLabelValues(verb, t.mount, t.operation).Inc()
	}
}

// ObserveFault counts a fault by the mount that it is of.
func (m *Metrics) ObserveFault(_, tool string) {
	m.faults.WithLabelValues(m.mountOf(tool)).Inc()
}

// maxReasons is how many reasons of refusals have series of their own.
const maxReasons = 64

// ObserveRefusal counts a refused request by the server's word for the reason.
func (m *Metrics) ObserveRefusal(reason string) {
	if _, mine := m.reasons.Load(reason); !mine {
		if m.told.Load() >= maxReasons {
			reason = Other
		} else if _, mine = m.reasons.LoadOrStore(reason, true); !mine {
			m.told.Add(1)
		}
	}
	m.refused.WithLabelValues(reason).Inc()
}

// ServeHTTP answers a scrape.
func (m *Metrics) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.handler.ServeHTTP(w, r)
}

// What a scrape may take, and how many there may be at once.
const (
	scrapeWithin  = 5 * time.Second
	scrapesAtOnce = 4
)

// The values of labels that are words. An adapter of somebody else might make up
// others.
var (
	verbs     = []string{"discover", "inspect", "invoke", "run"}
	audiences = idl.AudienceNames()
	outcomes  = []string{"ok", "dry_run", "waiting", string(client.BadArguments), string(client.NotFound), string(client.Refused), string(client.Domain), string(client.Unavailable)}
)

func known(words []string, word string) string {
	if slices.Contains(words, word) {
		return word
	}
	return Other
}

// tool returns the labels of what was called.
func (m *Metrics) tool(named string) tool {
	if named == "" {
		return tool{}
	}
	_, operation, _ := strings.Cut(named, "#")
	t := tool{m.mountOf(named), strings.ToValidUTF8(operation, "")}
	m.mu.RLock()
	mine, full := m.tools[t], len(m.tools) >= MaxTools
	m.mu.RUnlock()
	if mine {
		return t
	}
	if !full {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.tools[t] || len(m.tools) < MaxTools {
			m.tools[t] = true
			return t
		}
	}
	return tool{t.mount, Other}
}

// mountOf returns the path of the mount that a tool is of; empty if there is none,
// as of a folder above the mounts.
func (m *Metrics) mountOf(tool string) string {
	if !strings.HasPrefix(tool, "/") {
		return ""
	}
	path, _, _ := strings.Cut(tool, "#")
	if at := longest(*m.paths.Load(), path); at != "" {
		return at
	}
	m.status() // something may have been mounted since
	return longest(*m.paths.Load(), path)
}

// longest returns the first of the paths that is path or stands above it.
func longest(paths []string, path string) string {
	for _, p := range paths {
		if rest, ok := strings.CutPrefix(path, p); ok && (rest == "" || rest[0] == '/') {
			return p
		}
	}
	return ""
}

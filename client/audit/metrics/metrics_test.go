package metrics_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/audit"
	"github.com/wipagent/wipagent/client/audit/metrics"
	"github.com/wipagent/wipagent/client/resilience"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space/wip"
)

// scrape returns the lines of an exposition that begin with one of the words.
func scrape(t testing.TB, m *metrics.Metrics, words ...string) []string {
	t.Helper()
	w := httptest.NewRecorder()
	m.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if w.Code != 200 {
		t.Fatalf("found the status %d: %s", w.Code, w.Body)
	}
	var list []string
	for line := range strings.Lines(w.Body.String()) {
		if slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(line, word) }) {
			list = append(list, strings.TrimSuffix(line, "\n"))
		}
	}
	return list
}

// watched returns Metrics that know of mounts at these paths.
func watched(paths ...string) *metrics.Metrics {
	m := metrics.New("v1")
	m.Watch(func() []client.MountStatus {
		var list []client.MountStatus
		for _, p := range paths {
			list = append(list, client.MountStatus{Path: p})
		}
		return list
	})
	return m
}

// TestCounts: a call is counted by the mount and the operation, whatever the path.
func TestCounts(t *testing.T) {
	m := watched("/grid", "/issues", "/issues/old")
	for _, r := range []audit.Record{
		{Verb: "invoke", Tool: "/issues/harbour/1#close", Audience: idl.IM, Outcome: "ok", Bytes: 300, CacheHit: true},
		{Verb: "invoke", Tool: "/issues/harbour/2#close", Audience: idl.IM, Outcome: "ok", Bytes: 200},
		{Verb: "invoke", Tool: "/issues/old/1#close", Audience: idl.IM, Outcome: "domain"},
		{Verb: "inspect", Tool: "/issues", Audience: idl.LocalOperator, Outcome: "ok"},
		{Verb: "inspect", Tool: "/issuesandmore", Audience: idl.LocalOperator, Outcome: "ok"},
		{Verb: "invoke", Audience: idl.PublicChat, Outcome: "not_found"},
		{Verb: "discover", Audience: idl.PublicChat, Outcome: "ok", Duration: 2 * time.Millisecond},
		{Verb: "what a stranger says", Outcome: "boom"},
	} {
		m.Observe(r)
	}
	for _, tool := range []string{"/grid/region#x", "/grid", "discover", "", "/nowhere"} {
		m.ObserveFault("REF", tool)
	}
	for _, reason := range []string{"token", "host", "token"} {
		m.ObserveRefusal(reason)
	}
	want := []string{
		`wipagent_cache_hits_total{mount="/issues",operation="close",verb="invoke"} 1`,
		`wipagent_call_duration_seconds_bucket{mount="",operation="",verb="discover",le="0.001"} 0`,
		`wipagent_call_duration_seconds_bucket{mount="",operation="",verb="discover",le="0.0025"} 1`,
		`wipagent_calls_total{audience="im",mount="/issues",operation="close",outcome="ok",verb="invoke"} 2`,
		`wipagent_calls_total{audience="im",mount="/issues/old",operation="close",outcome="domain",verb="invoke"} 1`,
		`wipagent_calls_total{audience="local_operator",mount="",operation="",outcome="ok",verb="inspect"} 1`,
		`wipagent_calls_total{audience="local_operator",mount="/issues",operation="",outcome="ok",verb="inspect"} 1`,
		`wipagent_calls_total{audience="other",mount="",operation="",outcome="other",verb="other"} 1`,
		`wipagent_calls_total{audience="public_chat",mount="",operation="",outcome="not_found",verb="invoke"} 1`,
		`wipagent_calls_total{audience="public_chat",mount="",operation="",outcome="ok",verb="discover"} 1`,
		`wipagent_faults_total{mount=""} 3`,
		`wipagent_faults_total{mount="/grid"} 2`,
		`wipagent_refused_requests_total{reason="host"} 1`,
		`wipagent_refused_requests_total{reason="token"} 2`,
		`wipagent_result_bytes_sum{mount="/issues",operation="close",verb="invoke"} 500`,
		`wipagent_result_bytes_count{mount="/issues",operation="close",verb="invoke"} 2`,
	}
	got := scrape(t, m, "wipagent_cache", "wipagent_calls", "wipagent_faults", "wipagent_refused", "wipagent_result_bytes_sum", "wipagent_result_bytes_count",
		`wipagent_call_duration_seconds_bucket{mount="",operation="",verb="discover",le="0.001"`, `wipagent_call_duration_seconds_bucket{mount="",operation="",verb="discover",le="0.0025"`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestSeriesAreBounded: a Host with any number of entries and operations, and a
// caller with any words, make no more series than there is room for.
func TestSeriesAreBounded(t *testing.T) {
	m := watched("/h")
	for i := range 5000 {
		m.Observe(audit.Record{Verb: "invoke", Tool: fmt.Sprintf("/h/%d#op_%d", i, i), Audience: idl.IM, Outcome: "ok", Principal: fmt.Sprint("who", i), Call: fmt.Sprint("call", i)})
		m.Observe(audit.Record{Verb: fmt.Sprint("verb", i), Audience: idl.Audience(i % 6), Outcome: fmt.Sprint("outcome", i)})
	}
	for i := range 200 {
		m.ObserveRefusal(fmt.Sprint("reason", i))
	}
	if got := len(scrape(t, m, "wipagent_refused_requests_total{")); got != 65 {
		t.Errorf("found %d series of refusals, want 64 and one for the others", got)
	}
	m.Observe(audit.Record{Verb: "invoke", Tool: "/h/1#\xff{}\"\n", Audience: idl.IM, Outcome: "ok"})
	calls := scrape(t, m, "wipagent_calls_total")
	if most := metrics.MaxTools + 1 + 20; len(calls) > most || len(calls) < metrics.MaxTools {
		t.Errorf("found %d series of calls, want at most %d", len(calls), most)
	}
	others := fmt.Sprintf(`wipagent_calls_total{audience="im",mount="/h",operation="other",outcome="ok",verb="invoke"} %d`, 5001-metrics.MaxTools)
	if !slices.Contains(calls, others) {
		t.Errorf("what has no series of its own is not counted as %s", others)
	}
	if all := strings.Join(scrape(t, m, "wipagent_"), "\n"); strings.Contains(all, "who") || strings.Contains(all, "call1") || strings.Contains(all, "/h/") {
		t.Error("a principal, a call or a path is a label")
	}
}

// TestMountsAreTold by what they are at the moment of a scrape.
func TestMountsAreTold(t *testing.T) {
	m := metrics.New("v1")
	if got := scrape(t, m, "wipagent_mount"); len(got) > 0 {
		t.Errorf("found mounts before there are any: %q", got)
	}
	m.Watch(func() []client.MountStatus {
		return []client.MountStatus{
			{Path: "/near", Available: true, Refreshed: time.UnixMilli(1500)},
			{Path: "/far", State: &resilience.State{Breaker: resilience.Open, InFlight: 3, Waiting: 2, Failures: 5}},
		}
	})
	m.Count("wipagent_things_total", "Things.", func() uint64 { return 7 })
	want := []string{
		`wipagent_build_info{version="v1"} 1`,
		`wipagent_mount_available{mount="/far"} 0`,
		`wipagent_mount_available{mount="/near"} 1`,
		`wipagent_mount_breaker_state{mount="/far",state="closed"} 0`,
		`wipagent_mount_breaker_state{mount="/far",state="half_open"} 0`,
		`wipagent_mount_breaker_state{mount="/far",state="open"} 1`,
		`wipagent_mount_consecutive_failures{mount="/far"} 5`,
		`wipagent_mount_refreshed_timestamp_seconds{mount="/far"} 0`,
		`wipagent_mount_refreshed_timestamp_seconds{mount="/near"} 1.5`,
		`wipagent_mount_requests_in_flight{mount="/far"} 3`,
		`wipagent_mount_requests_waiting{mount="/far"} 2`,
		`wipagent_things_total 7`,
	}
	if diff := cmp.Diff(want, scrape(t, m, "wipagent_")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestAHostThatIsDown: its faults are its mount's, before anything is known of it.
func TestAHostThatIsDown(t *testing.T) {
	m := metrics.New("v1")
	c := client.New(&client.Config{Audit: audit.New(nil, m)})
	m.Watch(c.Mounts)
	_ = c.Mount(t.Context(), "/down", down{}, &client.MountOptions{Limits: resilience.Config{Attempts: 1, Failures: 2}})
	for range 3 {
		_, _ = c.Inspect(t.Context(), &client.Principal{Audience: idl.LocalOperator}, "/down/x")
	}
	got := scrape(t, m, "wipagent_faults", `wipagent_mount_breaker_state{mount="/down",state="open"`, "wipagent_calls")
	want := []string{
		`wipagent_calls_total{audience="local_operator",mount="",operation="",outcome="unavailable",verb="inspect"} 3`,
		`wipagent_faults_total{mount="/down"} 3`,
		`wipagent_mount_breaker_state{mount="/down",state="open"} 1`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// down is a Host that cannot be reached.
type down struct{}

var errDown = &wip.Failure{Class: wip.Transient, Message: "down"}

func (down) Fetch(context.Context, wip.Caller, string) (wip.Entry, error) {
	return wip.Entry{}, errDown
}
func (down) FetchTree(context.Context, wip.Caller, string) (wip.Tree, error) {
	return wip.Tree{}, errDown
}
func (down) Document(context.Context, string) ([]byte, error) { return nil, errDown }
func (down) CallOperation(context.Context, wip.Call) (wip.Result, error) {
	return wip.Result{}, errDown
}

// TestConcurrent counts while it is scraped and while mounts come.
func TestConcurrent(t *testing.T) {
	m := metrics.New("v1")
	var all sync.WaitGroup
	for w := range 4 {
		all.Go(func() {
			for i := range 1000 {
				m.Observe(audit.Record{Verb: "invoke", Tool: fmt.Sprintf("/h/e#op_%d_%d", w, i), Audience: idl.IM, Outcome: "ok"})
				m.ObserveFault("", "/h/e")
			}
		})
	}
	all.Go(func() {
		m.Watch(func() []client.MountStatus { return []client.MountStatus{{Path: "/h"}} })
		for range 20 {
			scrape(t, m, "wipagent_calls")
		}
	})
	all.Wait()
	sum, n := 0, 0
	for _, line := range scrape(t, m, "wipagent_calls_total") {
		if _, err := fmt.Sscan(line[strings.LastIndexByte(line, ' ')+1:], &n); err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	if sum != 4000 {
		t.Errorf("found %d calls, want 4000", sum)
	}
}

func BenchmarkObserve(b *testing.B) {
	m := watched("/grid", "/issues", "/notes")
	record := audit.Record{Call: "call-1", Principal: "ada", Audience: idl.IM, Verb: "invoke", Tool: "/grid/region#nearby_avatars", Outcome: "ok", Duration: time.Millisecond, Bytes: 2048}
	b.ReportAllocs()
	for b.Loop() {
		m.Observe(record)
	}
}

func BenchmarkScrape(b *testing.B) {
	m := watched("/h")
	for i := range metrics.MaxTools {
		m.Observe(audit.Record{Verb: "invoke", Tool: fmt.Sprintf("/h/e#op_%d", i), Audience: idl.IM, Outcome: "ok"})
	}
	b.ReportAllocs()
	for b.Loop() {
		scrape(b, m)
	}
}

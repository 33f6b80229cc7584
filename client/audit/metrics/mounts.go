package metrics

import (
	"cmp"
	"slices"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/resilience"
)

// status asks how the mounts are doing, and notes where they are.
func (m *Metrics) status() []client.MountStatus {
	mounts := m.mounts.Load()
	if mounts == nil {
		return nil
	}
	list := (*mounts)()
	paths := make([]string, 0, len(list))
	for _, s := range list {
		paths = append(paths, s.Path)
	}
	slices.SortFunc(paths, func(a, b string) int { return cmp.Or(len(b)-len(a), cmp.Compare(a, b)) })
	m.paths.Store(&paths)
	return list
}

// mountCollector tells how each mount is doing at the moment of a scrape.
type mountCollector struct{ *Metrics }

func mountGauge(name, help string, more ...string) *prometheus.Desc {
	return prometheus.NewDesc("wipagent_mount_"+name, help, append([]string{"mount"}, more...), nil)
}

var (
	available = mountGauge("available", "1 if the Host answers, as far as is known, else 0.")
	breaker   = mountGauge("breaker_state", "1 for the state that the breaker is in, 0 for the others.", "state")
	inFlight  = mountGauge("requests_in_flight", "Requests that the Host has now.")
	waiting   = mountGauge("requests_waiting", "Requests that wait until the Host may have them.")
	failures  = mountGauge("consecutive_failures", "Failures since the Host's latest answer.")
	refreshed = mountGauge("refreshed_timestamp_seconds", "When the Host was last asked for its whole tree, and answered; 0 if it never did.")

	states = []resilience.Breaker{resilience.Closed, resilience.Open, resilience.HalfOpen}
)

// Describe tells what there can be.
func (mountCollector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{available, breaker, inFlight, waiting, failures, refreshed} {
		to <- d
	}
}

// Collect tells what there is. A Host without limits has no breaker.
func (c mountCollector) Collect(to chan<- prometheus.Metric) {
	for _, s := range c.status() {
		mount := strings.ToValidUTF8(s.Path, "")
		gauge := func(d *prometheus.Desc, value float64, labels ...string) {
			to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, append([]string{mount}, labels...)...)
		}
		gauge(available, indicator(s.Available))
		at := 0.0
		if !s.Refreshed.IsZero() {
			at = float64(s.Refreshed.UnixMilli()) / 1000
		}
		gauge(refreshed, at)
		if s.State == nil {
			continue
		}
		for _, state := range states {
			gauge(breaker, indicator(s.State.Breaker == state), string(state))
		}
		gauge(inFlight, float64(s.State.InFlight))
		gauge(waiting, float64(s.State.Waiting))
		gauge(failures, float64(s.State.Failures))
	}
}

func indicator(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

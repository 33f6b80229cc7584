package main

import (
	"context"
	"errors"
	"log"
	"net"
	"net/http"
	"strings"
	"time"

	"golang.org/x/net/netutil"

	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/audit"
	"github.com/wipagent/wipagent/client/audit/metrics"
	"github.com/wipagent/wipagent/client/audit/trace"
)

// observeFlags say where operators watch calls, beside the log.
type observeFlags struct {
	Metrics string `help:"Show metrics to Prometheus here, at /metrics: an address of this machine's loopback, which is the default host." placeholder:"[HOST]:PORT"`
	OTLP    string `name:"otlp" help:"Send each call as a span to this OpenTelemetry collector, by OTLP over HTTP; headers are those of OTEL_EXPORTER_OTLP_HEADERS." placeholder:"URL"`
}

// observing is who watches calls: the log, and others beside it.
type observing struct {
	told      *audit.Log // nil until it is opened
	observers []audit.Observer
	metrics   *metrics.Metrics // nil if there are none
}

// watch has the metrics tell how a client's mounts are doing.
func (o *observing) watch(cl *client.Client) {
	if o.metrics != nil {
		o.metrics.Watch(cl.Mounts)
	}
}

// How long what is left of traces may take to be sent, and how many may read
// metrics at once.
const (
	tracesWithin      = 3 * time.Second
	metricConnections = 16
)

// observe has the calls of the client that the command is about to open watched,
// until done is called.
func (f observeFlags) observe(c *cli) (done func(), err error) {
	var ends []func()
	done = func() {
		for _, end := range ends {
			end()
		}
	}
	if f.Metrics != "" {
		c.metrics = metrics.New(version())
		end, err := f.showMetrics(c)
		if err != nil {
			return nil, err
		}
		ends = append(ends, end)
		c.observers = append(c.observers, c.metrics)
	}
	if f.OTLP != "" {
		end, err := f.sendTraces(c)
		if err != nil {
			done()
			return nil, err
		}
		ends = append([]func(){end}, ends...)
	}
	return done, nil
}

// showMetrics listens for those who read metrics.
func (f observeFlags) showMetrics(c *cli) (end func(), err error) {
	address, reachable, err := listenAddress(f.Metrics)
	switch {
	case err != nil:
		return nil, usageError("--metrics %q: %w", f.Metrics, err)
	case reachable:
		return nil, usageError("--metrics %q can be reached from other machines; expected this machine's loopback, as nobody is asked for a token there", f.Metrics)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, &exitError{exitUnavailable, err}
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", c.metrics)
	server := &http.Server{
		Handler: c.fromHere(mux), ReadHeaderTimeout: headerWithin, ReadTimeout: headerWithin, WriteTimeout: headerWithin, IdleTimeout: idleWithin, MaxHeaderBytes: 16 << 10,
		ErrorLog: log.New(lines{c}, "", 0),
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := server.Serve(netutil.LimitListener(listener, metricConnections)); !errors.Is(err, http.ErrServerClosed) {
			c.warn("metrics are not shown any more: %v", err)
		}
	}()
	c.warn("metrics at http://%s/metrics", listener.Addr())
	return func() {
		server.Close()
		<-ended
	}, nil
}

// fromHere refuses what a page in a browser may have sent that takes this machine
// for its own server, by a name that leads here.
func (o *observing) fromHere(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		host = strings.Trim(host, "[]")
		if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) || r.Header.Get("Origin") != "" {
			o.metrics.ObserveRefusal("metrics")
			http.Error(w, "found a request for another host or of a page; metrics are for programs on this machine", http.StatusForbidden)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// sendTraces begins to send spans.
func (f observeFlags) sendTraces(c *cli) (end func(), err error) {
	traces, err := trace.New(trace.Config{
		URL: f.OTLP, Version: version(),
		Failed:    func(err error) { c.warn("traces are not sent: %v", err) },
		Recovered: func() { c.warn("traces are sent again") },
	})
	if err != nil {
		return nil, usageError("--otlp: %w", err)
	}
	c.observers = append(c.observers, traces)
	if c.metrics != nil {
		c.metrics.Count("wipagent_spans_sent_total", "Spans that the collector took.", func() uint64 { return traces.Stats().Sent })
		c.metrics.Count("wipagent_spans_dropped_total", "Spans that found no room in the queue.", func() uint64 { return traces.Stats().Dropped })
		c.metrics.Count("wipagent_spans_failed_total", "Spans that the collector did not take.", func() uint64 { return traces.Stats().Failed })
	}
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), tracesWithin)
		defer cancel()
		err := traces.Shutdown(ctx)
		if s := traces.Stats(); err != nil || s.Dropped+s.Failed > 0 {
			c.warn("%d spans were not sent", s.Dropped+s.Failed)
		}
	}, nil
}

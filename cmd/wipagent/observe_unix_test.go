//go:build unix

package main

import (
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/wipagent/wipagent/client/audit/otlptest"
)

// TestServeTraces sends what was called to a collector by the time the program
// ends, under the identifier that the log has.
func TestServeTraces(t *testing.T) {
	c := otlptest.New(t)
	p := start(t, "serve", "--http", "127.0.0.1:0", "--no-token", "--otlp", c.URL, "--metrics", "127.0.0.1:0")
	p.says("metrics at http://127.0.0.1:")
	s, err := dial(t.Context(), p.says("serving MCP at "), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := nearby(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	p.signal(os.Interrupt)
	if code := p.ends(); code != exitDone {
		t.Errorf("found an end with %d", code)
	}
	_ = s.Close()
	id := ""
	for _, line := range p.said {
		if strings.HasPrefix(line, "{") && gjson.Get(line, "msg").Str == "call" {
			id = gjson.Get(line, "trace_id").Str
		}
	}
	spans := c.Spans()
	if len(spans) != 1 || hex.EncodeToString(spans[0].TraceId) != id || spans[0].Name != "invoke world_location" {
		t.Errorf("found %v, and the log has %q", spans, id)
	}

	// A collector that is not there is told of, and holds nothing up.
	p = start(t, "serve", "--otlp", "http://127.0.0.1:1")
	if code := p.ends(); code != exitDone {
		t.Errorf("found an end with %d: %q", code, p.said)
	}
}

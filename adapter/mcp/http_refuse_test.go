package mcp_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/wipagent/wipagent/adapter/mcp"
	"github.com/wipagent/wipagent/client/audit"
	"github.com/wipagent/wipagent/client/policy/principals"
	"github.com/wipagent/wipagent/idl"
)

// refusals counts what an operator's metrics are told.
type refusals struct {
	mu sync.Mutex
	of map[string]int
}

func (*refusals) Observe(audit.Record) {}

func (r *refusals) ObserveRefusal(reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.of[reason]++
}

// TestHTTPRefusalsAreTold by reason and by where they came from, with nothing of
// what the request said; whoever is let in is told of by the calls' records alone.
func TestHTTPRefusalsAreTold(t *testing.T) {
	counts, log := &refusals{of: map[string]int{}}, &sink{}
	slow := access("slow", idl.IM)
	slow.Rate, slow.Burst = 0.001, 1
	h, _ := lent(t, diary{}, &tokens{m: map[string]*principals.Access{"good": access("ada", idl.IM), "slow": slow}}, func(cfg *mcp.HTTPConfig) {
		cfg.Audit = audit.New(log, counts)
		cfg.Limits.MaxBody = 64 << 10
		cfg.Metrics = http.NotFoundHandler()
	})
	session := begin(t, h, "good")
	request(t, h, "POST", "slow", "", ping)
	log.b.Reset()
	clear(counts.of)
	for _, test := range []struct {
		method, path, token, body string
		header                    []string
		status                    int
		reason, who               string
	}{
		{"POST", "/mcp", "good", ping, nil, 200, "", ""},
		{"GET", "/healthz", "", "", nil, 200, "", ""},
		{"POST", "/healthz", "", "", nil, 405, "", ""},
		{"POST", "/mcp", "good", ping, []string{"Host", "SECRET.example"}, 403, "host", ""},
		{"POST", "/mcp", "good", ping, []string{"Origin", "https://SECRET.example"}, 403, "origin", ""},
		{"POST", "/SECRET", "good", ping, nil, 404, "path", ""},
		{"PUT", "/mcp", "good", ping, nil, 405, "method", "ada"},
		{"POST", "/mcp", "", ping, nil, 401, "no_token", ""},
		{"POST", "/mcp", "", ping, []string{"Authorization", "Basic SECRET"}, 401, "no_token", ""},
		{"POST", "/mcp", "SECRET", ping, nil, 401, "token", ""},
		{"GET", "/metrics", "good", "", nil, 404, "audience", "ada"},
		{"POST", "/mcp", "slow", ping, nil, 429, "rate", "slow"},
		{"POST", "/mcp", "good", ping, []string{"Mcp-Session-Id", "SECRET"}, 404, "session", "ada"},
		{"POST", "/mcp", "good", ping, []string{"Content-Encoding", "SECRET"}, 415, "type", "ada"},
		{"POST", "/mcp", "good", strings.Repeat(" ", 64<<10) + ping, nil, 413, "size", "ada"},
		{"POST", "/mcp", "good", "SECRET", nil, 400, "message", "ada"},
		{"GET", "/mcp", "good", "", []string{"Last-Event-ID", "SECRET_1"}, 400, "other", "ada"},
		{"POST", "/mcp", "good", ping, []string{"Wipagent-User", "SECRET"}, 200, "narrowing", "ada"},
	} {
		r := httptest.NewRequestWithContext(t.Context(), test.method, "http://localhost"+test.path, strings.NewReader(test.body))
		r.RemoteAddr = "[::ffff:192.0.2.7]:4711"
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		r.Header.Set("X-Forwarded-For", "SECRET")
		if test.token != "" {
			r.Header.Set("Authorization", "Bearer "+test.token)
		}
		r.Header.Set("Mcp-Session-Id", session)
		for i := 0; i < len(test.header); i += 2 {
			if r.Header.Set(test.header[i], test.header[i+1]); test.header[i] == "Host" {
				r.Host = test.header[i+1]
			}
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		want := map[string]int{}
		said := ""
		if test.reason != "" {
			want[test.reason] = 1
			said = fmt.Sprintf("[warning refused %s 192.0.2.7 %s]", test.reason, test.who)
		}
		if test.reason == "narrowing" { // which is found within the session
			said = strings.Replace(said, "192.0.2.7", "", 1)
		}
		got := ""
		if line := log.String(); line != "" {
			got = fmt.Sprint(gjson.GetMany(line, "level", "msg", "reason", "remote", "principal"))
		}
		if w.Code != test.status || got != said || !cmp.Equal(want, counts.of) || strings.Contains(log.String(), "SECRET") {
			t.Errorf("%s %s %q: found %d %s %v, expected %d %s; the log has %s", test.method, test.path, test.header, w.Code, got, counts.of, test.status, said, log)
		}
		log.b.Reset()
		clear(counts.of)
	}
	for name, flag := range map[string]string{"Host": "--allow-host", "Origin": "--allow-origin"} {
		r := httptest.NewRequestWithContext(t.Context(), "POST", "http://localhost/mcp", nil)
		if r.Header.Set(name, "https://a.example"); name == "Host" {
			r.Host = "a.example"
		}
		w := httptest.NewRecorder()
		if h.ServeHTTP(w, r); !strings.Contains(w.Body.String(), flag) {
			t.Errorf("%s: found %s, expected it to name %s", name, w.Body, flag)
		}
	}
}

package remote_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/wipagent/wipagent/client/remote"
	"github.com/wipagent/wipagent/space/wip"
)

// requests are the seeds of what a client sends.
var requests = []string{
	fetchRoot,
	`{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocol_version":"1"}}`,
	`{"jsonrpc":"2.0","id":2,"method":"fetch_tree","params":{"path":"/","tag":"h-0","deadline_millis":100}}`,
	`{"jsonrpc":"2.0","id":3,"method":"document","params":{"name":"x.wip"}}`,
	`{"jsonrpc":"2.0","id":4,"method":"call_operation","params":{"path":"/o","object":"o","interface":"O","operation":"echo","arguments":{"a":[1,"b",null]}}}`,
	`{"jsonrpc":"2.0","method":"cancel","params":{"id":4}}`,
	`[]`, `{}`, "\n", `{"jsonrpc":"2.0","id":null,"method":""}`,
}

// FuzzServer sends anything to both servers: each answers with JSON, and goes
// on.
func FuzzServer(f *testing.F) {
	for _, r := range requests {
		f.Add(r)
	}
	f.Add(strings.Join(requests, "\n"))
	handler := remote.NewHandler(newFake(), &remote.ServeOptions{MaxRequest: 64 << 10, MaxDuration: 50 * time.Millisecond})
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, `exit`) {
			return // which is what the fake then does
		}
		if w := post(handler, text); w.Code != http.StatusAccepted && !json.Valid(w.Body.Bytes()) {
			t.Errorf("found %q", w.Body)
		}
		var out strings.Builder
		err := remote.ServeStdio(context.Background(), newFake(), strings.NewReader(requests[1]+"\n"+text), &out, &remote.ServeOptions{MaxDuration: 50 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(out.String()) {
			if !json.Valid([]byte(line)) {
				t.Errorf("found the line %q", line)
			}
		}
		if !strings.Contains(out.String(), "capabilities") {
			t.Errorf("found no handshake in %q", &out)
		}
	})
}

// roundTripper answers every request with what a test says.
type roundTripper string

func (r roundTripper) RoundTrip(req *http.Request) (*http.Response, error) {
	io.Copy(io.Discard, req.Body)
	return &http.Response{StatusCode: 200, Header: http.Header{}, ContentLength: -1, Body: io.NopCloser(strings.NewReader(string(r)))}, nil
}

// FuzzClient answers each request with anything: the client has an answer that
// is sound, or a failure.
func FuzzClient(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{"entry":{"path":"/","object":{"id":"o","interfaces":[{"document":"d","interface":"I"}]}}}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"status":"whole","nodes":[{"path":"/"},{"path":"/a","depth":1}]}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"status":"delta","tag":"t","removed":["/a"],"nodes":[{"path":"/b"}],"next_cursor":""}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"text":"package x;","value":{"a":1},"cache_hit":true}}`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32012,"message":"m","data":{"class":"transient","retry_after_millis":9e99,"maybe_done":true}}}`,
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32014,"message":"m","data":{"class":"internal","ref":"R"}}}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ctx := context.Background()
		host := func() *remote.Host { return remote.Over(roundTripper(text)) }
		sound := func(err error) bool {
			if err == nil {
				return true
			}
			if f := failureOf(t, err); f.RetryAfter < 0 || len(f.Message) > 8<<10 || f.Class == "" {
				t.Errorf("found %#v", f)
			}
			return false
		}
		if e, err := host().Fetch(ctx, wip.Caller{}, "/"); sound(err) && e.Path == "" {
			t.Errorf("found %#v", e)
		}
		if c, err := host().FetchTreeSince(ctx, wip.Caller{}, "/", ""); sound(err) && c.Whole == nil {
			t.Errorf("found %#v", c)
		}
		_, err := host().Document(ctx, "x")
		sound(err)
		if r, err := host().CallOperation(ctx, call("x")); sound(err) && !json.Valid(r.Value) {
			t.Errorf("found %q", r.Value)
		}
	})
}

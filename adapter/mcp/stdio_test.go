package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wipagent/wipagent/adapter/mcp"
	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/idl"
)

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

func config(t *testing.T) mcp.Config {
	t.Helper()
	c := client.New(nil)
	if err := c.Mount(t.Context(), "/grid", demoHost(), &client.MountOptions{Trusted: true}); err != nil {
		t.Fatal(err)
	}
	return mcp.Config{Client: c, Principal: &policy.Principal{ID: "t", Audience: idl.LocalOperator}, Version: "test"}
}

// sink collects output.
type sink struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (*sink) Close() error { return nil }

// exchange serves what a client writes before it closes its end, and returns
// the lines of the answer.
func exchange(t *testing.T, input string) []string {
	t.Helper()
	var out sink
	if err := mcp.ServeStdio(t.Context(), config(t), io.NopCloser(strings.NewReader(hello+input)), &out); err != nil {
		t.Logf("serving ended with %v", err)
	}
	var lines []string
	for line := range strings.Lines(out.b.String()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("a line of the output is no JSON: %.300q", line)
		}
		if !strings.Contains(line, `"serverInfo"`) {
			lines = append(lines, line)
		}
	}
	return lines
}

// TestStrangeRequests sends what a client may send and should not. Each request
// gets its one answer and the server goes on.
func TestStrangeRequests(t *testing.T) {
	const ping = `{"jsonrpc":"2.0","id":"last","method":"ping"}` + "\n"
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	for name, test := range map[string]struct{ line, want string }{
		"unknown tool":            {`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"fetch_tree","arguments":{}}}`, `"isError":true`},
		"no tool":                 {`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"arguments":{}}}`, `-32602`},
		"unknown method":          {`{"jsonrpc":"2.0","id":2,"method":"tools/destroy"}`, `-32601`},
		"unknown notification":    {`{"jsonrpc":"2.0","method":"notifications/nothing"}`, ``},
		"no arguments":            {`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"invoke"}}`, `"isError":true`},
		"null arguments":          {`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"invoke","arguments":null}}`, `"isError":true`},
		"a list as arguments":     {`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"invoke","arguments":[]}}`, `"isError":true`},
		"deep arguments":          {`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"invoke","arguments":{"target":"/grid/region","operation":"world_location","x":1,"arguments":` + deep(400) + `}}}`, `"isError":true`},
		"deeper arguments":        {`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"invoke","arguments":` + deep(9000) + `}}`, `"id":2,"error":{"code":-32600`},
		"brackets":                {strings.Repeat("[", 1<<20), `"id":null,"error":{"code":-32600`},
		"no JSON":                 {`{"jsonrpc":"2.0","id":2,"method":`, `"id":null,"error":{"code":-32700`},
		"another protocol":        {`{"id":2,"method":"ping"}`, `"id":2,"error":{"code":-32600`},
		"an object as id":         {`{"jsonrpc":"2.0","id":{},"method":"ping"}`, `"id":null,"error":{"code":-32600`},
		"a number":                {`7`, `"id":null,"error":{"code":-32600`},
		"an empty object":         {`{}`, `"id":null,"error":{"code":-32600`},
		"a batch":                 {`[{"jsonrpc":"2.0","id":2,"method":"ping"}]`, `"id":null,"error":{"code":-32600`},
		"two on a line":           {`{"jsonrpc":"2.0","id":2,"method":"ping"}{"jsonrpc":"2.0","id":3,"method":"ping"}`, `"id":null,"error":{"code":-32700`},
		"a line too long":         {`{"jsonrpc":"2.0","id":2,"method":"ping","params":{"x":"` + strings.Repeat("x", 5<<20) + `"}}`, `"id":null,"error":{"code":-32600`},
		"an empty line":           {"\n \n\r\n", ``},
		"a long line":             {`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"discover","arguments":{"query":"` + strings.Repeat("x", 1<<20) + `"}}}`, `"isError":true`},
		"cancelling nothing":      {`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}`, ``},
		"an answer to nothing":    {`{"jsonrpc":"2.0","id":77,"result":{}}`, ``},
		"invalid UTF-8 in a word": {"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"discover\",\"arguments\":{\"query\":\"\xff\"}}}", `"id":2`},
	} {
		t.Run(name, func(t *testing.T) {
			lines := exchange(t, test.line+"\n"+ping)
			all := strings.Join(lines, "\n")
			want := 2
			if test.want == "" {
				want = 1
			}
			if len(lines) != want || !strings.Contains(all, test.want) || !strings.Contains(all, `"id":"last"`) {
				t.Errorf("got %d lines, want %d with %s: %.600s", len(lines), want, test.want, all)
			}
		})
	}
}

// stuck is the output of a client that never reads.
type stuck struct{ closed chan struct{} }

func (s stuck) Write([]byte) (int, error) { <-s.closed; return 0, io.ErrClosedPipe }
func (s stuck) Close() error              { return nil }

// TestClientThatNeverReads ends its input, or is ended from outside, while
// nobody takes the answers: the server must not stay for ever.
func TestClientThatNeverReads(t *testing.T) {
	for _, ended := range []string{"input", "context"} {
		t.Run(ended, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				in, feed := io.Pipe()
				out := stuck{make(chan struct{})}
				done := make(chan error, 1)
				go func() { done <- mcp.ServeStdio(ctx, config(t), in, out) }()
				go func() {
					fmt.Fprint(feed, hello)
					for id := range 20 {
						fmt.Fprintf(feed, `{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`+"\n", id+2)
					}
					if ended == "input" {
						feed.Close()
					} else {
						time.Sleep(time.Second)
						cancel()
					}
				}()
				select {
				case <-done:
				case <-time.After(time.Minute):
					t.Error("the server is still there after a minute")
				}
				close(out.closed)
				feed.Close()
				in.Close()
				time.Sleep(time.Minute) // until all that was held up is gone
			})
		})
	}
}

// TestIdentifiers sends ids that the SDK would change: an answer to another id
// is no answer.
func TestIdentifiers(t *testing.T) {
	for id, carried := range map[string]bool{
		`7`: true, `-7`: true, `"7"`: true, `9007199254740991`: true,
		`9007199254740993`: false, `1764460800123456789`: false, `7.5`: false, `1e2`: false, `-0`: false, `16,"id":17`: false,
	} {
		lines := exchange(t, `{"jsonrpc":"2.0","id":`+id+`,"method":"ping"}`+"\n")
		last := lines[len(lines)-1]
		if got := !strings.Contains(last, "-32600"); got != carried {
			t.Errorf("id %s: %s", id, last)
		}
		if first, _, _ := strings.Cut(id, ","); !strings.Contains(last, `"id":`+first) {
			t.Errorf("id %s is answered as %s", id, last)
		}
	}
}

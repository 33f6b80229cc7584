package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"github.com/wipagent/wipagent/adapter/mcp"
	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/client/policy/principals"
	"github.com/wipagent/wipagent/idl"
)

// invocation is one call of a page, as records of the verb.
func invocation(number int) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"target":"/diary","operation":"read","arguments":{"number":%d}}`, number))
}

// TestHTTPCrowd has fifty principals make a thousand calls at once. Each gets its
// own answers, and the audit log has each call under its own principal.
// WIPAGENT_RUNS says how many thousands.
func TestHTTPCrowd(t *testing.T) {
	const people, each = 50, 20
	runs := 1
	if n, err := strconv.Atoi(os.Getenv("WIPAGENT_RUNS")); err == nil {
		runs = n
	}
	known := &tokens{m: map[string]*principals.Access{}}
	for i := range people {
		known.m[fmt.Sprintf("token-%d", i)] = access(fmt.Sprintf("p%d", i), idl.IM)
	}
	h, log := lent(t, diary{}, known, nil)
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	sessions := make([]*sdk.ClientSession, people)
	for i := range sessions {
		var err error
		if sessions[i], err = join(t, server, fmt.Sprintf("token-%d", i), nil); err != nil {
			t.Fatal(err)
		}
	}
	start := make(chan struct{})
	var calling sync.WaitGroup
	for i, s := range sessions {
		for n := range each {
			calling.Go(func() {
				<-start
				for run := range runs {
					number := (run*each+n)*people + i
					r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "invoke", Arguments: invocation(number)})
					if err != nil {
						t.Errorf("p%d: %v", i, err)
						return
					}
					want := fmt.Sprintf(`{"result":{"owner":"p%d","secret":"secret of p%d","number":%d}}`, i, i, number)
					if got := r.Content[0].(*sdk.TextContent).Text; got != want {
						t.Errorf("found %s, expected %s", got, want)
					}
				}
			})
		}
	}
	began := time.Now()
	close(start)
	calling.Wait()
	t.Logf("%d calls by %d principals in %s", runs*people*each, people, time.Since(began).Round(time.Millisecond))
	count := map[string]int{}
	for line := range strings.Lines(log.String()) {
		if gjson.Get(line, "tool").Str == "/diary#read" && gjson.Get(line, "outcome").Str == "ok" {
			count[gjson.Get(line, "principal").Str]++
		}
	}
	for i := range people {
		if got := count[fmt.Sprintf("p%d", i)]; got != runs*each {
			t.Errorf("the audit log has %d calls of p%d, expected %d", got, i, runs*each)
		}
	}
	// A session's ID in another's hands is worth nothing.
	for i, s := range sessions {
		if w := request(t, h, "POST", fmt.Sprintf("token-%d", (i+1)%people), s.ID(), ping); w.Code != http.StatusNotFound {
			t.Fatalf("p%d's session in another's hands: %d %s", i, w.Code, w.Body)
		}
	}
}

// BenchmarkServing measures a call by the SDK's client over HTTP, alone and by
// fifty principals at once, beside stdio and beside a bare server of the SDK over
// HTTP whose tool does nothing.
func BenchmarkServing(b *testing.B) {
	one := func(s *sdk.ClientSession, tool string, arguments any) error {
		r, err := s.CallTool(context.Background(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
		if err == nil && r.IsError {
			err = fmt.Errorf("found %s", r.Content[0].(*sdk.TextContent).Text)
		}
		return err
	}
	alone := func(b *testing.B, s *sdk.ClientSession, tool string, arguments any) {
		b.ReportAllocs()
		for b.Loop() {
			if err := one(s, tool, arguments); err != nil {
				b.Fatal(err)
			}
		}
	}
	crowd := func(b *testing.B, sessions []*sdk.ClientSession, tool string, arguments any) {
		const each = 20
		took := make([]time.Duration, 0, len(sessions)*each)
		var mu sync.Mutex
		calls := 0
		for b.Loop() { // a thousand calls at once
			took = took[:0]
			var calling sync.WaitGroup
			for _, s := range sessions {
				for range each {
					calling.Go(func() {
						began := time.Now()
						if err := one(s, tool, arguments); err != nil {
							b.Error(err)
						}
						mu.Lock()
						defer mu.Unlock()
						took = append(took, time.Since(began))
					})
				}
			}
			calling.Wait()
			calls += len(took)
		}
		slices.Sort(took)
		b.ReportMetric(float64(calls)/b.Elapsed().Seconds(), "calls/s")
		b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
		b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
	}
	known := &tokens{m: map[string]*principals.Access{}}
	for i := range 50 {
		known.m[fmt.Sprint(i)] = access(fmt.Sprintf("p%d", i), idl.IM)
	}
	h, _ := lent(b, diary{}, known, nil)
	ours := httptest.NewServer(h)
	b.Cleanup(ours.Close)
	server := sdk.NewServer(&sdk.Implementation{Name: "bare", Version: "1"}, nil)
	type none struct{}
	sdk.AddTool(server, &sdk.Tool{Name: "empty"}, func(context.Context, *sdk.CallToolRequest, none) (*sdk.CallToolResult, none, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "{}"}}}, none{}, nil
	})
	bare := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
	b.Cleanup(bare.Close)
	attend := func(server *httptest.Server, n int) (list []*sdk.ClientSession) {
		server.Client().Transport.(*http.Transport).MaxIdleConnsPerHost = 1000
		for i := range n {
			s, err := join(b, server, fmt.Sprint(i), nil)
			if err != nil {
				b.Fatal(err)
			}
			list = append(list, s)
		}
		return list
	}
	fifty, bareFifty := attend(ours, 50), attend(bare, 50)
	b.Run("alone/HTTP", func(b *testing.B) { alone(b, fifty[0], "invoke", invocation(1)) })
	b.Run("alone/bare SDK over HTTP", func(b *testing.B) { alone(b, bareFifty[0], "empty", none{}) })
	b.Run("alone/stdio", func(b *testing.B) {
		c := client.New(nil)
		if err := c.Mount(b.Context(), "/diary", diary{}, &client.MountOptions{Trusted: true}); err != nil {
			b.Fatal(err)
		}
		in, feed := io.Pipe()
		read, out := io.Pipe()
		ended := make(chan error, 1)
		go func() {
			ended <- mcp.ServeStdio(b.Context(), mcp.Config{Client: c, Principal: &policy.Principal{ID: "p", Audience: idl.IM}}, in, out)
		}()
		s, err := sdk.NewClient(&sdk.Implementation{Name: "bench", Version: "1"}, nil).Connect(b.Context(), &sdk.IOTransport{Reader: read, Writer: feed}, nil)
		if err != nil {
			b.Fatal(err)
		}
		alone(b, s, "invoke", invocation(1))
		_ = s.Close()
		<-ended
	})
	b.Run("crowd/HTTP", func(b *testing.B) { crowd(b, fifty, "invoke", invocation(1)) })
	b.Run("crowd/bare SDK over HTTP", func(b *testing.B) { crowd(b, bareFifty, "empty", none{}) })
}

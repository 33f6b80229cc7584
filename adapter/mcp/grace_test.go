package mcp_test

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wipagent/wipagent/adapter/mcp"
	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space/wip"
)

// slow is a Host that takes its time for an entry, and then for an operation.
type slow struct{ fetch, call time.Duration }

func (s slow) Fetch(ctx context.Context, _ wip.Caller, path string) (wip.Entry, error) {
	select {
	case <-time.After(s.fetch):
	case <-ctx.Done():
		return wip.Entry{}, ctx.Err()
	}
	return wip.Entry{Path: path, Object: &wip.Object{ID: "o", Interfaces: []wip.InterfaceRef{{Document: "slow.wip", Interface: "Slow"}}}}, nil
}

func (slow) FetchTree(context.Context, wip.Caller, string) (wip.Tree, error) {
	return wip.Tree{Entry: wip.Entry{Path: "/"}}, nil
}

func (slow) Document(context.Context, string) ([]byte, error) {
	return []byte(`package slow;
version 1;
/// What takes its time.
@read_only @audience(public_chat)
interface Slow {
  /// As long as others.
  walk() -> bool;
  /// Longer than others.
  @timeout(60s) crawl() -> bool;
}
`), nil
}

func (s slow) CallOperation(ctx context.Context, _ wip.Call) (wip.Result, error) {
	select {
	case <-time.After(s.call):
		return wip.Result{Value: json.RawMessage("true")}, nil
	case <-ctx.Done():
		return wip.Result{}, ctx.Err()
	}
}

// TestEndGrace ends the input right after a call. The answer to one that takes
// as long as it may is awaited, and to one that may take longer if that is
// configured.
func TestEndGrace(t *testing.T) {
	for name, test := range map[string]struct {
		host      slow
		operation string
		grace     time.Duration
		answered  bool
		took      time.Duration
	}{
		"at once":                {slow{0, 0}, "walk", 0, true, 0},
		"a slow entry":           {slow{2900 * time.Millisecond, 2900 * time.Millisecond}, "walk", 0, true, 5800 * time.Millisecond},
		"a slow operation":       {slow{0, 50 * time.Second}, "crawl", 0, false, 7 * time.Second},
		"a slow one is expected": {slow{0, 50 * time.Second}, "crawl", 64 * time.Second, true, 50 * time.Second},
		"no grace":               {slow{0, time.Second}, "walk", time.Nanosecond, false, time.Nanosecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := client.New(nil)
				if err := c.Mount(t.Context(), "/x", test.host, &client.MountOptions{Trusted: true}); err != nil {
					t.Fatal(err)
				}
				cfg := mcp.Config{Client: c, Principal: &policy.Principal{ID: "t", Audience: idl.LocalOperator}, EndGrace: test.grace}
				const input = hello + `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"invoke","arguments":{"target":"/x/y","operation":"OPERATION","arguments":{}}}}` + "\n"
				var out sink
				start := time.Now()
				err := mcp.ServeStdio(t.Context(), cfg, io.NopCloser(strings.NewReader(strings.Replace(input, "OPERATION", test.operation, 1))), &out)
				took := time.Since(start)
				if answered := strings.Contains(out.b.String(), `"result":true`); answered != test.answered || took != test.took {
					t.Errorf("answered %v after %v (%v), want %v after %v:\n%s", answered, took, err, test.answered, test.took, out.b.String())
				}
				time.Sleep(time.Minute) // until what was left is gone
			})
		})
	}
}

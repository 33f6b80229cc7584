// Package mcp serves the tools of a surface to a client of the Model Context
// Protocol, by the official SDK.
//
// Whatever is wrong with a call is a tool result marked as an error, never an
// error of the protocol, so that the model reads it (T5). When the client
// cancels a request, its context ends, and with it the call at the Host.
package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wipagent/wipagent/adapter"
	"github.com/wipagent/wipagent/adapter/dialect"
	"github.com/wipagent/wipagent/client"
)

// Config says who is served what.
type Config struct {
	Client    *client.Client
	Principal *client.Principal
	Surface   adapter.Surface // empty is the three verbs
	Code      adapter.Runner  // nil: no tool that runs programs
	Version   string          // of the program; shown to the client
	// EndGrace is how long ServeStdio awaits the answers to the last requests
	// after the client has closed its end. 0 means a second more than the tool
	// list allows a call. By invoke a call takes longer if its operation
	// declares a longer @timeout than the default, and by any tool if somebody
	// must approve it: with such operations set 4 s more than the longest.
	EndGrace time.Duration
}

// toolset returns the tools to serve. They are the same while the server runs.
func (cfg *Config) toolset() *adapter.Toolset {
	t, err := adapter.New(adapter.Config{Client: cfg.Client, Code: cfg.Code}).
		Toolset(context.Background(), cfg.Principal, adapter.ToolsetOptions{Dialect: dialect.Lookup("mcp"), Surface: cfg.Surface})
	if err != nil {
		panic(fmt.Sprintf("mcp: %v", err)) // no such surface, or a Code without a name
	}
	return t
}

// NewServer returns a server with the tools of the surface, for any transport.
// It panics if the Config names no surface.
func NewServer(cfg Config) *sdk.Server { return newServer(cfg, cfg.toolset()) }

func newServer(cfg Config, tools *adapter.Toolset, more ...func(*sdk.ServerOptions)) *sdk.Server {
	opt := &sdk.ServerOptions{
		Instructions: tools.Instructions(),
		// The tools never change while the server runs.
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
		// Which tools there are depends on who asks.
		SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) { c.CacheScope = "private" },
	}
	for _, set := range more {
		set(opt)
	}
	s := sdk.NewServer(&sdk.Implementation{Name: "wipagent", Title: "wipagent", Version: cfg.Version}, opt)
	call := handler(tools)
	known := map[string]bool{}
	for _, t := range declared(tools) {
		s.AddTool(t, call)
		known[t.Name] = true
	}
	s.AddReceivingMiddleware(otherNames(known, call))
	return s
}

// otherNames hands calls of names that are not known to call. The SDK answers a name that it
// does not know as an error of the protocol, which no model reads: one that only
// slipped would not be understood, and one that is wrong be told nothing.
func otherNames(known map[string]bool, call sdk.ToolHandler) sdk.Middleware {
	return func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
			r, ok := req.(*sdk.CallToolRequest)
			if !ok || r.Params == nil || r.Params.Name == "" || known[r.Params.Name] {
				return next(ctx, method, req)
			}
			return call(ctx, r)
		}
	}
}

// declared returns the tools as the SDK takes them.
func declared(tools *adapter.Toolset) []*sdk.Tool {
	var list []struct {
		sdk.Tool
		// As they are written, with their members in order.
		Input  json.RawMessage `json:"inputSchema"`
		Output json.RawMessage `json:"outputSchema"`
	}
	if err := json.Unmarshal(tools.Export().Tools, &list); err != nil {
		panic(fmt.Sprintf("mcp: the tool list does not decode: %v", err))
	}
	out := make([]*sdk.Tool, len(list))
	for i := range list {
		t := list[i].Tool
		t.InputSchema = list[i].Input
		if list[i].Output != nil {
			t.OutputSchema = list[i].Output
		}
		out[i] = &t
	}
	return out
}

// List returns the tools as tools/list answers them, for measuring and for
// clients that want the list without a server. The tools must be in the dialect
// mcp.
func List(tools *adapter.Toolset) json.RawMessage {
	raw, err := json.Marshal(struct {
		Tools []*sdk.Tool `json:"tools"`
	}{declared(tools)})
	if err != nil {
		panic(fmt.Sprintf("mcp: the tool list does not encode: %v", err))
	}
	return raw
}

func handler(tools *adapter.Toolset) sdk.ToolHandler {
	approvals := newAsker(tools)
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		asked := approvals.begin(req)
		answer := tools.Answer(asked.context(ctx), dialect.Call{ID: asked.id, Name: req.Params.Name, Arguments: req.Params.Arguments, Form: dialect.Protocol})
		if question := asked.result(); question != nil {
			return question, nil
		}
		return &sdk.CallToolResult{
			Content:           []sdk.Content{&sdk.TextContent{Text: string(answer.JSON)}},
			StructuredContent: answer.JSON,
			IsError:           answer.Failed,
		}, nil
	}
}

// maxLine bounds one message from the client, in bytes.
const maxLine = 4 << 20

// stopGrace is how long the server may take to stop once its client or ctx has
// ended it. It takes longer only if the client does not read what was written.
const stopGrace = time.Second

// ServeStdio serves one client over in and out until ctx ends or the client
// closes its end and what it asked for is answered. A client that does not read
// cannot hold it: what is then still being written goes on in a goroutine, until
// the caller closes out or the process ends.
func ServeStdio(ctx context.Context, cfg Config, in io.ReadCloser, out io.WriteCloser) error {
	tools := cfg.toolset()
	grace := cfg.EndGrace
	if grace == 0 {
		grace = tools.Timeout() + time.Second
	}
	d := newDrain(in, out, grace)
	done := make(chan error, 1)
	go func() {
		// The drain bounds the lines, so the SDK need not do so again.
		done <- newServer(cfg, tools).Run(ctx, &sdk.IOTransport{Reader: d, Writer: output{d}, MaxLineLength: -1})
	}()
	select {
	case err := <-done:
		return err
	case <-d.ended:
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err
	case <-time.After(stopGrace):
		return errors.New("the client does not read what was written to it")
	}
}

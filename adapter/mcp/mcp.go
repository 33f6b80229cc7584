// Package mcp serves the three verbs to a client of the Model Context
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
	"github.com/wipagent/wipagent/client"
)

// Config says who is served what.
type Config struct {
	Client    *client.Client
	Principal *client.Principal
	// ReadOnly says that nothing mounted changes anything; it is what the
	// tools' annotations claim.
	ReadOnly bool
	Version  string // of the program; shown to the client
	// EndGrace is how long ServeStdio awaits the answers to the last requests
	// after the client has closed its end. 0 means a second more than the tool
	// list allows a call. A call takes longer if its operation declares a longer
	// @timeout than the default or somebody must approve it: with such
	// operations set 4 s more than the longest.
	EndGrace time.Duration
}

// endGrace returns EndGrace or its default.
func (cfg *Config) endGrace() time.Duration {
	if cfg.EndGrace != 0 {
		return cfg.EndGrace
	}
	var longest time.Duration
	for _, t := range adapter.Tools(cfg.ReadOnly) {
		longest = max(longest, t.Timeout)
	}
	return longest + time.Second
}

// NewServer returns a server with the three tools, for any transport.
func NewServer(cfg Config) *sdk.Server {
	s := sdk.NewServer(
		&sdk.Implementation{Name: "wipagent", Title: "wipagent", Version: cfg.Version},
		&sdk.ServerOptions{
			Instructions: adapter.Instructions,
			// The tools never change while the server runs.
			Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}},
		},
	)
	for _, t := range adapter.Tools(cfg.ReadOnly) {
		s.AddTool(Tool(t), handler(cfg, t.Name))
	}
	return s
}

// Tool returns a tool as the protocol lists it.
func Tool(t adapter.Tool) *sdk.Tool {
	closed := false
	return &sdk.Tool{
		Name: t.Name, Description: t.Description, InputSchema: t.InputSchema, OutputSchema: t.OutputSchema,
		Annotations: &sdk.ToolAnnotations{
			ReadOnlyHint: t.ReadOnly, DestructiveHint: &t.Destructive, IdempotentHint: t.Idempotent, OpenWorldHint: &closed,
		},
		Meta: sdk.Meta{"timeoutMs": t.Timeout.Milliseconds(), "maxOutputBytes": t.MaxOutput},
	}
}

// List returns the tools as tools/list answers them, for measuring and for
// clients that want the list without a server.
func List(readOnly bool) json.RawMessage {
	var list struct {
		Tools []*sdk.Tool `json:"tools"`
	}
	for _, t := range adapter.Tools(readOnly) {
		list.Tools = append(list.Tools, Tool(t))
	}
	raw, err := json.Marshal(list)
	if err != nil {
		panic(fmt.Sprintf("mcp: the tool list does not encode: %v", err))
	}
	return raw
}

func handler(cfg Config, tool string) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		answer, ok := adapter.Call(ctx, cfg.Client, cfg.Principal, tool, "", req.Params.Arguments)
		if !ok {
			return nil, fmt.Errorf("no tool %q", tool)
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
	d := newDrain(in, out, cfg.endGrace())
	done := make(chan error, 1)
	go func() {
		// The drain bounds the lines, so the SDK need not do so again.
		done <- NewServer(cfg).Run(ctx, &sdk.IOTransport{Reader: d, Writer: output{d}, MaxLineLength: -1})
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

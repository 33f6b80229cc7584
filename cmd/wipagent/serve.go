package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/wipagent/wipagent/adapter"
	"github.com/wipagent/wipagent/adapter/mcp"
)

type serveCmd struct {
	surfaceFlags
	artifactFlags
}

// Help shows examples.
func (serveCmd) Help() string {
	return `The program speaks MCP on stdin and stdout until its client closes them; the audit log goes to stderr. Desktop
clients start it themselves: see examples/mcp.

The exit code is 0 when the client is done, and 3 if by then every live session had ended for good, as by a refusal or by a
login to the account elsewhere.

Examples:
  wipagent serve
  wipagent serve --world region.oar --inventory things.iar
  wipagent serve --world visit.jsonl --speed 2
  wipagent serve --as public_chat
  wipagent serve --artifacts ~/.cache/wipagent
  wipagent serve --surface operations
  wipagent serve --surface operations --code-mode`
}

// Run runs the command.
func (f *serveCmd) Run(ctx context.Context, c *cli) error {
	if err := f.check(); err != nil {
		return err
	}
	done, err := f.keep(c)
	if err != nil {
		return err
	}
	defer done()
	return c.with(ctx, serving, func(ctx context.Context, s *session) error {
		err := mcp.ServeStdio(ctx, mcp.Config{
			Client: s.client, Principal: s.principal, Surface: adapter.Surface(f.Surface), Code: f.runner(s), Version: version(),
		}, c.io.in, writeCloser{c.io.out})
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("serving on stdin and stdout: %w", err)
		}
		if s.live.allOver() {
			return &exitError{exitUnavailable, errors.New("no session was left to see anything by")}
		}
		return nil
	})
}

// writeCloser leaves closing to the process's end.
type writeCloser struct{ io.Writer }

func (writeCloser) Close() error { return nil }

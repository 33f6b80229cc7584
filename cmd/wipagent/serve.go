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
	serveHTTPFlags
	observeFlags
}

// Help shows examples.
func (serveCmd) Help() string {
	return `The program speaks MCP on stdin and stdout until its client closes them; the audit log goes to stderr. Desktop
clients start it themselves: see examples/mcp.

With --http it serves many clients, each as the principal that its bearer token stands for, until the program is interrupted
or terminated; a hangup makes it read the principals and the certificate again. See spec/serving.md, examples/systemd and
examples/container. On this machine's loopback alone, and without --principals, a token is made and printed at the start.

The exit code is 0 when the client is done or the program was told to end, and 3 if by then every live session had ended for
good, as by a refusal or by a login to the account elsewhere.

Examples:
  wipagent serve
  wipagent serve --world region.oar --inventory things.iar
  wipagent serve --world visit.jsonl --speed 2
  wipagent serve --as public_chat
  wipagent serve --artifacts ~/.cache/wipagent
  wipagent serve --surface operations
  wipagent serve --surface operations --code-mode
  wipagent serve --metrics :7072 --otlp http://127.0.0.1:4318
  wipagent serve --http :7071
  wipagent serve --http :7071 --principals principals.toml --public-url https://tools.example/mcp
  wipagent serve --http 0.0.0.0:7071 --principals principals.toml --allow-host tools.example --tls-cert c.pem --tls-key k.pem`
}

// Run runs the command.
func (f *serveCmd) Run(ctx context.Context, c *cli) error {
	if err := f.surfaceFlags.check(); err != nil {
		return err
	}
	if given := f.serveHTTPFlags.given(); given != "" && f.HTTP == "" {
		return usageError("%s goes with --http", given)
	}
	done, err := f.keep(c)
	if err != nil {
		return err
	}
	defer done()
	unwatched, err := f.observe(c)
	if err != nil {
		return err
	}
	defer unwatched()
	if f.HTTP != "" {
		return f.overHTTP(ctx, c)
	}
	return c.with(ctx, serving, func(ctx context.Context, s *session) error {
		defer s.watchHosts()()
		err := mcp.ServeStdio(ctx, mcp.Config{
			Client: s.client, Principal: s.principal, Surface: adapter.Surface(f.Surface), Code: f.runner(s), Version: version(),
		}, c.io.in, writeCloser{c.io.out})
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("serving on stdin and stdout: %w", err)
		}
		return s.outcome()
	})
}

// outcome is how serving ends that nothing went wrong with.
func (s *session) outcome() error {
	if s.live.allOver() {
		return &exitError{exitUnavailable, errors.New("no session was left to see anything by")}
	}
	return nil
}

// writeCloser leaves closing to the process's end.
type writeCloser struct{ io.Writer }

func (writeCloser) Close() error { return nil }

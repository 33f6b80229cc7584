package main

import (
	"context"
	"encoding/json"
	"errors"
	"runtime/debug"

	"github.com/wipagent/wipagent/adapter"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/lsp"
)

type idlLSPCmd struct{}

// Help shows examples.
func (idlLSPCmd) Help() string {
	return `The server speaks the Language Server Protocol on stdin and stdout; an editor starts it. It reads the same wip.toml as
idl check. examples/vscode and examples/neovim hold ready configurations.

Examples:
  wipagent idl lsp`
}

// Run runs the command.
func (*idlLSPCmd) Run(ctx context.Context, c *cli) error {
	// Each change of a document makes garbage of several times what is kept;
	// collecting it less often costs a few megabytes and saves a third of the
	// time.
	debug.SetGCPercent(400)
	err := lsp.Serve(ctx, c.io.in, c.io.out, &lsp.Config{Schema: modelSchemas, Version: version()})
	if errors.Is(err, lsp.ErrNoShutdown) && ctx.Err() == nil {
		return &exitError{code: exitFailed} // as the protocol has it
	}
	return err
}

// modelSchemas returns what models are shown of an operation.
func modelSchemas(op *idl.Operation) (input, output json.RawMessage) {
	return adapter.InputSchema(op), adapter.OutputSchema(op)
}

package main

import (
	"context"
	"fmt"

	"github.com/wipagent/wipagent/adapter"
	"github.com/wipagent/wipagent/adapter/dialect"
	"github.com/wipagent/wipagent/adapter/mcp"
)

type schemaCmd struct{}

// Help shows examples.
func (schemaCmd) Help() string {
	return `Examples:
  wipagent schema
  wipagent schema | wc -c`
}

// Run runs the command.
func (*schemaCmd) Run(ctx context.Context, c *cli) error {
	return c.with(ctx, describing, func(ctx context.Context, s *session) error {
		tools, err := adapter.New(adapter.Config{Client: s.client}).Toolset(ctx, s.principal, adapter.ToolsetOptions{Dialect: dialect.Lookup("mcp")})
		if err != nil {
			return err
		}
		fmt.Fprintln(c.io.out, string(mcp.List(tools)))
		return nil
	})
}

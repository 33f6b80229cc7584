package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/wipagent/wipagent/adapter"
	"github.com/wipagent/wipagent/client"
)

type tourCmd struct{}

// Run runs the command.
func (*tourCmd) Run(ctx context.Context, c *cli) error {
	c.demo = true
	return c.with(ctx, once, func(ctx context.Context, s *session) error {
		flags := s.words()
		for i := range flags {
			flags[i] = shellQuote(flags[i])
		}
		for _, step := range []struct {
			say     string
			command string
			do      func(*page) error
		}{
			{"A model asks what there is for a purpose:", `wipagent discover "who is here"`, func(p *page) error {
				found, err := s.client.Discover(ctx, s.principal, "/", "who is here")
				if err == nil {
					p.discovery(found)
				}
				return err
			}},
			{"It looks at what the entry can do:", `wipagent inspect /grid/parcel`, func(p *page) error {
				found, err := s.client.Inspect(ctx, s.principal, "/grid/parcel")
				if err == nil {
					p.description(adapter.Describe(found))
				}
				return err
			}},
			{"And calls an operation:", `wipagent invoke /grid/region nearby_avatars radius_meters=96 page_size=5`, func(p *page) error {
				return s.show(ctx, p, "/grid/region", "nearby_avatars", `{"radius_meters":96,"page_size":5}`)
			}},
			{"Texts of the world are strangers' words; they come cleaned and marked:", `wipagent invoke /grid/region visible_objects page_size=5`, func(p *page) error {
				return s.show(ctx, p, "/grid/region", "visible_objects", `{"page_size":5}`)
			}},
			{"A wrong call comes back with what was wrong and a call that works:", `wipagent invoke /grid/region nearby_avatars radius=1000`, func(p *page) error {
				return s.show(ctx, p, "/grid/region", "nearby_avatars", `{"radius":1000}`)
			}},
		} {
			fmt.Fprintf(c.io.out, "# %s\n\n$ %s\n\n", step.say, strings.Join(append([]string{step.command}, flags...), " "))
			if err := step.do(s.page()); err != nil {
				return err
			}
			fmt.Fprintln(c.io.out)
		}
		fmt.Fprint(c.io.out, attach)
		return nil
	})
}

// show invokes an operation and prints the outcome, a refusal included.
func (s *session) show(ctx context.Context, p *page, target, operation, arguments string) error {
	out, err := s.client.Invoke(ctx, s.principal, client.Call{Target: target, Operation: operation, Arguments: json.RawMessage(arguments)})
	if err := s.answer(out, err, func(*page) { p.outcome(out) }); err != nil && ctx.Err() != nil {
		return err
	}
	return nil
}

const attach = `# To attach an AI model, let its MCP client start the server on stdin and stdout:

  {"mcpServers": {"wipagent": {"command": "wipagent", "args": ["serve"]}}}

That is for clients with a configuration file; others have a command for it, such as

  claude mcp add wipagent -- wipagent serve

"go install ./cmd/wipagent" puts wipagent where the client finds it; examples/mcp has the usual desktop clients.
`

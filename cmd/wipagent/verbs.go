package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/wipagent/wipagent/adapter"
	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/policy"
)

// session is one opened world and who looks at it.
type session struct {
	*cli
	client    *client.Client
	principal *policy.Principal
}

// mode is what a command does with the world that it opens.
type mode uint8

const (
	once       mode = iota // a person's one call: faults alone are logged
	describing             // it is told what there is to call, and calls nothing
	serving                // somebody else's calls: all of them are logged
)

// with opens the world and runs a verb on it.
func (c *cli) with(ctx context.Context, use mode, verb func(context.Context, *session) error) (err error) {
	c.mode = use
	log, closeLog, err := c.auditLog(use)
	if err != nil {
		return err
	}
	defer func() {
		if failed := closeLog(); failed != nil && err == nil {
			err = &exitError{code: exitFailed} // what there is to say has been said
		}
	}()
	ctx, cancel := context.WithCancel(ctx)
	cl, wait, err := c.open(ctx, log)
	defer wait()
	defer cancel()
	if err != nil {
		return err
	}
	return verb(ctx, &session{c, cl, c.principal()})
}

// answer prints what a verb returned: as JSON, or by the function for people.
// An error of the verb is its result.
func (s *session) answer(value any, err error, show func(*page)) error {
	var failed *client.Error
	switch {
	case errors.As(err, &failed) && s.JSON:
		s.printJSON(failed)
		return &exitError{code: exitFailed}
	case errors.As(err, &failed):
		s.page().failure(failed, s.words())
		return &exitError{code: exitFailed}
	case err != nil:
		return err
	case s.JSON:
		s.printJSON(value)
	default:
		show(s.page())
	}
	return nil
}

// printJSON writes one JSON value and a line break.
func (c *cli) printJSON(value any) {
	c.printed = true
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // a signature is full of < and >
	enc.SetIndent("", "  ")
	if err := enc.Encode(value); err != nil {
		panic("a value of our own does not encode: " + err.Error())
	}
	fmt.Fprint(c.io.out, escapeControls(b.String()))
}

type discoverCmd struct {
	Query []string `arg:"" help:"What you want to know or do, in plain words."`
	Scope string   `default:"/" help:"Search only below this path." placeholder:"PATH"`
}

// Help shows examples.
func (discoverCmd) Help() string {
	return `Examples:
  wipagent discover "who is here"
  wipagent discover --scope /grid/inventory "do I own a hat"`
}

// Run runs the command.
func (d *discoverCmd) Run(ctx context.Context, c *cli) error {
	return c.with(ctx, describing, func(ctx context.Context, s *session) error {
		found, err := s.client.Discover(ctx, s.principal, d.Scope, strings.Join(d.Query, " "))
		return s.answer(found, err, func(p *page) { p.discovery(found) })
	})
}

type inspectCmd struct {
	Target string `arg:"" help:"An entry's path; PATH#OPERATION for one operation with its JSON Schema."`
}

// Help shows examples.
func (inspectCmd) Help() string {
	return `Examples:
  wipagent inspect /
  wipagent inspect /grid/region
  wipagent inspect '/grid/region#nearby_avatars' --json`
}

// Run runs the command.
func (i *inspectCmd) Run(ctx context.Context, c *cli) error {
	return c.with(ctx, describing, func(ctx context.Context, s *session) error {
		found, err := s.client.Inspect(ctx, s.principal, i.Target)
		var d *adapter.Description
		if err == nil {
			d = adapter.Describe(found)
		}
		return s.answer(d, err, func(p *page) { p.description(d) })
	})
}

type invokeCmd struct {
	Target    string   `arg:"" help:"The entry's path."`
	Operation string   `arg:"" help:"The operation's name."`
	Arguments []string `arg:"" optional:"" help:"name=value for each argument, or one JSON record." placeholder:"NAME=VALUE|JSON"`
	DryRun    bool     `help:"Only tell what the call would do, where the operation can tell."`
	Approve   bool     `help:"Approve the call, if it may change things, without being asked."`
}

// Help shows examples.
func (invokeCmd) Help() string {
	return `A value is read by the type that the operation declares; a string is taken as it stands, and a list is JSON or its elements with
commas between them.

An operation that may change things is asked about on the terminal first, with what it would do where it can tell. Without a
terminal it is refused, unless --approve says that this call is wanted.

Examples:
  wipagent invoke /grid/region world_location
  wipagent invoke /grid/region nearby_avatars radius_meters=20 page_size=5
  wipagent invoke /grid/inventory inventory_search '{"query": "hat"}'
  wipagent invoke --world region.oar --at 128,128,25 /grid/region visible_objects --json
  wipagent invoke --dry-run --mount /issues=host:http://127.0.0.1:7070 --trust /issues /issues/harbour/2 close reason=duplicate`
}

// Run runs the command.
func (i *invokeCmd) Run(ctx context.Context, c *cli) error {
	return c.with(ctx, once, func(ctx context.Context, s *session) error {
		arguments, err := s.arguments(ctx, i)
		if err != nil {
			return err
		}
		flag := "--approve approves this call"
		if i.DryRun {
			flag = "as nobody vouches for the Host, its dry run may do the real thing: --approve allows that, and --trust PATH vouches for it"
		}
		out, err := s.client.Invoke(s.approving(s.unapproved(ctx, flag), i.Approve), s.principal, client.Call{
			Target: i.Target, Operation: i.Operation, Arguments: arguments, DryRun: i.DryRun,
		})
		return s.answer(out, err, func(p *page) { p.outcome(out) })
	})
}

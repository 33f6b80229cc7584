package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/wipagent/wipagent/adapter"
	"github.com/wipagent/wipagent/adapter/dialect"
	"github.com/wipagent/wipagent/adapter/mcp"
	"github.com/wipagent/wipagent/adapter/script"
)

// surfaceFlags say what a model is given to work with.
type surfaceFlags struct {
	Surface  string `default:"verbs" help:"What a model works with: verbs (discover, inspect, invoke) or operations (a tool for each operation that the caller may see)." placeholder:"verbs|operations"`
	CodeMode bool   `help:"Add a tool that runs a script on what the caller may see."`
}

// check returns an error for a surface that does not exist.
func (f surfaceFlags) check() error {
	if !slices.Contains(adapter.Surfaces(), adapter.Surface(f.Surface)) {
		return usageError("--surface %q: expected verbs or operations", f.Surface)
	}
	return nil
}

// runner returns the tool that --code-mode adds, nil without it.
func (f surfaceFlags) runner(s *session) adapter.Runner {
	if !f.CodeMode {
		return nil
	}
	return script.NewRunner(s.client, script.Limits{})
}

type schemaCmd struct {
	surfaceFlags
	Dialect      string `default:"mcp" help:"The provider's form of tools; see above for the names." placeholder:"NAME"`
	Prefix       int    `help:"Keep this many bytes of each name free for what a gateway puts in front, such as mcp__server__." placeholder:"BYTES"`
	Programmatic bool   `help:"Let the provider's code execution call the tools."`
	Report       bool   `help:"Show what the form cannot say of the tools, which of them did not fit, and what they use up."`
}

// Help shows examples.
func (schemaCmd) Help() string {
	var names strings.Builder
	for _, d := range dialect.All() {
		fmt.Fprintf(&names, "  %-20s %s\n", d.Name, d.Title)
	}
	return `Dialects:
` + names.String() + `
Printed is the value of a request's field for tools. Of mcp it is {"tools"} with the tools that tools/list answers, as the surface
orders them: the server sorts them by name, writes their members in its own order and has other fields beside.

Examples:
  wipagent schema
  wipagent schema --surface operations --dialect openai-strict
  wipagent schema --surface operations --dialect anthropic-strict --report
  wipagent schema --dialect gemini --report --json`
}

// Run runs the command.
func (f *schemaCmd) Run(ctx context.Context, c *cli) error {
	d := dialect.Lookup(f.Dialect)
	if d == nil {
		var names []string
		for _, d := range dialect.All() {
			names = append(names, d.Name)
		}
		return usageError("--dialect %q: expected one of %s", f.Dialect, strings.Join(names, ", "))
	}
	if err := f.check(); err != nil {
		return err
	}
	done, err := artifactFlags{}.keep(c) // as serve does, whose tools are more for it
	if err != nil {
		return err
	}
	defer done()
	c.whole = true
	return c.with(ctx, describing, func(ctx context.Context, s *session) error {
		tools, err := adapter.New(adapter.Config{Client: s.client, Code: f.runner(s)}).Toolset(ctx, s.principal, adapter.ToolsetOptions{
			Dialect: d, Surface: adapter.Surface(f.Surface), Options: dialect.Options{Prefix: f.Prefix, Programmatic: f.Programmatic},
		})
		if err == nil && f.Programmatic {
			f.warnOfSize(ctx, s, d, len(tools.Export().Tools))
		}
		switch {
		case err != nil: // the options are wrong
			return usageError("%w", err)
		case f.Report && c.JSON:
			c.printJSON(reportOf(tools.Export()))
		case f.Report:
			c.page().report(tools.Export())
		case d.Name == "mcp":
			fmt.Fprintln(c.io.out, string(mcp.List(tools)))
		default:
			fmt.Fprintln(c.io.out, string(tools.Export().Tools))
		}
		return nil
	})
}

// warnOfSize says what it costs that code may call the tools: each then declares
// all that it can answer.
func (f *schemaCmd) warnOfSize(ctx context.Context, s *session, d *dialect.Dialect, size int) {
	plain, err := adapter.New(adapter.Config{Client: s.client, Code: f.runner(s)}).Toolset(ctx, s.principal, adapter.ToolsetOptions{
		Dialect: d, Surface: adapter.Surface(f.Surface), Options: dialect.Options{Prefix: f.Prefix},
	})
	if err == nil {
		s.warn("with --programmatic each tool declares its result for code: %d bytes in place of %d", size, len(plain.Export().Tools))
	}
}

// report is what a provider's form does to the tools, for machines.
type report struct {
	Dialect string          `json:"dialect"`
	Bytes   int             `json:"bytes"` // of the tools' JSON
	Usage   []dialect.Usage `json:"usage"`
	Demoted []dialect.Drop  `json:"demoted"`
	Dropped []dialect.Drop  `json:"dropped"`
	Losses  []dialect.Loss  `json:"losses"`
}

func reportOf(e *dialect.Export) report {
	list := func(drops []dialect.Drop) []dialect.Drop { return append([]dialect.Drop{}, drops...) }
	return report{e.Dialect.Name, len(e.Tools), append([]dialect.Usage{}, e.Usage...), list(e.Demoted), list(e.Dropped), append([]dialect.Loss{}, e.Losses...)}
}

// report prints what a provider's form does to the tools, for people. What all
// tools lose alike is said once.
func (p *page) report(e *dialect.Export) {
	p.line("%s: %s", e.Dialect.Name, e.Dialect.Title)
	p.line("%d bytes of JSON", len(e.Tools))
	p.line("")
	p.line("used of what the provider sums over a request")
	rows := [][]string{}
	for _, u := range e.Usage {
		limit := "no limit stated"
		if u.Limit > 0 {
			limit = "of " + strconv.Itoa(u.Limit)
		}
		rows = append(rows, []string{u.Budget, strconv.Itoa(u.Used), limit})
	}
	p.table(rows)
	p.drops("not strict, and why", e.Demoted)
	p.drops("left out, for want of room in", e.Dropped)
	p.line("")
	if len(e.Losses) == 0 {
		p.line("nothing is lost: the schemas say all that is checked")
		return
	}
	p.line("what the schemas cannot say, and where it is said instead")
	rows = [][]string{{"TOOL", "AT", "CONSTRAINT", "SAID IN", "MAY BE SENT"}}
	for _, group := range together(e.Losses) {
		rows = append(rows, []string{group.tools, cmp.Or(group.Path, "/"), group.Constraint, string(group.Said), group.MaySend})
	}
	p.table(rows)
}

func (p *page) drops(title string, list []dialect.Drop) {
	if len(list) == 0 {
		return
	}
	p.line("")
	p.line("%s", title)
	rows := [][]string{}
	for _, d := range list {
		rows = append(rows, []string{d.Tool, d.Reason})
	}
	p.table(rows)
}

// lossGroup is one loss of one tool or of several.
type lossGroup struct {
	dialect.Loss
	tools string
}

// together joins the losses that several tools have at the same place, in the
// order of the first.
func together(losses []dialect.Loss) []lossGroup {
	tools := map[dialect.Loss][]string{}
	all := map[string]bool{}
	var order []dialect.Loss
	for _, l := range losses {
		key := l
		key.Tool = ""
		if tools[key] == nil {
			order = append(order, key)
		}
		if all[l.Tool] = true; !slices.Contains(tools[key], l.Tool) {
			tools[key] = append(tools[key], l.Tool)
		}
	}
	var list []lossGroup
	for _, l := range order {
		names := strings.Join(tools[l], " ")
		if n := len(tools[l]); n == len(all) && n > 1 {
			names = "every tool"
		} else if n > 3 {
			names = fmt.Sprintf("%s and %d more", strings.Join(tools[l][:3], " "), n-3)
		}
		list = append(list, lossGroup{l, names})
	}
	return list
}

package main

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"github.com/wipagent/wipagent/adapter"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/gen"
)

type idlDocCmd struct {
	Out   string   `short:"o" required:"" help:"A folder for Markdown, or one HTML file." placeholder:"DIR|FILE.html"`
	Files []string `arg:"" help:"Documents, folders of them, or - for stdin." placeholder:"FILE|DIR|-"`
	Check bool     `help:"Write nothing; fail if a file is not what would be written."`
}

// Help shows examples.
func (idlDocCmd) Help() string {
	return `The reference has what a model is shown of each operation (signature, JSON Schemas, examples, policy and limits), and how
programs call it. Markdown is a page for each package and index.md; HTML is one file that needs no other.

Examples:
  wipagent idl doc -o reference.html interfaces
  wipagent idl doc -o docs/reference interfaces
  wipagent idl doc -o docs/reference --check interfaces`
}

// Run runs the command.
func (d *idlDocCmd) Run(c *cli) error {
	docs, err := c.compile(d.Files)
	if err != nil {
		return err
	}
	opt := &gen.DocOptions{Schemas: func(o *idl.Operation) (arguments, result json.RawMessage) {
		return adapter.InputSchema(o), adapter.OutputSchema(o)
	}}
	if strings.EqualFold(filepath.Ext(d.Out), ".html") {
		file := gen.File{Name: filepath.Base(d.Out), Data: gen.HTML(docs, opt)}
		return c.writeGenerated(filepath.Dir(d.Out), []gen.File{file}, d.Check)
	}
	return c.writeGenerated(d.Out, gen.Markdown(docs, opt), d.Check)
}

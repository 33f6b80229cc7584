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
	Check bool     `help:"Write nothing; fail if a file is not what would be written, or is left over."`
	Prune bool     `help:"Remove pages that were generated and are no longer."`
}

// Help shows examples.
func (idlDocCmd) Help() string {
	return `The reference has what a model is shown of each operation (signature, JSON Schemas, examples, policy and limits), and how
programs call it. Markdown is a page for each package and index.md; HTML is one file that needs no other.

` + generatedHelp + `

Examples:
  wipagent idl doc -o reference.html interfaces
  wipagent idl doc -o docs/reference interfaces
  wipagent idl doc -o docs/reference --check interfaces`
}

// Run runs the command.
func (d *idlDocCmd) Run(c *cli) error {
	if d.Check && d.Prune {
		return usageError("found --check beside --prune, expected one of them")
	}
	ext := strings.ToLower(filepath.Ext(d.Out))
	html := ext == ".html" || ext == ".htm"
	if html && d.Prune {
		return usageError("found --prune for one HTML file, which leaves nothing over")
	}
	from, err := c.compile(d.Files)
	if err != nil {
		return err
	}
	opt := &gen.DocOptions{Schemas: func(o *idl.Operation) (arguments, result json.RawMessage) {
		return adapter.InputSchema(o), adapter.OutputSchema(o)
	}}
	w := &generation{cli: c, dir: d.Out, prune: d.Prune, Check: d.Check}
	if html {
		w.dir = filepath.Dir(d.Out)
		file := gen.File{Name: filepath.Base(d.Out), Data: gen.HTML(from.docs, opt)}
		return w.run([]gen.File{file}, false)
	}
	return w.run(gen.Markdown(from.docs, opt), true)
}

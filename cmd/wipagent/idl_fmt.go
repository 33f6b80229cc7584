package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/wipagent/wipagent/idl/syntax"
)

type idlFmtCmd struct {
	Files []string `arg:"" optional:"" help:"Documents, folders of them (the working directory if nothing is named), or - for stdin." placeholder:"FILE|DIR|-"`
	Diff  bool     `xor:"mode" help:"Print what would change as a unified diff, and change nothing."`
	Check bool     `xor:"mode" help:"List the documents that would change, and change nothing."`
}

// Help shows examples.
func (idlFmtCmd) Help() string {
	return `Comments, groups of members and the order of everything stay; what the documents mean does too. Stdin goes to stdout. A
document with a syntax error is left as it is, and the others are formatted all the same.

Exit codes: 0 done, 1 a document would change (with --diff or --check) or has syntax errors, 2 the command line was wrong,
3 a file could not be read or written.

Examples:
  wipagent idl fmt
  wipagent idl fmt interfaces door.wip --diff
  wipagent idl fmt --check . || echo "run wipagent idl fmt"`
}

// formatting is what becomes of the documents of one command line.
type formatting struct {
	cmd       *idlFmtCmd
	c         *cli
	Documents []formatted `json:"documents"`
	Findings  []finding   `json:"diagnostics"`     // of all that were refused
	Error     string      `json:"error,omitempty"` // why none was formatted
	refused   bool
	failed    bool // something could not be read or written
}

// formatted is what became of one document.
type formatted struct {
	File   string `json:"file"`
	Status string `json:"status"`          // "unchanged", "formatted", "would change", "refused" or "failed"
	Text   string `json:"text,omitempty"`  // of stdin
	Diff   string `json:"diff,omitempty"`  // where it was asked for
	Error  string `json:"error,omitempty"` // why it failed
}

// Run runs the command.
func (i *idlFmtCmd) Run(ctx context.Context, c *cli) error {
	if len(i.Files) == 0 {
		i.Files = []string{"."}
	}
	if slices.Contains(i.Files, stdin) && len(i.Files) > 1 {
		return usageError("found - beside files, expected either")
	}
	files, err := c.documentFiles(i.Files)
	if err != nil {
		return err
	}
	f := &formatting{cmd: i, c: c, Documents: []formatted{}, Findings: []finding{}}
	for _, path := range files {
		if ctx.Err() != nil {
			return &exitError{exitUnavailable, errors.New("interrupted; documents not reached are as they were")}
		}
		d, err := f.format(path)
		if err != nil {
			d.Status, d.Error, f.failed = "failed", err.Error(), true
		}
		f.Documents = append(f.Documents, d)
		f.print(d)
	}
	if c.JSON {
		c.printJSON(f)
	}
	changes := slices.ContainsFunc(f.Documents, func(d formatted) bool { return d.Status == "would change" })
	switch {
	case f.failed:
		return &exitError{code: exitUnavailable}
	case f.refused, changes:
		return &exitError{code: exitFailed}
	}
	return nil
}

// tellFailure prints why nothing was formatted.
func (*idlFmtCmd) tellFailure(c *cli, err error) {
	if c.JSON {
		c.printJSON(formatting{Documents: []formatted{}, Findings: []finding{}, Error: printable(err.Error())})
	}
}

// documentFiles lists the documents that the arguments name, each once,
// folders searched through.
func (c *cli) documentFiles(args []string) ([]string, error) {
	var files []string
	seen := map[string]bool{}
	for _, arg := range args {
		switch arg {
		case "":
			return nil, usageError("found an empty name, expected a document, a folder or -")
		case stdin:
			return args, nil
		}
		err := c.walkDocuments(arg, func(path string) error {
			switch {
			case seen[path]:
				return nil
			case len(files) == maxChecked:
				return usageError("found more than %d documents", maxChecked)
			}
			seen[path] = true
			files = append(files, path)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if len(files) == 0 {
		return nil, usageError("found no .wip document in %s", strings.Join(args, ", "))
	}
	return files, nil
}

// format formats one document, and rewrites its file if that was asked for.
func (f *formatting) format(path string) (formatted, error) {
	d := formatted{File: path, Status: "unchanged"}
	src, info, err := f.c.readDocument(path)
	if err != nil {
		return d, err
	}
	out, faults := syntax.Format(path, src)
	if len(faults) > 0 {
		d.Status, f.refused = "refused", true
		found := &findings{list: faults, texts: map[string][]byte{path: src}}
		if f.c.JSON {
			f.Findings = append(f.Findings, found.json()...)
			return d, nil
		}
		return d, f.c.render(f.c.io.err, found)
	}
	rewrites := !f.cmd.Diff && !f.cmd.Check
	if path == stdin && rewrites {
		d.Text = string(out)
	}
	if bytes.Equal(src, out) {
		return d, nil
	}
	switch {
	case !rewrites:
		d.Status = "would change"
	case path == stdin:
		d.Status = "formatted"
	default:
		if err := rewrite(path, info, out); err != nil {
			return d, err
		}
		d.Status = "formatted"
	}
	if f.cmd.Diff {
		d.Diff = diffOf(path, src, out)
	}
	return d, nil
}

// print says what became of a document, unless machines are told at the end.
func (f *formatting) print(d formatted) {
	out := f.c.io.out
	switch {
	case f.c.JSON:
	case d.Status == "failed":
		fmt.Fprintf(f.c.io.err, "wipagent: %s\n", printable(d.Error))
	case d.Status == "refused":
	case d.File == stdin && !f.cmd.Diff && !f.cmd.Check:
		io.WriteString(out, d.Text)
	case f.cmd.Diff:
		f.c.printDiff(d.Diff)
	case f.cmd.Check && d.Status == "would change":
		fmt.Fprintln(out, printable(d.File))
	case d.Status == "formatted":
		fmt.Fprintf(out, "formatted %s\n", printable(d.File))
	}
}

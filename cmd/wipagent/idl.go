package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/wipagent/wipagent/idl"
)

type idlCmd struct {
	Check idlCheckCmd `cmd:"" help:"Report everything that is wrong with documents."`
}

type idlCheckCmd struct {
	Files []string `arg:"" help:"Documents, folders of them, or - for stdin." placeholder:"FILE|DIR|-"`
}

// Help shows examples.
func (idlCheckCmd) Help() string {
	return `Imports are looked up beside the document that names them. The exit code is 1 if anything is wrong.

Examples:
  wipagent idl check interfaces
  wipagent idl check door.wip --json`
}

// maxDocument bounds a document that is read, in bytes; the compiler refuses
// one long before.
const maxDocument = 4 << 20

// Run runs the command.
func (i *idlCheckCmd) Run(c *cli) error {
	files, err := documents(i.Files)
	if err != nil {
		return err
	}
	var all idl.ErrorList
	sources := map[string][]byte{}
	for _, file := range files {
		load := func(name string) ([]byte, error) {
			path := name
			if name != file && name != "-" {
				path = filepath.Join(filepath.Dir(file), filepath.FromSlash(name))
			}
			text, err := c.readDocument(path)
			if err == nil {
				sources[name] = text
			}
			return text, err
		}
		_, err := idl.Compile(load, file)
		var list idl.ErrorList
		if err != nil && !errors.As(err, &list) {
			return &exitError{exitUnavailable, err}
		}
		all = append(all, list...)
	}
	all = all.Unique()
	if c.JSON {
		c.printJSON(diagnostics(all))
	} else {
		idl.Render(c.io.out, all, func(name string) ([]byte, error) {
			if text, ok := sources[name]; ok {
				return text, nil
			}
			return nil, os.ErrNotExist
		})
	}
	if len(all) > 0 {
		return &exitError{code: exitFailed}
	}
	if !c.JSON {
		fmt.Fprintf(c.io.out, "%d documents, nothing wrong\n", len(files))
	}
	return nil
}

// documents lists the files that the arguments name, folders searched through.
func documents(args []string) ([]string, error) {
	var files []string
	for _, arg := range args {
		info, err := os.Stat(arg)
		switch {
		case arg == "-":
			files = append(files, arg)
		case err != nil:
			return nil, &exitError{exitUnavailable, err}
		case !info.IsDir():
			files = append(files, arg)
		default:
			err := filepath.WalkDir(arg, func(path string, d os.DirEntry, err error) error {
				if err == nil && !d.IsDir() && strings.HasSuffix(path, ".wip") {
					files = append(files, path)
				}
				return err
			})
			if err != nil {
				return nil, &exitError{exitUnavailable, err}
			}
		}
	}
	if len(files) == 0 {
		return nil, usageError("found no .wip document in %s", strings.Join(args, ", "))
	}
	sort.Strings(files)
	return files, nil
}

func (c *cli) readDocument(path string) ([]byte, error) {
	var r io.Reader = c.io.in
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		r = f
	}
	return io.ReadAll(io.LimitReader(r, maxDocument))
}

// diagnostic is the JSON form of one finding.
type diagnostic struct {
	File    string    `json:"file"`
	Line    int       `json:"line"` // 1-based
	Col     int       `json:"col"`  // 1-based, in bytes
	EndLine int       `json:"end_line"`
	EndCol  int       `json:"end_col"` // the first byte behind
	Rule    string    `json:"rule"`
	Message string    `json:"message"`
	Hint    string    `json:"hint,omitempty"`
	Related []related `json:"related,omitempty"`
}

type related struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Col     int    `json:"col"`
	Message string `json:"message"`
}

func diagnostics(list idl.ErrorList) []diagnostic {
	out := make([]diagnostic, 0, len(list))
	for _, d := range list {
		item := diagnostic{
			File: d.Span.File, Line: d.Span.Start.Line, Col: d.Span.Start.Col, EndLine: d.Span.End.Line, EndCol: d.Span.End.Col,
			Rule: d.Rule, Message: d.Message, Hint: d.Hint,
		}
		for _, r := range d.Related {
			item.Related = append(item.Related, related{r.Span.File, r.Span.Start.Line, r.Span.Start.Col, r.Message})
		}
		out = append(out, item)
	}
	return out
}

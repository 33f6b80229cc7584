package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
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
	// Imports are named as they stand beside the document, so each folder is
	// compiled by itself; together, so that a fault is reported once.
	var all idl.ErrorList
	for _, dir := range slices.Sorted(maps.Keys(files)) {
		load := func(name string) ([]byte, error) { return c.readDocument(filepath.Join(dir, filepath.FromSlash(name))) }
		_, err := idl.Compile(load, files[dir]...)
		var list idl.ErrorList
		if err != nil && !errors.As(err, &list) {
			return &exitError{exitUnavailable, err}
		}
		all = append(all, inFolder(dir, list)...)
	}
	if c.JSON {
		c.printJSON(diagnostics(all))
	} else if err := idl.Render(c.io.out, all, c.readDocument); err != nil {
		return err
	}
	if len(all) > 0 {
		return &exitError{code: exitFailed}
	}
	if !c.JSON {
		fmt.Fprintln(c.io.out, "nothing wrong")
	}
	return nil
}

// inFolder names the files of diagnostics as seen from the working directory.
func inFolder(dir string, list idl.ErrorList) idl.ErrorList {
	named := slices.Clone(list)
	for i := range named {
		named[i].Span.File = filepath.Join(dir, named[i].Span.File)
		named[i].Related = slices.Clone(named[i].Related)
		for j := range named[i].Related {
			named[i].Related[j].Span.File = filepath.Join(dir, named[i].Related[j].Span.File)
		}
	}
	return named
}

// stdin is how the command line names standard input.
const stdin = "-"

// documents lists the files that the arguments name by their folder, folders
// searched through.
func documents(args []string) (map[string][]string, error) {
	files := map[string][]string{}
	add := func(path string) {
		dir, name := filepath.Dir(path), filepath.Base(path)
		if !slices.Contains(files[dir], name) {
			files[dir] = append(files[dir], name)
		}
	}
	for _, arg := range args {
		if arg == stdin {
			add(arg)
			continue
		}
		err := filepath.WalkDir(arg, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && (path == arg || strings.HasSuffix(path, ".wip")) {
				add(path)
			}
			return err
		})
		if err != nil {
			return nil, &exitError{exitUnavailable, err}
		}
	}
	if len(files) == 0 {
		return nil, usageError("found no .wip document in %s", strings.Join(args, ", "))
	}
	return files, nil
}

// readDocument reads a document once; stdin can be read only once, and its
// lines are shown beside what is wrong with them.
func (c *cli) readDocument(path string) ([]byte, error) {
	if path == stdin {
		return c.readStdin()
	}
	f, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxDocument))
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

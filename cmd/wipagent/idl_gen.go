package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/gen"
)

type idlGenCmd struct {
	Language string   `arg:"" enum:"python,typescript,go,go-client" help:"python, typescript, go (to answer calls) or go-client (to make them)." placeholder:"LANGUAGE"`
	Files    []string `arg:"" help:"Documents, folders of them, or - for stdin." placeholder:"FILE|DIR|-"`
	Out      string   `short:"o" default:"." help:"The folder to write to." placeholder:"DIR"`
	Package  string   `help:"The generated package's name: of Python's package, by default wipagent; of Go's, by default the folder's." placeholder:"NAME"`
	Check    bool     `help:"Write nothing; fail if a file is not what would be written."`
}

// Help shows examples.
func (idlGenCmd) Help() string {
	return `A file that wipagent has not generated is never overwritten, and nothing is written through a link below the folder.

Examples:
  wipagent idl gen python -o lib interfaces        # lib/wipagent: import wipagent, wipagent.grid
  wipagent idl gen typescript -o src/wip interfaces
  wipagent idl gen go-client -o gridclient interfaces
  wipagent idl gen go -o door --check door.wip`
}

// Run runs the command.
func (g *idlGenCmd) Run(c *cli) error {
	docs, err := c.compile(g.Files)
	if err != nil {
		return err
	}
	files, err := g.generate(docs)
	if err != nil {
		return err
	}
	return c.writeGenerated(g.Out, files, g.Check)
}

// generate returns the files, relative to the folder to write to.
func (g *idlGenCmd) generate(docs []*idl.Document) ([]gen.File, error) {
	name := g.Package
	switch {
	case name != "" && g.Language == "typescript":
		return nil, usageError("found --package %s for typescript, whose modules have no common name", name)
	case name == "" && g.Language == "python":
		name = "wipagent"
	case name == "":
		out, err := filepath.Abs(g.Out)
		if err != nil {
			return nil, &exitError{exitUnavailable, err}
		}
		name = filepath.Base(out)
	}
	valid := true
	switch g.Language {
	case "python":
		valid = gen.IsPythonPackage(name)
	case "go", "go-client":
		valid = token.IsIdentifier(name) && name != "_"
	}
	if !valid {
		return nil, usageError("found package name %q, expected an identifier; --package gives another", name)
	}
	switch g.Language {
	case "python":
		files := gen.Python(docs)
		for i := range files {
			files[i].Name = name + "/" + files[i].Name
		}
		return files, nil
	case "typescript":
		return gen.TypeScript(docs), nil
	case "go-client":
		return gen.GoClient(docs, name)
	}
	src, err := gen.Go(docs, name)
	if err != nil {
		return nil, &exitError{exitFailed, err}
	}
	return []gen.File{{Name: "zserver.go", Data: src}}, nil
}

// compile returns the documents that the arguments name, without a fault. What
// is wrong with them is shown on stderr; their style does not matter.
func (c *cli) compile(args []string) ([]*idl.Document, error) {
	set, err := c.documents(args, unlinted)
	if err != nil {
		return nil, err
	}
	return c.compileSet(set, map[string][]byte{}, func(name string) string { return name }, exitFailed)
}

// generatedMark stands in the first line of every generated file that is not
// empty.
const generatedMark = "Code generated "

// writeGenerated writes files below a folder and says which have changed. With
// check it writes nothing, and fails if there is one that would.
func (c *cli) writeGenerated(dir string, files []gen.File, check bool) error {
	var changed []string
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := refuseLinks(dir, f.Name); err != nil {
			return err
		}
		have, err := os.ReadFile(path)
		switch {
		case err == nil && bytes.Equal(have, f.Data):
			continue
		case err == nil && len(have) > 0 && !generated(have):
			return &exitError{exitFailed, fmt.Errorf("%s is not a generated file: move it away, or choose another folder by -o", path)}
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return &exitError{exitUnavailable, err}
		}
		changed = append(changed, path)
	}
	if check {
		for _, path := range changed {
			fmt.Fprintf(c.io.out, "%s is not what would be generated\n", printable(path))
		}
		if len(changed) > 0 {
			return &exitError{code: exitFailed}
		}
		return nil
	}
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if !slices.Contains(changed, path) {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return &exitError{exitUnavailable, err}
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			return &exitError{exitUnavailable, err}
		}
		fmt.Fprintf(c.io.out, "wrote %s\n", printable(path))
	}
	if len(changed) == 0 {
		fmt.Fprintln(c.io.out, "nothing to change")
	}
	return nil
}

// refuseLinks refuses a file below a folder that would be written elsewhere,
// through a link, or into what is no file.
func refuseLinks(dir, name string) error {
	path := dir
	for part := range strings.SplitSeq(name, "/") {
		path = filepath.Join(path, part)
		info, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return &exitError{exitUnavailable, err}
		case info.Mode()&fs.ModeSymlink != 0:
			return &exitError{exitFailed, fmt.Errorf("%s is a link: remove it, or choose another folder by -o", path)}
		case !info.IsDir() && !info.Mode().IsRegular():
			return &exitError{exitFailed, fmt.Errorf("found %s at %s, expected a regular file", kindOf(info), path)}
		}
	}
	return nil
}

func generated(data []byte) bool {
	first, _, _ := bytes.Cut(data, []byte("\n"))
	return strings.Contains(string(first), generatedMark) && strings.Contains(string(first), "DO NOT EDIT")
}

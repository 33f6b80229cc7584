package main

import (
	"errors"
	"go/token"
	"path/filepath"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/gen"
	"github.com/wipagent/wipagent/idl/syntax"
)

type idlGenCmd struct {
	Language string   `arg:"" enum:"python,typescript,go,go-client" help:"python, typescript, go (to answer calls) or go-client (to make them)." placeholder:"LANGUAGE"`
	Files    []string `arg:"" help:"Documents, folders of them, or - for stdin." placeholder:"FILE|DIR|-"`
	Out      string   `short:"o" default:"." help:"The folder to write to; by default the working directory." placeholder:"DIR"`
	Package  string   `help:"The generated package's name: of Python's package, by default wipagent; of Go's, by default the folder's." placeholder:"NAME"`
	Check    bool     `help:"Write nothing; fail if a file is not what would be written, or is left over."`
	Prune    bool     `help:"Remove files that were generated and are no longer."`
}

// Help shows examples.
func (idlGenCmd) Help() string {
	return generatedHelp + `

Examples:
  wipagent idl gen python -o lib interfaces        # lib/wipagent: import wipagent, wipagent.grid
  wipagent idl gen typescript -o src/wip interfaces
  wipagent idl gen go-client -o gridclient interfaces
  wipagent idl gen go -o door --check door.wip`
}

// Run runs the command.
func (g *idlGenCmd) Run(c *cli) error {
	if g.Check && g.Prune {
		return usageError("found --check beside --prune, expected one of them")
	}
	from, err := c.compile(g.Files)
	if err != nil {
		return err
	}
	files, err := g.generate(from.docs)
	var faults idl.ErrorList
	switch {
	case errors.As(err, &faults):
		return from.refuse(c, faults)
	case err != nil:
		return err
	}
	w := &generation{cli: c, dir: g.Out, prune: g.Prune, Check: g.Check}
	return w.run(files, true)
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
	if err := checkPackage(g.Language, name); err != nil {
		return nil, err
	}
	switch g.Language {
	case "python":
		return inFolder(name, gen.Python(docs)), nil
	case "typescript":
		return gen.TypeScript(docs), nil
	case "go-client":
		return gen.GoClient(docs, name)
	}
	src, err := gen.Go(docs, name)
	if err != nil {
		return nil, err
	}
	return []gen.File{{Name: "zserver.go", Data: src}}, nil
}

// checkPackage refuses a name that a language's package cannot have.
func checkPackage(language, name string) error {
	valid, keywordOf := true, ""
	switch language {
	case "python":
		valid = gen.IsPythonPackage(name)
		if gen.IsPythonKeyword(name) {
			keywordOf = "Python"
		}
	case "go", "go-client":
		valid = token.IsIdentifier(name) && name != "_"
		if token.IsKeyword(name) {
			keywordOf = "Go"
		}
	}
	switch {
	case keywordOf != "":
		return usageError("found package name %q, which is a keyword of %s; --package gives another", name, keywordOf)
	case !valid:
		return usageError("found package name %q, expected an identifier; --package gives another", name)
	}
	return nil
}

// inFolder returns the files, moved into a folder.
func inFolder(name string, files []gen.File) []gen.File {
	for i := range files {
		files[i].Name = name + "/" + files[i].Name
	}
	return files
}

// compiled are documents without a fault, and what they were made of.
type compiled struct {
	docs  []*idl.Document
	set   *documentSet
	texts map[string][]byte
}

// compile returns the documents that the arguments name. What is wrong with
// them is shown; their style does not matter.
func (c *cli) compile(args []string) (*compiled, error) {
	set, err := c.documents(args, unlinted)
	if err != nil {
		return nil, err
	}
	from := &compiled{set: set, texts: map[string][]byte{}}
	from.docs, err = c.compileSet(set, from.texts, nil)
	return from, err
}

// refuse shows why nothing can be made of the documents, and ends the program.
func (f *compiled) refuse(c *cli, faults []syntax.Diagnostic) error {
	for i := range faults {
		faults[i].Span = f.set.spanOf(faults[i].Span)
	}
	if err := c.showFaults(faults, f.texts); err != nil {
		return err
	}
	return &exitError{code: exitFailed}
}

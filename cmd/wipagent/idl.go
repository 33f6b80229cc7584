package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/project"
	"github.com/wipagent/wipagent/idl/syntax"
)

type idlCmd struct {
	Breaking idlBreakingCmd `cmd:"" help:"Report what a change of documents breaks, and for whom."`
	Check    idlCheckCmd    `cmd:"" help:"Report everything that is wrong with documents."`
	Doc      idlDocCmd      `cmd:"" help:"Write a reference of documents: Markdown, or one HTML file."`
	Explain  idlExplainCmd  `cmd:"" help:"Show the page of a rule, or list the rules."`
	Fmt      idlFmtCmd      `cmd:"" help:"Rewrite documents in their canonical form."`
	Gen      idlGenCmd      `cmd:"" help:"Write bindings for programs: Python, TypeScript, Go."`
	Lint     idlLintCmd     `cmd:"" help:"Warn of documents that would serve their readers badly."`
	LSP      idlLSPCmd      `cmd:"" name:"lsp" shared:"" help:"Serve editors: diagnostics, completion, rename and more, over the Language Server Protocol."`
}

type idlCheckCmd struct {
	Files        []string `arg:"" help:"Documents, folders of them, or - for stdin." placeholder:"FILE|DIR|-"`
	ImportPath   []string `short:"I" sep:"none" help:"Look imports up in this folder first; may be repeated." placeholder:"DIR"`
	NoLint       bool     `help:"Report errors only."`
	DenyWarnings bool     `help:"Exit with 1 for warnings too."`
	SARIF        bool     `name:"sarif" help:"Print a SARIF 2.1.0 log."`
	Fix          bool     `help:"Rewrite the documents with the fixes that are safe, then report what is left."`
	Diff         bool     `help:"With --fix: print what would change as a unified diff, and change nothing."`
}

// Help shows examples.
func (idlCheckCmd) Help() string {
	return `Imports are looked up in the folders that -I names and in those of the nearest wip.toml (its own by default). Where there
is none, in the document's own folder and those above it up to the working directory. A warning is silenced by a comment
before what it is about, with the reason: //wip:ignore RULE why that is right here

A link is followed if it is named, and in a folder if it leads to a file of that folder.

--fix makes the changes that are safe: nothing else can have been meant, no document gets more errors by it, and nothing changes
for callers of documents that were without error. It says how many it leaves to the author; --json and --sarif mark each change as
safe or not. It changes the documents that are named, not those they import. The fixed text of stdin goes to stdout, what is left
to stderr.

Exit codes: 0 nothing wrong, 1 errors, or something to fix with --diff, 2 the command line or wip.toml was wrong, 3 a file
could not be read or written.

Examples:
  wipagent idl check interfaces
  wipagent idl check -I vendor door.wip --json
  wipagent idl check . --deny-warnings --sarif >findings.sarif
  wipagent idl check . --fix --diff`
}

// Run runs the command.
func (i *idlCheckCmd) Run(ctx context.Context, c *cli) error {
	switch {
	case c.JSON && i.SARIF:
		return usageError("found --json beside --sarif, expected one of them")
	case i.Fix && i.SARIF:
		return usageError("found --fix beside --sarif, expected one of them")
	case i.Diff && !i.Fix:
		return usageError("found --diff without --fix, expected both")
	case i.Fix && len(i.Files) > 1 && slices.Contains(i.Files, stdin):
		return usageError("found - beside files with --fix, expected either")
	}
	set, err := c.documents(i.Files, func(p *project.Project) {
		p.NoLint = i.NoLint
		p.Search = append(p.Search, absolute(i.ImportPath)...)
	})
	if err != nil {
		return err
	}
	if i.Fix {
		return i.fix(ctx, c, set)
	}
	found, err := set.check()
	if err != nil {
		return err
	}
	return c.showFindings(found, i.SARIF, found.errors > 0 || i.DenyWarnings && found.warnings > 0)
}

// tellFailure prints why nothing was checked.
func (i *idlCheckCmd) tellFailure(c *cli, err error) {
	if i.Fix && c.JSON {
		c.printJSON(map[string]any{"documents": []any{}, "diagnostics": []any{}, "error": printable(err.Error())})
		return
	}
	c.tellUnchecked(i.SARIF, err)
}

// tellUnchecked tells machines why nothing was checked: by a finding without a
// rule and a document, or a SARIF log of a run that failed.
func (c *cli) tellUnchecked(sarif bool, err error) {
	why := printable(err.Error())
	switch {
	case c.JSON:
		c.printJSON([]finding{{Severity: syntax.Error.String(), Message: why}})
	case sarif:
		c.printJSON(failedSARIF(why))
	}
}

// showFindings prints what was found, as the flags ask for.
func (c *cli) showFindings(found *findings, sarif, failed bool) error {
	switch {
	case c.JSON:
		c.printJSON(found.json())
	case sarif:
		c.printJSON(found.sarif())
	default:
		if err := c.renderFindings(c.io.out, found); err != nil {
			return err
		}
	}
	return found.exit(failed, false)
}

// renderFindings writes what was found for people, with how much that is.
func (c *cli) renderFindings(w io.Writer, found *findings) error {
	if err := c.render(w, found); err != nil {
		return err
	}
	found.summary(w)
	return nil
}

// render writes what was found for people, if it is more than they would read
// then errors before warnings, and how many there are beside.
func (c *cli) render(w io.Writer, found *findings) error {
	r := idl.Renderer{Source: found.source, Color: w == c.io.out && c.color()}
	list := found.first(maxShown)
	if err := r.Render(w, list); err != nil {
		return err
	}
	if more := len(found.list) - len(list); more > 0 {
		fmt.Fprintf(w, "\nand %d more, which --json lists too\n", more)
	}
	return nil
}

// maxShown is how many findings people are shown.
const maxShown = 200

// exit returns the end of a command. What could not be read or written
// outweighs whether the findings count as a failure.
func (f *findings) exit(failed, unwritten bool) error {
	switch {
	case f.unread || unwritten:
		return &exitError{code: exitUnavailable}
	case failed:
		return &exitError{code: exitFailed}
	}
	return nil
}

// color reports whether people read the output in colour.
func (c *cli) color() bool {
	return c.io.width > 0 && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// absolute returns the paths seen from the root.
func absolute(paths []string) []string {
	out := make([]string, len(paths))
	for i, path := range paths {
		out[i] = path
		if abs, err := filepath.Abs(path); err == nil {
			out[i] = abs
		}
	}
	return out
}

// stdin is how the command line names standard input.
const stdin = "-"

// maxDocument bounds what is read of a document, in bytes: enough to see that
// it is too large.
const maxDocument = syntax.MaxSource + 1

// maxChecked is how many documents one command line may name.
const maxChecked = 100_000

// documentSet is the documents that a command line names, by the project that
// each belongs to.
type documentSet struct {
	here     string // the working directory
	projects []*project.Project
	files    [][]string        // absolute paths, by the index of their project
	overlay  map[string][]byte // stdin, as a file of the working directory
	byFolder map[string]int    // the index of a folder's project
	set      func(*project.Project)
	count    int
}

// documents lists the documents that the arguments name, folders searched
// through. set changes what a project's configuration says.
func (c *cli) documents(args []string, set func(*project.Project)) (*documentSet, error) {
	here, err := os.Getwd()
	if err != nil {
		return nil, &exitError{exitUnavailable, err}
	}
	s := &documentSet{here: here, overlay: map[string][]byte{}, byFolder: map[string]int{}, set: set}
	for _, arg := range args {
		if arg == "" {
			return nil, usageError("found an empty name, expected a document, a folder or -")
		}
		if arg == stdin {
			text, err := c.readStdin()
			if err != nil {
				return nil, &exitError{exitUnavailable, err}
			}
			path := filepath.Join(here, stdin)
			s.overlay[path] = text
			if err := s.add(path); err != nil {
				return nil, err
			}
			continue
		}
		if err := s.walk(c, arg); err != nil {
			return nil, err
		}
	}
	if s.count == 0 {
		return nil, usageError("found no .wip document in %s", strings.Join(args, ", "))
	}
	for _, p := range s.projects {
		if err := p.CheckFolders(); err != nil {
			return nil, &exitError{exitUsage, err}
		}
	}
	return s, nil
}

// walk adds a document, or those in a folder. One that is not there is added
// too: the check says so, beside what is wrong with the others.
func (s *documentSet) walk(c *cli, arg string) error {
	if _, err := os.Stat(arg); errors.Is(err, fs.ErrNotExist) && filepath.Ext(arg) == ".wip" {
		path, err := filepath.Abs(arg)
		if err != nil {
			return &exitError{exitUnavailable, err}
		}
		return s.add(path)
	}
	return c.walkDocuments(arg, func(path string) error {
		path, err := filepath.Abs(path)
		if err != nil {
			return &exitError{exitUnavailable, err}
		}
		return s.add(path)
	})
}

// add adds one document.
func (s *documentSet) add(path string) error {
	if s.count++; s.count > maxChecked {
		return usageError("found more than %d documents", maxChecked)
	}
	dir := filepath.Dir(path)
	at, ok := s.byFolder[dir]
	if !ok {
		p, err := s.open(dir)
		var unread *fs.PathError
		switch {
		case errors.As(err, &unread):
			return &exitError{exitUnavailable, err}
		case err != nil:
			return &exitError{exitUsage, err}
		}
		at = slices.IndexFunc(s.projects, func(other *project.Project) bool { return other.Root == p.Root })
		if at < 0 {
			at = len(s.projects)
			s.set(p)
			s.projects = append(s.projects, p)
			s.files = append(s.files, nil)
		}
		s.byFolder[dir] = at
	}
	if !slices.Contains(s.files[at], path) {
		s.files[at] = append(s.files[at], path)
	}
	return nil
}

// open returns the project of a folder. Without a configuration that is the
// working directory, if the folder is in it.
func (s *documentSet) open(dir string) (*project.Project, error) {
	p, err := project.Open(dir)
	if err != nil {
		return nil, err
	}
	if rel, err := filepath.Rel(s.here, dir); p.ConfigFile == "" && err == nil && filepath.IsLocal(rel) {
		p.Root = s.here
	}
	return p, nil
}

// check checks all documents.
func (s *documentSet) check() (*findings, error) {
	found := &findings{texts: map[string][]byte{}}
	for i, p := range s.projects {
		r, err := p.Check(s.overlay, s.files[i]...)
		if err != nil {
			return nil, &exitError{exitUnavailable, err}
		}
		for _, d := range r.Diagnostics {
			found.list = append(found.list, s.named(p, d))
		}
		found.unread = found.unread || len(r.Unread) > 0
		for name := range r.Files {
			found.texts[s.name(p, name)], _ = r.Source(name)
		}
	}
	found.documents = s.count
	found.sort()
	return found, nil
}

// name returns a document's name as seen from the working directory.
func (s *documentSet) name(p *project.Project, name string) string {
	path := p.Path(name)
	if rel, err := filepath.Rel(s.here, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// named names the documents in a diagnostic as seen from the working
// directory.
func (s *documentSet) named(p *project.Project, d syntax.Diagnostic) syntax.Diagnostic {
	d.Span.File = s.name(p, d.Span.File)
	d.Related = slices.Clone(d.Related)
	for i := range d.Related {
		d.Related[i].Span.File = s.name(p, d.Related[i].Span.File)
	}
	d.Fixes = slices.Clone(d.Fixes)
	for i := range d.Fixes {
		d.Fixes[i].Edits = slices.Clone(d.Fixes[i].Edits)
		for j := range d.Fixes[i].Edits {
			d.Fixes[i].Edits[j].Span.File = d.Span.File
		}
	}
	return d
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/breaking"
	"github.com/wipagent/wipagent/idl/project"
	"github.com/wipagent/wipagent/idl/syntax"
)

type idlBreakingCmd struct {
	Against string   `required:"" help:"The old state: a folder, or a commit, branch or tag of git." placeholder:"GIT_REF|DIR"`
	Files   []string `arg:"" optional:"" help:"Documents or folders of them (the working directory if nothing is named)." placeholder:"FILE|DIR"`
	For     []string `enum:"caller,cached-call,implementer" help:"Report only what breaks something for caller, cached-call or implementer; may be repeated." placeholder:"WHOM"`
}

// Help shows examples.
func (idlBreakingCmd) Help() string {
	return `Compares documents with what they were and reports what no longer holds, for whom, and where it was and is. A folder that is
compared with stands for the folder that is named, and must have a document; it wins over a git ref of the same name. A git ref is
one of the repository that holds the documents, wherever the command runs; all of them must be in one. Nothing is fetched or
checked out. Changes are allowed where the version was raised in each document concerned: they are reported, and do not fail.

Exit codes: 0 nothing breaks, 1 something breaks or a new document has errors, 2 the command line was wrong, 3 the old state
could not be had or has errors, or a file could not be read. With --json, errors of documents are printed as idl check prints
them: a list, where the comparison is an object.

Examples:
  wipagent idl breaking --against main
  wipagent idl breaking --against v1.2.0 interfaces --json
  wipagent idl breaking --against origin/main ../other-repository/interfaces
  wipagent idl breaking --against ../released/interfaces interfaces --for cached-call`
}

// Run runs the command.
func (b *idlBreakingCmd) Run(ctx context.Context, c *cli) error {
	if len(b.Files) == 0 {
		b.Files = []string{"."}
	}
	for _, file := range b.Files {
		if file == stdin {
			return usageError("found %q, expected documents that have an old state", stdin)
		}
	}
	now, err := c.documents(b.Files, unlinted)
	if err != nil {
		return err
	}
	var was *oldState
	info, err := os.Stat(b.Against)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return &exitError{exitUnavailable, err}
	case err == nil && info.IsDir():
		was, err = folderState(b.Against, b.Files)
		if err != nil {
			return err
		}
	default:
		was, err = gitState(ctx, b.Against, b.Files)
		if err != nil {
			return err
		}
		defer os.RemoveAll(was.remove)
	}
	texts := map[string][]byte{}
	fresh, err := c.compileSet(now, texts, nil)
	if err != nil {
		return err
	}
	old, err := was.documents(c)
	if err != nil {
		return err
	}
	var before []*idl.Document
	if old != nil {
		if before, err = c.compileSet(old, texts, was); err != nil {
			return err
		}
	}
	r := &comparison{Against: b.Against, Changes: []changeJSON{}, texts: texts}
	for _, change := range breaking.Compare(before, fresh) {
		if b.wants(change.Breaks) {
			r.add(change, old, now, was)
		}
	}
	if c.JSON {
		c.printJSON(r)
	} else if err := r.print(c, len(before), was); err != nil {
		return err
	}
	if r.Breaking > 0 {
		return &exitError{code: exitFailed}
	}
	return nil
}

func unlinted(p *project.Project) { p.NoLint = true }

// wants reports whether changes for those are asked for.
func (b *idlBreakingCmd) wants(breaks breaking.Breaks) bool {
	if len(b.For) == 0 {
		return true
	}
	return slices.ContainsFunc(breaks.Names(), func(name string) bool { return slices.Contains(b.For, strings.ReplaceAll(name, " ", "-")) })
}

// compileSet returns the documents of a set, without a fault, and puts the
// texts of all that was read into texts. They are those of an old state, or of
// the working directory if was is nil. Faults are shown, and end the program
// with 1, or with 3 if they are old or a document could not be read.
func (c *cli) compileSet(s *documentSet, texts map[string][]byte, was *oldState) ([]*idl.Document, error) {
	name, exit := func(name string) string { return name }, exitFailed
	if was != nil {
		name, exit = was.name, exitUnavailable
	}
	var docs []*idl.Document
	var faults []syntax.Diagnostic
	for i, p := range s.projects {
		r, err := p.Check(s.overlay, s.files[i]...)
		if err != nil {
			return nil, &exitError{exitUnavailable, err}
		}
		docs = append(docs, r.Documents...)
		if len(r.Unread) > 0 {
			exit = exitUnavailable
		}
		for file := range r.Files {
			texts[name(s.name(p, file))], _ = r.Source(file)
		}
		for _, d := range r.Diagnostics {
			if d.Severity != syntax.Error {
				continue
			}
			d = s.named(p, d)
			d.Span.File = name(d.Span.File)
			for j := range d.Related {
				d.Related[j].Span.File = name(d.Related[j].Span.File)
			}
			if was != nil { // nobody mends what was
				d.Fixes = nil
			}
			faults = append(faults, d)
		}
	}
	if len(faults) == 0 {
		return docs, nil
	}
	if err := c.showFaults(faults, texts); err != nil {
		return nil, err
	}
	return nil, &exitError{code: exit}
}

// showFaults shows what keeps a command from its work: as idl check does on
// stdout for machines, on stderr for people.
func (c *cli) showFaults(list []syntax.Diagnostic, texts map[string][]byte) error {
	found := &findings{list: list, texts: texts}
	found.sort()
	if c.JSON {
		c.printJSON(found.json())
		return nil
	}
	for i := range found.list {
		found.list[i].Fixes = nil
	}
	return c.render(c.io.err, found)
}

// comparison is what comes of comparing.
type comparison struct {
	Against  string       `json:"against"`
	Breaking int          `json:"breaking"` // changes that break something and are not allowed
	Changes  []changeJSON `json:"changes"`

	list  []syntax.Diagnostic // the changes as diagnostics
	texts map[string][]byte
	count map[string]int // changes by whom they break something for
}

// changeJSON is one change.
type changeJSON struct {
	Rule    string     `json:"rule"`
	Breaks  []string   `json:"breaks"` // caller, cached call, implementer; empty if it breaks nobody and must be seen
	Allowed bool       `json:"allowed"`
	Message string     `json:"message"`
	Hint    string     `json:"hint,omitempty"`
	Old     *placeJSON `json:"old,omitempty"`
	New     *placeJSON `json:"new,omitempty"` // absent if the whole document is gone
}

type placeJSON struct {
	File  string `json:"file"`
	Start *point `json:"start,omitempty"` // absent if the whole document is meant
	End   *point `json:"end,omitempty"`
}

// add adds a change.
func (r *comparison) add(change breaking.Change, old, now *documentSet, was *oldState) {
	from, to := old.spanOf(change.Old), now.spanOf(change.New)
	if from.File != "" {
		from.File = was.name(from.File)
	}
	at := func(s syntax.Span) *placeJSON {
		if s.File == "" {
			return nil
		}
		f := findings{texts: r.texts}
		start, end := f.points(s)
		return &placeJSON{s.File, start, end}
	}
	names := change.Breaks.Names()
	r.Changes = append(r.Changes, changeJSON{change.Rule, names, change.Allowed, change.Message, change.Hint, at(from), at(to)})

	d := syntax.Diagnostic{Rule: change.Rule, Span: to, Hint: change.Hint, Severity: syntax.Warning}
	switch {
	case len(names) == 0:
		d.Message = "breaks nobody: " + change.Message
		names = []string{"nobody, to be seen"}
	case change.Allowed:
		d.Message = "allowed, breaks " + change.Breaks.String() + ": " + change.Message
		names = []string{"allowed by a raised version"}
	default:
		d.Message, d.Severity = "breaks "+change.Breaks.String()+": "+change.Message, syntax.Error
		r.Breaking++
	}
	if to.File == "" { // all that there is to point at
		d.Span = from
	} else {
		d.Related = []syntax.Related{{Span: from, Message: "compared with this"}}
	}
	r.list = append(r.list, d)
	if r.count == nil {
		r.count = map[string]int{}
	}
	for _, name := range names {
		r.count[name]++
	}
}

// print writes the changes for people, and a table of how many there are.
func (r *comparison) print(c *cli, before int, was *oldState) error {
	if before == 0 {
		against := r.Against
		if was.folder {
			against = "the folder " + against
		}
		fmt.Fprintf(c.io.out, "nothing breaks: %s has no document there\n", printable(against))
		return nil
	}
	if len(r.list) == 0 {
		fmt.Fprintf(c.io.out, "nothing breaks since %s\n", printable(r.Against))
		return nil
	}
	if err := c.render(c.io.out, &findings{list: r.list, texts: r.texts}); err != nil {
		return err
	}
	rows := [][]string{{"BREAKS", "CHANGES"}}
	for _, name := range []string{"caller", "cached call", "implementer", "allowed by a raised version", "nobody, to be seen"} {
		if n := r.count[name]; n > 0 {
			rows = append(rows, []string{name, strconv.Itoa(n)})
		}
	}
	c.page().line("")
	c.page().table(rows)
	return nil
}

// spanOf names the document of a span as seen from the working directory. A
// document's name is known to the one project that has it.
func (s *documentSet) spanOf(at syntax.Span) syntax.Span {
	if s == nil || at.File == "" {
		return at
	}
	for i, p := range s.projects {
		if len(s.projects) == 1 || slices.Contains(s.files[i], p.Path(at.File)) {
			at.File = s.name(p, at.File)
			break
		}
	}
	return at
}

// oldState is where the old documents are.
type oldState struct {
	here   string   // what stands for the working directory
	paths  []string // absolute paths of documents and folders; those that were not there are left out
	prefix string   // of names that are shown
	remove string   // a folder to remove in the end
	folder bool     // it is a folder that the command line names
}

// name returns the name under which a document is shown that is called so as
// seen from the state's working directory.
func (o *oldState) name(file string) string { return o.prefix + filepath.ToSlash(file) }

// documents lists the old documents; nil if there are none. A folder without
// any is more likely a mistake than an old state.
func (o *oldState) documents(c *cli) (*documentSet, error) {
	s := &documentSet{here: o.here, overlay: map[string][]byte{}, byFolder: map[string]int{}, set: unlinted}
	for _, path := range o.paths {
		if err := s.walk(c, path); err != nil {
			return nil, err
		}
	}
	if s.count > 0 {
		return s, nil
	}
	if o.folder {
		empty := true
		err := c.walkDocuments(o.here, func(string) error {
			empty = false
			return fs.SkipAll
		})
		if err != nil {
			return nil, err
		}
		if empty {
			return nil, &exitError{exitUnavailable, fmt.Errorf("found no .wip document in the folder %s, which wins over a git ref of its name: "+
				"a ref is meant by its full name, such as refs/heads/main", strings.TrimSuffix(o.prefix, "/"))}
		}
	}
	return nil, nil
}

// folderState finds the old documents in a folder. It stands for the folder
// that is compared if that is one alone, and else holds what is compared.
func folderState(dir string, files []string) (*oldState, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, &exitError{exitUnavailable, err}
	}
	state := &oldState{here: abs, prefix: strings.TrimSuffix(filepath.ToSlash(dir), "/") + "/", folder: true}
	if info, err := os.Stat(files[0]); len(files) == 1 && err == nil && info.IsDir() {
		state.paths = []string{abs}
		return state, nil
	}
	for _, file := range files {
		path := filepath.Join(abs, filepath.Base(file))
		if filepath.IsLocal(file) {
			whole := filepath.Join(abs, file)
			there, err := exists(whole)
			if err != nil {
				return nil, err
			}
			if there {
				path = whole
			}
		}
		there, err := exists(path)
		if err != nil {
			return nil, err
		}
		if there {
			state.paths = append(state.paths, path)
		}
	}
	return state, nil
}

// exists reports whether there is a file or folder of a path. The error says
// why that cannot be known.
func exists(path string) (bool, error) {
	_, err := os.Stat(path)
	switch {
	case err == nil:
		return true, nil
	case errors.Is(err, syscall.ENOTDIR):
		return false, nil
	case !errors.Is(err, fs.ErrNotExist):
		return false, &exitError{exitUnavailable, err}
	}
	if _, err := os.Lstat(path); err == nil {
		return false, &exitError{exitUnavailable, fmt.Errorf("%s: found a link to nothing, expected a document", path)}
	}
	return false, nil
}

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wipagent/wipagent/idl/gen"
)

// generatedHelp is what the commands that generate files say of them.
const generatedHelp = `A file that wipagent has not generated is never overwritten, and nothing is written through a link below the folder.
A file of an earlier run that is no longer generated, since its documents are gone or renamed, is left over: --check fails
for it, --prune removes it, and otherwise it is only named, as another run may need it.

With --json, each file is listed with what it is: written, unchanged, stale (left over) or removed; with --check also missing
or different. Errors of documents are printed as idl check prints them.

Exit codes: 0 done, 1 errors in documents, a file in the way, or --check found something, 2 the command line or wip.toml was
wrong, 3 a file could not be read or written.`

// fileState is what became of a generated file, or what it is.
type fileState string

// The states. With --check nothing is written, and so none is written or
// removed; without it none is missing or different.
const (
	fileUnchanged fileState = "unchanged"
	fileWritten   fileState = "written"
	fileMissing   fileState = "missing"
	fileDifferent fileState = "different"
	fileStale     fileState = "stale" // generated once, and not now
	fileRemoved   fileState = "removed"
)

// generation writes generated files below a folder and says what came of it,
// or, to check, compares them.
type generation struct {
	cli   *cli
	dir   string
	prune bool // remove stale files

	Check bool            `json:"check"`
	Files []generatedFile `json:"files"`
	Error string          `json:"error,omitempty"` // why there are no more files; it ends the program
}

// generatedFile is one file.
type generatedFile struct {
	File  string    `json:"file"`
	State fileState `json:"state"`
}

// run writes or compares the files and reports them. They are all that is
// generated into their folders if that is so for whole.
func (g *generation) run(files []gen.File, whole bool) error {
	list, err := g.compare(files, whole)
	switch {
	case err != nil:
		g.Files = []generatedFile{}
	case g.Check:
		g.Files = list
		if slices.ContainsFunc(list, func(f generatedFile) bool { return f.State != fileUnchanged }) {
			err = &exitError{code: exitFailed}
		}
	default:
		err = g.write(files, list)
	}
	var why *exitError
	if errors.As(err, &why) && why.err != nil {
		g.Error = why.err.Error()
	}
	if g.cli.JSON {
		g.cli.printJSON(g)
	} else {
		g.print()
	}
	return err
}

// print says what people need to know, a line a file.
func (g *generation) print() {
	words := map[fileState]string{
		fileWritten: "wrote %s\n", fileRemoved: "removed %s\n",
		fileMissing: "%s is missing\n", fileDifferent: "%s is not what would be generated\n",
		fileStale: "%s is left over: nothing generates it now\n",
	}
	changed := false
	for _, f := range g.Files {
		if words[f.State] != "" {
			fmt.Fprintf(g.cli.io.out, words[f.State], printable(f.File))
			changed = changed || f.State != fileStale
		}
	}
	if !changed && !g.Check && g.Error == "" {
		fmt.Fprintln(g.cli.io.out, "nothing to change")
	}
}

// compare returns the state of each file, and behind them what is stale.
func (g *generation) compare(files []gen.File, whole bool) ([]generatedFile, error) {
	var list []generatedFile
	for _, f := range files {
		at := g.path(f.Name)
		if err := refuseLinks(g.dir, f.Name); err != nil {
			return nil, err
		}
		have, err := os.ReadFile(at)
		state := fileDifferent
		switch {
		case err == nil && bytes.Equal(have, f.Data):
			state = fileUnchanged
		case errors.Is(err, fs.ErrNotExist):
			state = fileMissing
		case err != nil:
			return nil, &exitError{exitUnavailable, err}
		case len(have) > 0 && !generated(firstLine(bytes.NewReader(have))):
			return nil, &exitError{exitFailed, fmt.Errorf("%s is not a generated file: move it away, or choose another folder by -o", at)}
		}
		list = append(list, generatedFile{at, state})
	}
	if !whole {
		return list, nil
	}
	stale, err := g.stale(files)
	return append(list, stale...), err
}

// write does what the states, first those of the files, ask for. What was done
// is in g.Files also if there is an error.
func (g *generation) write(files []gen.File, list []generatedFile) error {
	g.Files = []generatedFile{}
	for i, f := range list {
		switch {
		case f.State == fileMissing || f.State == fileDifferent:
			if err := os.MkdirAll(filepath.Dir(f.File), 0o755); err != nil {
				return &exitError{exitUnavailable, err}
			}
			if err := writeGenerated(f.File, files[i].Data); err != nil {
				return &exitError{exitUnavailable, err}
			}
			f.State = fileWritten
		case f.State == fileStale && g.prune:
			if err := os.Remove(f.File); err != nil {
				return &exitError{exitUnavailable, err}
			}
			f.State = fileRemoved
		}
		g.Files = append(g.Files, f)
	}
	return nil
}

// writeGenerated writes one file, whole or not at all. One that is there keeps
// its mode, and one that is write-protected stays as it is.
func writeGenerated(path string, data []byte) error {
	perm := fs.FileMode(0o644)
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	default:
		perm = info.Mode().Perm()
	}
	if perm&0o222 == 0 {
		return fmt.Errorf("%s: found a write-protected file, expected one that may be changed", path)
	}
	if err := replaceFile(path, perm, data, nil); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return nil
}

func (g *generation) path(name string) string { return filepath.Join(g.dir, filepath.FromSlash(name)) }

// stale returns the files beside those that are generated which begin as one of
// them does, and so were generated in the same way.
func (g *generation) stale(files []gen.File) (list []generatedFile, err error) {
	type kind struct{ folder, ext, first string }
	made := map[string]bool{}
	var kinds []kind
	var folders []string
	for _, f := range files {
		made[g.path(f.Name)] = true
		folder := path.Dir(f.Name)
		if first := firstLine(bytes.NewReader(f.Data)); generated(first) {
			kinds = append(kinds, kind{folder, path.Ext(f.Name), first})
		}
		if !slices.Contains(folders, folder) {
			folders = append(folders, folder)
		}
	}
	for _, folder := range folders {
		entries, err := os.ReadDir(g.path(folder))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, &exitError{exitUnavailable, err}
		}
		for _, e := range entries {
			at := filepath.Join(g.path(folder), e.Name())
			ofKind := func(k kind) bool { return k.folder == folder && k.ext == path.Ext(e.Name()) }
			if made[at] || !e.Type().IsRegular() || !slices.ContainsFunc(kinds, ofKind) {
				continue
			}
			file, err := os.Open(at)
			if err != nil {
				return nil, &exitError{exitUnavailable, err}
			}
			first := firstLine(file)
			file.Close()
			if slices.Contains(kinds, kind{folder, path.Ext(e.Name()), first}) {
				list = append(list, generatedFile{at, fileStale})
			}
		}
	}
	return list, nil
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

// maxFirstLine bounds what is read of a file to see whether it was generated,
// in bytes; the mark stands long before.
const maxFirstLine = 512

// firstLine returns the first line of a file, or the beginning of a long one.
func firstLine(r io.Reader) string {
	line, _ := bufio.NewReader(io.LimitReader(r, maxFirstLine)).ReadString('\n')
	return strings.TrimRight(line, "\r\n")
}

// generated reports whether the first line of a file says that it was
// generated, as that of every generated file does that is not empty.
func generated(first string) bool {
	return strings.Contains(first, "Code generated ") && strings.Contains(first, "DO NOT EDIT")
}

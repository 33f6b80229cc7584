// Package project checks the documents of one tree of folders as its authors
// want them checked: with the import search path and the lint levels of the
// file wip.toml at its root, with unsaved texts in place of files, and with
// the comments that silence a warning. The command line and the editor both
// stand on it, so that they never disagree.
package project

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/syntax"
)

// Project is a tree of documents. It may be used concurrently once its fields
// are set.
type Project struct {
	// Root is the absolute path of the folder that holds wip.toml, or the
	// folder that Open was given if there is none above it.
	Root string
	// Config is what wip.toml says; its zero value if there is none.
	Config Config
	// Search are folders in which imports are looked up before those of the
	// configuration, absolute or relative to Root.
	Search []string
	// NoLint leaves out the warnings of lint.
	NoLint bool

	// ConfigFile is the path of wip.toml; empty if there is none.
	ConfigFile string
	// Parse does what syntax.Parse does, for callers that remember trees: none
	// is changed, the faults are the caller's to keep. If it is nil, it is
	// syntax.Parse.
	Parse func(name string, text []byte) (*syntax.File, []syntax.Diagnostic)

	places keyPlaces // of ConfigFile
}

// ConfigName is the name of the configuration file.
const ConfigName = "wip.toml"

// Open finds the project that a folder belongs to: the nearest wip.toml in it
// or above it. The error says what is wrong with that file, and where.
func Open(dir string) (*Project, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	for at := dir; ; at = filepath.Dir(at) {
		path := filepath.Join(at, ConfigName)
		text, err := readRegular(path, maxConfigBytes)
		switch {
		case err == nil:
			p := &Project{Root: at, ConfigFile: path}
			if p.places, err = p.Config.parse(text); err != nil {
				return nil, fmt.Errorf("%s:%w", path, err)
			}
			return p, nil
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		case at == filepath.Dir(at):
			return &Project{Root: dir}, nil
		}
	}
}

// CheckFolders says which folder of the import search path is none. An editor
// may go on without it; whoever asked for a check may not.
func (p *Project) CheckFolders() error {
	for _, dir := range p.Search {
		if !isFolder(p.Path(dir)) {
			return fmt.Errorf("%s: found no folder, expected one in which imports are looked up", dir)
		}
	}
	for _, dir := range p.Config.Imports {
		if !isFolder(p.Path(dir)) {
			return fmt.Errorf("%s:%sfound no folder %q, expected each of imports to be one", p.ConfigFile, cmp.Or(p.places.of([]string{"imports"}), " "), dir)
		}
	}
	return nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// Name returns the name of the document at a path, which is absolute or
// relative to the root: relative to the root, with slashes, if it is in it,
// else absolute.
func (p *Project) Name(path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(p.Root, path)
	}
	path = filepath.Clean(path)
	rel, err := filepath.Rel(p.Root, path)
	if err != nil || !filepath.IsLocal(rel) {
		return path
	}
	return filepath.ToSlash(rel)
}

// Path returns the absolute path of the document of a name.
func (p *Project) Path(name string) string {
	path := filepath.FromSlash(name)
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(p.Root, path)
}

// Documents returns the names of all documents in a folder, absolute or
// relative to the root, and in the folders below it, sorted. Folders whose
// names begin with a dot are left out, and so are those with a wip.toml of
// their own, which are other projects.
func (p *Project) Documents(dir string) ([]string, error) {
	top := p.Path(dir)
	limit := cmp.Or(p.Config.Limits.Documents, idl.MaxDocuments)
	var names []string
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != top && (strings.HasPrefix(d.Name(), ".") || hasConfig(path)):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(d.Name(), ".wip"):
			return nil
		case len(names) == limit:
			return fmt.Errorf("found more than %d documents in %s, see limits.documents in %s", limit, top, ConfigName)
		}
		names = append(names, p.Name(path))
		return nil
	})
	return names, err
}

func hasConfig(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, ConfigName))
	return err == nil
}

// readRegular reads a file of at most so many bytes. What is not a regular
// file, such as a pipe that never ends, is not read.
func readRegular(path string, most int64) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.Mode().IsRegular() && info.Size() > most:
		return nil, fmt.Errorf("%s: found %d bytes, expected at most %d", path, info.Size(), most)
	}
	return readStart(path, most)
}

// readStart reads at most so many bytes from the start of a regular file.
func readStart(path string, most int64) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: found no regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}

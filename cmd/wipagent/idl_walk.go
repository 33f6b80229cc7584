package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// walkDocuments calls found with the path of each document that an argument
// names: a file, whatever its name, or the .wip files in a folder and those
// below it. A link that is the argument is followed. One in a folder is a
// document if it leads to a file of that folder or to nothing that can be read;
// others are left out, which is said on stderr.
func (c *cli) walkDocuments(arg string, found func(path string) error) error {
	info, err := os.Stat(arg)
	switch {
	case err != nil:
		return &exitError{exitUnavailable, err}
	case !info.IsDir():
		return found(filepath.Clean(arg))
	}
	top := strings.TrimRight(arg, string(filepath.Separator)) + string(filepath.Separator) // follows a link
	return filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return &exitError{exitUnavailable, err}
		case d.IsDir() && path != top && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".wip"):
			return nil
		}
		if d.Type()&fs.ModeSymlink != 0 {
			if why := leadsElsewhere(top, path); why != "" {
				fmt.Fprintf(c.io.err, "wipagent: left out %s, a link to %s\n", printable(path), why)
				return nil
			}
		}
		return found(path)
	})
}

// leadsElsewhere says what a link in a folder leads to if that is no file of
// the folder.
func leadsElsewhere(top, link string) string {
	target, err := filepath.EvalSymlinks(link)
	if err != nil {
		return "" // whoever reads it says why that fails
	}
	if top, err = filepath.EvalSymlinks(top); err != nil {
		return ""
	}
	info, err := os.Stat(target)
	rel, outside := filepath.Rel(top, target)
	switch {
	case err == nil && info.IsDir():
		return "a folder"
	case outside != nil || !filepath.IsLocal(rel):
		return "a file outside of the folder"
	}
	return ""
}

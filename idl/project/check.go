package project

import (
	"cmp"
	"io/fs"
	"slices"
	"strings"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/syntax"
)

// Result is what Check found. Documents are named as Project.Name does, in
// spans too.
type Result struct {
	// Diagnostics are sorted by document, then by position. None is there
	// twice.
	Diagnostics []syntax.Diagnostic
	// Documents are the checked ones that are without error, as are all their
	// imports.
	Documents []*idl.Document
	// Files are the trees of all documents that were read, those with errors
	// and the imported ones too, by name.
	Files map[string]*syntax.File
	// Unread are the names of the documents that could not be read, named ones
	// and imported ones. The diagnostics say why.
	Unread []string

	texts map[string][]byte
}

// Source returns the text of a document that was read; the error is
// fs.ErrNotExist for any other. It is an idl.Loader.
func (r *Result) Source(name string) ([]byte, error) {
	text, ok := r.texts[name]
	if !ok {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrNotExist}
	}
	return text, nil
}

// Failed reports whether there is an error among the diagnostics.
func (r *Result) Failed() bool {
	return slices.ContainsFunc(r.Diagnostics, func(d syntax.Diagnostic) bool { return d.Severity == syntax.Error })
}

// Check checks documents, or all in the tree if it is given none: their text,
// their meaning and that of what they import, and their style. Files are
// named absolutely or relative to the root. A text of the overlay, named the
// same way, stands in place of a file, which need not exist. What is wrong
// with a document that is imported is reported where it is, but its style is
// not. The error says why the tree could not be searched.
//
// Check may be called concurrently; the overlay must not change meanwhile.
func (p *Project) Check(overlay map[string][]byte, files ...string) (*Result, error) {
	s := &source{Project: p, overlay: make(map[string][]byte, len(overlay)), texts: map[string][]byte{}}
	for path, text := range overlay {
		s.overlay[p.Name(path)] = text
	}
	names := make([]string, 0, len(files))
	for _, f := range files {
		names = append(names, p.Name(f))
	}
	if len(files) == 0 {
		var err error
		if names, err = p.Documents(p.Root); err != nil {
			return nil, err
		}
		for name := range s.overlay {
			if strings.HasSuffix(name, ".wip") && s.inside(name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)

	found := idl.Check(s.compiler(), names...)
	r := &Result{Documents: found.Documents, Files: make(map[string]*syntax.File, len(found.Files)), Unread: s.unread, texts: s.texts}
	for _, f := range found.Files {
		r.Files[f.Name] = f
	}
	r.Diagnostics = append([]syntax.Diagnostic(found.Faults), p.warnings(r, names)...)
	r.sort()
	return r, nil
}

// inside reports whether a document is in the tree.
func (p *Project) inside(name string) bool { return p.Path(name) != name }

// sort brings the diagnostics into their order, and drops what was found
// twice.
func (r *Result) sort() {
	slices.SortStableFunc(r.Diagnostics, func(a, b syntax.Diagnostic) int {
		return cmp.Or(
			cmp.Compare(a.Span.File, b.Span.File),
			cmp.Compare(a.Span.Start.Offset, b.Span.Start.Offset),
			cmp.Compare(a.Span.End.Offset, b.Span.End.Offset),
			cmp.Compare(a.Severity, b.Severity),
			cmp.Compare(a.Rule, b.Rule),
			cmp.Compare(a.Message, b.Message),
		)
	})
	r.Diagnostics = slices.CompactFunc(r.Diagnostics, func(a, b syntax.Diagnostic) bool {
		return a.Span == b.Span && a.Rule == b.Rule && a.Message == b.Message
	})
}

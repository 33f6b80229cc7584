package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/breaking"
	"github.com/wipagent/wipagent/idl/project"
	"github.com/wipagent/wipagent/idl/syntax"
)

// maxFixChecks is how often the documents of one project are checked to find
// the fixes that do no harm. A check mostly shows that all of them do none.
const maxFixChecks = 100

// maxEdits is how many edits of one document are made at once.
const maxEdits = 1000

// fixing is what becomes of the documents of one command line that are fixed.
type fixing struct {
	set     *documentSet
	docs    map[string]*fixable // by absolute path
	refused map[refusal]bool
	checks  int  // of this project
	stopped bool // there were too many in one
}

// fixable is a document that can be rewritten.
type fixable struct {
	path   string      // as seen from the working directory
	before []byte      // its text as it was read
	info   os.FileInfo // of its file as it was read; nil for stdin
	made   []fixMade
}

// fixMade is a fix that was made.
type fixMade struct {
	Rule  string `json:"rule"`
	Title string `json:"title"`
	Line  int    `json:"line"`
}

// refusal is a fix that does harm, wherever it is in the document.
type refusal struct{ file, rule, message, title string }

// fixedDocument is what became of one document.
type fixedDocument struct {
	File   string    `json:"file"`
	Status string    `json:"status"` // "unchanged", "fixed", "would change" or "failed"
	Fixes  []fixMade `json:"fixes"`
	Text   string    `json:"text,omitempty"`  // of stdin
	Diff   string    `json:"diff,omitempty"`  // where it was asked for
	Error  string    `json:"error,omitempty"` // why it failed
}

// fix fixes the documents, and reports what is left.
func (i *idlCheckCmd) fix(ctx context.Context, c *cli, set *documentSet) error {
	f := &fixing{set: set, docs: map[string]*fixable{}, refused: map[refusal]bool{}}
	f.read(c)
	for at, p := range set.projects {
		if err := f.project(ctx, p, set.files[at]); err != nil {
			return &exitError{exitUnavailable, err}
		}
	}
	if f.stopped {
		c.warn("too many of the fixes do harm to find all of those that do none")
	}
	changed, failed := false, false
	documents := []fixedDocument{}
	for _, path := range slices.Sorted(maps.Keys(f.docs)) {
		doc := f.docs[path]
		d := i.write(doc, set.overlay[path])
		switch d.Status {
		case "failed":
			failed = true
			set.overlay[path] = doc.before
		case "would change":
			changed = true
		}
		documents = append(documents, d)
		if !c.JSON {
			i.print(c, d)
		}
	}
	found, err := set.check()
	if err != nil {
		return err
	}
	left := f.left(found)
	wrong := changed || found.errors > 0 || i.DenyWarnings && found.warnings > 0
	if c.JSON {
		c.printJSON(struct {
			Documents []fixedDocument `json:"documents"`
			Findings  []finding       `json:"diagnostics"` // what is left
			Left      int             `json:"left"`        // how many of them suggest a change
		}{documents, found.json(), left})
		return found.exit(wrong, failed)
	}
	out := c.io.out
	if i.Diff || slices.Contains(i.Files, stdin) {
		out = c.io.err // stdout has the diff, or the text
	}
	if err := c.renderFindings(out, found); err != nil {
		return err
	}
	if left > 0 {
		fmt.Fprintf(out, "left to the author: what to do about %s of those that suggest a change\n", plural(left, "finding"))
	}
	return found.exit(wrong, failed)
}

// left counts the findings of documents that could be rewritten which suggest
// a change that was not made.
func (f *fixing) left(found *findings) int {
	names := map[string]bool{}
	for at, p := range f.set.projects {
		for _, path := range f.set.files[at] {
			names[f.set.name(p, p.Name(path))] = f.docs[path] != nil
		}
	}
	n := 0
	for _, d := range found.list {
		if names[d.Span.File] && len(d.Fixes) > 0 {
			n++
		}
	}
	return n
}

// read reads the documents. What cannot be read, or is no UTF-8, is left to the
// check to say; a second name of a file is left alone.
func (f *fixing) read(c *cli) {
	seen := map[string]bool{}
	for at, p := range f.set.projects {
		for _, path := range f.set.files[at] {
			doc := &fixable{path: f.set.name(p, p.Name(path))}
			if text, ok := f.set.overlay[path]; ok { // stdin
				if !utf8.Valid(text) {
					continue
				}
				doc.path, doc.before = stdin, text
				f.docs[path] = doc
				continue
			}
			target, err := filepath.EvalSymlinks(path)
			if err != nil || seen[target] {
				continue
			}
			seen[target] = true
			doc.before, doc.info, err = c.readDocument(path)
			if err != nil || doc.info.Size() != int64(len(doc.before)) || !utf8.Valid(doc.before) { // of bytes in another encoding nobody knows what they say
				continue
			}
			f.set.overlay[path] = doc.before
			f.docs[path] = doc
		}
	}
}

// project fixes the documents of one project in the overlay.
func (f *fixing) project(ctx context.Context, p *project.Project, files []string) error {
	now, err := p.Check(f.set.overlay, files...)
	if err != nil {
		return err
	}
	f.checks = 0
	for {
		if ctx.Err() != nil {
			return errors.New("interrupted; the documents are as they were")
		}
		next, err := f.attempt(ctx, p, files, now, f.candidates(p, now))
		if err != nil {
			return err
		}
		if next == nil {
			return nil
		}
		now = next
	}
}

// candidates returns the findings of documents that can be rewritten which
// have one fix. Of those that overlap the first is taken; the others come in
// the next round, if they are still there.
func (f *fixing) candidates(p *project.Project, r *project.Result) []syntax.Diagnostic {
	var list []syntax.Diagnostic
	taken := map[string][]syntax.Span{}
	for _, d := range r.Diagnostics {
		if f.docs[p.Path(d.Span.File)] == nil || len(d.Fixes) != 1 || !d.Fixes[0].Safe || f.refused[refusalOf(d)] || len(taken[d.Span.File]) >= maxEdits {
			continue
		}
		file, clash := d.Span.File, false
		for _, e := range d.Fixes[0].Edits {
			clash = clash || slices.ContainsFunc(taken[file], func(s syntax.Span) bool {
				return s.Start.Offset <= e.Span.End.Offset && e.Span.Start.Offset <= s.End.Offset
			})
		}
		if clash {
			continue
		}
		for _, e := range d.Fixes[0].Edits {
			taken[file] = append(taken[file], e.Span)
		}
		list = append(list, d)
	}
	return list
}

func refusalOf(d syntax.Diagnostic) refusal {
	return refusal{d.Span.File, d.Rule, d.Message, d.Fixes[0].Title}
}

// attempt makes the fixes of the findings, or of some of them if together they
// do harm, and returns what is found then; nil if each does harm.
func (f *fixing) attempt(ctx context.Context, p *project.Project, files []string, now *project.Result, list []syntax.Diagnostic) (*project.Result, error) {
	if len(list) == 0 || ctx.Err() != nil {
		return nil, nil
	}
	if f.checks == maxFixChecks {
		f.stopped = true
		return nil, nil
	}
	f.checks++
	overlay := maps.Clone(f.set.overlay)
	byFile := map[string][]syntax.Edit{}
	for _, d := range list {
		byFile[d.Span.File] = append(byFile[d.Span.File], d.Fixes[0].Edits...)
	}
	for file, edits := range byFile {
		path := p.Path(file)
		text, err := syntax.Fix{Edits: edits}.Apply(overlay[path])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		overlay[path] = text
	}
	next, err := p.Check(overlay, files...)
	if err != nil {
		return nil, err
	}
	if harmless(now, next, byFile) {
		f.set.overlay = overlay
		for _, d := range list {
			doc := f.docs[p.Path(d.Span.File)]
			doc.made = append(doc.made, fixMade{d.Rule, d.Fixes[0].Title, d.Span.Start.Line})
		}
		return next, nil
	}
	if len(list) == 1 {
		f.refused[refusalOf(list[0])] = true
		return nil, nil
	}
	half := len(list) / 2
	if next, err := f.attempt(ctx, p, files, now, list[:half]); next != nil || err != nil {
		return next, err
	}
	return f.attempt(ctx, p, files, now, list[half:])
}

// harmless reports whether a change of documents gave none of them more
// errors, and changed nothing for callers of one that was without.
func harmless(before, after *project.Result, changed map[string][]syntax.Edit) bool {
	was, is := errorsOf(before), errorsOf(after)
	for file, n := range is {
		if n > was[file] {
			return false
		}
	}
	var old, now []*idl.Document
	for _, d := range before.Documents {
		at := slices.IndexFunc(after.Documents, func(other *idl.Document) bool { return other.Name == d.Name })
		if at < 0 {
			return false
		}
		if changed[d.Name] != nil {
			old, now = append(old, d), append(now, after.Documents[at])
		}
	}
	return len(breaking.Compare(old, now)) == 0
}

// errorsOf counts the errors of each document.
func errorsOf(r *project.Result) map[string]int {
	n := map[string]int{}
	for _, d := range r.Diagnostics {
		if d.Severity == syntax.Error {
			n[d.Span.File]++
		}
	}
	return n
}

// write puts a document's new text in its file, unless that is only to be
// shown.
func (i *idlCheckCmd) write(doc *fixable, text []byte) fixedDocument {
	d := fixedDocument{File: doc.path, Status: "unchanged", Fixes: doc.made}
	d.Fixes = append([]fixMade{}, d.Fixes...)
	slices.SortStableFunc(d.Fixes, func(a, b fixMade) int { return cmp.Compare(a.Line, b.Line) })
	if doc.info == nil && !i.Diff {
		d.Text = string(text)
	}
	if bytes.Equal(text, doc.before) {
		return d
	}
	d.Status = "fixed"
	if i.Diff {
		d.Status, d.Diff = "would change", diffOf(doc.path, doc.before, text)
	} else if doc.info != nil {
		if err := rewrite(doc.path, doc.info, text); err != nil {
			d.Status, d.Error, d.Fixes = "failed", err.Error(), []fixMade{}
		}
	}
	return d
}

// print says what became of a document.
func (i *idlCheckCmd) print(c *cli, d fixedDocument) {
	out := c.io.out
	switch {
	case d.Status == "failed":
		c.warn("%s", d.Error)
		return
	case i.Diff:
		c.printDiff(d.Diff)
		out = c.io.err
	case d.File == stdin:
		io.WriteString(out, d.Text)
		out = c.io.err
	}
	verb := "fixed"
	if i.Diff {
		verb = "would fix"
	}
	for at, m := range d.Fixes {
		if at == maxShown {
			fmt.Fprintf(out, "and %d fixes more of %s\n", len(d.Fixes)-at, printable(d.File))
			break
		}
		fmt.Fprintf(out, "%s %s:%d: %s [%s]\n", verb, printable(d.File), m.Line, printable(m.Title), m.Rule)
	}
}

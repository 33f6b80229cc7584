package lsp

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/wipagent/wipagent/idl/syntax"
)

// format answers the edit that brings a document into its canonical form. A
// document that does not parse is left as it is, and says so.
func (s *server) format(_ context.Context, p *documentParams) (any, error) {
	d, err := s.open(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	formatted, faults := syntax.Format(d.path, d.bytes)
	if len(faults) > 0 {
		at := d.position(faults[0].Span.Start.Offset)
		return nil, fmt.Errorf("cannot format what does not parse: line %d: %s [%s]", at.Line+1, faults[0].Message, faults[0].Rule)
	}
	return d.edits(string(formatted)), nil
}

// edits returns the edits that make a text into another: at most one, of the
// lines between those that are the same, so that cursors elsewhere stay.
func (t *text) edits(after string) []textEdit {
	if t.src == after {
		return []textEdit{}
	}
	old, lines := strings.SplitAfter(t.src, "\n"), strings.SplitAfter(after, "\n")
	start := 0 // offset of the first line that differs, in both
	for len(old) > 0 && len(lines) > 0 && old[0] == lines[0] {
		start += len(old[0])
		old, lines = old[1:], lines[1:]
	}
	end, afterEnd := len(t.src), len(after)
	for len(old) > 0 && len(lines) > 0 && old[len(old)-1] == lines[len(lines)-1] {
		end, afterEnd = end-len(old[len(old)-1]), afterEnd-len(old[len(old)-1])
		old, lines = old[:len(old)-1], lines[:len(lines)-1]
	}
	return []textEdit{{Range: t.rng(start, end), NewText: after[start:afterEnd]}}
}

// quickFix is the protocol's kind of the actions offered.
const quickFix = "quickfix"

// codeActions answers the fixes of what is wrong on the lines of a range, those
// of what is at the range itself first: something that is missing has no width
// that a cursor could be put on. Behind the fixes of warnings there is what
// silences them.
func (s *server) codeActions(_ context.Context, p *codeActionParams) (any, error) {
	d, err := s.open(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	list := []codeAction{}
	if len(p.Context.Only) > 0 && !slices.ContainsFunc(p.Context.Only, func(kind string) bool { return kind == quickFix || kind == "" }) {
		return list, nil
	}
	r := s.snap.check(d.path)
	lines := textRange{Start: position{Line: p.Range.Start.Line}, End: position{Line: p.Range.End.Line, Character: math.MaxInt32}}
	aside, silence := []codeAction{}, []codeAction{}
	for i := range r.faults[d.path] {
		fault := &r.faults[d.path][i]
		at := d.span(fault.Span)
		if !at.touches(lines) {
			continue
		}
		shown := s.snap.diagnostic(d.uri, d.text, fault, r)
		if edit, ok := d.silence(fault); ok && at.touches(p.Range) {
			silence = append(silence, codeAction{Title: "silence " + fault.Rule + " here: write why behind the comment", Kind: quickFix,
				Diagnostics: []diagnostic{shown}, Edit: &workspaceEdit{Changes: map[string][]textEdit{d.uri: {edit}}}})
		}
		for _, fix := range fault.Fixes {
			edits := make([]textEdit, len(fix.Edits))
			for j, e := range fix.Edits {
				edits[j] = textEdit{Range: d.span(e.Span), NewText: e.Text}
			}
			action := codeAction{Title: fix.Title, Kind: quickFix, Diagnostics: []diagnostic{shown},
				Edit: &workspaceEdit{Changes: map[string][]textEdit{d.uri: edits}}}
			if at.touches(p.Range) {
				action.IsPreferred = fix.Safe
				list = append(list, action)
			} else {
				aside = append(aside, action)
			}
		}
	}
	return slices.Concat(list, aside, silence), nil
}

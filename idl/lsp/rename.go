package lsp

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/wipagent/wipagent/idl/syntax"
)

// prepareRename answers what would be renamed.
func (s *server) prepareRename(_ context.Context, p *positionParams) (any, error) {
	d, err := s.open(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	sym, at := s.snap.symbolAt(d.view(), d.offset(p.Position))
	if sym == nil {
		return nil, nil
	}
	return prepareRename{Range: at, Placeholder: sym.name.Name}, nil
}

// maxName is the length of a name at most, in bytes.
const maxName = 64

// rename answers the edits that rename the symbol at a place.
func (s *server) rename(ctx context.Context, p *renameParams) (any, error) {
	d, err := s.open(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	sym, _ := s.snap.symbolAt(d.view(), d.offset(p.Position))
	if sym == nil {
		return nil, fmt.Errorf("found nothing to rename, expected a name that a document declares")
	}
	return s.snap.renamed(ctx, sym, p.NewName)
}

// renamed returns the edits that rename a symbol wherever it stands in the
// workspace. It refuses a name that cannot be one, and one after which there
// would be faults that were not there before: a clash, a name that bindings
// cannot tell from another, a field that a wrapper hides.
func (s *snapshot) renamed(ctx context.Context, sym *symbol, name string) (*workspaceEdit, error) {
	edit := &workspaceEdit{Changes: map[string][]textEdit{}}
	switch {
	case !isName(name):
		return nil, fmt.Errorf("found the name %.80q, expected letters a to z and A to Z, digits and _, no digit first", name)
	case len(name) > maxName:
		return nil, fmt.Errorf("found a name of %d bytes, expected at most %d", len(name), maxName)
	case name == sym.name.Name:
		return edit, nil
	case sym.kind == aLabel && (name == "true" || name == "false"):
		return nil, fmt.Errorf("found the label %q, which means a bool as a value", name)
	}
	places, whole := s.uses(ctx, sym)
	if !whole {
		return nil, fmt.Errorf("cannot find all uses of %s: %s", sym.name.Name, tooMuch)
	}
	places = append(places, sym.place())
	slices.SortFunc(places, byPlace)
	for _, at := range slices.Compact(places) {
		edit.Changes[at.URI] = append(edit.Changes[at.URI], textEdit{Range: at.Range, NewText: name})
	}
	return edit, s.harmless(ctx, sym, name, edit)
}

// isName reports whether a text is a name of the language.
func isName(s string) bool {
	for i := range len(s) {
		if !isLetter(s[i]) && (i == 0 || !isDigit(s[i])) {
			return false
		}
	}
	return s != ""
}

// clashes are the rules that say best why a name cannot be had; other faults
// may follow from them.
var clashes = []string{"duplicate-name", "colliding-name", "import-clash", "reserved-name", "field-collision"}

// harmless checks the documents of an edit as they would be after it, and those
// that import the one that declares the symbol, and reports a fault that is
// new.
func (s *snapshot) harmless(ctx context.Context, sym *symbol, name string, edit *workspaceEdit) error {
	after := newSnapshot(maps.Clone(s.docs), s.folders, s.projects, s.closed)
	var paths []string
	views, _ := s.workspace(ctx, sym.view.path)
	for _, v := range views {
		edits := edit.Changes[v.uri]
		if len(edits) > 0 {
			d := newDocument(v.uri, v.path, 0, applied(v.text, edits), s.parse)
			after.docs[v.path], after.overlay[v.path] = d, d.bytes
		}
		if len(edits) > 0 || slices.ContainsFunc(v.file.Imports, func(i *syntax.Import) bool {
			return s.resolve(link{v.path, i.Path}) == sym.view.path
		}) {
			paths = append(paths, v.path)
		}
	}
	type key struct{ file, rule string }
	var worst *syntax.Diagnostic
	for _, path := range paths {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		had := map[key]int{}
		for _, d := range s.check(path).Diagnostics {
			had[key{d.Span.File, d.Rule}]++
		}
		for _, d := range after.check(path).Diagnostics {
			k := key{d.Span.File, d.Rule}
			if had[k]--; had[k] >= 0 || d.Severity != syntax.Error {
				continue
			}
			if worst == nil || !slices.Contains(clashes, worst.Rule) && slices.Contains(clashes, d.Rule) {
				worst = &d
			}
		}
	}
	if worst != nil {
		return fmt.Errorf("cannot rename %s to %s: %s [%s]", sym.name.Name, name, worst.Message, worst.Rule)
	}
	return nil
}

// applied returns a text after edits that do not overlap and are sorted.
func applied(t *text, edits []textEdit) string {
	var b strings.Builder
	last := 0
	for _, e := range edits {
		start, end := t.offset(e.Range.Start), t.offset(e.Range.End)
		b.WriteString(t.src[last:start])
		b.WriteString(e.NewText)
		last = end
	}
	b.WriteString(t.src[last:])
	return b.String()
}

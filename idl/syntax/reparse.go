package syntax

import (
	"slices"
	"sort"
)

// Reparse does what Parse does with a text, for those who parse it again at
// each change: it reads only the declarations around what differs from the
// text old, and takes the rest from that text's tree, in which Parse found no
// fault. It does not change that tree, but the two share nodes.
//
// A fault beyond the neighbours of what differs, or in the clauses before all
// declarations, costs as much as Parse.
func Reparse(whole *File, old, src []byte) (*File, []Diagnostic) {
	if tree, faults, ok := reparse(whole, old, src); ok {
		return tree, faults
	}
	return Parse(whole.Name, src)
}

// reparse reads a window of whole declarations: those that differ, the one
// before and the one behind. A valid declaration leaves nothing behind that
// the next depends on, so if both came out as they were, so do all others.
func reparse(whole *File, old, src []byte) (*File, []Diagnostic, bool) {
	if len(src) > MaxTokens { // so that no limit is passed
		return nil, nil, false
	}
	start, end := difference(old, src)
	decls := whole.Decls
	before := endingAfter(decls, start) - 1 // the neighbour before
	if before < 0 {
		return nil, nil, false
	}
	behind := max(endingAfter(decls, end), before+1) + 1 // and the one behind
	move := shift{bytes: len(src) - len(old)}
	text, last := src, Span{}
	if behind < len(decls) {
		last = spanOf(decls[behind])
		text = src[:last.End.Offset+move.bytes]
	}

	tree := &File{Name: whole.Name, Package: whole.Package, Version: whole.Version, Imports: slices.Clip(whole.Imports), Span: whole.Span}
	first := spanOf(decls[before])
	tree, faults := parseFrom(tree, string(text), first.Start)
	n := len(tree.Decls) - 1
	if n < 0 || spanOf(tree.Decls[0]) != first || len(faults) >= MaxDiagnostics {
		return nil, nil, false
	}
	for i := range faults {
		if d := &faults[i]; d.Span.Start.Offset < first.End.Offset || d.Rule == RuleHeaderOrder || d.Rule == RuleUnterminatedComment {
			return nil, nil, false
		}
	}
	if behind < len(decls) {
		now := spanOf(tree.Decls[n])
		move.line, move.lines, move.cols = last.End.Line, now.End.Line-last.End.Line, now.End.Col-last.End.Col
		if n == 0 || now.End.Offset != len(text) || tree.Decls[n].DeclName().Name != decls[behind].DeclName().Name ||
			now.End.Offset-now.Start.Offset != last.End.Offset-last.Start.Offset {
			return nil, nil, false
		}
		if i := len(faults) - 1; i >= 0 && faults[i].Span.Start.Offset > now.Start.Offset {
			return nil, nil, false
		}
		tree.Span.End = move.pos(whole.Span.End)
	}
	tree.Decls = slices.Concat(decls[:before], tree.Decls)
	tree.Decls[before] = decls[before] // with what documents it
	for _, d := range decls[min(behind+1, len(decls)):] {
		tree.Decls = append(tree.Decls, move.decl(d))
	}
	return tree, faults, true
}

// difference returns the stretch of a text outside of which another is the
// same.
func difference(old, src []byte) (start, end int) {
	most := min(len(old), len(src))
	for start < most && old[start] == src[start] {
		start++
	}
	same := 0
	for same < most-start && old[len(old)-1-same] == src[len(src)-1-same] {
		same++
	}
	return start, len(old) - same
}

// endingAfter returns the index of the first declaration that ends behind an
// offset.
func endingAfter(decls []Decl, off int) int {
	return sort.Search(len(decls), func(i int) bool { return spanOf(decls[i]).End.Offset > off })
}

// spanOf returns where a declaration stands.
func spanOf(d Decl) Span {
	switch d := d.(type) {
	case *Interface:
		return d.Span
	case *Record:
		return d.Span
	case *Enum:
		return d.Span
	}
	return Span{}
}

// Package syntax reads the text of IDL documents: what is written, not what
// it means. Parse returns a tree with exact spans and every fault of the text
// at once; the tree holds all that could be recovered.
//
// The text is hostile until proven otherwise. Its size, its number of tokens,
// the nesting of its types and the number of faults reported are limited, and
// time is linear in its length.
package syntax

import (
	"errors"
	"fmt"
	"unicode/utf8"
)

// The limits of one document.
const (
	MaxSource      = 1 << 20 // bytes of text; who reads one more may leave the rest
	MaxTokens      = 1 << 18 // tokens, comments not counted
	MaxTypeDepth   = 32      // types within types, the outermost counted
	MaxDiagnostics = 100     // faults reported; one more says that there are more
)

// Parse reads one document. The name is that which spans carry; it is not
// opened. The file is never nil, and whole if there are no diagnostics. They
// are sorted by position, complete up to MaxDiagnostics, and name no fault
// twice. Parse keeps no reference to src, and is safe for concurrent use.
//
// Spec: spec/idl.md
func Parse(name string, src []byte) (*File, []Diagnostic) {
	tree := newFile(name)
	if len(src) > MaxSource {
		d := Diagnostic{Rule: RuleTooLarge, Span: tree.Span,
			Message: fmt.Sprintf("found more than %d bytes, expected at most so many", MaxSource), Hint: "divide it into files that import each other"}
		return tree, []Diagnostic{d}
	}
	return parseFrom(tree, string(src), Pos{})
}

// parseFrom reads a text, from a place on if that is not its start, into a tree
// that has what stands before it.
func parseFrom(before *File, text string, from Pos) (*File, []Diagnostic) {
	tree := *before
	faults, err := parseValid(&tree, text, from)
	if err != nil {
		tree = *before
		faults = parseFaulty(&tree, text, from, err)
	}
	return &tree, suggest(tree.Name, text, from, faults)
}

// parseValid reads a text that the grammar matches, and returns what is wrong
// beside the grammar. The error is that the grammar does not match.
func parseValid(tree *File, text string, from Pos) ([]Diagnostic, error) {
	if !utf8.ValidString(text) {
		return nil, errNotUTF8
	}
	s := newScanner(tree.Name, text, from)
	b := &builder{scanner: s, tree: tree}
	for {
		t, err := s.next()
		if err != nil {
			return nil, err
		}
		if t.EOF() {
			tree.Span.End = endOf(&t)
			b.whole()
			return b.finish(), nil
		}
		it, err := parseItem(s, t)
		if err != nil {
			return nil, err
		}
		b.item(it)
	}
}

var errNotUTF8 = errors.New("not UTF-8")

// parseFaulty reads a text that the grammar does not match, which is why.
func parseFaulty(tree *File, text string, from Pos, err error) []Diagnostic {
	s := scanFrom(tree.Name, text, from)
	tree.Span.End = endOf(&s.toks[len(s.toks)-1])
	b := &builder{scanner: s, tree: tree}
	switch {
	case s.tooMany:
		b.report(Diagnostic{Rule: RuleTooLarge, Span: over(&s.toks[MaxTokens]),
			Message: fmt.Sprintf("found more than %d tokens, expected fewer", MaxTokens), Hint: "divide it into files that import each other"})
	case len(s.faults) <= MaxDiagnostics:
		newRecovery(b).file()
		if len(s.faults)+len(b.faults) == 0 { // what the grammar refuses is never accepted
			b.refused(err)
		}
	}
	return b.finish()
}

// newFile returns a file without content, whose span ends where it starts
// until the last line is known.
func newFile(name string) *File {
	return &File{Name: name, Span: Span{File: name, Start: Pos{Line: 1, Col: 1}, End: Pos{Line: 1, Col: 1}}}
}

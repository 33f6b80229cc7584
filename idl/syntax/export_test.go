package syntax

import "github.com/alecthomas/participle/v2/lexer"

// ParsePieces parses as Parse does after the grammar did not match.
func ParsePieces(name string, src []byte) (*File, []Diagnostic) {
	tree := newFile(name)
	b := &builder{scanner: scan(name, string(src)), tree: tree}
	tree.Span.End = endOf(&b.toks[len(b.toks)-1])
	newRecovery(b).file()
	return tree, b.finish()
}

// Scan returns the tokens of a text and the faults among them.
func Scan(name, text string) ([]lexer.Token, []Diagnostic) {
	s := scan(name, text)
	return s.toks, s.faults
}

// Grammar returns the grammar in EBNF.
func Grammar() string { return grammar().String() }

// Unquote returns what a string token stands for.
func Unquote(raw string) string { return unquote(raw) }

// Definition is the lexer.
var Definition lexer.Definition = definition{}

// Matches reports whether the grammar, and what parses itself in it, matches
// a text without lexical faults.
func Matches(name, src string) bool {
	_, err := parseValid(newFile(name), src, Pos{})
	return err == nil
}

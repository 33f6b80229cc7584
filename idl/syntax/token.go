package syntax

import (
	"errors"
	"fmt"
	"io"

	"github.com/alecthomas/participle/v2/lexer"
)

// The types of token. A token of punctuation has its first byte as its type,
// but for the two-byte ones.
const (
	tokIdent lexer.TokenType = -(iota + 2) // lexer.EOF is -1
	tokString
	tokNumber
	tokQuantity // a number with a unit
	tokArrow    // ->
	tokDots     // ..
)

// definition is the language's lexer in the form that participle takes.
type definition struct{}

var (
	_ lexer.Definition       = definition{}
	_ lexer.StringDefinition = definition{}
)

// Symbols names the token types that the grammar's tags refer to.
func (definition) Symbols() map[string]lexer.TokenType {
	return map[string]lexer.TokenType{
		"EOF": lexer.EOF, "Ident": tokIdent, "String": tokString, "Number": tokNumber, "Quantity": tokQuantity,
	}
}

// Lex reads at most MaxSource bytes of r.
func (d definition) Lex(name string, r io.Reader) (lexer.Lexer, error) {
	src, err := io.ReadAll(io.LimitReader(r, MaxSource+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return d.LexString(name, string(src))
}

// LexString returns the tokens of text, or the first fault among them.
func (definition) LexString(name, text string) (lexer.Lexer, error) {
	if len(text) > MaxSource {
		return nil, errors.New("source text is too large")
	}
	s := scan(name, text)
	if len(s.faults) > 0 {
		return nil, s.faults[0]
	}
	return &tokenLexer{toks: s.toks, to: len(s.toks) - 1}, nil
}

// tokenLexer hands out the tokens [next, to) that are already there, and then
// the end.
type tokenLexer struct {
	toks     []lexer.Token
	next, to int
}

// Next returns the next token.
func (l *tokenLexer) Next() (lexer.Token, error) {
	if l.next >= l.to {
		return lexer.EOFToken(l.toks[l.to].Pos), nil
	}
	l.next++
	return l.toks[l.next-1], nil
}

// startOf returns where t starts.
func startOf(t *lexer.Token) Pos {
	return Pos{Offset: t.Pos.Offset, Line: t.Pos.Line, Col: t.Pos.Column}
}

// endOf returns the place behind t. No token spans lines.
func endOf(t *lexer.Token) Pos {
	return Pos{Offset: t.Pos.Offset + len(t.Value), Line: t.Pos.Line, Col: t.Pos.Column + len(t.Value)}
}

// between returns the span from the start of first to the end of last.
func between(first, last *lexer.Token) Span {
	return Span{File: first.Pos.Filename, Start: startOf(first), End: endOf(last)}
}

// over returns the span of t.
func over(t *lexer.Token) Span { return between(t, t) }

// behind returns the empty span behind t: where something is missing.
func behind(t *lexer.Token) Span {
	return Span{File: t.Pos.Filename, Start: endOf(t), End: endOf(t)}
}

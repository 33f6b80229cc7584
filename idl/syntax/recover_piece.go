package syntax

import (
	"slices"
	"strings"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// piece parses the tokens [from, to) as one production and reports what is
// wrong. A missing semicolon is supplied. It returns nil if nothing can be
// made of the piece, and the index behind what was read.
func piece[P any](r *recovery, p *participle.Parser[P], from, to int, more, hint string) (*P, int) {
	node, err := parse(p, r.toks, from, to)
	if err == nil {
		return node, to
	}
	i, d := r.explain(err, from, to, more, hint)
	if d.Rule != RuleMissingSemicolon {
		r.fail(from, to, d)
		if sign := missingSign(&d, r.tok(i)); sign != 0 {
			return mended(r, p, from, i, to, sign), to
		}
		return nil, to
	}
	node = mended(r, p, from, i, i, ';')
	r.fail(from, i, d)
	r.lastFound = -1 // what comes next is not to blame
	if r.is(i, ',') {
		i++
	}
	return node, i
}

// missingSign returns the sign that is missing before the token found, if that
// is all that is wrong.
func missingSign(d *Diagnostic, found *lexer.Token) lexer.TokenType {
	switch {
	case d.Rule == RuleUnclosedAngle && found.Type != tokIdent:
		return '>'
	case d.Rule == RuleUnexpectedToken && strings.HasSuffix(d.Message, `expected ":" and a type`) && found.Type == tokIdent:
		return ':'
	}
	return 0
}

// mended parses the tokens [from, to) with a sign more before the one at i,
// where it takes no room. It returns nil if more is wrong.
func mended[P any](r *recovery, p *participle.Parser[P], from, i, to int, sign lexer.TokenType) *P {
	more := lexer.Token{Type: sign, Pos: r.tok(i).Pos}
	if sign == ';' { // participle looks at the text
		more.Value = ";"
	} else if i > 0 {
		end := endOf(&r.toks[i-1])
		more.Pos.Offset, more.Pos.Line, more.Pos.Column = end.Offset, end.Line, end.Col
	}
	toks := append(slices.Clone(r.toks[from:i]), more)
	toks = append(append(toks, r.toks[i:to]...), *r.tok(to))
	node, err := parse(p, toks, 0, len(toks)-1)
	if err != nil {
		return nil
	}
	return node
}

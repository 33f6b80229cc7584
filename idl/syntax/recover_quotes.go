package syntax

import (
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/participle/v2/lexer"
)

// Names in quotes, as JSON and YAML have them, are reported before the pieces
// are cut, and then read as the names that they are, so that one hides nothing
// of what stands beside it.

// quotedNames looks for strings where only names can stand.
type quotedNames struct {
	*recovery
	word  string // the keyword of the block; "" if none is open
	depth int    // of braces in the block, its own counted
	args  []bool // by open parenthesis: whether it holds an annotation's arguments
	fault int    // the first lexical fault that is not before the current token
}

// unquoteNames reports names in quotes and makes them names.
func (r *recovery) unquoteNames() {
	q := &quotedNames{recovery: r}
	for i := range r.toks {
		switch t := &r.toks[i]; t.Type {
		case '{':
			q.args = q.args[:0]
			if q.depth++; q.depth == 1 {
				q.word = r.blockWord(i)
			}
		case '}':
			q.args = q.args[:0]
			q.depth = max(q.depth-1, 0)
			if q.depth == 0 || r.startsLine(i) {
				q.depth, q.word = 0, ""
			}
		case ';':
			q.args = q.args[:0]
		case '(':
			q.args = append(q.args, i > 1 && r.is(i-2, '@'))
		case ')':
			q.args = q.args[:max(len(q.args)-1, 0)]
		case tokString:
			if rule, expected := q.place(i); rule != "" {
				q.name(i, rule, expected)
			}
		default:
			if q.depth > 0 && r.startsDeclaration(i, 1) { // the block was never closed
				q.depth, q.word, q.args = 0, "", q.args[:0]
			}
		}
	}
}

// blockWord returns the keyword of the block that the brace at i opens, as far
// as that stands there.
func (r *recovery) blockWord(i int) string {
	for k := i - 1; k >= max(i-2, 0); k-- {
		if word := r.toks[k].Value; isTopWord(word) {
			return word
		}
	}
	if i > 1 && r.is(i-2, tokIdent) { // misspelt
		return r.toks[i-2].Value
	}
	return ""
}

// place says what is expected in place of the string at i, and the rule that it
// breaks, or nothing if it may stand there or something else is wrong.
func (q *quotedNames) place(i int) (rule, expected string) {
	before, next := lexer.TokenType(0), q.tok(i+1).Type
	word := ""
	if i > 0 {
		before, word = q.toks[i-1].Type, q.toks[i-1].Value
	}
	inArgs := len(q.args) > 0 && q.args[len(q.args)-1]
	first := before != '=' && before != tokString && // what begins a member
		(before != tokIdent || i > 1 && q.is(i-2, '@') || q.startsLine(i) && word != "matching")
	switch {
	case before == tokIdent && next == '{' && (word == "interface" || word == "record" || word == "enum"):
		return RuleMissingName, "the name of the " + word
	case q.word == "" || q.depth != 1:
	case before == '@':
		return RuleMissingName, `an annotation's name behind "@"`
	case inArgs:
		if next == ':' && (before == '(' || before == ',') {
			return RuleMissingName, "an argument's name"
		}
	case q.word == "enum":
		if first {
			return RuleMissingName, "a label"
		}
	case before == ':' || before == tokArrow || before == '<':
		if next != tokIdent { // else it is what is too much
			return RuleMissingType, "a type"
		}
	case !first:
	case next == ':' && len(q.args) > 0:
		return RuleMissingName, "a parameter"
	case next == ':':
		return RuleUnexpectedToken, `a field or "}"`
	case next == '(' && len(q.args) == 0:
		return RuleUnexpectedToken, `an operation or "}"`
	}
	return "", ""
}

// name reports the string at i, unless the scanner did, and makes a name of it
// if its words could be one there.
func (q *quotedNames) name(i int, rule, expected string) {
	t := &q.toks[i]
	start, end := t.Pos.Offset, t.Pos.Offset+len(t.Value)
	faults := q.scanner.faults
	for q.fault < len(faults) && faults[q.fault].Span.Start.Offset < start {
		q.fault++
	}
	known := q.fault < len(faults) && faults[q.fault].Span.Start.Offset < end
	words := unquote(t.Value)
	switch {
	case known && (faults[q.fault].Rule != RuleBadCharacter || !isPath(words)):
		return
	case rule == RuleMissingType && (!isPath(words) || strings.Contains(words, ".")):
		return // reported where the type is read
	}
	if !known {
		q.report(q.unexpected(i, rule, expected, ""))
	}
	t.Type = tokIdent
}

// quotedIdent returns the name that a token in quotes is: what is in them, or
// all of it if that cannot be a name.
func quotedIdent(t *lexer.Token) Ident {
	words, name := unquote(t.Value), Ident{Name: t.Value, Span: over(t)}
	_, first := utf8.DecodeRuneInString(t.Value)
	if !isPath(words) || strings.Contains(words, ".") || !strings.HasPrefix(t.Value[first:], words) {
		return name
	}
	name.Name = words
	name.Span.Start.Offset += first
	name.Span.Start.Col += first
	name.Span.End = name.Span.Start
	name.Span.End.Offset += len(words)
	name.Span.End.Col += len(words)
	return name
}

// isQuoted reports whether a token begins with a quote of any kind.
func isQuoted(t *lexer.Token) bool {
	r, _ := utf8.DecodeRuneInString(t.Value)
	return r == '"' || strings.ContainsRune(otherQuotes, r)
}

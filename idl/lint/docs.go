package lint

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/wipagent/wipagent/idl/syntax"
)

// What is read with each operation, in characters.
const (
	defaultMaxSentence = 120
	defaultMaxDoc      = 400
)

// doc checks the documentation of one thing; owner is the name around it, empty
// of a declaration, whose name may say it all.
func (l *linter) doc(id syntax.Ident, kind, doc, owner string) {
	doc = strings.Join(strings.Fields(doc), " ")
	if doc == "" {
		if l.cfg.needsDoc(kind) {
			l.report(RuleDocMissing, id.Span, "say it in one short sentence behind ///", "found %s %q without documentation", kind, id.Name)
		}
		return
	}
	sentence, most := firstSentence(doc), or(l.cfg.MaxSentence, defaultMaxSentence)
	whole, mostWhole := utf8.RuneCountInString(doc), or(l.cfg.MaxDoc, defaultMaxDoc)
	switch n := utf8.RuneCountInString(sentence); {
	case n > most:
		l.report(RuleDocLong, id.Span, "begin with what a reader must know to choose; a model reads this each time",
			"found a first sentence of %d characters on %q, expected at most %d", n, id.Name, most)
	case whole > mostWhole:
		l.report(RuleDocLong, id.Span, "a model reads this each time: what programmers need goes into // comments",
			"found a documentation of %d characters on %q, expected at most %d", whole, id.Name, mostWhole)
	case owner != "" && restates(doc, id.Name, owner):
		l.report(RuleDocRestates, id.Span, "say what the name does not, or remove it", "found the documentation %q, which says no more than the name %q", doc, id.Name)
	}
}

// firstSentence returns a text up to the first full stop, question or
// exclamation mark behind which something new begins.
func firstSentence(text string) string {
	for i, r := range text {
		if r != '.' && r != '!' && r != '?' {
			continue
		}
		rest, ok := strings.CutPrefix(text[i+1:], " ")
		next, _ := utf8.DecodeRuneInString(rest)
		if ok && !unicode.IsLower(next) {
			return text[:i+1]
		}
	}
	return text
}

// fillers are words that say nothing by themselves.
var fillers = []string{"a", "an", "the", "of", "this", "that", "its", "is", "s", "for", "to", "value"}

// restates reports whether each word of a documentation stands in the names.
func restates(doc, name, owner string) bool {
	said := append(words(name), words(owner)...)
	for i := range said {
		said[i] = singular(said[i])
	}
	for _, w := range strings.FieldsFunc(strings.ToLower(doc), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if !slices.Contains(fillers, w) && !slices.Contains(said, singular(w)) {
			return false
		}
	}
	return true
}

func singular(word string) string {
	if len(word) > 3 {
		return strings.TrimSuffix(word, "s")
	}
	return word
}

package lint

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/wipagent/wipagent/idl/syntax"
)

var (
	isPackage = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*(\.[a-z][a-z0-9]*(_[a-z0-9]+)*)*$`)
	isPascal  = regexp.MustCompile(`^[A-Z][A-Za-z0-9]*$`)
	isSnake   = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
)

func (l *linter) packageCase(u *unit) {
	if p := u.file.Package; p != nil && !isPackage.MatchString(p.Name) {
		l.report(RulePackageCase, p.Span, "", "found package %q, expected lower case with dots, such as %q", p.Name, strings.ToLower(p.Name))
	}
}

func (l *linter) declarationCase(id syntax.Ident, kind string) {
	if isPascal.MatchString(id.Name) {
		suffix := strings.ToUpper(kind[:1]) + kind[1:]
		if rest, ok := strings.CutSuffix(id.Name, suffix); ok && rest != "" {
			l.report(RuleNameStutter, id.Span, "call it "+rest, "found %s %q, whose name says that it is one", kind, id.Name)
			return
		}
		l.doubled(id, kind)
		return
	}
	l.report(RuleDeclarationCase, id.Span, "", "found %s %q, expected PascalCase, such as %q", kind, id.Name, pascal(id.Name))
}

func (l *linter) memberCase(id syntax.Ident, kind string) {
	if isSnake.MatchString(id.Name) {
		l.doubled(id, kind)
		return
	}
	want := strings.Join(words(id.Name), "_")
	d := l.report(RuleMemberCase, id.Span, "", "found %s %q, expected snake_case, such as %q", kind, id.Name, want)
	if kind == "field" || kind == "operation" { // nothing in documents refers to them
		d.Fixes = append(d.Fixes, syntax.Fix{Title: "rename it to " + want, Edits: []syntax.Edit{{Span: id.Span, Text: want}}})
	}
}

// doubled reports a word that stands twice in a row.
func (l *linter) doubled(id syntax.Ident, kind string) {
	list := words(id.Name)
	for i := 1; i < len(list); i++ {
		if list[i] == list[i-1] && unicode.IsLetter(rune(list[i][0])) {
			l.report(RuleNameStutter, id.Span, "", "found %s %q, which says %q twice", kind, id.Name, list[i])
			return
		}
	}
}

// stutter reports a member whose name repeats that of its owner. An ID keeps
// the name of what it identifies, since it is handed on without its owner.
func (l *linter) stutter(id syntax.Ident, kind, ownerKind, owner string) {
	prefix := strings.Join(words(owner), "_") + "_"
	rest, ok := strings.CutPrefix(strings.Join(words(id.Name), "_"), prefix)
	if !ok || kind == "field" && slices.Contains([]string{"id", "ids", "uuid"}, rest) || unicode.IsDigit(rune(rest[0])) {
		return
	}
	l.report(RuleNameStutter, id.Span, "call it "+rest, "found %s %q, which repeats the name of its %s %q", kind, id.Name, ownerKind, owner)
}

// words divides a name at underscores and capitals, and returns its words in
// lower case: HTTPServer_port2 is http, server, port2. A name without letters
// and digits is one word.
func words(name string) []string {
	var list []string
	start := 0
	add := func(end int) {
		if end > start {
			list = append(list, strings.ToLower(name[start:end]))
		}
		start = end
	}
	upper := func(i int) bool { return i < len(name) && name[i] >= 'A' && name[i] <= 'Z' }
	lower := func(i int) bool { return i < len(name) && name[i] >= 'a' && name[i] <= 'z' }
	for i := range len(name) {
		switch {
		case name[i] == '_':
			add(i)
			start = i + 1
		case i > start && upper(i) && (!upper(i-1) || lower(i+1)):
			add(i)
		}
	}
	add(len(name))
	if len(list) == 0 {
		return []string{name}
	}
	return list
}

// pascal returns a name in PascalCase.
func pascal(name string) string {
	var b strings.Builder
	for _, w := range words(name) {
		b.WriteString(strings.ToUpper(w[:1]) + w[1:])
	}
	return b.String()
}

// fold returns what names have in common that differ only by capitals and
// underscores.
func fold(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

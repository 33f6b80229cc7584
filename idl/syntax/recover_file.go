package syntax

import (
	"strings"

	"github.com/agnivade/levenshtein"
)

// file reads the whole text.
func (r *recovery) file() {
	for len(r.faults) <= MaxDiagnostics {
		start := r.i
		at := r.annotated(start, inFile)
		if r.tok(at).EOF() {
			if at > start {
				r.annotations(start, at, inFile)
				r.fail(start, at, r.unexpected(at, RuleUnexpectedToken, "a declaration behind the annotation", ""))
			}
			break
		}
		word := r.toks[at].Value
		if r.is(at, tokIdent) && !isTopWord(word) {
			word = r.guess(at)
		}
		switch word {
		case "package", "version", "import":
			r.clause(start, at, word)
		case "interface", "record", "enum":
			r.declaration(start, at, word)
		default:
			r.garbage(start, at)
		}
	}
	r.strayDocs()
	if !r.hasPackage && !r.broken {
		r.missingPackage()
	}
}

func isTopWord(word string) bool {
	switch word {
	case "package", "version", "import", "interface", "record", "enum":
		return true
	}
	return false
}

// otherWords are what other languages call our declarations.
var otherWords = map[string]string{
	"struct": "record", "message": "record", "type": "record", "class": "record", "object": "record",
	"service": "interface", "protocol": "interface", "trait": "interface", "include": "import", "module": "package",
	"namespace": "package",
}

// guess returns the keyword that was meant by the word at i, and reports it,
// or returns "".
func (r *recovery) guess(i int) string {
	word := r.toks[i].Value
	if len(word) > 20 {
		return ""
	}
	var keywords []string
	switch next, third := r.tok(i+1).Type, r.tok(i+2).Type; {
	case next == '{' || next == tokIdent && third == '{':
		keywords = []string{"interface", "record", "enum"}
	case next == tokIdent && (third == ';' || third == '.'):
		keywords = []string{"package"}
	case next == tokString:
		keywords = []string{"import"}
	case next == tokNumber:
		keywords = []string{"version"}
	}
	for _, k := range keywords {
		if otherWords[word] == k || levenshtein.ComputeDistance(strings.ToLower(word), k) <= 2 {
			r.fail(i, i+1, r.unexpected(i, RuleUnexpectedToken, quote(k), "write "+quote(k)))
			r.toks[i].Value = k
			return k
		}
	}
	return ""
}

// clause reads a clause of the header, whose keyword stands at the index at.
func (r *recovery) clause(start, at int, word string) {
	if at > start {
		r.annotations(start, at, inFile)
		r.fail(start, at, Diagnostic{Rule: RuleUnexpectedToken, Span: between(r.toks[start], r.toks[at-1]),
			Message: "found an annotation before the " + word + " clause, expected none",
			Hint:    "annotations stand before interface, record and enum, and before their members"})
	}
	end := at + 1
	for ; ; end++ {
		if t := r.tok(end); t.EOF() || t.Type == '{' || t.Type == '}' || t.Type == '@' || r.startsDeclaration(end, anyColumn) {
			break
		}
		if r.is(end, ';') {
			end++
			break
		}
	}
	switch word {
	case "package":
		r.hasPackage = true
		c, next := piece(r, r.grammar.packageClause, at, end, "", "write package name;")
		if r.i = next; c != nil {
			r.packageClause(c)
		}
	case "version":
		c, next := piece(r, r.grammar.versionClause, at, end, "", "write version 1;")
		if r.i = next; c != nil {
			r.versionClause(c.Number)
		}
	case "import":
		c, next := piece(r, r.grammar.importClause, at, end, "", `write import "name.wip";`)
		if r.i = next; c != nil {
			r.importClause(c.Path)
		}
	}
}

// garbage reports that nothing known starts here and moves to what does.
func (r *recovery) garbage(start, at int) {
	expected := "interface, record or enum"
	if len(r.tree.Decls) == 0 {
		expected = "package, version, import, interface, record or enum"
	}
	hint := ""
	switch r.tok(at).Type {
	case '}':
		hint = "it closes nothing: remove it, or the brace that closes too early before it"
	case ';':
		hint = "remove it"
	}
	r.i = at + 1
	for !r.tok(r.i).EOF() && !r.startsDeclaration(r.i, anyColumn) {
		if r.is(r.i, '@') && r.startsLine(r.i) {
			behind := r.annotated(r.i, inFile)
			if r.startsDeclaration(behind, anyColumn) {
				break
			}
			r.i = behind
			continue
		}
		r.i++
	}
	r.fail(start, r.i, r.unexpected(at, RuleUnexpectedToken, expected, hint))
}

// annotations parses the annotations in the tokens [from, to).
func (r *recovery) annotations(from, to int, in scope) []*Annotation {
	var all []*Annotation
	for i := from; i < to; {
		end := r.annotationEnd(i, in)
		if a, _ := piece(r, r.grammar.annotation, i, end, "", ""); a != nil {
			all = append(all, a.Annotation.Annotation)
		}
		i = end
	}
	return all
}

// declaration reads an interface, record or enum, whose keyword stands at the
// index at.
func (r *recovery) declaration(start, at int, word string) {
	anns := r.annotations(start, at, inFile)
	r.i = at + 1
	r.unbalanced = false
	var name Ident
	if r.is(r.i, tokIdent) && !r.startsDeclaration(r.i, anyColumn) {
		name = Ident{Name: r.toks[r.i].Value, Span: over(r.toks[r.i])}
		r.i++
	} else {
		r.fail(at, r.i, r.unexpected(r.i, RuleMissingName, "the name of the "+word, ""))
	}
	in := inRecord
	if word == "interface" {
		in = inInterface
	}
	opening, ok := r.block(at, name.Name != "", word, in)
	first := r.toks[start]
	doc := ""
	if name.Name != "" {
		doc = r.doc(first.Pos.Offset, name)
	}
	var decl Decl
	switch column := r.toks[at].Pos.Column; word {
	case "interface":
		d := &Interface{Doc: doc, Annotations: anns, Name: name}
		for ok && r.more(word, name.Name, in, opening, column) {
			if o := r.operation(column); o != nil {
				d.Operations = append(d.Operations, o)
			}
		}
		d.Span = between(first, r.toks[r.i-1])
		decl = d
	case "record":
		d := &Record{Doc: doc, Annotations: anns, Name: name}
		for ok && r.more(word, name.Name, in, opening, column) {
			if f := r.field(column); f != nil {
				d.Fields = append(d.Fields, f)
			}
		}
		d.Span = between(first, r.toks[r.i-1])
		decl = d
	default:
		d := &Enum{Doc: doc, Annotations: anns, Name: name}
		if ok {
			d.Labels = r.labels(name.Name, opening, column)
		}
		d.Span = between(first, r.toks[r.i-1])
		decl = d
	}
	r.open = false
	if name.Name != "" {
		r.tree.Decls = append(r.tree.Decls, decl)
	}
}

// block enters the block of a declaration, whose keyword stands at the index
// at. It returns the index of the opening brace and whether there is anything
// to read. A missing brace is reported if named; without a name, there is a
// fault already.
func (r *recovery) block(at int, named bool, word string, in scope) (opening int, ok bool) {
	if !r.is(r.i, '{') {
		found := r.i
		member := r.startsMember(found, in) || r.is(found, '@')
		if word == "enum" {
			member = r.is(found, tokIdent) && (r.is(found+1, ',') || r.is(found+1, '}'))
		}
		for !member && !r.is(r.i, '{') {
			if t := r.tok(r.i); t.EOF() || t.Type == '}' || t.Type == ';' || r.startsDeclaration(r.i, anyColumn) {
				break
			}
			r.i++
		}
		if named {
			r.fail(at, max(r.i, at+1), r.unexpected(found, RuleUnexpectedToken, `"{" behind the name of the `+word, ""))
		}
		switch {
		case member:
			r.unbalanced, r.open = true, true
			return at, true
		case !r.is(r.i, '{'):
			if r.is(r.i, ';') || r.is(r.i, '}') {
				r.i++
			}
			return at, false
		}
	}
	r.i++
	r.open = true
	return r.i - 1, true
}

// more reports whether a member follows in the block. If the block ends, it
// is left; one that is never closed is reported.
func (r *recovery) more(word, name string, in scope, opening, column int) bool {
	if len(r.faults) > MaxDiagnostics {
		return false
	}
	at := r.annotated(r.i, in)
	switch t := r.tok(at); {
	case t.Type == '}':
		if at > r.i {
			r.annotations(r.i, at, in)
			r.fail(at, at, r.unexpected(at, RuleUnexpectedToken, "something behind the annotation that it can belong to", ""))
		}
		r.i = at + 1
		return false
	case t.EOF():
		r.i = at
	case !r.startsDeclaration(at, column):
		return true
	}
	r.unclosed(word, name, opening)
	return false
}

// unclosed reports that a block is open at the next token.
func (r *recovery) unclosed(word, name string, opening int) {
	r.open = false
	if r.unbalanced {
		return
	}
	what := `"}" to close the ` + word
	if name != "" {
		what += " " + quote(name)
	}
	d := r.unexpected(r.i, RuleUnclosedBrace, what, `close the block with "}"`)
	d.Related = []Related{{Span: over(r.toks[opening]), Message: "opened here"}}
	r.fail(r.i, r.i, d)
}

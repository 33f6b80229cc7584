package syntax

import (
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/alecthomas/participle/v2/lexer"
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
		r.fail(start, at, Diagnostic{Rule: RuleUnexpectedToken, Span: between(&r.toks[start], &r.toks[at-1]),
			Message: "found an annotation before the " + word + " clause, expected none",
			Hint:    "annotations stand before interface, record and enum, and before their members"})
	}
	end := at + 1
	for !r.endsClause(end) {
		if r.is(end, ';') {
			end++
			break
		}
		end++
	}
	r.lastEnd = -1
	switch word {
	case "package":
		r.hasPackage = true
		c, next := piece(r, r.pieces.packageClause, at, end, "", "write package name;")
		r.leaveClause(next)
		if c != nil {
			r.packageClause(c)
		}
	case "version":
		c, next := piece(r, r.pieces.versionClause, at, end, "", "write version 1;")
		r.leaveClause(next)
		if c != nil {
			r.versionClause(&c.Number)
		}
	case "import":
		c, next := piece(r, r.pieces.importClause, at, end, "", `write import "name.wip";`)
		r.leaveClause(next)
		if c != nil {
			r.importClause(&c.Path)
		}
	}
}

// endsClause reports whether what is at i cannot belong to a clause before it.
func (r *recovery) endsClause(i int) bool {
	t := r.tok(i)
	return t.EOF() || r.startsDeclaration(i, anyColumn) ||
		r.startsLine(i) && (t.Type == '{' || t.Type == '}' || t.Type == '@')
}

// leaveClause moves to next, and if there was a fault in the clause before,
// over the rest of its line.
func (r *recovery) leaveClause(next int) {
	r.i = next
	for r.lastEnd >= 0 && !r.startsLine(r.i) && !r.endsClause(r.i) {
		if t := r.tok(r.i); t.Type == tokIdent && isTopWord(t.Value) || t.Type == '@' {
			return
		}
		r.i++
	}
}

// garbage reports that nothing known starts here and moves to what does.
func (r *recovery) garbage(start, at int) {
	if r.last != nil && r.startsMember(at, r.last.in) {
		r.reopen(start, at, r.follows(start, inFile))
		return
	}
	expected := "interface, record or enum"
	if len(r.tree.Decls) == 0 {
		expected = "package, version, import, interface, record or enum"
		r.hasPackage = true // it may be what is meant here
	}
	hint := ""
	switch r.tok(at).Type {
	case '}':
		hint = "it closes nothing: remove it"
	case ';':
		hint = "remove it"
	}
	quiet := r.follows(start, inFile)
	member, braced := false, r.is(at, '{') || r.is(at, '}')
	for r.i = at + 1; !r.tok(r.i).EOF() && !r.startsInFile(r.i); {
		behind := r.i
		switch {
		case r.startsLine(r.i):
			behind = r.annotated(r.i, inFile)
			member = r.last != nil && r.startsLine(behind) && r.startsMember(behind, r.last.in)
		case r.is(r.i-1, ';') || r.is(r.i-1, '}'):
			behind = r.annotated(r.i, inFile)
		}
		if r.startsLine(r.i) && r.begins(r.i, inFile) && (r.i == at+1 || r.is(r.i-1, ';') && !braced) {
			break // the next one, not more of this
		}
		if member || r.startsDeclaration(behind, anyColumn) {
			break
		}
		braced = braced || r.is(r.i, '{') || r.is(r.i, '}')
		r.i = max(behind, r.i+1)
	}
	r.quietly(quiet, func() { r.fail(start, r.i, r.unexpected(at, RuleUnexpectedToken, expected, hint)) })
	if member {
		r.reopen(r.i, r.annotated(r.i, inFile), true)
	}
}

// reopen goes on with the last declaration, which was closed too early: a
// member of it stands at the index at.
func (r *recovery) reopen(start, at int, quiet bool) {
	d := r.unexpected(at, RuleUnexpectedToken, "interface, record or enum", "remove the brace that closes the block before this")
	d.Related = []Related{{Span: over(&r.toks[r.last.end]), Message: "closed here"}}
	r.quietly(quiet, func() { r.fail(start, start, d) })
	brace := r.toks[r.last.end].Pos.Offset
	r.cover(brace, brace)
	r.i = start
	r.open = true
	r.members(r.last)
}

// annotations parses the annotations in the tokens [from, to).
func (r *recovery) annotations(from, to int, in scope) []*Annotation {
	var all []*Annotation
	for i := from; i < to; {
		end := r.annotationEnd(i, in)
		if a, _ := piece(r, r.pieces.annotation, i, end, "", ""); a != nil {
			all = append(all, a.Annotation.Annotation)
		}
		i = end
	}
	return all
}

// body is a declaration whose block is being read.
type body struct {
	word    string // the keyword
	name    string
	in      scope
	start   lexer.Token // where the declaration starts
	opening lexer.Token // the brace, or the keyword if there is none
	column  int         // of the keyword
	end     int         // index of the closing brace, once it was read

	iface  *Interface // one of the three
	record *Record
	enum   *Enum
}

// declaration reads an interface, record or enum, whose keyword stands at the
// index at.
func (r *recovery) declaration(start, at int, word string) {
	anns := r.annotations(start, at, inFile)
	r.i = at + 1
	var name Ident
	if r.is(r.i, tokIdent) && (r.is(r.i+1, '{') || !r.startsDeclaration(r.i, anyColumn)) {
		name = identOf(&r.toks[r.i])
		r.i++
	} else {
		r.fail(start, r.i, r.unexpected(r.i, RuleMissingName, "the name of the "+word, ""))
	}
	b := &body{word: word, name: name.Name, start: r.toks[start], opening: r.toks[at], column: r.toks[at].Pos.Column}
	doc := ""
	if name.Name != "" {
		doc = r.doc(b.start.Pos.Offset, name)
	}
	var decl Decl
	span := between(&b.start, &r.toks[r.i-1])
	switch word {
	case "interface":
		b.in, b.iface = inInterface, &Interface{Doc: doc, Annotations: anns, Name: name, Span: span}
		decl = b.iface
	case "record":
		b.in, b.record = inRecord, &Record{Doc: doc, Annotations: anns, Name: name, Span: span}
		decl = b.record
	default:
		b.in, b.enum = inEnum, &Enum{Doc: doc, Annotations: anns, Name: name, Span: span}
		decl = b.enum
	}
	if name.Name != "" {
		r.tree.Decls = append(r.tree.Decls, decl)
	}
	r.last = nil
	if r.block(b, at) {
		r.open = true
		r.members(b)
	}
}

// block enters the block of a declaration, whose keyword stands at the index
// at, and reports whether there is one. A missing brace is reported if the
// declaration has a name; otherwise there is a fault already.
func (r *recovery) block(b *body, at int) bool {
	brace := r.i
	for !r.is(brace, '{') {
		t := r.tok(brace)
		end := t.Pos.Line > r.toks[at].Pos.Line && (t.Type == ';' || r.startsMember(brace, b.in) || t.Type == '@') ||
			t.Type == '}' || t.Type == ';' && r.startsMember(r.i, b.in)
		if end || t.EOF() || r.startsDeclaration(brace, anyColumn) {
			break
		}
		brace++
	}
	if brace > r.i && b.name != "" || !r.is(brace, '{') && b.name != "" {
		r.fail(at, max(brace, at+1), r.unexpected(r.i, RuleUnexpectedToken, `"{" behind the name of the `+b.word, ""))
	}
	if r.is(brace, '{') {
		b.opening = r.toks[brace]
		r.balanced = r.closing[brace] > 0
		r.i = brace + 1
		return true
	}
	r.balanced = false
	return r.startsMember(r.i, b.in) || r.is(r.i, '@') && r.startsLine(r.i)
}

// members reads what is in a block, and leaves it.
func (r *recovery) members(b *body) {
	switch b.word {
	case "interface":
		for r.more(b) {
			r.quietly(r.follows(r.i, b.in), func() { r.operation(b) })
		}
		b.iface.Span = between(&b.start, &r.toks[r.i-1])
	case "record":
		for r.more(b) {
			r.quietly(r.follows(r.i, b.in), func() { r.field(b) })
		}
		b.record.Span = between(&b.start, &r.toks[r.i-1])
	default:
		r.labels(b)
		b.enum.Span = between(&b.start, &r.toks[r.i-1])
	}
	r.open = false
}

// more reports whether a member follows in the block. If the block ends, it
// is left; one that is never closed is reported.
func (r *recovery) more(b *body) bool {
	if len(r.faults) > MaxDiagnostics {
		return false
	}
	at := r.annotated(r.i, b.in)
	switch t := r.tok(at); {
	case t.Type == '}':
		if at > r.i {
			r.annotations(r.i, at, b.in)
			r.fail(r.i, at, r.unexpected(at, RuleUnexpectedToken, "something behind the annotation that it can belong to", ""))
		}
		r.leave(b, at)
		return false
	case t.EOF():
		r.cover(r.tok(r.i).Pos.Offset, t.Pos.Offset)
		r.i = at
	case !r.startsDeclaration(at, b.column):
		return true
	}
	r.unclosed(b)
	return false
}

// leave leaves the block by its closing brace at index i.
func (r *recovery) leave(b *body, i int) {
	b.end = i
	r.last = b
	r.passOver(i)
	r.i = i + 1
}

// unclosed reports that a block is open at the next token.
func (r *recovery) unclosed(b *body) {
	r.open = false
	what := `"}" to close the ` + b.word
	if b.name != "" {
		what += " " + quote(b.name)
	}
	d := r.unexpected(r.i, RuleUnclosedBrace, what, `close the block with "}"`)
	d.Related = []Related{{Span: over(&b.opening), Message: "opened here"}}
	r.fail(r.i, r.i, d)
	r.lastFound = -1
}

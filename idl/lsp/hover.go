package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/explain"
	"github.com/wipagent/wipagent/idl/syntax"
)

// hover answers what the name at a place means, and what the rules of what is
// wrong there ask for.
func (s *server) hover(_ context.Context, p *positionParams) (any, error) {
	d, err := s.open(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	meaning, at := s.meaning(d, d.offset(p.Position))
	rules, wrong := s.explained(d, p.Position)
	switch {
	case meaning == "" && rules == "":
		return nil, nil
	case meaning == "":
		return hover{Contents: markdown(rules), Range: wrong}, nil
	case rules != "":
		meaning += "\n---\n\n" + rules
	}
	return hover{Contents: markdown(meaning), Range: at}, nil
}

// maxRules is how many rules one hover explains.
const maxRules = 3

// explained returns what the rules mean that are broken at a place, as far as
// that is known without waiting, and where the first is broken.
func (s *server) explained(d *document, at position) (string, textRange) {
	var parts []string
	var wrong textRange
	seen := map[string]bool{}
	for _, fault := range s.checker.shownOf(d) {
		rng := d.span(fault.Span)
		if !rng.touches(textRange{at, at}) || seen[fault.Rule] || len(parts) == maxRules {
			continue
		}
		seen[fault.Rule] = true
		page, ok := explain.Page(fault.Rule)
		if !ok {
			continue
		}
		if len(parts) == 0 {
			wrong = rng
		}
		parts = append(parts, fmt.Sprintf("%s: %s\n\nAn example: %s\n", code(fault.Rule), summary(page), code("wipagent idl explain "+fault.Rule)))
	}
	return strings.Join(parts, "\n"), wrong
}

// summary returns the first paragraph of a page.
func summary(page string) string {
	_, text, _ := strings.Cut(page, "\n\n") // behind the title
	text, _, _ = strings.Cut(text, "\n\n")
	return strings.ReplaceAll(strings.TrimSpace(text), "\n", " ")
}

// meaning returns what the name at a place means, and where it stands; nothing
// if there is none.
func (s *server) meaning(d *document, off int) (string, textRange) {
	v := d.view()
	if sym, at := s.snap.symbolAt(v, off); sym != nil {
		return s.describe(sym), at
	}
	tok, before, ok := v.wordAt(off)
	if !ok {
		return "", textRange{}
	}
	word := v.src[tok.start:tok.end]
	var words string
	_, ref := v.at(off)
	switch {
	case before == "@":
		words = annotationWords[word]
		word = "@" + word
	case ref != nil && ref.kind == toImport:
		if to := s.snap.imported(v, ref.name); to != nil && to.file.Package != nil {
			words = "The document " + code(to.path) + " of package " + code(to.file.Package.Name) + "."
		}
	case ref != nil && ref.kind == toType:
		words = builtinWords[word]
	case ref == nil:
		words = keywordWords[word]
		if words == "" {
			words = audienceWords[word]
		}
	}
	if words == "" {
		return "", textRange{}
	}
	return fence(word) + "\n" + words + "\n", v.rng(tok.start, tok.end)
}

// wordAt returns the name or string at an offset and the token before it, on
// the same line. The line is enough: no name spans lines, and what is in a
// comment is no name.
func (v *view) wordAt(off int) (at token, before string, ok bool) {
	line := v.position(off).Line
	start, end := v.lines[line], v.lineEnd(line)
	for _, t := range scan(v.src[start:end], end-start, syntax.MaxTokens) {
		t.start, t.end = t.start+start, t.end+start
		if t.start <= off && off <= t.end && (t.kind == nameToken || t.kind == stringToken) {
			return t, before, true
		}
		if t.start > off {
			break
		}
		before = v.src[t.start:t.end]
	}
	return token{}, "", false
}

// describe returns what is known of a symbol, in Markdown.
func (s *server) describe(sym *symbol) string {
	var b strings.Builder
	op := s.compiled(sym)
	switch {
	case op != nil:
		b.WriteString(fence(op.Signature()))
	default:
		b.WriteString(fence(sym.declaration()))
	}
	if a := sym.deprecated; a != nil {
		words := "**Deprecated.**"
		if len(a.Args) > 0 && a.Args[0].Value != nil {
			words = "**Deprecated:** " + a.Args[0].Value.Text
		}
		paragraph(&b, words)
	}
	paragraph(&b, sym.doc)
	if sym.parent != nil {
		paragraph(&b, fmt.Sprintf("The %s of %s %s.", sym.kind, sym.parent.kind, code(sym.parent.name.Name)))
	} else if pkg := sym.view.file.Package; pkg != nil {
		paragraph(&b, fmt.Sprintf("The %s of package %s.", sym.kind, code(pkg.Name)))
	}
	if op != nil {
		paragraph(&b, limits(op))
		s.schemas(&b, op)
	}
	return b.String()
}

// compiled returns the operation that a symbol is. While its document has a
// fault, or is being checked, that is as it was when the document was last
// sound, if it is written as it was then; nil if it is not.
func (s *server) compiled(sym *symbol) *idl.Operation {
	if sym.kind != anOperation {
		return nil
	}
	path := sym.view.path
	r := s.snap.checked(path)
	if r != nil && r.document(path) != nil {
		return sym.in(r.document(path))
	}
	if before := s.checker.soundOf(path); before.document != nil {
		i := before.view().decls[sym.parent.name.Name]
		if i != nil && i.member(sym.name.Name) != nil && i.member(sym.name.Name).source() == sym.source() {
			return sym.in(before.compiled)
		}
	}
	if r == nil {
		r = s.snap.check(path)
	}
	return sym.in(r.document(path))
}

// in returns the operation that a symbol is in a document; nil if there is
// none.
func (s *symbol) in(doc *idl.Document) *idl.Operation {
	if doc == nil {
		return nil
	}
	if i := doc.Interface(s.parent.name.Name); i != nil {
		return i.Operation(s.name.Name)
	}
	return nil
}

// source returns how a symbol is declared, as it is written.
func (s *symbol) source() string { return s.view.src[s.span.Start.Offset:s.span.End.Offset] }

// limits says in one line what the annotations of an operation amount to.
func limits(op *idl.Operation) string {
	parts := []string{"risk " + op.Risk.String(), "audience " + op.Audience.String(), "timeout " + op.Timeout.String(),
		fmt.Sprintf("output up to %d bytes", op.MaxOutput), fmt.Sprintf("cost %d", op.Cost)}
	if op.Idempotent {
		parts = append(parts, "idempotent")
	}
	if op.DryRun {
		parts = append(parts, "dry run")
	}
	return strings.Join(parts, " · ")
}

// maxSchema is how much of a schema a hover shows, in bytes.
const maxSchema = 8 << 10

// schemas adds the schemas that a model is shown.
func (s *server) schemas(b *strings.Builder, op *idl.Operation) {
	if s.Schema == nil {
		return
	}
	input, output := s.Schema(op)
	for _, schema := range []struct {
		title string
		raw   json.RawMessage
	}{{"Arguments as a model sees them:", input}, {"Result:", output}} {
		if len(schema.raw) == 0 {
			continue
		}
		pretty, err := json.MarshalIndent(schema.raw, "", "  ")
		if err != nil {
			continue
		}
		paragraph(b, schema.title)
		b.WriteString("\n```json\n" + cut(string(pretty), maxSchema) + "\n```\n")
	}
}

// declaration returns how a symbol is declared, in short: members only of
// records and enums.
func (s *symbol) declaration() string {
	const most = 40 // lines
	switch s.kind {
	case aParam, aField:
		text := s.name.Name + ": " + s.written(s.typ)
		if s.value != nil {
			text += " = " + s.view.src[s.value.Span.Start.Offset:s.value.Span.End.Offset]
		}
		return text
	case aLabel:
		return s.name.Name
	case anOperation:
		params := make([]string, len(s.members))
		for i, p := range s.members {
			params[i] = p.declaration()
		}
		return s.name.Name + "(" + strings.Join(params, ", ") + ") -> " + s.written(s.typ)
	}
	lines := []string{s.kind.String() + " " + s.name.Name + " {"}
	end := map[symbolKind]string{anInterface: ";", aRecord: ";", anEnum: ","}[s.kind]
	for i, m := range s.members {
		if i == most {
			lines = append(lines, "  // …")
			break
		}
		lines = append(lines, "  "+m.declaration()+end)
	}
	return strings.Join(append(lines, "}"), "\n")
}

// written returns a type as it is written, on one line.
func (s *symbol) written(t *syntax.TypeExpr) string {
	if t == nil {
		return "?"
	}
	return strings.Join(strings.Fields(s.view.src[t.Span.Start.Offset:t.Span.End.Offset]), " ")
}

// cut shortens a text to at most n bytes.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// fence returns a block of the language in Markdown.
func fence(s string) string {
	marks := "```"
	for strings.Contains(s, marks) {
		marks += "`"
	}
	return marks + "wip\n" + s + "\n" + marks + "\n"
}

// code returns a name in Markdown; it holds no backquote, or is shown as text.
func code(s string) string {
	if strings.Contains(s, "`") {
		return fmt.Sprintf("%q", s)
	}
	return "`" + s + "`"
}

// paragraph adds a paragraph.
func paragraph(b *strings.Builder, s string) {
	if s != "" {
		b.WriteString("\n" + s + "\n")
	}
}

package lsp

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/wipagent/wipagent/idl"
)

// maxItems is how many completions one answer offers.
const maxItems = 1000

// complete answers what could be written at a place.
func (s *server) complete(ctx context.Context, p *positionParams) (any, error) {
	d, err := s.open(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	off := d.offset(p.Position)
	c := &completion{server: s, ctx: ctx, doc: d, off: off, site: newSite(d.src, off)}
	c.offer()
	list := completionList{Items: c.items}
	if len(list.Items) > maxItems {
		list.Items, list.IsIncomplete = list.Items[:maxItems], true
	}
	if list.Items == nil {
		list.Items = []completionItem{}
	}
	return list, nil
}

// completion is one request on its way to its answer.
type completion struct {
	*server
	*site
	ctx   context.Context
	doc   *document
	off   int
	items []completionItem
}

// maxExplained is how many of the completions of one answer have their
// documentation.
const maxExplained = 200

// add offers a text in place of the name that is being written. The rank
// orders what is offered; in place of a snippet, editors that know none are
// offered the label.
func (c *completion) add(item completionItem, text string, rank int) {
	if strings.Contains(text, "$") {
		if c.snippets {
			item.InsertTextFormat = 2
		} else {
			text = item.Label
		}
	}
	if len(c.items) >= maxExplained {
		item.Documentation = nil
	}
	item.SortText = fmt.Sprintf("%d%s", rank, strings.ToLower(item.Label))
	item.TextEdit = &textEdit{Range: c.doc.rng(c.prefix, c.off), NewText: text}
	c.items = append(c.items, item)
}

// offer finds out what could stand at the place.
func (c *completion) offer() {
	last, top := c.word(c.doc.src, 1), c.top()
	switch {
	case c.inside == stringToken:
		if last == "import" {
			c.prefix = c.within.start + 1
			c.imports(false)
		}
	case c.inside != nameToken:
	case last == "@":
		c.annotations()
	case last == "import" && len(c.scopes) == 0:
		c.imports(true)
	case top.bracket == '[':
		c.refinement(top, last)
	case top.bracket == '<':
		if last == "<" || last == "," {
			c.types(top.of)
		}
	case strings.HasPrefix(top.of, "@") && top.bracket == '(':
		c.arguments(top)
	case top.bracket == '(':
		c.parameter(top, last)
	case last == "->":
		c.types("")
	case top.bracket == '{' && last == ":":
		c.types("")
	case len(c.scopes) == 0 && (last == "" || last == ";" || last == "}" || c.afterAnnotation()):
		c.keywords(last)
	}
}

// afterAnnotation reports whether the place follows an annotation.
func (c *completion) afterAnnotation() bool {
	src := c.doc.src
	if c.word(src, 2) == "@" {
		return true
	}
	if c.word(src, 1) != ")" {
		return false
	}
	depth := 0
	for n := 1; n <= len(c.toks); n++ {
		switch c.word(src, n) {
		case ")":
			depth++
		case "(":
			if depth--; depth == 0 {
				return c.word(src, n+2) == "@"
			}
		}
	}
	return false
}

func (c *completion) keywords(last string) {
	for _, k := range []struct{ word, text string }{
		{"interface", "interface ${1:Name} {\n  $0\n}"}, {"record", "record ${1:Name} {\n  $0\n}"}, {"enum", "enum ${1:Name} { $0 }"},
		{"package", "package ${1:name};"}, {"version", "version ${1:1};"}, {"import", "import \"$1\";"},
	} {
		if !declares(k.word) && (c.afterAnnotation() || k.word == "package" && c.doc.view().file.Package != nil) {
			continue
		}
		c.add(completionItem{Label: k.word, Kind: completeKeyword, Documentation: markdown(keywordWords[k.word])}, k.text, 1)
	}
}

// annotations offers those that may stand where the place is.
func (c *completion) annotations() {
	targets := []string{"interface", "record", "enum"}
	switch outer := c.outer(); {
	case outer.bracket == '(':
		targets = []string{"param"}
	case outer.bracket == '{' && outer.of == "interface":
		targets = []string{"operation"}
	case outer.bracket == '{' && outer.of == "record":
		targets = []string{"field"}
	case outer.bracket == '{' && outer.of == "enum":
		targets = []string{"label"}
	}
	for _, a := range idl.Annotations() {
		if !slices.ContainsFunc(a.Targets, func(t string) bool { return slices.Contains(targets, t) }) {
			continue
		}
		text := a.Name + annotationArguments[a.Name]
		c.add(completionItem{Label: a.Name, Kind: completeProperty, Documentation: markdown(annotationWords[a.Name])}, text, 1)
	}
}

// types offers what may stand as a type, or within the type arguments of a
// built-in type.
func (c *completion) types(within string) {
	if within != "entry" {
		params := c.outer().bracket == '('
		for _, name := range idl.BuiltinTypes() {
			if params && onlyInResults[name] {
				continue
			}
			text := name
			if takesArgument[name] {
				text += "<$1>"
			}
			c.add(completionItem{Label: name, Kind: completeType, Detail: "built-in type", Documentation: markdown(builtinWords[name])}, text, 3)
		}
	}
	v := c.doc.view()
	c.declarations(v, within, "", 1)
	imported := map[string]bool{v.path: true}
	for _, imp := range v.file.Imports {
		if to := c.snap.imported(v, imp.Path); to != nil && !imported[to.path] {
			imported[to.path] = true
			c.declarations(to, within, "", 2)
		}
	}
	views, _ := c.snap.workspace(c.ctx, v.path)
	for _, other := range views {
		if len(c.items) > maxItems {
			return
		}
		if imported[other.path] {
			continue
		}
		if name, ok := c.snap.importName(v, other); ok {
			c.declarations(other, within, name, 4)
		}
	}
}

// declarations offers the declarations of a document; with the import of
// importName, unless that is empty.
func (c *completion) declarations(v *view, within, importName string, rank int) {
	for _, sym := range v.symbols {
		if (sym.kind == anInterface) != (within == "entry") || sym.name.Name == "" {
			continue
		}
		item := completionItem{Label: sym.name.Name, Kind: map[symbolKind]int{anInterface: completeInterface, aRecord: completeStruct, anEnum: completeEnum}[sym.kind],
			Tags: sym.tags(), Detail: sym.kind.String(), Documentation: markdown(fence(sym.declaration()) + "\n" + sym.doc)}
		if importName != "" {
			if c.doc.view().decls[sym.name.Name] != nil {
				continue // the import would clash
			}
			item.Detail += " of " + importName
			item.AdditionalTextEdits = []textEdit{c.doc.view().importEdit(importName)}
		}
		c.add(item, sym.name.Name, rank)
	}
}

// importEdit returns the edit that adds an import.
func (v *view) importEdit(name string) textEdit {
	after := 0
	text := fmt.Sprintf("import %q;\n", name)
	switch f := v.file; {
	case len(f.Imports) > 0:
		after = f.Imports[len(f.Imports)-1].Span.End.Offset
	case f.Version != nil:
		after = f.Version.Span.End.Offset
	case f.Package != nil:
		after = f.Package.Span.End.Offset
	default:
		return textEdit{Range: v.rng(0, 0), NewText: text}
	}
	line := v.position(after).Line
	if line+1 < len(v.lines) {
		return textEdit{Range: v.rng(v.lines[line+1], v.lines[line+1]), NewText: text}
	}
	return textEdit{Range: v.rng(len(v.src), len(v.src)), NewText: "\n" + text}
}

// imports offers the documents that could be imported, quoted if need be.
func (c *completion) imports(quoted bool) {
	v := c.doc.view()
	views, _ := c.snap.workspace(c.ctx, v.path)
	for _, other := range views {
		if other.path == v.path {
			continue
		}
		name, ok := c.snap.importName(v, other)
		if !ok {
			continue
		}
		text := name
		if quoted {
			text = fmt.Sprintf("%q;", name)
		}
		item := completionItem{Label: name, Kind: completeFile}
		if other.file.Package != nil {
			item.Detail = "package " + other.file.Package.Name
		}
		c.add(item, text, 1)
	}
}

// importName returns what an import clause of v says to mean another document,
// which must be a file.
func (s *snapshot) importName(v, other *view) (string, bool) {
	if !other.isFile() {
		return "", false
	}
	p := s.project(v.path)
	dirs := []string{filepath.Dir(v.path), p.Root}
	for _, dir := range append(slices.Clone(p.Config.Imports), p.Search...) {
		dirs = append(dirs, p.Path(dir))
	}
	for _, dir := range dirs {
		rel, err := filepath.Rel(dir, other.path)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		name := path.Clean(filepath.ToSlash(rel))
		if s.resolve(link{v.path, name}) == other.path {
			return name, true
		}
	}
	return "", false
}

// parameter offers what may stand in a list of parameters.
func (c *completion) parameter(top scope, last string) {
	item := c.item(c.doc.src, top)
	switch {
	case last == "=" && len(item) > 0:
		c.values(item)
	case last == ":":
		c.types("")
	}
}

// values offers the values of the type in a parameter's or field's tokens.
func (c *completion) values(item []string) {
	i := slices.Index(item, ":")
	if i < 0 || i+1 >= len(item) {
		return
	}
	c.valuesOf(item[i+1])
}

// valuesOf offers the values of a type by its name.
func (c *completion) valuesOf(name string) {
	if name == "bool" {
		for _, word := range []string{"true", "false"} {
			c.add(completionItem{Label: word, Kind: completeConstant}, word, 1)
		}
	}
	if e := c.snap.named(c.doc.view(), name); e != nil && e.kind == anEnum {
		for _, l := range e.members {
			c.add(completionItem{Label: l.name.Name, Kind: completeEnumMember, Detail: name, Documentation: markdown(l.doc)}, l.name.Name, 1)
		}
	}
}

// refinement offers what may stand in the refinement of a type.
func (c *completion) refinement(top scope, last string) {
	measured := top.of == "string" || top.of == "text" || top.of == "bytes"
	switch {
	case last == "[" && top.of == "string":
		c.add(completionItem{Label: "matching", Kind: completeKeyword, Documentation: markdown(keywordWords["matching"])}, `matching "$1"`, 1)
	case last != "[" && measured && len(c.item(c.doc.src, top)) > 1:
		c.add(completionItem{Label: "bytes", Kind: completeUnit, Documentation: markdown(keywordWords["bytes"])}, "bytes", 1)
	}
}

// arguments offers the arguments of an annotation.
func (c *completion) arguments(top scope) {
	item := c.item(c.doc.src, top)
	switch name := top.of[1:]; name {
	case "audience":
		for i, a := range idl.AudienceNames() {
			if len(item) == 0 && audienceWords[a] != "" {
				c.add(completionItem{Label: a, Kind: completeConstant, Documentation: markdown(audienceWords[a])}, a, 1+i/10)
			}
		}
	case "example":
		c.example(item)
	case "timeout", "max_output", "cost":
		if len(item) == 0 {
			for _, text := range usualArguments[name] {
				c.add(completionItem{Label: text, Kind: completeUnit}, text, 1)
			}
		}
	}
}

// example offers the parameters of the operation that an example belongs to,
// and the values of one.
func (c *completion) example(item []string) {
	op := c.nextOperation()
	if op == nil {
		return
	}
	if len(item) >= 2 && item[1] == ":" {
		if p := op.member(item[0]); p != nil && p.typ != nil && len(item) == 2 {
			c.valuesOf(p.typ.Name.Name)
		}
		return
	}
	if len(item) > 0 {
		return
	}
	for _, p := range op.members {
		c.add(completionItem{Label: p.name.Name, Kind: completeProperty, Detail: op.written(p.typ), Documentation: markdown(p.doc)}, p.name.Name+": ", 1)
	}
}

// nextOperation returns the operation that the annotation at the place stands
// before, as far as the tree has it.
func (c *completion) nextOperation() *symbol {
	names := c.doc.view().names
	i := sort.Search(len(names), func(i int) bool { return names[i].name.Span.Start.Offset >= c.off })
	for ; i < len(names); i++ {
		if names[i].kind == anOperation {
			return names[i]
		}
		if names[i].parent == nil {
			break
		}
	}
	return nil
}

package lsp

import (
	"context"
	"strings"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/syntax"
)

// semanticTypes and semanticModifiers are the legend: what the numbers of
// semantic tokens mean.
var (
	semanticTypes = [...]string{
		tokenKeyword: "keyword", tokenType: "type", tokenInterface: "interface", tokenStruct: "struct", tokenEnum: "enum",
		tokenMember: "enumMember", tokenParameter: "parameter", tokenProperty: "property", tokenMethod: "method",
		tokenDecorator: "decorator", tokenString: "string", tokenNumber: "number", tokenComment: "comment", tokenNamespace: "namespace",
	}
	semanticModifiers = [...]string{"declaration", "defaultLibrary", "documentation", "deprecated"}
)

const (
	tokenKeyword = iota
	tokenType
	tokenInterface
	tokenStruct
	tokenEnum
	tokenMember
	tokenParameter
	tokenProperty
	tokenMethod
	tokenDecorator
	tokenString
	tokenNumber
	tokenComment
	tokenNamespace
)

const (
	modDeclaration = 1 << iota
	modDefaultLibrary
	modDocumentation
	modDeprecated
)

// semanticKinds are the types of token of the kinds of symbol.
var semanticKinds = [...]uint32{
	anInterface: tokenInterface, aRecord: tokenStruct, anEnum: tokenEnum,
	anOperation: tokenMethod, aParam: tokenParameter, aField: tokenProperty, aLabel: tokenMember,
}

// semanticTokens answers what each token of a document is.
func (s *server) semanticTokens(ctx context.Context, p *documentParams) (any, error) {
	d, err := s.open(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	return s.semantics(ctx, d, 0, len(d.src)), nil
}

// semanticRange answers what each token of a range is.
func (s *server) semanticRange(ctx context.Context, p *rangeParams) (any, error) {
	d, err := s.open(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	return s.semantics(ctx, d, d.offset(p.Range.Start), d.offset(p.Range.End)), nil
}

func (s *server) semantics(ctx context.Context, d *document, from, to int) semanticTokens {
	c := &colouring{text: d.text, builtin: map[string]bool{}, data: []uint32{}}
	for _, name := range idl.BuiltinTypes() {
		c.builtin[name] = true
	}
	v := d.view()
	toks := scan(d.src, len(d.src), syntax.MaxTokens)
	before := "" // the last token that is no comment
	for i, t := range toks {
		if t.start >= to || i%1024 == 0 && ctx.Err() != nil {
			break
		}
		word := d.src[t.start:t.end]
		if t.end > from {
			switch t.kind {
			case commentToken:
				c.add(t, tokenComment, 0)
			case docToken:
				c.add(t, tokenComment, modDocumentation)
			case stringToken:
				c.add(t, tokenString, 0)
			case numberToken:
				c.add(t, tokenNumber, 0)
			case nameToken:
				c.name(s.snap, v, t, word, before)
			}
		}
		if t.kind != commentToken && t.kind != docToken {
			before = word
		}
	}
	return semanticTokens{Data: c.data}
}

// colouring collects tokens in the protocol's form: each as its distance from
// the one before.
type colouring struct {
	*text
	builtin map[string]bool
	data    []uint32
	last    position
}

// name adds a name as what it is.
func (c *colouring) name(snap *snapshot, v *view, t token, word, before string) {
	if before == "@" {
		c.add(t, tokenDecorator, 0)
		return
	}
	sym, ref := v.at(t.start)
	switch {
	case sym != nil && sym.name.Span.Start.Offset == t.start:
		mods := uint32(modDeclaration)
		if sym.deprecated != nil {
			mods |= modDeprecated
		}
		c.add(t, semanticKinds[sym.kind], mods)
	case ref != nil && ref.span.Start.Offset == t.start:
		if ref.kind == toType && c.builtin[word] {
			c.add(t, tokenType, modDefaultLibrary)
			return
		}
		if sym = snap.meant(v, ref); sym == nil {
			if ref.kind == toLabel && (word == "true" || word == "false") {
				c.add(t, tokenKeyword, 0)
			}
			return
		}
		mods := uint32(0)
		if sym.deprecated != nil {
			mods = modDeprecated
		}
		c.add(t, semanticKinds[sym.kind], mods)
	case v.file.Package != nil && v.file.Package.Span.Start.Offset <= t.start && t.end <= v.file.Package.Span.End.Offset:
		c.add(t, tokenNamespace, modDeclaration)
	case keywordWords[word] != "":
		c.add(t, tokenKeyword, 0)
	case audienceWords[word] != "":
		c.add(t, tokenMember, 0)
	}
}

// add adds a token; one of several lines as one a line, as the protocol has
// it.
func (c *colouring) add(t token, kind, modifiers uint32) {
	for start := t.start; start < t.end; {
		end := t.end
		if n := strings.IndexAny(c.src[start:end], "\r\n"); n >= 0 {
			end = start + n
		}
		if end > start {
			at := c.position(start)
			line, char := at.Line-c.last.Line, at.Character
			if line == 0 {
				char -= c.last.Character
			}
			c.last = at
			c.data = append(c.data, uint32(line), uint32(char), uint32(c.unitsAt(end)-c.unitsAt(start)), kind, modifiers)
		}
		start = end + 1
	}
}

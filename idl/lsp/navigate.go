package lsp

import (
	"context"
	"fmt"
	"slices"
)

// symbolAt returns the symbol that is declared or used at a place of a
// document, and the range of its name there; nil if there is none.
func (s *snapshot) symbolAt(v *view, off int) (*symbol, textRange) {
	sym, ref := v.at(off)
	if sym != nil {
		return sym, v.span(sym.name.Span)
	}
	if ref == nil {
		return nil, textRange{}
	}
	return s.meant(v, ref), v.span(ref.span)
}

// place returns where a symbol is declared.
func (s *symbol) place() location {
	return location{URI: s.view.uri, Range: s.view.span(s.name.Span)}
}

// definition answers where the name at a place is declared.
func (s *server) definition(_ context.Context, p *positionParams) (any, error) {
	d, err := s.open(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	v := d.view()
	off := d.offset(p.Position)
	if _, ref := v.at(off); ref != nil && ref.kind == toImport {
		if to := s.snap.imported(v, ref.name); to != nil {
			return location{URI: to.uri}, nil
		}
		return nil, nil
	}
	if sym, _ := s.snap.symbolAt(v, off); sym != nil {
		return sym.place(), nil
	}
	return nil, nil
}

// tooMuch says why a workspace was not looked through, and what to do.
const tooMuch = "there is too much to look through; put a wip.toml beside the documents"

// maxLocations is how many places one answer names.
const maxLocations = 10_000

// usesIn calls f with each reference in a document that means sym, until f
// returns false.
func (s *snapshot) usesIn(v *view, sym *symbol, f func(*reference) bool) {
	for i := range v.refs {
		r := &v.refs[i]
		if r.kind == toImport || r.name != sym.name.Name {
			continue
		}
		if m := s.meant(v, r); m != nil && m.same(sym) && !f(r) {
			return
		}
	}
}

// uses returns every place of the workspace where a symbol is used, and
// whether those are all.
func (s *snapshot) uses(ctx context.Context, sym *symbol) (list []location, whole bool) {
	views, whole := s.workspace(ctx, sym.view.path)
	for _, v := range views {
		s.usesIn(v, sym, func(r *reference) bool {
			list = append(list, location{URI: v.uri, Range: v.span(r.span)})
			whole = whole && len(list) < maxLocations
			return len(list) < maxLocations && ctx.Err() == nil
		})
	}
	return list, whole
}

// references answers where the symbol at a place is used.
func (s *server) references(ctx context.Context, p *referenceParams) (any, error) {
	d, err := s.open(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	list := []location{}
	sym, _ := s.snap.symbolAt(d.view(), d.offset(p.Position))
	if sym == nil {
		return list, nil
	}
	uses, whole := s.snap.uses(ctx, sym)
	if !whole && ctx.Err() == nil {
		s.complain(fmt.Errorf("found only some uses of %s: %s", sym.name.Name, tooMuch))
	}
	list = append(list, uses...)
	if p.Context.IncludeDeclaration {
		list = append(list, sym.place())
	}
	slices.SortFunc(list, byPlace)
	return list, nil
}

// What a highlighted place is.
const (
	readHighlight  = 2
	writeHighlight = 3
)

// highlight answers where the symbol at a place stands in the same document.
func (s *server) highlight(_ context.Context, p *positionParams) (any, error) {
	d, err := s.open(p.TextDocument.URI)
	if err != nil {
		return nil, err
	}
	list := []documentHighlight{}
	v := d.view()
	sym, _ := s.snap.symbolAt(v, d.offset(p.Position))
	if sym == nil {
		return list, nil
	}
	if sym.view.path == v.path {
		list = append(list, documentHighlight{Range: v.span(sym.name.Span), Kind: writeHighlight})
	}
	s.snap.usesIn(v, sym, func(r *reference) bool {
		list = append(list, documentHighlight{Range: v.span(r.span), Kind: readHighlight})
		return len(list) < maxLocations
	})
	return list, nil
}

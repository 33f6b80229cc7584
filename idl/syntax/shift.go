package syntax

// shift moves nodes to where they stand after a change before them.
type shift struct {
	bytes, lines int
	line, cols   int // on this line, as it was counted, columns move too
}

func (s *shift) pos(p Pos) Pos {
	if p.Line == s.line {
		p.Col += s.cols
	}
	p.Offset += s.bytes
	p.Line += s.lines
	return p
}

func (s *shift) span(at Span) Span {
	return Span{File: at.File, Start: s.pos(at.Start), End: s.pos(at.End)}
}

func (s *shift) ident(n Ident) Ident { return Ident{Name: n.Name, Span: s.span(n.Span)} }

// decl returns a declaration at its new place; the node itself if that is its
// old one.
func (s *shift) decl(d Decl) Decl {
	if s.bytes == 0 && s.lines == 0 && s.cols == 0 {
		return d
	}
	switch d := d.(type) {
	case *Interface:
		n := *d
		n.Annotations, n.Name, n.Span = s.annotations(d.Annotations), s.ident(d.Name), s.span(d.Span)
		n.Operations = each(d.Operations, s.operation)
		return &n
	case *Record:
		n := *d
		n.Annotations, n.Name, n.Span = s.annotations(d.Annotations), s.ident(d.Name), s.span(d.Span)
		n.Fields = each(d.Fields, s.field)
		return &n
	case *Enum:
		n := *d
		n.Annotations, n.Name, n.Span = s.annotations(d.Annotations), s.ident(d.Name), s.span(d.Span)
		n.Labels = each(d.Labels, func(l, to *Label) { to.Name = s.ident(l.Name) })
		return &n
	}
	return d
}

// each copies nodes into one block of memory, and moves each copy.
func each[N any](list []*N, move func(n, to *N)) []*N {
	if list == nil {
		return nil
	}
	copies, all := make([]N, len(list)), make([]*N, len(list))
	for i, n := range list {
		copies[i], all[i] = *n, &copies[i]
		move(n, all[i])
	}
	return all
}

func (s *shift) operation(o, to *Operation) {
	to.Annotations, to.Name, to.Span = s.annotations(o.Annotations), s.ident(o.Name), s.span(o.Span)
	to.Params, to.Result = each(o.Params, s.param), s.typ(o.Result)
}

func (s *shift) param(p, to *Param) {
	to.Annotations, to.Name, to.Span = s.annotations(p.Annotations), s.ident(p.Name), s.span(p.Span)
	to.Type, to.Default = s.typ(p.Type), s.value(p.Default)
}

func (s *shift) field(f, to *Field) {
	to.Annotations, to.Name, to.Span = s.annotations(f.Annotations), s.ident(f.Name), s.span(f.Span)
	to.Type = s.typ(f.Type)
}

func (s *shift) annotations(list []*Annotation) []*Annotation {
	return each(list, func(a, to *Annotation) {
		to.Name, to.Span = s.ident(a.Name), s.span(a.Span)
		to.Args = each(a.Args, s.arg)
	})
}

func (s *shift) arg(a, to *Arg) {
	if a.Name != nil {
		name := s.ident(*a.Name)
		to.Name = &name
	}
	to.Value, to.Span = s.value(a.Value), s.span(a.Span)
}

func (s *shift) typ(t *TypeExpr) *TypeExpr {
	if t == nil {
		return nil
	}
	n := *t
	s.move(t, &n)
	return &n
}

func (s *shift) move(t, to *TypeExpr) {
	to.Name, to.Span = s.ident(t.Name), s.span(t.Span)
	to.Args = each(t.Args, s.move)
	if r := t.Refinement; r != nil {
		to.Refinement = &Refinement{Min: s.value(r.Min), Max: s.value(r.Max), Bytes: r.Bytes, Pattern: s.value(r.Pattern), Span: s.span(r.Span)}
	}
}

func (s *shift) value(v *Value) *Value {
	if v == nil {
		return nil
	}
	n := *v
	n.Span = s.span(v.Span)
	return &n
}

package adapter

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
)

// cuts are what a description can do without, in the order in which it goes
// when there is no room: what can be had otherwise goes first. Each names what
// it takes away and reports whether there was any.
var cuts = []struct {
	what string
	cut  func(*Description) bool
}{
	{"output_schema", func(d *Description) bool { return drop(&d.OutputSchema, len(d.OutputSchema)) }},
	{"types, forms", func(d *Description) bool {
		had := drop(&d.Forms, len(d.Forms))
		for i := range d.Interfaces {
			had = drop(&d.Interfaces[i].Types, len(d.Interfaces[i].Types)) || had
		}
		return had
	}},
	{"parameters, example", func(d *Description) bool {
		return d.each(func(o *OperationSummary) bool {
			parameters, example := drop(&o.Parameters, len(o.Parameters)), drop(&o.Example, len(o.Example))
			return parameters || example
		})
	}},
	{"doc", func(d *Description) bool {
		had := d.each(func(o *OperationSummary) bool { return drop(&o.Doc, len(o.Doc)) })
		for i := range d.Interfaces {
			had = drop(&d.Interfaces[i].Doc, len(d.Interfaces[i].Doc)) || had
		}
		return had
	}},
	{"input_schema", func(d *Description) bool { return drop(&d.InputSchema, len(d.InputSchema)) }},
	{"risk, limits", func(d *Description) bool {
		return d.each(func(o *OperationSummary) bool {
			*o = OperationSummary{Name: o.Name, Signature: o.Signature, Doc: o.Doc, Deprecated: o.Deprecated, Parameters: o.Parameters, Example: o.Example}
			return true
		})
	}},
	{"signature", func(d *Description) bool {
		return d.each(func(o *OperationSummary) bool { return drop(&o.Signature, len(o.Signature)) })
	}},
}

// drop takes away what has a length and reports whether there was any.
func drop[T any](v *T, length int) bool {
	var none T
	*v = none
	return length > 0
}

// each calls f with each operation and reports whether one call did.
func (d *Description) each(f func(*OperationSummary) bool) bool {
	any := false
	for i := range d.Interfaces {
		for j := range d.Interfaces[i].Operations {
			any = f(&d.Interfaces[i].Operations[j]) || any
		}
	}
	return any
}

// fit returns the description in at most limit bytes of JSON, and the same for
// the same entry at any time. What has to go goes in the order of cuts. If the
// children are too many even then, they get half of the room, and what had gone
// for them in vain comes back; at last the operations are not all named. The
// hint says what is missing and how to see it.
func (d *Description) fit(limit int) *Description {
	if held(d.Children, limit) == len(d.Children) {
		if s := d.shortened(limit); s.size() <= limit {
			return s
		}
	}
	bare := *d
	bare.Interfaces, bare.Forms, bare.Children, bare.InputSchema, bare.OutputSchema = nil, nil, nil, nil, nil
	d = d.clone()
	d.Children = d.Children[:held(d.Children, (limit-bare.size())/2)]
	s := d.shortened(limit)
	if s.size() <= limit {
		return s
	}
	most := s.operations()
	return s.named(sort.Search(most, func(n int) bool { return s.named(n+1).size() > limit }))
}

// held returns how many of the children, from the first, a list of limit bytes
// holds.
func held(children []Child, limit int) int {
	size := 2
	for i, c := range children {
		if size += len(marshal(c)) + 1; size > limit {
			return i
		}
	}
	return len(children)
}

// clone returns a copy that can be cut.
func (d *Description) clone() *Description {
	s := *d
	s.without = slices.Clone(d.without)
	s.Interfaces = slices.Clone(d.Interfaces)
	for i := range s.Interfaces {
		s.Interfaces[i].Operations = slices.Clone(s.Interfaces[i].Operations)
	}
	return &s
}

// shortened returns the description without as much as must go for it to fit,
// or without all that can go.
func (d *Description) shortened(limit int) *Description {
	s := d.clone()
	if len(s.InputSchema) > limit { // nothing else would make room for it
		s.InputSchema, s.OutputSchema = nil, nil
		s.without = append(s.without, "input_schema, output_schema")
	}
	s.say()
	for _, c := range cuts {
		if s.size() <= limit {
			break
		}
		if c.cut(s) {
			s.without = append(s.without, c.what)
			s.say()
		}
	}
	return s
}

// named returns the description with its first n operations alone.
func (d *Description) named(n int) *Description {
	s := d.clone()
	for i := range s.Interfaces {
		ops := &s.Interfaces[i].Operations
		*ops = (*ops)[:min(n, len(*ops))]
		n -= len(*ops)
	}
	s.Interfaces = slices.DeleteFunc(s.Interfaces, func(i InterfaceSummary) bool { return len(i.Operations) == 0 })
	s.say()
	return s
}

func (d *Description) operations() int {
	n := 0
	for _, i := range d.Interfaces {
		n += len(i.Operations)
	}
	return n
}

// size returns how many bytes of JSON the description has, however old the
// observation.
func (d *Description) size() int {
	s := *d
	s.AgeMillis = math.MaxInt64
	return len(marshal(s))
}

// say writes the hint.
func (d *Description) say() {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if missing := strings.Join(d.without, ", "); missing != "" {
		if d.only {
			add("shown without %s: invoke shows the form of the result, and answers a wrong call with its faults and the signature", missing)
		} else {
			add("operations are shown without %s: inspect %s#OPERATION shows one", missing, d.Path)
		}
	}
	if n := d.operations(); n < d.all.operations {
		add("%d of %d operations are named: discover with a query and the scope %s finds others", n, d.all.operations, d.Path)
	}
	if n := len(d.Children); n < d.all.children {
		add("%d of %d children are shown: discover with a query and the scope %s finds others", n, d.all.children, d.Path)
	}
	d.Truncated, d.Hint = len(parts) > 0, ""
	if d.Truncated {
		d.Hint = "too long to show whole; " + strings.Join(parts, "; ")
	}
}

package script

import (
	"fmt"
	"maps"
	"slices"

	"go.starlark.net/starlark"

	"github.com/wipagent/wipagent/idl"
)

// page is one page of a selection. Going through it goes through the whole
// selection: the pages after it are called for when their items are wanted, each
// a call like any other.
type page struct {
	rec *record
	// method and args are the call that gave this page; method is nil of a
	// page that was not asked for by number.
	method *method
	args   map[string]starlark.Value
}

var (
	_ starlark.HasAttrs = (*page)(nil)
	_ starlark.Mapping  = (*page)(nil)
	_ starlark.Iterable = (*page)(nil)
)

func (p *page) Type() string                             { return "page" }
func (p *page) Freeze()                                  {}
func (p *page) String() string                           { return p.rec.String() }
func (p *page) Hash() (uint32, error)                    { return p.rec.Hash() }
func (p *page) AttrNames() []string                      { return p.rec.names }
func (p *page) Attr(name string) (starlark.Value, error) { return p.rec.field(name), nil }

// Truth reports whether anything was selected.
func (p *page) Truth() starlark.Bool { return p.number("total_matching") > 0 || len(p.items()) > 0 }

// Get returns a field, as p["name"], or an item, as p[0]. Items are counted from
// the first of this page and on through those after it.
func (p *page) Get(key starlark.Value) (starlark.Value, bool, error) {
	i, ok := key.(starlark.Int)
	if !ok {
		return p.rec.Get(key)
	}
	at, ok := i.Int64()
	if !ok || at < 0 {
		return nil, false, fmt.Errorf("found the index %s into a page, expected 0 or more; list(p)[%s] goes through all pages first", i, i)
	}
	list, err := p.between(at, at+1)
	if err != nil {
		return nil, false, err
	}
	if len(list) == 0 {
		return nil, false, fmt.Errorf("found the index %d into a page, expected less: there are not so many", at)
	}
	return list[0], true, nil
}

// between returns the items with the numbers from low on and below high, as many as
// there are. Pages are called for as far as that takes.
func (p *page) between(low, high int64) ([]starlark.Value, error) {
	if p.method == nil || p.method.of.env.run == nil {
		return part(p.items(), low, high), nil
	}
	r := p.method.of.env.run
	iter := p.Iterate()
	defer iter.Done()
	var list []starlark.Value
	var item starlark.Value
	for n := int64(0); n < high && iter.Next(&item); n++ {
		if err := r.spend(1); err != nil {
			return nil, err
		}
		if n >= low {
			if err := r.alloc(elemBytes); err != nil {
				return nil, err
			}
			list = append(list, item)
		}
	}
	return list, r.trouble()
}

func part(list []starlark.Value, low, high int64) []starlark.Value {
	n := int64(len(list))
	return list[min(low, n):min(max(low, high), n)]
}

// pageSlices is a page of which a slice is wanted. How many items there are in all
// is not looked at before: a slice is a list of those that there are.
type pageSlices struct{ *page }

var _ starlark.Sliceable = pageSlices{}

// manyItems is more than any page can lead to.
const manyItems = 1 << 30

// Len returns more than there can be, so that a bound from the end is told from
// one from the start.
func (p pageSlices) Len() int { return manyItems }

// Index is not called: p[0] is asked of the page itself.
func (p pageSlices) Index(int) starlark.Value { return starlark.None }

// Slice returns a list of the items. Where it cannot, the run fails.
func (p pageSlices) Slice(start, end, step int) starlark.Value {
	err := error(nil)
	var list []starlark.Value
	if start > manyItems/2 || manyItems/2 < end && end < manyItems || step != 1 {
		err = fmt.Errorf("found a slice of a page from its end or with steps, expected one from 0 on, such as p[:3]; list(p) goes through all pages, and can be sliced in any way")
	} else {
		list, err = p.between(int64(start), int64(end))
	}
	if err != nil && p.method != nil && p.method.of.env.run != nil {
		p.method.of.env.run.raise(err)
	}
	return starlark.NewList(list)
}

func (p *page) items() []starlark.Value {
	list, _ := p.rec.field("items").(*starlark.List)
	if list == nil {
		return nil
	}
	items := make([]starlark.Value, list.Len())
	for i := range items {
		items[i] = list.Index(i)
	}
	return items
}

// number returns an integer field, 0 if it is null.
func (p *page) number(name string) int64 {
	i, _ := p.rec.field(name).(starlark.Int)
	n, _ := i.Int64()
	return n
}

// length returns how many there are on all pages, where that is known (P13).
func (p *page) length() (starlark.Value, error) {
	if p.rec.field("source_truncated") == starlark.True {
		return nil, fmt.Errorf("len: there are more than were looked at, so that nobody knows how many; .total_matching counts those looked at, len(p.items) those on this page")
	}
	return starlark.MakeInt64(p.number("total_matching")), nil
}

// Iterate goes through the items of this page and of all after it.
func (p *page) Iterate() starlark.Iterator { return &pageIterator{page: p, items: p.items()} }

type pageIterator struct {
	page  *page
	items []starlark.Value
}

// Next returns the next item. A page that cannot be had makes the run fail.
func (i *pageIterator) Next(v *starlark.Value) bool {
	for len(i.items) == 0 {
		next := i.page.number("next_page")
		if next <= i.page.number("page") || i.page.method == nil {
			return false
		}
		r := i.page.method.of.env.run
		if r == nil {
			return false
		}
		args := maps.Clone(i.page.args)
		args[pageParam] = starlark.MakeInt64(next)
		result, err := i.page.method.invoke(r, args)
		if err != nil {
			r.raise(err)
			return false
		}
		p, ok := result.(*page)
		if !ok { // what was known has become unknown
			r.raise(anyUnknownOr(result))
			return false
		}
		i.page, i.items = p, p.items()
	}
	*v, i.items = i.items[0], i.items[1:]
	return true
}

func anyUnknownOr(v starlark.Value) error {
	if u := anyUnknown(v); u != nil {
		return u.used("as a page")
	}
	return fmt.Errorf("found a value of type %s, expected the next page", v.Type())
}

// Done ends the iteration.
func (i *pageIterator) Done() {}

// pageParam is the parameter by which operations that have pages are asked for
// one.
const pageParam = "page"

// hasPages reports whether an operation can be asked for a page.
func hasPages(op *idl.Operation) bool {
	return slices.ContainsFunc(op.Params, func(p *idl.Param) bool { return p.Name == pageParam && p.Type.Kind == idl.Int })
}

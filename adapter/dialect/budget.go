package dialect

import (
	"cmp"
	"slices"
	"unicode/utf8"

	"github.com/invopop/jsonschema"
)

// budget is what a provider sums over the tools of a request.
type budget struct {
	name   string
	limit  int  // 0 if the provider states none
	strict bool // only strict tools count
	of     func(*size) int
}

// size is what one tool comes to.
type size struct {
	properties, optional, unions int
	enumValues                   int
	chars                        int // of property names and enum values
}

func sizeOf(s *jsonschema.Schema) *size {
	total := &size{}
	total.add(s)
	return total
}

func (z *size) add(s *jsonschema.Schema) {
	if s == nil {
		return
	}
	if s.AnyOf != nil {
		z.unions++
	}
	for _, form := range s.AnyOf {
		z.add(form)
	}
	z.enumValues += len(s.Enum)
	for _, v := range s.Enum {
		z.chars += utf8.RuneCountInString(v.(string))
	}
	z.add(s.Items)
	z.add(s.AdditionalProperties)
	if s.Properties == nil {
		return
	}
	z.optional += s.Properties.Len() - len(s.Required)
	for p := s.Properties.Oldest(); p != nil; p = p.Next() {
		z.properties++
		z.chars += utf8.RuneCountInString(p.Key)
		z.add(p.Value)
	}
}

// account sums up a list of tools while it is chosen.
type account struct {
	budgets []budget
	used    []int
}

func (d *Dialect) account() *account { return &account{d.budgets, make([]int, len(d.budgets))} }

// add counts a tool, if it fits, and returns the name of a budget that it does
// not fit.
func (a *account) add(z *size, strict bool) (over string) {
	for i, b := range a.budgets {
		if b.limit > 0 && (strict || !b.strict) && a.used[i]+b.of(z) > b.limit {
			return b.name
		}
	}
	for i, b := range a.budgets {
		if strict || !b.strict {
			a.used[i] += b.of(z)
		}
	}
	return ""
}

func (a *account) usage() []Usage {
	list := make([]Usage, len(a.budgets))
	for i, b := range a.budgets {
		list[i] = Usage{b.name, a.used[i], b.limit}
	}
	return list
}

// precedence returns the indexes of the tools in the order in which they are
// chosen.
func precedence(tools []Tool) []int {
	order := make([]int, len(tools))
	for i := range order {
		order[i] = i
	}
	rank := func(i int) int {
		switch {
		case tools[i].Deprecated:
			return 2
		case tools[i].ReadOnly:
			return 0
		}
		return 1
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rank(a), rank(b)) })
	return order
}

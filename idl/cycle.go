package idl

import (
	"fmt"
	"slices"

	"github.com/wipagent/wipagent/idl/syntax"
)

// cycle is documents that import each other. It is one fault, of the import
// clause that was the first to close it, however many others do: where many
// documents import each other there are more cycles than anybody can read.
type cycle struct {
	unit  *unit // that has the clause
	node  *syntax.Import
	chain []link // from the imported document to the unit
	more  int    // import clauses that close cycles with documents of this one
}

// closeCycle records that an import clause of u means a document that led to
// u by the path.
func (c *compiler) closeCycle(u *unit, node *syntax.Import, to *unit, path []link) {
	chain := path[slices.IndexFunc(path, func(l link) bool { return l.unit == to })+1:]
	found := to.cycle
	for _, l := range chain {
		if found == nil {
			found = l.unit.cycle
		}
	}
	if found == nil || to == u {
		found = &cycle{unit: u, node: node, chain: slices.Clone(chain)}
		c.cycles = append(c.cycles, found)
	} else {
		found.more++
	}
	for _, l := range append([]link{{unit: to}}, chain...) {
		if l.unit.cycle == nil {
			l.unit.cycle = found
		}
	}
}

// reportCycles reports the cycles, and the imports that are nested too deep
// unless it is for a cycle.
func (c *compiler) reportCycles() {
	for _, found := range c.cycles {
		hint := "move what both need into a document of its own"
		switch {
		case found.more == 1:
			hint += "; another import closes a cycle with these documents"
		case found.more > 1:
			hint += fmt.Sprintf("; %d more imports close cycles with these documents", found.more)
		}
		d := found.unit.fault(ruleImportCycle, found.node.Span, hint,
			"found an import of %q, which imports this document", found.node.Path)
		for _, l := range found.chain {
			relate(d, l.node.Span, "%q is imported here", l.unit.name)
		}
	}
	for _, u := range c.order {
		if u.tooDeep != nil && u.cycle == nil {
			u.fault(ruleImportLimit, u.tooDeep.Span, "", "found imports nested more than %d deep", maxImportDepth)
		}
	}
}

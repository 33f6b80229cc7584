package gen

import (
	"fmt"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/syntax"
)

// RuleUnbindablePage is the rule of what Go refuses: a page in a record.
const RuleUnbindablePage = "unbindable-page"

// Rules returns the rules that generating has beside those of compiling. The
// caller owns the slice.
func Rules() []syntax.Rule {
	return []syntax.Rule{
		{ID: RuleUnbindablePage, Doc: "A field holds a page, which the Go binding of those who answer cannot express (idl gen go)."},
	}
}

// unbindable returns the fields of all documents that a Go server cannot fill
// in: how many items the page holds is for the document to say, which has the
// parameters for it only at an operation.
func unbindable(docs []*idl.Document) (faults idl.ErrorList) {
	for _, d := range docs {
		for _, r := range d.Records {
			for _, f := range r.Fields {
				if pageOf(f.Type) == nil {
					continue
				}
				faults = append(faults, syntax.Diagnostic{
					Rule: RuleUnbindablePage, Span: f.NameSpan,
					Message: fmt.Sprintf("found %s in field %q of record %q, expected pages only as results of operations", f.Type, f.Name, r.Name),
					Hint:    "make it a list of at most so many, and add an operation that returns the page",
				})
			}
		}
	}
	return faults
}

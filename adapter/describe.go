package adapter

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/idl"
)

// Description is what inspect answers, in the form in which a model reads it.
type Description struct {
	Path      string `json:"path"`
	Title     string `json:"title,omitempty"`
	Summary   string `json:"summary,omitempty"`
	AgeMillis int64  `json:"age_millis"`
	// Unavailable says that the Host does not answer at the moment: this is what
	// it last said, and a call would fail.
	Unavailable bool `json:"unavailable,omitempty"`

	Interfaces []InterfaceSummary `json:"interfaces,omitempty"`
	// Forms says what the wrappers in the signatures look like in JSON.
	Forms    map[string]string `json:"forms,omitempty"`
	Children []Child           `json:"children,omitempty"`
	// The schemas are there if the target named one operation.
	InputSchema  json.RawMessage `json:"input_schema,omitempty"`
	OutputSchema json.RawMessage `json:"output_schema,omitempty"`
	// Truncated says that something is missing, for which there was no room;
	// Hint says what, and how to see it.
	Truncated bool   `json:"truncated,omitempty"`
	Hint      string `json:"hint,omitempty"`
	// Trust is "untrusted_observed_data" if the words above are those of a Host
	// that nobody vouches for; else empty.
	Trust string `json:"trust,omitempty"`

	without []string // what was cut
	only    bool     // one operation was asked for
	all     struct{ operations, children int }
}

// InterfaceSummary is one interface with the operations the caller may use.
type InterfaceSummary struct {
	Name       string             `json:"name"`
	Doc        string             `json:"doc,omitempty"`
	Operations []OperationSummary `json:"operations"`
	// Types declares the records and enums that arguments and results consist
	// of.
	Types []string `json:"types,omitempty"`
}

// OperationSummary is what one needs to call an operation. In a description that
// was cut all but the name may be missing.
type OperationSummary struct {
	Name       string            `json:"name"`
	Signature  string            `json:"signature,omitempty"`
	Doc        string            `json:"doc,omitempty"`
	Deprecated string            `json:"deprecated,omitempty"` // what to use instead; such operations stand last
	Parameters map[string]string `json:"parameters,omitempty"` // documentation by name
	Example    json.RawMessage   `json:"example,omitempty"`    // an argument record
	Risk       string            `json:"risk,omitempty"`
	Idempotent *bool             `json:"idempotent,omitempty"`
	DryRun     bool              `json:"dry_run,omitempty"` // invoke takes dry_run for it
	Cost       int               `json:"cost,omitempty"`    // tool calls it counts as, at least 1
	Timeout    int64             `json:"timeout_millis,omitempty"`
	MaxOutput  int               `json:"max_output_bytes,omitempty"`
}

// Child is an entry right below the inspected one.
type Child struct {
	Path    string `json:"path"`
	Title   string `json:"title,omitempty"`
	Summary string `json:"summary,omitempty"`
	// Unavailable says so of a Host that is mounted here or above, unless that
	// of the inspected entry is the same.
	Unavailable bool `json:"unavailable,omitempty"`
	// Trust is as of the inspected entry, unless that has the same.
	Trust string `json:"trust,omitempty"`
}

// trustOf returns what marks the words of an entry's Host, empty if somebody
// vouches for them or they are our own.
func trustOf(vouchedFor bool) string {
	if vouchedFor {
		return ""
	}
	return "untrusted_observed_data"
}

// Describe renders an inspection, in at most as many bytes of JSON as the tool
// list promises.
func Describe(i *client.Inspection) *Description {
	d := &Description{Path: i.Node.Path, Title: i.Node.Title, Summary: i.Node.Summary, AgeMillis: i.Age.Milliseconds(), Unavailable: i.Unavailable, Trust: trustOf(i.Node.Mount == nil || i.Node.Mount.Trusted)}
	trusted := d.Trust == ""
	for _, iface := range i.Interfaces() {
		summary := summarize(iface, i.Operations)
		if !trusted {
			summary.clean()
		}
		d.Interfaces = append(d.Interfaces, summary)
	}
	for _, named := range i.Operations {
		if d.Forms == nil {
			d.Forms = map[string]string{}
		}
		forms(named.Operation, d.Forms)
	}
	for _, child := range i.Children {
		unavailable := !i.Unavailable && child.Mount != nil && !child.Mount.Available()
		trust := trustOf(child.Mount == nil || child.Mount.Trusted)
		if trust == d.Trust {
			trust = ""
		}
		d.Children = append(d.Children, Child{child.Path, child.Title, child.Summary, unavailable, trust})
	}
	if i.Only {
		op := i.Operations[0].Operation
		d.InputSchema, d.OutputSchema = InputSchema(op), OutputSchema(op)
		if !trusted {
			d.InputSchema, d.OutputSchema = encode(cleanSchema(inputSchema(op))), encode(cleanSchema(outputSchema(op)))
		}
	}
	d.only, d.all.operations, d.all.children = i.Only, d.operations(), len(d.Children)
	return d.fit(verbs.Operation("inspect").MaxOutput)
}

func summarize(iface *idl.Interface, ops []client.Operation) InterfaceSummary {
	s := InterfaceSummary{Name: iface.QualifiedName(), Doc: iface.Doc}
	declared := map[fmt.Stringer]bool{}
	declare := func(t fmt.Stringer) {
		if !declared[t] {
			declared[t] = true
			s.Types = append(s.Types, t.String())
		}
	}
	ops = slices.Clone(ops)
	slices.SortStableFunc(ops, func(a, b client.Operation) int {
		return cmp.Compare(min(len(a.Operation.Deprecated), 1), min(len(b.Operation.Deprecated), 1))
	})
	for _, named := range ops {
		op := named.Operation
		if op.Interface != iface {
			continue
		}
		o := OperationSummary{
			Name: named.Name, Signature: op.Signature(), Doc: op.Doc, Deprecated: op.Deprecated,
			Risk: op.Risk.String(), Idempotent: new(op.Idempotent), DryRun: op.DryRun, Cost: op.Cost,
			Timeout: op.Timeout.Milliseconds(), MaxOutput: op.MaxOutput,
		}
		for _, p := range op.Params {
			if doc := documentation(p.Deprecated, p.Doc); doc != "" {
				if o.Parameters == nil {
					o.Parameters = map[string]string{}
				}
				o.Parameters[p.Name] = doc
			}
		}
		switch {
		case len(op.Examples) > 0:
			o.Example = op.Examples[0]
		case !slices.ContainsFunc(op.Params, (*idl.Param).Required):
			o.Example = json.RawMessage("{}")
		}
		s.Operations = append(s.Operations, o)
		for _, types := range []func() ([]*idl.Record, []*idl.Enum){op.ParamTypes, op.Types} {
			records, enums := types()
			for _, r := range records {
				declare(r)
			}
			for _, e := range enums {
				declare(e)
			}
		}
	}
	return s
}

// documentation puts what to use instead of something before what is said of
// it.
func documentation(deprecated, doc string) string {
	if deprecated == "" {
		return doc
	}
	return strings.TrimSpace("Deprecated: " + deprecated + ".\n" + doc)
}

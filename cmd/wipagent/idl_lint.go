package main

import (
	"slices"

	"github.com/wipagent/wipagent/idl/lint"
	"github.com/wipagent/wipagent/idl/project"
	"github.com/wipagent/wipagent/idl/syntax"
)

type idlLintCmd struct {
	Files      []string `arg:"" optional:"" help:"Documents, folders of them (the working directory if nothing is named), or - for stdin." placeholder:"FILE|DIR|-"`
	Rule       []string `short:"r" help:"Look for this rule only; may be repeated." placeholder:"RULE"`
	ImportPath []string `short:"I" sep:"none" help:"Look imports up in this folder first; may be repeated." placeholder:"DIR"`
	SARIF      bool     `name:"sarif" help:"Print a SARIF 2.1.0 log."`
}

// Help shows examples.
func (idlLintCmd) Help() string {
	return `Warns of what is allowed and would serve readers badly: a model that chooses among operations, programmers, Hosts. Levels and
limits are set in the table lint of wip.toml. A comment before a declaration or member silences a rule there, with the
reason: //wip:ignore RULE why that is right here. A document with errors has to be put right first (wipagent idl check).

Exit codes: 0 nothing found, 1 something found, 2 the command line or wip.toml was wrong, 3 a file could not be read.

Examples:
  wipagent idl lint
  wipagent idl lint interfaces --rule doc-long --rule unit-missing
  wipagent idl explain unit-missing`
}

// Run runs the command.
func (i *idlLintCmd) Run(c *cli) error {
	if c.JSON && i.SARIF {
		return usageError("found --json beside --sarif, expected one of them")
	}
	style := append(lint.Rules(), project.Rules()...)
	for _, id := range i.Rule {
		if !slices.ContainsFunc(style, func(r syntax.Rule) bool { return r.ID == id }) {
			return usageError("found unknown rule %q%s", id, didYouMean(id, ruleIDs(style)))
		}
	}
	if len(i.Files) == 0 {
		i.Files = []string{"."}
	}
	set, err := c.documents(i.Files, func(p *project.Project) {
		p.Search = append(p.Search, absolute(i.ImportPath)...)
	})
	if err != nil {
		return err
	}
	found, err := set.check()
	if err != nil {
		return err
	}
	isStyle := func(id string) bool {
		return slices.ContainsFunc(style, func(r syntax.Rule) bool { return r.ID == id })
	}
	found.keep(func(d syntax.Diagnostic) bool {
		return len(i.Rule) == 0 || !isStyle(d.Rule) || slices.Contains(i.Rule, d.Rule)
	})
	return c.showFindings(found, i.SARIF, len(found.list) > 0)
}

// tellFailure prints why nothing was checked.
func (i *idlLintCmd) tellFailure(c *cli, err error) { c.tellUnchecked(i.SARIF, err) }

// keep drops the diagnostics that are not asked for, and counts anew.
func (f *findings) keep(asked func(syntax.Diagnostic) bool) {
	f.list = slices.DeleteFunc(f.list, func(d syntax.Diagnostic) bool { return !asked(d) })
	f.errors, f.warnings = 0, 0
	f.sort()
}

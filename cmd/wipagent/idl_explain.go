package main

import (
	"cmp"
	"fmt"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/breaking"
	"github.com/wipagent/wipagent/idl/explain"
	"github.com/wipagent/wipagent/idl/lint"
	"github.com/wipagent/wipagent/idl/project"
	"github.com/wipagent/wipagent/idl/syntax"
)

type idlExplainCmd struct {
	Rule string `arg:"" optional:"" help:"A rule's ID, as in the brackets behind a finding; all rules are listed without it."`
}

// Help shows examples.
func (idlExplainCmd) Help() string {
	return `Examples:
  wipagent idl explain
  wipagent idl explain unknown-type`
}

// ruleGroup is the rules of one tool.
type ruleGroup struct {
	Tool  string        `json:"tool"`
	Rules []syntax.Rule `json:"rules"`
}

// ruleGroups lists every rule there is.
func ruleGroups() []ruleGroup {
	return []ruleGroup{
		{"check: errors of the text and of its meaning", idl.Rules()},
		{"lint: warnings of style, and of comments that silence them", append(lint.Rules(), project.Rules()...)},
		{"breaking: changes between two versions", breaking.Rules()},
	}
}

// Run runs the command.
func (e *idlExplainCmd) Run(c *cli) error {
	if e.Rule == "" {
		e.list(c)
		return nil
	}
	text, ok := explain.Page(e.Rule)
	if !ok {
		return usageError("found no rule %q%s", e.Rule, didYouMean(e.Rule, explain.Rules()))
	}
	if c.JSON {
		c.printJSON(map[string]string{"rule": e.Rule, "markdown": text})
		return nil
	}
	fmt.Fprint(c.io.out, text)
	return nil
}

// list prints all rules.
func (e *idlExplainCmd) list(c *cli) {
	groups := ruleGroups()
	if c.JSON {
		c.printJSON(groups)
		return
	}
	for i, g := range groups {
		if i > 0 {
			fmt.Fprintln(c.io.out)
		}
		c.page().line("%s", g.Tool)
		var rows [][]string
		for _, r := range g.Rules {
			rows = append(rows, []string{"  " + r.ID, r.Doc})
		}
		c.page().table(rows)
	}
}

// didYouMean returns a hint at the rule that was meant.
func didYouMean(name string, rules []string) string {
	return cmp.Or(project.DidYouMean(name, rules), "; wipagent idl explain lists them")
}

func ruleIDs(rules []syntax.Rule) []string {
	ids := make([]string, len(rules))
	for i, r := range rules {
		ids[i] = r.ID
	}
	return ids
}

package adapter

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"

	"github.com/wipagent/wipagent/client"
)

// noTool answers for a name that is no tool's. What it says comes from the names
// that the caller was given, so that what is hidden is as what never was (T9).
type noTool struct {
	name  string
	tools []string // their names as the caller was given them
}

func (t noTool) verb() string   { return "invoke" }
func (t noTool) called() string { return t.name }

func (t noTool) run(c *toolCall, _ json.RawMessage) (Answer, error) {
	const most = 40
	hint := "the tools: " + strings.Join(t.tools[:min(most, len(t.tools))], ", ")
	if len(t.tools) > most {
		hint += " and more"
	}
	if near := t.near(); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "? " + hint
	}
	return Answer{}, c.client.Misread(c.ctx, c.principal, t.verb(), c.id, &client.Error{
		Class: client.NotFound, Message: "there is no tool of this name", Hint: hint,
	})
}

func (t noTool) example(*toolCall, *client.Error) json.RawMessage { return nil }

// near returns the tools that the name may mean, at most three: those of which it
// is the end, as an operation's name is without its interface's, or that it is a
// few letters away from, without a gateway's prefix too.
func (t noTool) near() []string {
	const longest, most = 128, 3 // the comparison costs the product of the lengths
	if len(t.name) > longest {
		return nil
	}
	said := []string{foldName(t.name)}
	for _, sep := range []string{"__", ".", ":", "/"} {
		if i := strings.LastIndex(t.name, sep); i >= 0 {
			said = append(said, foldName(t.name[i+len(sep):]))
		}
	}
	var ends, near []string
	best := 4 // letters; so many make another name
	for _, tool := range t.tools {
		folded := foldName(tool)
		for _, name := range said {
			if len(name) < 4 || len(folded) > longest {
				continue
			}
			if strings.HasSuffix(folded, name) && !slices.Contains(ends, tool) {
				ends = append(ends, tool)
			}
			switch d := levenshtein.ComputeDistance(name, folded); {
			case d > len(name)/3:
			case d < best:
				best, near = d, []string{tool}
			case d == best && best < 4 && !slices.Contains(near, tool):
				near = append(near, tool)
			}
		}
	}
	if len(ends) > 0 {
		near = ends
	}
	return near[:min(most, len(near))]
}

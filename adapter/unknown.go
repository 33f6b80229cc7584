package adapter

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/tidwall/gjson"

	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/idl"
)

// noTool answers for a name that is no tool's. What it says comes from the names
// that the caller was given, so that what is hidden is as what never was (T9).
type noTool struct {
	name  string
	tools []string // their names as the caller was given them
	// meant is where the tool stands that must be called instead, -1 if that is
	// not clear; op is that tool if it is an operation's, and else the calls are
	// those of invoke that the name can mean.
	meant   int
	instead string // its name as the caller was given it
	op      *operationTool
	calls   []client.Call
}

// noTool answers for a name that is no tool's.
func (t *Toolset) noTool(c *toolCall, name string, raw json.RawMessage) noTool {
	n := noTool{name: name, meant: -1}
	invoke := -1
	for i := range t.tools {
		if offered := t.export.Name(i); offered != "" {
			n.tools = append(n.tools, offered)
			if t.tools[i].called() == "invoke" {
				invoke = i
			}
		}
	}
	near := n.near()
	switch {
	case invoke < 0 && foldName(name) == "invoke":
		call := split(raw)
		target, operation := gjson.GetBytes(call.own, "target").Str, gjson.GetBytes(call.own, "operation").Str
		for i := range t.tools {
			op, ok := t.tools[i].tool.(*operationTool)
			if ok && t.export.Name(i) != "" && op.op.Name == operation && slices.Contains(op.paths, target) {
				n.meant, n.op = i, op
				n.calls = []client.Call{{ID: c.id, Target: target, Operation: operation, Arguments: call.arguments,
					DryRun: gjson.GetBytes(call.own, dryRun).Type == gjson.True}}
			}
		}
	case len(near) == 1:
		if i, ok := t.export.Index(near[0]); ok {
			n.nearOperation(c, i, t.tools[i].tool, raw)
		}
	case len(near) == 0 && invoke >= 0:
		n.meant, n.calls = invoke, named(c, n.said(), unfold(raw, name).record)
	}
	if n.meant >= 0 {
		n.instead = t.export.Name(n.meant)
	}
	return n
}

// nearOperation takes the record as one of an operation's tool.
func (n *noTool) nearOperation(c *toolCall, i int, of tool, raw json.RawMessage) {
	op, ok := of.(*operationTool)
	if !ok || op.needsApproval && !n.ends(n.near()[0]) {
		return // of what changes things the hint has to do: no typing slip is put right
	}
	record := unfold(raw, n.name).record
	args, err := op.record.DecodeArgs(record)
	var bad *idl.ArgumentError
	switch {
	case errors.As(err, &bad):
		record = bad.Corrected
	case len(args.Repairs) > 0:
		record = args.Record
	}
	if record == nil {
		return
	}
	call := client.Call{ID: c.id, Operation: op.op.Name, Interface: op.op.Interface.QualifiedName()}
	op.read(&call, record)
	n.meant, n.op, n.calls = i, op, []client.Call{call}
}

// named returns the calls of the operations that the caller may discover whose
// names, with that of their interface or not, are among those.
func named(c *toolCall, names []string, arguments json.RawMessage) []client.Call {
	var calls []client.Call
	for _, l := range c.client.Catalog(c.principal) {
		op := l.Operation.Operation
		whole := byInterface(&operationTool{op: op})
		if slices.Contains(names, foldName(l.Operation.Name)) || slices.Contains(names, foldName(op.Name)) || slices.Contains(names, foldName(whole)) {
			calls = append(calls, client.Call{ID: c.id, Target: l.Node.Path, Operation: l.Operation.Name, Arguments: arguments})
		}
	}
	return calls
}

func (t noTool) verb() string   { return "invoke" }
func (t noTool) called() string { return t.name }

func (t noTool) run(c *toolCall, _ json.RawMessage) (Answer, error) {
	e := &client.Error{Class: client.NotFound, Message: "there is no tool of this name", Hint: t.hint()}
	if len(t.calls) != 1 {
		return Answer{}, c.client.Misread(c.ctx, c.principal, t.verb(), c.id, e)
	}
	err := c.client.Misread(c.ctx, c.principal, t.verb(), c.id, e, t.calls...)
	if errors.As(err, &e) {
		if t.op != nil {
			e.Corrected = t.op.corrected(e.Corrected)
		}
		if e.Corrected != nil {
			e.Hint += "; call the tool " + t.instead + " with corrected_call"
		}
	}
	return Answer{}, err
}

// hint says which tools there are, and which may be meant.
func (t noTool) hint() string {
	const most = 40
	hint := "the tools: " + strings.Join(t.tools[:min(most, len(t.tools))], ", ")
	if len(t.tools) > most {
		hint += " and more"
	}
	switch near := t.near(); {
	case len(near) > 0:
		hint = "did you mean " + strings.Join(near, " or ") + "? " + hint
	case t.op != nil:
		hint = "did you mean " + t.instead + "? " + hint
	case len(t.calls) > 0:
		var names []string
		for _, call := range t.calls[:min(3, len(t.calls))] {
			names = append(names, call.Operation+" of "+call.Target)
		}
		hint = "it is an operation, which " + t.instead + " calls: " + strings.Join(names, ", or ") + "; " + hint
	}
	return hint
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
	said := t.said()
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

// ends reports whether a tool's name ends in what the name says, without a slip.
func (t noTool) ends(tool string) bool {
	return slices.ContainsFunc(t.said(), func(said string) bool { return said != "" && strings.HasSuffix(foldName(tool), said) })
}

// said returns what the name says, folded: as it is, without a gateway's prefix,
// and without a word in front that says no more than that something is called.
func (t noTool) said() []string {
	const longest = 128
	if len(t.name) > longest {
		return nil
	}
	names := []string{t.name}
	for _, sep := range []string{"__", ".", ":", "/", "#"} {
		if i := strings.LastIndex(t.name, sep); i >= 0 {
			names = append(names, t.name[i+len(sep):])
		}
	}
	var said []string
	for _, name := range names {
		said = append(said, foldName(name))
		if words := idl.NameWords(name); len(words) > 1 && slices.Contains(calling, words[0]) {
			said = append(said, strings.Join(words[1:], ""))
		}
	}
	return said
}

// calling are words that models put in front of a name.
var calling = []string{"get", "fetch", "list", "call", "query", "read", "find", "run", "do", "use", "invoke", "execute", "show", "search"}

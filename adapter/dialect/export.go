package dialect

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tidwall/gjson"
)

// exported is one tool in a dialect's form.
type exported struct {
	name   string // empty if it was dropped
	schema json.RawMessage
	plan   *plan
	losses []Loss
}

// written is one tool with all that its wrapping needs.
type written struct {
	*Tool
	name, description string
	schema            json.RawMessage
	strict            bool
	callers           []string
	examples          []json.RawMessage
}

// draft is one tool's form before it is known whether it fits.
type draft struct {
	lowered
	size *size
}

func newDraft(t *Tool, r *rules, again int) draft {
	low := lowerTool(t, r, again)
	return draft{low, sizeOf(low.schema)}
}

// unrolled are the depths to which records that hold themselves are written
// out, until the tools fit.
var unrolled = []int{maxAgain, 2, 0}

// Export writes tools in the dialect's form. The error is for tools whose names
// are no names or are not distinct, and for options that the dialect does not
// know; what does not fit is no error but is told in the Export.
func (d *Dialect) Export(tools []Tool, opt Options) (*Export, error) {
	room, err := prefixRoom(opt.Prefix)
	if err != nil {
		return nil, err
	}
	names, err := allocate(tools, room)
	if err != nil {
		return nil, err
	}
	if opt.Programmatic && d.callers == nil {
		return nil, fmt.Errorf("%s knows no programmatic tool calls", d.Title)
	}
	if opt.Depth < 0 {
		return nil, fmt.Errorf("found a depth of %d, expected 1 or more, or 0 for the provider's", opt.Depth)
	}
	x := exporting{Dialect: d, opt: &opt, tools: tools, rules: d.rules, loose: portableRules}
	if opt.Depth > 0 {
		x.rules.depth, x.loose.depth = opt.Depth, opt.Depth
	}
	x.choose()
	return x.write(names), nil
}

// exporting is one export at work.
type exporting struct {
	*Dialect
	opt          *Options
	tools        []Tool
	rules, loose rules // of strict tools, if the dialect has such, and of others

	drafts           []draft
	strict           []bool
	account          *account
	demoted, dropped []string // budgets, by tool; empty if it keeps its place
}

// choose drafts the tools and finds out which of them fit.
func (x *exporting) choose() {
	first := make([]draft, len(x.tools))
	for n, again := range unrolled {
		smaller := n == 0
		for i := range first {
			if n == 0 || first[i].unrolled {
				first[i] = newDraft(&x.tools[i], &x.rules, again)
				smaller = true
			}
		}
		if !smaller {
			return // no tool has anything left to give
		}
		x.drafts = slices.Clone(first)
		if x.fits() {
			return
		}
	}
}

const withoutStrict = "code may call it, which the provider does not combine with strict"

// fits gives each tool its place, and reports whether none had to give way.
func (x *exporting) fits() bool {
	n := len(x.tools)
	x.account, x.strict, x.demoted, x.dropped = x.Dialect.account(), make([]bool, n), make([]string, n), make([]string, n)
	whole := true
	for _, i := range precedence(x.tools) {
		if x.strict[i] = x.rules.strict; x.rules.strict {
			over := withoutStrict
			if !x.opt.Programmatic || x.strictCallers {
				over = x.account.add(x.drafts[i].size, true)
				whole = whole && over == ""
			}
			if over == "" {
				continue
			}
			x.strict[i], x.demoted[i] = false, over
			x.drafts[i] = newDraft(&x.tools[i], &x.loose, maxAgain)
		}
		if over := x.account.add(x.drafts[i].size, false); over != "" {
			x.demoted[i], x.dropped[i] = "", over
			whole = false
		}
	}
	return whole
}

func (x *exporting) write(names []string) *Export {
	e := &Export{Dialect: x.Dialect, Usage: x.account.usage(), byName: map[string]int{}, byFold: map[string]int{}, byLetters: map[string]int{}}
	list := []any{}
	for i := range x.tools {
		t := &x.tools[i]
		switch {
		case x.dropped[i] != "":
			e.Dropped = append(e.Dropped, Drop{t.Name, x.dropped[i]})
			e.tools = append(e.tools, exported{})
			continue
		case x.demoted[i] != "":
			e.Demoted = append(e.Demoted, Drop{t.Name, x.demoted[i]})
		}
		out := exported{name: names[i], plan: x.drafts[i].plan, losses: x.drafts[i].losses}
		w := written{Tool: t, name: names[i], description: reflow(t.Description), strict: x.strict[i]}
		if t.Untrusted {
			w.description = cleanLines(w.description)
		}
		if x.opt.Programmatic {
			w.callers = x.callers
		}
		if s := x.drafts[i].schema; s != nil {
			out.schema = mustEncode(s)
			w.schema = out.schema
		}
		var cut bool
		if w.description, cut = cutChars(w.description, x.maxDescription); cut {
			out.losses = append([]Loss{{Constraint: fmt.Sprintf("the description beyond %d characters", x.maxDescription), Said: InCheck,
				MaySend: "what that part advises against"}}, out.losses...)
		}
		if x.examples {
			w.examples = t.examples(out.plan)
		}
		e.add(i, out)
		list = append(list, x.Dialect.write(&w))
	}
	if x.wrap != nil {
		list = x.wrap(list)
	}
	e.Tools = mustEncode(list)
	return e
}

// add gives the export its next tool.
func (e *Export) add(i int, out exported) {
	for k := range out.losses {
		out.losses[k].Tool = out.name
	}
	e.Losses = append(e.Losses, out.losses...)
	e.tools = append(e.tools, out)
	e.byName[out.name] = i
	e.byFold[fold(out.name)] = i
	letters := loosen(out.name)
	if _, taken := e.byLetters[letters]; taken {
		i = -1
	}
	e.byLetters[letters] = i
}

// examples returns the examples as a model would send them. One whose words do
// not survive cleaning is left out, since a changed one would be another call.
func (t *Tool) examples(p *plan) []json.RawMessage {
	var list []json.RawMessage
	for _, example := range t.Examples {
		if t.Untrusted && cleanLines(string(example)) != string(example) {
			continue
		}
		list = append(list, p.write(nil, gjson.ParseBytes(example)))
	}
	return list
}

// Schema returns the exported schema of tool i's argument record; nil if the
// tool was dropped, or has no parameters and the provider writes no schema for
// that.
func (e *Export) Schema(i int) json.RawMessage { return e.tools[i].schema }

// Arguments undoes the dialect's conventions in what was sent for tool i: null
// for what is left out, pairs for a map, JSON text for a value. Numbers keep
// their text. What is in no such form is handed on unchanged, for the tool's
// own check to refuse.
func (e *Export) Arguments(i int, sent json.RawMessage) json.RawMessage {
	return e.tools[i].plan.undo(sent)
}

// Express writes a record that tool i accepts as a model would send it: the
// inverse of Arguments. It is for examples, and for calls that are to be sent
// again. What is no JSON object is returned unchanged.
func (e *Export) Express(i int, record json.RawMessage) json.RawMessage {
	if e.tools[i].plan == nil || !gjson.ValidBytes(record) {
		return record
	}
	return e.tools[i].plan.write(nil, gjson.ParseBytes(record))
}

func mustEncode(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("dialect: a form of our own making does not encode: %v", err))
	}
	return raw
}

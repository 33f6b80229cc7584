package adapter

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/idl"
)

// verbTool is one of the three verbs.
type verbTool struct{ op *idl.Operation }

func (t verbTool) verb() string   { return t.op.Name }
func (t verbTool) called() string { return t.op.Name }

func (t verbTool) run(c *toolCall, raw json.RawMessage) (Answer, error) {
	switch t.op.Name {
	case "discover":
		return t.discover(c, raw)
	case "inspect":
		return t.inspect(c, raw)
	}
	return t.invoke(c, raw)
}

// misread answers and records a call whose own record is wrong.
func (t verbTool) misread(c *toolCall, faults []idl.Fault, corrected json.RawMessage, meant ...client.Call) error {
	for i := range faults {
		faults[i].Constraint = t.named(faults[i].Constraint, c.client.ReadOnly())
	}
	return c.client.Misread(c.ctx, c.principal, t.verb(), c.id, &client.Error{
		Class: client.BadArguments, Message: "the arguments do not fit the tool",
		Faults: faults, Hint: takes(t.op, c.client.ReadOnly()), Corrected: corrected, Operation: t.op,
	}, meant...)
}

// named puts the fields of invoke into a fault as its schema has them: the check
// of its own fields knows nothing of arguments.
func (t verbTool) named(constraint string, readOnly bool) string {
	const own, all = "target (required), operation (required), dry_run", "target (required), operation (required), arguments (required), dry_run"
	if t.op.Name != "invoke" {
		return constraint
	}
	if readOnly {
		return strings.Replace(constraint, own, strings.TrimSuffix(all, ", "+dryRun), 1)
	}
	return strings.Replace(constraint, own, all, 1)
}

// takes says what record a verb takes.
func takes(op *idl.Operation, readOnly bool) string {
	if readOnly {
		op = &idl.Operation{Name: op.Name, Params: withoutDryRun(op.Params), Result: op.Result}
	}
	signature, _, _ := strings.Cut(op.Signature(), ") -> ")
	if op.Name == "invoke" {
		signature += ", arguments: {...}"
	}
	return "the tool takes " + signature + ")"
}

// decode checks a verb's own record.
func (t verbTool) decode(c *toolCall, raw json.RawMessage) (gjson.Result, error) {
	args, err := t.op.DecodeArgs(raw)
	var bad *idl.ArgumentError
	if errors.As(err, &bad) {
		return gjson.Result{}, t.misread(c, bad.Faults, bad.Corrected)
	}
	return gjson.ParseBytes(args.Record), nil
}

func (t verbTool) discover(c *toolCall, raw json.RawMessage) (Answer, error) {
	r, err := t.decode(c, raw)
	if err != nil {
		return Answer{}, err
	}
	found, err := c.client.Discover(c.ctx, c.principal, r.Get("scope").Str, r.Get("query").Str)
	if err != nil {
		return Answer{}, err
	}
	return Answer{JSON: marshal(found), Untrusted: c.client.Strangers(c.principal)}, nil
}

func (t verbTool) inspect(c *toolCall, raw json.RawMessage) (Answer, error) {
	r, err := t.decode(c, raw)
	if err != nil {
		return Answer{}, err
	}
	c.meant.Target = r.Get("target").Str
	found, err := c.client.Inspect(c.ctx, c.principal, c.meant.Target)
	if err != nil {
		return Answer{}, err
	}
	mount := found.Node.Mount
	return Answer{JSON: marshal(Describe(found)), Untrusted: mount != nil && !mount.Trusted || c.client.Strangers(c.principal)}, nil
}

func (t verbTool) invoke(c *toolCall, raw json.RawMessage) (Answer, error) {
	sent := split(raw)
	args, err := t.op.DecodeArgs(sent.own)
	faults := sent.faults
	var record json.RawMessage // with target and operation; nil if they are not known
	var bad *idl.ArgumentError
	if errors.As(err, &bad) {
		record, faults = bad.Corrected, append(faults, bad.Faults...)
		if record == nil { // what there is of it
			record = sent.own
		}
	} else {
		record = args.Record
	}
	call := client.Call{
		ID: c.id, Target: gjson.GetBytes(record, "target").Str, Operation: gjson.GetBytes(record, "operation").Str,
		DryRun: gjson.GetBytes(record, dryRun).Type == gjson.True, Arguments: sent.arguments,
	}
	if len(faults) > 0 {
		for i := range faults {
			faults[i].Path = sent.at + faults[i].Path
		}
		if bad != nil && bad.Corrected == nil && !call.DryRun && strings.Contains(foldName(string(sent.own)), foldName(dryRun)) {
			return Answer{}, t.misread(c, faults, nil) // what was meant may be a trial
		}
		return Answer{}, t.misread(c, faults, nil, meantBy(call, sent)...)
	}
	c.meant = call
	out, err := c.client.Invoke(c.ctx, c.principal, call)
	if err != nil {
		return Answer{}, err
	}
	repairs := sent.repairs
	for _, r := range args.Repairs {
		repairs = append(repairs, idl.Repair{Path: sent.at + r.Path, Note: r.Note})
	}
	out.Repaired = append(repairs, out.Repaired...)
	return Answer{JSON: marshal(out), Untrusted: out.Untrusted}, nil
}

// meantBy returns the calls that a record for invoke can mean which is wrong
// itself. Its operation may stand behind the path; where it has no path at all,
// the operation alone may tell the entry.
func meantBy(call client.Call, sent invokeRecord) []client.Call {
	if path, operation, ok := strings.Cut(call.Target, "#"); ok && call.Operation == "" {
		call.Target, call.Operation = path, operation
	}
	if call.Operation == "" || sent.lost {
		return nil
	}
	if sent.merged == nil {
		return []client.Call{call}
	}
	merged := call
	merged.Arguments = sent.merged
	return []client.Call{merged, call}
}

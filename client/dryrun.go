package client

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space"
)

// checkDryRun returns why the call cannot be a dry run, or nil. No correction
// makes a real call of a trial, but that of an operation that changes nothing
// anyway.
func checkDryRun(n *space.Node, op *idl.Operation, call Call) *Error {
	if !call.DryRun || op.DryRun {
		return nil
	}
	e := &Error{
		Class: BadArguments, Message: "the operation cannot be tried", Operation: op,
		Faults: []idl.Fault{{Path: "/dry_run", Constraint: "found true, expected false: the operation does not declare @dry_run"}},
		Hint:   "calling it does the real thing",
	}
	if !policy.NeedsApproval(op, n.Mount.Trusted) {
		e.Hint = "it changes nothing: call it without dry_run"
		if args, err := op.DecodeArgs(call.Arguments); err == nil {
			call.DryRun, call.Arguments = false, args.Record
			e.Corrected = corrected(call)
		}
	}
	return e
}

// liftDryRun takes dry_run out of the arguments of an operation that can be tried
// and has no parameter of that name: what it means is clear, and where else it
// would stand depends on who asks.
func liftDryRun(op *idl.Operation, call Call) (Call, []idl.Repair) {
	isDryRun := func(name string) bool { return normal(name) == "dryrun" }
	raw := string(call.Arguments)
	if !op.DryRun || slices.ContainsFunc(op.Params, func(p *idl.Param) bool { return isDryRun(p.Name) }) ||
		len(raw) > idl.MaxArgumentBytes || !strings.Contains(strings.ToLower(raw), "dry") || idl.Levels(raw) > maxLevels || !gjson.Valid(raw) {
		return call, nil
	}
	var rest, found []string
	value := false
	gjson.Parse(raw).ForEach(func(key, v gjson.Result) bool {
		switch {
		case isDryRun(key.Str) && (v.Type == gjson.True || v.Type == gjson.False):
			found = append(found, key.Str)
			value = v.Bool()
		default:
			rest = append(rest, key.Raw+":"+v.Raw)
		}
		return true
	})
	if len(found) != 1 || call.DryRun && !value || !gjson.Parse(raw).IsObject() {
		return call, nil // which the check of the arguments refuses
	}
	call.DryRun = value
	call.Arguments = json.RawMessage("{" + strings.Join(rest, ",") + "}")
	return call, []idl.Repair{{Path: "/" + found[0], Note: "read dry_run as what it says of the call, as the operation has no such parameter"}}
}

// maxLevels is how deep arguments may be nested that are looked into: as deep as
// the check of idl allows.
const maxLevels = 32

package adapter

import (
	"context"
	"encoding/json"
	"errors"
	"runtime/debug"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/idl"
)

// Answer is what a tool call comes to: one JSON object, and whether it is the
// error form {"error":{...}}.
type Answer struct {
	JSON   json.RawMessage
	Failed bool
}

// Call runs one of the three tools with the record that a model sent. It never
// fails otherwise than by an Answer that says so, and reports false only for a
// tool that does not exist. The id goes to the audit record; see client.Call.
func Call(ctx context.Context, c *client.Client, p *client.Principal, tool, id string, raw json.RawMessage) (answer Answer, ok bool) {
	op := verbs.Operation(tool)
	if op == nil {
		return Answer{}, false
	}
	defer func() {
		if v := recover(); v != nil {
			answer, ok = failed(c.Defect(tool, v, debug.Stack())), true
		}
	}()
	t := &toolCall{ctx, c, p, op, id}
	var out any
	var err error
	switch tool {
	case "discover":
		out, err = t.discover(raw)
	case "inspect":
		out, err = t.inspect(raw)
	case "invoke":
		out, err = t.invoke(raw)
	}
	if err != nil {
		return failed(err), true
	}
	return Answer{JSON: marshal(out)}, true
}

// toolCall is one call of a tool on its way.
type toolCall struct {
	ctx       context.Context
	client    *client.Client
	principal *client.Principal
	op        *idl.Operation // the verb
	id        string
}

func failed(err error) Answer {
	var e *client.Error
	if !errors.As(err, &e) {
		panic("adapter: the client returned an error that is not its own")
	}
	return Answer{JSON: marshal(e), Failed: true}
}

// marshal encodes a value of our own types; JSON in it is already valid.
func marshal(v any) json.RawMessage {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("adapter: an answer does not encode: " + err.Error())
	}
	return json.RawMessage(strings.TrimSuffix(b.String(), "\n"))
}

// misread answers and records a call whose own record is wrong.
func (t *toolCall) misread(faults []idl.Fault, corrected json.RawMessage, meant *client.Call) error {
	return t.client.Misread(t.ctx, t.principal, t.op.Name, t.id, &client.Error{
		Class: client.BadArguments, Message: "the arguments do not fit the tool",
		Faults: faults, Hint: takes(t.op), Corrected: corrected,
	}, meant)
}

// takes says what record a verb takes.
func takes(op *idl.Operation) string {
	signature, _, _ := strings.Cut(op.Signature(), ") -> ")
	if op.Name == "invoke" {
		signature += ", arguments: {...}"
	}
	return "the tool takes " + signature + ")"
}

// decode checks a verb's own record.
func (t *toolCall) decode(raw json.RawMessage) (gjson.Result, error) {
	args, err := t.op.DecodeArgs(raw)
	var bad *idl.ArgumentError
	if errors.As(err, &bad) {
		return gjson.Result{}, t.misread(bad.Faults, bad.Corrected, nil)
	}
	return gjson.ParseBytes(args.Record), nil
}

func (t *toolCall) discover(raw json.RawMessage) (any, error) {
	r, err := t.decode(raw)
	if err != nil {
		return nil, err
	}
	return t.client.Discover(t.ctx, t.principal, r.Get("scope").Str, r.Get("query").Str)
}

func (t *toolCall) inspect(raw json.RawMessage) (any, error) {
	r, err := t.decode(raw)
	if err != nil {
		return nil, err
	}
	found, err := t.client.Inspect(t.ctx, t.principal, r.Get("target").Str)
	if err != nil {
		return nil, err
	}
	return Describe(found), nil
}

func (t *toolCall) invoke(raw json.RawMessage) (any, error) {
	sent := split(raw)
	args, err := t.op.DecodeArgs(sent.own)
	faults := sent.faults
	var record json.RawMessage // with target and operation; nil if they are not known
	var bad *idl.ArgumentError
	if errors.As(err, &bad) {
		record, faults = bad.Corrected, append(faults, bad.Faults...)
	} else {
		record = args.Record
	}
	call := client.Call{
		ID: t.id, Target: gjson.GetBytes(record, "target").Str, Operation: gjson.GetBytes(record, "operation").Str,
		Arguments: sent.arguments,
	}
	if len(faults) > 0 {
		for i := range faults {
			faults[i].Path = sent.at + faults[i].Path
		}
		var meant *client.Call
		if record != nil {
			meant = &call
		}
		return nil, t.misread(faults, nil, meant)
	}
	out, err := t.client.Invoke(t.ctx, t.principal, call)
	if err != nil {
		return nil, err
	}
	repairs := sent.repairs
	for _, r := range args.Repairs {
		repairs = append(repairs, idl.Repair{Path: sent.at + r.Path, Note: r.Note})
	}
	out.Repaired = append(repairs, out.Repaired...)
	return out, nil
}

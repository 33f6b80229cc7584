package adapter

import (
	"context"
	"encoding/json"
	"errors"
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
func Call(ctx context.Context, c *client.Client, p *client.Principal, tool, id string, raw json.RawMessage) (Answer, bool) {
	op := verbs.Operation(tool)
	if op == nil {
		return Answer{}, false
	}
	var out any
	var err error
	switch tool {
	case "discover":
		out, err = callDiscover(ctx, c, p, op, raw)
	case "inspect":
		out, err = callInspect(ctx, c, p, op, raw)
	case "invoke":
		out, err = callInvoke(ctx, c, p, op, id, raw)
	}
	if err != nil {
		return failed(err), true
	}
	return Answer{JSON: marshal(out)}, true
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

// refused answers a verb's own arguments, with the corrected record if there
// is one.
func refused(err error) error {
	var bad *idl.ArgumentError
	if !errors.As(err, &bad) {
		return err
	}
	return &client.Error{
		Class: client.BadArguments, Message: "the arguments do not fit the tool",
		Faults: bad.Faults, Hint: signatures[bad.Operation.Name], Corrected: bad.Corrected,
	}
}

var signatures = map[string]string{
	"discover": `the tool takes {"query": "...", "scope": "/"}`,
	"inspect":  `the tool takes {"target": "/path"}`,
	"invoke":   `the tool takes {"target": "/path", "operation": "name", "arguments": {...}}`,
}

func callDiscover(ctx context.Context, c *client.Client, p *client.Principal, op *idl.Operation, raw json.RawMessage) (any, error) {
	args, err := op.DecodeArgs(raw)
	if err != nil {
		return nil, refused(err)
	}
	r := gjson.ParseBytes(args.Record)
	found, err := c.Discover(ctx, p, r.Get("scope").String(), r.Get("query").String())
	return found, err
}

func callInspect(ctx context.Context, c *client.Client, p *client.Principal, op *idl.Operation, raw json.RawMessage) (any, error) {
	args, err := op.DecodeArgs(raw)
	if err != nil {
		return nil, refused(err)
	}
	found, err := c.Inspect(ctx, p, gjson.GetBytes(args.Record, "target").String())
	if err != nil {
		return nil, err
	}
	return Describe(found), nil
}

func callInvoke(ctx context.Context, c *client.Client, p *client.Principal, op *idl.Operation, id string, raw json.RawMessage) (any, error) {
	verb, arguments, repairs := split(raw)
	args, err := op.DecodeArgs(verb)
	if err != nil {
		err = refused(err)
		var e *client.Error
		if errors.As(err, &e) && e.Corrected != nil {
			r := gjson.ParseBytes(e.Corrected)
			e.Corrected = marshal(client.Call{Target: r.Get("target").String(), Operation: r.Get("operation").String(), Arguments: arguments})
		}
		return nil, err
	}
	r := gjson.ParseBytes(args.Record)
	out, err := c.Invoke(ctx, p, client.Call{
		ID: id, Target: r.Get("target").String(), Operation: r.Get("operation").String(), Arguments: arguments,
	})
	if err != nil {
		return nil, err
	}
	if more := append(repairs, args.Repairs...); len(more) > 0 {
		out.Repaired = append(more, out.Repaired...)
	}
	return out, nil
}

// split takes invoke's record apart into the verb's own fields and the
// operation's arguments, which stay unread. It puts right three slips of form,
// none of which leaves a value without its one place: the whole record in an
// envelope, the operation's arguments beside the verb's own fields, and no
// arguments at all for the empty record. Whatever is no record is left to the
// check, which says so.
func split(raw json.RawMessage) (verb, arguments json.RawMessage, repairs []idl.Repair) {
	if !gjson.ValidBytes(raw) {
		return raw, nil, nil
	}
	record := gjson.ParseBytes(raw)
	if record.Type == gjson.String && gjson.Valid(record.Str) {
		record = gjson.Parse(record.Str)
		repairs = append(repairs, idl.Repair{Path: "", Note: "read the record from a string"})
	}
	if inner, key := envelope1(record); inner.Exists() {
		record = inner
		repairs = append(repairs, idl.Repair{Path: "/" + key, Note: "took the record out of an envelope"})
	}
	if !record.IsObject() {
		return raw, nil, nil
	}
	var own, beside []string
	found := 0
	record.ForEach(func(key, value gjson.Result) bool {
		field := key.Raw + ":" + value.Raw
		switch {
		case key.Str == "arguments":
			found++
			arguments = json.RawMessage(value.Raw)
		case isVerbField(key.Str):
			own = append(own, field)
		default:
			beside = append(beside, field)
		}
		return true
	})
	switch {
	case found > 1:
		return json.RawMessage(record.Raw), arguments, repairs
	case found == 0 && len(beside) > 0 && len(own) >= 2:
		arguments = json.RawMessage("{" + strings.Join(beside, ",") + "}")
		repairs = append(repairs, idl.Repair{Path: "", Note: "read the fields beside target and operation as the arguments"})
	case found == 0:
		arguments = json.RawMessage("{}")
		own = append(own, beside...)
	default:
		own = append(own, beside...)
	}
	return json.RawMessage("{" + strings.Join(own, ",") + "}"), arguments, repairs
}

func isVerbField(key string) bool { return key == "target" || key == "operation" }

// envelope1 returns what a record's only field holds if that is invoke's whole
// record.
func envelope1(record gjson.Result) (inner gjson.Result, key string) {
	n := 0
	record.ForEach(func(k, v gjson.Result) bool {
		n++
		inner, key = v, k.Str
		return n < 2
	})
	if !record.IsObject() || n != 1 {
		return gjson.Result{}, ""
	}
	if inner.Type == gjson.String && gjson.Valid(inner.Str) {
		inner = gjson.Parse(inner.Str)
	}
	switch key {
	case "arguments", "args", "input", "params", "parameters", "invoke":
		if inner.IsObject() && inner.Get("target").Exists() && inner.Get("operation").Exists() {
			return inner, key
		}
	}
	return gjson.Result{}, ""
}

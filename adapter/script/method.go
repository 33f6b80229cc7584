package script

import (
	"fmt"
	"maps"
	"strings"

	"github.com/tidwall/gjson"
	"go.starlark.net/starlark"

	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/idl"
)

// method is an operation of an entry.
type method struct {
	of *object
	op client.Operation
}

var _ starlark.Callable = (*method)(nil)

func (m *method) Type() string          { return "operation" }
func (m *method) Freeze()               {}
func (m *method) Truth() starlark.Bool  { return true }
func (m *method) Hash() (uint32, error) { return starlark.String(m.String()).Hash() }
func (m *method) String() string        { return "<operation " + m.Name() + ">" }

// Name returns how a script writes the operation.
func (m *method) Name() string { return methodName(m.of.path, m.op.Name) }

func methodName(path, operation string) string {
	if !identifier(operation) {
		return "getattr(" + expression(path) + ", " + starlark.String(operation).String() + ")"
	}
	return expression(path) + "." + operation
}

// CallInternal calls the operation.
func (m *method) CallInternal(thread *starlark.Thread, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
	r := thread.Local(runKey).(*run)
	named, err := m.arguments(args, kwargs)
	if err != nil {
		return nil, err
	}
	return m.invoke(r, named)
}

// arguments names all arguments. An operation takes a record (W7), so arguments
// have names. Two forms without are clear all the same: one argument, where one
// parameter alone is required; and the whole record as a dict.
func (m *method) arguments(args starlark.Tuple, kwargs []starlark.Tuple) (map[string]starlark.Value, error) {
	named := make(map[string]starlark.Value, len(args)+len(kwargs))
	for _, kv := range kwargs {
		name := string(kv[0].(starlark.String))
		if named[name] != nil {
			return nil, m.misused("found the argument " + short(name) + " twice, expected it once")
		}
		named[name] = kv[1]
	}
	if len(args) == 0 {
		return named, nil
	}
	params := m.op.Operation.Params
	var required []*idl.Param
	for _, p := range params {
		if p.Required() {
			required = append(required, p)
		}
	}
	dict, isDict := args[0].(*starlark.Dict)
	switch one := len(args) == 1; {
	case one && isDict && len(kwargs) == 0 && !(len(required) == 1 && holdsFields(required[0].Type)):
		for k, v := range dict.Entries() {
			name, ok := starlark.AsString(k)
			if !ok {
				return nil, m.misused("found a key of type " + k.Type() + " in the record of arguments, expected a string")
			}
			named[name] = v
		}
		return named, nil
	case one && len(required) == 1 && named[required[0].Name] == nil && !(isDict && holdsFields(required[0].Type)):
		named[required[0].Name] = args[0]
		return named, nil
	}
	e := m.misused(fmt.Sprintf("found %d %s without a name, expected names", len(args), plural(len(args), "argument")))
	if len(params) < len(args) {
		e.Failure.Message += fmt.Sprintf("; it takes %d %s", len(params), plural(len(params), "parameter"))
		return nil, e
	}
	record := maps.Clone(named)
	for i, v := range args {
		record[params[i].Name] = v
	}
	if raw, err := encodeArguments(record, params); err == nil {
		e.Corrected = methodCall(m.of.path, m.op.Name, raw)
	}
	return nil, e
}

// tooLarge says where a result is kept that is too large for a value: a script
// reads it in parts.
func tooLarge(a *client.Artifact) *client.Error {
	return &client.Error{
		Class: client.Domain, Message: fmt.Sprintf("the result has %d bytes, which is too large for a value", a.Bytes),
		Hint: fmt.Sprintf("ask for less, or read it in parts: entry(%q) has select(path=...), search(query=...), lines(first=1) and read(offset=0)", a.Path),
	}
}

// misused says that arguments cannot be a record.
func (m *method) misused(message string) *CallError {
	return &CallError{Failure: &client.Error{Class: client.BadArguments, Message: m.Name() + ": " + message}}
}

// holdsFields reports whether a dict can be a value of the type, so that one dict
// may be the parameter as well as the record of all.
func holdsFields(t *idl.Type) bool { return t.Kind == idl.RecordOf || t.Kind == idl.Map }

func plural(n int, thing string) string {
	if n == 1 {
		return thing
	}
	return thing + "s"
}

// invoke makes one call, as any other caller would, and counts it.
func (m *method) invoke(r *run, args map[string]starlark.Value) (starlark.Value, error) {
	op := m.op.Operation
	raw, err := encodeArguments(args, op.Params)
	if err != nil {
		return nil, m.misused(err.Error())
	}
	if r.stopped != nil || r.ctx.Err() != nil {
		return nil, r.trouble()
	}
	if limit := r.env.limits.Calls; limit > 0 && r.cost+op.Cost > limit {
		return nil, r.stop("calls", fmt.Sprintf("the script called operations that cost more than %d", limit))
	}
	if err := r.alloc(int64(op.MaxOutput)); err != nil {
		return nil, err
	}
	r.cost += op.Cost
	r.calls++
	c := client.Call{Target: m.of.path, Operation: m.op.Name, Arguments: raw}
	if id := r.env.cfg.ID; id != "" {
		r.env.calls++
		c.ID = fmt.Sprintf("%s.%d", id, r.env.calls)
	}
	out, err := r.env.cfg.Client.Invoke(r.ctx, r.env.cfg.Principal, c)
	if err != nil {
		return nil, r.refused(err)
	}
	if out.Artifact != nil {
		return nil, &CallError{Failure: tooLarge(out.Artifact)}
	}
	if out.Trust != "" || strings.Contains(gjson.GetBytes(out.Result, "trust").Str, "untrusted") {
		r.untrusted = true
	}
	d := decoder{run: r}
	v, err := d.value(gjson.ParseBytes(out.Result), op.Result)
	if p, ok := v.(*page); ok && err == nil && hasPages(op) {
		p.method, p.args = m, args
	}
	return v, err
}

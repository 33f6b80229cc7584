package adapter

import (
	"context"
	"encoding/json"
	"errors"
	"runtime/debug"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/wipagent/wipagent/adapter/dialect"
	"github.com/wipagent/wipagent/client"
)

// Config configures an Adapter.
type Config struct {
	Client *client.Client
	// Code, if not nil, adds a tool that runs programs on what the caller may
	// see.
	Code Runner
}

// Runner is a tool that runs programs. It must be safe for concurrent use, and
// hold a program to the same policy, limits and log as single calls.
type Runner interface {
	// Tool declares the tool. It is always the same.
	Tool() dialect.Tool
	// Run runs the program in the record that a model sent. Whatever is wrong
	// with the record or the program is said in the Answer. The id goes to the
	// audit record.
	Run(ctx context.Context, p *client.Principal, id string, arguments json.RawMessage) Answer
}

// Adapter answers the calls of models. It is safe for concurrent use; all calls
// that one caller's mistakes are to be counted over must go to one Adapter.
type Adapter struct {
	client  *client.Client
	code    Runner
	repeats *repeats
}

// New returns an Adapter for a client's space.
func New(cfg Config) *Adapter {
	return &Adapter{client: cfg.Client, code: cfg.Code, repeats: newRepeats()}
}

// Answer is what a tool call comes to: one JSON object, and whether it is the
// error form {"error":{...}}.
type Answer struct {
	JSON   json.RawMessage
	Failed bool
	// Untrusted says that JSON may hold a stranger's words.
	Untrusted bool
	// Err is the error in JSON, of a Runner's that failed; beside it JSON may
	// have other members. Nil if nothing is to be made of it. Settled says that
	// the same record fails alike each time.
	Err     *client.Error
	Settled bool
}

// Call runs one of the three verbs, or the tool of Config.Code, with the record
// that a model sent. It never fails otherwise than by an Answer that says so,
// and reports false only for a tool that does not exist. The id goes to the
// audit record; see client.Call.
func (a *Adapter) Call(ctx context.Context, p *client.Principal, name, id string, raw json.RawMessage) (Answer, bool) {
	t := a.tool(name)
	if t == nil {
		return Answer{}, false
	}
	return a.run(&toolCall{ctx: ctx, client: a.client, principal: p, id: id}, t, raw, asSent), true
}

// tool returns the tool of that name which does not depend on what is mounted.
func (a *Adapter) tool(name string) tool {
	if op := verbs.Operation(name); op != nil {
		return verbTool{op}
	}
	if a.code != nil && a.code.Tool().Name == name {
		return codeTool{a.code, name}
	}
	return nil
}

// tool is what a model may call.
type tool interface {
	// verb is what the tool counts as in audit records, and called its own
	// name.
	verb() string
	called() string
	// run does what the record asks for. The error is a *client.Error whose
	// corrected call is a record of this tool.
	run(c *toolCall, raw json.RawMessage) (Answer, error)
	// example returns a record of the tool that would not have failed like
	// the call did, or nil.
	example(c *toolCall, e *client.Error) json.RawMessage
}

// toolCall is one call of a tool on its way.
type toolCall struct {
	ctx       context.Context
	client    *client.Client
	principal *client.Principal
	id        string
	meant     client.Call // what was called, as far as run could tell
}

// asSent is for tools whose records are sent as they are.
func asSent(record json.RawMessage) json.RawMessage { return record }

// run calls a tool. The records that are proposed to the model are put by write
// into the form in which it sends them.
func (a *Adapter) run(c *toolCall, t tool, raw json.RawMessage, write func(json.RawMessage) json.RawMessage) Answer {
	attempt := a.repeats.begin(c.principal, t.called(), raw)
	answer, err := Answer{}, attempt.stop(c, t)
	if err == nil {
		answer, err = a.attempt(c, t, raw)
	}
	if err == nil {
		if !answer.Failed {
			attempt.succeeded()
		}
		return answer
	}
	var e *client.Error
	if !errors.As(err, &e) {
		e = a.client.Defect(t.called(), err, nil)
	}
	if e.Waiting() { // the same call comes again, and counts then
		return Answer{JSON: marshal(e), Failed: true}
	}
	e = attempt.failed(c, t, e, answer.Settled, write)
	untrusted := answer.Untrusted || e.Untrusted || a.client.Strangers(c.principal)
	return Answer{JSON: beside(marshal(e), answer.JSON), Failed: true, Untrusted: untrusted}
}

// beside adds to an error what stands behind the error in an answer; empty if
// there is no such answer.
func beside(failed, answer json.RawMessage) json.RawMessage {
	old := gjson.GetBytes(answer, "error")
	if !old.Exists() || old.Index == 0 {
		return failed
	}
	return append(failed[:len(failed)-1:len(failed)-1], answer[old.Index+len(old.Raw):]...)
}

// attempt runs the tool; a panic is a defect.
func (a *Adapter) attempt(c *toolCall, t tool, raw json.RawMessage) (answer Answer, err error) {
	defer func() {
		if v := recover(); v != nil {
			answer, err = Answer{}, a.client.Defect(t.called(), v, debug.Stack())
		}
	}()
	return t.run(c, raw)
}

// codeTool is the tool of Config.Code.
type codeTool struct {
	runner Runner
	name   string
}

func (t codeTool) verb() string   { return "invoke" }
func (t codeTool) called() string { return t.name }

func (t codeTool) run(c *toolCall, raw json.RawMessage) (Answer, error) {
	answer := t.runner.Run(c.ctx, c.principal, c.id, raw)
	if answer.Failed && answer.Err != nil {
		return answer, answer.Err
	}
	return answer, nil
}

func (t codeTool) example(*toolCall, *client.Error) json.RawMessage {
	if examples := t.runner.Tool().Examples; len(examples) > 0 {
		return examples[0]
	}
	return nil
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

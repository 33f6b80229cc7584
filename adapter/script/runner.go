package script

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strings"
	"testing/fstest"
	"time"

	"github.com/tidwall/gjson"
	"go.starlark.net/starlark"

	"github.com/wipagent/wipagent/adapter"
	"github.com/wipagent/wipagent/adapter/dialect"
	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/idl"
)

//go:embed script.wip
var document []byte

// tool declares code mode's tool in the language in which operations are
// declared, so that its record is checked, repaired and corrected alike.
var tool = func() *idl.Operation {
	docs, err := idl.Compile(idl.FSLoader(fstest.MapFS{"script.wip": {Data: document}}), "script.wip")
	if err != nil {
		panic(fmt.Sprintf("script: script.wip: %v", err))
	}
	return docs[0].Interface("Tool").Operations[0]
}()

// Runner is code mode: one tool that runs a script as its caller. It is safe for
// concurrent use.
type Runner struct {
	client *client.Client
	limits Limits
	slots  chan struct{} // one for each script that runs
}

// maxScripts is how many scripts of one Runner run at once. Each may take a core
// and the memory of its limits; whoever asks for more waits as long as a script
// may take.
const maxScripts = 4

var _ adapter.Runner = (*Runner)(nil)

// NewRunner returns the tool that runs scripts over a client's space. A limit of
// 0 is that of DefaultLimits; Output bounds the JSON of a whole answer.
func NewRunner(c *client.Client, limits Limits) *Runner {
	return &Runner{c, limits.or(DefaultLimits), make(chan struct{}, maxScripts)}
}

// answerForm is the JSON Schema of an answer.
const answerForm = `{"type":"object","properties":{"output":{"type":"string"},"value":{},"calls":{"type":"integer"},"truncated":{"type":"boolean"},` +
	`"hint":{"type":"string"},"trust":{"type":"string"},"error":{"type":"object"}}}`

// Tool declares the tool. What it may do is what the operations may that are
// mounted.
func (n *Runner) Tool() dialect.Tool {
	readOnly := n.client.ReadOnly()
	return dialect.Tool{
		Name: tool.Name, Description: tool.Doc, Params: tool.Params, Output: json.RawMessage(answerForm), Examples: tool.Examples,
		ReadOnly: readOnly, Destructive: !readOnly, Idempotent: readOnly, Timeout: n.limits.Time, MaxOutput: n.limits.Output,
	}
}

// answer is what a script comes to.
type answer struct {
	Output string `json:"output"`
	// Value is the last expression's; null if there is none.
	Value json.RawMessage `json:"value"`
	Calls int             `json:"calls"` // operations called
	// Truncated says that output or value are not whole, and Hint why.
	Truncated bool   `json:"truncated,omitempty"`
	Hint      string `json:"hint,omitempty"`
	Trust     string `json:"trust,omitempty"`
}

// Run runs the script in a record {"code":...}. The operations that it calls are
// calls of the principal like any other: the same policy, approval and log, under
// the identifiers id.1, id.2.
func (n *Runner) Run(ctx context.Context, p *client.Principal, id string, arguments json.RawMessage) adapter.Answer {
	args, err := tool.DecodeArgs(arguments)
	var bad *idl.ArgumentError
	if errors.As(err, &bad) {
		err = n.client.Misread(ctx, p, "run", id, &client.Error{
			Class: client.BadArguments, Message: "the arguments do not fit the tool", Faults: bad.Faults,
			Hint: "the tool takes run_script(code: string [1..32768 bytes])", Corrected: bad.Corrected,
		})
		return failed(err, encode(err))
	}
	code := gjson.GetBytes(args.Record, "code").Str
	var out bytes.Buffer
	var done adapter.Answer
	untrusted, limited, printed := false, false, 0
	err = n.client.Run(p, id, func(id string) (int, error) {
		if err := n.enter(ctx); err != nil {
			return 0, err
		}
		defer func() { <-n.slots }()
		e := New(Config{Client: n.client, Principal: p, Limits: n.limits, Output: &out, ID: id})
		e.quiet = true
		a := answer{Value: json.RawMessage("null")}
		_, err := e.execute(ctx, scriptName, code, false, func(r *run, v starlark.Value) error {
			a.Calls = r.calls
			return n.value(r, v, &a)
		})
		untrusted, printed = e.untrusted, e.printed
		if err != nil {
			var limit *LimitError
			limited = errors.As(err, &limit) && limit.Limit != "cancelled"
			return 0, n.failure(code, err)
		}
		if untrusted {
			a.Trust = untrustedMark
		}
		done = adapter.Answer{JSON: n.fitted(a, out.String(), printed), Untrusted: untrusted}
		return len(done.JSON), nil
	})
	if err != nil {
		a := failed(err, n.withOutput(encode(err), out.String(), printed))
		a.Untrusted, a.Settled = untrusted, limited
		return a
	}
	return done
}

func failed(err error, answer json.RawMessage) adapter.Answer {
	a := adapter.Answer{JSON: answer, Failed: true}
	errors.As(err, &a.Err)
	return a
}

// enter waits for a slot.
func (n *Runner) enter(ctx context.Context) error {
	wait := time.NewTimer(n.limits.Time)
	defer wait.Stop()
	select {
	case n.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-wait.C:
		return &client.Error{
			Class: client.Unavailable, Message: "too many scripts are running", Hint: "send the same script again a little later",
			RetryAfter: n.limits.Time,
		}
	}
}

// scriptName stands in front of the places in the errors of the tool's scripts.
const scriptName = "code"

// untrustedMark marks a stranger's words (P7).
const untrustedMark = "untrusted_observed_data"

// encode writes a value of our own types.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("script: an answer does not encode: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// value puts the last expression's value into the answer, if it is not too long.
func (n *Runner) value(r *run, v starlark.Value, a *answer) error {
	e := encoder{limit: n.limits.Output / 2, loose: true}
	_, err := r.weigh(v)
	if trouble := r.trouble(); trouble != nil {
		return trouble
	}
	if err == nil {
		err = e.value(v, 0)
	}
	if size := e.buf.Len(); err != nil || size > e.limit {
		a.Truncated, a.Hint = true, fmt.Sprintf("the value of the last expression has no form in JSON of at most %d bytes, and was left out: print what matters of it", e.limit)
		return nil
	}
	a.Value = bytes.Clone(e.buf.Bytes())
	return nil
}

// fitted returns the answer with as much of the output, from its start, as there
// is room for. The script printed so many bytes, of which output may be the first.
func (n *Runner) fitted(a answer, output string, printed int) json.RawMessage {
	with := func(keep int) json.RawMessage {
		a := a // each try starts anew
		if a.Output = strings.ToValidUTF8(output[:keep], ""); len(a.Output) < printed {
			a.Truncated = true
			a.Hint = strings.TrimPrefix(fmt.Sprintf("%s; of the output the first %d of %d bytes are shown: print less", a.Hint, len(a.Output), printed), "; ")
		}
		return encode(a)
	}
	return with(n.room(output, with))
}

// room returns how many bytes of the output there is room for.
func (n *Runner) room(output string, with func(keep int) json.RawMessage) int {
	return sort.Search(len(output), func(keep int) bool { return len(with(keep+1)) > n.limits.Output })
}

// withOutput adds to an error what was printed before it, as far as there is
// room.
func (n *Runner) withOutput(failed json.RawMessage, output string, printed int) json.RawMessage {
	if output == "" {
		return failed
	}
	with := func(keep int) json.RawMessage {
		kept := strings.ToValidUTF8(output[:keep], "")
		raw := append(bytes.Clone(failed[:len(failed)-1]), `,"output":`...)
		raw = append(raw, encode(kept)...)
		if len(kept) < printed {
			raw = append(raw, `,"truncated":true`...)
		}
		return append(raw, '}')
	}
	return with(n.room(output, with))
}

// failure returns a script's error as the client's (T5): the place is a fault of
// the code, and the call to write instead is the hint. If the call that failed
// says all it says literally, the corrected record is the script with the other
// call in its place.
func (n *Runner) failure(code string, err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	place := ""
	if e.Line > 0 {
		place = fmt.Sprintf("line %d, column %d: ", e.Line, e.Column)
	}
	var call *CallError
	var limit *LimitError
	switch {
	case errors.As(err, &call):
		f := *call.Failure
		f.Message, f.Corrected = bounded(place+printable(f.Message)), nil
		for i, fault := range call.Failure.Faults {
			if i == 0 {
				f.Faults = nil
			}
			f.Faults = append(f.Faults, idl.Fault{Path: "/code", Constraint: bounded(place + "at " + fault.Path + ": " + fault.Constraint)})
		}
		if call.Corrected != "" {
			if call.attr == "" && len(call.Corrected) <= maxMessage-len(f.Hint) {
				f.Hint = strings.TrimPrefix(f.Hint+"; write "+call.Corrected, "; ")
			}
			fixed := ""
			if call.attr != "" {
				fixed = replaceAttr(code, e.Line, e.Column, call.attr)
			} else {
				fixed = replaceCall(code, e.Line, e.Column, call.Corrected)
			}
			if fixed != "" && len(fixed) <= 32<<10 {
				f.Corrected = encode(map[string]string{"code": fixed})
			}
		}
		return &f
	case errors.As(err, &limit):
		if limit.Limit == "cancelled" {
			return limit.Unwrap()
		}
		return &client.Error{Class: client.Domain, Message: place + limit.Message, Hint: "do less in one script: smaller loops, fewer calls"}
	}
	constraint := place + e.Message
	for i := len(e.Stack) - 2; i >= 0; i-- { // the last is the place itself
		constraint += "\ncalled at " + strings.TrimPrefix(e.Stack[i], e.Name+":")
	}
	failed := &client.Error{Class: client.BadArguments, Message: "the script failed", Faults: []idl.Fault{{Path: "/code", Constraint: bounded(constraint)}}}
	if inner, ok := unfenced(code); ok {
		failed.Corrected = encode(map[string]string{"code": inner})
	}
	return failed
}

package adapter

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"sync"
	"time"

	"github.com/wipagent/wipagent/adapter/dialect"
	"github.com/wipagent/wipagent/client"
)

// ToolsetOptions say how tools are shown.
type ToolsetOptions struct {
	Dialect *dialect.Dialect // nil is the portable core
	Surface Surface          // empty is Verbs
	Options dialect.Options
	// Run names the conversation, in which no two calls have one ID; with a
	// call's ID it makes the key by which a Host knows a call that it has
	// carried out. Empty is a random one of the Toolset.
	Run string
}

// Toolset is what one caller is given to work with, in one provider's form: the
// tools go out, calls come in, results go back. It stays as it is when what is
// mounted changes; make another one then. It is safe for concurrent use.
type Toolset struct {
	adapter   *Adapter
	principal *client.Principal
	export    *dialect.Export
	tools     []offered
	mark      []byte // the secret of the marks around strangers' words
	run       string
}

// Toolset returns the tools of a surface for a caller. The same tools and
// options give the same bytes. If the provider has no room for every operation,
// the verbs come too, which reach all of them. The error is that of the options.
func (a *Adapter) Toolset(_ context.Context, p *client.Principal, opt ToolsetOptions) (*Toolset, error) {
	if opt.Dialect == nil {
		opt.Dialect = dialect.Lookup("portable")
	}
	tools, err := a.surface(p, opt.Surface)
	if err != nil {
		return nil, err
	}
	export, err := exported(tools, opt)
	if err == nil && len(export.Dropped) > 0 && opt.Surface == Operations && tools[0].called() != "discover" {
		tools = append(a.verbs(), tools...)
		export, err = exported(tools, opt)
	}
	if err != nil {
		return nil, err
	}
	mark := make([]byte, 32)
	rand.Read(mark) // never fails
	return &Toolset{a, p, export, tools, mark, cmp.Or(opt.Run, rand.Text())}, nil
}

func exported(tools []offered, opt ToolsetOptions) (*dialect.Export, error) {
	declared := make([]dialect.Tool, len(tools))
	for i, t := range tools {
		declared[i] = t.declared
		if operation, ok := t.tool.(*operationTool); ok && opt.Options.Programmatic {
			declared[i].Output = operation.typed()
		}
	}
	return opt.Dialect.Export(declared, opt.Options)
}

// Instructions tells a model in a few words how the tools belong together.
func (t *Toolset) Instructions() string {
	if len(t.tools) > 0 && t.tools[0].called() == "discover" {
		return Instructions
	}
	return operationInstructions
}

// Timeout returns the longest time that the tools allow a call.
func (t *Toolset) Timeout() time.Duration {
	var longest time.Duration
	for _, tool := range t.tools {
		longest = max(longest, tool.declared.Timeout)
	}
	return longest
}

// Export returns the tools in the provider's form, with what it cannot say of
// them.
func (t *Toolset) Export() *dialect.Export { return t.export }

// Answer runs one call. Whatever is wrong with it is said in the Result.
func (t *Toolset) Answer(ctx context.Context, call dialect.Call) dialect.Result {
	c := &toolCall{ctx: client.WithRun(ctx, t.run), client: t.adapter.client, principal: t.principal, id: call.ID}
	i, ok := t.export.Index(call.Name)
	var answer Answer
	if !ok {
		none := t.noTool(c, call.Name, call.Arguments)
		answer = t.adapter.run(c, none, call.Arguments, func(record json.RawMessage) json.RawMessage {
			return t.export.Express(none.meant, record) // there is no record without a tool
		})
	} else {
		answer = t.adapter.run(c, t.tools[i].tool, t.export.Arguments(i, call.Arguments), func(record json.RawMessage) json.RawMessage {
			return t.export.Express(i, record)
		})
	}
	return dialect.Result{Call: call, JSON: answer.JSON, Failed: answer.Failed, Untrusted: answer.Untrusted}
}

// atOnce bounds the calls of one message that run at the same time.
const atOnce = 8

// Turn reads a whole message of the provider's, runs the calls in it and
// returns what is to be appended to the conversation, with the number of calls;
// nil if there were none. Calls that change nothing run at the same time, and
// if one of a message may change something all run in order. The answers are in
// the order of the calls. The error is that of the dialect's Calls, for a message
// that is none of the provider's; then nothing was run.
func (t *Toolset) Turn(ctx context.Context, message []byte) (reply json.RawMessage, calls int, err error) {
	list, err := t.export.Dialect.Calls(message)
	if err != nil || len(list) == 0 {
		return nil, 0, err
	}
	results := make([]dialect.Result, len(list))
	if t.readOnly(list) {
		var running sync.WaitGroup
		slots := make(chan struct{}, atOnce)
		for i, call := range list {
			slots <- struct{}{}
			running.Go(func() {
				defer func() { <-slots }()
				results[i] = t.Answer(ctx, call)
			})
		}
		running.Wait()
	} else {
		for i, call := range list {
			results[i] = t.Answer(ctx, call)
		}
	}
	reply, err = t.export.Dialect.Results(results, dialect.ResultOptions{Mark: t.mark})
	return reply, len(list), err
}

// readOnly reports whether all calls are of tools that change nothing.
func (t *Toolset) readOnly(calls []dialect.Call) bool {
	for _, call := range calls {
		if i, ok := t.export.Index(call.Name); ok && !t.tools[i].declared.ReadOnly {
			return false
		}
	}
	return true
}

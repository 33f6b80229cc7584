package client

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/tidwall/gjson"

	"github.com/wipagent/wipagent/client/audit"
	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/cleantext"
	"github.com/wipagent/wipagent/space"
)

// Call is one call of an operation.
type Call struct {
	// ID identifies the call in audit records and, for one that changes
	// things, all its attempts: with who calls and the run it makes the key by
	// which a Host knows a call that it has carried out. It is the provider's
	// for the tool call. Empty is a fresh one, so that a call is then never
	// known again. The audit record has it only if it consists of letters,
	// digits and _.:- up to 64, and else a fresh one.
	ID string `json:"-"`
	// Run names what the call is part of, such as a conversation, in which no
	// two tool calls have one ID. Empty is the context's (WithRun), or else one
	// that the Client made up when it was made.
	Run string `json:"-"`
	// Target is an entry's path.
	Target string `json:"target"`
	// Operation is the operation's name.
	Operation string `json:"operation,omitempty"`
	// DryRun asks what the call would do. It is understood of an operation that
	// declares @dry_run alone.
	DryRun bool `json:"dry_run,omitempty"`
	// Interface, if not empty, is the qualified name of the interface that
	// declares the operation: those of other interfaces are then not meant,
	// and a corrected call is one of this interface too.
	Interface string `json:"-"`
	// Arguments is a record as a JSON object; nothing at all is an error
	// (W7: an operation without parameters takes the empty record).
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

// Outcome is the answer of an operation.
type Outcome struct {
	// Result has exactly the fields that the operation declares, texts
	// cleaned, at most MaxOutput bytes. It is empty if there is an Artifact.
	Result json.RawMessage `json:"result,omitempty"`
	// Artifact tells of a result that is too large for the answer.
	Artifact *Artifact `json:"artifact,omitempty"`
	// DryRun says that Result tells what would be done, and nothing was.
	DryRun bool `json:"dry_run,omitempty"`
	// Trust is "untrusted_observed_data" if Result holds a stranger's words
	// and does not say so itself, as a record does; else empty.
	Trust string `json:"trust,omitempty"`
	// Repaired tells what slips of form in the arguments were put right.
	Repaired []idl.Repair `json:"repaired,omitempty"`
	// Entries are the paths of type entry in Result, each once (W10).
	Entries []string `json:"entries,omitempty"`
	// Untrusted says that Result holds a stranger's words, whether it says so
	// itself or Trust does.
	Untrusted bool `json:"-"`
}

// Invoke calls an operation (W9). Every error is an *Error. When ctx ends the
// call ends, at the Host too.
func (c *Client) Invoke(ctx context.Context, p *policy.Principal, call Call) (out *Outcome, err error) {
	start := time.Now()
	rec := record(invoke, call.ID, p)
	defer c.finish(&rec, start, &err)
	return c.invoke(ctx, p, call, &rec)
}

// prepared is a call that has been understood: nothing has been asked for or
// done yet.
type prepared struct {
	node *space.Node
	op   *idl.Operation
	args *idl.Args // with the Host's own paths
	// call has the arguments as they were understood, with paths of the space.
	call Call
	id   string // the identifier of the audit record
	key  string // of all attempts at the call
}

// prepare resolves a call, hides what policy hides and checks the arguments. The
// operation is there, with the node, if only the arguments were wrong.
func (c *Client) prepare(ctx context.Context, p *policy.Principal, call Call) (prepared, error) {
	ctx, cancel := context.WithTimeout(ctx, idl.DefaultTimeout)
	defer cancel()
	n, err := c.resolve(ctx, p, call)
	if err != nil {
		return prepared{}, c.completedInvoke(ctx, p, err, call)
	}
	op := n.Operation(call.Operation, c.choices(p, n, call))
	if op == nil {
		return prepared{node: n}, c.completedInvoke(ctx, p, c.noOperation(p, n, call), call)
	}
	call, lifted := liftDryRun(op, call)
	ready := prepared{node: n, op: op, call: call}
	if e := checkDryRun(n, op, call); e != nil {
		return ready, e
	}
	if ready.args, err = op.DecodeArgs(call.Arguments); err != nil {
		return ready, c.badArguments(ctx, p, n, call, err)
	}
	ready.args.Repairs = append(lifted, ready.args.Repairs...)
	ready.call.Arguments = ready.args.Record
	ready.args.Record, err = c.hostEntries(ctx, p, &ready)
	return ready, err
}

// signature returns the operation's signature, without what a stranger may have
// hidden in its defaults.
func signature(n *space.Node, op *idl.Operation) string {
	s := op.Signature()
	if !n.Mount.Trusted {
		s, _ = cleantext.Clean(s, 0)
	}
	return s
}

func (c *Client) invoke(ctx context.Context, p *policy.Principal, call Call, rec *audit.Record) (*Outcome, error) {
	ready, err := c.prepare(ctx, p, call)
	if ready.op != nil {
		rec.Tool = policy.Identify(ready.node.Path, ready.node.Interfaces, ready.op)
	}
	if err != nil {
		return nil, quoting(ready.node, err)
	}
	ready.id, ready.key = rec.Call, c.idempotencyKey(ctx, p, call, rec.Call)
	out, err := c.carryOut(ctx, p, call, ready, rec)
	return out, quoting(ready.node, c.soFar(p, &ready, err))
}

// carryOut asks for approval, sends the call and shapes the answer.
func (c *Client) carryOut(ctx context.Context, p *policy.Principal, call Call, ready prepared, rec *audit.Record) (*Outcome, error) {
	if err := c.approval(ctx, p, &ready); err != nil {
		return nil, err
	}
	sending, cancel := context.WithTimeout(ctx, ready.op.Timeout)
	defer cancel()
	shaped, err := c.send(sending, p, &ready, rec)
	if suspect(&ready, err) {
		again, changed := c.again(sending, p, call, &ready)
		switch {
		case changed != nil:
			return nil, changed
		case again != nil:
			ready = *again
			shaped, err = c.send(sending, p, &ready, rec)
		}
	}
	if out := c.keep(ctx, p, &ready, rec, err); out != nil {
		return out, nil
	}
	if err != nil {
		return nil, c.unanswered(sending, p, &ready, rec.Tool, err)
	}
	rec.Bytes = len(shaped.JSON)
	out := &Outcome{
		Result: shaped.JSON, DryRun: ready.call.DryRun, Repaired: ready.args.Repairs,
		Entries: c.learn(ctx, p, shaped.Entries), Untrusted: shaped.Untrusted,
	}
	if out.DryRun {
		rec.Outcome = "dry_run"
	}
	_, words, _ := c.artifactOf(p, ready.node)
	out.Untrusted = out.Untrusted || words
	if out.Untrusted && !gjson.GetBytes(shaped.JSON, "trust").Exists() {
		out.Trust = untrusted
	}
	return out, nil
}

// untrusted marks a stranger's words (P7).
const untrusted = "untrusted_observed_data"

// learn keeps the entries that a result named and returns the paths that the
// principal may know (W10, W3). An entry that cannot be had now is no fault of
// the call: its path stays in the result and can be inspected later.
func (c *Client) learn(ctx context.Context, p *policy.Principal, paths []string) []string {
	if len(paths) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, idl.DefaultTimeout)
	defer cancel()
	start := time.Now()
	nodes, _ := c.space.Learn(ctx, p.Caller(), paths)
	var known []string
	for _, n := range nodes {
		c.notice(n, start)
		if c.visible(p, n) {
			known = append(known, n.Path)
		}
	}
	return known
}

// badArguments answers a refused record with all its faults.
func (c *Client) badArguments(ctx context.Context, p *policy.Principal, n *space.Node, call Call, err error) error {
	var bad *idl.ArgumentError
	if !errors.As(err, &bad) {
		return err
	}
	e := &Error{
		Class:   BadArguments,
		Message: "the arguments do not fit the operation",
		Faults:  bad.Faults,
		Hint:    "the signature: " + signature(n, bad.Operation),

		Operation: bad.Operation,
	}
	if record := c.knownEntries(ctx, p, n, bad.Operation, bad.Corrected); record != nil {
		e.Corrected = corrected(Call{Target: n.Path, Operation: call.Operation, DryRun: call.DryRun, Arguments: record})
	}
	return e
}

// quoting marks an error that may quote what the node's Host says.
func quoting(n *space.Node, err error) error {
	var e *Error
	if n != nil && n.Mount != nil && !n.Mount.Trusted && errors.As(err, &e) {
		e.Untrusted = true
	}
	return err
}

// clean makes a Host's words safe to show and short.
func clean(s string) string {
	s, _ = cleantext.Clean(s, 256)
	return s
}

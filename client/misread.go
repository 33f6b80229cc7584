package client

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/wipagent/wipagent/client/audit"
	"github.com/wipagent/wipagent/client/policy"
)

// Misread answers and records a call of a verb whose own record an adapter could
// not read; e says what is wrong with it. For an adapter each call then has one
// audit record, whatever became of it. meant are the calls of invoke that can
// have been meant as far as the adapter can tell, the likeliest first: with any,
// e.Corrected becomes the first that Invoke understands or else what it would
// propose in place of the last, and nil if that is nothing.
func (c *Client) Misread(ctx context.Context, p *policy.Principal, name, id string, e *Error, meant ...Call) (err error) {
	start := time.Now()
	rec := record(verb(name), id, p)
	defer c.finish(&rec, start, &err)
	for i, call := range meant {
		last := i == len(meant)-1
		if e.Corrected = c.understood(ctx, p, call, last); e.Corrected != nil {
			break
		}
	}
	return e
}

// understood returns the call in the form in which Invoke takes it as it is, or
// what Invoke would propose instead if that is asked for, or nil.
func (c *Client) understood(ctx context.Context, p *policy.Principal, call Call, propose bool) json.RawMessage {
	ready, err := c.prepare(ctx, p, call)
	var e *Error
	switch {
	case errors.As(err, &e) && propose:
		return e.Corrected
	case err != nil:
		return nil
	case len(ready.args.Repairs) > 0:
		call.Arguments, call.DryRun = ready.call.Arguments, ready.call.DryRun
	}
	return corrected(call)
}

// Defect answers a panic of an adapter at a call of a tool, and tells the
// operator. The value's type and the stack are all that is told.
func (c *Client) Defect(tool string, value any, stack []byte) *Error {
	return c.defect(&audit.Panic{Value: value, Stack: stack}, tool)
}

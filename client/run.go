package client

import (
	"time"

	"github.com/wipagent/wipagent/client/policy"
)

// run is the verb of audit records of programs.
const run verb = "run"

// Run records a program that calls verbs on behalf of p: how it ended, how long
// it took and how many bytes its answer has, and nothing of what it says (P16).
// Each call that it makes has its own record besides. The program is given the
// identifier of the record, which is id if that is fit for one and leaves room for
// a number, so that it can name its calls after it: ID.1, ID.2. It returns the
// length of its answer. Every error is an *Error; a panic of the program is a
// defect.
func (c *Client) Run(p *policy.Principal, id string, program func(id string) (bytes int, err error)) (err error) {
	start := time.Now()
	const room = 8 // ".1234567"
	if len(id) > 64-room {
		id = ""
	}
	rec := record(run, id, p)
	defer c.finish(&rec, start, &err)
	rec.Bytes, err = program(rec.Call)
	return err
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/wipagent/wipagent/adapter/script"
	"github.com/wipagent/wipagent/idl"
)

type runCmd struct {
	File string   `arg:"" optional:"" help:"The script; - is stdin." placeholder:"FILE|-"`
	Args []string `arg:"" optional:"" help:"What the script finds in the list args; behind -- if any begins with a dash."`
	Code *string  `short:"c" help:"Run this instead of a file." placeholder:"CODE"`

	artifactFlags
	Approve bool `help:"Approve every call of the script that may change things, without being asked."`

	MaxSteps  uint64        `default:"100000000" help:"Instructions that the script may take; 0 is no limit. Default: ${default}." placeholder:"N"`
	MaxTime   time.Duration `default:"1m" help:"How long the script may take, waiting included; 0 is no limit. Default: ${default}." placeholder:"TIME"`
	MaxCalls  int           `default:"1000" help:"Operations that the script may call, in units of their cost; 0 is no limit. Default: ${default}." placeholder:"N"`
	MaxMemory byteSize      `default:"256MiB" help:"What the script may allocate in all, what it throws away included. Default: ${default}." placeholder:"SIZE"`
	MaxOutput byteSize      `default:"1MiB" help:"What the script may print; what is beyond is counted and left out. Default: ${default}." placeholder:"SIZE"`
}

// Help shows examples.
func (runCmd) Help() string {
	return `A script is Starlark, a small Python. Entries are values, operations are methods, pages are lists that fetch more when a loop
goes on. There is no file, network or clock. help() in a script lists what there is. What the script prints is on stdout, and
behind it the value of its last line, if that is an expression; --json makes {"output", "value"} of both, or
{"output", "error"}.

An error goes to stderr, with its place and, where there is one, the call to write instead; the exit code is 1. It is 3 if the
script could not be read or was interrupted.

Examples:
  wipagent run visitors.star
  wipagent run -c 'grid.region.nearby_avatars(radius_meters=20)'
  wipagent run --world grid:robot --max-time 10m watch.star 30
  wipagent run --json - 50 <visitors.star`
}

// Run runs the command.
func (r *runCmd) Run(ctx context.Context, c *cli) error {
	if r.MaxTime < 0 || r.MaxCalls < 0 {
		return usageError("--max-time %v, --max-calls %d: expected 0 or more", r.MaxTime, r.MaxCalls)
	}
	p, err := r.read(ctx, c)
	if err != nil {
		return err
	}
	done, err := r.keep(c)
	if err != nil {
		return err
	}
	defer done()
	return c.with(ctx, once, func(ctx context.Context, s *session) error {
		ctx = s.approving(s.unapproved(ctx, "--approve approves all calls of the script"), r.Approve)
		if s.JSON {
			return r.forMachines(ctx, s, p)
		}
		e := r.env(s, s.io.out)
		e.Define("args", p.args)
		value, err := e.RunText(ctx, p.name, p.src)
		if err != nil {
			return s.scriptFailed(ctx, p, err, raiseHint)
		}
		if value != "" {
			fmt.Fprintln(s.io.out, value)
		}
		return nil
	})
}

// program is a script and what it is given.
type program struct {
	name string // in front of the places in errors
	src  []byte
	args []string
}

// maxScript is how many bytes of a script are read: more than one may have, so
// that it is refused as too long.
const maxScript = 1 << 20

// read returns the script that the command line names.
func (r *runCmd) read(ctx context.Context, c *cli) (*program, error) {
	p := &program{name: r.File, args: r.Args}
	switch {
	case r.Code != nil:
		if r.File != "" {
			p.args = append([]string{r.File}, p.args...)
		}
		p.name, p.src = "code", []byte(*r.Code)
		return p, nil
	case r.File == "":
		return nil, usageError("found no script; expected FILE, - for stdin, or -c CODE")
	}
	var from io.Reader = c.io.in
	if r.File == stdin {
		p.name = "stdin"
	} else {
		f, err := openFile(r.File)
		if err != nil {
			return nil, &exitError{exitUnavailable, err}
		}
		defer f.Close()
		from = f
	}
	type text struct {
		src []byte
		err error
	}
	read := make(chan text, 1)
	go func() { // which an interrupt leaves behind: reading cannot be broken off
		src, err := io.ReadAll(io.LimitReader(from, maxScript))
		read <- text{src, err}
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case t := <-read:
		if t.err != nil {
			return nil, &exitError{exitUnavailable, fmt.Errorf("%s: %w", p.name, t.err)}
		}
		p.src = bytes.TrimPrefix(t.src, []byte("\ufeff"))
		return p, nil
	}
}

// env returns where the script runs.
func (r *runCmd) env(s *session, out io.Writer) *script.Env {
	return script.New(script.Config{
		Client: s.client, Principal: s.principal, Output: out, Unlimited: true, Width: s.io.width,
		Limits: script.Limits{Steps: r.MaxSteps, Time: r.MaxTime, Calls: r.MaxCalls, Memory: int64(r.MaxMemory), Output: int(r.MaxOutput)},
	})
}

// runAnswer is what a script comes to, for machines.
type runAnswer struct {
	Output string          `json:"output"`
	Value  json.RawMessage `json:"value,omitempty"`
	Trust  string          `json:"trust,omitempty"`
	Error  *runError       `json:"error,omitempty"`
}

// runError is why a script failed. Class is the client's of a call that failed;
// else "limit" or "script".
type runError struct {
	Class     string      `json:"class"`
	Limit     string      `json:"limit,omitempty"` // the one that ended the script
	Message   string      `json:"message"`
	Outcome   string      `json:"outcome,omitempty"` // client.Error's
	Faults    []idl.Fault `json:"faults,omitempty"`
	Hint      string      `json:"hint,omitempty"`
	File      string      `json:"file"`
	Line      int         `json:"line,omitempty"`
	Column    int         `json:"column,omitempty"`
	Stack     []string    `json:"stack,omitempty"`
	Corrected string      `json:"corrected_call,omitempty"` // the call to write instead
}

// forMachines runs the script and prints what it comes to as JSON.
func (r *runCmd) forMachines(ctx context.Context, s *session, p *program) error {
	var out strings.Builder
	e := r.env(s, &out)
	e.Define("args", p.args)
	result, err := e.RunJSON(ctx, p.name, p.src)
	a := runAnswer{Output: out.String(), Value: result.Value}
	if result.Untrusted {
		a.Trust = "untrusted_observed_data"
	}
	if err == nil {
		s.printJSON(a)
		return nil
	}
	var failed *script.Error
	if !errors.As(err, &failed) {
		return err
	}
	a.Value, a.Error = nil, newRunError(failed)
	s.printJSON(a)
	if ctx.Err() != nil {
		return &exitError{exitUnavailable, errors.New("interrupted")}
	}
	return &exitError{code: exitFailed}
}

func newRunError(e *script.Error) *runError {
	r := &runError{Class: "script", Message: e.Message, File: e.Name, Line: e.Line, Column: e.Column, Stack: e.Stack}
	var call *script.CallError
	var limit *script.LimitError
	switch {
	case errors.As(e, &call):
		f := call.Failure
		r.Class, r.Message, r.Outcome, r.Faults, r.Hint, r.Corrected = string(f.Class), f.Message, f.Outcome, f.Faults, f.Hint, call.Corrected
	case errors.As(e, &limit):
		r.Class, r.Limit = "limit", limit.Limit
	}
	return r
}

// raiseHint says which flag raises a limit.
func raiseHint(limit string) string {
	if limit == "cancelled" {
		return ""
	}
	return fmt.Sprintf("--max-%s allows more", limit)
}

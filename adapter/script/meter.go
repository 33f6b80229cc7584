package script

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"

	"go.starlark.net/starlark"

	"github.com/wipagent/wipagent/client"
)

// run is one run of a script, and what it has used up.
type run struct {
	env    *Env
	ctx    context.Context
	thread *starlark.Thread
	src    string // of the script
	live   bool   // the script is a person's input at a prompt
	out    *output

	memory  int64 // bytes allocated
	cost    int   // of the calls made
	calls   int   // how many those were
	lookups int   // questions after entries that were not answered from seen
	seen    map[string]*client.Inspection

	// untrusted says that the run has come to hold a stranger's words.
	untrusted bool
	// stopped is the limit that ended the run; no script can catch it.
	stopped error
	// raised is a failure at a place where the language cannot raise one: in
	// the middle of an iteration.
	raised error
}

// LimitError says which limit ended a run.
type LimitError struct {
	Limit   string // "steps", "time", "calls", "memory" or "cancelled"
	Message string
	cause   error
}

// Error returns the message.
func (e *LimitError) Error() string { return e.Message }

// Unwrap returns the context's error, or nil.
func (e *LimitError) Unwrap() error { return e.cause }

// begin starts a run; the function that it returns ends it.
func (e *Env) begin(ctx context.Context) (*run, func()) {
	cancel := context.CancelFunc(func() {})
	if e.limits.Time > 0 {
		var c *clock
		c, cancel = newClock(ctx, e.limits.Time)
		ctx = client.WithPause(c, c.pause) // the script's time is not that of who is asked
	}
	r := &run{env: e, ctx: ctx, seen: map[string]*client.Inspection{}}
	r.out = &output{to: e.cfg.Output, limit: e.limits.Output}
	r.thread = &starlark.Thread{Name: "script", OnMaxSteps: func(*starlark.Thread) {
		r.stop("steps", fmt.Sprintf("the script took more than %d steps", e.limits.Steps))
	}}
	r.thread.SetLocal(runKey, r)
	if e.limits.Steps > 0 {
		r.thread.SetMaxExecutionSteps(e.limits.Steps)
	}
	before := e.run
	e.run = r
	unhook := context.AfterFunc(ctx, func() { r.thread.Cancel("ended") })
	return r, func() {
		unhook()
		e.untrusted = e.untrusted || r.untrusted
		cancel()
		e.printed = r.out.written + r.out.dropped
		if !e.quiet {
			r.out.end()
		}
		e.run = before
	}
}

// stop ends the run. It returns the error that says why.
func (r *run) stop(limit, message string) error {
	if r.stopped == nil {
		r.stopped = &LimitError{Limit: limit, Message: message}
	}
	r.thread.Cancel(limit)
	return r.stopped
}

// raise makes the run fail with err at its next step.
func (r *run) raise(err error) {
	if r.raised == nil {
		r.raised = err
	}
	r.thread.Cancel("failed")
}

// trouble returns why the run cannot go on, or nil.
func (r *run) trouble() error {
	switch {
	case r.stopped != nil:
		return r.stopped
	case r.ctx.Err() != nil:
		limit, message := "cancelled", "the script was cancelled"
		if errors.Is(r.ctx.Err(), context.DeadlineExceeded) {
			limit, message = "time", "the script ran out of time"
			if r.env.limits.Time > 0 {
				message = fmt.Sprintf("the script took longer than %s", r.env.limits.Time)
			}
		}
		r.stopped = &LimitError{Limit: limit, Message: message, cause: r.ctx.Err()}
		r.thread.Cancel(limit)
		return r.stopped
	}
	return r.raised
}

// alloc counts n bytes before they are allocated.
func (r *run) alloc(n int64) error {
	if limit := r.env.limits.Memory; n > 0 && limit > 0 {
		if r.memory += n; r.memory > limit || r.memory < 0 {
			return r.stop("memory", fmt.Sprintf("the script allocated more than %d bytes", limit))
		}
	}
	return nil
}

// spend counts n steps that a builtin is about to take.
func (r *run) spend(n int64) error {
	if n > 0 {
		r.thread.Steps += uint64(n)
		if limit := r.env.limits.Steps; limit > 0 && r.thread.Steps >= limit {
			r.thread.OnMaxSteps(r.thread)
		}
	}
	if r.stopped != nil || r.ctx.Err() != nil {
		return r.trouble()
	}
	return nil
}

// defect is what becomes of a panic: an error that says no more than that.
func (r *run) defect(v any) error {
	return r.failure(r.env.cfg.Client.Defect("script", v, debug.Stack()))
}

// What a single value may be. Builtins are written for values of this size: one
// that takes linear time is over before anybody wants to cancel it.
const (
	maxText  = 4 << 20 // bytes of a string
	maxBits  = 1 << 16 // of an integer
	maxDepth = 100     // of values in values, where they are looked through
)

// errTooLong refuses a text.
func errTooLong(n int64) error {
	return fmt.Errorf("found a string of %d bytes, expected at most %d", n, maxText)
}

// text counts a string of n bytes before it is made.
func (r *run) text(n int64) error {
	if n > maxText {
		return errTooLong(n)
	}
	return r.alloc(n + 16)
}

// weigh looks through a value as something that goes through all of it will, a
// value that occurs twice twice, and fails if that is too much. It returns about
// how many bytes the value has as text.
func (r *run) weigh(v starlark.Value) (int64, error) {
	w := weigher{run: r}
	if err := w.value(v, 0); err != nil {
		return 0, err
	}
	return w.bytes, nil
}

type weigher struct {
	run   *run
	bytes int64
	nodes int64
	// hashed looks at what a hash looks at: tuples in tuples, and no further.
	hashed bool
	// path are the lists and dicts around: one that holds itself is written
	// as [...] there.
	path []starlark.Value
}

func (w *weigher) add(n int64) error {
	w.bytes += n
	if w.bytes > 4*maxText {
		return fmt.Errorf("found a value of more than %d bytes when written out, expected less", 4*maxText)
	}
	if w.nodes++; w.nodes&63 == 0 {
		return w.run.spend(64)
	}
	return nil
}

// inside enters a list or dict, unless that is in itself; outside leaves it.
func (w *weigher) inside(v starlark.Value) bool {
	if slices.Contains(w.path, v) {
		return false
	}
	w.path = append(w.path, v)
	return true
}

func (w *weigher) outside() { w.path = w.path[:len(w.path)-1] }

func (w *weigher) value(v starlark.Value, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("found values nested more than %d deep", maxDepth)
	}
	if _, ok := v.(starlark.Tuple); w.hashed && !ok {
		if s, ok := v.(starlark.String); ok {
			return w.add(int64(len(s)))
		}
		return w.add(16)
	}
	all := func(list []starlark.Value) error {
		if err := w.add(16); err != nil {
			return err
		}
		for _, elem := range list {
			if err := w.value(elem, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	switch v := v.(type) {
	case starlark.String: // written with escapes it can be four times as long
		return w.add(4*int64(len(v)) + 16)
	case starlark.Bytes:
		return w.add(4*int64(len(v)) + 16)
	case starlark.Int:
		return w.add(bits(v)/3 + 16)
	case starlark.Tuple:
		return all(v)
	case *starlark.List:
		if err := w.add(16); err != nil || !w.inside(v) {
			return err
		}
		defer w.outside()
		for i := range v.Len() {
			if err := w.value(v.Index(i), depth+1); err != nil {
				return err
			}
		}
		return nil
	case *starlark.Dict:
		if err := w.add(16); err != nil || !w.inside(v) {
			return err
		}
		defer w.outside()
		for key, value := range v.Entries() {
			if err := w.value(key, depth+1); err != nil {
				return err
			}
			if err := w.value(value, depth+1); err != nil {
				return err
			}
		}
		return nil
	case *starlark.Set:
		iter := v.Iterate()
		defer iter.Done()
		var elem starlark.Value
		for iter.Next(&elem) {
			if err := w.value(elem, depth+1); err != nil {
				return err
			}
		}
		return w.add(16)
	case *page:
		return w.value(v.rec, depth+1)
	case *record:
		for _, name := range v.names {
			if err := w.add(int64(len(name)) + 16); err != nil {
				return err
			}
		}
		return all(v.values)
	case starlark.NoneType, starlark.Bool, starlark.Float, *object, *method, *unknown, *builtin, *module, *starlark.Function:
		return w.add(64)
	}
	if v.Type() == "range" {
		return w.add(64)
	}
	return w.add(4*maxText/8 + 1) // what iterates over a string is written with the string
}

// tuple checks a tuple that has been made: a tuple can be hashed, which goes
// through all that is in it.
func (r *run) tuple(t starlark.Tuple) error {
	if len(t) == 0 {
		return nil
	}
	w := weigher{run: r, hashed: true}
	return w.value(t, 0)
}

// bits returns the length of an integer.
func bits(i starlark.Int) int64 {
	if _, ok := i.Int64(); ok {
		return 64
	}
	return int64(i.BigInt().BitLen())
}

// metered is an iterable whose iteration is counted: for each element steps and
// bytes. It stops with the run.
type metered struct {
	starlark.Iterable
	run *run
	per int64
}

// Iterate starts a counted iteration.
func (m metered) Iterate() starlark.Iterator {
	return &meteredIterator{Iterator: m.Iterable.Iterate(), run: m.run, per: m.per}
}

type meteredIterator struct {
	starlark.Iterator
	run *run
	per int64
	n   int
}

// Next counts one element; the steps of several at once.
func (i *meteredIterator) Next(p *starlark.Value) bool {
	const several = 64
	if i.n++; i.n%several == 0 && i.run.spend(several) != nil {
		return false
	}
	return i.Iterator.Next(p) && i.run.alloc(i.per) == nil && i.run.raised == nil
}

// counted returns the value so that a builtin of the library may go through all
// of it, at a cost of per bytes for each element: itself, paid for beforehand, if
// its length is known, or else metered. What is no iterable is left alone.
func (r *run) counted(v starlark.Value, per int64) (starlark.Value, error) {
	iterable, ok := v.(starlark.Iterable)
	if !ok {
		return v, nil
	}
	switch v.(type) {
	case *starlark.List, starlark.Tuple, *starlark.Dict, *starlark.Set:
		n := int64(starlark.Len(v))
		if err := r.spend(n); err != nil {
			return nil, err
		}
		return v, r.alloc(n * per)
	}
	return metered{iterable, r, per}, nil
}

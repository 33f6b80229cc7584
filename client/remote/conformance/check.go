// Package conformance tells the author of a Host what is wrong with it, rule by
// rule, as spec/host.md has them.
package conformance

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/wipagent/wipagent/client/remote"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space/wip"
)

const version = remote.Version

// Options says how a Host is looked at. The zero value works.
type Options struct {
	// Caller is on whose behalf the requests are made.
	Caller wip.Caller
	// Mutate allows calls that may change things. Without it, an operation that
	// is not read-only is called as a dry run at most, if it declares that.
	Mutate bool
	// Timeout bounds one request; 0 is 10 seconds.
	Timeout time.Duration
}

// Bounds of what is looked at.
const (
	maxEntries    = 250_000
	maxLevels     = 32
	maxSample     = 64 // entries that are fetched alone, documents, operations
	maxFollowed   = 64 // entries that results lead to
	graceful      = time.Second
	almostNothing = 50 * time.Millisecond
)

// Check looks at a Host. It makes some hundred requests, and ends early with
// ctx: rules that were not looked at by then are skipped.
func Check(ctx context.Context, host wip.Host, opt Options) *Report {
	if opt.Timeout <= 0 {
		opt.Timeout = 10 * time.Second
	}
	c := &checker{Options: opt, ctx: ctx, host: host, Report: newReport()}
	for _, step := range []func(){
		c.handshake, c.tree, c.alone, c.again, c.changes, c.documents, c.unknown, c.oversize, c.operations, c.atOnce, c.ending, c.mutating,
	} {
		if ctx.Err() != nil {
			break
		}
		step()
	}
	c.explain(ctx.Err() != nil, opt.Mutate)
	return c.Report
}

// checker is one look at a Host.
type checker struct {
	Options
	*Report
	ctx  context.Context
	host wip.Host

	whole   wip.Tree    // the tree at /
	walked  bool        // it has an end
	entries []wip.Entry // of that tree, in order, those with a sound path
	tagged  map[string]wip.Entry
	texts   map[string][]byte // documents
	ops     []operation
	mu      sync.Mutex // of the Report, where several goroutines look

	compiled map[string]*idl.Document // nil of one that is broken
	seen     map[*idl.Operation]bool  // those in ops
	followed int
}

// operation is an operation of an entry.
type operation struct {
	entry wip.Entry
	op    *idl.Operation
}

func (o operation) String() string { return quote(o.entry.Path + "#" + o.op.Name) }

func (o operation) call(c *checker, arguments []byte) wip.Call {
	return wip.Call{
		Caller: c.Caller, ID: "conformance", Path: o.entry.Path, Object: o.entry.Object.ID, Interface: o.op.Interface.Name,
		Operation: o.op.Name, Arguments: arguments, Idempotent: o.op.Idempotent,
	}
}

var (
	errPanicked = errors.New("a panic")
	errLate     = errors.New("no answer in time")
)

// attempt makes a request, and waits for its answer a little longer than the
// context lasts.
func attempt[T any](ctx context.Context, request func(context.Context) (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	done := make(chan answer, 1)
	go func() {
		a := answer{err: errPanicked}
		defer func() {
			recover()
			done <- a
		}()
		value, err := request(ctx)
		a = answer{value, err}
	}()
	var late <-chan time.Time
	ended := ctx.Done()
	for {
		select {
		case a := <-done:
			return a.value, a.err
		case <-ended:
			t := time.NewTimer(graceful)
			defer t.Stop()
			late, ended = t.C, nil
		case <-late:
			var none T
			return none, errLate
		}
	}
}

// ask makes a request with all the time there is. Whatever is wrong with an
// error itself is noted here, and soundness reported: an error that is not
// sound says nothing about the other rules.
func ask[T any](c *checker, where string, request func(context.Context) (T, error)) (value T, f *wip.Failure, sound bool) {
	ctx, done := context.WithTimeout(c.ctx, c.Timeout)
	defer done()
	value, err := attempt(ctx, request)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.looked(defects)
	if err == nil {
		return value, nil, true
	}
	if c.ctx.Err() != nil {
		return value, nil, false
	}
	switch {
	case errors.Is(err, errPanicked):
		c.found(defects, where, "found a panic, expected an answer or a failure")
		return value, nil, false
	case errors.Is(err, errLate), !errors.As(err, &f) && ctx.Err() != nil:
		c.found(deadlines, where, "found no answer within %s", c.Timeout)
		return value, nil, false
	case !errors.As(err, &f) || f == nil:
		c.found(defects, where, "found an error of the type %T, expected a failure", err)
		return value, nil, false
	case f.Class == wip.Internal:
		c.found(defects, where, "found the internal failure %s", quote(f.Error()))
		return value, nil, false
	}
	c.looked(classes)
	switch {
	case f.Class != wip.NotFound && f.Class != wip.Domain && f.Class != wip.Transient && f.Class != wip.Stale:
		c.found(classes, where, "found the class %s, expected not_found, domain, transient, stale or internal", quote(string(f.Class)))
		return value, nil, false
	case f.Message == "":
		c.found(classes, where, "found a %s failure without a message", f.Class)
	case f.RetryAfter < 0:
		c.found(classes, where, "found a wait of %s", f.RetryAfter)
	}
	return value, f, true
}

// handshake looks at what a Host across a wire says of itself.
func (c *checker) handshake() {
	h, ok := c.host.(interface {
		Capabilities(context.Context) (remote.Capabilities, error)
	})
	if !ok {
		return
	}
	c.looked(handshake)
	caps, err := attempt(c.ctx, h.Capabilities)
	switch {
	case err != nil:
		c.found(handshake, "initialize", "found %s", quote(err.Error()))
	case caps.MaxRequestBytes < 64<<10 || caps.MaxResponseBytes < 64<<10:
		c.found(handshake, "initialize", "found limits of %d bytes for requests and %d for answers, expected 65536 or more", caps.MaxRequestBytes, caps.MaxResponseBytes)
	case caps.MaxConcurrent < 1 || caps.MaxMillis < 1:
		c.found(handshake, "initialize", "found max_concurrent %d and max_millis %d, expected 1 or more", caps.MaxConcurrent, caps.MaxMillis)
	case caps.Callers != "any" && caps.Callers != "listed" && caps.Callers != "own":
		c.found(handshake, "initialize", "found callers %s, expected any, listed or own", quote(caps.Callers))
	}
}

func (c *checker) fetch(path string) (wip.Entry, *wip.Failure, bool) {
	return ask(c, "fetch "+quote(path), func(ctx context.Context) (wip.Entry, error) { return c.host.Fetch(ctx, c.Caller, path) })
}

func (c *checker) fetchTree(path string) (wip.Tree, *wip.Failure, bool) {
	return ask(c, "fetch_tree "+quote(path), func(ctx context.Context) (wip.Tree, error) { return c.host.FetchTree(ctx, c.Caller, path) })
}

func (c *checker) call(call wip.Call) (wip.Result, *wip.Failure, bool) {
	where := fmt.Sprintf("call %s", quote(call.Path+"#"+call.Operation))
	return ask(c, where, func(ctx context.Context) (wip.Result, error) { return c.host.CallOperation(ctx, call) })
}

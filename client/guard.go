package client

import (
	"context"
	"errors"
	"runtime/debug"

	"github.com/wipagent/wipagent/client/audit"
	"github.com/wipagent/wipagent/space/wip"
)

// guard holds a Host to the protocol: each request ends with its context, a
// panic is an error, and an error can be looked into safely. A Host that heeds
// no context keeps its goroutine until it returns, but no caller. One that
// promises to heed it is spared the goroutine, which costs more than a call of
// the grid does.
type guard struct {
	host   wip.Host
	prompt bool // the Host is a wip.Prompt
}

func newGuard(host wip.Host) guard {
	_, prompt := host.(wip.Prompt)
	return guard{host, prompt}
}

var _ wip.Host = guard{}

// Fetch asks the Host for the entry at path.
func (g guard) Fetch(ctx context.Context, caller wip.Caller, path string) (wip.Entry, error) {
	return guarded(ctx, g.prompt, func() (wip.Entry, error) { return g.host.Fetch(ctx, caller, path) })
}

// FetchTree asks the Host for the tree at path.
func (g guard) FetchTree(ctx context.Context, caller wip.Caller, path string) (wip.Tree, error) {
	return guarded(ctx, g.prompt, func() (wip.Tree, error) { return g.host.FetchTree(ctx, caller, path) })
}

// Document asks the Host for an IDL document.
func (g guard) Document(ctx context.Context, name string) ([]byte, error) {
	return guarded(ctx, g.prompt, func() ([]byte, error) { return g.host.Document(ctx, name) })
}

// CallOperation runs an operation at the Host.
func (g guard) CallOperation(ctx context.Context, call wip.Call) (wip.Result, error) {
	return guarded(ctx, g.prompt, func() (wip.Result, error) { return g.host.CallOperation(ctx, call) })
}

// guarded makes one request. An answer that comes after the end of the context
// is dropped.
func guarded[T any](ctx context.Context, prompt bool, request func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	var a answer
	if prompt {
		a.value, a.err = attempt(request)
	} else {
		done := make(chan answer, 1)
		go func() {
			a := answer{err: errNoAnswer} // what is left if the request ends its goroutine
			defer func() { done <- a }()
			a.value, a.err = attempt(request)
		}()
		select {
		case a = <-done:
		case <-ctx.Done():
		}
	}
	var none T
	switch {
	case a.err != nil:
		return none, a.err
	case ctx.Err() != nil:
		return none, ctx.Err()
	}
	return a.value, nil
}

// attempt makes a request and makes its error sound.
func attempt[T any](request func() (T, error)) (value T, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &audit.Panic{Value: v, Stack: debug.Stack()}
		}
	}()
	value, err = request()
	return value, sound(err)
}

var (
	errNoAnswer   = errors.New("the Host ended its goroutine")
	errNilFailure = errors.New("the Host reported a nil failure")
)

// sound returns an error that can be looked into: one that cannot panics here,
// where that is expected.
func sound(err error) error {
	var f *wip.Failure
	if errors.As(err, &f) && f == nil {
		return errNilFailure
	}
	if err != nil {
		_ = err.Error()
		errors.Is(err, errNoAnswer) // walks all that it wraps
	}
	return err
}

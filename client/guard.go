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
// no context keeps its goroutine until it returns, but no caller.
type guard struct{ host wip.Host }

var _ wip.Host = guard{}

// Fetch asks the Host for the entry at path.
func (g guard) Fetch(ctx context.Context, caller wip.Caller, path string) (wip.Entry, error) {
	return guarded(ctx, func() (wip.Entry, error) { return g.host.Fetch(ctx, caller, path) })
}

// FetchTree asks the Host for the tree at path.
func (g guard) FetchTree(ctx context.Context, caller wip.Caller, path string) (wip.Tree, error) {
	return guarded(ctx, func() (wip.Tree, error) { return g.host.FetchTree(ctx, caller, path) })
}

// Document asks the Host for an IDL document.
func (g guard) Document(ctx context.Context, name string) ([]byte, error) {
	return guarded(ctx, func() ([]byte, error) { return g.host.Document(ctx, name) })
}

// CallOperation runs an operation at the Host.
func (g guard) CallOperation(ctx context.Context, call wip.Call) (wip.Result, error) {
	return guarded(ctx, func() (wip.Result, error) { return g.host.CallOperation(ctx, call) })
}

// guarded makes one request. An answer that comes after the end of the context
// is dropped.
func guarded[T any](ctx context.Context, request func() (T, error)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	done := make(chan answer, 1)
	go func() {
		a := answer{err: errNoAnswer} // what is left if the request ends its goroutine
		defer func() {
			if v := recover(); v != nil {
				a.err = &audit.Panic{Value: v, Stack: debug.Stack()}
			}
			done <- a
		}()
		value, err := request()
		a = answer{value, sound(err)}
	}()
	var none T
	select {
	case a := <-done:
		if a.err != nil {
			return none, a.err
		}
		return a.value, nil
	case <-ctx.Done():
		return none, ctx.Err()
	}
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

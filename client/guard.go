package client

import (
	"context"
	"errors"
	"runtime/debug"

	"github.com/wipagent/wipagent/client/audit"
	"github.com/wipagent/wipagent/space/wip"
)

// guard holds a Host to the protocol: a panic is an error, an error can be looked
// into safely, and an answer that comes after the end of its context is dropped.
// The Host is one that heeds contexts: what does not is behind its limits.
type guard struct{ host wip.Prompt }

var _ wip.TreeSource = guard{}

// Fetch asks the Host for the entry at path.
func (g guard) Fetch(ctx context.Context, caller wip.Caller, path string) (wip.Entry, error) {
	return guarded(ctx, func() (wip.Entry, error) { return g.host.Fetch(ctx, caller, path) })
}

// FetchTree asks the Host for the tree at path.
func (g guard) FetchTree(ctx context.Context, caller wip.Caller, path string) (wip.Tree, error) {
	return guarded(ctx, func() (wip.Tree, error) { return g.host.FetchTree(ctx, caller, path) })
}

// FetchTreeSince asks the Host for what has changed in the tree at path. Of a
// Host that keeps no states it is the whole tree, without a tag.
func (g guard) FetchTreeSince(ctx context.Context, caller wip.Caller, path, tag string) (wip.Change, error) {
	source, ok := g.host.(wip.TreeSource)
	if !ok {
		tree, err := g.FetchTree(ctx, caller, path)
		if err != nil {
			return wip.Change{}, err
		}
		return wip.Change{Whole: &tree}, nil
	}
	return guarded(ctx, func() (wip.Change, error) { return source.FetchTreeSince(ctx, caller, path, tag) })
}

// Document asks the Host for an IDL document.
func (g guard) Document(ctx context.Context, name string) ([]byte, error) {
	return guarded(ctx, func() ([]byte, error) { return g.host.Document(ctx, name) })
}

// CallOperation runs an operation at the Host.
func (g guard) CallOperation(ctx context.Context, call wip.Call) (wip.Result, error) {
	return guarded(ctx, func() (wip.Result, error) { return g.host.CallOperation(ctx, call) })
}

// guarded makes one request.
func guarded[T any](ctx context.Context, request func() (T, error)) (T, error) {
	value, err := attempt(request)
	var none T
	switch {
	case err != nil:
		return none, err
	case ctx.Err() != nil:
		return none, ctx.Err()
	}
	return value, nil
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

var errNilFailure = errors.New("the Host reported a nil failure")

// sound returns an error that can be looked into: one that cannot panics here,
// where that is expected.
func sound(err error) error {
	var f *wip.Failure
	if errors.As(err, &f) && f == nil {
		return errNilFailure
	}
	if err != nil {
		_ = err.Error()
		errors.Is(err, errNilFailure) // walks all that it wraps
	}
	return err
}

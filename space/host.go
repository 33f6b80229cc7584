package space

import (
	"context"
	"errors"
	"fmt"

	"github.com/wipagent/wipagent/space/wip"
)

// fetch asks the Host for the entry at a path of the space.
func (m *Mount) fetch(ctx context.Context, caller wip.Caller, path string) (wip.Entry, error) {
	return ask(ctx, m, func() (wip.Entry, error) { return m.Host.Fetch(ctx, caller, hostPath(m.Path, path)) })
}

// fetchTree asks the Host for the tree at a path of the space.
func (m *Mount) fetchTree(ctx context.Context, caller wip.Caller, path string) (wip.Tree, error) {
	return ask(ctx, m, func() (wip.Tree, error) { return m.Host.FetchTree(ctx, caller, hostPath(m.Path, path)) })
}

// fetchTreeSince asks the Host for what has changed in its whole tree since a
// tag.
func (m *Mount) fetchTreeSince(ctx context.Context, source wip.TreeSource, tag string) (wip.Change, error) {
	return ask(ctx, m, func() (wip.Change, error) { return source.FetchTreeSince(ctx, wip.Caller{}, "/", tag) })
}

// document asks the Host for the text of an IDL document.
func (m *Mount) document(ctx context.Context, name string) ([]byte, error) {
	return ask(ctx, m, func() ([]byte, error) { return m.Host.Document(ctx, name) })
}

// ask makes one request of a Host. Its error is the context's own, ErrNotFound
// or an *Error; a Host that panics has failed like any other.
func ask[T any](ctx context.Context, m *Mount, request func() (T, error)) (answer T, err error) {
	if err := ctx.Err(); err != nil {
		return answer, err
	}
	defer func() {
		if p := recover(); p != nil {
			err = &Error{m.Path, notice(fmt.Sprintf("the Host panicked with a %T", p))}
		}
	}()
	answer, err = request()
	var f *wip.Failure
	switch {
	case err == nil:
		return answer, nil
	case ctx.Err() != nil:
		return answer, ctx.Err()
	case errors.As(err, &f) && f.Class == wip.NotFound:
		return answer, ErrNotFound
	}
	return answer, &Error{m.Path, err}
}

// isPassing reports whether asking again a little later may help.
func isPassing(err error) bool {
	var f *wip.Failure
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) ||
		errors.As(err, &f) && f.Class == wip.Transient
}

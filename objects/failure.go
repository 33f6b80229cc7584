package objects

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/wipagent/wipagent/objects/world"
	"github.com/wipagent/wipagent/space/wip"
)

func notFound(message string) error { return &wip.Failure{Class: wip.NotFound, Message: message} }

// failure puts the trouble with a call into the protocol's words. Each reason
// why there is no snapshot has its own, since a caller can do something
// different about each.
func failure(ctx context.Context, err error, straddled bool) error {
	timeout := errors.Is(err, context.DeadlineExceeded)
	var f *wip.Failure
	switch {
	case errors.As(err, &f):
		return f
	case straddled && timeout && !errors.Is(err, world.ErrStraddled):
		return failure(ctx, fmt.Errorf("%w: %w", world.ErrStraddled, err), straddled)
	case errors.Is(err, world.ErrStraddled):
		return &wip.Failure{
			Class:      wip.Domain,
			Message:    "the agent kept changing regions while the world was looked at",
			Hint:       "call again when the agent has come to rest",
			RetryAfter: 3 * time.Second,
			Err:        err,
		}
	case errors.Is(err, world.ErrNotReady):
		return &wip.Failure{
			Class:      wip.Domain,
			Message:    "the grid session is not ready: the region has not reported yet",
			Hint:       "call again in a few seconds",
			RetryAfter: 2 * time.Second,
			Err:        err,
		}
	case errors.Is(err, world.ErrMoving):
		return &wip.Failure{
			Class:      wip.Domain,
			Message:    "the agent is moving to another region",
			Hint:       "call again when it has arrived; what was known of the old region no longer holds",
			RetryAfter: 3 * time.Second,
			Err:        err,
		}
	case errors.Is(err, world.ErrDisconnected):
		return &wip.Failure{
			Class:      wip.Domain,
			Message:    "the grid session is disconnected",
			Hint:       "it may be connecting again: call again in a minute, and tell the operator if that does not help",
			RetryAfter: 30 * time.Second,
			Err:        err,
		}
	case timeout && ctx.Err() != nil:
		return &wip.Failure{
			Class:   wip.Transient,
			Message: "the world could not be looked at in time",
			Err:     err,
		}
	case errors.Is(err, context.Canceled):
		return err
	}
	return &wip.Failure{Class: wip.Internal, Message: "projecting a snapshot", Err: err}
}

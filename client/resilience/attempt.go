package resilience

import (
	"context"
	"errors"
	"runtime/debug"

	"github.com/wipagent/wipagent/client/audit"
	"github.com/wipagent/wipagent/space/wip"
)

// answer is what became of one attempt.
type answer[T any] struct {
	value   T
	err     error
	failure *wip.Failure // what err is or wraps; nil if it is none
}

// failed is the answer of an attempt that this package ends.
func failed[T any](f *wip.Failure) answer[T] { return answer[T]{err: f, failure: f} }

// once makes one attempt, if the Host may be asked. The slot is held until the
// Host's method returns; its answer counts if it comes before ctx ends.
func once[T any](ctx context.Context, h *Host, request func() (T, error)) (a answer[T]) {
	if ctx.Err() != nil {
		return failed[T](ended(ctx, false))
	}
	if f := h.breaker.closedTo(); f != nil { // before it waits for a slot
		return failed[T](f)
	}
	if f := h.bulkhead.enter(ctx); f != nil {
		return failed[T](f)
	}
	settle, f := h.breaker.allow()
	if f != nil {
		h.bulkhead.leave()
		return failed[T](f)
	}
	a.err = errNoAnswer // what is left if the request ends its goroutine
	defer func() { settle(judge(ctx, a.err, a.failure)) }()
	if h.prompt {
		defer h.bulkhead.leave()
		a = safely(request)
		return a
	}
	answered := make(chan answer[T], 1)
	go func() {
		a := answer[T]{err: errNoAnswer}
		defer func() {
			h.bulkhead.leave()
			answered <- a
		}()
		a = safely(request)
	}()
	select {
	case a = <-answered:
	case <-ctx.Done():
		select {
		case a = <-answered:
		default:
			a = failed[T](ended(ctx, true))
		}
	}
	return a
}

var errNoAnswer = errors.New("the Host ended its goroutine")

// safely makes a request. A panic, also of an error that cannot be looked into,
// is an error.
func safely[T any](request func() (T, error)) (a answer[T]) {
	defer func() {
		if v := recover(); v != nil {
			a = answer[T]{err: &audit.Panic{Value: v, Stack: debug.Stack()}}
		}
	}()
	a.value, a.err = request()
	if !errors.As(a.err, &a.failure) {
		a.failure = nil
	}
	return a
}

// ended is the failure of a request whose context ended. sent says that the Host
// had it.
func ended(ctx context.Context, sent bool) *wip.Failure {
	message := "the request was cancelled"
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		message = "the Host did not answer in time"
	}
	return &wip.Failure{Class: wip.Transient, Message: message, MaybeDone: sent, Err: ctx.Err()}
}

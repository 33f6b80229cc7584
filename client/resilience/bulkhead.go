package resilience

import (
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/wipagent/wipagent/space/wip"
)

// BusyError says that the Host was not asked, since too many requests were under
// way. It is in a *wip.Failure.
type BusyError struct{}

// Error says so.
func (*BusyError) Error() string { return "too many requests wait for the Host" }

// Notice is what an operator's log has of it.
func (e *BusyError) Notice() string { return e.Error() }

// bulkhead bounds what is under way to one Host, so that what it holds up cannot
// fill the rest.
type bulkhead struct {
	slots   chan struct{}
	waiting atomic.Int64
	most    int64
	longest time.Duration
	pace    *rate.Limiter // nil if there is none
}

func newBulkhead(cfg *Config) *bulkhead {
	b := &bulkhead{slots: make(chan struct{}, cfg.MaxConcurrent), most: int64(cfg.MaxWaiting), longest: cfg.MaxWait}
	if cfg.Rate > 0 {
		b.pace = rate.NewLimiter(rate.Limit(cfg.Rate), cfg.Burst)
	}
	return b
}

// enter takes a slot, for which it may wait. The failure says why there is none.
func (b *bulkhead) enter(ctx context.Context) *wip.Failure {
	if b.pace == nil {
		select {
		case b.slots <- struct{}{}:
			return nil
		default:
		}
	}
	if b.waiting.Add(1) > b.most {
		b.waiting.Add(-1)
		return busy(b.longest)
	}
	defer b.waiting.Add(-1)
	if f := b.paced(ctx); f != nil {
		return f
	}
	t := time.NewTimer(b.longest)
	defer t.Stop()
	select {
	case b.slots <- struct{}{}:
		return nil
	case <-t.C:
		return busy(b.longest)
	case <-ctx.Done():
		return ended(ctx, false)
	}
}

// leave gives the slot back.
func (b *bulkhead) leave() { <-b.slots }

// paced waits until the rate allows another request, if that is soon.
func (b *bulkhead) paced(ctx context.Context) *wip.Failure {
	if b.pace == nil {
		return nil
	}
	turn := b.pace.Reserve()
	wait := turn.Delay()
	if end, ok := ctx.Deadline(); wait > b.longest || ok && wait >= time.Until(end) {
		turn.Cancel()
		return busy(wait)
	}
	if wait > 0 && !sleep(ctx, wait) {
		turn.Cancel()
		return ended(ctx, false)
	}
	return nil
}

// busy is the answer to what there is no room for.
func busy(wait time.Duration) *wip.Failure {
	err := &BusyError{}
	return &wip.Failure{Class: wip.Transient, Message: err.Error(), RetryAfter: wait, Err: err}
}

package script

import (
	"context"
	"sync"
	"time"
)

// clock is a context that ends with context.DeadlineExceeded after a time in
// which nobody was waited for. It has no Deadline, as that would move.
type clock struct {
	context.Context
	mu     sync.Mutex
	timer  *time.Timer
	left   time.Duration // when the timer was last started
	began  time.Time     // when that was
	paused int           // how many wait
}

// newClock returns a clock that ends after limit, and with ctx. The function that
// it returns lets go of it.
func newClock(ctx context.Context, limit time.Duration) (*clock, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	c := &clock{Context: ctx, left: limit, began: time.Now()}
	c.timer = time.AfterFunc(limit, func() { cancel(context.DeadlineExceeded) })
	return c, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.timer.Stop()
		cancel(nil)
	}
}

// Err says why the context has ended.
func (c *clock) Err() error {
	if c.Context.Err() == nil {
		return nil
	}
	return context.Cause(c.Context)
}

// pause stops the clock until the function that it returns is called.
func (c *clock) pause() (resume func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.paused++; c.paused == 1 && c.timer.Stop() {
		c.left -= time.Since(c.began)
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.paused--; c.paused == 0 && c.Context.Err() == nil {
			c.began = time.Now()
			c.timer.Reset(max(c.left, 0))
		}
	}
}

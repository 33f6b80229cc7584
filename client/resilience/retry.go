package resilience

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/wipagent/wipagent/space/wip"
)

// do makes a request, and again while that may help and may be done.
// repeatable says that it may be even if it was carried out.
func do[T any](ctx context.Context, h *Host, repeatable bool, request func() (T, error)) (T, error) {
	a := once(ctx, h, request)
	if a.err == nil {
		return a.value, nil
	}
	r := retry{cfg: &h.cfg, repeatable: repeatable}
	for {
		wait, err := r.after(ctx, a.err, a.failure)
		if err != nil {
			var none T
			return none, err
		}
		if !sleep(ctx, wait) {
			a = failed[T](ended(ctx, false))
			continue
		}
		if a = once(ctx, h, request); a.err == nil {
			return a.value, nil
		}
	}
}

// retry decides on the attempts of one request.
type retry struct {
	cfg        *Config
	repeatable bool
	attempts   int
	maybe      bool         // one of them may have been carried out
	last       *wip.Failure // of the latest that the Host was asked for
	delays     *backoff.ExponentialBackOff
}

// after takes what became of an attempt and returns how long to wait for the
// next, or what the request ends with.
func (r *retry) after(ctx context.Context, err error, f *wip.Failure) (time.Duration, error) {
	r.attempts++
	if f == nil {
		return 0, err
	}
	ours := refused(f)
	if ours && r.last != nil {
		// That the Host is left alone since tells less than why.
		last := *r.last
		last.RetryAfter = max(last.RetryAfter, f.RetryAfter)
		return 0, &last
	}
	r.maybe = r.maybe || f.MaybeDone
	if r.maybe && !f.MaybeDone {
		all := *f
		all.MaybeDone = true
		f, err = &all, &all
	}
	r.last = f
	switch {
	case ours, f.Class != wip.Transient, r.maybe && !r.repeatable, r.attempts >= r.cfg.Attempts, ctx.Err() != nil, f.RetryAfter > r.cfg.MaxDelay:
		return 0, err
	}
	wait := max(f.RetryAfter, 0) + r.delay()
	if end, ok := ctx.Deadline(); ok && wait >= time.Until(end) {
		return 0, err
	}
	return wait, nil
}

// delay returns the wait before the next attempt, jittered.
func (r *retry) delay() time.Duration {
	if r.delays == nil {
		r.delays = &backoff.ExponentialBackOff{
			InitialInterval: r.cfg.FirstDelay, MaxInterval: r.cfg.MaxDelay,
			Multiplier: 2, RandomizationFactor: backoff.DefaultRandomizationFactor,
		}
		r.delays.Reset()
	}
	return r.delays.NextBackOff()
}

// sleep reports whether the time passed before ctx ended.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

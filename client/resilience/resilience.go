// Package resilience keeps a Host's trouble the Host's own (T7, T8): New puts
// around a Host what repeats the requests that may be repeated, leaves a Host
// alone that keeps failing, and bounds how much of it can wait for the Host, so
// that no caller waits longer than its context and no other Host feels anything.
//
// A call of an operation is never repeated if it may have been carried out,
// unless repeating it changes nothing (T12).
package resilience

import (
	"context"
	"time"

	"github.com/wipagent/wipagent/space/wip"
)

// Config bounds what a Host is asked. The zero value works; a bound of 0 or less
// means the default.
type Config struct {
	// MaxConcurrent is how many requests the Host has at once. One that it does
	// not answer counts until its method returns, however long ago the caller
	// has left. Default 16.
	MaxConcurrent int
	// MaxWaiting is how many more may wait, and MaxWait for how long at most;
	// what is beyond is answered as busy. Default 64, and 1 second.
	MaxWaiting int
	MaxWait    time.Duration

	// Attempts is how often a request is made that may be repeated. Default 3;
	// 1 repeats nothing.
	Attempts int
	// FirstDelay is the mean wait before the second attempt. It doubles with
	// each further one up to MaxDelay, half of it at random. A Host that asks
	// for a longer wait than MaxDelay is not asked again. Default 50 ms, and 2
	// seconds.
	FirstDelay, MaxDelay time.Duration
	// IdempotencyKeys says that the Host is known to answer a second call with
	// one idempotency key as the first: calls with a key are repeated. If it is
	// false, TrustHost takes the word of a [wip.KeyKeeper] for it; that of a Host
	// that is not trusted is a claim, and what it changes could be done twice.
	IdempotencyKeys, TrustHost bool

	// Failures is after how many failures in a row the breaker opens, and
	// OpenFor how long it stays so until one request is let through as a probe.
	// Default 5, and 5 seconds.
	Failures int
	OpenFor  time.Duration

	// Rate bounds the requests a second, of which Burst may come at once. 0
	// bounds nothing; the default of Burst is 1.
	Rate  float64
	Burst int
}

func (c *Config) withDefaults() Config {
	var out Config
	if c != nil {
		out = *c
	}
	setDefault(&out.MaxConcurrent, 16)
	setDefault(&out.MaxWaiting, 64)
	setDefault(&out.MaxWait, time.Second)
	setDefault(&out.Attempts, 3)
	setDefault(&out.FirstDelay, 50*time.Millisecond)
	setDefault(&out.MaxDelay, 2*time.Second)
	setDefault(&out.Failures, 5)
	setDefault(&out.OpenFor, 5*time.Second)
	setDefault(&out.Burst, 1)
	return out
}

func setDefault[T int | time.Duration](v *T, d T) {
	if *v <= 0 {
		*v = d
	}
}

// Host is a Host with what keeps its trouble its own. It is safe for concurrent
// use. Its methods return when their contexts end, whatever the inner Host
// heeds.
//
// Errors are the inner Host's or a *wip.Failure of class Transient: one that
// wraps the context's error, an [OpenError] or a [BusyError]. Failure.MaybeDone
// speaks for all attempts together.
type Host struct {
	host     wip.Host
	cfg      Config
	prompt   bool // the inner Host heeds contexts: no goroutine is needed
	breaker  *breaker
	bulkhead *bulkhead
}

var (
	_ wip.TreeSource = (*Host)(nil)
	_ wip.Prompt     = (*Host)(nil)
)

// New puts a Config, which may be nil, around a Host.
func New(host wip.Host, cfg *Config) *Host {
	h := &Host{host: host, cfg: cfg.withDefaults()}
	_, h.prompt = host.(wip.Prompt)
	h.breaker = newBreaker(&h.cfg)
	h.bulkhead = newBulkhead(&h.cfg)
	return h
}

// Prompt promises that each method returns when its context ends.
func (*Host) Prompt() {}

// Fetch asks the Host for the entry at path.
func (h *Host) Fetch(ctx context.Context, caller wip.Caller, path string) (wip.Entry, error) {
	return do(ctx, h, true, func() (wip.Entry, error) { return h.host.Fetch(ctx, caller, path) })
}

// FetchTree asks the Host for the tree at path.
func (h *Host) FetchTree(ctx context.Context, caller wip.Caller, path string) (wip.Tree, error) {
	return do(ctx, h, true, func() (wip.Tree, error) { return h.host.FetchTree(ctx, caller, path) })
}

// FetchTreeSince asks the Host for what has changed in the tree at path. Of a
// Host that keeps no states it is the whole tree, without a tag.
func (h *Host) FetchTreeSince(ctx context.Context, caller wip.Caller, path, tag string) (wip.Change, error) {
	source, ok := h.host.(wip.TreeSource)
	if !ok {
		tree, err := h.FetchTree(ctx, caller, path)
		if err != nil {
			return wip.Change{}, err
		}
		return wip.Change{Whole: &tree}, nil
	}
	return do(ctx, h, true, func() (wip.Change, error) { return source.FetchTreeSince(ctx, caller, path, tag) })
}

// Document asks the Host for an IDL document.
func (h *Host) Document(ctx context.Context, name string) ([]byte, error) {
	return do(ctx, h, true, func() ([]byte, error) { return h.host.Document(ctx, name) })
}

// CallOperation runs an operation at the Host: again only if the call is
// idempotent, a dry run or has a key that the Host is known to honour, or if the
// Host says that it was not carried out.
func (h *Host) CallOperation(ctx context.Context, call wip.Call) (wip.Result, error) {
	repeatable := call.Idempotent || call.DryRun || call.IdempotencyKey != "" && h.keepsKeys()
	return do(ctx, h, repeatable, func() (wip.Result, error) { return h.host.CallOperation(ctx, call) })
}

// keepsKeys reports whether it is known, by the operator or a Host that is
// trusted, that the Host honours idempotency keys.
func (h *Host) keepsKeys() bool {
	if h.cfg.IdempotencyKeys || !h.cfg.TrustHost {
		return h.cfg.IdempotencyKeys
	}
	keeper, ok := h.host.(wip.KeyKeeper)
	return ok && keeper.KeepsKeys()
}

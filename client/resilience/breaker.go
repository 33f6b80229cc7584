package resilience

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/sony/gobreaker/v2"

	"github.com/wipagent/wipagent/space/wip"
)

// Breaker is whether a Host is asked.
type Breaker string

// The states of a breaker.
const (
	Closed   Breaker = "closed"    // it is
	Open     Breaker = "open"      // it is not: it kept failing
	HalfOpen Breaker = "half_open" // one request at a time, to see whether it answers again
)

// State is how a Host is doing, for operators. Nothing in it is the Host's
// words.
type State struct {
	Breaker Breaker `json:"breaker"`
	// Since is when the breaker came into that state.
	Since time.Time `json:"since"`
	// InFlight are the requests that the Host has now, Waiting those that wait
	// for their turn.
	InFlight int `json:"in_flight"`
	Waiting  int `json:"waiting"`
	// Failures are those since the latest answer; LastFailure is the class of
	// the latest ever, with LastFailed, and empty if there was none.
	Failures    int       `json:"consecutive_failures"`
	LastFailure wip.Class `json:"last_failure,omitempty"`
	LastFailed  time.Time `json:"last_failed,omitzero"`
}

// State returns how the Host is doing.
func (h *Host) State() State {
	s := h.breaker.state()
	s.InFlight, s.Waiting = len(h.bulkhead.slots), int(h.bulkhead.waiting.Load())
	return s
}

// OpenError says that the Host was not asked, since it kept failing. It is in a
// *wip.Failure whose RetryAfter is when it will be.
type OpenError struct{}

// Error says so.
func (*OpenError) Error() string { return "the Host kept failing and is left alone for now" }

// Notice is what an operator's log has of it.
func (e *OpenError) Notice() string { return e.Error() }

// probing is when to come back while a probe is under way.
const probing = 200 * time.Millisecond

// breaker counts failures in a row, and leaves the Host alone after too many.
type breaker struct {
	gate    *gobreaker.TwoStepCircuitBreaker[struct{}]
	openFor time.Duration
	mu      sync.Mutex // held for what follows; never while the gate is asked
	since   time.Time
	last    wip.Class
	failed  time.Time
	count   int // failures in a row
}

// verdict is what an attempt says of the Host.
type verdict struct {
	class   wip.Class // of the Host's failure; empty if it did not fail
	unknown bool      // the caller left before anything could be told
}

var (
	errFailed  = errors.New("failed")
	errUnknown = errors.New("unknown")
)

// judge returns what an attempt says of the Host. A Host that answers as the
// protocol says is well, whatever it refuses.
func judge(ctx context.Context, err error, f *wip.Failure) verdict {
	if err == nil {
		return verdict{}
	}
	if f != nil {
		switch f.Class {
		case wip.NotFound, wip.Domain, wip.Stale:
			return verdict{}
		}
	}
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return verdict{unknown: true}
	case ctx.Err() != nil, f != nil && f.Class == wip.Transient:
		return verdict{class: wip.Transient}
	}
	return verdict{class: wip.Internal}
}

func newBreaker(cfg *Config) *breaker {
	b := &breaker{openFor: cfg.OpenFor, since: time.Now()}
	b.gate = gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
		MaxRequests:  1,
		Timeout:      cfg.OpenFor,
		ReadyToTrip:  func(c gobreaker.Counts) bool { return int64(c.ConsecutiveFailures) >= int64(cfg.Failures) },
		IsSuccessful: func(err error) bool { return err == nil },
		IsExcluded:   func(err error) bool { return err == errUnknown },
		OnStateChange: func(string, gobreaker.State, gobreaker.State) {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.since = time.Now()
		},
	})
	return b
}

// closedTo returns the answer while the breaker is open, or nil.
func (b *breaker) closedTo() *wip.Failure {
	if b.gate.State() != gobreaker.StateOpen {
		return nil
	}
	return b.refusal()
}

// allow lets a request through, whose outcome settle is told, or returns the
// answer.
func (b *breaker) allow() (settle func(verdict), refusal *wip.Failure) {
	done, err := b.gate.Allow()
	if err != nil {
		return nil, b.refusal()
	}
	return func(v verdict) {
		b.note(v)
		switch {
		case v.unknown:
			done(errUnknown)
		case v.class != "":
			done(errFailed)
		default:
			done(nil)
		}
	}, nil
}

func (b *breaker) note(v verdict) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case v.unknown:
	case v.class == "":
		b.count = 0
	default:
		b.count++
		b.last, b.failed = v.class, time.Now()
	}
}

// refusal is the answer to what is not let through.
func (b *breaker) refusal() *wip.Failure {
	wait := probing
	open := b.gate.State() == gobreaker.StateOpen
	b.mu.Lock()
	defer b.mu.Unlock()
	if open {
		wait = max(time.Until(b.since.Add(b.openFor)), time.Millisecond)
	}
	err := &OpenError{}
	return &wip.Failure{Class: wip.Transient, Message: err.Error(), RetryAfter: wait, Err: err}
}

func (b *breaker) state() State {
	s := State{Breaker: Closed}
	switch b.gate.State() {
	case gobreaker.StateOpen:
		s.Breaker = Open
	case gobreaker.StateHalfOpen:
		s.Breaker = HalfOpen
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	s.Since, s.Failures, s.LastFailure, s.LastFailed = b.since, b.count, b.last, b.failed
	return s
}

// refused reports whether a failure is this package's answer to a request that
// the Host never had.
func refused(f *wip.Failure) bool {
	switch f.Err.(type) {
	case *OpenError, *BusyError:
		return true
	}
	return false
}

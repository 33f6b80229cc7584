package caps

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/wipagent/wipagent/objects/source/session/llsd"
	"github.com/wipagent/wipagent/objects/source/session/secret"
)

// The capabilities in use. All of them only read.
const (
	EventQueueGet              = "EventQueueGet"
	FetchInventoryDescendents2 = "FetchInventoryDescendents2"
	GetDisplayNames            = "GetDisplayNames"
)

// Names are the capabilities that a region is asked for; no other ever is.
var Names = [...]string{EventQueueGet, FetchInventoryDescendents2, GetDisplayNames}

// Bounds of asking for capabilities: about a minute of trying.
const (
	seedTries   = 10
	seedMissing = 5 // answers of 404 that mean that it stays so
	seedTimeout = 30 * time.Second
	maxSeed     = 1 << 20 // bytes of the answer
	maxWait     = 30 * time.Second
)

// Set holds the capabilities that a region granted. The zero value holds none.
// It is not changed once made, and safe for concurrent use.
type Set struct{ urls map[string]secret.Of[string] }

// Has reports whether the capability was granted.
func (s Set) Has(name string) bool { return !s.urls[name].IsZero() }

// URL returns a capability's address; the zero value if it was not granted.
func (s Set) URL(name string) secret.Of[string] { return s.urls[name] }

// Names returns the names of the granted capabilities, in order.
func (s Set) Names() []string { return slices.Sorted(maps.Keys(s.urls)) }

// ErrUntrusted says that a host's certificate is of an authority that is not
// trusted. Second Life's simulators have one of their operator's own.
var ErrUntrusted = errors.New("the certificate is of no trusted authority")

// FetchSeed asks a region for the capabilities called Names, at the address
// that the login, or the event that announced the region, gave. It tries again
// for about a minute at most, as a region that has just been entered may not
// be ready. The error is ErrGone if the region keeps saying that there is no
// such address, which means that the session is broken. Safe for concurrent
// use; a nil client is http.DefaultClient.
func FetchSeed(ctx context.Context, client *http.Client, seed secret.Of[string]) (Set, error) {
	names := make([]llsd.Value, len(Names))
	for i, n := range Names {
		names[i] = llsd.String(n)
	}
	body := llsd.Array(names...)
	c := capability{"seed capability", seed}
	missing := 0
	return backoff.Retry(ctx, func() (Set, error) {
		set, a, err := c.fetchSeed(ctx, client, body)
		var untrusted *tls.CertificateVerificationError
		switch {
		case errors.As(err, &untrusted): // it will be the same the next time
			err = backoff.Permanent(fmt.Errorf("%w: %w", ErrUntrusted, err))
		case err == nil || a == nil:
		case a.status == http.StatusNotFound || a.status == http.StatusGone:
			if missing++; missing == seedMissing {
				err = backoff.Permanent(err)
			}
		case a.status == http.StatusBadRequest || a.status == http.StatusUnauthorized || a.status == http.StatusForbidden:
			err = backoff.Permanent(err)
		case a.retryAfter > 0:
			err = &laterError{err, backoff.RetryAfterError{Duration: min(a.retryAfter, maxWait)}}
		}
		return set, err
	}, backoff.WithBackOff(&backoff.ExponentialBackOff{
		InitialInterval: 500 * time.Millisecond, Multiplier: 2, RandomizationFactor: 0.2, MaxInterval: 10 * time.Second,
	}), backoff.WithMaxTries(seedTries), backoff.WithMaxElapsedTime(0))
}

// laterError is an error that says when to try again; backoff's own has no
// other text.
type laterError struct {
	error
	after backoff.RetryAfterError
}

// Unwrap implements the interface of errors.Is and errors.As.
func (e *laterError) Unwrap() []error { return []error{e.error, &e.after} }

// fetchSeed asks once.
func (c capability) fetchSeed(ctx context.Context, client *http.Client, body llsd.Value) (Set, *response, error) {
	ctx, cancel := context.WithTimeout(ctx, seedTimeout)
	defer cancel()
	a, err := c.post(ctx, client, body, maxSeed)
	if err != nil {
		return Set{}, nil, err
	}
	if a.status != http.StatusOK {
		return Set{}, a, c.statusError(a.status)
	}
	v, err := llsd.Parse(a.body)
	if err != nil {
		return Set{}, a, c.errorf("%w", err)
	}
	if v.Kind() != llsd.KindMap {
		return Set{}, a, c.errorf("found %s, expected a map of addresses", v.Kind())
	}
	set := Set{urls: map[string]secret.Of[string]{}}
	for _, name := range Names {
		if address, ok := v.Get(name).Str(); ok && isWebAddress(address) {
			set.urls[name] = secret.New(address)
		}
	}
	return set, a, nil
}

func isWebAddress(address string) bool {
	u, err := url.Parse(address)
	return err == nil && isWeb(u)
}

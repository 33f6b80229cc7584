package session

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/wipagent/wipagent/objects/source/session/caps"
	"github.com/wipagent/wipagent/objects/source/session/login"
	"github.com/wipagent/wipagent/objects/source/session/secret"
	"github.com/wipagent/wipagent/objects/world"
)

// Session is one account on one grid. It is safe for concurrent use; Run may
// run once at a time.
type Session struct {
	cfg    Config
	client *http.Client
	letIn  bool // a login has succeeded; only Run uses it

	mu      sync.Mutex
	running bool
	state   state
	changed chan struct{} // closed, and replaced, when state changes
}

// state is what Settled waits for.
type state struct {
	settled bool  // all that a region tells has been told
	ended   error // Run has ended, or is between two logins, because of it
	over    bool  // Run has ended
}

// New returns a session that is not logged in yet. It fails on a
// configuration that makes no sense.
func New(cfg *Config) (*Session, error) {
	c, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	transport := c.Transport
	if transport == nil {
		t := http.DefaultTransport.(*http.Transport).Clone()
		if c.RootCAs != nil {
			t.TLSClientConfig = &tls.Config{RootCAs: c.RootCAs, MinVersion: tls.VersionTLS12}
		}
		transport = t
	}
	return &Session{cfg: c, client: &http.Client{Transport: &named{transport, c.Channel + "/" + c.Version}}, changed: make(chan struct{})}, nil
}

// set changes the state and wakes those who wait for it.
func (s *Session) set(change func(*state)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.state)
	close(s.changed)
	s.changed = make(chan struct{})
}

// Settled waits until the session has seen what a region tells on arrival:
// itself, who is there, and its objects, as far as can be told. The inventory
// may take longer. It fails when Run has ended, with what ended it, or when
// ctx ends.
func (s *Session) Settled(ctx context.Context) error {
	for {
		s.mu.Lock()
		state, changed := s.state, s.changed
		s.mu.Unlock()
		switch {
		case state.settled:
			return nil
		case state.over && state.ended != nil:
			return state.ended
		case state.over:
			return errors.New("the session has ended")
		}
		select {
		case <-changed:
		case <-ctx.Done():
			if state.ended != nil {
				return fmt.Errorf("%w; the last attempt failed: %w", ctx.Err(), state.ended)
			}
			return ctx.Err()
		}
	}
}

// Run logs in and tells w what the grid says until ctx ends; it then logs out
// and returns nil. A lost session is logged in again, later and later, each
// time as a new generation. What a new login cannot mend ends Run: a refusal
// of the account, an account that has logged in elsewhere, and with
// Config.Once any loss. Nothing of it is left running when Run returns.
func (s *Session) Run(ctx context.Context, w *world.World) (err error) {
	s.mu.Lock()
	if s.running {
		s.mu.Unlock()
		return errors.New("the session is running already")
	}
	s.running = true
	s.mu.Unlock()
	defer func() {
		s.client.CloseIdleConnections()
		s.set(func(st *state) { st.settled, st.over, st.ended = false, true, err })
		s.mu.Lock()
		s.running = false
		s.mu.Unlock()
	}()
	var cache *caps.Cache
	if s.cfg.InventoryCache != "" {
		cache, err = caps.OpenCache(s.cfg.InventoryCache)
		if err != nil {
			s.notify(Trouble, err)
		}
	}
	wait := reconnects()
	refusals := 0 // in a row, of an account that was let in before
	for generation := w.Generation() + 1; ; generation++ {
		began := time.Now()
		err := s.once(ctx, w, cache, generation)
		if ctx.Err() != nil || err == nil {
			return nil
		}
		s.set(func(st *state) { st.settled, st.ended = false, err })
		s.notify(Disconnected, err)
		if time.Since(began) >= steady {
			wait.Reset()
		}
		if refusals++; w.Generation() == generation { // it was let in
			refusals = 0
		}
		after, ok := again(err, wait, s.letIn && refusals < maxRefusals)
		if !ok || s.cfg.Once {
			// The world is told even if no session ever began, so that
			// whoever asks is not put off for ever.
			gone := world.Stamp{Generation: max(generation, w.Generation()+1)}
			w.Apply(world.SessionStarted{Stamp: gone, Source: "session"}, world.Disconnected{Stamp: gone})
			return err
		}
		s.cfg.Notify(Notice{At: time.Now(), Kind: Retrying, After: after})
		if !sleep(ctx, after) {
			return nil
		}
	}
}

// How long to wait before another login.
const (
	steady       = 10 * time.Minute // a session that lasted so long begins anew
	firstWait    = 5 * time.Second
	longestWait  = 10 * time.Minute
	afterKick    = time.Minute // at least, so as not to quarrel with who kicked
	afterRefusal = 5 * time.Minute
	maxRefusals  = 6
	maxPresences = 5
)

func reconnects() *backoff.ExponentialBackOff {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval, b.MaxInterval, b.Multiplier = firstWait, longestWait, 2
	b.Reset()
	return b
}

// again tells when to log in again; false if that is no use, or would do harm.
//
// OpenSimulator gives ReasonKey also where its services do not answer. An
// account that was let in before is therefore tried again a few times, with
// time enough in between not to be locked out.
func again(err error, wait *backoff.ExponentialBackOff, letIn bool) (time.Duration, bool) {
	var refused *login.Error
	switch {
	case errors.Is(err, ErrElsewhere), errors.Is(err, caps.ErrUntrusted):
		return 0, false
	case errors.As(err, &refused):
		after, ok := refused.Retry()
		if refused.Reason == login.ReasonKey && letIn {
			after, ok = afterRefusal, true
		}
		return max(after, wait.NextBackOff()), ok
	case errors.Is(err, ErrKicked):
		return max(afterKick, wait.NextBackOff()), true
	}
	return wait.NextBackOff(), true
}

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

func (s *Session) notify(kind NoticeKind, err error) {
	s.cfg.Notify(Notice{At: time.Now(), Kind: kind, Err: err})
}

// once is one login, from beginning to end.
func (s *Session) once(ctx context.Context, w *world.World, cache *caps.Cache, generation uint64) error {
	reply, err := s.login(ctx)
	if err != nil {
		return err
	}
	s.letIn = true
	err = run(ctx, &s.cfg, s.client, cache, w, generation, reply, s.watch)
	if err == nil {
		s.notify(LoggedOut, nil)
	}
	return err
}

// watch keeps the state up to date.
func (s *Session) watch(c *core, _ time.Time) {
	settled := c.root.ready && c.root.coarse && c.root.objects == wholly && c.root.restless.IsZero()
	s.mu.Lock()
	same := s.state.settled == settled
	s.mu.Unlock()
	if !same {
		s.set(func(st *state) { st.settled = settled })
	}
}

// login logs in. A session of the same account that has not ended yet is
// waited for, a little; a one-time code is asked for if need be.
func (s *Session) login(ctx context.Context) (*login.Reply, error) {
	s.notify(LoggingIn, nil)
	req := s.cfg.request()
	if s.cfg.MFA != nil {
		req.MFAHash = s.cfg.MFA.Hash()
	}
	for presences, codes := 0, 0; ; {
		reply, err := s.try(ctx, req)
		if err == nil {
			if err := s.keepHash(reply.MFAHash); err != nil {
				s.notify(Trouble, err)
			}
			s.cfg.Notify(Notice{At: time.Now(), Kind: LoggedIn, Text: reply.Message})
			return reply, nil
		}
		var refused *login.Error
		if !errors.As(err, &refused) {
			return nil, err
		}
		if err := s.keepHash(refused.MFAHash); err != nil {
			s.notify(Trouble, err)
		}
		switch {
		case refused.Reason == login.ReasonMFA && s.cfg.MFA != nil && codes < 1:
			codes++
			if err := s.cfg.MFA.SetHash(secret.Of[string]{}); err != nil { // it no longer holds
				s.notify(Trouble, err)
			}
			code, err := s.cfg.MFA.Code(ctx, refused.Message)
			if err != nil {
				return nil, fmt.Errorf("%w: %w", refused, err)
			}
			req.Token, req.MFAHash = code, refused.MFAHash
		case refused.Reason == login.ReasonPresence && presences < maxPresences:
			presences++
			after, _ := refused.Retry()
			s.cfg.Notify(Notice{At: time.Now(), Kind: Retrying, Err: err, After: after})
			if !sleep(ctx, after) {
				return nil, ctx.Err()
			}
		default:
			return nil, err
		}
	}
}

// loginWithin bounds one login: large inventories make it slow.
const loginWithin = time.Minute

// loginGrace is how long the answer to a login is awaited once nobody wants it
// any more: the grid may have opened a session by then, and a session whose
// address is not known cannot be ended.
const loginGrace = 5 * time.Second

func (s *Session) try(ctx context.Context, req *login.Request) (*login.Reply, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	given := ctx
	ctx, cancel := context.WithTimeout(context.WithoutCancel(given), loginWithin)
	defer cancel()
	defer context.AfterFunc(given, func() { time.AfterFunc(loginGrace, cancel) })()
	reply, err := login.Do(ctx, s.client, req)
	var failed *login.Error
	if errors.As(err, &failed) && errors.Is(err, context.DeadlineExceeded) {
		failed.Err = fmt.Errorf("no answer within %v", loginWithin)
	}
	return reply, err
}

func (s *Session) keepHash(hash secret.Of[string]) error {
	if s.cfg.MFA == nil || hash.IsZero() {
		return nil
	}
	if err := s.cfg.MFA.SetHash(hash); err != nil {
		return fmt.Errorf("keeping the grid's answer to the one-time code: %w", err)
	}
	return nil
}

// named is a transport that tells the server what program asks.
type named struct {
	http.RoundTripper
	agent string
}

// RoundTrip implements http.RoundTripper.
func (n *named) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("User-Agent", n.agent)
	return n.RoundTripper.RoundTrip(req)
}

// CloseIdleConnections lets a client close those of the transport.
func (n *named) CloseIdleConnections() {
	if t, ok := n.RoundTripper.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

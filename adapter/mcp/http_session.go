package mcp

import (
	"context"
	"crypto/rand"
	"net/http"
	"reflect"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/time/rate"

	"github.com/wipagent/wipagent/client/policy/principals"
)

// session is what one client has begun and not ended. It belongs to a principal,
// and ends with the token that it began with.
type session struct {
	id     string
	access *principals.Access
	owner  *quota
	server *sdk.Server // its own, so that it can be ended
	ctx    context.Context
	end    context.CancelFunc // whoever watches it does the rest

	// Guarded by HTTPHandler.mu.
	calls int         // that are being answered
	used  time.Time   // when the last one was
	idle  *time.Timer // ends it; stopped while there are calls
}

// sessionKey is the key of the session in a request's context.
type sessionKey struct{}

const sessionHeader = "Mcp-Session-Id"

// quota is what a principal uses of what there is.
type quota struct {
	limiter *rate.Limiter

	// Guarded by HTTPHandler.mu.
	calls    int
	sessions map[*session]struct{}
}

// maxQuotas is how many principals are remembered before those that use nothing
// are forgotten.
const maxQuotas = 4096

// quota counts a request, and returns how long it must wait, which is nothing
// unless there were too many before it.
func (h *HTTPHandler) quota(a *principals.Access) (*quota, time.Duration) {
	limit, burst := rate.Limit(a.Rate), a.Burst
	if limit == 0 {
		limit = rate.Limit(h.limits.Rate)
	}
	if burst == 0 {
		burst = max(h.limits.Burst, int(2*limit))
	}
	h.mu.Lock()
	q := h.quotas[a.Principal.ID]
	if q == nil {
		h.forgetQuotas()
		q = &quota{limiter: rate.NewLimiter(limit, burst), sessions: map[*session]struct{}{}}
		h.quotas[a.Principal.ID] = q
	}
	h.mu.Unlock()
	if q.limiter.Limit() != limit || q.limiter.Burst() != burst {
		q.limiter.SetLimit(limit)
		q.limiter.SetBurst(burst)
	}
	r := q.limiter.Reserve()
	wait := r.Delay()
	if wait > 0 {
		r.Cancel()
	}
	return q, wait
}

// forgetQuotas forgets who uses nothing, once there are many.
func (h *HTTPHandler) forgetQuotas() {
	if len(h.quotas) < maxQuotas {
		return
	}
	for id, q := range h.quotas {
		if q.calls == 0 && len(q.sessions) == 0 && q.limiter.Tokens() >= float64(q.limiter.Burst()) {
			delete(h.quotas, id)
		}
	}
}

// enter lets a request in that will be answered; leave is called then. If there
// is no room it has answered.
func (h *HTTPHandler) enter(w *timedWriter, q *quota) (leave func(), ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.draining:
		w.Header().Set("Connection", "close")
		later(w, byStopping, http.StatusServiceUnavailable, time.Second, "the server is stopping")
		return nil, false
	case h.calls >= h.limits.MaxCalls:
		later(w, byBusy, http.StatusServiceUnavailable, time.Second, "the server is busy")
		return nil, false
	case q.calls >= h.limits.MaxCallsEach:
		later(w, byAtOnce, http.StatusTooManyRequests, time.Second, "too many requests of this principal at once")
		return nil, false
	}
	h.calls++
	q.calls++
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		q.calls--
		if h.calls--; h.calls == 0 && h.draining {
			close(h.quiet)
		}
	}, true
}

// lookup returns the session that a request names, nil if it is none of the
// caller's.
func (h *HTTPHandler) lookup(r *http.Request, a *principals.Access) *session {
	list := r.Header.Values(sessionHeader)
	if len(list) != 1 {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.sessions[list[0]]
	switch {
	case s == nil || s.ctx.Err() != nil || s.access.Over(time.Now()):
		return nil
	case s.access != a && (s.access.Embedder != a.Embedder || !reflect.DeepEqual(s.access.Principal, a.Principal)):
		return nil // who bears a token of less than the session's may not use what was offered in it
	}
	return s
}

// open begins a session; nil if there is no room.
func (h *HTTPHandler) open(a *principals.Access, q *quota) *session {
	s := &session{id: rand.Text(), access: a, owner: q}
	s.server = h.newServer(s)
	s.ctx, s.end = context.WithCancel(context.Background())
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(q.sessions) >= h.limits.MaxSessionsEach {
		h.endOldest(q)
	}
	if h.draining || len(h.sessions) >= h.limits.MaxSessions || len(q.sessions) >= h.limits.MaxSessionsEach {
		s.end()
		return nil
	}
	h.sessions[s.id] = s
	q.sessions[s] = struct{}{}
	s.idle = time.AfterFunc(h.limits.Idle, s.end)
	h.watching.Add(1)
	go h.watch(s)
	return s
}

// endOldest ends the session of a principal that has been idle for longest: a
// client that begins one each time and ends none must not lock itself out.
func (h *HTTPHandler) endOldest(q *quota) {
	var oldest *session
	for s := range q.sessions {
		if s.calls == 0 && (oldest == nil || s.used.Before(oldest.used)) {
			oldest = s
		}
	}
	if oldest != nil {
		h.forget(oldest)
		oldest.end()
	}
}

// forget takes a session out of what there is.
func (h *HTTPHandler) forget(s *session) {
	delete(h.sessions, s.id)
	delete(s.owner.sessions, s)
}

// watch clears up after a session when it has ended, for whatever reason.
func (h *HTTPHandler) watch(s *session) {
	defer h.watching.Done()
	var expired <-chan time.Time
	if !s.access.Expires.IsZero() {
		timer := time.NewTimer(time.Until(s.access.Expires))
		defer timer.Stop()
		expired = timer.C
	}
	select {
	case <-s.ctx.Done():
	case <-s.access.Done:
	case <-expired:
	}
	s.end()
	h.mu.Lock()
	h.forget(s)
	s.idle.Stop()
	h.mu.Unlock()
	s.close()
}

// close ends what the SDK has of a session.
func (s *session) close() {
	for begun := range s.server.Sessions() {
		_ = begun.Close() // there is nobody to tell
	}
}

// begun reports whether the client's first request has begun a session.
func (s *session) begun() bool {
	for begun := range s.server.Sessions() {
		if begun.InitializeParams() != nil {
			return true
		}
	}
	return false
}

// use notes that a request of the session is being answered, until done.
func (h *HTTPHandler) use(s *session) (done func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s.calls++
	s.idle.Stop()
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		s.used = time.Now()
		if s.calls--; s.calls == 0 && s.ctx.Err() == nil {
			s.idle.Reset(h.limits.Idle)
		}
	}
}

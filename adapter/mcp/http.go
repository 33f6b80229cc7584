package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/wipagent/wipagent/adapter"
	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/audit"
	"github.com/wipagent/wipagent/client/policy/principals"
)

// Where the handler answers. Metadata stands below its path too, with the path of
// what it is about (RFC 9728, section 3.1).
const (
	HTTPPath     = "/mcp"
	healthPath   = "/healthz"
	metricsPath  = "/metrics"
	metadataPath = "/.well-known/oauth-protected-resource"
)

// HTTPConfig says who is served what over MCP's streamable HTTP.
type HTTPConfig struct {
	Client  *client.Client
	Surface adapter.Surface // empty is the three verbs
	Code    adapter.Runner  // nil: no tool that runs programs
	Version string          // of the program; shown to clients

	// Verify says whom a bearer token stands for: principals.File has one, and
	// a program that is handed an issuer's tokens brings its own. It is asked
	// with each request, and must be safe for concurrent use. An error that is
	// principals.ErrUnknown refuses the token; any other says that tokens cannot
	// be looked up now.
	Verify func(ctx context.Context, token string) (*principals.Access, error)
	// Anyone is who calls if Verify is nil, with whatever token or none: for a
	// server that nobody else can reach.
	Anyone *client.Principal

	// Hosts are the names, without a port, by which clients may reach the
	// server; none is localhost, 127.0.0.1 and ::1. A page whose name was made
	// to lead here (DNS rebinding) has another.
	Hosts []string
	// Origins are the pages that may call, as https://app.example:8443. All
	// others that are not the server's own are refused.
	Origins []string
	// URL is the endpoint's, as clients write it: the resource of Issuers.
	URL string
	// Issuers are the OAuth authorization servers whose tokens Verify takes.
	// With one or more, the metadata of RFC 9728 names them.
	Issuers []string

	// Audit is told of each request that is refused before it is a call, which a
	// call's own record would tell of: by reason and by the address that it came
	// from. Nil is told nothing.
	Audit *audit.Log

	// Healthy says whether the server can do its work; nil is yes.
	Healthy func() error
	// Metrics answers at /metrics to whoever bears a token of a local_operator;
	// nil is nothing there.
	Metrics http.Handler

	Limits HTTPLimits
}

// HTTPLimits bound what clients can use up. Of each, 0 is its default.
type HTTPLimits struct {
	MaxBody         int           // bytes of a request; 1 MiB
	MaxSessions     int           // of all principals; 1,024
	MaxSessionsEach int           // of one, of whose sessions a new one ends the longest idle; 32
	MaxCalls        int           // requests at once; 1,024
	MaxCallsEach    int           // of one principal; 64
	Idle            time.Duration // after which a session without a request ends; 30 min
	BodyWithin      time.Duration // in which a request must have come; 15 s
	WriteWithin     time.Duration // in which a client must take what is written; 30 s
	Rate            float64       // requests a second of a principal that has no rate of its own; 50
	Burst           int           // of them at once; 100
}

func (l HTTPLimits) withDefaults() HTTPLimits {
	return HTTPLimits{
		MaxBody:     cmp.Or(l.MaxBody, 1<<20),
		MaxSessions: cmp.Or(l.MaxSessions, 1024), MaxSessionsEach: cmp.Or(l.MaxSessionsEach, 32),
		MaxCalls: cmp.Or(l.MaxCalls, 1024), MaxCallsEach: cmp.Or(l.MaxCallsEach, 64),
		Idle: cmp.Or(l.Idle, 30*time.Minute), BodyWithin: cmp.Or(l.BodyWithin, 15*time.Second), WriteWithin: cmp.Or(l.WriteWithin, 30*time.Second),
		Rate: cmp.Or(l.Rate, 50), Burst: cmp.Or(l.Burst, 100),
	}
}

// HTTPHandler serves many callers over HTTP, each as the principal that its
// bearer token stands for (spec/serving.md). It is safe for concurrent use. Bound
// headers, and the time for them, by the http.Server that it is given to.
type HTTPHandler struct {
	cfg            HTTPConfig
	limits         HTTPLimits
	hosts, origins map[string]bool
	adapter        *adapter.Adapter
	toolsets       *lru.Cache[string, offer]
	sdk            http.Handler
	metadata       http.Handler // nil if there is none

	mu       sync.Mutex
	quotas   map[string]*quota   // by the principal's ID
	sessions map[string]*session // by their IDs
	calls    int                 // requests that are being answered
	draining bool
	quiet    chan struct{} // closed when draining and no request is left
	watching sync.WaitGroup
}

// NewHTTPHandler returns a handler for the paths /mcp, /healthz and, with issuers,
// /.well-known/oauth-protected-resource. It panics on a Config that names no
// surface, or neither Verify nor Anyone.
func NewHTTPHandler(cfg HTTPConfig) *HTTPHandler {
	if (cfg.Verify == nil) == (cfg.Anyone == nil) {
		panic("mcp: an HTTPConfig needs one of Verify and Anyone")
	}
	h := &HTTPHandler{
		cfg: cfg, limits: cfg.Limits.withDefaults(), hosts: map[string]bool{}, origins: map[string]bool{},
		adapter: adapter.New(adapter.Config{Client: cfg.Client, Code: cfg.Code}), toolsets: newToolsets(),
		quotas: map[string]*quota{}, sessions: map[string]*session{}, quiet: make(chan struct{}),
	}
	h.tools(&client.Principal{}) // panics now rather than at the first request
	hosts := cfg.Hosts
	if len(hosts) == 0 {
		hosts = []string{"localhost", "127.0.0.1", "::1"}
	}
	for _, name := range hosts {
		h.hosts[strings.ToLower(name)] = true
	}
	for _, origin := range cfg.Origins {
		h.origins[strings.ToLower(origin)] = true
	}
	h.sdk = sdk.NewStreamableHTTPHandler(
		func(r *http.Request) *sdk.Server { return r.Context().Value(sessionKey{}).(*session).server },
		&sdk.StreamableHTTPOptions{MaxRequestBodyBytes: -1, DisableLocalhostProtection: true}, // both are seen to here
	)
	if len(cfg.Issuers) > 0 {
		h.metadata = auth.ProtectedResourceMetadataHandler(&oauthex.ProtectedResourceMetadata{
			Resource: cfg.URL, AuthorizationServers: cfg.Issuers, BearerMethodsSupported: []string{"header"}, ResourceName: "wipagent",
		})
	}
	return h
}

// ServeHTTP answers one request.
func (h *HTTPHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	out := newTimedWriter(w, h.limits.WriteWithin)
	defer out.release()
	out.Header().Set("X-Content-Type-Options", "nosniff")
	out.Header().Set("Cache-Control", "no-store")
	if r.URL.Path == healthPath { // asked for by address, by whoever watches
		h.health(out, r)
		return
	}
	defer h.tell(out, r)
	if !h.hosts[hostName(r.Host)] {
		refuse(out, byHost, http.StatusForbidden, "null", jsonrpc.CodeInvalidRequest, "found a Host by which this server is not known; its operator can add it by --allow-host, or by --public-url")
		return
	}
	if !h.admitOrigin(out, r) {
		refuse(out, byOrigin, http.StatusForbidden, "null", jsonrpc.CodeInvalidRequest, "found a request of a page that may not call here; the server's operator can add its origin by --allow-origin")
		return
	}
	switch path := r.URL.Path; {
	case path == HTTPPath && preflight(out, r):
	case path == HTTPPath:
		h.serve(out, r)
	case h.metadata != nil && (path == metadataPath || path == metadataPath+HTTPPath):
		h.metadata.ServeHTTP(out, r)
	case h.cfg.Metrics != nil && path == metricsPath:
		if a := h.admit(out, r); a != nil && mayOperate(a) {
			h.cfg.Metrics.ServeHTTP(out, r)
		} else if a != nil {
			nothing(out, r, byAudience)
		}
	default:
		nothing(out, r, byPath)
	}
}

// health says whether the server can do its work, and nothing else.
func (h *HTTPHandler) health(w http.ResponseWriter, r *http.Request) {
	status, code := "ok", http.StatusOK
	h.mu.Lock()
	draining := h.draining
	h.mu.Unlock()
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "expected GET", http.StatusMethodNotAllowed)
		return
	case draining:
		status, code = "stopping", http.StatusServiceUnavailable
	case h.cfg.Healthy != nil && h.cfg.Healthy() != nil:
		status, code = "unavailable", http.StatusServiceUnavailable
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	fmt.Fprintf(w, "{\"status\":%q}\n", status)
}

// serve answers a request at the endpoint.
func (h *HTTPHandler) serve(w *timedWriter, r *http.Request) {
	a := h.admit(w, r)
	if a == nil {
		return
	}
	q, wait := h.quota(a)
	if wait > 0 {
		later(w, byRate, http.StatusTooManyRequests, wait, "too many requests of this principal")
		return
	}
	switch r.Method {
	case http.MethodPost:
		h.post(w, r, a, q)
	case http.MethodGet, http.MethodDelete:
		s := h.lookup(r, a)
		if s == nil {
			unknownSession(w)
			return
		}
		if r.Method == http.MethodDelete {
			s.end()
			w.WriteHeader(http.StatusNoContent)
			return
		}
		h.sdk.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), sessionKey{}, s)))
	default:
		w.Header().Set("Allow", "GET, POST, DELETE")
		refuse(w, byMethod, http.StatusMethodNotAllowed, "null", jsonrpc.CodeInvalidRequest, "expected POST, GET or DELETE")
	}
}

// Shutdown lets nothing new in, waits until what is being answered is done or ctx
// ends, and ends all sessions: a call that is then still going on is cancelled,
// and answered as such. The error is ctx's if it had to wait for that. It is called
// beside http.Server.Shutdown, which waits for streams that end only here.
func (h *HTTPHandler) Shutdown(ctx context.Context) error {
	h.mu.Lock()
	if !h.draining {
		h.draining = true
		if h.calls == 0 {
			close(h.quiet)
		}
	}
	h.mu.Unlock()
	var err error
	select {
	case <-h.quiet:
	case <-ctx.Done():
		err = ctx.Err()
	}
	h.mu.Lock()
	for _, s := range h.sessions {
		s.end()
	}
	h.mu.Unlock()
	defer h.cfg.Audit.Flush()
	ended := make(chan struct{})
	go func() {
		h.watching.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(stopGrace):
		err = cmp.Or(err, errors.New("found calls that do not end when they are cancelled"))
	}
	return err
}

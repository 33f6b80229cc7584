package mcp

import (
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/wipagent/wipagent/client/audit"
	"github.com/wipagent/wipagent/client/policy/principals"
	"github.com/wipagent/wipagent/idl"
)

// hostName returns the name in a Host header, in lower case and without a port.
func hostName(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	} else {
		host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	}
	return strings.ToLower(host)
}

// admitOrigin reports whether a request comes from no page, or from one that may
// call here, which it then tells the browser.
func (h *HTTPHandler) admitOrigin(w http.ResponseWriter, r *http.Request) bool {
	list := r.Header.Values("Origin")
	if len(list) == 0 { // a browser tells where even simple requests come from
		site := r.Header.Get("Sec-Fetch-Site")
		return site == "" || site == "none" || site == "same-origin"
	}
	origin := list[0]
	switch u, err := url.Parse(origin); {
	case len(list) > 1:
		return false
	case h.origins[strings.ToLower(origin)]:
		w.Header().Set("Access-Control-Allow-Origin", origin)
		w.Header().Set("Access-Control-Expose-Headers", "Mcp-Session-Id, WWW-Authenticate, Retry-After")
		w.Header().Add("Vary", "Origin")
		return true
	default: // the server's own, under a name that has been looked at
		return err == nil && (u.Scheme == "http" || u.Scheme == "https") && strings.EqualFold(u.Host, r.Host)
	}
}

// preflight answers a browser that asks whether a page may call, if it does.
func preflight(w http.ResponseWriter, r *http.Request) bool {
	if r.Method != http.MethodOptions || w.Header().Get("Access-Control-Allow-Origin") == "" {
		return false
	}
	w.Header().Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
	w.Header().Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Last-Event-ID, Mcp-Protocol-Version, Mcp-Session-Id")
	w.Header().Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return true
}

// admit returns what the bearer of a request may do. If that is nothing it
// answers, in the same words whatever is wrong with the token, and returns nil.
func (h *HTTPHandler) admit(w *timedWriter, r *http.Request) *principals.Access {
	if h.cfg.Anyone != nil {
		return &principals.Access{Principal: *h.cfg.Anyone}
	}
	token, given := bearerToken(r)
	var a *principals.Access
	err := principals.ErrUnknown
	if token != "" {
		a, err = h.cfg.Verify(r.Context(), token)
	}
	switch {
	case err == nil && a != nil && !a.Over(time.Now()):
		w.refusal.Principal = a.Principal.ID
		return a
	case err != nil && !errors.Is(err, principals.ErrUnknown):
		later(w, byLookup, http.StatusServiceUnavailable, time.Second, "tokens cannot be looked up now")
		return nil
	}
	challenge, reason := `Bearer realm="wipagent"`, byNoToken
	if token != "" {
		reason = byToken
	}
	if given { // RFC 6750, section 3.1: no code for who did not try
		challenge += `, error="invalid_token"`
	}
	if h.metadata != nil {
		challenge += `, resource_metadata="` + h.metadataURL() + `"`
	}
	w.Header().Set("WWW-Authenticate", challenge)
	refuse(w, reason, http.StatusUnauthorized, "null", jsonrpc.CodeInvalidRequest, "expected a bearer token that is known here")
	return nil
}

// bearerToken returns the token that a request bears, and whether there is
// anything that should be one.
func bearerToken(r *http.Request) (token string, given bool) {
	list := r.Header.Values("Authorization")
	if len(list) != 1 {
		return "", len(list) > 0
	}
	scheme, token, _ := strings.Cut(list[0], " ")
	if token = strings.TrimSpace(token); !strings.EqualFold(scheme, "Bearer") || strings.ContainsAny(token, " \t,") {
		return "", true
	}
	return token, true
}

// metadataURL returns where the metadata of the endpoint stands.
func (h *HTTPHandler) metadataURL() string {
	u, err := url.Parse(h.cfg.URL)
	if err != nil {
		return metadataPath
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: metadataPath + HTTPPath}).String()
}

// mayOperate reports whether who bears a token is one of those who run the server.
func mayOperate(a *principals.Access) bool { return a.Principal.Audience == idl.LocalOperator }

// timedWriter gives each write its time, as streams have no end of their own by
// which they must be written. It keeps what there is to tell if the request is
// refused.
type timedWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	within  time.Duration
	refusal audit.Refusal
}

func newTimedWriter(w http.ResponseWriter, within time.Duration) *timedWriter {
	return &timedWriter{ResponseWriter: w, control: http.NewResponseController(w), within: within}
}

// limit sets the deadline, and returns what lifts it: over HTTP/2 it would end a
// stream on which nothing is written. An error says that there is no connection.
func (w *timedWriter) limit() (lift func()) {
	_ = w.control.SetWriteDeadline(time.Now().Add(w.within))
	return func() { _ = w.control.SetWriteDeadline(time.Time{}) }
}

// release leaves a deadline for what the server writes after the handler.
func (w *timedWriter) release() { w.limit() }

// Write writes in time.
func (w *timedWriter) Write(p []byte) (int, error) {
	defer w.limit()()
	return w.ResponseWriter.Write(p)
}

// FlushError flushes in time; http.ResponseController calls it.
func (w *timedWriter) FlushError() error {
	defer w.limit()()
	return w.control.Flush()
}

// Unwrap lets http.ResponseController reach the rest.
func (w *timedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

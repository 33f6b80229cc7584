package mcp

import (
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/wipagent/wipagent/client/audit"
)

// Why requests are refused, as the operator's log and metrics tell it.
const (
	byHost      = "host"     // that of the request is none of the server's names
	byOrigin    = "origin"   // a page that may not call
	byPath      = "path"     // there is nothing
	byMethod    = "method"   // not one of the endpoint's
	byNoToken   = "no_token" // there is none, or what stands there is none
	byToken     = "token"    // it stands for nobody
	byLookup    = "lookup"   // tokens cannot be looked up now
	byAudience  = "audience" // metrics are for operators
	byRate      = "rate"     // of the principal
	byAtOnce    = "at_once"  // so are requests of the principal
	byBusy      = "busy"     // there are too many requests of all
	byStopping  = "stopping" // the server is
	byRoom      = "sessions" // there are too many
	bySession   = "session"  // none of the caller's, or none at all
	byType      = "type"     // of the content, or its encoding
	bySize      = "size"     // of the message
	byLate      = "late"     // so was the message
	byMessage   = "message"  // it cannot be read, or did not come whole
	byNarrowing = "narrowing"
	byOther     = "other" // the SDK says why
)

// refused notes why the request is refused, for who looks after the server.
func (w *timedWriter) refused(reason string) { w.refusal.Reason = reason }

// WriteHeader notes that a request is refused of which nobody has said so.
func (w *timedWriter) WriteHeader(status int) {
	if status >= http.StatusBadRequest && w.refusal.Reason == "" {
		w.refused(byOther)
	}
	w.ResponseWriter.WriteHeader(status)
}

// tell has the operator's log tell of a request if it was refused.
func (h *HTTPHandler) tell(w *timedWriter, r *http.Request) {
	if w.refusal.Reason == "" {
		return
	}
	if at, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		w.refusal.Remote = at.Addr().Unmap().WithZone("").String()
	}
	h.cfg.Audit.Refuse(w.refusal)
}

// tellNarrowing is tell for what is refused within a session.
func (h *HTTPHandler) tellNarrowing(s *session) {
	h.cfg.Audit.Refuse(audit.Refusal{Reason: byNarrowing, Principal: s.access.Principal.ID})
}

// refuse answers a request that the SDK never sees. The id is JSON.
func refuse(w *timedWriter, reason string, status int, id string, code int, message string) {
	w.refused(reason)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"error\":{\"code\":%d,\"message\":%q}}\n", id, code, message)
}

// later refuses a request that may come again.
func later(w *timedWriter, reason string, status int, wait time.Duration, message string) {
	w.Header().Set("Retry-After", strconv.Itoa(max(1, int((wait+time.Second-1)/time.Second))))
	refuse(w, reason, status, "null", jsonrpc.CodeInvalidRequest, message)
}

// nothing answers where there is nothing, or nothing for the caller.
func nothing(w *timedWriter, r *http.Request, reason string) {
	w.refused(reason)
	http.NotFound(w, r)
}

// unknownSession is the answer to a session that is not the caller's, whether it
// is somebody else's, or over, or never was. It is plain: of an error of JSON-RPC
// some clients would think that it is about one call.
func unknownSession(w *timedWriter) {
	w.refused(bySession)
	http.Error(w, "session not found", http.StatusNotFound)
}

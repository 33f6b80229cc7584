package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/tidwall/gjson"

	"github.com/wipagent/wipagent/client/policy/principals"
	"github.com/wipagent/wipagent/idl"
)

// post answers a message of a client.
func (h *HTTPHandler) post(w *timedWriter, r *http.Request, a *principals.Access, q *quota) {
	leave, ok := h.enter(w, q)
	if !ok {
		return
	}
	defer leave()
	body, ok := h.body(w, r)
	if !ok || !readable(w, body) {
		return
	}
	method := gjson.GetBytes(body, "method").Str
	var s *session
	switch {
	case len(r.Header.Values(sessionHeader)) > 0:
		if s = h.lookup(r, a); s == nil {
			unknownSession(w)
			return
		}
	case method == "initialize" || method == "server/discover":
		if s = h.open(a, q); s == nil {
			later(w, byRoom, http.StatusServiceUnavailable, 10*time.Second, "there are as many sessions as there may be")
			return
		}
		defer func() {
			if !s.begun() { // it asked for something else, or in vain
				s.end()
			}
			if s.ctx.Err() != nil { // who watches it may have been too early
				s.close()
			}
		}()
	default:
		refuse(w, bySession, http.StatusBadRequest, identifier(body), jsonrpc.CodeInvalidRequest, "found no "+sessionHeader+"; expected one, or initialize")
		return
	}
	defer h.use(s)()
	r = r.WithContext(context.WithValue(r.Context(), sessionKey{}, s))
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	h.sdk.ServeHTTP(w, r)
}

// body returns a request's body. If it is too large, late or of another kind it
// has answered.
func (h *HTTPHandler) body(w *timedWriter, r *http.Request) ([]byte, bool) {
	no := func(reason string, status int, message string) ([]byte, bool) {
		refuse(w, reason, status, "null", jsonrpc.CodeInvalidRequest, message)
		return nil, false
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		return no(byType, http.StatusUnsupportedMediaType, "expected the content type application/json")
	}
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		return no(byType, http.StatusUnsupportedMediaType, "expected no content encoding")
	}
	large := fmt.Sprintf("the message is longer than %d bytes", h.limits.MaxBody)
	if r.ContentLength > int64(h.limits.MaxBody) {
		return no(bySize, http.StatusRequestEntityTooLarge, large)
	}
	_ = w.control.SetReadDeadline(time.Now().Add(h.limits.BodyWithin)) // an error says that there is no connection to hold up
	raw, err := io.ReadAll(http.MaxBytesReader(w.ResponseWriter, r.Body, int64(h.limits.MaxBody)))
	_ = w.control.SetReadDeadline(time.Time{})
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return no(bySize, http.StatusRequestEntityTooLarge, large)
	case errors.Is(err, os.ErrDeadlineExceeded):
		w.Header().Set("Connection", "close")
		return no(byLate, http.StatusRequestTimeout, "the message did not come in time")
	case err != nil:
		return no(byMessage, http.StatusBadRequest, "the message did not come whole")
	}
	return raw, true
}

// readable reports whether the SDK can read a message, and answers one that it
// cannot, as over stdio.
func readable(w *timedWriter, body []byte) bool {
	code, message, id := jsonrpc.CodeInvalidRequest, "", "null"
	switch body = bytes.TrimSpace(body); {
	case idl.Levels(body) > maxLevels:
		message = fmt.Sprintf("the message is nested more than %d levels deep", maxLevels)
	case !json.Valid(body):
		code, message = jsonrpc.CodeParseError, "the message is not JSON"
	case body[0] == '[':
		message = "the message is a batch, expected one request, notification or response"
	case !carried(body):
		id, message = identifier(body), "an id is given once; it is a string or an integer within ±(2^53-1), written without fraction or exponent"
	default:
		if _, err := jsonrpc.DecodeMessage(body); err == nil {
			return true
		}
		id, message = identifier(body), "the message is no request, notification or response of JSON-RPC 2.0"
	}
	refuse(w, byMessage, http.StatusBadRequest, id, int(code), message)
	return false
}

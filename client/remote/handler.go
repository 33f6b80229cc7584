package remote

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/wipagent/wipagent/space/wip"
)

// versionHeader names the protocol's version with each request over HTTP.
const versionHeader = "WIP-Protocol-Version"

// bodyWithin bounds how long a request may take to arrive, once it is let in.
const bodyWithin = 15 * time.Second

// NewHandler serves a Host over HTTP: one POST a request, at any path. opt may
// be nil. It is for programs, not for pages: a request that a browser made for
// one is refused.
func NewHandler(host wip.Host, opt *ServeOptions) http.Handler {
	return &handler{newServer(host, opt)}
}

type handler struct{ *server }

// ServeHTTP answers one request.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	refuse := func(status int, code int64, message string) {
		writeError(w, status, &jsonrpc2.Error{Code: code, Message: message})
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch {
	case r.Header.Get("Origin") != "":
		refuse(http.StatusForbidden, codeUnauthorized, "found a browser's request; a Host answers none")
		return
	case r.Method != http.MethodPost:
		w.Header().Set("Allow", http.MethodPost)
		refuse(http.StatusMethodNotAllowed, jsonrpc2.CodeInvalidRequest, "expected POST")
		return
	}
	who, ok := h.admit(bearerToken(r))
	switch {
	case !ok:
		w.Header().Set("WWW-Authenticate", "Bearer")
		refuse(http.StatusUnauthorized, codeUnauthorized, "expected a bearer token that is known here")
		return
	case err != nil || kind != "application/json":
		refuse(http.StatusUnsupportedMediaType, jsonrpc2.CodeInvalidRequest, "expected the content type application/json")
		return
	case r.ContentLength > int64(h.MaxRequest):
		refuse(http.StatusRequestEntityTooLarge, codeTooLarge, "the request is too large")
		return
	}
	if v := r.Header.Get(versionHeader); v != "" && v != Version {
		writeError(w, http.StatusBadRequest, unknownVersion())
		return
	}
	leave, ok := h.enter()
	if !ok {
		w.Header().Set("Retry-After", "1")
		writeError(w, http.StatusServiceUnavailable, errBusy)
		return
	}
	defer leave()
	control := http.NewResponseController(w)
	control.SetReadDeadline(time.Now().Add(bodyWithin)) // an error says that there is no connection to hold up
	body, err := h.readRequest(r)
	control.SetReadDeadline(time.Time{})
	switch {
	case errors.Is(err, errTooLarge):
		refuse(http.StatusRequestEntityTooLarge, codeTooLarge, "the request is too large")
		return
	case errors.Is(err, errEncoding):
		refuse(http.StatusUnsupportedMediaType, jsonrpc2.CodeInvalidRequest, "expected the content encoding gzip or none")
		return
	case err != nil:
		refuse(http.StatusBadRequest, jsonrpc2.CodeParseError, "the request did not arrive whole")
		return
	}
	req, bad := decodeRequest(body)
	switch {
	case bad != nil:
		writeError(w, http.StatusBadRequest, bad)
	case req.Notif:
		w.WriteHeader(http.StatusAccepted)
	default:
		h.reply(w, r, h.answer(r.Context(), who, req))
	}
}

// bearerToken returns the token that a request bears, or "".
func bearerToken(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// readRequest reads a request's body, expanded.
func (h *handler) readRequest(r *http.Request) ([]byte, error) {
	body, packed := io.Reader(r.Body), false
	switch r.Header.Get("Content-Encoding") {
	case "", "identity":
	case "gzip":
		z, err := gzip.NewReader(io.LimitReader(r.Body, int64(h.MaxRequest)+1))
		if err != nil {
			return nil, errEncoding
		}
		body, packed = z, true
	default:
		return nil, errEncoding
	}
	raw, err := io.ReadAll(io.LimitReader(body, int64(h.MaxRequest)+1))
	switch {
	case len(raw) > h.MaxRequest:
		return nil, errTooLarge
	case packed && (errors.Is(err, gzip.ErrChecksum) || errors.Is(err, gzip.ErrHeader)):
		return nil, errEncoding
	}
	return raw, err
}

// decodeRequest reads one request or notification.
func decodeRequest(raw []byte) (*jsonrpc2.Request, *jsonrpc2.Error) {
	var version struct {
		JSONRPC string `json:"jsonrpc"`
	}
	req := new(jsonrpc2.Request)
	switch {
	case checkDepth(raw) != nil:
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: errTooDeep.Error()}
	case !json.Valid(raw):
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeParseError, Message: "found no JSON"}
	case json.Unmarshal(raw, &version) != nil || version.JSONRPC != "2.0" || json.Unmarshal(raw, req) != nil:
		return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: "expected one request of JSON-RPC 2.0"}
	}
	return req, nil
}

// reply writes an answer, compressed if that is wanted and worth it.
func (h *handler) reply(w http.ResponseWriter, r *http.Request, resp *jsonrpc2.Response) {
	parts, size, err := encodeResponse(resp)
	if err != nil {
		writeError(w, http.StatusInternalServerError, wireFailure{Class: wip.Internal, Message: "internal error", MaybeDone: true}.error())
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if size >= compressMin && acceptsGzip(r) {
		w.Header().Set("Content-Encoding", "gzip")
		z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed)
		parts.WriteTo(z) // an error is of a client that is gone
		z.Close()
		return
	}
	w.Header().Set("Content-Length", strconv.Itoa(size))
	parts.WriteTo(w)
}

func acceptsGzip(r *http.Request) bool {
	for _, line := range r.Header.Values("Accept-Encoding") {
		for part := range strings.SplitSeq(line, ",") {
			name, q, _ := strings.Cut(part, ";")
			if strings.TrimSpace(name) == "gzip" && strings.ReplaceAll(q, " ", "") != "q=0" {
				return true
			}
		}
	}
	return false
}

// refused is the answer to what is no request, and so has no ID.
type refused struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      any             `json:"id"`
	Error   *jsonrpc2.Error `json:"error"`
}

// writeError answers a request that was not understood, or not let in.
func writeError(w http.ResponseWriter, status int, e *jsonrpc2.Error) {
	var body bytes.Buffer
	json.NewEncoder(&body).Encode(refused{"2.0", nil, e})
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	w.Write(body.Bytes())
}

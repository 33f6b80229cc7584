package remote

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/wipagent/wipagent/space/wip"
)

// What a client over HTTP keeps open.
const (
	maxConns    = 64 // connections, where HTTP/1.1 needs one for each request under way
	idleConn    = 90 * time.Second
	compressMin = 16 << 10 // bytes; less is not worth it
)

// Dial connects to the Host at a URL of the scheme http or https. opt may be
// nil. The URL holds no user, query or fragment: a token goes into Options. The
// error is the context's own or a *wip.Failure, unless the URL or the options
// are wrong.
func Dial(ctx context.Context, address string, opt *Options) (*Host, error) {
	o := opt.withDefaults()
	first, err := newHTTPLink(address, &o)
	if err != nil {
		return nil, err
	}
	return newHost(o, func(context.Context) (link, error) {
		if l := first; l != nil {
			first = nil
			return l, nil
		}
		return newHTTPLink(address, &o)
	}).start(ctx)
}

// httpLink speaks with a Host over HTTP. Connections come and go below it.
type httpLink struct {
	url        string
	token      string
	client     *http.Client
	transport  *http.Transport
	life       context.Context // ends with close
	end        context.CancelFunc
	maxRequest atomic.Int64
	local      bool // the Host is on this machine: nothing is gained by compression
	gzip       atomic.Bool
	seq        atomic.Uint64
	dead       atomic.Bool // a new handshake is needed
}

func newHTTPLink(address string, o *Options) (*httpLink, error) {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return nil, errors.New("found no URL where the address of a Host was expected")
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("found the scheme %.20q, expected http or https", u.Scheme)
	case u.Host == "":
		return nil, errors.New("found a URL without a host")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("found a user, a query or a fragment in the URL of a Host, expected none")
	}
	local := isLoopback(u.Hostname())
	if o.Token != "" && u.Scheme == "http" && !local && !o.PlainToken {
		return nil, errors.New("found a token for a Host on another machine over http, expected https: it could be read on the way")
	}
	for i := range len(o.Token) {
		if c := o.Token[i]; c <= ' ' || c >= 0x7f {
			return nil, errors.New("found a token with spaces or characters that are not ASCII")
		}
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if o.CAFile != "" {
		pem, err := os.ReadFile(o.CAFile)
		if err != nil {
			return nil, fmt.Errorf("reading the CA file: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, errors.New("found no certificate in the CA file")
		}
	}
	transport := &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSClientConfig:        config,
		TLSHandshakeTimeout:    10 * time.Second,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // it is done here, within bounds
		MaxConnsPerHost:        maxConns,
		MaxIdleConnsPerHost:    maxConns,
		IdleConnTimeout:        idleConn,
		MaxResponseHeaderBytes: 64 << 10,
	}
	l := &httpLink{
		url: u.String(), token: o.Token, transport: transport, local: local,
		client: &http.Client{
			Transport:     transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	l.maxRequest.Store(int64(o.MaxRequest))
	l.life, l.end = context.WithCancel(context.Background())
	return l, nil
}

// isLoopback reports whether a name or address is this machine's own.
func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func (l *httpLink) alive() bool { return !l.dead.Load() }

func (l *httpLink) learn(c Capabilities) {
	l.gzip.Store(c.Gzip && !l.local)
	if c.MaxRequestBytes > 0 {
		l.maxRequest.Store(min(l.maxRequest.Load(), int64(c.MaxRequestBytes)))
	}
	l.dead.Store(false)
}

func (l *httpLink) close() {
	l.end()
	l.transport.CloseIdleConnections()
}

// do posts one request.
func (l *httpLink) do(ctx context.Context, method string, params any, limit int) (result json.RawMessage, err error) {
	err = l.stream(ctx, method, params, limit, func(d *decoder) error { return d.Decode(&result) })
	return result, err
}

// stream posts one request, whose result is read as it comes.
func (l *httpLink) stream(ctx context.Context, method string, params any, limit int, result func(*decoder) error) error {
	id := jsonrpc2.ID{Num: l.seq.Add(1)}
	body, err := encodeRequest(id, method, params, int(l.maxRequest.Load()))
	if err != nil {
		return err
	}
	var sent atomic.Bool
	open, done := context.WithCancel(ctx)
	defer done()
	defer context.AfterFunc(l.life, done)()
	traced := httptrace.WithClientTrace(open, &httptrace.ClientTrace{WroteHeaders: func() { sent.Store(true) }})
	req, err := l.newRequest(traced, body)
	if err != nil {
		return &wip.Failure{Class: wip.Internal, Message: "making a request", Err: errors.Unwrap(err)}
	}
	resp, err := l.client.Do(req)
	if err != nil {
		return lost(ctx, err, sent.Load())
	}
	defer resp.Body.Close()
	in, err := expanded(resp, limit)
	switch {
	case err != nil:
	case resp.StatusCode == http.StatusOK:
		err = readAnswer(newDecoder(in), id, result)
	default:
		var told []byte
		if told, err = io.ReadAll(in); err == nil || errors.Is(err, errTooDeep) {
			return l.refusal(resp, told)
		}
	}
	var f *wip.Failure
	switch {
	case err == nil || errors.As(err, &f):
		return err
	case errors.Is(err, errTooLarge):
		io.CopyN(io.Discard, resp.Body, 4<<10) // the connection may be kept if that is all
		return tooLarge(limit)
	case in != nil && in.lost:
		return lost(ctx, in.err, true)
	}
	return broken(err)
}

func (l *httpLink) newRequest(ctx context.Context, body []byte) (*http.Request, error) {
	encoding := ""
	if l.gzip.Load() && len(body) >= compressMin {
		var packed bytes.Buffer
		w, _ := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
		w.Write(body)
		w.Close()
		body, encoding = packed.Bytes(), "gzip"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, l.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "wipagent")
	req.Header.Set(versionHeader, Version)
	if encoding != "" {
		req.Header.Set("Content-Encoding", encoding)
	}
	if !l.local {
		req.Header.Set("Accept-Encoding", "gzip")
	}
	if l.token != "" {
		req.Header.Set("Authorization", "Bearer "+l.token)
	}
	return req, nil
}

// encodeRequest returns a request's text.
func encodeRequest(id jsonrpc2.ID, method string, params any, limit int) ([]byte, error) {
	req := jsonrpc2.Request{ID: id, Method: method}
	err := req.SetParams(params)
	var body []byte
	if err == nil {
		body, err = json.Marshal(req)
	}
	switch {
	case err != nil:
		return nil, &wip.Failure{Class: wip.Internal, Message: "the request cannot be written as JSON", Err: err}
	case len(body) > limit:
		return nil, requestTooLarge(limit)
	}
	return body, nil
}

func tooLarge(limit int) *wip.Failure {
	return &wip.Failure{
		Class: wip.Domain, Message: fmt.Sprintf("the Host's answer is larger than the %d bytes that are read of one", limit),
		Hint: "ask for less: a smaller page, a narrower query", MaybeDone: true,
	}
}

// lost is the failure of a request that had no answer.
func lost(ctx context.Context, err error, sent bool) *wip.Failure {
	if ctx.Err() != nil {
		return ended(ctx, sent)
	}
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err // which quotes no address
	}
	var untrusted *tls.CertificateVerificationError
	if errors.As(err, &untrusted) {
		return &wip.Failure{Class: wip.Internal, Message: "the Host's certificate is not trusted", Err: err}
	}
	var name *net.DNSError
	if errors.As(err, &name) {
		err = unresolved{err, name.IsNotFound}
	}
	message := "the Host cannot be reached"
	if sent {
		message = "the connection to the Host was lost"
	}
	return &wip.Failure{Class: wip.Transient, Message: message, MaybeDone: sent, Err: err}
}

// refusal is the failure that an answer with another status than 200 stands
// for: what it says itself, if it is of the protocol.
func (l *httpLink) refusal(resp *http.Response, body []byte) *wip.Failure {
	if kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type")); err == nil && kind == "application/json" {
		var r jsonrpc2.Response
		if json.Unmarshal(body, &r) == nil && r.Error != nil {
			if r.Error.Code == codeVersion {
				l.dead.Store(true)
			}
			return fromError(r.Error)
		}
	}
	f := &wip.Failure{Class: wip.Transient, RetryAfter: retryAfter(resp.Header.Get("Retry-After")), MaybeDone: true, Err: status(resp.StatusCode)}
	switch code := resp.StatusCode; code {
	case http.StatusUnauthorized, http.StatusForbidden:
		f = unauthorized(status(code))
	case http.StatusTooManyRequests:
		f.Message, f.MaybeDone = "the Host asks for fewer requests", false
	case http.StatusRequestEntityTooLarge:
		f = requestTooLarge(0)
	case http.StatusRequestTimeout, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		f.Message = "the Host is unavailable"
	default:
		f.Class, f.Message, f.MaybeDone = wip.Internal, "the URL may not be a Host's", code >= 500
	}
	return f
}

// status is an HTTP status that is no answer of the protocol.
type status int

func (s status) Error() string { return fmt.Sprintf("HTTP status %d", int(s)) }

// Notice is what an operator's log may have of it.
func (s status) Notice() string { return s.Error() }

// unresolved is a host's name that cannot be looked up.
type unresolved struct {
	error
	absent bool
}

func (u unresolved) Unwrap() error { return u.error }

// Notice says so without the name.
func (u unresolved) Notice() string {
	if u.absent {
		return "no such host"
	}
	return "the host's name cannot be looked up"
}

// retryAfter reads the header of that name: seconds or a date.
func retryAfter(value string) time.Duration {
	wait := time.Duration(0)
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		wait = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(value); err == nil {
		wait = time.Until(at)
	}
	return min(max(wait, 0), maxRetryAfter)
}

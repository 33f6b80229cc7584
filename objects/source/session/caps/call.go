package caps

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/wipagent/wipagent/objects/source/session/llsd"
	"github.com/wipagent/wipagent/objects/source/session/secret"
)

// contentType is what OpenSimulator compares to the letter: with any other a
// capability does not exist. What an answer says of its type is not looked at.
const contentType = "application/llsd+xml"

// ErrGone says that a capability exists no more, or never did: the session or
// the region is over.
var ErrGone = errors.New("capability is gone")

// capability is an address and the name that stands for it in errors.
type capability struct {
	name string
	url  secret.Of[string]
}

// response is what came back, whatever its status.
type response struct {
	status     int
	retryAfter time.Duration // that the server asks for; 0 if it does not
	body       []byte
}

// post sends an LLSD body and reads an answer of at most most bytes.
func (c capability) post(ctx context.Context, client *http.Client, body llsd.Value, most int64) (*response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url.Reveal(), bytes.NewReader(body.AppendXML(nil)))
	if err != nil || !isWeb(req.URL) {
		return nil, c.errorf("found an address of another form, expected one of http or https")
	}
	req.Header.Set("Content-Type", contentType)
	return c.roundTrip(client, req, most)
}

// get asks for what lies at the address and reads an answer of at most most
// bytes.
func (c capability) get(ctx context.Context, client *http.Client, most int64) (*response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url.Reveal(), nil)
	if err != nil || !isWeb(req.URL) {
		return nil, c.errorf("found an address of another form, expected one of http or https")
	}
	return c.roundTrip(client, req, most)
}

// roundTrip makes a request. It goes past the client to its transport: a
// client would follow redirects.
func (c capability) roundTrip(client *http.Client, req *http.Request, most int64) (*response, error) {
	req.Header.Set("Accept", contentType)
	transport := http.DefaultTransport
	if client != nil && client.Transport != nil {
		transport = client.Transport
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return nil, c.errorf("%w", withoutURL(err))
	}
	defer resp.Body.Close()
	a := &response{status: resp.StatusCode, retryAfter: retryAfter(resp.Header)}
	if a.body, err = io.ReadAll(io.LimitReader(resp.Body, most+1)); err != nil {
		return nil, c.errorf("%w", withoutURL(err))
	}
	if int64(len(a.body)) > most {
		return nil, c.errorf("found an answer of over %d bytes", most)
	}
	return a, nil
}

func (c capability) errorf(format string, args ...any) error {
	return fmt.Errorf("%s: "+format, append([]any{c.name}, args...)...)
}

// statusError is an answer of another status than 200.
func (c capability) statusError(status int) error {
	if status == http.StatusNotFound || status == http.StatusGone {
		return c.errorf("%w (status %d)", ErrGone, status)
	}
	return c.errorf("found status %d", status)
}

func isWeb(u *url.URL) bool { return u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") }

// withoutURL takes the addresses out of what net/http says.
func withoutURL(err error) error {
	for u := (*url.Error)(nil); errors.As(err, &u); {
		err = u.Err
	}
	return err
}

// retryAfter reads the header of that name, if it is in seconds.
func retryAfter(h http.Header) time.Duration {
	n, err := strconv.ParseUint(h.Get("Retry-After"), 10, 16)
	if err != nil {
		return 0
	}
	return time.Duration(n) * time.Second
}

// sleep waits; the error is ctx's.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

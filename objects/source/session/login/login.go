// Package login opens a session with a grid: one XML-RPC call,
// login_to_simulator, as Second Life and OpenSimulator know it.
//
// What goes out holds the password's MD5, what comes back opens the session:
// neither is ever logged, nor part of an error.
package login

import (
	"bytes"
	"context"
	"crypto/md5" // the protocol's choice, not ours
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"runtime"
	"strings"
	"time"

	"github.com/wipagent/wipagent/objects/source/session/secret"
)

// Bounds of following a grid's redirects.
const (
	maxRedirects = 5
	maxWait      = time.Minute // that the grid may ask for before the next call
)

// Request is who logs in where. It is not changed by Do.
type Request struct {
	// URI is the grid's login address, http or https.
	URI string
	// First and Last are the account's name; an empty Last is "Resident",
	// which accounts of one name have.
	First, Last string
	Password    secret.Of[string]
	// TruncatePassword cuts the password after 16 bytes, as old viewers did
	// without saying so: accounts made with them may log in only like this.
	TruncatePassword bool
	// Start is where: "last" (also if empty), "home", or
	// "uri:Region Name&x&y&z".
	Start string
	// Channel and Version name the program honestly; neither is empty. Grids
	// let programs in and lock them out by these.
	Channel, Version string
	// Platform is "win", "mac" or "lnx"; if empty, the one we run on.
	// PlatformVersion is free text.
	Platform, PlatformVersion string
	// MAC and ID0 are 32 hexadecimal digits each, stable for an
	// installation, that a grid may ban; they need not come from hardware.
	// Empty ones are sent empty.
	MAC, ID0 string
	// AcceptTerms and ReadCritical say that the operator accepts the terms of
	// service and has read the grid's critical message.
	AcceptTerms, ReadCritical bool
	// Token is the code of the account's second factor, MFAHash what an
	// earlier login returned instead of it; mostly zero.
	Token, MFAHash secret.Of[string]
}

// options are the parts of the answer that Second Life gives only if asked.
var options = []string{
	"inventory-root", "inventory-skeleton", "inventory-lib-root", "inventory-lib-owner",
	"display_names", "login-flags", "max-agent-groups",
}

// Do logs in and returns what the session needs. Every error is an *Error. It
// follows the grid's "indeterminate" redirects up to five times, to the same
// host only and never from https to http, and HTTP redirects not beyond the
// same origin. It does not try again: Error.Retry says when that makes sense.
// How long it takes is up to ctx and client; a nil client is
// http.DefaultClient. Safe for concurrent use.
func Do(ctx context.Context, client *http.Client, req *Request) (*Reply, error) {
	target, err := req.check()
	if err != nil {
		return nil, err
	}
	method := "login_to_simulator"
	for range maxRedirects + 1 {
		reply, next, err := call(ctx, client, target, method, req)
		if err != nil {
			return nil, err
		}
		if next == nil {
			return reply, nil
		}
		if err := follows(target, next.url); err != nil {
			return nil, err
		}
		target, method = next.url, next.method
		if err := sleep(ctx, min(next.wait, maxWait)); err != nil {
			return nil, &Error{Reason: ReasonTransport, Err: err}
		}
	}
	return nil, fail(ReasonRedirect, "found over %d redirects", maxRedirects)
}

// check returns the parsed URI of a request that is fit to be sent.
func (req *Request) check() (*url.URL, error) {
	target, err := url.Parse(req.URI)
	switch {
	case err != nil || target.Host == "" || target.Scheme != "http" && target.Scheme != "https":
		return nil, fail(ReasonRequest, "found a login address of another form, expected http://HOST/ or https://HOST/")
	case target.User != nil:
		return nil, fail(ReasonRequest, "found credentials in the login address, expected none")
	case req.First == "":
		return nil, fail(ReasonRequest, "found no name")
	case req.Password.IsZero():
		return nil, fail(ReasonRequest, "found no password")
	case req.Channel == "" || req.Version == "":
		return nil, fail(ReasonRequest, "found no channel or version, expected both: grids refuse a program without a name")
	case req.Platform != "" && req.Platform != "win" && req.Platform != "mac" && req.Platform != "lnx":
		return nil, fail(ReasonRequest, "found platform %q, expected win, mac or lnx", req.Platform)
	case req.MAC != "" && !machineID.MatchString(req.MAC), req.ID0 != "" && !machineID.MatchString(req.ID0):
		return nil, fail(ReasonRequest, "found a machine ID of another form, expected 32 hexadecimal digits")
	}
	return target, nil
}

var machineID = regexp.MustCompile(`^[0-9a-fA-F]{32}$`)

// passwordHash is the form in which a password goes over the wire.
func (req *Request) passwordHash() string {
	password := req.Password.Reveal()
	if req.TruncatePassword && len(password) > 16 {
		password = password[:16]
	}
	sum := md5.Sum([]byte(password))
	return "$1$" + hex.EncodeToString(sum[:])
}

// token is the second factor's code without the spaces that people type.
func (req *Request) token() string { return strings.Join(strings.Fields(req.Token.Reveal()), "") }

// appendCall appends the body of the HTTP request.
func (req *Request) appendCall(b []byte, method string) []byte {
	last, start, platform := req.Last, req.Start, req.Platform
	if last == "" {
		last = "Resident"
	}
	if start == "" {
		start = "last"
	}
	if platform == "" {
		platform = ownPlatform()
	}
	var wanted []value
	for _, o := range options {
		wanted = append(wanted, stringValue(o))
	}
	return appendCall(b, method, structValue(
		member{"first", stringValue(req.First)},
		member{"last", stringValue(last)},
		member{"passwd", stringValue(req.passwordHash())},
		member{"start", stringValue(start)},
		member{"channel", stringValue(req.Channel)},
		member{"version", stringValue(req.Version)},
		member{"platform", stringValue(platform)},
		member{"platform_string", stringValue(req.PlatformVersion)},
		member{"platform_version", stringValue(req.PlatformVersion)},
		member{"address_size", intValue(64)},
		member{"mac", stringValue(req.MAC)},
		member{"id0", stringValue(req.ID0)},
		member{"agree_to_tos", flag(req.AcceptTerms)},
		member{"read_critical", flag(req.ReadCritical)},
		member{"extended_errors", intValue(1)},
		member{"token", stringValue(req.token())},
		member{"mfa_hash", stringValue(req.MFAHash.Reveal())},
		member{"host_id", stringValue("")},
		member{"last_exec_event", intValue(0)},
		member{"last_exec_duration", intValue(0)},
		member{"options", arrayValue(wanted...)},
	))
}

// flag is a truth as grids want it.
func flag(b bool) value {
	if b {
		return intValue(1)
	}
	return intValue(0)
}

// ownPlatform is the protocol's word for where we run.
func ownPlatform() string {
	switch runtime.GOOS {
	case "windows":
		return "win"
	case "darwin":
		return "mac"
	}
	return "lnx"
}

// call makes one call and reads its answer: a reply, or where to go next.
func call(ctx context.Context, client *http.Client, target *url.URL, method string, req *Request) (*Reply, *redirect, error) {
	body := req.appendCall(nil, method)
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, target.String(), bytes.NewReader(body))
	if err != nil {
		return nil, nil, fail(ReasonRequest, "found a login address of another form, expected http://HOST/ or https://HOST/")
	}
	post.Header.Set("Content-Type", "text/xml")
	response, err := sameOrigin(client).Do(post)
	if err != nil {
		var wrapped *url.Error // repeats addresses, which may be a redirect's
		if errors.As(err, &wrapped) {
			err = wrapped.Err
		}
		return nil, nil, &Error{Reason: ReasonTransport, Err: err}
	}
	defer response.Body.Close()
	answer, err := readBody(response, maxBody)
	switch {
	case errors.Is(err, errLong):
		return nil, nil, &Error{Reason: ReasonMalformed, Status: response.StatusCode, Err: err}
	case err != nil:
		return nil, nil, &Error{Reason: ReasonTransport, Status: response.StatusCode, Err: err}
	case response.StatusCode >= 300 && response.StatusCode < 400:
		return nil, nil, &Error{Reason: ReasonRedirect, Status: response.StatusCode, Err: elsewhere(response)}
	}
	return readReply(response.StatusCode, answer, newScrubber(req))
}

// errLong says that an answer is longer than any login's.
var errLong = fmt.Errorf("found an answer of over %d bytes", maxBody)

// readBody reads a body of at most most bytes; a longer one is errLong.
func readBody(response *http.Response, most int64) ([]byte, error) {
	if response.ContentLength > most {
		return nil, errLong
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, most+1))
	if err == nil && int64(len(body)) > most {
		err = errLong
	}
	return body, err
}

// sameOrigin returns the client, or http.DefaultClient, with redirects
// followed only where the request is repeated as it is and the origin stays.
func sameOrigin(client *http.Client) *http.Client {
	if client == nil {
		client = http.DefaultClient
	}
	own := *client
	own.CheckRedirect = func(next *http.Request, via []*http.Request) error {
		first := via[0].URL
		if len(via) > maxRedirects || next.Method != http.MethodPost || next.URL.Scheme != first.Scheme || next.URL.Host != first.Host {
			return http.ErrUseLastResponse
		}
		return nil
	}
	return &own
}

// elsewhere says where an HTTP redirect that is not followed leads.
func elsewhere(response *http.Response) error {
	to, err := response.Location()
	if err != nil {
		return errors.New("found an HTTP redirect to nowhere")
	}
	origin := excerpt(to.Scheme, 20) + "://" + excerpt(to.Host, 100)
	if from := response.Request.URL; from.Scheme == to.Scheme && from.Host == to.Host {
		return fmt.Errorf("found an HTTP redirect (status %d) to another address on %s, which is not followed, as it drops the login or goes on for ever: is this the grid's login address?",
			response.StatusCode, origin)
	}
	return fmt.Errorf("found an HTTP redirect to %s, which is not followed, as the password is for nobody else: if that is the grid, log in there", origin)
}

// redirect is a grid's word that another call is to be made.
type redirect struct {
	url    *url.URL
	method string
	wait   time.Duration
}

// follows refuses to take the password elsewhere than to the host that it was
// meant for, or out of https.
func follows(from, to *url.URL) error {
	switch {
	case from.Scheme == "https" && to.Scheme != "https":
		return fail(ReasonRedirect, "found a redirect from https to %s, which is not followed", excerpt(to.Scheme, 20))
	case !strings.EqualFold(from.Hostname(), to.Hostname()):
		return fail(ReasonRedirect, "found a redirect to the host %q, which is not followed: is that the grid's login address?", excerpt(to.Hostname(), 100))
	}
	return nil
}

// sleep waits, unless ctx ends first.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

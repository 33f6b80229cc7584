package login_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wipagent/wipagent/objects/source/session/login"
)

// grid is an http.RoundTripper that answers as a grid, without a socket, so
// that time can be synthetic.
type grid func(r *http.Request) (status int, header http.Header, body string)

// RoundTrip implements http.RoundTripper.
func (g grid) RoundTrip(r *http.Request) (*http.Response, error) {
	status, header, body := g(r)
	return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

// saying returns a grid that announces bodies of another length.
func (g grid) saying(length int64) http.RoundTripper { return announcer{g, length} }

type announcer struct {
	grid
	length int64
}

// RoundTrip implements http.RoundTripper.
func (a announcer) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := a.grid.RoundTrip(r)
	response.ContentLength = a.length
	return response, err
}

// called is the method that a request calls.
func called(r *http.Request) string {
	body, _ := io.ReadAll(r.Body)
	_, method, _ := strings.Cut(string(body), "<methodName>")
	method, _, _ = strings.Cut(method, "</methodName>")
	return method
}

// TestIndeterminate: the grid's own redirects.
func TestIndeterminate(t *testing.T) {
	for _, test := range []struct {
		name, uri string
		next      []string
		method    string // of the last call
		waited    time.Duration
		part      string // of the error's text; empty where the login succeeds
	}{
		{"same host", "https://grid.example/login",
			[]string{"next_url", "https://grid.example/later", "next_method", "login_again", "next_duration", "<int>7</int>"}, "login_again", 7 * time.Second, ""},
		{"other port", "http://grid.example/login", []string{"next_url", "http://GRID.example:8002/"}, "login_to_simulator", 0, ""},
		{"to https", "http://grid.example/login", []string{"next_url", "https://grid.example/", "next_duration", "oops"}, "login_to_simulator", 0, ""},
		{"long wait", "http://grid.example/", []string{"next_url", "http://grid.example/2", "next_duration", "<int>100000</int>"}, "login_to_simulator", time.Minute, ""},
		{"out of https", "https://grid.example/", []string{"next_url", "http://grid.example/2"}, "", 0, "from https to http"},
		{"other host", "https://grid.example/", []string{"next_url", "https://other.example/"}, "", 0, `the host "other.example"`},
		{"other scheme", "https://grid.example/", []string{"next_url", "ftp://grid.example/"}, "", 0, "an address that is none"},
		{"no address", "https://grid.example/", nil, "", 0, "an address that is none"},
		{"odd method", "https://grid.example/", []string{"next_url", "https://grid.example/", "next_method", "<string>&lt;x&gt;</string>"}, "", 0, "a proper name"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var methods []string
				client := &http.Client{Transport: grid(func(r *http.Request) (int, http.Header, string) {
					if methods = append(methods, called(r)); len(methods) == 1 {
						return 200, nil, response(append([]string{"login", "indeterminate"}, test.next...)...)
					}
					return 200, nil, success()
				})}
				begun := time.Now()
				reply, err := login.Do(t.Context(), client, request(test.uri))
				if test.part != "" {
					if e := failure(t, reply, err); e.Reason != login.ReasonRedirect || !strings.Contains(e.Error(), test.part) || len(methods) != 1 {
						t.Errorf("found %v after calls of %q", e, methods)
					}
					return
				}
				if err != nil || len(methods) != 2 || methods[0] != "login_to_simulator" || methods[1] != test.method {
					t.Errorf("found %v after calls of %q", err, methods)
				}
				if waited := time.Since(begun); waited != test.waited {
					t.Errorf("found a wait of %v, expected %v", waited, test.waited)
				}
			})
		})
	}
}

func TestIndeterminateForever(t *testing.T) {
	calls := 0
	client := &http.Client{Transport: grid(func(r *http.Request) (int, http.Header, string) {
		calls++
		return 200, nil, response("login", "indeterminate", "next_url", "http://grid.example/")
	})}
	reply, err := login.Do(t.Context(), client, request("http://grid.example/"))
	if e := failure(t, reply, err); e.Reason != login.ReasonRedirect || calls != 6 {
		t.Errorf("found %v after %d calls", e, calls)
	}
}

func TestIndeterminateCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		client := &http.Client{Transport: grid(func(r *http.Request) (int, http.Header, string) {
			return 200, nil, response("login", "indeterminate", "next_url", "http://grid.example/", "next_duration", "30")
		})}
		reply, err := login.Do(ctx, client, request("http://grid.example/"))
		if e := failure(t, reply, err); !errors.Is(e, context.DeadlineExceeded) {
			t.Errorf("found %v", e)
		}
	})
}

// TestHTTPRedirects: the password goes to no other origin, and to none at all
// by a redirect that would drop the request's body.
func TestHTTPRedirects(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("found a call of another origin") }))
	t.Cleanup(other.Close)
	_, port, _ := net.SplitHostPort(other.Listener.Addr().String())
	for _, test := range []struct {
		name   string
		status int
		to     string
		want   string // in the error; empty if there is none
	}{
		{"same origin", 307, "/login", ""},
		{"same origin for ever", 308, "/again", "(status 308) to another address on http://127.0.0.1:"},
		{"body dropped", 302, "/login", "(status 302) to another address on http://127.0.0.1:"},
		{"other port", 307, other.URL, "if that is the grid, log in there"},
		{"other host", 308, "http://localhost:" + port, "http://localhost:" + port},
		{"to https", 307, "https://127.0.0.1:" + port, "https://127.0.0.1:" + port},
		{"nowhere", 307, "", "to nowhere"},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/login" {
					if called(r) != "login_to_simulator" {
						t.Error("found no call after the redirect")
					}
					answer(200, success())(w, r)
					return
				}
				if test.to != "" {
					w.Header().Set("Location", test.to)
				}
				w.WriteHeader(test.status)
			})
			reply, err := login.Do(t.Context(), server.Client(), request(server.URL))
			if test.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if e := failure(t, reply, err); e.Reason != login.ReasonRedirect || e.Status != test.status || !strings.Contains(e.Error(), "HTTP redirect") || !strings.Contains(e.Error(), test.want) {
				t.Errorf("found %+v: %v", e, e)
			}
		})
	}
}

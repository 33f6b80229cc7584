package mcp_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wipagent/wipagent/adapter/mcp"
	"github.com/wipagent/wipagent/client/policy/principals"
	"github.com/wipagent/wipagent/idl"
)

const ping = `{"jsonrpc":"2.0","id":2,"method":"ping"}`

// TestHTTPSessionEnds ends sessions in each way there is. What goes on in one is
// cancelled, and the session is answered as one that never was.
func TestHTTPSessionEnds(t *testing.T) {
	for name, test := range map[string]struct {
		end func(done chan struct{}, a *principals.Access, h http.Handler, session string)
		// status is of the next request.
		status int
	}{
		"not":          {func(chan struct{}, *principals.Access, http.Handler, string) { time.Sleep(29 * time.Minute) }, 200},
		"by idleness":  {func(chan struct{}, *principals.Access, http.Handler, string) { time.Sleep(31 * time.Minute) }, 404},
		"by the owner": {func(done chan struct{}, _ *principals.Access, _ http.Handler, _ string) { close(done) }, 401},
		"by its time": {func(_ chan struct{}, a *principals.Access, _ http.Handler, _ string) {
			time.Sleep(time.Until(a.Expires))
		}, 401},
		"by its client": {func(_ chan struct{}, _ *principals.Access, h http.Handler, session string) {
			if w := request(t, h, "DELETE", "a", session, ""); w.Code != http.StatusNoContent {
				t.Errorf("ending it: %d %s", w.Code, w.Body)
			}
		}, 404},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				done := make(chan struct{})
				a := access("ada", idl.IM)
				a.Done, a.Expires = done, time.Now().Add(time.Hour)
				h, _ := lent(t, diary{}, &tokens{m: map[string]*principals.Access{"a": a}}, nil)
				session := begin(t, h, "a")
				reading := make(chan int, 1)
				go func() { reading <- request(t, h, "GET", "a", session, "").Code }()
				synctest.Wait()
				test.end(done, a, h, session)
				synctest.Wait()
				if w := request(t, h, "POST", "a", session, ping); w.Code != test.status {
					t.Errorf("found %d %s, expected %d", w.Code, w.Body, test.status)
				}
				select {
				case <-reading:
					if test.status == 200 {
						t.Error("the session's stream ended")
					}
				default:
					if test.status != 200 {
						t.Error("the session's stream goes on")
					}
				}
				if err := h.Shutdown(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestHTTPRevokedCall takes a token back while a call of it is going on.
func TestHTTPRevokedCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		done := make(chan struct{})
		a := access("ada", idl.IM)
		a.Done = done
		h, log := lent(t, diary{make(chan struct{})}, &tokens{m: map[string]*principals.Access{"a": a}}, nil)
		session := begin(t, h, "a")
		answered := make(chan string, 1)
		go func() { answered <- request(t, h, "POST", "a", session, invoking("linger", "{}")).Body.String() }()
		synctest.Wait()
		close(done)
		synctest.Wait()
		select {
		case answer := <-answered:
			if strings.Contains(answer, "secret of") || !strings.Contains(log.String(), `"outcome":"unavailable"`) {
				t.Errorf("it was answered with %s and logged as %s", answer, log)
			}
		default:
			t.Error("it goes on")
		}
		if err := h.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestHTTPBounds uses up what there is of each thing.
func TestHTTPBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ada, bob, cy := access("ada", idl.IM), access("bob", idl.IM), access("cy", idl.IM)
		cy.Rate, cy.Burst = 0.5, 2
		host := diary{make(chan struct{})}
		h, _ := lent(t, host, &tokens{m: map[string]*principals.Access{"a": ada, "b": bob, "c": cy}}, func(cfg *mcp.HTTPConfig) {
			cfg.Limits = mcp.HTTPLimits{MaxSessions: 4, MaxSessionsEach: 2, MaxCalls: 3, MaxCallsEach: 2}
		})
		status := func(want int, w *httptest.ResponseRecorder) {
			t.Helper()
			if w.Code != want || (want == 429 || want == 503) == (w.Header().Get("Retry-After") == "") {
				t.Errorf("found %d %v %s, expected %d", w.Code, w.Header(), w.Body, want)
			}
		}
		// A third session ends the one that is idle for longest.
		first := begin(t, h, "a")
		time.Sleep(time.Second)
		second := begin(t, h, "a")
		time.Sleep(time.Second)
		third := begin(t, h, "a")
		synctest.Wait()
		status(404, request(t, h, "POST", "a", first, ping))
		status(200, request(t, h, "POST", "a", second, ping))
		status(200, request(t, h, "POST", "a", third, ping))
		// What was begun in vain leaves nothing behind.
		for range 10 {
			request(t, h, "POST", "b", "", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":7}`)
			request(t, h, "POST", "b", "", `{"jsonrpc":"2.0","id":1,"method":"server/discover"}`)
		}
		synctest.Wait()
		bobs := begin(t, h, "b")
		// Calls at once, of one and of all. One of ada's keeps the session busy.
		for _, c := range [][2]string{{"a", second}, {"a", third}, {"b", bobs}} {
			go request(t, h, "POST", c[0], c[1], invoking("linger", "{}"))
		}
		synctest.Wait()
		status(503, request(t, h, "POST", "b", bobs, ping))
		close(host.wait)
		synctest.Wait()
		status(200, request(t, h, "POST", "b", bobs, ping))
		// Requests in a time: two, and then one in two seconds.
		session := begin(t, h, "c")
		w := request(t, h, "POST", "c", session, ping)
		status(429, w)
		if got := w.Header().Get("Retry-After"); got != "2" {
			t.Errorf("found Retry-After %s, expected 2", got)
		}
		time.Sleep(2 * time.Second)
		status(200, request(t, h, "POST", "c", session, ping))
		status(429, request(t, h, "POST", "c", session, ping))
		status(200, request(t, h, "POST", "a", second, ping)) // which is nobody else's trouble
		// A fifth session of all.
		status(503, request(t, h, "POST", "b", "", initialize))
		if err := h.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestHTTPCallsEach has one principal at its bound, which another does not feel.
func TestHTTPCallsEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := diary{make(chan struct{})}
		h, _ := lent(t, host, &tokens{m: map[string]*principals.Access{"a": access("ada", idl.IM), "b": access("bob", idl.IM)}}, func(cfg *mcp.HTTPConfig) {
			cfg.Limits.MaxCallsEach = 2
		})
		a, b := begin(t, h, "a"), begin(t, h, "b")
		for id := range 2 {
			go request(t, h, "POST", "a", a, strings.Replace(invoking("linger", "{}"), `"id":2`, fmt.Sprintf(`"id":%d`, id+10), 1))
		}
		synctest.Wait()
		if w := request(t, h, "POST", "a", a, ping); w.Code != 429 {
			t.Errorf("found %d %s", w.Code, w.Body)
		}
		if w := request(t, h, "POST", "b", b, ping); w.Code != 200 {
			t.Errorf("found %d %s", w.Code, w.Body)
		}
		close(host.wait)
		synctest.Wait()
		if err := h.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// TestHTTPShutdown ends a server with a call going on, which ends in time or is
// cancelled.
func TestHTTPShutdown(t *testing.T) {
	for name, inTime := range map[string]bool{"in time": true, "late": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				host := diary{make(chan struct{})}
				h, _ := lent(t, host, &tokens{m: map[string]*principals.Access{"a": access("ada", idl.IM)}}, nil)
				session := begin(t, h, "a")
				answered := make(chan string, 1)
				go func() { answered <- request(t, h, "POST", "a", session, invoking("linger", "{}")).Body.String() }()
				go request(t, h, "GET", "a", session, "")
				synctest.Wait()
				ended := make(chan error, 1)
				go func() {
					ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
					defer cancel()
					ended <- h.Shutdown(ctx)
				}()
				synctest.Wait()
				for _, s := range []string{session, ""} {
					if w := request(t, h, "POST", "a", s, initialize); w.Code != 503 || w.Header().Get("Connection") != "close" {
						t.Errorf("found %d %s", w.Code, w.Body)
					}
				}
				r := httptest.NewRequestWithContext(t.Context(), "GET", "http://localhost/healthz", nil)
				w := httptest.NewRecorder()
				if h.ServeHTTP(w, r); w.Code != 503 || !strings.Contains(w.Body.String(), "stopping") {
					t.Errorf("health: %d %s", w.Code, w.Body)
				}
				if inTime {
					close(host.wait)
				}
				err := <-ended
				answer := <-answered
				if (err == nil) != inTime || strings.Contains(answer, "secret of ada") != inTime {
					t.Errorf("it ended with %v, and the call with %s", err, answer)
				}
				if err := h.Shutdown(t.Context()); err != nil { // again
					t.Error(err)
				}
			})
		})
	}
}

// TestHTTPWire speaks to a real server what no library would send.
func TestHTTPWire(t *testing.T) {
	open := func(within time.Duration) *httptest.Server {
		h, _ := lent(t, diary{}, &tokens{m: map[string]*principals.Access{"good": access("ada", idl.IM)}}, func(cfg *mcp.HTTPConfig) {
			cfg.Limits.BodyWithin = within
		})
		server := httptest.NewUnstartedServer(h)
		server.Config.MaxHeaderBytes = 16 << 10
		server.Start()
		t.Cleanup(server.Close)
		return server
	}
	patient, hasty := open(0), open(100*time.Millisecond)
	const start = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer good\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
	for name, test := range map[string]struct{ sent, want string }{
		"whole":                 {fmt.Sprintf("%sContent-Length: %d\r\n\r\n%s", start, len(initialize), initialize), "HTTP/1.1 200"},
		"a slow body":           {start + "Content-Length: 100\r\n\r\n{", "HTTP/1.1 408"},
		"a slow chunk":          {start + "Transfer-Encoding: chunked\r\n\r\nff\r\n{", "HTTP/1.1 408"},
		"a body said to be big": {start + "Content-Length: 99999999999\r\n\r\n{", "HTTP/1.1 413"},
		"endless chunks":        {start + "Transfer-Encoding: chunked\r\n\r\n" + strings.Repeat("10000\r\n"+strings.Repeat(" ", 1<<16)+"\r\n", 17), "HTTP/1.1 413"},
		"two lengths":           {start + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n{}", "HTTP/1.1 400"},
		"length and chunks":     {start + "Content-Length: 4\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n", "HTTP/1.1 501"},
		"no Host":               {"POST /mcp HTTP/1.0\r\nAuthorization: Bearer good\r\n\r\n", "HTTP/1.0 403"},
		"no Host in 1.1":        {"POST /mcp HTTP/1.1\r\nAuthorization: Bearer good\r\n\r\n", "HTTP/1.1 400"},
		"two Hosts":             {"POST /mcp HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n", "HTTP/1.1 400"},
		"a Host in the line":    {"POST http://evil.example/mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer good\r\n\r\n", "HTTP/1.1 403"},
		"a line in a header":    {"POST /mcp HTTP/1.1\r\nHost: localhost\r\nMcp-Session-Id: a\nb: c\x00\r\n\r\n", "HTTP/1.1 400"},
		"a huge header":         {"POST /mcp HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 32<<10) + "\r\n\r\n", "HTTP/1.1 431"},
		"a path with dots":      {"POST /x/../mcp HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer good\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 404"},
		"no HTTP":               {"\x16\x03\x01\x00\xa5\x01\r\n\r\n", "HTTP/1.1 400"},
	} {
		t.Run(name, func(t *testing.T) {
			server := patient
			if strings.HasPrefix(name, "a slow") {
				server = hasty
			}
			conn, err := net.Dial("tcp", server.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(time.Minute)) // only against hanging
			go io.WriteString(conn, test.sent)
			line, err := bufio.NewReader(conn).ReadString('\n')
			if !strings.HasPrefix(line, test.want) {
				t.Errorf("found %q %v, expected %s", line, err, test.want)
			}
		})
	}
}

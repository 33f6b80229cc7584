package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"github.com/tidwall/gjson"

	"github.com/wipagent/wipagent/adapter/mcp"
	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/audit"
	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/client/policy/principals"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space/wip"
)

// diary is a Host that keeps a secret for each caller. Its operations answer
// with what is the caller's alone.
type diary struct {
	wait chan struct{} // not nil: "linger" waits for it
}

const diaryText = `package diary;
version 1;
/// A caller's own book.
@informational @read_only @idempotent @cost(1) @timeout(20s) @max_output(32KiB) @audience(public_chat)
interface Diary {
  /// A page of it.
  read(
    /// Its number.
    number: int [0..1000000],
  ) -> Page;
  /// The same page, for friends.
  @audience(im) lend() -> Page;
  /// The same page, for the owner.
  @audience(local_operator) hide() -> Page;
  /// Takes as long as it takes.
  linger() -> Page;
}
/// What is written.
record Page { owner: string; secret: string; number: int; }
`

func (diary) Prompt() {}

func (diary) entry() wip.Entry {
	return wip.Entry{Path: "/", Title: "Diary", Indexable: true, Object: &wip.Object{ID: "d", Interfaces: []wip.InterfaceRef{{Document: "diary.wip", Interface: "Diary"}}}}
}

func (d diary) Fetch(_ context.Context, _ wip.Caller, path string) (wip.Entry, error) {
	if path != "/" {
		return wip.Entry{}, &wip.Failure{Class: wip.NotFound, Message: "no such entry"}
	}
	return d.entry(), nil
}

func (d diary) FetchTree(context.Context, wip.Caller, string) (wip.Tree, error) {
	return wip.Tree{Entry: d.entry()}, nil
}

func (diary) Document(context.Context, string) ([]byte, error) { return []byte(diaryText), nil }

func (d diary) CallOperation(ctx context.Context, call wip.Call) (wip.Result, error) {
	if call.Operation == "linger" && d.wait != nil {
		select {
		case <-d.wait:
		case <-ctx.Done():
			return wip.Result{}, ctx.Err()
		}
	}
	return wip.Result{Value: json.RawMessage(fmt.Sprintf(`{"owner":%q,"secret":%q,"number":%d}`,
		call.Caller.ID, "secret of "+call.Caller.ID, gjson.GetBytes(call.Arguments, "number").Int()))}, nil
}

// tokens is a Verify of made-up tokens.
type tokens struct {
	mu sync.Mutex
	m  map[string]*principals.Access
}

func (t *tokens) verify(_ context.Context, token string) (*principals.Access, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if a := t.m[token]; a != nil {
		return a, nil
	}
	return nil, principals.ErrUnknown
}

func access(id string, audience idl.Audience) *principals.Access {
	return &principals.Access{Principal: policy.Principal{ID: id, Audience: audience}, Rate: 1e6}
}

// lent returns a handler on the diary, for the tokens, and its audit log.
func lent(t testing.TB, host wip.Host, known *tokens, change func(*mcp.HTTPConfig)) (*mcp.HTTPHandler, *sink) {
	t.Helper()
	log := &sink{}
	c := client.New(&client.Config{Audit: audit.New(log)})
	if err := c.Mount(t.Context(), "/diary", host, &client.MountOptions{Trusted: true}); err != nil {
		t.Fatal(err)
	}
	cfg := mcp.HTTPConfig{Client: c, Version: "test", Verify: known.verify}
	if change != nil {
		change(&cfg)
	}
	h := mcp.NewHTTPHandler(cfg)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_ = h.Shutdown(ctx)
	})
	return h, log
}

// bearing sends a token and other headers with each request.
type bearing struct {
	token  string
	header http.Header
	base   http.RoundTripper
}

func (b bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if b.token != "" {
		r.Header.Set("Authorization", "Bearer "+b.token)
	}
	for name, values := range b.header {
		r.Header[name] = values
	}
	return b.base.RoundTrip(r)
}

// join begins a session by the SDK's own client.
func join(t testing.TB, server *httptest.Server, token string, header http.Header) (*sdk.ClientSession, error) {
	t.Helper()
	s, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint: server.URL + mcp.HTTPPath, HTTPClient: &http.Client{Transport: bearing{token, header, server.Client().Transport}}, MaxRetries: -1,
	}, nil)
	if err == nil {
		t.Cleanup(func() { _ = s.Close() })
	}
	return s, err
}

// request sends one request to a handler, as its own server would.
func request(t testing.TB, h http.Handler, method, token, session, body string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "http://localhost"+mcp.HTTPPath, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
		r.Header.Set("Mcp-Protocol-Version", "2025-06-18")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

// begin begins a session by hand, and returns its ID.
func begin(t testing.TB, h http.Handler, token string) string {
	t.Helper()
	w := request(t, h, "POST", token, "", initialize)
	id := w.Header().Get("Mcp-Session-Id")
	if w.Code != http.StatusOK || id == "" {
		t.Fatalf("beginning a session: %d %s", w.Code, w.Body)
	}
	if w := request(t, h, "POST", token, id, `{"jsonrpc":"2.0","method":"notifications/initialized"}`); w.Code != http.StatusAccepted {
		t.Fatalf("the session's second message: %d %s", w.Code, w.Body)
	}
	return id
}

func invoking(operation, arguments string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"invoke","arguments":{"target":"/diary","operation":%q,"arguments":%s}}}`, operation, arguments)
}

// TestHTTPClient uses the server by the SDK's own client, with a token of each
// kind.
func TestHTTPClient(t *testing.T) {
	over := access("over", idl.LocalOperator)
	over.Expires = time.Now().Add(-time.Second)
	revoked := access("revoked", idl.LocalOperator)
	done := make(chan struct{})
	close(done)
	revoked.Done = done
	h, log := lent(t, diary{}, &tokens{m: map[string]*principals.Access{"good": access("ada", idl.IM), "over": over, "revoked": revoked}}, nil)
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	for _, token := range []string{"", "bad", "over", "revoked"} {
		if _, err := join(t, server, token, nil); err == nil || !strings.Contains(err.Error(), "Unauthorized") {
			t.Errorf("token %q: %v", token, err)
		}
	}
	s, err := join(t, server, "good", nil)
	if err != nil {
		t.Fatal(err)
	}
	if v := s.InitializeResult().ProtocolVersion; v != "2025-11-25" {
		t.Errorf("found version %s", v)
	}
	tools, err := s.ListTools(t.Context(), nil)
	if err != nil || len(tools.Tools) != 3 {
		t.Fatalf("listing: %v %v", tools, err)
	}
	answer, failed := call(t, s, "invoke", `{"target":"/diary","operation":"read","arguments":{"number":7}}`)
	if want := `{"result":{"owner":"ada","secret":"secret of ada","number":7}}`; failed || answer != want {
		t.Errorf("found %s, expected %s", answer, want)
	}
	hidden, _ := call(t, s, "invoke", `{"target":"/diary","operation":"hide","arguments":{}}`)
	absent, _ := call(t, s, "invoke", `{"target":"/diary","operation":"hade","arguments":{}}`)
	if diff := cmp.Diff(absent, hidden); diff != "" || !strings.Contains(hidden, "not_found") {
		t.Errorf("hidden is not as absent: %s", diff)
	}
	if answer, _ := call(t, s, "discover", `{"query":"a page of my diary"}`); !strings.Contains(answer, "/diary") {
		t.Errorf("discover: %s", answer)
	}
	if err := s.Ping(t.Context(), nil); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	for _, line := range []string{`"principal":"ada"`, `"tool":"/diary#read"`} {
		if !strings.Contains(log.String(), line) {
			t.Errorf("the audit log has no %s:\n%s", line, log)
		}
	}
	for _, secret := range []string{"good", "secret of"} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("the audit log has %q:\n%s", secret, log)
		}
	}
}

func (s *sink) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// TestHTTPRefusals sends what the endpoint must not serve. Each is answered at
// once, in words that quote nothing.
func TestHTTPRefusals(t *testing.T) {
	h, _ := lent(t, diary{}, &tokens{m: map[string]*principals.Access{"good": access("ada", idl.IM), "other": access("bob", idl.IM)}}, func(cfg *mcp.HTTPConfig) {
		cfg.Limits.MaxBody = 64 << 10
		cfg.Origins = []string{"https://app.example"}
	})
	session := begin(t, h, "good")
	ping := `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	for name, test := range map[string]struct {
		method, token, session, body string
		header                       []string
		status                       int
		want                         string
	}{
		"a ping":                    {"POST", "good", session, ping, nil, 200, `"result":{}`},
		"no token":                  {"POST", "", session, ping, nil, 401, "expected a bearer token"},
		"a bad token":               {"POST", "SECRET", session, ping, nil, 401, "expected a bearer token"},
		"a token by another scheme": {"POST", "", session, ping, []string{"Authorization", "Basic good"}, 401, "expected a bearer token"},
		"two tokens":                {"POST", "good", session, ping, []string{"Authorization", "Bearer good"}, 401, "expected a bearer token"},
		"two tokens in one":         {"POST", "good, Bearer good", session, ping, nil, 401, "expected a bearer token"},
		"another's session":         {"POST", "other", session, ping, nil, 404, "session not found"},
		"no such session":           {"POST", "good", "SECRET", ping, nil, 404, "session not found"},
		"two sessions":              {"POST", "good", session, ping, []string{"Mcp-Session-Id", session}, 404, "session not found"},
		"another's stream":          {"GET", "other", session, "", nil, 404, "session not found"},
		"another's end":             {"DELETE", "other", session, "", nil, 404, "session not found"},
		"no session":                {"POST", "good", "", ping, nil, 400, "found no Mcp-Session-Id"},
		"no session to read of":     {"GET", "good", "", "", nil, 404, "session not found"},
		"another method":            {"PUT", "good", session, ping, nil, 405, "expected POST"},
		"no JSON":                   {"POST", "good", session, `{"jsonrpc":"2.0","id":2,"method":`, nil, 400, `"id":null,"error":{"code":-32700`},
		"nothing":                   {"POST", "good", session, ``, nil, 400, `-32700`},
		"a batch":                   {"POST", "good", session, "[" + ping + "]", nil, 400, `"error":{"code":-32600,"message":"the message is a batch`},
		"a batch without session":   {"POST", "good", "", "[" + initialize + "]", nil, 400, `-32600`},
		"another protocol":          {"POST", "good", session, `{"id":2,"method":"ping"}`, nil, 400, `"id":2,"error":{"code":-32600`},
		"a large id":                {"POST", "good", session, `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, nil, 400, `"id":9007199254740993,"error":{"code":-32600`},
		"brackets":                  {"POST", "good", session, strings.Repeat("[", 60000), nil, 400, `nested more than`},
		"a long message":            {"POST", "good", session, strings.Repeat(" ", 64<<10) + ping, nil, 413, `longer than`},
		"another type":              {"POST", "good", session, ping, []string{"Content-Type", "text/plain"}, 200, ``}, // the first counts
		"an encoding":               {"POST", "good", session, ping, []string{"Content-Encoding", "gzip"}, 415, `no content encoding`},
		"an unknown version":        {"POST", "good", session, ping, []string{"Mcp-Protocol-Version", "1066-10-14"}, 200, ``}, // likewise
		"a page":                    {"POST", "good", session, ping, []string{"Origin", "https://evil.example"}, 403, `of a page`},
		"a page without name":       {"POST", "good", session, ping, []string{"Origin", "null"}, 403, `of a page`},
		"a page of another port":    {"POST", "good", session, ping, []string{"Origin", "http://localhost:3000"}, 403, `of a page`},
		"a page like ours":          {"POST", "good", session, ping, []string{"Origin", "http://localhost.evil.example"}, 403, `of a page`},
		"two pages":                 {"POST", "good", session, ping, []string{"Origin", "http://localhost", "Origin", "https://evil.example"}, 403, `of a page`},
		"a page that says not":      {"GET", "good", session, "", []string{"Sec-Fetch-Site", "cross-site"}, 403, `of a page`},
		"our own page":              {"POST", "good", session, ping, []string{"Origin", "http://localhost"}, 200, `"result":{}`},
		"a listed page":             {"POST", "good", session, ping, []string{"Origin", "https://app.example"}, 200, `"result":{}`},
		"a listed page asks":        {"OPTIONS", "", "", "", []string{"Origin", "https://app.example", "Access-Control-Request-Method", "POST"}, 204, ``},
		"another page asks":         {"OPTIONS", "", "", "", []string{"Origin", "https://evil.example", "Access-Control-Request-Method", "POST"}, 403, `of a page`},
		"a narrowing":               {"POST", "good", session, ping, []string{"Wipagent-Audience", "public_chat"}, 200, `is no embedder`},
		"a stream in a message":     {"POST", "good", session, ping, []string{"Last-Event-ID", "x_1"}, 400, ``},
		"a stream that was":         {"GET", "good", session, "", []string{"Last-Event-ID", "x_1"}, 400, ``},
	} {
		t.Run(name, func(t *testing.T) {
			w := request(t, h, test.method, test.token, test.session, test.body, test.header...)
			if w.Code != test.status || !strings.Contains(w.Body.String(), test.want) {
				t.Errorf("found %d %s, expected %d %s", w.Code, w.Body, test.status, test.want)
			}
			if strings.Contains(w.Body.String(), "SECRET") || strings.Contains(fmt.Sprint(w.Header()), "SECRET") {
				t.Errorf("a secret is quoted: %v %s", w.Header(), w.Body)
			}
			if listed := w.Header().Get("Access-Control-Allow-Origin") != ""; listed != strings.HasPrefix(name, "a listed page") {
				t.Errorf("found the headers %v", w.Header())
			}
			if got := w.Header().Get("WWW-Authenticate"); (got != "") != (w.Code == 401) || strings.Contains(got, "invalid_token") == (name == "no token") && got != "" {
				t.Errorf("found the challenge %q", got)
			}
		})
	}
	// A name that was made to lead here is none of ours.
	for host, known := range map[string]bool{
		"localhost": true, "LOCALHOST:7071": true, "127.0.0.1:1": true, "[::1]:7071": true, "[::1]": true,
		"evil.example": false, "evil.example:7071": false, "localhost.evil.example": false, "": false, "127.0.0.1.evil.example": false, "192.168.0.1": false, "evil@localhost": false, "localhost.": false,
	} {
		r := httptest.NewRequestWithContext(t.Context(), "POST", "http://localhost"+mcp.HTTPPath, strings.NewReader(ping))
		r.Host = host
		r.Header.Set("Authorization", "Bearer good")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if (w.Code != http.StatusForbidden) != known {
			t.Errorf("Host %q: %d %s", host, w.Code, w.Body)
		}
	}
}

// TestHTTPSides looks at what stands beside the endpoint.
func TestHTTPSides(t *testing.T) {
	var sick error
	h, _ := lent(t, diary{}, &tokens{m: map[string]*principals.Access{"im": access("ada", idl.IM), "op": access("op", idl.LocalOperator)}}, func(cfg *mcp.HTTPConfig) {
		cfg.Hosts = []string{"tools.example"}
		cfg.URL, cfg.Issuers = "https://tools.example/mcp", []string{"https://login.example"}
		cfg.Healthy = func() error { return sick }
		cfg.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "figures 1\n") })
	})
	get := func(method, target, token string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), method, target, nil)
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	if w := get("GET", "http://10.0.0.1/healthz", ""); w.Code != 200 || w.Body.String() != "{\"status\":\"ok\"}\n" {
		t.Errorf("healthy: %d %s", w.Code, w.Body)
	}
	sick = fmt.Errorf("SECRET")
	if w := get("GET", "http://10.0.0.1/healthz", ""); w.Code != 503 || w.Body.String() != "{\"status\":\"unavailable\"}\n" {
		t.Errorf("sick: %d %s", w.Code, w.Body)
	}
	for token, want := range map[string]int{"": 401, "im": 404, "op": 200} {
		if w := get("GET", "https://tools.example/metrics", token); w.Code != want {
			t.Errorf("metrics for %q: %d %s", token, w.Code, w.Body)
		}
	}
	want := `Bearer realm="wipagent", error="invalid_token", resource_metadata="https://tools.example/.well-known/oauth-protected-resource/mcp"`
	if got := get("POST", "https://tools.example/mcp", "bad").Header().Get("WWW-Authenticate"); got != want {
		t.Errorf("found %s, expected %s", got, want)
	}
	for _, path := range []string{"", "/mcp"} {
		w := get("GET", "https://tools.example/.well-known/oauth-protected-resource"+path, "")
		var m oauthex.ProtectedResourceMetadata
		if err := json.Unmarshal(w.Body.Bytes(), &m); err != nil || m.Resource != "https://tools.example/mcp" || !cmp.Equal(m.AuthorizationServers, []string{"https://login.example"}) {
			t.Errorf("metadata: %v %d %s", err, w.Code, w.Body)
		}
	}
	for _, path := range []string{"/", "/mcp/", "/mcp/x", "/sse", "/.well-known/openid-configuration"} {
		if w := get("GET", "https://tools.example"+path, "op"); w.Code != 404 {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
	none, _ := lent(t, diary{}, &tokens{}, nil)
	r := httptest.NewRequestWithContext(t.Context(), "GET", "http://localhost/.well-known/oauth-protected-resource", nil)
	w := httptest.NewRecorder()
	if none.ServeHTTP(w, r); w.Code != 404 {
		t.Errorf("metadata without an issuer: %d", w.Code)
	}
}

// TestHTTPUnverifiable has a Verify that cannot tell.
func TestHTTPUnverifiable(t *testing.T) {
	h, _ := lent(t, diary{}, nil, func(cfg *mcp.HTTPConfig) {
		cfg.Verify = func(context.Context, string) (*principals.Access, error) { return nil, fmt.Errorf("SECRET is down") }
	})
	w := request(t, h, "POST", "x", "", initialize)
	if w.Code != 503 || w.Header().Get("Retry-After") == "" || bytes.Contains(w.Body.Bytes(), []byte("SECRET")) {
		t.Errorf("found %d %s", w.Code, w.Body)
	}
}

// TestHTTPStrangeMessages sends what a client may send and should not, as itself
// and narrowed. Each is answered, and the session goes on.
func TestHTTPStrangeMessages(t *testing.T) {
	app := access("app", idl.IM)
	app.Embedder = true
	h, _ := lent(t, diary{}, &tokens{m: map[string]*principals.Access{"good": app}}, nil)
	for _, narrow := range [][]string{nil, {"Wipagent-User", "u"}} {
		session := begin(t, h, "good")
		for _, message := range []string{
			`"id":2,"method":"tools/call"`, `"id":2,"method":"tools/call","params":null`, `"id":2,"method":"tools/call","params":7`, `"id":2,"method":"tools/call","params":[]`,
			`"id":2,"method":"tools/call","params":{}`, `"id":2,"method":"tools/call","params":{"name":7}`, `"id":2,"method":"tools/call","params":{"name":"invoke"}`,
			`"id":2,"method":"tools/call","params":{"name":"invoke","arguments":7,"_meta":7}`, `"id":2,"method":"tools/call","params":{"name":"nothing","_meta":null}`,
			`"id":2,"method":"tools/list"`, `"id":2,"method":"tools/list","params":{"cursor":"x","_meta":{"wipagent/nothing":1}}`, `"id":2,"method":"tools/list","params":7`,
			`"id":2,"method":"initialize"`, `"id":2,"method":"initialize","params":{}`, `"id":2,"method":"resources/list"`, `"id":2,"method":"prompts/get","params":{}`,
			`"id":2,"method":"logging/setLevel"`, `"id":2,"method":"completion/complete"`, `"id":2,"method":"nothing"`, `"id":2,"method":""`, `"method":"nothing"`,
			`"method":"notifications/cancelled"`, `"method":"notifications/cancelled","params":{"requestId":{}}`, `"method":"notifications/progress","params":7`,
			`"method":"tools/call"`, `"id":2,"method":"notifications/initialized"`, `"id":7,"result":{}`, `"id":7,"error":{}`, `"id":2,"method":"ping","params":7`,
			`"id":2,"method":"subscriptions/unlisten"`, `"id":2,"method":"server/discover"`,
		} {
			w := request(t, h, "POST", "good", session, `{"jsonrpc":"2.0",`+message+`}`, narrow...)
			if w.Code >= 500 || w.Code == 200 && !strings.Contains(w.Body.String(), `"id":2`) {
				t.Errorf("%s: %d %s", message, w.Code, w.Body)
			}
			if w := request(t, h, "POST", "good", session, `{"jsonrpc":"2.0","id":3,"method":"ping"}`, narrow...); w.Code != 200 {
				t.Fatalf("after %s: %d %s", message, w.Code, w.Body)
			}
		}
	}
}

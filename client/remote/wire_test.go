package remote_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/client/remote"
	"github.com/wipagent/wipagent/space/wip"
)

// post sends a request to a handler as it is.
func post(h http.Handler, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

const fetchRoot = `{"jsonrpc":"2.0","id":1,"method":"fetch","params":{"path":"/","caller":{"id":"eve"}}}`

// The server's end refuses what is no request of the protocol, in its own words.
func TestServerRefuses(t *testing.T) {
	h := remote.NewHandler(newFake(), &remote.ServeOptions{MaxRequest: 4 << 10})
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	z.Write(make([]byte, 10<<20))
	z.Close()
	for _, test := range []struct {
		name, body string
		header     []string
		status     int
		code       int
	}{
		{"a request", fetchRoot, nil, 200, 0},
		{"no JSON", "{", nil, 400, -32700},
		{"a batch", "[" + fetchRoot + "]", nil, 400, -32600},
		{"no version of JSON-RPC", `{"id":1,"method":"fetch"}`, nil, 400, -32600},
		{"too deep", strings.Repeat("[", 600) + strings.Repeat("]", 600), nil, 400, -32600},
		{"too long", fetchRoot + strings.Repeat(" ", 5000), nil, 413, -32004},
		{"expands too far", bomb.String(), []string{"Content-Encoding", "gzip"}, 413, -32004},
		{"broken compression", "xxx", []string{"Content-Encoding", "gzip"}, 415, -32600},
		{"another encoding", fetchRoot, []string{"Content-Encoding", "br"}, 415, -32600},
		{"another type", fetchRoot, []string{"Content-Type", "text/plain"}, 415, -32600},
		{"a page's request", fetchRoot, []string{"Origin", "null"}, 403, -32003},
		{"another version", fetchRoot, []string{"WIP-Protocol-Version", "2"}, 400, -32001},
		{"an unknown method", `{"jsonrpc":"2.0","id":1,"method":"x"}`, nil, 200, -32601},
		{"no path", `{"jsonrpc":"2.0","id":1,"method":"fetch","params":{}}`, nil, 200, -32602},
		{"a path of another type", `{"jsonrpc":"2.0","id":1,"method":"fetch","params":{"path":7}}`, nil, 200, -32602},
		{"params of another type", `{"jsonrpc":"2.0","id":1,"method":"fetch","params":[1]}`, nil, 200, -32602},
		{"no arguments", `{"jsonrpc":"2.0","id":1,"method":"call_operation","params":{"path":"/","object":"o","interface":"I","operation":"echo"}}`, nil, 200, -32602},
		{"no time", `{"jsonrpc":"2.0","id":1,"method":"fetch","params":{"path":"/","deadline_millis":-5}}`, nil, 200, -32012},
		{"no such cursor", `{"jsonrpc":"2.0","id":1,"method":"fetch_tree","params":{"path":"/","cursor":"x.1"}}`, nil, 200, -32012},
		{"a version of the future", `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocol_version":"2"}}`, nil, 200, -32001},
		{"a notification", `{"jsonrpc":"2.0","method":"cancel","params":{"id":1}}`, nil, 202, 0},
	} {
		w := post(h, test.body, test.header...)
		var r struct{ Error struct{ Code int } }
		json.Unmarshal(w.Body.Bytes(), &r)
		if w.Code != test.status || r.Error.Code != test.code {
			t.Errorf("%s: found status %d and code %d, expected %d and %d: %s", test.name, w.Code, r.Error.Code, test.status, test.code, w.Body)
		}
	}
	r := httptest.NewRecorder()
	h.ServeHTTP(r, httptest.NewRequest(http.MethodGet, "/", nil))
	if r.Code != 405 {
		t.Errorf("GET: found %d", r.Code)
	}
}

// Who asks is who the token says, or whom it may name.
func TestTokens(t *testing.T) {
	robot, free := remote.NewToken("robots-token", wip.Caller{ID: "robot"}), remote.NewToken("free-token", wip.Caller{ID: "free"})
	free.MayName = func(c wip.Caller) bool { return c.ID == "eve" }
	h := remote.NewHandler(newFake(), &remote.ServeOptions{Tokens: []remote.Token{robot, free}})
	me := strings.Replace(fetchRoot, `"/"`, `"/me"`, 1)
	for _, test := range []struct{ name, auth, body, want string }{
		{"a token names its own principal", "Bearer robots-token", me, `"title":"robot"`},
		{"a token may name", "bearer free-token", me, `"title":"eve"`},
		{"a token may not name", "Bearer free-token", strings.Replace(me, "eve", "root", 1), `"title":"free"`},
		{"no token", "", me, "-32003"},
		{"another token", "Bearer robots-toke", me, "-32003"},
		{"another scheme", "Basic robots-token", me, "-32003"},
	} {
		if w := post(h, test.body, "Authorization", test.auth); !strings.Contains(w.Body.String(), test.want) || (w.Code == 401) != (test.want == "-32003") {
			t.Errorf("%s: found %d %s", test.name, w.Code, w.Body)
		}
	}
	open := remote.NewHandler(newFake(), nil)
	if w := post(open, me); strings.Contains(w.Body.String(), "eve") {
		t.Errorf("a request without a token names a caller: %s", w.Body)
	}
}

// hostile serves what a test says instead of a Host.
func hostile(t *testing.T, answer http.HandlerFunc) *remote.Host {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		if strings.Contains(string(raw), `"initialize"`) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":1,"result":{"protocol_version":"1","capabilities":{"future":true}}}`)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(raw))
		answer(w, r)
	}))
	t.Cleanup(server.Close)
	return dial(t, server.URL, &remote.Options{Token: "SECRET-TOKEN", MaxResponse: 1 << 20, MaxEntries: 100, Timeout: 5 * time.Second})
}

// ok answers a request with a result.
func ok(result string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var req struct{ ID json.RawMessage }
		json.NewDecoder(r.Body).Decode(&req)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, req.ID, result)
	}
}

func status(code int, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
	}
}

// The client's end takes nothing on trust.
func TestClientRefuses(t *testing.T) {
	callIt := func(h *remote.Host) error {
		_, err := h.CallOperation(context.Background(), call("x"))
		return err
	}
	tree := func(h *remote.Host) error { return second(h.FetchTree(context.Background(), wip.Caller{}, "/")) }
	entry := func(h *remote.Host) error { return second(h.Fetch(context.Background(), wip.Caller{}, "/")) }
	text := func(h *remote.Host) error { return second(h.Document(context.Background(), "x")) }
	nodes := func(n int) string { return strings.TrimSuffix(strings.Repeat(`{"path":"/x","depth":1},`, n), ",") }
	for _, test := range []struct {
		name   string
		answer http.HandlerFunc
		ask    func(*remote.Host) error
		class  wip.Class
		maybe  bool
	}{
		{"no value", ok(`{}`), callIt, wip.Internal, true},
		{"a value beside others", ok(`{"value":1,"more":2}`), callIt, "", false},
		{"null", ok(`null`), callIt, wip.Internal, true},
		{"a result of another type", ok(`[]`), callIt, wip.Internal, true},
		{"no JSON", func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("hello")) }, callIt, wip.Internal, true},
		{"another's answer", func(w http.ResponseWriter, _ *http.Request) {
			w.Write([]byte(`{"jsonrpc":"2.0","id":77,"result":{"value":1}}`))
		}, callIt, wip.Internal, true},
		{"too deep", ok(`{"value":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `}`), callIt, wip.Internal, true},
		{"too long", ok(`{"value":"` + strings.Repeat("x", 2<<20) + `"}`), callIt, wip.Domain, true},
		{"expands too far", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			io.WriteString(z, `{"jsonrpc":"2.0","result":"`)
			z.Write(bytes.Repeat([]byte("x"), 30<<20))
			z.Close()
		}, callIt, wip.Domain, true},
		{"cut off", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			w.Write([]byte(`{"jsonrpc":`))
		}, callIt, wip.Transient, true},
		{"the connection is lost", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, callIt, wip.Transient, true},
		{"a redirect", status(307, "Location", "http://127.0.0.1:1/"), callIt, wip.Internal, false},
		{"401", status(401), callIt, wip.Internal, false},
		{"404", status(404), callIt, wip.Internal, false},
		{"413", status(413), callIt, wip.Domain, false},
		{"429", status(429, "Retry-After", "7"), callIt, wip.Transient, false},
		{"500", status(500), callIt, wip.Internal, true},
		{"503", status(503, "Retry-After", "7"), callIt, wip.Transient, true},
		{"no entry", ok(`{}`), entry, wip.Internal, false},
		{"an entry without a path", ok(`{"entry":{"title":"x"}}`), entry, wip.Internal, false},
		{"an object without an id", ok(`{"entry":{"path":"/","object":{"interfaces":[]}}}`), entry, wip.Internal, false},
		{"an interface without names", ok(`{"entry":{"path":"/","object":{"id":"o","interfaces":[{}]}}}`), entry, wip.Internal, false},
		{"no text", ok(`{"text":null}`), text, wip.Internal, false},
		{"no status", ok(`{"nodes":[{"path":"/"}]}`), tree, wip.Internal, false},
		{"another status", ok(`{"status":"some","nodes":[{"path":"/"}]}`), tree, wip.Internal, false},
		{"no tree", ok(`{"status":"whole"}`), tree, wip.Internal, false},
		{"two trees", ok(`{"status":"whole","nodes":[{"path":"/"},{"path":"/"}]}`), tree, wip.Internal, false},
		{"unchanged since nothing", ok(`{"status":"unchanged"}`), tree, wip.Internal, false},
		{"a leap in depth", ok(`{"status":"whole","nodes":[{"path":"/"},{"path":"/a","depth":2}]}`), tree, wip.Internal, false},
		{"a root that is none", ok(`{"status":"whole","nodes":[{"path":"/","depth":1}]}`), tree, wip.Internal, false},
		{"too many entries", ok(`{"status":"whole","nodes":[{"path":"/"},` + nodes(101) + `]}`), tree, wip.Internal, false},
		{"a list too long", ok(`{"status":"whole","nodes":[{"path":"/"},` + nodes(30_000) + `]}`), tree, wip.Internal, false},
		{"pages without end", ok(`{"status":"whole","nodes":[],"next_cursor":"x"}`), tree, wip.Internal, false},
		{"pages with entries without end", ok(`{"status":"delta","nodes":[{"path":"/"}],"next_cursor":"x"}`), tree, wip.Internal, false},
		{"an entry too long", ok(`{"status":"whole","nodes":[{"path":"/","future":"` + strings.Repeat("x", 2<<20) + `"}]}`), tree, wip.Internal, false},
		{"too many interfaces", ok(`{"entry":{"path":"/","object":{"id":"o","interfaces":[` + strings.Repeat(`{"document":"d","interface":"I"},`, 64) + `{"document":"d","interface":"I"}]}}}`), entry, wip.Internal, false},
		{"a null among the entries", ok(`{"status":"whole","nodes":[{"path":"/"},null]}`), tree, wip.Internal, false},
		{"a null among the removed", ok(`{"status":"delta","removed":[null]}`), tree, wip.Internal, false},
		{"a comma too many", ok(`{"status":"whole","nodes":[{"path":"/"},]}`), tree, wip.Internal, false},
		{"two results", ok(`{"value":1},"result":{"value":2}`), callIt, wip.Internal, true},
		{"two answers", ok(`{"value":1}} {"result":{"value":2}`), callIt, wip.Internal, true},
		{"an error beside a result", ok(`{"value":1},"error":{"code":-32011,"message":"no","data":{"class":"domain","message":"no"}}`), callIt, wip.Domain, false},
		{"a tree cut off", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			w.Write([]byte(`{"jsonrpc":"2.0","id":1,"result":{"status":"whole","nodes":[{"path":"/"},`))
		}, tree, wip.Transient, false},
		{"members in another order", ok(`{"nodes":[{"tag":"t","path":"/","future":[{}]}],"future":{"nodes":[1]},"status":"whole"},"future":[1]`), tree, "", false},
		{"a tree", ok(`{"status":"whole","nodes":[{"path":"/"},{"path":"/a","depth":1},{"path":"/a/b","depth":2},{"path":"/c","depth":1}]}`), tree, "", false},
	} {
		h := hostile(t, test.answer)
		err := test.ask(h)
		if test.class == "" {
			if err != nil {
				t.Errorf("%s: found %v", test.name, err)
			}
			continue
		}
		f := failureOf(t, err)
		if f.Class != test.class || f.MaybeDone != test.maybe || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: found %v, maybe done %v", test.name, err, f.MaybeDone)
		}
		if code := strings.HasPrefix(test.name, "429") || strings.HasPrefix(test.name, "503"); code && f.RetryAfter != 7*time.Second {
			t.Errorf("%s: found a wait of %s", test.name, f.RetryAfter)
		}
	}
}

// Where a token could be read, or a URL is no Host's, nothing is sent.
func TestDialRefuses(t *testing.T) {
	for url, o := range map[string]*remote.Options{
		"http://192.0.2.1/":            {Token: "SECRET-TOKEN"},
		"http://user:SECRET@192.0.2.1": nil,
		"ftp://192.0.2.1":              nil,
		"http://":                      nil,
		"http://127.0.0.1/?key=SECRET": nil,
		"http://127.0.0.1:1/":          {CAFile: "/no/such/file"},
		"http://127.0.0.1:2/":          {Token: "a b"},
		"://":                          nil,
	} {
		h, err := remote.Dial(t.Context(), url, o)
		var f *wip.Failure
		if err == nil || errors.As(err, &f) || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: found %v, %v", url, h, err)
		}
	}
	if h, err := remote.Dial(t.Context(), "http://192.0.2.1/", &remote.Options{Token: "x", PlainToken: true, Lazy: true}); err != nil {
		t.Error(err)
	} else {
		h.Close()
	}
}

// An answer that is worth it is compressed, and read again.
func TestCompression(t *testing.T) {
	h := remote.NewHandler(newFake(), nil)
	long := strings.Repeat("abc", 20_000)
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"call_operation","params":{"path":"/","object":"o","interface":"I","operation":"echo","arguments":%q}}`, long)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	io.WriteString(z, body)
	z.Close()
	w := post(h, packed.String(), "Content-Encoding", "gzip", "Accept-Encoding", "deflate, gzip;q=0.5")
	if w.Header().Get("Content-Encoding") != "gzip" || w.Body.Len() > 5000 {
		t.Fatalf("found %d bytes, %v", w.Body.Len(), w.Header())
	}
	answer := w.Body.Bytes()
	host := hostile(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		defer z.Close()
		raw, _ := gzip.NewReader(bytes.NewReader(answer))
		text, _ := io.ReadAll(raw)
		var req struct{ ID json.RawMessage }
		json.NewDecoder(r.Body).Decode(&req)
		z.Write(bytes.Replace(text, []byte(`"id":1,`), []byte(`"id":`+string(req.ID)+`,`), 1))
	})
	r, err := host.CallOperation(t.Context(), call("echo"))
	var got wip.Call
	if err != nil || json.Unmarshal(r.Value, &got) != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(fmt.Sprintf("%q", long), string(got.Arguments)); diff != "" {
		t.Error("the text is another")
	}
}

package remote_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/wipagent/wipagent/client/audit"
	"github.com/wipagent/wipagent/client/remote"
	"github.com/wipagent/wipagent/space/wip"
)

// TestCauses: an operator is told why a Host cannot be asked, and neither where it
// is nor what it says.
func TestCauses(t *testing.T) {
	serving := func(f http.HandlerFunc) string {
		server := httptest.NewServer(f)
		t.Cleanup(server.Close)
		return server.URL
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + l.Addr().String()
	l.Close()
	for url, want := range map[string]string{
		nobody: "host failure of class transient: connection refused",
		serving(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "SECRET", http.StatusServiceUnavailable) }): "host failure of class transient: HTTP status 503",
		serving(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "SECRET", http.StatusTeapot) }):             "host failure of class internal: HTTP status 418",
		serving(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "SECRET", http.StatusUnauthorized) }):       "host failure of class internal: the Host does not take the token (HTTP status 401)",
		serving(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Write([]byte(`{"jsonrpc":"2.0","id":"SECRET","result":{}}`))
		}): "host failure of class internal: the Host's answer is not what the protocol says: found the answer to another request",
	} {
		h, err := remote.Dial(t.Context(), url, &remote.Options{Lazy: true})
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		_, err = h.Fetch(t.Context(), wip.Caller{}, "/")
		if got := audit.Describe(err); got != want {
			t.Errorf("found %q, want %q", got, want)
		}
	}
}

package remote_test

import (
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/wipagent/wipagent/client/remote"
	"github.com/wipagent/wipagent/space/wip"
)

// secured returns a Host that reaches another over HTTPS and HTTP/2.
func secured(t testing.TB, host wip.Host) *remote.Host {
	t.Helper()
	server := httptest.NewUnstartedServer(remote.NewHandler(host, &remote.ServeOptions{AnyCaller: true}))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return dial(t, server.URL, &remote.Options{CAFile: file})
}

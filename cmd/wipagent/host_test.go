package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// served runs "host serve" with these words until the test is over and returns
// its URL.
func served(t *testing.T, words ...string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	ended := make(chan int)
	go func() {
		code := run(ctx, append([]string{"host", "serve", "--http", "127.0.0.1:0"}, words...), streams{io.NopCloser(strings.NewReader("")), io.Discard, w, 0})
		w.Close()
		ended <- code
	}()
	found := make(chan string, 1)
	go func() {
		var said bytes.Buffer
		buf := make([]byte, 1024)
		for {
			n, err := r.Read(buf)
			said.Write(buf[:n])
			if m := regexp.MustCompile(`serving the Host at (\S+)\n`).FindSubmatch(said.Bytes()); m != nil {
				select {
				case found <- string(m[1]):
				default:
				}
			}
			if err != nil {
				close(found)
				return
			}
		}
	}()
	t.Cleanup(func() {
		cancel()
		if code := <-ended; code != exitDone {
			t.Errorf("serving ended with %d", code)
		}
	})
	url, ok := <-found
	if !ok {
		t.Fatal("nothing is served")
	}
	return url
}

// A Host that is served over HTTP keeps the rules, for who bears a token.
func TestHostOverHTTP(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	url := served(t, "--token-file", file("tokens", "# who may come in\n0123456789-secret robot *\n"))
	check := func(words ...string) (int, string) {
		var out bytes.Buffer
		code := run(t.Context(), append([]string{"host", "check", url}, words...), streams{io.NopCloser(strings.NewReader("")), &out, &out, 0})
		if strings.Contains(out.String(), "secret") {
			t.Errorf("a token is told: %s", &out)
		}
		return code, out.String()
	}
	if code, out := check("--token-file", file("token", "0123456789-secret\n")); code != exitDone || !strings.Contains(out, "30 rules kept, 0 broken, 2 not looked at") {
		t.Errorf("with a token: %d\n%s", code, out)
	}
	if code, out := check(); code != exitUnavailable || !strings.Contains(out, "the Host wants a token: --token-file FILE") {
		t.Errorf("without a token: %d\n%s", code, out)
	}
	if code, out := check("--token-file", file("wrong", "0123456789-another-secret\n")); code != exitUnavailable || !strings.Contains(out, "does not take the token") {
		t.Errorf("with a wrong token: %d\n%s", code, out)
	}
}

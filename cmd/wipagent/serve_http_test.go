//go:build unix

package main

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wipagent/wipagent/client/policy/principals"
)

// daemon is a running wipagent.
type daemon struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines chan string // of stderr
	said  []string
}

func start(t *testing.T, words ...string) *daemon {
	t.Helper()
	p := &daemon{t: t, cmd: exec.Command("wipagent", words...), lines: make(chan string, 1000)}
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	go func() {
		defer close(p.lines)
		for s := bufio.NewScanner(stderr); s.Scan(); {
			p.lines <- s.Text()
		}
	}()
	return p
}

// says waits for a line of stderr that has a text, and returns what follows.
func (p *daemon) says(text string) string {
	p.t.Helper()
	late := time.After(time.Minute)
	for {
		select {
		case line, ok := <-p.lines:
			if !ok {
				p.t.Fatalf("it ended and said:\n%s", strings.Join(p.said, "\n"))
			}
			p.said = append(p.said, line)
			if _, rest, ok := strings.Cut(line, text); ok {
				return rest
			}
		case <-late:
			p.t.Fatalf("it does not say %q, but:\n%s", text, strings.Join(p.said, "\n"))
		}
	}
}

func (p *daemon) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// ends waits for the end and returns the exit code.
func (p *daemon) ends() int {
	for line := range p.lines {
		p.said = append(p.said, line)
	}
	_ = p.cmd.Wait()
	return p.cmd.ProcessState.ExitCode()
}

type bearing string

func (token bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+string(token))
	}
	return http.DefaultTransport.RoundTrip(r)
}

// dial begins a session.
func dial(ctx context.Context, url, token string) (*sdk.ClientSession, error) {
	return sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, &sdk.StreamableClientTransport{
		Endpoint: url, HTTPClient: &http.Client{Transport: bearing(token)}, MaxRetries: -1,
	}, nil)
}

func nearby(ctx context.Context, s *sdk.ClientSession) (string, error) {
	r, err := s.CallTool(ctx, &sdk.CallToolParams{Name: "invoke", Arguments: json.RawMessage(`{"target":"/grid/region","operation":"world_location","arguments":{}}`)})
	if err != nil {
		return "", err
	}
	return r.Content[0].(*sdk.TextContent).Text, nil
}

// TestServeOverHTTP serves a file of principals, takes a token back, makes the
// file bad, and ends.
func TestServeOverHTTP(t *testing.T) {
	file := filepath.Join(t.TempDir(), "principals.toml")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	stanza := func(name, more string) string {
		digest := principals.Digest("token-of-" + name)
		return fmt.Sprintf("[principals.%s]\naudience = \"im\"\ntoken_sha256 = [%q]\n%s\n", name, hex.EncodeToString(digest[:]), more)
	}
	write(stanza("ada", "") + stanza("bob", `intent = ["/grid/region#nowhere"]`))
	p := start(t, "serve", "--http", "127.0.0.1:0", "--principals", file)
	p.says(`principal bob: "/grid/region#nowhere" names no operation`)
	url := p.says("serving MCP at ")

	s, err := dial(t.Context(), url, "token-of-ada")
	if err != nil {
		t.Fatal(err)
	}
	if answer, err := nearby(t.Context(), s); err != nil || !strings.Contains(answer, `"region_name"`) {
		t.Errorf("found %s %v", answer, err)
	}
	for _, token := range []string{"", "bad"} {
		if _, err := dial(t.Context(), url, token); err == nil || !strings.Contains(err.Error(), "Unauthorized") {
			t.Errorf("token %q: %v", token, err)
		}
	}
	resp, err := http.Get(strings.TrimSuffix(url, "/mcp") + "/healthz")
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("health: %v %v", resp, err)
	}
	resp.Body.Close()

	write(stanza("ada", "revoked = true") + stanza("bob", ""))
	p.signal(syscall.SIGHUP)
	p.says("the principals were read again: 2 tokens, of which 1 is revoked")
	if answer, err := nearby(t.Context(), s); err == nil {
		t.Errorf("a revoked token was answered with %s", answer)
	}
	if _, err := dial(t.Context(), url, "token-of-ada"); err == nil {
		t.Error("a revoked token began a session")
	}
	_ = s.Close()

	write("nonsense") // no signal: it is seen
	p.says("the principals stay as they were, and all their tokens work: found 1 fault in the file")
	bob, err := dial(t.Context(), url, "token-of-bob")
	if err != nil {
		t.Errorf("who was there before: %v", err)
	} else {
		defer bob.Close()
	}

	p.signal(syscall.SIGTERM)
	if code := p.ends(); code != exitDone {
		t.Errorf("found an end with %d", code)
	}
	log := strings.Join(p.said, "\n")
	if !strings.Contains(log, `"msg":"refused","reason":"token","remote":"127.0.0.1"`) {
		t.Errorf("it does not say that a token was refused:\n%s", log)
	}
	if !strings.Contains(log, `"principal":"ada"`) || strings.Contains(log, "token-of-") {
		t.Errorf("it said:\n%s", log)
	}
}

// TestServeAlone serves the loopback without a file.
func TestServeAlone(t *testing.T) {
	p := start(t, "serve", "--http", "127.0.0.1:0", "--as", "im")
	token := p.says("the bearer token, until the program ends: ")
	url := p.says("serving MCP at ")
	s, err := dial(t.Context(), url, token)
	if err != nil {
		t.Fatal(err)
	}
	if answer, err := nearby(t.Context(), s); err != nil || !strings.Contains(answer, `"region_name"`) {
		t.Errorf("found %s %v", answer, err)
	}
	if _, err := dial(t.Context(), url, ""); err == nil {
		t.Error("no token began a session")
	}
	p.signal(os.Interrupt) // with a session and its stream still open
	if code := p.ends(); code != exitDone {
		t.Errorf("found an end with %d", code)
	}
	_ = s.Close()

	p = start(t, "serve", "--http", "127.0.0.1:0", "--no-token")
	url = p.says("serving MCP at ")
	if s, err = dial(t.Context(), url, ""); err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
	p.signal(syscall.SIGTERM)
	if code := p.ends(); code != exitDone || strings.Contains(strings.Join(p.said, "\n"), "token") {
		t.Errorf("found an end with %d, and it said %q", code, p.said)
	}
}

// TestServeSaysWhatHostsDo: one that is killed, and one that is there again.
func TestServeSaysWhatHostsDo(t *testing.T) {
	t.Parallel() // it waits for a breaker
	host := start(t, "host", "serve", "--http", "127.0.0.1:0")
	at := strings.TrimPrefix(host.says("http://"), "http://")
	at, _, _ = strings.Cut(at, "/")
	p := start(t, "serve", "--http", "127.0.0.1:0", "--no-token", "--mount", "/far=host:http://"+at, "--trust", "/far", "--store", filepath.Join(t.TempDir(), "known.db"))
	url := p.says("serving MCP at ")
	s, err := dial(t.Context(), url, "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	call := func() (string, error) {
		r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: "invoke", Arguments: json.RawMessage(`{"target":"/far/region","operation":"world_location","arguments":{}}`)})
		if err != nil {
			return "", err
		}
		return r.Content[0].(*sdk.TextContent).Text, nil
	}
	if answer, err := call(); err != nil || !strings.Contains(answer, `"region_name"`) {
		t.Fatalf("found %s %v", answer, err)
	}
	host.signal(syscall.SIGKILL)
	host.ends()
	if answer, err := call(); err != nil || !strings.Contains(answer, `"unavailable"`) {
		t.Errorf("found %s %v", answer, err)
	}
	p.says("/far: the Host is down: ")
	host = start(t, "host", "serve", "--http", at)
	host.says("http://")
	again := time.NewTicker(200 * time.Millisecond) // the breaker may be open for a while
	defer again.Stop()
	for late := time.After(time.Minute); ; <-again.C {
		if answer, err := call(); err != nil || strings.Contains(answer, `"region_name"`) {
			break
		}
		select {
		case <-late:
			t.Fatal("the Host does not come back")
		default:
		}
	}
	p.says("/far: the Host is back, after ")
	p.signal(syscall.SIGTERM)
	p.ends()
	host.signal(syscall.SIGTERM)
	host.ends()
}

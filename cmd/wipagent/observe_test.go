package main

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// observed is the command "observed FILE WORDS...", which has "wipagent serve" with
// the words make a call on stdin and stdout, and keeps in the file what then stands
// at the address of its metrics.
func observed(ts *testscript.TestScript, _ bool, args []string) {
	program, err := exec.LookPath("wipagent")
	ts.Check(err)
	cmd := exec.Command(program, append([]string{"serve"}, args[1:]...)...)
	cmd.Dir = ts.Getenv("WORK")
	cmd.Env = []string{"PATH=" + ts.Getenv("PATH"), "HOME=" + ts.Getenv("WORK"), noWait}
	stdin, err := cmd.StdinPipe()
	ts.Check(err)
	stdout, err := cmd.StdoutPipe()
	ts.Check(err)
	stderr, err := cmd.StderrPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	defer func() { _ = cmd.Process.Kill() }()
	said := bufio.NewScanner(stderr)
	address := ""
	for address == "" && said.Scan() {
		_, address, _ = strings.Cut(said.Text(), "metrics at ")
	}
	go func() { _, _ = io.Copy(io.Discard, stderr) }()
	fmt.Fprint(stdin, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"invoke","arguments":{"target":"/grid/region","operation":"world_location","arguments":{}}}}
`)
	for answers := bufio.NewScanner(stdout); answers.Scan(); {
		if strings.Contains(answers.Text(), `"id":2`) {
			break
		}
	}
	resp, err := http.Get(address)
	ts.Check(err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), text, 0o600))
	ts.Check(stdin.Close())
	ts.Check(cmd.Wait())
	if _, err := http.Get(address); err == nil {
		ts.Fatalf("metrics outlive the program")
	}
}

// TestMetricsAreForThisMachine: what a browser sends for a page is refused.
func TestMetricsAreForThisMachine(t *testing.T) {
	c := &cli{io: streams{nil, io.Discard, io.Discard, 0}}
	var said strings.Builder
	c.io.err = &said
	done, err := observeFlags{Metrics: ":0"}.observe(c)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	_, address, _ := strings.Cut(strings.TrimSpace(said.String()), "metrics at ")
	for _, test := range []struct {
		host, origin, method, path string
		want                       int
	}{
		{want: 200},
		{host: "localhost:1", want: 200},
		{host: "[::1]:1", want: 200},
		{host: "rebound.example", want: 403},
		{host: "10.0.0.1:9", want: 403},
		{origin: "https://page.example", want: 403},
		{method: "POST", want: 405},
		{path: "/", want: 404},
	} {
		r, err := http.NewRequestWithContext(t.Context(), test.method, strings.TrimSuffix(address, "/metrics")+max(test.path, "/"), nil)
		if err != nil {
			t.Fatal(err)
		}
		if test.path == "" {
			r.URL.Path = "/metrics"
		}
		r.Host = test.host
		if test.origin != "" {
			r.Header.Set("Origin", test.origin)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != test.want {
			t.Errorf("%+v: found %d", test, resp.StatusCode)
		}
	}
	w := httptest.NewRecorder()
	if c.metrics.ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil)); !strings.Contains(w.Body.String(), "\nwipagent_refused_requests_total{reason=\"metrics\"} 3\n") {
		t.Error("what was refused is not counted")
	}
}

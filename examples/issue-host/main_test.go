package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/wipagent/wipagent/client/remote"
	"github.com/wipagent/wipagent/client/remote/conformance"
	"github.com/wipagent/wipagent/space/wip"
)

// asProgram makes the test binary the program.
const asProgram = "ISSUE_HOST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
	}
	goleak.VerifyTestMain(m)
}

const member = "operator"

// TestServing starts the program both ways: it keeps the rules of Hosts, and shows
// the private project to its member alone.
func TestServing(t *testing.T) {
	for name, start := range map[string]func(t *testing.T) wip.Host{"http": overHTTP, "stdio": overStdio} {
		t.Run(name, func(t *testing.T) {
			h := start(t)
			for caller, want := range map[string]int{member: 6, "another": 5} {
				tree, err := h.FetchTree(t.Context(), wip.Caller{ID: caller}, "/")
				if err != nil || len(tree.Children) != want {
					t.Errorf("%s sees %d projects, %v, expected %d", caller, len(tree.Children), err, want)
				}
			}
			report := conformance.Check(t.Context(), h, conformance.Options{Caller: wip.Caller{ID: member}, Mutate: true})
			for _, rule := range report.Rules {
				if rule.Status != "pass" {
					t.Errorf("%s: %s: %+v", rule.ID, rule.Status, rule.Findings)
				}
			}
		})
	}
}

func overHTTP(t *testing.T) wip.Host {
	const token = "a-token-for-tests-only"
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	url := serve(t, "--token-file", file)
	if h, err := remote.Dial(t.Context(), url, nil); err == nil {
		h.Close()
		t.Error("one without a token was let in")
	}
	h, err := remote.Dial(t.Context(), url, &remote.Options{Token: token})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

// serve runs the program over HTTP and returns its URL.
func serve(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	read, write := io.Pipe()
	ended := make(chan int, 1)
	args = append(args, "--data", t.TempDir(), "--http", "127.0.0.1:0", "--member", member)
	go func() {
		ended <- run(ctx, args, nil, io.Discard, write)
		write.Close()
	}()
	lines := bufio.NewReader(read)
	line, err := lines.ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "serving issues on ")
	if err != nil || !ok {
		cancel()
		t.Fatalf("the program says %q, %v", line, err)
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = io.Copy(io.Discard, lines)
	}()
	t.Cleanup(func() {
		cancel()
		if code := <-ended; code != 0 {
			t.Errorf("the program ended with %d", code)
		}
		<-drained
	})
	return url
}

func overStdio(t *testing.T) wip.Host {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	h, err := remote.Spawn(t.Context(), []string{self, "--data", t.TempDir(), "--stdio", "--member", member},
		&remote.Options{Env: append(os.Environ(), asProgram+"=1")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

// TestAnybody proves that over HTTP without a token nobody becomes somebody.
func TestAnybody(t *testing.T) {
	h, err := remote.Dial(t.Context(), serve(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	tree, err := h.FetchTree(t.Context(), wip.Caller{ID: member}, "/")
	if err != nil || len(tree.Children) != 5 {
		t.Errorf("one who says that he is a member sees %d projects, %v", len(tree.Children), err)
	}
}

func TestUsage(t *testing.T) {
	short := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(short, []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		want int
	}{
		{"--help", 0},
		{"", exitUsage},
		{"--stdio", exitUsage},
		{"--data d", exitUsage},
		{"--data d --stdio --http 127.0.0.1:0", exitUsage},
		{"--data d --http 0.0.0.0:7070", exitUsage},
		{"--data d --http :7070", exitUsage},
		{"--data d --http 127.0.0.1", exitUsage},
		{"--data d --stdio --token-file " + short, exitUsage},
		{"--data d --http 127.0.0.1:0 --token-file " + short, exitUsage},
		{"--data d --stdio --member=", exitUsage},
		{"--data d --stdio more", exitUsage},
		{"--data " + file + " --stdio", exitUnavailable},
	} {
		var out, errs strings.Builder
		got := run(t.Context(), strings.Fields(c.args), strings.NewReader(""), &out, &errs)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s%s", c.args, diff, errs.String())
		}
		if said := errs.Len() > 0; said != (c.want != 0) {
			t.Errorf("%q writes %q to stderr", c.args, errs.String())
		}
	}
}

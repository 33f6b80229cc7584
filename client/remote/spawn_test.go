package remote_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wipagent/wipagent/client/audit"
	"github.com/wipagent/wipagent/client/remote"
	"github.com/wipagent/wipagent/space/wip"
)

// child is this test binary as a Host on stdin and stdout, or as something that
// is none.
func child(name string) {
	switch name {
	case "chatty":
		for i := range 1000 {
			fmt.Fprintf(os.Stderr, "line %d \x1b[31m%s\n", i, strings.Repeat("x", i*4))
		}
		name = "fake"
	case "garbage":
		fmt.Println("Welcome!")
		time.Sleep(time.Minute)
	case "mute":
		time.Sleep(time.Minute)
	case "dies":
		os.Exit(1)
	case "family":
		hang()
		name = "fake"
	case "stubborn": // it goes on when its input has ended
		hang()
		defer time.Sleep(time.Hour)
		name = "fake"
	}
	if err := remote.ServeStdio(context.Background(), hosts[name](nil), os.Stdin, os.Stdout, nil); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func spawned(t testing.TB, name string, o *remote.Options) *remote.Host {
	t.Helper()
	h, err := spawn(t, name, o)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func spawn(t testing.TB, name string, o *remote.Options) (*remote.Host, error) {
	t.Helper()
	if o == nil {
		o = &remote.Options{}
	}
	o.Env = append(os.Environ(), "WIPAGENT_TEST_CHILD="+name)
	h, err := remote.Spawn(t.Context(), []string{os.Args[0]}, o)
	if err == nil {
		t.Cleanup(func() { h.Close() })
	}
	return h, err
}

// A child that dies takes its requests with it, and is started again.
func TestChildDies(t *testing.T) {
	t.Parallel()
	h := spawned(t, "fake", nil)
	_, err := h.CallOperation(t.Context(), call("exit"))
	if f := failureOf(t, err); f.Class != wip.Transient || !f.MaybeDone {
		t.Errorf("found %v, maybe done %v", err, f.MaybeDone)
	}
	// It died young: for a moment it is not started again.
	_, err = h.CallOperation(t.Context(), call("echo"))
	if f := failureOf(t, err); f.Class != wip.Transient || f.MaybeDone || f.RetryAfter <= 0 {
		t.Errorf("found %v, maybe done %v", err, f.MaybeDone)
	}
	for err != nil {
		time.Sleep(max(failureOf(t, err).RetryAfter, time.Millisecond))
		_, err = h.CallOperation(t.Context(), call("echo"))
	}
}

// What is no Host is told apart from one, in time.
func TestNoHost(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]wip.Class{"garbage": wip.Transient, "dies": wip.Transient} {
		_, err := spawn(t, name, nil)
		f := failureOf(t, err)
		if f.Class != want || f.MaybeDone {
			t.Errorf("%s: found %v", name, err)
		}
		if ended := "its program ended: exit status 1"; name == "dies" && (f.Err == nil || audit.Describe(f.Err) != ended) {
			t.Errorf("found %v, expected %s", f.Err, ended)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	h, err := remote.Spawn(ctx, []string{os.Args[0]}, &remote.Options{Env: append(os.Environ(), "WIPAGENT_TEST_CHILD=mute")})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("mute: found %v, %v", h, err)
	}
	if _, err := remote.Spawn(t.Context(), []string{"/no/such/program"}, nil); failureOf(t, err).Class != wip.Internal {
		t.Errorf("found %v", err)
	}
	if _, err := remote.Spawn(t.Context(), nil, nil); err == nil {
		t.Error("found a Host without a command")
	}
}

// What a child complains of is bounded and clean, and never stops it.
func TestStderr(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var lines []string
	h := spawned(t, "chatty", &remote.Options{Stderr: func(line string) {
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, line)
	}})
	if _, err := h.Fetch(t.Context(), wip.Caller{}, "/"); err != nil {
		t.Fatal(err)
	}
	h.Close()
	mu.Lock()
	defer mu.Unlock()
	if len(lines) < 100 || len(lines) > 400 || lines[0] != "line 0  [31m" {
		t.Errorf("found %d lines, the first %q", len(lines), lines[0])
	}
	if last := lines[len(lines)-1]; !strings.HasSuffix(last, "lines were left out)") {
		t.Errorf("the last line is %q", last)
	}
	for _, line := range lines {
		if len(line) > 1<<10 {
			t.Fatalf("found a line of %d bytes", len(line))
		}
	}
}

// Requests of a Host that was closed fail, and nothing is started for them.
func TestClosed(t *testing.T) {
	t.Parallel()
	h := spawned(t, "fake", nil)
	done := make(chan error)
	go func() { done <- second(h.CallOperation(context.Background(), call("wait"))) }()
	time.Sleep(20 * time.Millisecond)
	h.Close()
	h.Close()
	if f := failureOf(t, <-done); f.Class != wip.Transient {
		t.Errorf("found %v", f)
	}
	if _, err := h.Fetch(t.Context(), wip.Caller{}, "/"); failureOf(t, err).Class != wip.Internal {
		t.Errorf("found %v", err)
	}
}

// A Host that is down is one that fails, if Options.Lazy says so.
func TestLazy(t *testing.T) {
	h, err := remote.Dial(t.Context(), "http://127.0.0.1:1/", &remote.Options{Lazy: true})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	_, err = h.CallOperation(t.Context(), wip.Call{Arguments: json.RawMessage(`{}`)})
	if f := failureOf(t, err); f.Class != wip.Transient || f.MaybeDone {
		t.Errorf("found %v", err)
	}
	if _, err := remote.Dial(t.Context(), "http://127.0.0.1:1/", nil); failureOf(t, err).Class != wip.Transient {
		t.Errorf("found %v", err)
	}
}

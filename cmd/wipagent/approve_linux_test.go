package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/idl"
)

// asking asks for an approval on a pseudo-terminal whose hand types the keys once
// the question stands there.
func asking(t *testing.T, ctx context.Context, keys string, before string) (bool, string) {
	t.Helper()
	hand, screen := terminal(t)
	defer screen.Close()
	asked := &flagged{shown: make(chan struct{})}
	c := &cli{io: streams{in: screen, err: asked}}
	if _, err := hand.WriteString(before); err != nil {
		t.Fatal(err)
	}
	answer := make(chan bool, 1)
	go func() {
		answer <- c.approves(ctx, client.Approval{
			Principal: &policy.Principal{ID: "cli", Audience: idl.LocalOperator}, Operation: &idl.Operation{Name: "close"},
			Call: client.Call{Target: "/issues/harbour/1", Arguments: json.RawMessage(`{"reason":"\u001b[2J"}`)}, Risk: idl.Mutating, Trusted: true,
		})
	}()
	<-asked.shown
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		// What is typed while the question is written is dropped, so it is typed again.
		if _, err := hand.WriteString(keys); err != nil {
			t.Fatal(err)
		}
		select {
		case yes := <-answer:
			return yes, asked.String()
		case <-time.After(100 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			t.Fatal("nobody reads the answer")
		}
	}
}

// flagged closes shown when the question has been written.
type flagged struct {
	bytes.Buffer
	shown chan struct{}
}

func (f *flagged) Write(p []byte) (int, error) {
	n, err := f.Buffer.Write(p)
	if strings.Contains(string(p), "[y/N]") {
		close(f.shown)
	}
	return n, err
}

func TestApproves(t *testing.T) {
	for keys, want := range map[string]bool{"y\n": true, "Yes\n": true, " y \n": true, "n\n": false, "\n": false, "yo\n": false, "\x04": false, "yes, but\n": false} {
		if got, _ := asking(t, t.Context(), keys, ""); got != want {
			t.Errorf("%q: approved %v", keys, got)
		}
	}
	got, question := asking(t, t.Context(), "n\n", "y\n")
	if got {
		t.Error("what was typed before the question approved")
	}
	for _, part := range []string{"close of /issues/harbour/1", "It changes things.", "Do it? [y/N] "} {
		if !strings.Contains(question, part) || strings.Contains(question, "\x1b") {
			t.Errorf("the question lacks %q: %q", part, question)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if got, _ := asking(t, ctx, "", ""); got {
		t.Error("an interrupt approved")
	}
}

// TestApprovesNothingByAPipe: what comes by a pipe is nobody's answer.
func TestApprovesNothingByAPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := w.WriteString("y\n"); err != nil {
		t.Fatal(err)
	}
	w.Close()
	c := &cli{io: streams{in: r, err: &bytes.Buffer{}}}
	if ctx := c.approving(t.Context(), false); ctx != t.Context() {
		t.Error("somebody is asked who is not there")
	}
	if ctx := c.approving(t.Context(), true); ctx == t.Context() {
		t.Error("--approve approves nothing")
	}
	screen := &cli{io: streams{in: r, err: &bytes.Buffer{}}, mode: serving}
	if ctx := screen.approving(t.Context(), false); ctx != t.Context() {
		t.Error("a server asks at its stdin")
	}
}

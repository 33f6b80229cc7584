package recorded

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"

	"github.com/wipagent/wipagent/adapter"
)

// Key is the key that programs under test are given; it is nobody's.
const Key = "recorded-key-of-nobody"

// asProgram tells the test binary to be the program under test.
const asProgram = "WIPAGENT_RECORDED_PROGRAM"

// Program is an agent under test. It is run as a process of its own, with what
// a person would give it.
type Program struct {
	Key      string // the environment variable with the key
	Dialects []string
	Provider func(dialect string) Provider
	// Tools returns what the program exports.
	Tools func(t *testing.T, dialect string, surface adapter.Surface) string
	// Resorted says that the provider's library orders members anew.
	Resorted bool
}

// Main is the tests' main function: it runs them, or the program.
func (p Program) Main(m *testing.M, program func()) {
	if os.Getenv(asProgram) != "" {
		program()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// command returns the program, ready to be started.
func (p Program) command(ctx context.Context, key string, args ...string) (cmd *exec.Cmd, out, log *bytes.Buffer) {
	out, log = new(bytes.Buffer), new(bytes.Buffer)
	cmd = exec.CommandContext(ctx, os.Args[0], args...)
	cmd.Env = []string{asProgram + "=1", p.Key + "=" + key} // nothing of whoever runs the tests
	cmd.Stdout, cmd.Stderr = out, log
	return cmd, out, log
}

// TestConversations holds every conversation of testdata in every dialect,
// whole and streamed.
func (p Program) TestConversations(t *testing.T) {
	for _, c := range Conversations(t) {
		for _, dialect := range p.dialects(c) {
			for _, stream := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/stream=%t", c.Name, dialect, stream), func(t *testing.T) {
					s := Serve(t, p.Provider(dialect), c.Answers)
					args := append([]string{"-base-url", s.URL, "-dialect", dialect, fmt.Sprintf("-stream=%t", stream)}, c.Args...)
					cmd, out, log := p.command(t.Context(), Key, args...)
					if err := cmd.Run(); (err != nil) != (c.Fails != "") || !strings.Contains(log.String(), c.Fails) {
						t.Fatalf("found %v, expected %q to be said\n%s", err, c.Fails, log)
					}
					want := c.Printed
					if stream {
						want = c.Streamed
					}
					if diff := cmp.Diff(want, out.String()); diff != "" {
						t.Errorf("printed (-want +got):\n%s", diff)
					}
					if strings.Contains(out.String()+log.String(), Key) {
						t.Error("found the key in what is printed")
					}
					p.sameTools(t, s, dialect, c)
				})
			}
		}
	}
}

// dialects returns those in which a conversation is held: all, unless it names
// one.
func (p Program) dialects(c Conversation) []string {
	if i := slices.Index(c.Args, "-dialect"); i >= 0 {
		return c.Args[i+1 : i+2]
	}
	return p.Dialects
}

// sameTools proves that every request has the tools as they were exported.
func (p Program) sameTools(t *testing.T, s *Server, dialect string, c Conversation) {
	surface := adapter.Verbs
	if slices.Contains(c.Args, "operations") {
		surface = adapter.Operations
	}
	want := p.Tools(t, dialect, surface)
	for i, request := range s.Requests() {
		got := request.Get("tools").Raw
		diff := cmp.Diff(want, got)
		if p.Resorted {
			diff = cmp.Diff(gjson.Parse(want).Value(), gjson.Parse(got).Value())
		}
		if diff != "" {
			t.Errorf("request %d: tools other than exported (-want +got):\n%s", i+1, diff)
		}
	}
}

// TestRefusals replaces the first of two texts by the second in the last request
// of a conversation, of all conversations in which it stands, and proves that the
// provider that is played refuses what comes out.
func (p Program) TestRefusals(t *testing.T, slips [][2]string) {
	made := make([]int, len(slips))
	for _, c := range Conversations(t) {
		if c.Fails != "" {
			continue
		}
		dialect := p.dialects(c)[0]
		s := Serve(t, p.Provider(dialect), c.Answers)
		args := append([]string{"-base-url", s.URL, "-dialect", dialect}, c.Args...)
		cmd, _, log := p.command(t.Context(), Key, args...)
		if err := cmd.Run(); err != nil {
			t.Fatalf("%v\n%s", err, log)
		}
		last := s.last
		body := s.Requests()[len(c.Answers)-1].Raw
		if _, faults := p.Provider(dialect).Check(last, gjson.Parse(body)); len(faults) > 0 {
			t.Fatalf("found faults in what was sent: %q", faults)
		}
		for i, slip := range slips {
			if !strings.Contains(body, slip[0]) {
				continue
			}
			made[i]++
			if _, faults := p.Provider(dialect).Check(last, gjson.Parse(strings.Replace(body, slip[0], slip[1], 1))); len(faults) == 0 {
				t.Errorf("%s: found no fault with %s in place of %s, expected one", c.Name, slip[1], slip[0])
			}
		}
	}
	for i, slip := range slips {
		if made[i] == 0 {
			t.Errorf("found %s in no conversation", slip[0])
		}
	}
}

// TestFailures proves that the program ends with the right code, says why, and
// never prints the key.
func (p Program) TestFailures(t *testing.T) {
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, p.Provider(p.Dialects[0]).Refusal("no such key: "+Key))
	}))
	defer refusing.Close()
	for name, test := range map[string]struct {
		key  string
		args []string
		code int
		says string
	}{
		"no key":          {"", []string{"hello"}, 2, p.Key},
		"no question":     {Key, nil, 2, p.Key},
		"unknown flag":    {Key, []string{"-colour", "hello"}, 2, "-colour"},
		"unknown surface": {Key, []string{"-surface", "nouns", "hello"}, 1, `found the surface "nouns"`},
		"unknown dialect": {Key, []string{"-dialect", "mcp", "hello"}, 1, `found the dialect "mcp"`},
		"refused":         {Key, []string{"-base-url", refusing.URL, "hello"}, 1, "no such key: [key]"},
		"refused stream":  {Key, []string{"-base-url", refusing.URL, "-stream", "hello"}, 1, "no such key: [key]"},
		"no turns":        {Key, []string{"-base-url", refusing.URL, "-turns", "0", "hello"}, 1, "no answer after 0 turns"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd, out, log := p.command(t.Context(), test.key, test.args...)
			err := cmd.Run()
			if code := cmd.ProcessState.ExitCode(); code != test.code || !strings.Contains(log.String(), test.says) || out.Len() > 0 {
				t.Errorf("found the code %d (%v), stdout %q, stderr %q, expected %d and %q", code, err, out, log, test.code, test.says)
			}
			if strings.Contains(log.String(), Key) {
				t.Errorf("found the key in %q", log)
			}
		})
	}
	t.Run("broken off", p.brokenOff)
	t.Run("interrupted", p.interrupted)
}

// brokenOff streams an answer without its last event.
func (p Program) brokenOff(t *testing.T) {
	c := Conversations(t)[0]
	events := p.Provider(p.Dialects[0]).Events(gjson.Get(c.Answers[0], "@ugly"))
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { stream(w, events[:len(events)-1]) }))
	defer broken.Close()
	cmd, _, log := p.command(t.Context(), Key, "-base-url", broken.URL, "-stream", "hello")
	if err := cmd.Run(); cmd.ProcessState.ExitCode() != 1 || !strings.Contains(log.String(), "broke off") || strings.Count(log.String(), "\n") != 1 {
		t.Errorf("found %v and %q, expected the code 1, no call, and that the stream broke off", err, log)
	}
}

// interrupted interrupts the program while it waits for an answer.
func (p Program) interrupted(t *testing.T) {
	asked, done := make(chan struct{}, 9), make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		select {
		case <-r.Context().Done():
		case <-done:
		}
	}))
	defer silent.Close()
	defer close(done)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // guards against hanging
	defer cancel()
	cmd, _, log := p.command(ctx, Key, "-base-url", silent.URL, "hello")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-asked:
		cmd.Process.Signal(os.Interrupt)
	case <-ctx.Done():
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(log.String(), "interrupted") {
		t.Errorf("found %v and %q, expected the code 1 and interrupted", err, log)
	}
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/wipagent/wipagent/objects/source/session/grids"
	"github.com/wipagent/wipagent/objects/source/session/gridtest"
	"github.com/wipagent/wipagent/objects/source/session/login"
	"github.com/wipagent/wipagent/objects/world"

	live "github.com/wipagent/wipagent/objects/source/session"
)

// TestLogin and TestLiveWorld run the real command against a grid on loopback
// sockets.
func TestLogin(t *testing.T)     { liveScript(t, "testdata/live/login.txtar") }
func TestLiveWorld(t *testing.T) { liveScript(t, "testdata/live/world.txtar") }

func liveScript(t *testing.T, file string) {
	t.Parallel()
	grid := gridtest.New(&gridtest.Config{
		LogoutReply: true,
		Accounts: []gridtest.Account{
			{First: "Test", Last: "User", Password: "c4n4ry-pw"},
			{First: "Careful", Last: "Resident", Password: "c4n4ry-two", Token: "424242"},
			{First: "Lawful", Last: "User", Password: "c4n4ry-three", Terms: "Be kind.\nAlways."},
		},
		Regions: []gridtest.RegionConfig{{
			Name: "Alpha\x1b[31m", X: 256000, Y: 256256,
			Avatars: []gridtest.Avatar{{First: "Ada", Last: "Resident", Position: world.Vec3{X: 130, Y: 128, Z: 22}}},
		}},
	})
	uri := grid.Serve(t)
	testscript.Run(t, testscript.Params{
		Files:               []string{file},
		RequireExplicitExec: true,
		UpdateScripts:       *update,
		Setup: func(env *testscript.Env) error {
			config := filepath.Join(env.WorkDir, "config")
			env.Setenv("GORACE", noWait)
			env.Setenv("GRID", uri)
			env.Setenv("WIPAGENT_CONFIG", config)
			env.Setenv("XDG_CACHE_HOME", filepath.Join(env.WorkDir, "cache"))
			if err := os.Chmod(filepath.Join(config, "closed.password"), 0o600); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(config, "grids.toml"), []byte(strings.ReplaceAll(settings, "GRID", uri)), 0o644)
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits": exits,
			"plain": plain,
			// answers REASON TEXT... makes the grid refuse the next login.
			"answers": func(ts *testscript.TestScript, neg bool, args []string) {
				grid.AnswerLogins(gridtest.LoginAnswer{Reason: args[0], Message: strings.Join(args[1:], " ")})
			},
			// page STATUS makes the grid answer the next login with a page
			// for people.
			"page": func(ts *testscript.TestScript, neg bool, args []string) {
				grid.AnswerLogins(gridtest.LoginAnswer{Status: 503, Body: "<html>closed for repairs</html>"})
			},
			// nobody fails if somebody is logged in still.
			"nobody": func(ts *testscript.TestScript, neg bool, args []string) {
				if left := grid.Sessions(); len(left) > 0 {
					ts.Fatalf("%v is logged in still", left)
				}
			},
			// discreet fails if the last output holds a secret.
			"discreet": func(ts *testscript.TestScript, neg bool, args []string) {
				secrets := append(grid.Secrets(), "c4n4ry")
				for _, file := range []string{"stdout", "stderr"} {
					text := ts.ReadFile(file)
					for _, s := range secrets {
						if strings.Contains(text, s) {
							ts.Fatalf("%s holds a secret of the grid:\n%s", file, text)
						}
					}
				}
			},
			// count WHAT N fails unless the grid has had N of them.
			"count": func(ts *testscript.TestScript, neg bool, args []string) {
				if n := fmt.Sprint(grid.Counts()[args[0]]); n != args[1] {
					ts.Fatalf("the grid had %s of %s, want %s", n, args[0], args[1])
				}
			},
		},
	})
}

// settings is the script's grids.toml.
const settings = `
[grids.home]
login_uri = "GRID"
account = "bot"

[accounts.bot]
grid = "home"
name = "Test User"
password_file = "closed.password"

[accounts.careful]
grid = "home"
name = "Careful"
password_env = "CAREFUL"

[accounts.lawful]
grid = "home"
name = "lawful.user"
password_env = "LAWFUL"

[accounts.lawful2]
grid = "home"
name = "lawful.user"
password_env = "LAWFUL"
accept_terms = true
`

// TestServeTellsBotsApart serves two bots of one grid. While one of them is
// there still, that the client is gone is a good end.
func TestServeTellsBotsApart(t *testing.T) {
	uri := twoBots(t)
	exit, said := serveUntil(t, []string{"in Alpha", "is over"}, "--mount", "/a=grid:one", "--mount", "/b=grid:two")
	if exit != exitDone {
		t.Errorf("ended with %d", exit)
	}
	for _, want := range []string{
		"wipagent: one on home: logging in\n", "wipagent: one on home: in Alpha\n",
		"wipagent: two on home: the session is over: the name or the password is wrong",
	} {
		if strings.Count(said, want) != 1 {
			t.Errorf("found %q not once in:\n%s", want, said)
		}
	}
	if strings.Contains(said, "disconnected") || strings.Contains(said, uri) {
		t.Errorf("the end is told twice:\n%s", said)
	}
}

// TestServeTellsThatNothingIsLeft serves a bot that is not let in.
func TestServeTellsThatNothingIsLeft(t *testing.T) {
	twoBots(t)
	exit, said := serveUntil(t, []string{"is over"}, "--world", "grid:two")
	if exit != exitUnavailable || !strings.Contains(said, "wipagent: no session was left to see anything by\n") {
		t.Errorf("ended with %d:\n%s", exit, said)
	}
}

// twoBots has a grid with an account one that is let in, and two that is not.
func twoBots(t *testing.T) (uri string) {
	uri = gridtest.New(&gridtest.Config{
		LogoutReply: true,
		Accounts:    []gridtest.Account{{First: "One", Last: "Bot", Password: "right"}, {First: "Two", Last: "Bot", Password: "left"}},
		Regions:     []gridtest.RegionConfig{{Name: "Alpha"}},
	}).Serve(t)
	dir := t.TempDir()
	t.Setenv("WIPAGENT_CONFIG", dir)
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("WIPAGENT_PASSWORD", "right")
	text := fmt.Sprintf("[grids.home]\nlogin_uri = %q\n", uri)
	for _, name := range []string{"one", "two"} {
		text += fmt.Sprintf("[accounts.%s]\ngrid = \"home\"\nname = \"%s bot\"\n", name, name)
	}
	if err := os.WriteFile(filepath.Join(dir, "grids.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return uri
}

// serveUntil serves until stderr holds all of the texts, and then closes
// stdin.
func serveUntil(t *testing.T, texts []string, args ...string) (exit int, said string) {
	in, client := io.Pipe()
	var stderr synced
	done := make(chan int, 1)
	go func() {
		done <- run(t.Context(), append([]string{"serve"}, args...), streams{in: in, out: io.Discard, err: &stderr})
	}()
	missing := func(text string) bool { return !strings.Contains(stderr.String(), text) }
	for deadline := time.Now().Add(20 * time.Second); slices.ContainsFunc(texts, missing); time.Sleep(time.Millisecond) {
		select {
		case exit := <-done:
			t.Fatalf("ended with %d by itself:\n%s", exit, stderr.String())
		default:
		}
		if time.Now().After(deadline) {
			t.Fatalf("%q is not all there:\n%s", texts, stderr.String())
		}
	}
	client.Close()
	return <-done, stderr.String()
}

// synced is a buffer for several goroutines.
type synced struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *synced) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *synced) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// TestLoginIsInterrupted ends a login while the region is still silent: the
// grid must not be left with a session.
func TestLoginIsInterrupted(t *testing.T) {
	grid := gridtest.New(&gridtest.Config{
		LogoutReply: true,
		Regions:     []gridtest.RegionConfig{{Name: "Alpha", HandshakeDelay: time.Hour}},
	})
	uri := grid.Serve(t)
	t.Setenv("WIPAGENT_CONFIG", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("WIPAGENT_PASSWORD", "secret")
	ctx, cancel := context.WithCancel(t.Context())
	var out, said bytes.Buffer
	done := make(chan int, 1)
	go func() {
		done <- run(ctx, []string{"login", uri, "--user", "Test User"}, streams{in: io.NopCloser(&bytes.Buffer{}), out: &out, err: &said})
	}()
	arrived := func(s gridtest.Session) bool { return s.Region != "" }
	for !slices.ContainsFunc(grid.Sessions(), arrived) {
		select {
		case code := <-done:
			t.Fatalf("ended with %d before it was interrupted: %s", code, said.String())
		case <-time.After(time.Millisecond): // real sockets have no other clock
		}
	}
	cancel()
	if code := <-done; code != exitUnavailable || !strings.Contains(said.String(), "interrupted") {
		t.Errorf("ended with %d, %q", code, said.String())
	}
	if strings.Contains(said.String(), "context canceled") {
		t.Errorf("found %q", said.String())
	}
	if left := grid.Sessions(); len(left) > 0 {
		t.Errorf("%v is logged in still", left)
	}
}

// TestStartIsExplained: the grid's word alone says little.
func TestStartIsExplained(t *testing.T) {
	var b strings.Builder
	(&page{w: &b}).login(&gridConfig{}, &live.Answer{StartLocation: "safe"})
	if !strings.Contains(b.String(), "\nstart      safe: a place of the grid's choice, not the one asked for\n") {
		t.Errorf("found\n%s", &b)
	}
}

// TestWordsThatWereShown: what was shown with the prompt is not said again.
func TestWordsThatWereShown(t *testing.T) {
	var out bytes.Buffer
	c := &cli{io: streams{out: &out, err: io.Discard}}
	g := &gridConfig{codes: &mfa{shown: "Type the code."}}
	for message, want := range map[string]int{"Type the code.": 0, "Wrong.": 1} {
		out.Reset()
		c.refused(g, &login.Error{Reason: login.ReasonMFA, Message: message})
		if n := strings.Count(out.String(), message); n != want {
			t.Errorf("%q is there %d times:\n%s", message, n, &out)
		}
	}
}

// TestLoginOfSilentRegion shows what a region did not say as unknown.
func TestLoginOfSilentRegion(t *testing.T) {
	a := &live.Answer{FirstName: "Test", LastName: "User\x1b[2J", SizeX: 256, SizeY: 256, Message: "one\n\x1b]0;two"}
	var b strings.Builder
	(&page{w: &b}).login(&gridConfig{grid: grids.Grid{Name: "home"}, account: grids.Account{First: "Test", Last: "User"}}, a)
	const want = `home lets Test User in

name       Test User [2J
agent      00000000-0000-0000-0000-000000000000
region     unknown
corner     0, 0 m on the grid
size       256 by 256 m
start      unknown
simulator  unknown
inventory  0 folders

The grid says:
  one
   ]0;two
`
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	raw, err := json.Marshal(newLoginResult(a))
	if err != nil || !strings.Contains(string(raw), `"region_name":null,"region_id":null`) {
		t.Errorf("found %s, %v", raw, err)
	}
}

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
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/wipagent/wipagent/objects/source/session/grids"
	"github.com/wipagent/wipagent/objects/source/session/gridtest"
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
	if left := grid.Sessions(); len(left) > 0 {
		t.Errorf("%v is logged in still", left)
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

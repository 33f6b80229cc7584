package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// hostServed is the command "hostserved VARIABLE WORDS...", which runs "wipagent
// host serve" with the words on a port of its own until the script is over, and
// puts its URL into the variable.
func hostServed(ts *testscript.TestScript, _ bool, args []string) {
	ctx, cancel := context.WithCancel(context.Background())
	program, err := exec.LookPath("wipagent")
	ts.Check(err)
	cmd := exec.CommandContext(ctx, program, append([]string{"host", "serve", "--http", "127.0.0.1:0"}, args[1:]...)...)
	cmd.Dir = ts.Getenv("WORK")
	cmd.Env = []string{"PATH=" + ts.Getenv("PATH"), "HOME=" + ts.Getenv("WORK"), noWait}
	stderr, err := cmd.StderrPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	ts.Defer(func() {
		cancel()
		cmd.Wait()
	})
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		if m := regexp.MustCompile(`serving the Host at (\S+)`).FindStringSubmatch(lines.Text()); m != nil {
			ts.Setenv(args[0], m[1])
			return
		}
	}
	ts.Fatalf("nothing is served")
}

// silent is the command "silent VARIABLE", which listens on a port of its own
// until the script is over and never says anything.
func silent(ts *testscript.TestScript, _ bool, args []string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Defer(func() { l.Close() })
	ts.Setenv(args[0], "http://"+l.Addr().String())
}

func TestShown(t *testing.T) {
	for given, want := range map[string]string{
		"http://127.0.0.1:7070":                         "host:http://127.0.0.1:7070",
		"https://me:c4n4ry@h.example/x?t=c4n4ry#c4n4ry": "host:https://h.example/x",
		"stdio:/opt/my-host --token c4n4ry":             "host:stdio:my-host",
		"stdio:":                                        "host:stdio:",
		"ht tp://c4n4ry":                                "host:(no URL)",
		"c4n4ry":                                        "host:c4n4ry", // a path: what is no address is shown as it was given
	} {
		if got := parseHost(given).shown(); got != want {
			t.Errorf("%s: shows %s, want %s", given, got, want)
		}
	}
}

// TestMountsFile says where a file is wrong, and nothing of what could be a
// credential.
func TestMountsFile(t *testing.T) {
	const good = "[[mount]]\npath = \"/a\"\nworld = \"demo\"\n"
	for name, test := range map[string]struct{ text, want string }{
		"no TOML":               {"[[mount]]\npath = c4n4ry\n", "f:2:8: not TOML; expected key = value"},
		"twice":                 {good + "path = \"/b\"\n", "f:4:1: a key or a table that is there already"},
		"a key above":           {"mounts = 1\n", `f:1:1: no key "mounts" is known here; did you mean "mount"?`},
		"one bracket":           {"# x\n[mount]\npath = \"/a\"\n", "f:2:2: mount: expected a table in double brackets"},
		"inline":                {"mount = [{path = \"/a\", world = \"demo\"}]\n", "f:1:1: mount: expected a table in double brackets"},
		"unknown":               {good + "\n[[mount]]\n  path = \"/b\"\n  wrold = \"demo\"\n" + good, `f:7:3: no key "wrold" is known here; did you mean "world"?; expected allow, `},
		"the first of two":      {good + "zzz = 1\naaa = 2\n", `f:4:1: no key "zzz"`},
		"in two mounts":         {"[[mount]]\npath = 7\n" + good + "trusted = 1\nentries = 0\n", "f:2:8: path: expected a string in quotes; f:6:11: trusted: expected true or false; f:7:11: entries: expected a whole"},
		"of a token":            {good + "token = \"c4n4ry\"\n", "f:4:1: token: tokens do not stand here; use token_file"},
		"a type":                {good + "trusted = \"yes\"\n", "f:4:11: trusted: expected true or false"},
		"of the first":          {"[[mount]]\npath = 7\nworld = \"demo\"\n" + good, "f:2:8: path: expected a string in quotes"},
		"empty":                 {"[[mount]]\npath = \"\"\n", "f:2:8: path: found an empty string"},
		"no path":               {good + "\n [[mount]]\nworld = \"demo\"\n", "f:5:2: the mount has no path"},
		"nothing to mount":      {"[[mount]]\npath = \"/a\"\n", "f:1:1: found nothing to mount, expected one of world, host and command"},
		"two things":            {good + "host = \"http://c4n4ry\"\n", "f:1:1: found world and host, expected one of them"},
		"a token for a world":   {good + "token_file = \"x\"\n", "f:4:1: token_file goes with a host"},
		"a token for a command": {"[[mount]]\npath = \"/a\"\ncommand = [\"x\"]\nca_file = \"x\"\n", "f:4:1: ca_file goes with host"},
		"a command in one":      {"[[mount]]\npath = \"/a\"\ncommand = \"x c4n4ry\"\n", "f:3:11: command: expected a list of at most"},
		"an empty command":      {"[[mount]]\npath = \"/a\"\ncommand = []\n", "f:3:11: command: found no word"},
		"an audience":           {good + "audience = \"king\"\n", "f:4:12: audience: expected one of public_chat"},
		"a rule":                {good + "deny = [\"Issue.close\", \"close\"]\n", "f:4:8: deny: number 2: expected Interface.operation"},
		"a time":                {good + "timeout = 3\n", "f:4:11: timeout: expected a string in quotes"},
		"another time":          {good + "timeout = \"3\"\n", "f:4:11: timeout: expected a time such as"},
		"a rate":                {good + "calls_per_second = 0\n", "f:4:20: calls_per_second: expected a number above 0"},
		"a number":              {good + "entries = 0\n", "f:4:11: entries: expected a whole number, 1 to"},
		"a size":                {good + "response_bytes = \"c4n4ry\"\n", "f:4:18: response_bytes: expected a size"},
		"keys":                  {good + "idempotency_keys = false\n", "f:4:20: idempotency_keys: expected true: "},
		"keys of a world":       {good + "idempotency_keys = true\n", "f:4:1: idempotency_keys goes with a host"},
		"deep":                  {"x = " + strings.Repeat("[", 50), "f: found brackets more than 4 levels deep"},
		"in another alphabet":   {"[[mount]]\npath = \"/ä\"\nworld = \"demo\"\nü = 1\n", "f:4:1: not TOML"},
		"after a long text":     {"[[mount]]\npath = \"/a\"\nworld = \"demo\"\nsummary = \"\"\"\nline\nline\"\"\"\nx = 1\n", "f:7:1: no key \"x\""},
	} {
		_, err := (&mountsFile{"f", test.text}).parse("/dir")
		switch {
		case err == nil || !strings.HasPrefix(err.Error(), test.want):
			t.Errorf("%s: %v, want %s", name, err, test.want)
		case strings.Contains(err.Error(), "c4n4ry"):
			t.Errorf("%s: quotes a value: %v", name, err)
		}
	}
}

// What the operator knows of a Host's keys is what calls to it rest on.
func TestKeysOfAMount(t *testing.T) {
	for line, want := range map[string]bool{"": false, "idempotency_keys = true\n": true} {
		list, err := (&mountsFile{"f", "[[mount]]\npath = \"/a\"\nhost = \"http://127.0.0.1:1\"\n" + line}).parse("/dir")
		if err != nil || list[0].options().Limits.IdempotencyKeys != want {
			t.Errorf("%q: found %+v, %v", line, list, err)
		}
	}
}

// FuzzMountsFile reads anything without a panic, and tells a place for what is
// wrong.
func FuzzMountsFile(f *testing.F) {
	f.Add("[[mount]]\npath = \"/a\"\nworld = \"demo\"\n[[mount]]\npath = \"/b\"\nhost = \"http://h\"\ntimeout = \"3s\"\nallow = [\"A.b\"]\n")
	f.Add("[[mount]]\ncommand = [\"a\", \"b\"]\n[mount.x]\ny = 1\n")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := (&mountsFile{"f", text}).parse("/dir")
		if err != nil && !strings.HasPrefix(err.Error(), "f:") {
			t.Errorf("found %v without a place", err)
		}
		for _, m := range list {
			if err == nil && (m.path == "" || m.world == "" || m.trusted && m.host != nil && m.trust == nil) {
				t.Errorf("found %+v", m)
			}
		}
	})
}

// filled is the command "filled FROM TO", which copies a file and puts the values
// of variables in the place of ${NAME}.
func filled(ts *testscript.TestScript, _ bool, args []string) {
	text := os.Expand(ts.ReadFile(args[0]), ts.Getenv)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o600))
}

// An example that people copy is one that is read.
func TestExampleOfMounts(t *testing.T) {
	text, err := os.ReadFile("../../examples/mounts/mounts.toml")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "mounts.toml")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := readMounts(file)
	if err != nil || len(list) != 3 {
		t.Fatalf("found %d mounts: %v", len(list), err)
	}
	if issues := list[1]; issues.trusted || issues.limits.atOnce != 8 || len(issues.policy.Deny) != 2 {
		t.Errorf("found %+v", issues)
	}
}

// written is where a test reads what a command says while it runs.
type written struct {
	mu   sync.Mutex
	text strings.Builder
}

func (w *written) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

// await waits for words.
func (w *written) await(t *testing.T, words string) {
	t.Helper()
	for range 3000 {
		w.mu.Lock()
		text := w.text.String()
		w.mu.Unlock()
		if strings.Contains(text, words) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%q is not said in %s", words, w.text.String())
}

// A Host that is down when a server starts is reached once it is up, and ends with
// the server. A second server goes on without the store that the first one has.
func TestHostComesUp(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no shell")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "mounts.toml")
	text := fmt.Sprintf("[[mount]]\npath = \"/far\"\ncommand = [%q, \"-c\", \"test -e up && echo $$ >pid && exec wipagent host serve --stdio\"]\n", sh)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	serve := func() (said *written, end func() int) {
		r, w := io.Pipe()
		said = &written{}
		code := make(chan int)
		go func() {
			code <- run(t.Context(), []string{"serve", "--mounts", file, "--store", filepath.Join(dir, "known.db")}, streams{r, io.Discard, said, 0})
		}()
		return said, func() int {
			w.Close()
			return <-code
		}
	}
	first, endFirst := serve()
	first.await(t, "/far: the Host at host:stdio:sh cannot be reached")
	second, endSecond := serve()
	second.await(t, "another process uses this store")
	if err := os.WriteFile(filepath.Join(dir, "up"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	first.await(t, "/far: the Host at host:stdio:sh has been reached")
	if code := endSecond(); code != exitDone {
		t.Errorf("the second server ended with %d", code)
	}
	if code := endFirst(); code != exitDone {
		t.Errorf("the first server ended with %d", code)
	}
	pid, err := os.ReadFile(filepath.Join(dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	if state, err := os.ReadFile("/proc/" + strings.TrimSpace(string(pid)) + "/comm"); err == nil {
		t.Errorf("the Host still runs: %s", state)
	}
}

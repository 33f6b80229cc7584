package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/wipagent/wipagent/objects/source/session/gridtest"
)

// typist is somebody at a terminal where the program runs.
type typist struct {
	t    *testing.T
	hand *os.File
	cmd  *exec.Cmd

	mu     sync.Mutex
	shown  bytes.Buffer // all of it
	looked int          // how much of it was looked for
}

// atPrompt starts a command at a terminal of its own.
func atPrompt(t *testing.T, env []string, args ...string) *typist {
	t.Helper()
	hand, screen := terminal(t)
	defer screen.Close()
	if err := unix.IoctlSetWinsize(int(hand.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 100}); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("wipagent", args...)
	cmd.Env = append(append(os.Environ(), "TERM=xterm-256color", "INPUTRC=/dev/null", "NO_COLOR="), env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = screen, screen, screen
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &typist{t: t, hand: hand, cmd: cmd}
	go func() {
		piece := make([]byte, 4096)
		for {
			n, err := hand.Read(piece)
			if err != nil {
				return // the terminal is closed
			}
			p.mu.Lock()
			p.shown.Write(piece[:n])
			p.mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		if cmd.ProcessState == nil {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	})
	return p
}

// enter types something once the program edits a line.
func (p *typist) enter(keys string) {
	p.t.Helper()
	silence(p.t, p.hand)
	if _, err := p.hand.WriteString(keys); err != nil {
		p.t.Fatal(err)
	}
}

// see waits until the terminal shows something that it has not shown so far.
func (p *typist) see(want string) {
	p.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(time.Millisecond) {
		p.mu.Lock()
		text := p.shown.String()[p.looked:]
		at := strings.Index(text, want)
		if at >= 0 {
			p.looked += at + len(want)
		}
		p.mu.Unlock()
		if at >= 0 {
			return
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("the terminal shows %q, expected %q", text, want)
		}
	}
}

// end waits for the program's end.
func (p *typist) end() {
	p.t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- p.cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			p.t.Error(err)
		}
	case <-time.After(20 * time.Second):
		p.t.Fatal("the program goes on")
	}
	if !echoes(p.t, p.hand) {
		p.t.Error("the terminal does not echo afterwards")
	}
}

var colours = regexp.MustCompile(`\x1b\[[0-9;]*\b(3[0-7]|4[0-7]|[34]8;[0-9;]*|9[0-7])m`)

func TestREPL(t *testing.T) {
	cache := t.TempDir()
	env := []string{"XDG_CACHE_HOME=" + cache}
	p := atPrompt(t, env, "repl")
	p.see("help()")
	p.enter("gr\t.reg\t.wor\t\r")
	p.see("Heron Hollow")
	p.enter("grid.region.nearby_avatars(\t")
	p.see("radius_meters=")
	p.see("[0..256] = 96")
	p.enter("radius_meters=1).tool + '!'\r")
	p.see(`"nearby_avatars!"`)
	p.enter("def f(n):\r    return \"for\" + 'ty' + str(n)\r\rf(2)\r")
	p.see(`"forty2"`)
	p.enter("\x1b[200~def h(n):\r    x = n\r\r    return \"six\" + 'ty' + str(x)\r\x1b[201~") // with an empty line, pasted
	p.enter("\r")
	p.enter("h(6)\r")
	p.see(`"sixty6"`)
	p.enter("half a line that is ")
	p.enter("\x03")
	p.see("\x1b[0 q") // the editor's end
	p.see(">>> ")
	p.enter("'no' + \"thing\"\r")
	p.see(`"nothing"`)
	p.enter("def g():\r    print('rea' + 'dy')\r    while True: pass\r\rg()\r")
	p.see("ready")
	if _, err := p.hand.WriteString("\x03"); err != nil {
		t.Fatal(err)
	}
	p.see("interrupted")
	p.see("called at")
	p.enter("grid.region.nearby_avatars(radius_meters=1000)\r")
	p.see("found 1000, expected a number from 0 to 256")
	p.see("grid.region.nearby_avatars(radius_meters=256)")
	p.enter("\x04")
	p.end()
	if !colours.MatchString(p.shown.String()) {
		t.Error("nothing has a colour")
	}
	path := filepath.Join(cache, "wipagent", "history")
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the history has %v, %v, expected it to be its owner's alone", info.Mode(), err)
	}
	before, err := os.ReadFile(path)
	if err != nil || !bytes.Contains(before, []byte(`"def f(n):\n    return \"for\" + 'ty' + str(n)"`)) || bytes.Contains(before, []byte("half")) {
		t.Errorf("the history holds %s, %v", before, err)
	}

	// Another run knows what was typed; without colours, and without keeping more.
	p = atPrompt(t, append(env, "NO_COLOR=1"), "repl", "--no-history")
	p.enter("'typ' + 'ed'\r")
	p.see(`"typed"`)
	p.enter("\x04")
	p.end()
	p = atPrompt(t, append(env, "NO_COLOR=1", "WIPAGENT_NO_HISTORY=0"), "repl", "--as", "public_chat")
	p.enter("\x1b[A\r")
	p.see("write: grid.region.nearby_avatars(radius_meters=256)")
	silence(t, p.hand)
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.end()
	if color := colours.FindString(p.shown.String()); color != "" {
		t.Errorf("found the colour %q with NO_COLOR", color)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, before) {
		t.Errorf("the history holds %s, %v, expected %s", after, err, before)
	}
}

// An interrupt while the world is loaded is the end.
func TestREPLBeforeItsPrompt(t *testing.T) {
	recording := filepath.Join(t.TempDir(), "late.jsonl")
	if out, err := exec.Command("wipagent", "record", "-o", recording, "--for", "100ms").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	whole, err := os.ReadFile(recording)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(recording, whole[:len(whole)-2], 0o600); err != nil { // which is said before the wait
		t.Fatal(err)
	}
	p := atPrompt(t, []string{"XDG_CACHE_HOME=" + t.TempDir()}, "repl", "--world", recording, "--speed", "0.001")
	p.see("was left out")
	if _, err := p.hand.WriteString("\x03"); err != nil {
		t.Fatal(err)
	}
	_ = p.cmd.Wait()
	if code := p.cmd.ProcessState.ExitCode(); code != exitUnavailable {
		t.Errorf("found an end with %d, expected %d", code, exitUnavailable)
	}
}

// What a live session says while a line is edited waits until it is entered.
func TestREPLOnALiveGrid(t *testing.T) {
	grid := gridtest.New(&gridtest.Config{
		LogoutReply: true,
		Accounts:    []gridtest.Account{{First: "One", Last: "Bot", Password: "right"}},
		Regions:     []gridtest.RegionConfig{{Name: "Alpha"}},
	})
	uri := grid.Serve(t)
	p := atPrompt(t, []string{"XDG_CACHE_HOME=" + t.TempDir(), "WIPAGENT_CONFIG=" + t.TempDir(), "WIPAGENT_PASSWORD=right"},
		"repl", "--world", "grid:"+uri, "--user", "One Bot")
	p.see("in Alpha")
	p.enter("grid.region.world_location().region_name\r")
	p.see(`"Alpha"`)
	p.enter("'half ' + ")
	p.see("'half ' + ")
	grid.Kick(grid.Agent("One Bot"), "gone home")
	p.enter("'a line'\r")
	p.see(`"half a line"`)
	told := regexp.MustCompile(`\n(\x1b\[[0-9?]+ ?[a-z])*wipagent: [^\n]*the session is over: [^\n]*gone home`)
	for deadline := time.Now().Add(20 * time.Second); !told.MatchString(p.all()); {
		if time.Now().After(deadline) {
			shown := p.all()
			t.Fatalf("the terminal ends with %q, expected the session's end", shown[max(0, len(shown)-2000):])
		}
		p.enter("1\r")
	}
	p.enter("\x04")
	p.end()
}

// all returns all that the terminal has shown.
func (p *typist) all() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.shown.String()
}

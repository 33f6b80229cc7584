//go:build unix

package remote_test

import (
	"bufio"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/wipagent/wipagent/client/remote"
)

// hang ignores all that it can be told to end by, as a stubborn descendant of a
// Host does. It writes its number to stdout first.
func hang() {
	cmd := exec.Command("sh", "-c", `trap "" HUP INT TERM PIPE; echo $$; while :; do sleep 60; done`)
	cmd.Stdout = os.Stderr
	if err := cmd.Start(); err != nil {
		panic(err)
	}
}

// What a Host has started ends with it: when it is closed and when it dies, also
// if it is started by a shell that does not pass anything on.
func TestDescendantsEnd(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(h *remote.Host){
		"closed": func(h *remote.Host) { h.Close() },
		"dies":   func(h *remote.Host) { h.CallOperation(t.Context(), call("exit")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pids := make(chan string, 100)
			h := spawned(t, "family", &remote.Options{Stderr: func(line string) { pids <- line }})
			pid := descendant(t, pids)
			end(h)
			await(t, pid)
		})
	}
}

// A Host that does not go is ended together with what it has started.
func TestStubbornFamilyEnds(t *testing.T) {
	t.Parallel()
	pids := make(chan string, 100)
	h := spawned(t, "stubborn", &remote.Options{Stderr: func(line string) { pids <- line }})
	pid := descendant(t, pids)
	h.Close()
	await(t, pid)
}

func descendant(t *testing.T, said <-chan string) int {
	t.Helper()
	pid, err := strconv.Atoi(<-said)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, 0); err != nil {
		t.Fatalf("the descendant does not run: %v", err)
	}
	return pid
}

// await fails if a process does not end in a while.
func await(t *testing.T, pid int) {
	t.Helper()
	for range 500 {
		if !running(pid) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	syscall.Kill(pid, syscall.SIGKILL)
	t.Errorf("process %d has outlived its Host", pid)
}

// running reports whether there is the process and it is more than what is left
// of one that nobody has waited for.
func running(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return !os.IsNotExist(err) || !hasProc()
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if state, ok := strings.CutPrefix(s.Text(), "State:"); ok {
			return !strings.Contains(state, "Z")
		}
	}
	return false
}

func hasProc() bool {
	_, err := os.Stat("/proc/self/status")
	return err == nil
}

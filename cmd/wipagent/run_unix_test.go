//go:build unix

package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// An interrupt ends a script at once, and reading one that does not come.
func TestRunIsInterrupted(t *testing.T) {
	for _, test := range []struct {
		name, code, want string
	}{
		{"a loop", "print('ready')\nwhile True: pass", "code:"},
		{"reading", "", "wipagent: interrupted\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			cmd := exec.Command("wipagent", "run", "--max-steps=0", "--max-time=0", "-c", test.code)
			if test.code == "" {
				cmd = exec.Command("wipagent", "run", "-")
			}
			var fails bytes.Buffer
			cmd.Stderr = &fails
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if test.code != "" {
				if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
					t.Errorf("found %q, %v", line, err)
				}
			} else if _, err := in.Write(make([]byte, 1<<17)); err != nil { // more than a pipe holds, so that it reads
				t.Error(err)
			}
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != exitUnavailable || !strings.HasPrefix(fails.String(), test.want) {
				t.Errorf("found an end with %d and %q", code, fails.String())
			}
		})
	}
}

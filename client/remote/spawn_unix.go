//go:build unix

package remote

import (
	"os/exec"
	"syscall"
)

// separate gives a child a process group of its own, which its descendants
// share: they can be ended together, and an interrupt at the terminal, which goes
// to this process's group, does not end a Host before its client is done.
func separate(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killAll ends the group of a child.
func killAll(cmd *exec.Cmd) { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }

// reap waits for a child to end, and ends what it has started.
func reap(cmd *exec.Cmd) {
	awaitExit(cmd)
	killAll(cmd)
	cmd.Wait()
}

//go:build !unix

package remote

import "os/exec"

// separate does nothing where there are no process groups.
func separate(*exec.Cmd) {}

// killAll ends a child alone.
func killAll(cmd *exec.Cmd) { cmd.Process.Kill() }

// reap waits for a child to end.
func reap(cmd *exec.Cmd) { cmd.Wait() }

package remote

import (
	"os/exec"

	"golang.org/x/sys/unix"
)

// awaitExit waits for a child to end and leaves it to be reaped, so that its
// number, which is its group's too, still means nobody else.
func awaitExit(cmd *exec.Cmd) {
	var info unix.Siginfo
	for unix.Waitid(unix.P_PID, cmd.Process.Pid, &info, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
}

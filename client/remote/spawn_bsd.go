//go:build unix && !linux

package remote

import "os/exec"

// awaitExit waits for a child to end. It is reaped then: that its number means
// another group by now is as good as impossible, and waiting without reaping is
// not to be had everywhere.
func awaitExit(cmd *exec.Cmd) { cmd.Wait() }

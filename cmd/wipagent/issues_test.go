package main

import (
	"context"
	"fmt"
	"os"

	"github.com/wipagent/wipagent/client/remote"
	"github.com/wipagent/wipagent/examples/issue-host/tracker"
)

// issueHost is the program "issue-host FILE", a tracker on stdin and stdout.
func issueHost() {
	h, err := tracker.Open(os.Args[1], &tracker.Config{Members: []string{"cli:local_operator"}})
	if err == nil {
		err = remote.ServeStdio(context.Background(), h, os.Stdin, os.Stdout, nil)
		h.Close()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

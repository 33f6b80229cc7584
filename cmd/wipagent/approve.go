package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/wipagent/wipagent/client"
)

// approving returns a context whose calls are approved: all of them, as a flag
// says, or by whoever sits at the terminal. Where nobody does, none is.
func (c *cli) approving(ctx context.Context, all bool) context.Context {
	switch {
	case all:
		return client.WithApprover(ctx, func(context.Context, client.Approval) bool { return true })
	case c.asks():
		return client.WithApprover(ctx, c.approves)
	}
	return ctx
}

// unapproved returns a context in which a person is told what to do about a call
// that nobody approved: that flag says, if nobody can be asked.
func (c *cli) unapproved(ctx context.Context, flag string) context.Context {
	if c.asks() {
		return client.WithUnapproved(ctx, "the answer was no, and nothing was done")
	}
	return client.WithUnapproved(ctx, "nobody can be asked, as stdin is no terminal; "+flag)
}

// approves asks on the terminal. Whatever is not a clear yes is a no, the end of
// the input and an interrupt too.
func (c *cli) approves(ctx context.Context, a client.Approval) bool {
	for line := range strings.Lines(a.Question()) {
		fmt.Fprintln(c.io.err, printable(strings.TrimSuffix(line, "\n")))
	}
	fmt.Fprint(c.io.err, "Do it? [y/N] ")
	answer, err := readLine(ctx, c.io.in.(*os.File))
	if err != nil {
		fmt.Fprintln(c.io.err)
		return false
	}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return true
	}
	return false
}

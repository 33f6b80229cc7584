package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"golang.org/x/term"

	"github.com/wipagent/wipagent/adapter/script"
)

type replCmd struct {
	artifactFlags
	NoHistory bool `env:"WIPAGENT_NO_HISTORY" help:"Keep nothing of what is typed. The environment's WIPAGENT_NO_HISTORY=1 says so for good."`
}

// Help shows examples.
func (replCmd) Help() string {
	return `What is typed is Starlark, a small Python, as in scripts (see run). Each entry is a value, each operation a method:

  >>> grid.region.nearby_avatars(radius_meters=20)
  >>> [a.name for a in _]
  >>> help(grid.region)

Tab completes entries, operations, arguments and their values; the arrow keys and Ctrl-R go through what was typed before; an
input that is not complete goes on in the next line, and a block ends with an empty one. Ctrl-C stops what runs or drops what is
typed, Ctrl-D ends. "_" is the last value.

An input may allocate 256 MiB and print 1 MiB, and has no other limit than Ctrl-C. What was typed is kept in the cache folder, in
wipagent/history, readable by its owner alone. A live session that is lost stays lost.

If stdin or stdout is no terminal, what stdin holds is run as a script, without prompts.

Examples:
  wipagent repl
  wipagent repl --world grid:robot
  wipagent repl --as public_chat
  echo 'grid.region.world_location()' | wipagent repl`
}

// replLimits bound one input.
var replLimits = script.Limits{Memory: 256 << 20, Output: 1 << 20}

// Run runs the command.
func (r *replCmd) Run(ctx context.Context, c *cli) error {
	in, ok := c.io.in.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) || c.io.width == 0 || os.Getenv("TERM") == "dumb" || c.JSON {
		if ok && term.IsTerminal(int(in.Fd())) && !c.JSON { // who waits for a prompt should know
			c.warn("this terminal tells no size or is dumb, so there is no prompt: what is typed is run as one script at its end (Ctrl-D)")
		}
		run := &runCmd{File: stdin, artifactFlags: r.artifactFlags, MaxMemory: byteSize(replLimits.Memory), MaxOutput: byteSize(replLimits.Output)}
		return run.Run(ctx, c)
	}
	before, err := term.GetState(int(in.Fd()))
	if err != nil {
		return err
	}
	notes := &held{to: c.io.err, terminal: isTerminal(c.io.err)}
	c.io.err = notes
	// The world outlives an interrupt, which is an input's, once there are prompts.
	worldCtx, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	loaded := context.AfterFunc(ctx, stop)
	done, err := r.keep(c)
	if err != nil {
		return err
	}
	defer done()
	c.lasting = true
	return c.with(worldCtx, once, func(worldCtx context.Context, s *session) error {
		if !loaded() {
			return context.Canceled
		}
		ctx, stop := signal.NotifyContext(worldCtx, syscall.SIGTERM, syscall.SIGHUP)
		defer stop()
		p := &prompter{
			env: script.New(script.Config{Client: s.client, Principal: s.principal, Output: c.io.out, Unlimited: true, Limits: replLimits, Width: c.io.width}),
			out: c.io.out, notes: notes, trouble: &trouble{notes, notes.terminal && wantsColor()},
		}
		history, err := r.history()
		if err != nil {
			c.warn("what is typed is not kept: %v", err)
		}
		p.editor = newEditor(p.env, history, wantsColor())
		fmt.Fprintf(c.io.out, "wipagent %s, %s. help() lists what there is, Tab completes, Ctrl-D ends.\n", version(), s.mounted())
		err = p.loop(c.approving(c.unapproved(ctx, "the REPL asks at a terminal alone"), false))
		if ctx.Err() != nil { // told to end while a line was edited
			_ = term.Restore(int(in.Fd()), before)
			fmt.Fprintln(c.io.out)
		}
		return err
	})
}

// mounted names the worlds for the banner.
func (s *session) mounted() string {
	list, err := s.mounts()
	if err != nil {
		return "nothing mounted" // which is no state that a session is opened in
	}
	var names []string
	for _, m := range list {
		names = append(names, printable(withoutUser(m.world))+" at "+printable(m.path))
	}
	return strings.Join(names, ", ")
}

// prompter reads inputs at a prompt and answers them.
type prompter struct {
	env     *script.Env
	editor  *editor
	out     io.Writer
	notes   *held
	trouble *trouble
}

// loop returns at the end of the input, or when ctx ends.
func (p *prompter) loop(ctx context.Context) error {
	for {
		p.notes.hold(true)
		input, err := p.editor.read(ctx)
		p.notes.hold(false)
		switch {
		case ctx.Err() != nil || errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, errInterrupted):
			continue
		case err != nil:
			return fmt.Errorf("reading from the terminal: %w", err)
		}
		p.eval(ctx, input)
	}
}

// eval answers one input; an interrupt ends it.
func (p *prompter) eval(ctx context.Context, input string) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	value, _, err := p.env.Eval(ctx, input)
	var failed *script.Error
	switch {
	case errors.As(err, &failed) && len(failed.Stack) > 0: // the place may be in an input before
		p.trouble.failure(failed, nil, nil)
	case errors.As(err, &failed):
		p.trouble.failure(failed, []byte(input), nil)
	case err != nil:
		fmt.Fprintln(p.notes, printable(err.Error()))
	case value != "":
		fmt.Fprintln(p.out, value)
	}
}

// Command wipagent shows a virtual world to AI models, programs and people by
// three verbs: discover, inspect and invoke.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"unicode/utf8"

	"github.com/alecthomas/kong"
	"golang.org/x/term"

	"github.com/wipagent/wipagent/client"
)

// Exit codes.
const (
	exitDone        = 0
	exitFailed      = 1 // the call failed; the error is printed as its result
	exitUsage       = 2 // the command line was wrong
	exitUnavailable = 3 // the world or Host could not be had
)

// cli is the command line: a field a verb, and the flags they share. The tag
// shared lists those that a command takes, and those below it unless they have
// the tag themselves; without it, that is all.
type cli struct {
	Serve    serveCmd    `cmd:"" help:"Serve the three verbs to AI models over MCP, on stdin and stdout or over HTTP."`
	Discover discoverCmd `cmd:"" help:"Find what can answer a question or do a task."`
	Inspect  inspectCmd  `cmd:"" help:"Show what an entry can do."`
	Invoke   invokeCmd   `cmd:"" help:"Call an operation of an entry."`
	Record   recordCmd   `cmd:"" help:"Record what a world shows, to be played again."`
	Run      runCmd      `cmd:"" help:"Run a script: operations as methods, with limits."`
	REPL     replCmd     `cmd:"" name:"repl" help:"Explore at a prompt: what run takes, an input at a time."`
	Schema   schemaCmd   `cmd:"" help:"Print the tool list that serve offers, as JSON."`
	Bind     bindCmd     `cmd:"" help:"Write Python or TypeScript bindings of what is mounted."`
	Token    tokenCmd    `cmd:"" shared:"json" help:"Make a bearer token for a caller of serve --http."`
	Status   statusCmd   `cmd:"" help:"Tell how what is mounted is doing."`
	Policy   policyCmd   `cmd:"" help:"Tell who may see and do what."`
	Host     hostCmd     `cmd:"" name:"host" shared:"" help:"Serve a world as a Host, or check one."`
	IDL      idlCmd      `cmd:"" name:"idl" shared:"json" help:"Work with WIP IDL documents."`
	Tour     tourCmd     `cmd:"" help:"See the three verbs at work on the embedded grid."`
	Login    loginCmd    `cmd:"" help:"Log in to a grid once and say what it answers."`
	Version  versionCmd  `cmd:"" shared:"json" help:"Print the version."`

	worldFlags
	gridFlags
	callerFlags
	keeping
	observing
	JSON bool   `help:"Print JSON for machines instead of tables."`
	Log  string `help:"Append the audit log to this file: one JSON object a call. Serve's default is stderr." placeholder:"FILE"`

	mode      mode
	mountedAt string    // where a mount was given, in the copy that goes with it
	mounted   []mount   // what mounts has found
	demo      bool      // what is not said is the demo, whatever the settings
	whole     bool      // without one of the mounts the answer would be wrong
	lasting   bool      // the command goes on for as long as somebody uses it
	afresh    bool      // nothing is taken from what was kept
	live      *sessions // shared with those copies; nil until a world is opened
	printed   bool      // JSON is on stdout
	io        streams
	readStdin func() ([]byte, error) // all of it, each time
}

// streams are what a command reads and writes: results on out, the rest on
// err.
type streams struct {
	in       io.ReadCloser
	out, err io.Writer
	width    int // columns of the terminal that out is; 0 if it is none
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	width := 0
	if fd := int(os.Stdout.Fd()); term.IsTerminal(fd) {
		width, _, _ = term.GetSize(fd) // 0 if it does not say
	}
	os.Exit(run(ctx, os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr, width}))
}

// run is the whole program; it returns the exit code.
func run(ctx context.Context, args []string, s streams) int {
	out := &checkedWriter{w: s.out}
	s.out = out
	exit := command(ctx, args, s)
	if err := out.failed(); err != nil { // also where what could not be written was a failure
		return max(exit, code(s, fmt.Errorf("writing the result: %w", err)))
	}
	return exit
}

// checkedWriter keeps the first error of a writer, so that those who write line
// by line need not look for it.
type checkedWriter struct {
	w   io.Writer
	mu  sync.Mutex
	err error
}

// Write writes to the writer.
func (c *checkedWriter) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err == nil {
		c.err = err
	}
	return n, err
}

func (c *checkedWriter) failed() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// command parses the command line and runs what it says.
func command(ctx context.Context, args []string, s streams) int {
	c := &cli{io: s, readStdin: sync.OnceValues(func() ([]byte, error) { return io.ReadAll(io.LimitReader(s.in, maxDocument)) })}
	exited := -1
	parser, err := kong.New(c,
		kong.Name("wipagent"),
		kong.Description("Eyes in virtual worlds: three verbs, discover, inspect and invoke, on what a grid session has observed."+
			"\n\nExit codes: 0 done, 1 the call failed, 2 the command line was wrong, 3 the world could not be had."),
		kong.Writers(s.out, s.err),
		kong.Exit(func(code int) { exited = code }),
		kong.Help(showHelp),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		kong.Vars{"audiences": audiences()},
		kong.BindTo(ctx, (*context.Context)(nil)),
	)
	if err != nil {
		panic(err) // the struct above is wrong, not the command line
	}
	for _, arg := range args {
		if !utf8.ValidString(arg) { // the parser would put U+FFFD in place of it
			return usage(s, fmt.Errorf("%q is not UTF-8", arg))
		}
	}
	k, err := parser.Parse(args)
	if exited >= 0 {
		return exited // help was asked for and printed
	}
	if err != nil {
		return usage(s, err)
	}
	if err = checkFlags(k); err == nil {
		err = k.Run(c)
	}
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = &exitError{exitUnavailable, errors.New("interrupted")}
	}
	var e *exitError
	if errors.As(err, &e) && e.err != nil && !c.printed {
		verb, tells := k.Selected().Target.Addr().Interface().(failureTeller)
		switch {
		case tells:
			verb.tellFailure(c, e.err)
		case c.JSON && answersJSON[k.Selected().Name] && e.code == exitUnavailable:
			c.printJSON(&client.Error{Class: client.Unavailable, Message: printable(e.err.Error())})
		}
	}
	if w, ok := s.out.(*checkedWriter); ok && err != nil && errors.Is(err, w.failed()) {
		return exitFailed // which is said for all
	}
	return code(s, err)
}

// failureTeller is a command whose readers expect its own form of answer on
// stdout, also if there is none.
type failureTeller interface {
	// tellFailure prints why there is no answer, if machines read it.
	tellFailure(c *cli, err error)
}

// answersJSON are the commands whose one answer --json makes JSON, so that
// whoever reads it is told by JSON too that there is none.
var answersJSON = map[string]bool{"discover": true, "inspect": true, "invoke": true, "login": true, "run": true}

// emptyFlag returns the name of a flag that was given with nothing as its value,
// as by a variable that is not set; it would count as not given.
func emptyFlag(k *kong.Context) string {
	for _, p := range k.Path {
		if p.Flag == nil {
			continue
		}
		switch value := p.Flag.Target.Interface().(type) {
		case string:
			if value == "" {
				return p.Flag.Name
			}
		case []string:
			if slices.Contains(value, "") {
				return p.Flag.Name
			}
		}
	}
	return ""
}

// exitError ends the program with a code; what there was to say has been said
// unless it wraps an error.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usageError marks an error as a mistake on the command line.
func usageError(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

// code prints what is left to say of an error and returns the exit code.
func code(s streams, err error) int {
	var e *exitError
	switch {
	case err == nil:
		return exitDone
	case !errors.As(err, &e):
		fmt.Fprintf(s.err, "wipagent: %s\n", printable(err.Error()))
		return exitFailed
	case e.err == nil:
		return e.code
	case e.code == exitUsage:
		return usage(s, e.err)
	}
	fmt.Fprintf(s.err, "wipagent: %s\n", printable(e.err.Error()))
	return e.code
}

func usage(s streams, err error) int {
	fmt.Fprintf(s.err, "wipagent: %s\nTry \"wipagent --help\" or \"wipagent COMMAND --help\".\n", printable(err.Error()))
	return exitUsage
}

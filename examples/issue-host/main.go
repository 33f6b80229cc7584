// Command issue-host serves an issue tracker as a Host, to any WIP client: over
// HTTP, or on stdin and stdout to the program that starts it.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/wipagent/wipagent/client/audit"
	"github.com/wipagent/wipagent/client/remote"
	"github.com/wipagent/wipagent/examples/issue-host/tracker"
	"github.com/wipagent/wipagent/space/wip"
)

const usage = `usage: issue-host --data DIR (--stdio | --http ADDRESS) [--member ID]... [--token-file FILE]

Serves an issue tracker that is kept in DIR, and made there if there is none.

  --data DIR         where the tracker is kept
  --stdio            speak on stdin and stdout, to the program that started this one
  --http ADDRESS     listen here, such as 127.0.0.1:7070; on this machine's loopback only
  --member ID        a caller who sees the private project; may be repeated
  --token-file FILE  with --http: let in only who bears the token in FILE, and
                     take its word for its caller. Without it everybody on this
                     machine is let in, as nobody in particular.

Examples:
  issue-host --data ./issues --stdio
  issue-host --data ./issues --http 127.0.0.1:7070 --token-file ./token --member operator
`

// Exit codes, as wipagent's own.
const (
	exitFailed      = 1
	exitUsage       = 2
	exitUnavailable = 3
)

// options is the command line.
type options struct {
	data, http, tokenFile string
	stdio                 bool
	members               []string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the program; it returns the exit code.
func run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	opt, err := parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(out, usage)
		return 0
	case err != nil:
		fmt.Fprintf(errs, "issue-host: %v\n\n%s", err, usage)
		return exitUsage
	}
	serve := remote.ServeOptions{Log: audit.New(errs)}
	if opt.tokenFile != "" {
		if serve.Tokens, err = readToken(opt.tokenFile); err != nil {
			fmt.Fprintf(errs, "issue-host: --token-file: %v\n", err)
			return exitUsage
		}
	}
	var listener net.Listener
	if opt.http != "" {
		if listener, err = net.Listen("tcp", opt.http); err != nil {
			fmt.Fprintf(errs, "issue-host: %v\n", err)
			return exitUnavailable
		}
		defer listener.Close()
	}
	host, err := open(opt)
	if err != nil {
		fmt.Fprintf(errs, "issue-host: %v\n", err)
		return exitUnavailable
	}
	if opt.stdio {
		err = remote.ServeStdio(ctx, host, in, out, &serve)
	} else {
		fmt.Fprintf(errs, "serving issues on http://%s\n", listener.Addr())
		err = listen(ctx, listener, remote.NewHandler(host, &serve))
	}
	if ctx.Err() != nil {
		err = nil // asked to end
	}
	if err = errors.Join(err, host.Close()); err != nil {
		fmt.Fprintf(errs, "issue-host: %v\n", err)
		return exitFailed
	}
	return 0
}

// parse reads the command line.
func parse(args []string) (opt options, err error) {
	flags := flag.NewFlagSet("issue-host", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&opt.data, "data", "", "")
	flags.BoolVar(&opt.stdio, "stdio", false, "")
	flags.StringVar(&opt.http, "http", "", "")
	flags.StringVar(&opt.tokenFile, "token-file", "", "")
	flags.Func("member", "", func(id string) error {
		if id == "" {
			return errors.New("expected the ID of a caller")
		}
		opt.members = append(opt.members, id)
		return nil
	})
	if err := flags.Parse(args); err != nil {
		return opt, err
	}
	switch {
	case flags.NArg() > 0:
		return opt, fmt.Errorf("found %q, expected flags only", flags.Arg(0))
	case opt.data == "":
		return opt, errors.New("found no --data, expected a folder")
	case opt.stdio == (opt.http != ""):
		return opt, errors.New("expected either --stdio or --http")
	case opt.stdio && opt.tokenFile != "":
		return opt, errors.New("--token-file goes with --http")
	case opt.http != "":
		return opt, loopback(opt.http)
	}
	return opt, nil
}

// loopback refuses addresses that other machines can reach: an example has no
// certificate to show them.
func loopback(address string) error {
	host, _, err := net.SplitHostPort(address)
	if ip := net.ParseIP(host); err != nil || ip == nil || !ip.IsLoopback() {
		return fmt.Errorf("found --http %q, expected a loopback address such as 127.0.0.1:7070", address)
	}
	return nil
}

// readToken lets in the one client that knows the file's token. It speaks for
// its own callers, and is believed.
func readToken(file string) ([]remote.Token, error) {
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	text := strings.TrimSpace(string(b))
	if len(text) < 16 {
		return nil, fmt.Errorf("found a token of %d bytes, expected at least 16", len(text))
	}
	token := remote.NewToken(text, wip.Caller{})
	token.MayName = func(wip.Caller) bool { return true }
	return []remote.Token{token}, nil
}

// open opens the tracker in its folder.
func open(opt options) (*tracker.Host, error) {
	if err := os.MkdirAll(opt.data, 0o700); err != nil {
		return nil, err
	}
	return tracker.Open(filepath.Join(opt.data, "issues.db"), &tracker.Config{Members: opt.members})
}

// listen serves until ctx ends, and answers then what was asked before.
func listen(ctx context.Context, listener net.Listener, handler http.Handler) error {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	if err := server.Shutdown(last); err != nil {
		server.Close()
		return err
	}
	return nil
}

package main

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wipagent/wipagent/client/policy/ownfile"
	"github.com/wipagent/wipagent/client/remote"
	"github.com/wipagent/wipagent/client/remote/conformance"
	"github.com/wipagent/wipagent/objects"
	"github.com/wipagent/wipagent/objects/world"
	"github.com/wipagent/wipagent/space/wip"
)

type hostCmd struct {
	Serve hostServeCmd `cmd:"" help:"Serve a world as a Host, to clients elsewhere." shared:"world,inventory,region,at,speed,log,user,password-file,start,accept-terms,read-critical"`
	Check hostCheckCmd `cmd:"" help:"Tell what is wrong with a Host, rule by rule." shared:"json"`
}

type hostServeCmd struct {
	HTTP      string `name:"http" xor:"how" help:"Listen here; without a host, on this machine's loopback alone." placeholder:"[HOST]:PORT"`
	Stdio     bool   `xor:"how" help:"Speak on stdin and stdout, to the program that started this one."`
	TokenFile string `help:"Whom to let in: a line each, TOKEN or sha256:DIGEST, then the caller that it stands for, then those that it may name (NAME,NAME or *)." placeholder:"FILE"`
	TLSCert   string `name:"tls-cert" help:"Serve HTTPS with this certificate (PEM)." placeholder:"FILE"`
	TLSKey    string `name:"tls-key" help:"The certificate's key (PEM)." placeholder:"FILE"`
}

// Help shows examples.
func (hostServeCmd) Help() string {
	return `The protocol is in spec/host.md. A Host that other machines can reach needs --token-file, and should have --tls-cert.
It is served until the program is interrupted or, over stdio, until its client closes it.

Examples:
  wipagent host serve --http :7070
  wipagent host serve --world region.oar --http :7070 --token-file tokens
  wipagent host serve --stdio`
}

// Run runs the command.
func (h *hostServeCmd) Run(ctx context.Context, c *cli) (err error) {
	switch {
	case h.HTTP == "" && !h.Stdio:
		return usageError("found neither --http nor --stdio, expected one of them")
	case h.Stdio && (h.TokenFile != "" || h.TLSCert != "" || h.TLSKey != ""):
		return usageError("--token-file, --tls-cert and --tls-key go with --http")
	case (h.TLSCert == "") != (h.TLSKey == ""):
		return usageError("found one of --tls-cert and --tls-key, expected both")
	}
	var opt remote.ServeOptions
	if h.TokenFile != "" {
		if opt.Tokens, err = readTokens(h.TokenFile); err != nil {
			return usageError("--token-file: %w", err)
		}
	}
	address, reachable, err := listenAddress(h.HTTP)
	switch {
	case err != nil:
		return usageError("--http %q: %w", h.HTTP, err)
	case reachable && len(opt.Tokens) == 0:
		return usageError("--http %q can be reached from other machines; add --token-file FILE", h.HTTP)
	case reachable && h.TLSCert == "":
		c.warn("tokens can be read on the way here; --tls-cert and --tls-key hide them")
	}
	log, closeLog, err := c.auditLog(once)
	if err != nil {
		return err
	}
	defer func() {
		if failed := closeLog(); failed != nil && err == nil {
			err = &exitError{code: exitFailed} // what there is to say has been said
		}
	}()
	opt.Log = log
	return c.withGrid(ctx, func(ctx context.Context, host wip.Host) error {
		if h.Stdio {
			if err := remote.ServeStdio(ctx, host, c.io.in, c.io.out, &opt); err != nil && ctx.Err() == nil {
				return fmt.Errorf("serving on stdin and stdout: %w", err)
			}
			return nil
		}
		return h.listen(ctx, c, address, remote.NewHandler(host, &opt))
	})
}

// withGrid loads the world that the flags choose and runs f with its Host.
func (c *cli) withGrid(ctx context.Context, f func(context.Context, wip.Host) error) error {
	c.mode = serving
	c.live = &sessions{}
	name := c.worldName()
	if err := c.checkWorld(name); err != nil {
		return err
	}
	var resting sync.WaitGroup
	defer resting.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w := world.New()
	if err := c.load(ctx, name, w, &resting); err != nil {
		return err
	}
	return f(ctx, objects.New(w, nil))
}

// listenAddress completes an address to listen on, and says whether other
// machines can reach it.
func listenAddress(address string) (full string, reachable bool, err error) {
	if address == "" {
		return "", false, nil
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", false, errors.New("expected [HOST]:PORT")
	}
	if host == "" {
		host = "127.0.0.1"
	}
	ip := net.ParseIP(host)
	return net.JoinHostPort(host, port), host != "localhost" && (ip == nil || !ip.IsLoopback()), nil
}

// How a server treats its clients.
const (
	headerWithin   = 10 * time.Second
	idleWithin     = 2 * time.Minute
	shutdownWithin = 5 * time.Second
)

// listen serves until ctx ends, and answers then what was asked before.
func (h *hostServeCmd) listen(ctx context.Context, c *cli, address string, handler http.Handler) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return &exitError{exitUnavailable, err}
	}
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: headerWithin, IdleTimeout: idleWithin, MaxHeaderBytes: 64 << 10,
		TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12},
	}
	scheme, serve := "http", server.Serve
	if h.TLSCert != "" {
		if _, err := tls.LoadX509KeyPair(h.TLSCert, h.TLSKey); err != nil {
			listener.Close()
			return usageError("--tls-cert: %w", err)
		}
		scheme, serve = "https", func(l net.Listener) error { return server.ServeTLS(l, h.TLSCert, h.TLSKey) }
	}
	c.warn("serving the Host at %s://%s/", scheme, listener.Addr())
	failed := make(chan error, 1)
	go func() { failed <- serve(listener) }()
	select {
	case err := <-failed:
		return &exitError{exitUnavailable, err}
	case <-ctx.Done():
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownWithin)
	defer cancel()
	if server.Shutdown(ending) != nil {
		server.Close() // who takes so long is left
	}
	<-failed
	return nil
}

const maxTokenFile = 1 << 20 // bytes

// readTokens reads whom to let in. Its errors quote nothing of the file.
func readTokens(name string) ([]remote.Token, error) {
	text, err := ownfile.Read(name, maxTokenFile, ownfile.Secret)
	if err != nil {
		return nil, err
	}
	var tokens []remote.Token
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if len(words) > 3 {
			return nil, fmt.Errorf("line %d: found %d words, expected a token, a caller and the names that it may give", n, len(words))
		}
		var t remote.Token
		if digest, ok := strings.CutPrefix(words[0], "sha256:"); ok {
			sum, err := hex.DecodeString(digest)
			if err != nil || len(sum) != sha256.Size {
				return nil, fmt.Errorf("line %d: found sha256: without 64 hexadecimal digits", n)
			}
			copy(t.SHA256[:], sum)
		} else {
			if len(words[0]) < 16 {
				return nil, fmt.Errorf("line %d: found a token of fewer than 16 characters, which can be guessed", n)
			}
			t = remote.NewToken(words[0], wip.Caller{})
		}
		if len(words) > 1 {
			t.Caller.ID = words[1]
		}
		if len(words) > 2 {
			names := strings.Split(words[2], ",")
			t.MayName = func(c wip.Caller) bool { return words[2] == "*" || slices.Contains(names, c.ID) }
		}
		tokens = append(tokens, t)
	}
	if len(tokens) == 0 {
		return nil, errors.New("found no token in the file")
	}
	return tokens, nil
}

type hostCheckCmd struct {
	Host       string `arg:"" help:"The Host: its URL, or stdio: and the command that serves it, split at spaces." placeholder:"URL|stdio:COMMAND"`
	Mutate     bool   `help:"Call operations that change things for real. Without it they are tried as dry runs, if they declare that."`
	Caller     string `help:"On whose behalf, as the Host knows its callers." placeholder:"NAME"`
	TokenFile  string `help:"A file that others cannot read (chmod 600) and that holds the token to bear, and nothing else." placeholder:"FILE"`
	PlainToken bool   `help:"Send the token over http to another machine, where it can be read on the way."`
	CAFile     string `name:"ca-file" help:"Trust these certificates (PEM) instead of the system's." placeholder:"FILE"`
}

// Help shows examples.
func (hostCheckCmd) Help() string {
	return `What is not marked read-only is called as a dry run, if it declares that it can be, and else not at all. With --mutate it is
called for real.

Exit codes: 0 nothing is wrong, 1 something is, 2 the command line was wrong, 3 the Host cannot be reached.

Examples:
  wipagent host check http://127.0.0.1:7070
  wipagent host check 'stdio:./my-host --quiet' --json
  wipagent host check https://hosts.example/issues --token-file token --mutate`
}

// Run runs the command.
func (h *hostCheckCmd) Run(ctx context.Context, c *cli) error {
	opt := remote.Options{PlainToken: h.PlainToken, CAFile: h.CAFile, Stderr: func(line string) { c.warn("the Host says: %s", line) }}
	if h.TokenFile != "" {
		var err error
		if opt.Token, err = readToken(h.TokenFile); err != nil {
			return usageError("--token-file: %w", err)
		}
	}
	host, err := reachHost(ctx, h.Host, h.TokenFile, &opt)
	if err != nil {
		return err
	}
	defer host.Close()
	report := conformance.Check(ctx, host, conformance.Options{Caller: wip.Caller{ID: h.Caller}, Mutate: h.Mutate})
	if ctx.Err() != nil {
		return &exitError{exitUnavailable, errors.New("interrupted")}
	}
	if c.JSON {
		c.printJSON(report)
	} else {
		c.page().conformance(report)
	}
	if len(report.Failed()) > 0 {
		return &exitError{code: exitFailed}
	}
	return nil
}

// reachHost connects to a Host at a URL, or starts one.
func reachHost(ctx context.Context, where, tokenFile string, opt *remote.Options) (host *remote.Host, err error) {
	where = strings.TrimPrefix(where, hostPrefix) // as --mount has it
	if command, ok := strings.CutPrefix(where, stdioPrefix); ok {
		host, err = remote.Spawn(ctx, strings.Fields(command), opt)
	} else {
		host, err = remote.Dial(ctx, where, opt)
	}
	var failure *wip.Failure
	switch {
	case err == nil:
		return host, nil
	case errors.As(err, &failure):
		return nil, &exitError{exitUnavailable, errors.New((&hostSource{tokenFile: tokenFile}).trouble(failure, "--token-file FILE"))}
	case ctx.Err() != nil:
		return nil, &exitError{exitUnavailable, err}
	}
	return nil, usageError("%w", err)
}

// conformance shows how a Host fares.
func (p *page) conformance(r *conformance.Report) {
	rows := [][]string{{"RULE", "STATUS", "CHECKS"}}
	passed := 0
	for _, rule := range r.Rules {
		if rule.Status == "pass" {
			passed++
		}
		rows = append(rows, []string{rule.ID, rule.Status, fmt.Sprint(rule.Checks)})
	}
	p.table(rows)
	failed := r.Failed()
	for _, rule := range failed {
		p.line("")
		p.line("%s: %s", rule.ID, rule.Says)
		for _, f := range rule.Findings {
			p.line("  %s: %s", f.Where, f.Found)
		}
		if rule.More > 0 {
			p.line("  and %d more", rule.More)
		}
	}
	p.line("")
	for _, rule := range r.Rules {
		if rule.Why != "" {
			p.line("%s was not looked at: %s", rule.ID, rule.Why)
		}
	}
	p.line("%d rules kept, %d broken, %d not looked at", passed, len(failed), len(r.Rules)-passed-len(failed))
}

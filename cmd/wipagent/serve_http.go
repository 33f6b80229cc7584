package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/net/netutil"

	"github.com/wipagent/wipagent/adapter"
	"github.com/wipagent/wipagent/adapter/mcp"
	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/client/policy/principals"
	"github.com/wipagent/wipagent/idl"
)

// serveHTTPFlags say how MCP is spoken over HTTP, and to whom.
type serveHTTPFlags struct {
	HTTP        string        `name:"http" help:"Speak over HTTP here instead, at /mcp; without a host, on this machine's loopback alone." placeholder:"[HOST]:PORT"`
	Principals  string        `help:"Who may call, and by which bearer tokens; see spec/serving.md, and wipagent token to make one." placeholder:"FILE"`
	NoToken     bool          `help:"Let whoever can reach the loopback call, other users of this machine included."`
	TLSCert     string        `name:"tls-cert" help:"Serve HTTPS with this certificate (PEM)." placeholder:"FILE"`
	TLSKey      string        `name:"tls-key" help:"The certificate's key (PEM)." placeholder:"FILE"`
	PlainHTTP   bool          `name:"plain-http" help:"Serve other machines without TLS, as behind a proxy that has it. Tokens can be read on the way here."`
	AllowHost   []string      `help:"A name by which clients reach the server, without a port. May be repeated. Default: that of --http." placeholder:"NAME"`
	AllowOrigin []string      `help:"A page that may call, such as https://app.example. May be repeated; all others are refused." placeholder:"ORIGIN"`
	PublicURL   string        `name:"public-url" help:"The endpoint as clients write it, if a proxy stands before it; its path is /mcp." placeholder:"URL"`
	Issuer      []string      `help:"Name this OAuth authorization server in the endpoint's metadata. The tokens are still those of --principals. May be repeated." placeholder:"URL"`
	Grace       time.Duration `default:"10s" help:"How long calls may still take once the program is told to end." placeholder:"DURATION"`
}

// given names a flag that was given and goes with --http.
func (f *serveHTTPFlags) given() string {
	for _, flag := range []struct {
		name  string
		given bool
	}{
		{"--principals", f.Principals != ""}, {"--no-token", f.NoToken}, {"--tls-cert", f.TLSCert != ""}, {"--tls-key", f.TLSKey != ""},
		{"--plain-http", f.PlainHTTP}, {"--allow-host", len(f.AllowHost) > 0}, {"--allow-origin", len(f.AllowOrigin) > 0},
		{"--public-url", f.PublicURL != ""}, {"--issuer", len(f.Issuer) > 0},
	} {
		if flag.given {
			return flag.name
		}
	}
	return ""
}

// maxConnections is how many clients may be connected; more wait.
const maxConnections = 4096

// overHTTP serves MCP over HTTP until ctx ends.
func (f *serveCmd) overHTTP(ctx context.Context, c *cli) error {
	address, reachable, err := listenAddress(f.HTTP)
	if err != nil {
		return usageError("--http %q: %w", f.HTTP, err)
	}
	if err := f.serveHTTPFlags.check(c, reachable); err != nil {
		return err
	}
	cfg := mcp.HTTPConfig{Surface: adapter.Surface(f.Surface), Version: version(), Origins: f.AllowOrigin, Issuers: f.Issuer}
	if cfg.Hosts, err = f.hosts(address, reachable); err != nil {
		return err
	}
	var cert *certificate
	if f.TLSCert != "" {
		cert = &certificate{certFile: f.TLSCert, keyFile: f.TLSKey}
		if err := cert.load(); err != nil {
			return usageError("--tls-cert: %w", err)
		}
	}
	listener, err := net.Listen("tcp", address) // before a token is made, and told, that would be of no use
	if err != nil {
		return &exitError{exitUnavailable, err}
	}
	defer listener.Close()
	file, err := f.admit(c, &cfg)
	if err != nil {
		return err
	}
	cfg.URL = f.url(listener.Addr())

	// The world goes on until the last call is answered.
	world, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	opening := context.AfterFunc(ctx, stop)
	return c.with(world, serving, func(world context.Context, s *session) error {
		opening()
		defer s.watchHosts()()
		cfg.Client, cfg.Code, cfg.Healthy, cfg.Audit = s.client, f.runner(s), s.outcome, s.told
		if f.Principals != "" {
			s.checkPrincipals(world, file)
		}
		server := &httpServer{cli: c, grace: f.Grace, handler: mcp.NewHTTPHandler(cfg), file: file, cert: cert}
		if err := server.serve(ctx, netutil.LimitListener(listener, maxConnections), cfg.URL); err != nil {
			return err
		}
		return s.outcome()
	})
}

// check reports what is wrong with the flags together.
func (f *serveHTTPFlags) check(c *cli, reachable bool) error {
	asks := c.As != idl.LocalOperator.String() || len(c.Grant)+len(c.Intent) > 0
	switch {
	case (f.TLSCert == "") != (f.TLSKey == ""):
		return usageError("found one of --tls-cert and --tls-key, expected both")
	case reachable && f.Principals == "":
		return usageError("--http %q can be reached from other machines; add --principals FILE", f.HTTP)
	case reachable && f.TLSCert == "" && !f.PlainHTTP:
		return usageError("--http %q can be reached from other machines, and tokens could be read on the way; add --tls-cert and --tls-key, or --plain-http", f.HTTP)
	case f.NoToken && f.Principals != "":
		return usageError("found --no-token and --principals, expected one of them")
	case asks && f.Principals != "":
		return usageError("--as, --grant and --intent do not go with --principals, which says all that for each caller")
	case len(f.Issuer) > 0 && f.Principals == "":
		return usageError("--issuer goes with --principals")
	case f.Grace < 0:
		return usageError("--grace %s: expected a time that is not negative", f.Grace)
	}
	for _, issuer := range f.Issuer {
		if u, err := url.Parse(issuer); err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
			return usageError("--issuer %q: expected an URL, such as https://login.example", issuer)
		}
	}
	for _, origin := range f.AllowOrigin {
		if u, err := url.Parse(origin); err != nil || u.Host == "" || origin != u.Scheme+"://"+u.Host {
			return usageError("--allow-origin %q: expected SCHEME://HOST[:PORT], such as https://app.example", origin)
		}
	}
	for _, name := range f.AllowHost {
		if _, _, err := net.SplitHostPort(name); err == nil || strings.ContainsAny(name, "/*@[] ") {
			return usageError("--allow-host %q: expected a name or an address, without a port", name)
		}
	}
	if f.PublicURL == "" {
		return nil
	}
	u, err := url.Parse(f.PublicURL)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.Path != mcp.HTTPPath || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return usageError("--public-url: expected an URL such as https://tools.example%s", mcp.HTTPPath)
	}
	return nil
}

// hosts returns the names by which clients may reach the server.
func (f *serveHTTPFlags) hosts(address string, reachable bool) ([]string, error) {
	names := slices.Clone(f.AllowHost)
	if u, err := url.Parse(f.PublicURL); err == nil && u.Host != "" {
		names = append(names, u.Hostname())
	}
	host, _, err := net.SplitHostPort(address)
	ip := net.ParseIP(host)
	switch {
	case err == nil && !reachable:
		names = append(names, "localhost", "127.0.0.1", "::1", host)
	case err == nil && host != "" && (ip == nil || !ip.IsUnspecified()):
		names = append(names, host)
	case len(names) == 0:
		return nil, usageError("--http %q is at every address; add --allow-host NAME, by which clients reach it", f.HTTP)
	}
	return names, nil
}

// url returns the endpoint as clients write it.
func (f *serveHTTPFlags) url(at net.Addr) string {
	scheme := "http"
	if f.TLSCert != "" {
		scheme = "https"
	}
	if f.PublicURL != "" {
		return f.PublicURL
	}
	return scheme + "://" + at.String() + mcp.HTTPPath
}

// admit sets who may call. The file is nil if there is none.
func (f *serveHTTPFlags) admit(c *cli, cfg *mcp.HTTPConfig) (*principals.File, error) {
	switch {
	case f.Principals != "":
		file, err := principals.Open(f.Principals)
		var faults principals.Errors
		if errors.As(err, &faults) {
			for _, fault := range faults {
				c.warn("%v", fault)
			}
			return nil, usageError("--principals: %w", inAll(faults))
		} else if err != nil {
			return nil, usageError("--principals: %w", err)
		}
		if tally := file.Tally(time.Now()); tally.Good() < tally.Tokens {
			c.warn("--principals: %s", tally)
		}
		cfg.Verify = file.Verify
		return file, nil
	case f.NoToken:
		cfg.Anyone = c.principal()
	default:
		token, digest := principals.NewToken()
		cfg.Verify = principals.NewVerifier(digest, &principals.Access{Principal: *c.principal()})
		c.warn("the bearer token, until the program ends: %s", token)
	}
	return nil, nil
}

// inAll says how many faults there are, each of which has been said.
func inAll(faults principals.Errors) error {
	return fmt.Errorf("found %s in the file", plural(len(faults), "fault"))
}

// checkPrincipals warns of names in a file that name nothing: they would be passed
// over without a word.
func (s *session) checkPrincipals(ctx context.Context, file *principals.File) {
	operator := &policy.Principal{ID: "cli:flags", Audience: idl.LocalOperator}
	for _, a := range file.List() {
		for _, name := range slices.Concat(a.Principal.Grants, a.Principal.Intent) {
			if found, err := s.client.Inspect(ctx, operator, name); err != nil || !found.Only {
				s.warn("principal %s: %q names no operation of what is mounted", a.Principal.ID, name)
			}
		}
	}
}

// httpServer is a handler that is served.
type httpServer struct {
	*cli
	grace   time.Duration
	handler *mcp.HTTPHandler
	file    *principals.File // nil if there is none
	cert    *certificate     // nil without TLS
}

// serve serves until ctx ends, and then until what was asked for is answered.
func (s *httpServer) serve(ctx context.Context, listener net.Listener, url string) error {
	server := &http.Server{
		Handler: s.handler, ReadHeaderTimeout: headerWithin, IdleTimeout: idleWithin, MaxHeaderBytes: 64 << 10,
		ErrorLog: log.New(lines{s.cli}, "", 0),
	}
	start := server.Serve
	if s.cert != nil {
		server.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: s.cert.get}
		start = func(l net.Listener) error { return server.ServeTLS(l, "", "") }
	}
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	var watching sync.WaitGroup
	defer watching.Wait()
	watched, stop := context.WithCancel(ctx)
	defer stop()
	if s.file != nil {
		watching.Go(func() { s.file.Watch(watched, time.Second, s.tell) })
	}
	failed := make(chan error, 1)
	go func() { failed <- start(listener) }()
	s.warn("serving MCP at %s", url)
	for {
		select {
		case err := <-failed:
			return &exitError{exitUnavailable, err}
		case <-hangup:
			s.reload()
		case <-ctx.Done():
			return s.end(server, failed)
		}
	}
}

// reload reads again what a hangup asks for.
func (s *httpServer) reload() {
	if s.file != nil {
		_, err := s.file.Reload()
		s.tell(err)
	}
	if s.cert != nil {
		if err := s.cert.load(); err != nil {
			s.warn("the certificate stays as it was: %v", err)
		} else {
			s.warn("the certificate was read again")
		}
	}
}

// tell says what came of reading the principals again.
func (s *httpServer) tell(err error) {
	var faults principals.Errors
	switch {
	case err == nil:
		s.warn("the principals were read again: %s", s.file.Tally(time.Now()))
		return
	case errors.As(err, &faults):
		for _, fault := range faults {
			s.warn("%v", fault)
		}
		err = inAll(faults)
	}
	s.warn("the principals stay as they were, and all their tokens work: %v", err)
}

// end takes no more requests, and has those answered that there are.
func (s *httpServer) end(server *http.Server, failed <-chan error) error {
	ctx, cancel := context.WithTimeout(context.Background(), s.grace)
	defer cancel()
	closed := make(chan error, 1)
	go func() { closed <- server.Shutdown(ctx) }()
	if err := s.handler.Shutdown(ctx); err != nil {
		s.warn("calls were cancelled, as they took more than %s", s.grace)
	}
	if <-closed != nil {
		server.Close() // who takes so long is left
	}
	<-failed
	return nil
}

// lines writes the server's own words on stderr.
type lines struct{ *cli }

// Write writes a line.
func (l lines) Write(p []byte) (int, error) {
	l.warn("%s", strings.TrimSpace(string(p)))
	return len(p), nil
}

// certificate is a pair of files, as it was last read.
type certificate struct {
	certFile, keyFile string
	now               atomic.Pointer[tls.Certificate]
}

func (c *certificate) load() error {
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err == nil {
		c.now.Store(&pair)
	}
	return err
}

func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.now.Load(), nil }

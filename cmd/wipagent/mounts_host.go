package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/audit"
	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/client/policy/ownfile"
	"github.com/wipagent/wipagent/client/remote"
	"github.com/wipagent/wipagent/client/resilience"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space"
	"github.com/wipagent/wipagent/space/wip"
)

// hostPrefix marks a mount that is a Host elsewhere, and stdioPrefix one that a
// command serves.
const (
	hostPrefix  = "host:"
	stdioPrefix = "stdio:"
)

// hostSource says where a Host is: at a URL, or behind a command.
type hostSource struct {
	url        string
	command    []string
	dir        string // the command's working directory; empty for this process's own
	tokenFile  string
	caFile     string
	plainToken bool
}

// parseHost reads what stands behind host: on a command line.
func parseHost(address string) *hostSource {
	if command, ok := strings.CutPrefix(address, stdioPrefix); ok {
		return &hostSource{command: strings.Fields(command)}
	}
	return &hostSource{url: address}
}

// shown returns what stands for the Host in words: without what could be a
// credential, as a query or the arguments of a command.
func (s *hostSource) shown() string {
	if s.url == "" {
		program := ""
		if len(s.command) > 0 {
			program = filepath.Base(s.command[0])
		}
		return hostPrefix + stdioPrefix + program
	}
	u, err := url.Parse(s.url)
	if err != nil {
		return hostPrefix + "(no URL)"
	}
	return hostPrefix + (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// mostEntries bounds the tree of a Host on its way here; what is then taken of it
// is what the mount says.
const mostEntries = 250_000

// connect returns the mount's Host. It is asked for nothing yet: it is one that
// fails if it is down.
func (c *cli) connect(ctx context.Context, m *mount) (*remote.Host, error) {
	s := m.host
	opt := &remote.Options{
		Lazy: true, CAFile: s.caFile, PlainToken: s.plainToken, Dir: s.dir,
		Timeout: m.limits.timeout, MaxResponse: m.limits.responseBytes, MaxEntries: max(m.limits.entries, mostEntries),
		Stderr: func(line string) { c.warn("%s says: %s", m.path, line) },
	}
	if s.tokenFile != "" {
		token, err := readToken(s.tokenFile)
		if err != nil {
			return nil, usageError("%s: token_file: %w", m.said, err)
		}
		opt.Token = token
	}
	m.identity = s.identity(opt.Token)
	var host *remote.Host
	var err error
	if s.url != "" {
		host, err = remote.Dial(ctx, s.url, opt)
	} else {
		host, err = remote.Spawn(ctx, s.command, opt)
	}
	if err != nil {
		return nil, usageError("%s: %w", m.said, err)
	}
	return host, nil
}

const maxToken = 4 << 10 // bytes of a file

// readToken reads a file that holds a token alone and that others cannot read.
// Its errors quote nothing of it.
func readToken(path string) (string, error) {
	text, err := ownfile.Read(path, maxToken, ownfile.Secret)
	if err != nil {
		return "", fmt.Errorf("%s: %w", path, reason(err))
	}
	token := strings.TrimSpace(string(text))
	if token == "" || strings.ContainsAny(token, " \t\r\n") {
		return "", fmt.Errorf("%s: expected a token and nothing else", path)
	}
	return token, nil
}

// reason returns what is wrong with a file whose name is told already.
func reason(err error) error {
	var named *os.PathError
	if errors.As(err, &named) {
		return named.Err
	}
	return err
}

// identity says which Host it is, and as whom it is asked.
func (s *hostSource) identity(token string) string {
	if s.url == "" {
		return strings.Join(append([]string{stdioPrefix, s.dir}, s.command...), "\x00")
	}
	digest := sha256.Sum256([]byte(token))
	return s.url + "\x00" + hex.EncodeToString(digest[:])
}

// How long Hosts are waited for when a command starts, those that it is not about
// too, and how long it takes until somebody at a terminal is told that they are.
const (
	reachWithin = 5 * time.Second
	otherWithin = 300 * time.Millisecond
	sayAfter    = 500 * time.Millisecond
)

// patience returns how long a Host is waited for when the command starts, and
// whether the command is about something in another mount.
func (c *cli) patience(m *mount) (within time.Duration, other bool) {
	within = reachWithin
	if m.limits.timeout > 0 {
		within = min(within, m.limits.timeout)
	}
	target := c.target()
	holds := func(name string) bool { // of an operation
		path, _, _ := strings.Cut(name, "#")
		return m.holds(path)
	}
	other = !c.whole && !m.holds(target) && !slices.ContainsFunc(c.Grant, holds) && !slices.ContainsFunc(c.Intent, holds) &&
		slices.ContainsFunc(c.mounted, func(o mount) bool { return o.holds(target) })
	if other {
		within = min(within, otherWithin)
	}
	return within, other
}

// mountHosts mounts Hosts, all at once. One that cannot be reached stays mounted,
// is said and, while the command goes on, asked again; but a command that is about
// something in it, or about all, fails.
func (c *cli) mountHosts(ctx context.Context, cl *client.Client, list []*mount, hosts []*remote.Host, resting *sync.WaitGroup) error {
	if len(list) == 0 {
		return nil
	}
	var waiting sync.WaitGroup
	failed := make([]error, len(list))
	done := c.sayWaiting(list)
	for i := range list {
		waiting.Go(func() {
			within, _ := c.patience(list[i])
			asking, cancel := context.WithTimeout(ctx, within)
			defer cancel()
			started := time.Now()
			failed[i] = cl.Mount(asking, list[i].path, hosts[i], list[i].options())
			if !c.afresh {
				return
			}
			list[i].asked = started
			if failed[i] == nil && list[i].status(cl).Refreshed.Before(started) { // it was kept
				failed[i] = cl.Refresh(asking, list[i].path)
			}
		})
	}
	waiting.Wait()
	done()
	if ctx.Err() != nil {
		return &exitError{exitUnavailable, errors.New("interrupted")}
	}
	for i, m := range list {
		if !m.trusted && c.mode == serving {
			c.warn("%s: nobody vouches for this Host, so each of its calls has to be approved; --trust %s, or trusted = true in a mounts file, vouches for it", m.path, m.path)
		}
		within, other := c.patience(m)
		why, err := c.judge(cl, m, failed[i])
		late := errors.Is(failed[i], context.DeadlineExceeded)
		switch {
		case err != nil:
			return err
		case why != "" && late && other: // what it would have answered makes no difference
			m.trouble = why
			resting.Go(func() { c.keepAsking(ctx, cl, m) })
			continue
		case why == "":
			c.checkRules(cl, m)
			continue
		}
		if late {
			why = fmt.Sprintf("it has not answered within %s", within)
			if answers(hosts[i]) {
				why = fmt.Sprintf("it answers, but has not told its whole tree within %s", within)
			}
		}
		m.trouble = why
		problem := fmt.Errorf("%s: the Host at %s cannot be reached: %s", m.path, m.world, strings.TrimPrefix(why, "the Host cannot be reached: "))
		if c.whole || m.holds(c.target()) {
			return &exitError{exitUnavailable, problem}
		}
		c.warn("%s", problem)
		resting.Go(func() { c.keepAsking(ctx, cl, m) })
	}
	return nil
}

// answers reports whether a Host is connected to. It is asked nothing.
func answers(host *remote.Host) bool {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := host.Capabilities(ctx)
	return err == nil
}

// judge tells what came of mounting a Host: why it cannot be reached, or an error
// of whoever mounted it. A Host that answered, if not all of it well, has been
// reached.
func (c *cli) judge(cl *client.Client, m *mount, err error) (why string, usage error) {
	var failure *wip.Failure
	switch {
	case err == nil:
		return "", nil
	case errors.Is(err, context.DeadlineExceeded):
		why = "it has not answered in time"
	case errors.As(err, &failure):
		why = m.host.trouble(failure, "token_file in a file for --mounts")
	}
	if at := m.status(cl).Refreshed; why != "" && (at.IsZero() || at.Before(m.asked)) {
		return why, nil
	}
	if of := (*space.Error)(nil); why == "" && !errors.As(err, &of) { // it is not mounted at all
		return "", mountError(*m, err)
	}
	for _, problem := range flatten(err) {
		c.warn("%s", audit.Describe(problem))
	}
	return "", nil
}

// trouble says why a Host cannot be had, in our own words or the system's: what a
// Host says of its failures is not repeated. how says where a token is given.
func (s *hostSource) trouble(f *wip.Failure, how string) string {
	own := f.Class == wip.Internal || f.Err != nil
	switch {
	case !own:
		return audit.Describe(f)
	case errors.Is(f, remote.ErrToken) && s.tokenFile == "":
		return "the Host wants a token: " + how
	case f.Err == nil:
		return f.Message
	}
	why := audit.Describe(f.Err)
	if strings.HasPrefix(why, f.Message) {
		return why
	}
	return f.Message + ": " + why
}

// flatten returns the errors that were joined into one.
func flatten(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var list []error
		for _, e := range joined.Unwrap() {
			list = append(list, flatten(e)...)
		}
		return list
	}
	return []error{err}
}

// sayWaiting tells somebody at a terminal what is waited for, if it takes long.
func (c *cli) sayWaiting(list []*mount) (done func()) {
	if !isTerminal(c.io.err) {
		return func() {}
	}
	var paths []string
	for _, m := range list {
		paths = append(paths, m.path)
	}
	var mu sync.Mutex
	said, over := false, false
	t := time.AfterFunc(sayAfter, func() {
		mu.Lock()
		defer mu.Unlock()
		if !over {
			said = true
			fmt.Fprintf(c.io.err, "\r\033[Kwaiting for %s", printable(strings.Join(paths, ", ")))
		}
	})
	return func() {
		t.Stop()
		mu.Lock()
		defer mu.Unlock()
		if over = true; said {
			fmt.Fprint(c.io.err, "\r\033[K")
		}
	}
}

// How often a Host that could not be reached is asked again.
const (
	firstAsked = time.Second
	lastAsked  = time.Minute
	askWithin  = 30 * time.Second
)

// keepAsking asks a Host again, less and less often, until it has been reached or
// ctx ends.
func (c *cli) keepAsking(ctx context.Context, cl *client.Client, m *mount) {
	for wait := firstAsked; ; wait = min(2*wait, lastAsked) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		asking, cancel := context.WithTimeout(ctx, askWithin)
		err := cl.Refresh(asking, m.path)
		cancel()
		if ctx.Err() != nil {
			return
		}
		if why, _ := c.judge(cl, m, err); why == "" {
			c.warn("%s: the Host at %s has been reached", m.path, m.world)
			c.checkRules(cl, m)
			return
		}
	}
}

// options returns how the mount is presented, believed and bounded.
func (m *mount) options() *client.MountOptions {
	return &client.MountOptions{
		Title: m.title, Summary: m.summary, Trusted: m.trusted, Policy: m.policy, Identity: m.identity,
		Limits: resilience.Config{
			MaxConcurrent: m.limits.atOnce, Rate: m.limits.perSecond, Burst: int(math.Ceil(m.limits.perSecond)),
			IdempotencyKeys: m.limits.keys,
		},
		MaxEntries: m.limits.entries,
	}
}

// status returns what the client knows of the mount.
func (m *mount) status(cl *client.Client) client.MountStatus {
	for _, s := range cl.Mounts() {
		if s.Path == m.path {
			return s
		}
	}
	return client.MountStatus{}
}

// checkRules says which of the mount's rules mean nothing that its Host is known
// to have: one that was to hide something would be passed over without a word.
// What its documents declare counts, as most entries are not in the tree.
func (c *cli) checkRules(cl *client.Client, m *mount) {
	if m.policy.Allow == nil && m.policy.Deny == nil {
		return
	}
	var declared []string
	for _, i := range m.interfaces(cl) {
		declared = append(declared, i.Name+".*")
		for _, op := range i.Operations {
			declared = append(declared, i.Name+"."+op.Name)
		}
	}
	for _, list := range []struct {
		key   string
		names []string
	}{{"allow", m.policy.Allow}, {"deny", m.policy.Deny}} {
		for _, name := range list.names {
			if !slices.Contains(declared, name) {
				c.warn("%s: %s lists %s, which no document that its Host's tree names declares; entries that are fetched later may have it", m.said, list.key, name)
			}
		}
	}
}

// interfaces returns what the documents declare that the mount's tree names, those
// that they import too. Nothing is asked for it.
func (m *mount) interfaces(cl *client.Client) []*idl.Interface {
	var list []*idl.Interface
	seen := map[*idl.Document]bool{}
	var declare func(d *idl.Document)
	declare = func(d *idl.Document) {
		if seen[d] {
			return
		}
		seen[d] = true
		list = append(list, d.Interfaces...)
		for _, other := range d.Imports {
			declare(other)
		}
	}
	for _, op := range m.operations(cl) {
		for _, i := range op.Node.Interfaces {
			declare(i.Document)
		}
	}
	return list
}

// operations returns what can be discovered in the mount, by anybody. Nothing is
// asked for it.
func (m *mount) operations(cl *client.Client) []client.Explained {
	list, _ := cl.Explain(context.Background(), &policy.Principal{}, "/") // which is always there
	return slices.DeleteFunc(list, func(e client.Explained) bool { return !m.holds(e.Node.Path) })
}

// closeHosts ends connections, and children with them.
func closeHosts(hosts []*remote.Host) {
	var closing sync.WaitGroup
	for _, h := range hosts {
		if h != nil {
			closing.Go(func() { h.Close() })
		}
	}
	closing.Wait()
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/audit"
	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/client/remote"
	"github.com/wipagent/wipagent/objects"
	"github.com/wipagent/wipagent/objects/world"
	"github.com/wipagent/wipagent/space"
)

// mount is something to mount, and where.
type mount struct {
	path string
	// world is the world's name or, of a Host, what stands for it in words.
	world string
	host  *hostSource // nil for a world in this process
	said  string      // where the mount stands, for errors
	flags *cli        // those that go with the world

	title, summary string
	trust          *bool     // what a file says
	trouble        string    // why its Host could not be reached when it was mounted
	asked          time.Time // when its Host was asked anew; zero if what was kept will do
	trusted        bool
	policy         policy.Mount
	limits         mountLimits
	identity       string // which Host it is, for what is kept of it
}

// mountLimits bound what a Host is asked and may answer; 0 is the default.
type mountLimits struct {
	timeout       time.Duration // of a request
	atOnce        int           // requests
	perSecond     float64       // requests
	entries       int           // of its tree
	responseBytes int           // of an answer
	keys          bool          // calls with a key may be repeated
}

// source returns the mount's Host, made if there is none yet.
func (m *mount) source() *hostSource {
	if m.host == nil {
		m.host = &hostSource{}
	}
	return m.host
}

// mounts returns what is to be mounted. The flags that go with a world go with
// --world; a mount has what its name says, or its file.
func (c *cli) mounts() ([]mount, error) {
	if c.mounted != nil {
		return c.mounted, nil
	}
	file := c.Mounts
	if file == "" && c.World == "" && len(c.Mount) == 0 && !c.demo {
		var err error
		if file, err = c.defaultMounts(); err != nil {
			return nil, err
		}
	}
	var list []mount
	if c.World != "" || len(c.Mount) == 0 && file == "" {
		list = append(list, mount{path: gridPath, world: c.worldName(), trusted: true, flags: c})
	}
	for _, words := range c.Mount {
		at, name, ok := strings.Cut(words, "=")
		if !ok || at == "" || name == "" {
			return nil, usageError("--mount %q: expected PATH=WORLD or PATH=host:URL, such as /bots/anna=grid:anna", withoutUser(words))
		}
		m := mount{path: at, world: name, trusted: true}
		if address, ok := strings.CutPrefix(name, hostPrefix); ok {
			m.host, m.trusted = parseHost(address), slices.Contains(c.Trust, at)
			m.world = m.host.shown()
		}
		m.said = fmt.Sprintf("--mount %q", at+"="+withoutUser(m.world))
		list = append(list, m)
	}
	for _, at := range c.Trust {
		if !slices.ContainsFunc(list, func(m mount) bool { return m.path == at && m.host != nil }) {
			return nil, usageError("--trust %q: expected the path of a Host that --mount has; a mounts file says trusted = true", at)
		}
	}
	if file != "" {
		more, err := readMounts(file)
		if err != nil {
			return nil, err
		}
		if len(more) == 0 && len(list) == 0 {
			return nil, usageError("%s: found no mount, expected [[mount]]", file)
		}
		list = append(list, more...)
	}
	for i := range list {
		m := &list[i]
		if other := slices.IndexFunc(list[:i], func(o mount) bool { return o.path == m.path }); other >= 0 {
			return nil, usageError("%s: %s is mounted at %s already", m.said, withoutUser(list[other].world), m.path)
		}
		if m.flags == nil {
			bare := *c
			bare.worldFlags, bare.gridFlags, bare.mountedAt = worldFlags{}, gridFlags{}, m.said
			m.flags = &bare
		}
	}
	if err := checkWorlds(list); err != nil {
		return nil, err
	}
	c.mounted = list
	return list, nil
}

// checkWorlds reports what is wrong with any of the worlds before the first is
// loaded. An account that is to log in twice would throw itself out.
func checkWorlds(list []mount) error {
	accounts := map[string]mount{}
	for _, m := range list {
		if m.host != nil {
			continue
		}
		if err := m.flags.checkWorld(m.world); err != nil {
			return err
		}
		if !isGrid(m.world) {
			continue
		}
		g, _, err := m.flags.gridOf(m.world)
		if err != nil {
			return err
		}
		who := strings.ToLower(g.grid.LoginURI + "\x00" + g.account.First + "\x00" + g.account.Last)
		if other, ok := accounts[who]; ok {
			return usageError("%s and %s are the same account, %s %s on %s",
				m.flags.named(m.world), other.flags.named(other.world), g.account.First, g.account.Last, g.where())
		}
		accounts[who] = m
	}
	return nil
}

// named returns a world's name and where it was given, for an error.
func (c *cli) named(world string) string {
	return cmp.Or(c.mountedAt, fmt.Sprintf("--world %q", withoutUser(world)))
}

// target returns the path that the command is about; empty if it is about no
// one place.
func (c *cli) target() string {
	at, _, _ := strings.Cut(cmp.Or(c.Inspect.Target, c.Invoke.Target, c.Policy.Explain.Target, c.Discover.Scope), "#")
	return at
}

// holds reports whether a path lies in the mount.
func (m *mount) holds(path string) bool {
	return path == m.path || strings.HasPrefix(path, strings.TrimSuffix(m.path, "/")+"/")
}

// mountError says of a mount what is wrong with where it is put, or why its world
// has no tree.
func mountError(m mount, err error) error {
	if m.said != "" {
		return usageError("%s: %w", m.said, err)
	}
	return &exitError{exitUnavailable, err}
}

// open returns a client with what is to be mounted, each a Host of its own. The
// worlds stand or move, and connections are there, until ctx ends; wait then
// waits until all has come to rest, as a logout does.
func (c *cli) open(ctx context.Context, log *audit.Log) (cl *client.Client, wait func(), err error) {
	var resting sync.WaitGroup
	c.live = &sessions{}
	list, err := c.mounts()
	if err != nil {
		return nil, resting.Wait, err
	}
	var far, near []*mount
	var hosts []*remote.Host
	for i := range list {
		m := &list[i]
		if at := (&mount{path: client.ArtifactsPath}); c.artifacts != nil && (m.holds(at.path) || at.holds(m.path)) {
			closeHosts(hosts)
			return nil, resting.Wait, usageError("%s: results that are too large for an answer are kept at %s (see --artifacts); expected another path", m.said, at.path)
		}
		if m.host == nil {
			near = append(near, m)
			continue
		}
		host, err := c.connect(ctx, m) // which asks nothing: what is wrong is said before anything takes long
		if err != nil {
			closeHosts(hosts)
			return nil, resting.Wait, err
		}
		far, hosts = append(far, m), append(hosts, host)
	}
	kept, err := c.openStore(len(far) > 0)
	if err != nil {
		closeHosts(hosts)
		return nil, resting.Wait, err
	}
	cfg := &client.Config{Audit: log}
	if len(far) > 0 || c.anyway {
		cfg.Artifacts = c.artifacts
	}
	if kept != nil {
		cfg.Space = &space.Config{Store: kept}
	}
	opened := client.New(cfg)
	c.watch(opened)
	resting.Go(func() {
		if c.lasting || c.mode == serving {
			opened.Keep(ctx)
		}
		<-ctx.Done()
		closeHosts(hosts)
		c.closeStore(kept)
	})
	if err := c.mountWorlds(ctx, opened, near, &resting); err != nil {
		return nil, resting.Wait, err
	}
	if err := c.mountHosts(ctx, opened, far, hosts, &resting); err != nil {
		return nil, resting.Wait, err
	}
	return opened, resting.Wait, c.checkNames(ctx, opened)
}

// mountWorlds loads worlds and mounts them.
func (c *cli) mountWorlds(ctx context.Context, cl *client.Client, list []*mount, resting *sync.WaitGroup) error {
	worlds, failed := make([]*world.World, len(list)), make([]error, len(list))
	var loading sync.WaitGroup
	for i, m := range list { // at once, as a grid takes its time
		worlds[i] = world.New()
		load := func() {
			failed[i] = m.flags.load(ctx, m.world, worlds[i], resting)
			var e *exitError
			if errors.As(failed[i], &e) && e.err != nil && m.said != "" {
				failed[i] = &exitError{e.code, fmt.Errorf("%s: %w", m.said, e.err)}
			}
		}
		if len(list) == 1 || c.mode == serving { // nothing takes long, or passwords are asked for
			load()
		} else {
			loading.Go(load)
		}
	}
	loading.Wait()
	if err := cmp.Or(failed...); err != nil {
		return err
	}
	for i, m := range list {
		if m.title == "" && m.path == gridPath {
			m.title = "Grid"
		}
		m.title = cmp.Or(m.title, path.Base(m.path))
		m.summary = cmp.Or(m.summary, "A virtual world, as this session has observed it.")
		if err := cl.Mount(ctx, m.path, objects.New(worlds[i], nil), m.options()); err != nil {
			return mountError(*m, err)
		}
		c.checkRules(cl, m)
	}
	return nil
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/audit"
	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/objects"
	"github.com/wipagent/wipagent/objects/source/archive"
	"github.com/wipagent/wipagent/objects/source/demo"
	"github.com/wipagent/wipagent/objects/world"
)

// worldFlags choose the world.
type worldFlags struct {
	World     string   `help:"The world: demo, an OpenSimulator region archive FILE.oar, a recording FILE.jsonl, or a live grid: grid:NAME (see login --help) or grid:LOGIN-URI. Default: demo." placeholder:"demo|FILE|grid:NAME"`
	Mount     []string `help:"Mount a further world at a path, as /bots/anna=grid:anna. May be repeated; then --world is mounted only if it is given, at /grid." sep:"none" placeholder:"PATH=WORLD"`
	Inventory string   `help:"An OpenSimulator inventory archive to go with the region archive." placeholder:"FILE.iar"`
	Region    string   `help:"Which region of an archive that holds several: its name or UUID." placeholder:"NAME"`
	At        string   `help:"Where the observer stands in an archive, in region metres. Default: the region's centre, on the ground." placeholder:"X,Y,Z"`
	Speed     *float64 `help:"How fast a recording plays: 0 is at once, 1 is as it was recorded. Default: 1 for serve, 0 for all else." placeholder:"FACTOR"`
}

// given returns the flags that were given, as words of a command line.
func (f worldFlags) given() []string {
	var list []string
	add := func(flag, value string) {
		if value != "" {
			list = append(list, flag, value)
		}
	}
	add("--world", f.World)
	for _, m := range f.Mount {
		add("--mount", m)
	}
	add("--inventory", f.Inventory)
	add("--region", f.Region)
	add("--at", f.At)
	if f.Speed != nil {
		add("--speed", strconv.FormatFloat(*f.Speed, 'g', -1, 64))
	}
	return list
}

// callerFlags say on whose behalf a call is made.
type callerFlags struct {
	As     string   `default:"local_operator" enum:"${audiences}" help:"Who calls: ${enum}." placeholder:"AUDIENCE"`
	Grant  []string `help:"An operation that a scheduler_run may call. May be repeated." sep:"none" placeholder:"PATH#OPERATION"`
	Intent []string `help:"Narrow the caller to this operation. May be repeated." sep:"none" placeholder:"PATH#OPERATION"`
}

// audiences is what --as accepts.
func audiences() string { return strings.Join(idl.AudienceNames(), ",") }

// principal returns the caller that the flags describe.
func (f callerFlags) principal() *policy.Principal {
	audience, ok := idl.ParseAudience(f.As)
	if !ok {
		panic("the parser let an unknown audience pass")
	}
	return &policy.Principal{ID: "cli:" + f.As, Audience: audience, Grants: f.Grant, Intent: f.Intent}
}

// words returns the flags as they were given, for a command that a person can
// paste to run in the same world on the same behalf.
func (c *cli) words() []string {
	var list []string
	add := func(flag, value, unless string) {
		if value != unless {
			list = append(list, flag, value)
		}
	}
	list = append(list, c.worldFlags.given()...)
	add("--as", c.As, idl.LocalOperator.String())
	for _, name := range c.Grant {
		add("--grant", name, "")
	}
	for _, name := range c.Intent {
		add("--intent", name, "")
	}
	return append(list, c.gridFlags.given()...)
}

// checkNames refuses a grant or an intent that names no operation of the
// opened world: it would be ignored without a word.
func (f callerFlags) checkNames(ctx context.Context, c *client.Client) error {
	if len(f.Grant) > 0 && f.As != idl.SchedulerRun.String() {
		return usageError("--grant goes with --as %s; the other audiences need no grant", idl.SchedulerRun)
	}
	operator := &policy.Principal{ID: "cli:flags", Audience: idl.LocalOperator}
	for flag, names := range map[string][]string{"--grant": f.Grant, "--intent": f.Intent} {
		for _, name := range names {
			found, err := c.Inspect(ctx, operator, name)
			if err != nil || !found.Only {
				return usageError("%s %q names no operation; expected PATH#OPERATION, such as /grid/inventory#inventory_search", flag, name)
			}
		}
	}
	return nil
}

// gridPath is where the grid is mounted.
const gridPath = "/grid"

// worldName is the world that --world names.
func (f worldFlags) worldName() string { return cmp.Or(f.World, "demo") }

// mount is a world and where it is mounted.
type mount struct {
	path, world string
	flags       *cli // those that go with the world
}

// mounts returns what is to be mounted. The flags that go with a world go with
// --world; a mount has what its name says.
func (c *cli) mounts() ([]mount, error) {
	var list []mount
	if c.World != "" || len(c.Mount) == 0 {
		list = append(list, mount{gridPath, c.worldName(), c})
	}
	for _, m := range c.Mount {
		path, name, ok := strings.Cut(m, "=")
		if !ok || path == "" || name == "" {
			return nil, usageError("--mount %q: expected PATH=WORLD, such as /bots/anna=grid:anna", withoutUser(m))
		}
		if slices.ContainsFunc(list, func(other mount) bool { return other.path == path }) {
			return nil, usageError("--mount %q: there is a world at %s already", withoutUser(m), path)
		}
		bare := *c
		bare.worldFlags, bare.gridFlags, bare.mountedAt = worldFlags{}, gridFlags{}, path
		list = append(list, mount{path, name, &bare})
	}
	return list, checkWorlds(list)
}

// checkWorlds reports what is wrong with any of the worlds before the first is
// loaded. An account that is to log in twice would throw itself out.
func checkWorlds(list []mount) error {
	accounts := map[string]mount{}
	for _, m := range list {
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

// named returns a world's name and the flag that it was given by, for an error.
func (c *cli) named(world string) string {
	if c.mountedAt != "" {
		return fmt.Sprintf("--mount %q", c.mountedAt+"="+withoutUser(world))
	}
	return fmt.Sprintf("--world %q", withoutUser(world))
}

// withoutUser returns a world's name without what stands before the host of an
// address, which may be a password that does not belong there.
func withoutUser(name string) string {
	before, rest, ok := strings.Cut(name, "://")
	if at := strings.LastIndexByte(rest, '@'); ok && at >= 0 {
		return before + "://" + rest[at+1:]
	}
	return name
}

// open returns a client with the chosen worlds mounted, each a Host of its own.
// The worlds stand or move until ctx ends; wait then waits until they have
// come to rest, as a logout does.
func (c *cli) open(ctx context.Context, log *audit.Log) (cl *client.Client, wait func(), err error) {
	var resting sync.WaitGroup
	c.live = &sessions{}
	mounts, err := c.mounts()
	if err != nil {
		return nil, resting.Wait, err
	}
	worlds, failed := make([]*world.World, len(mounts)), make([]error, len(mounts))
	var loading sync.WaitGroup
	for i, m := range mounts { // at once, as a grid takes its time
		worlds[i] = world.New()
		load := func() { failed[i] = m.flags.load(ctx, m.world, worlds[i], &resting) }
		if len(mounts) == 1 || c.mode == serving { // nothing takes long, or passwords are asked for
			load()
		} else {
			loading.Go(load)
		}
	}
	loading.Wait()
	if err := cmp.Or(failed...); err != nil {
		return nil, resting.Wait, err
	}
	cl = client.New(&client.Config{Audit: log, Artifacts: c.artifacts})
	for i, m := range mounts {
		title := "Grid"
		if m.path != gridPath {
			title = path.Base(m.path)
		}
		err := cl.Mount(ctx, m.path, objects.New(worlds[i], nil), &client.MountOptions{
			Title: title, Summary: "A virtual world, as this session has observed it.", Trusted: true,
		})
		if err != nil {
			return nil, resting.Wait, mountError(m, err)
		}
	}
	return cl, resting.Wait, c.checkNames(ctx, cl)
}

func mountError(m mount, err error) error {
	if m.path != gridPath {
		return usageError("%s: %w", m.flags.named(m.world), err)
	}
	return &exitError{exitUnavailable, err}
}

// What a world's name says of its kind; any other is demo.
func isGrid(name string) bool      { return strings.HasPrefix(name, gridPrefix) }
func isArchive(name string) bool   { return !isGrid(name) && hasExtension(name, ".oar") }
func isRecording(name string) bool { return !isGrid(name) && hasExtension(name, ".jsonl") }

// checkWorld reports what is wrong with a world's name, or with the flags that
// go with it.
func (c *cli) checkWorld(name string) error {
	if name != "demo" && !isArchive(name) && !isRecording(name) && !isGrid(name) {
		return usageError("%s is no world; expected demo, FILE.oar, FILE.jsonl, or grid:NAME", c.named(name))
	}
	for flag, given := range map[string]bool{"--inventory": c.Inventory != "", "--at": c.At != "", "--region": c.Region != ""} {
		if given && !isArchive(name) {
			return usageError("%s goes with an archive, and the world is %s; add --world FILE.oar", flag, withoutUser(name))
		}
	}
	if c.Speed != nil && !isRecording(name) {
		return usageError("--speed goes with a recording, and the world is %s; add --world FILE.jsonl", withoutUser(name))
	}
	if given := c.gridFlags.given(); len(given) > 0 && !isGrid(name) {
		return usageError("%s goes with a grid, and the world is %s; add --world grid:NAME", given[0], name)
	}
	if isGrid(name) {
		_, _, err := c.gridOf(name)
		return err
	}
	return nil
}

// load fills a world from what its name, which has been checked, says. What goes
// on in the background until ctx ends is added to resting.
func (c *cli) load(ctx context.Context, name string, w *world.World, resting *sync.WaitGroup) error {
	switch {
	case name == "demo":
		done := demo.New(nil).Start(ctx, w)
		resting.Go(func() { <-done })
		return nil
	case isArchive(name):
		return c.loadArchive(ctx, name, w)
	case isRecording(name):
		return c.loadRecording(ctx, name, w, resting)
	}
	return c.loadGrid(ctx, name, w, resting)
}

// hasExtension reports whether a file's name ends in ext, in any case.
func hasExtension(name, ext string) bool { return strings.HasSuffix(strings.ToLower(name), ext) }

func (c *cli) loadArchive(ctx context.Context, name string, w *world.World) error {
	cfg := archive.Config{Region: c.Region}
	if c.At != "" {
		at, err := parsePosition(c.At)
		if err != nil {
			return err
		}
		cfg.At = at
	}
	oar, err := openFile(name)
	if err != nil {
		return &exitError{exitUnavailable, err}
	}
	defer oar.Close()
	cfg.OAR = oar
	if c.Inventory != "" {
		iar, err := openFile(c.Inventory)
		if err != nil {
			return &exitError{exitUnavailable, err}
		}
		defer iar.Close()
		cfg.IAR = iar
	}
	done := c.showProgress(&cfg)
	summary, err := archive.Load(ctx, w, &cfg)
	done()
	var choice *archive.RegionError
	switch {
	case errors.As(err, &choice):
		return usageError("%w; choose by --region", err)
	case ctx.Err() != nil:
		return &exitError{exitUnavailable, errors.New("interrupted")}
	case err != nil:
		return &exitError{exitUnavailable, err}
	}
	for _, warning := range summary.Warnings {
		fmt.Fprintf(c.io.err, "wipagent: %s\n", printable(warning.String()))
	}
	if more := summary.WarningCount - len(summary.Warnings); more > 0 {
		fmt.Fprintf(c.io.err, "wipagent: %d more things were left out\n", more)
	}
	return nil
}

// openFile opens a regular file. Anything else could hold the program for
// ever, like a pipe that nobody writes to, or have no end, like a device.
func openFile(path string) (*os.File, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: found %s, expected a regular file", path, kindOf(info))
	}
	return os.Open(path)
}

func kindOf(info os.FileInfo) string {
	switch mode := info.Mode(); {
	case mode.IsDir():
		return "a directory"
	case mode&os.ModeNamedPipe != 0:
		return "a pipe"
	case mode&os.ModeDevice != 0:
		return "a device"
	}
	return "a special file"
}

// showProgress reports the reading of archives on a terminal, and nowhere
// else. The returned function removes the last report.
func (c *cli) showProgress(cfg *archive.Config) (done func()) {
	f := c.io.err
	if !isTerminal(f) {
		return func() {}
	}
	const every = 64 // entries between two reports
	cfg.Progress = func(p archive.Progress) {
		if p.Entries%every != 0 {
			return
		}
		percent := ""
		if p.Total > 0 {
			percent = fmt.Sprintf(", %d %%", 100*p.Read/p.Total)
		}
		fmt.Fprintf(f, "\r\033[Kreading %s: %d entries%s", p.File, p.Entries, percent)
	}
	return func() { fmt.Fprint(f, "\r\033[K") }
}

func parsePosition(s string) (*[3]float64, error) {
	parts := strings.Split(s, ",")
	if len(parts) != 3 {
		return nil, usageError("--at %q is no position; expected X,Y,Z in metres, such as 128,128,25", s)
	}
	var at [3]float64
	for i, part := range parts {
		v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err != nil || v != v || v < -1e6 || v > 1e6 {
			return nil, usageError("--at %q: %q is no number of metres", s, part)
		}
		at[i] = v
	}
	return &at, nil
}

// auditLog returns where a command's calls and faults are written. A single
// call at a prompt writes only its faults, unless a file is named.
// What closeLog returns, a record that could not be written, it has said.
func (c *cli) auditLog(use mode) (log *audit.Log, closeLog func() error, err error) {
	switch {
	case c.Log != "":
		if info, err := os.Stat(c.Log); err == nil && (info.IsDir() || info.Mode()&os.ModeNamedPipe != 0) {
			return nil, nil, &exitError{exitUnavailable, fmt.Errorf("%s: found %s, expected a file to append to", c.Log, kindOf(info))}
		}
		f, err := os.OpenFile(c.Log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, nil, &exitError{exitUnavailable, err}
		}
		w := &logFile{cli: c, f: f}
		return audit.New(w), w.close, nil
	case use == serving:
		return audit.New(c.io.err), func() error { return nil }, nil
	}
	return audit.NewFaults(c.io.err), func() error { return nil }, nil
}

// logFile is the file of the audit log. The first failure is said at once: a
// call must not wait for it, and a model is not told.
type logFile struct {
	cli *cli
	f   *os.File
	mu  sync.Mutex
	err error
}

// Write writes a record, and never fails to those who log.
func (l *logFile) Write(p []byte) (int, error) {
	_, err := l.f.Write(p)
	l.note(err)
	return len(p), nil
}

func (l *logFile) close() error {
	l.note(l.f.Close())
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

func (l *logFile) note(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil && l.err == nil {
		l.err = err
		l.cli.warn("the audit log: %v", err)
	}
}

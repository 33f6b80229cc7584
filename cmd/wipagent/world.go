package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/objects/source/archive"
	"github.com/wipagent/wipagent/objects/source/demo"
	"github.com/wipagent/wipagent/objects/world"
)

// worldFlags choose the world.
type worldFlags struct {
	World     string   `help:"The world: demo, an OpenSimulator region archive FILE.oar, a recording FILE.jsonl, or a live grid: grid:NAME (see login --help) or grid:LOGIN-URI. Default: demo." placeholder:"demo|FILE|grid:NAME"`
	Mount     []string `help:"Mount a world, or a Host elsewhere, at a path: /bots/anna=grid:anna, /issues=host:http://127.0.0.1:7070, or the command of one, /notes=host:stdio:COMMAND. May be repeated; then --world is mounted only if it is given, at /grid." sep:"none" placeholder:"PATH=WORLD|host:URL"`
	Mounts    string   `help:"Mount what a file lists, each with its own trust, policy, token and limits (see examples/mounts). Default: mounts.toml in the settings folder, if it is there and neither --world nor --mount is given." placeholder:"FILE"`
	Trust     []string `help:"Vouch for the Host that --mount puts at this path: what it says only reads is called without asking. May be repeated." sep:"none" placeholder:"PATH"`
	Store     string   `help:"Keep what is known of Hosts in this file, for the next run. Default: known.db in the cache folder for serve and repl if a Host is mounted, none for all else." placeholder:"FILE"`
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
	add("--mounts", f.Mounts)
	for _, path := range f.Trust {
		add("--trust", path)
	}
	add("--store", f.Store)
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

// withoutUser returns a world's name without what stands before the host of an
// address, which may be a password that does not belong there.
func withoutUser(name string) string {
	before, rest, ok := strings.Cut(name, "://")
	if at := strings.LastIndexByte(rest, '@'); ok && at >= 0 {
		return before + "://" + rest[at+1:]
	}
	return name
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

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/wipagent/wipagent/objects/source/replay"
	"github.com/wipagent/wipagent/objects/world"
)

type recordCmd struct {
	Output  string         `short:"o" required:"" help:"Where to write the recording." placeholder:"FILE.jsonl"`
	For     *time.Duration `help:"Stop this long after the world is ready. Default: go on until interrupted, or until the world has come to rest." placeholder:"30s"`
	MaxSize byteSize       `default:"64MiB" help:"Stop before the file is larger than this; 1KiB to 1GiB." placeholder:"64MiB"`
	Force   bool           `help:"Replace a file that is there already, once the new recording is complete."`
}

// Help shows examples.
func (recordCmd) Help() string {
	return `A recording is text, one JSON object a line: what the session observed, and when. It has no password, no session
secret and nothing of what anybody said; it does have who was where, and the names of what the agent owns. An interrupt
(Ctrl-C) ends it cleanly. --world FILE.jsonl plays it.

It is of one world, and --for counts from when that is ready. Until it is complete it grows in FILE.part-NUMBER.jsonl; what
is left of one that broke off stays there.

Examples:
  wipagent record -o visit.jsonl --for 5m
  wipagent record --world region.oar --inventory things.iar -o region.jsonl
  wipagent invoke --world visit.jsonl /grid/region nearby_avatars
  wipagent serve --world visit.jsonl --speed 1`
}

// smallestSize is room for a header.
const smallestSize byteSize = 1 << 10

// Run runs the command.
func (r *recordCmd) Run(ctx context.Context, c *cli) error {
	// What has been recorded is kept too when the terminal goes away.
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGHUP)
	defer stop()
	switch {
	case !hasExtension(r.Output, ".jsonl"):
		return usageError("-o %q: expected a name that ends in .jsonl, by which --world knows a recording", r.Output)
	case r.For != nil && *r.For <= 0:
		return usageError("--for %v: expected a time above 0", *r.For)
	case r.MaxSize < smallestSize:
		return usageError("--max-size %s: expected at least %s", r.MaxSize, smallestSize)
	case len(c.Mount) > 0 || c.Mounts != "":
		flag := map[bool]string{true: "--mount", false: "--mounts"}[len(c.Mount) > 0]
		return usageError("%s goes with the verbs: a recording is of one world, which --world names", flag)
	}
	if err := c.checkWorld(c.worldName()); err != nil {
		return err
	}
	f, err := r.create(c.worldName())
	if err != nil {
		return err
	}
	recorder := replay.NewRecorder(f, &replay.RecorderConfig{World: worldName(c.worldName()), MaxSize: int64(r.MaxSize)})
	loaded, err := r.record(ctx, c, recorder)
	full := errors.Is(err, replay.ErrFull)
	if full {
		err = nil
	}
	err = cmp.Or(err, f.Sync(), f.Close())
	updates, size := recorder.Progress()
	switch {
	case !loaded || updates == 0: // there is no recording
		os.Remove(f.Name())
		return cmp.Or(err, error(&exitError{exitUnavailable, errors.New("nothing was recorded")}))
	case err == nil:
		err = r.place(f.Name())
	}
	if err != nil {
		return r.brokenOff(filepath.Clean(f.Name()), updates, byteSize(size), err)
	}
	fmt.Fprintf(c.io.out, "recorded %d updates, %s, in %s\n", updates, byteSize(size), printable(r.Output))
	if full {
		c.warn("stopped: %v, %s", replay.ErrFull, r.MaxSize)
	}
	return nil
}

// brokenOff says what there is of a recording that is not complete.
func (r *recordCmd) brokenOff(part string, updates int, size byteSize, err error) error {
	var inner *fs.PathError // which names the part
	text := err.Error()
	if errors.As(err, &inner) {
		text = "writing the recording: " + inner.Err.Error()
	}
	text = fmt.Sprintf("%s; %d updates, %s, are in %s", text, updates, size, part)
	if _, err := os.Lstat(r.Output); err == nil {
		text += fmt.Sprintf(", and %s is as it was", r.Output)
	}
	return errors.New(text)
}

// place gives a complete recording its name.
func (r *recordCmd) place(part string) error {
	if !r.Force {
		// A link, other than a renaming, replaces nothing that has come to be
		// there meanwhile. Where there are no links, a short race is left.
		err := os.Link(part, r.Output)
		if err == nil {
			return os.Remove(part)
		}
		if _, there := os.Lstat(r.Output); there == nil {
			return fmt.Errorf("%s is there by now; add --force to replace it", r.Output)
		}
	}
	return os.Rename(part, r.Output)
}

// record records until there is a reason to stop. Loaded says that the world
// could be had.
func (r *recordCmd) record(ctx context.Context, c *cli, recorder *replay.Recorder) (loaded bool, err error) {
	// The world outlives an interrupt until the recording is closed, so that
	// the session's end is no part of it.
	worldCtx, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	w := world.New()
	remove := w.Tap(recorder.Observe)
	keep := context.AfterFunc(ctx, stop) // while loading, an interrupt ends that
	var resting sync.WaitGroup
	err = c.load(worldCtx, c.worldName(), w, &resting)
	if interrupted := !keep(); err == nil && !interrupted {
		loaded = true
		rested := make(chan struct{})
		go func() { resting.Wait(); close(rested) }()
		r.wait(ctx, c, recorder, rested)
	}
	remove()
	closed := recorder.Close()
	stop()
	resting.Wait()
	switch {
	case err != nil:
		return false, err
	case !loaded:
		return false, &exitError{exitUnavailable, errors.New("interrupted")}
	}
	return true, closed
}

// wait returns when it is time to stop, at the latest when the world has come
// to rest. On a terminal it shows how far the recording is.
func (r *recordCmd) wait(ctx context.Context, c *cli, recorder *replay.Recorder, rested <-chan struct{}) {
	var enough <-chan time.Time // never, if there is no limit
	if r.For != nil {
		timer := time.NewTimer(*r.For)
		defer timer.Stop()
		enough = timer.C
	}
	show, done := r.progress(c)
	defer done()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	began := time.Now()
	for {
		updates, size := recorder.Progress()
		show(time.Since(began), updates, size)
		select {
		case <-ctx.Done():
			return
		case <-enough:
			return
		case <-rested:
			return
		case <-recorder.Done():
			return
		case <-tick.C:
		}
	}
}

// progress returns functions that show, and in the end remove, a line on a
// terminal; elsewhere they do nothing.
func (r *recordCmd) progress(c *cli) (show func(d time.Duration, updates int, size int64), done func()) {
	f, ok := c.io.err.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return func(time.Duration, int, int64) {}, func() {}
	}
	show = func(d time.Duration, updates int, size int64) {
		fmt.Fprintf(f, "\r\033[Krecording: %v, %d updates, %s; Ctrl-C ends it", d.Truncate(time.Second), updates, byteSize(size))
	}
	return show, func() { fmt.Fprint(f, "\r\033[K") }
}

// create makes a file beside the one that is wanted, for its owner alone: what
// is there stays as it is until the recording is complete.
func (r *recordCmd) create(worldName string) (*os.File, error) {
	info, err := os.Lstat(r.Output)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return nil, &exitError{exitUnavailable, fmt.Errorf("%s: found %s, expected a name for a new file", r.Output, kindOf(info))}
	case err == nil && !r.Force:
		return nil, &exitError{exitUnavailable, fmt.Errorf("%s is there already; add --force to replace it", r.Output)}
	case err == nil:
		if source, err := os.Stat(worldName); err == nil && os.SameFile(source, info) {
			return nil, usageError("-o %s is the world itself", r.Output)
		}
	}
	dir, name := filepath.Split(r.Output)
	f, err := os.CreateTemp(cmp.Or(dir, "."), name[:len(name)-len(".jsonl")]+".part-*.jsonl") // of mode 0600
	if err != nil {
		return nil, &exitError{exitUnavailable, err}
	}
	return f, nil
}

// worldName returns what a recording says of where it is from: of a file its
// name without folders, of an address nothing that could be a secret.
func worldName(name string) string {
	grid, isGrid := strings.CutPrefix(name, "grid:")
	if !isGrid {
		return filepath.Base(name)
	}
	if u, err := url.Parse(grid); err == nil && u.Host != "" {
		return "grid:" + u.Scheme + "://" + u.Host
	}
	return name
}

// byteSize is a number of bytes, written as 64MiB.
type byteSize int64

var byteUnits = []struct {
	name string
	size byteSize
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"", 1}}

// UnmarshalText reads a size for a file.
func (s *byteSize) UnmarshalText(text []byte) error {
	for _, unit := range byteUnits {
		digits, ok := strings.CutSuffix(string(text), unit.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
		if err != nil || n <= 0 || n > replay.MaxFile/int64(unit.size) {
			break
		}
		*s = byteSize(n) * unit.size
		return nil
	}
	return fmt.Errorf("found %q, expected a size such as 500KiB or 64MiB, of at most 1GiB", text)
}

// String returns a size to read, in the unit that suits it.
func (s byteSize) String() string {
	for _, unit := range byteUnits[:3] {
		if s >= unit.size {
			return strings.TrimSuffix(strconv.FormatFloat(float64(s)/float64(unit.size), 'f', 1, 64), ".0") + " " + unit.name
		}
	}
	return strconv.FormatInt(int64(s), 10) + " bytes"
}

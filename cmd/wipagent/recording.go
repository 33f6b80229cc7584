package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/wipagent/wipagent/objects/source/replay"
	"github.com/wipagent/wipagent/objects/world"
)

// What --speed may be besides 0: beyond it nobody sees anything move.
const slowest, fastest = 0.001, 1e6

// speed returns how fast a recording is to be played; 0 is at once.
func (c *cli) speed() (float64, error) {
	switch {
	case c.Speed == nil && c.mode == serving:
		return 1, nil
	case c.Speed == nil:
		return 0, nil
	case *c.Speed != 0 && !(*c.Speed >= slowest && *c.Speed <= fastest):
		return 0, usageError("--speed %v: expected 0 for at once, or a factor from %v to %v", *c.Speed, slowest, fastest)
	}
	return *c.Speed, nil
}

// readyWithin is how long a model's client waits for the recorded session to be
// ready.
const readyWithin = time.Second

// loadRecording loads a recording, or begins to play it. A person's one call
// waits until the recorded session was ready; a model is told to come again.
func (c *cli) loadRecording(ctx context.Context, name string, w *world.World, resting *sync.WaitGroup) error {
	speed, err := c.speed()
	if err != nil {
		return err
	}
	f, err := openFile(name)
	if err != nil {
		return &exitError{exitUnavailable, err}
	}
	rec, err := replay.Open(ctx, f)
	if err == nil && speed == 0 {
		err = rec.Load(ctx, w, nil)
	}
	if err != nil {
		f.Close()
		if ctx.Err() != nil {
			err = errors.New("interrupted")
		}
		return &exitError{exitUnavailable, fmt.Errorf("%s: %w", name, err)}
	}
	if rec.CutOff {
		c.warn("%s: the last line is incomplete and was left out", name)
	}
	if speed == 0 {
		f.Close()
		if _, err := w.Fence(); err != nil {
			c.warn("%s: there is nothing to see at the recording's end: %v; --speed 1 plays what was before", name, err)
		}
		return nil
	}
	ready, ended := make(chan struct{}, 1), make(chan struct{})
	remove := w.Tap(func(u world.Update) {
		if _, ok := u.(world.RegionReady); ok {
			select {
			case ready <- struct{}{}:
			default:
			}
		}
	})
	resting.Go(func() {
		defer close(ended)
		defer f.Close()
		err := rec.Play(ctx, w, &replay.Config{Speed: speed})
		switch {
		case ctx.Err() != nil: // nobody looks any more
		case err != nil:
			c.warn("%s: %v", name, err)
		case c.mode == serving:
			c.warn("%s: the recording is at its end; the world stands still", name)
		}
	})
	var enough <-chan time.Time // never, for a person
	if c.mode == serving {
		enough = time.After(readyWithin)
	}
	select {
	case <-ready:
	case <-ended:
	case <-enough:
	}
	remove()
	return nil
}

// warn prints a line that is no result.
func (c *cli) warn(format string, args ...any) {
	fmt.Fprintf(c.io.err, "wipagent: %s\n", printable(fmt.Sprintf(format, args...)))
}

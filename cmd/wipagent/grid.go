package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/wipagent/wipagent/objects/source/session/login"
	"github.com/wipagent/wipagent/objects/world"

	live "github.com/wipagent/wipagent/objects/source/session"
)

// gridPrefix marks a world that is a live grid.
const gridPrefix = "grid:"

// How long a person's one call waits for a live grid: until the region has been
// seen, and then for the inventory, which may be large.
const (
	settleWithin = 90 * time.Second
	crawlWithin  = 20 * time.Second
)

// loadGrid logs in to a grid and stays until ctx ends. A person's one call
// waits until the region has told what it holds; a model is told to come
// again. What only describes operations needs no login.
func (c *cli) loadGrid(ctx context.Context, name string, w *world.World, resting *sync.WaitGroup) error {
	if c.mode == describing {
		return nil
	}
	cfg, err := c.sessionConfig(ctx, strings.TrimPrefix(name, gridPrefix))
	if err != nil {
		return err
	}
	crawled := make(chan struct{}, 1)
	show := c.showSession(cfg.where())
	cfg.Notify = func(n live.Notice) {
		show(n)
		if n.Kind == live.Crawled {
			select {
			case crawled <- struct{}{}:
			default:
			}
		}
	}
	cfg.Once = c.mode != serving
	s, err := live.New(&cfg.Config)
	if err != nil {
		return usageError("%s: %w", name, err)
	}
	ended := make(chan struct{})
	resting.Go(func() {
		defer close(ended)
		if err := s.Run(ctx, w); err != nil && c.mode == serving {
			c.warn("%s: the session is over: %s", cfg.where(), c.whyEnded(cfg, err))
		}
	})
	if c.mode == serving {
		return nil
	}
	settling, cancel := context.WithTimeout(ctx, settleWithin)
	defer cancel()
	if err := s.Settled(settling); err != nil {
		if ctx.Err() != nil {
			return &exitError{exitUnavailable, errors.New("interrupted")}
		}
		return &exitError{exitUnavailable, fmt.Errorf("%s: %s", cfg.where(), c.whyEnded(cfg, err))}
	}
	select {
	case <-crawled:
	case <-ended:
	case <-ctx.Done():
	case <-time.After(crawlWithin):
		c.warn("the inventory is still being fetched; what comes is incomplete, and says so")
	}
	return nil
}

// whyEnded says why a session is over, and what can be done about it.
func (c *cli) whyEnded(cfg *gridConfig, err error) string {
	var refused *login.Error
	switch {
	case errors.As(err, &refused):
		text := describeRefusal(refused)
		if advice := cfg.hint(refused.Reason); advice != "" {
			text += "; " + advice
		}
		return text
	case errors.Is(err, live.ErrUntrusted):
		return printable(err.Error()) + "; give the authority's certificate as ca_file of the grid in " + printable(cfg.path)
	case errors.Is(err, live.ErrElsewhere):
		return printable(err.Error()) + "; start again when nobody else uses the account"
	}
	return printable(err.Error())
}

// showSession returns what tells an operator on stderr how a session goes: a
// line for what matters, and on a terminal how far the inventory is.
func (c *cli) showSession(where string) func(live.Notice) {
	f, _ := c.io.err.(*os.File)
	terminal := f != nil && term.IsTerminal(int(f.Fd()))
	shown := false
	return func(n live.Notice) {
		if shown {
			fmt.Fprint(f, "\r\033[K")
			shown = false
		}
		switch n.Kind {
		case live.LoggingIn:
			c.sayWhile("logging in to %s", where)
		case live.LoggedIn:
			c.sayWhile("logged in")
		case live.Arrived:
			c.sayWhile("in %s", printable(n.Text))
		case live.Leaving:
			c.sayWhile("on the way to another region")
		case live.Crawling:
			if terminal {
				fmt.Fprintf(f, "\r\033[Kfetching the inventory: %d of %d folders", n.Done, n.Total)
				shown = true
			}
		case live.Crawled:
			if n.Done < n.Total {
				c.warn("%d of %d inventory folders could not be fetched", n.Total-n.Done, n.Total)
			}
		case live.Disconnected:
			c.warn("%s: disconnected: %s", where, cmp.Or(reasonOf(n.Err), "no reason given"))
		case live.LoggedOut:
			c.sayWhile("logged out")
		default:
			c.showLogin(n)
		}
	}
}

// sayWhile tells an operator about the course of things: while serving always,
// at a prompt only on a terminal, where somebody waits.
func (c *cli) sayWhile(format string, args ...any) {
	if f, ok := c.io.err.(*os.File); c.mode == serving || ok && term.IsTerminal(int(f.Fd())) {
		c.warn(format, args...)
	}
}

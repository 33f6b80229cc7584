package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

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
	cfg, config, err := c.gridOf(name)
	if err != nil {
		return err
	}
	if err := c.sessionConfig(ctx, cfg, config); err != nil {
		return err
	}
	who := cfg.who()
	if cfg.InventoryCache, err = config.InventoryCache(cfg.grid, &cfg.account); err != nil {
		c.warn("%s: the inventory is not kept between runs: %v", who, err)
	}
	crawled := make(chan struct{}, 1)
	show := c.showSession(who)
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
	began := make(chan bool, 1) // whether an end is told here, and not as the error of this function
	c.live.begin()
	resting.Go(func() {
		defer close(ended)
		if err := s.Run(ctx, w); err != nil {
			c.live.end()
			if <-began {
				c.warn("%s: the session is over: %s", who, c.whyEnded(cfg, err))
			}
		}
	})
	if c.mode == serving {
		began <- true
		return nil
	}
	settling, cancel := context.WithTimeout(ctx, settleWithin)
	defer cancel()
	err = s.Settled(settling)
	began <- err == nil
	interrupted := &exitError{exitUnavailable, errors.New("interrupted")}
	switch {
	case ctx.Err() != nil:
		return interrupted
	case errors.Is(err, context.DeadlineExceeded) && settling.Err() != nil:
		return &exitError{exitUnavailable, fmt.Errorf("%s: the region has not told what it holds in %s", who, settleWithin)}
	case err != nil:
		return &exitError{exitUnavailable, fmt.Errorf("%s: %s", who, c.whyEnded(cfg, err))}
	}
	select {
	case <-crawled:
	case <-ended:
	case <-ctx.Done():
		return interrupted
	case <-time.After(crawlWithin):
		c.warn("the inventory is still being fetched; what comes is incomplete, and says so")
	}
	return nil
}

// sessions counts the live sessions of a process. It is safe for concurrent
// use; a nil one counts nothing.
type sessions struct {
	mu          sync.Mutex
	begun, over int
}

func (s *sessions) begin() { s.count(1, 0) }

// end counts a session that has ended for good by itself.
func (s *sessions) end() { s.count(0, 1) }

func (s *sessions) count(begun, over int) {
	if s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.begun += begun
		s.over += over
	}
}

// allOver reports whether there were sessions and all have ended for good.
func (s *sessions) allOver() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begun > 0 && s.over == s.begun
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
func (c *cli) showSession(who string) func(live.Notice) {
	f, terminal := c.io.err, isTerminal(c.io.err)
	shown := false
	var lost error // why the session was lost
	return func(n live.Notice) {
		if shown {
			fmt.Fprint(f, "\r\033[K")
			shown = false
		}
		switch n.Kind {
		case live.LoggingIn:
			c.sayWhile("%s: logging in", who)
		case live.LoggedIn:
			c.sayWhile("%s: logged in", who)
		case live.Arrived:
			c.sayWhile("%s: in %s", who, printable(n.Text))
		case live.Leaving:
			c.sayWhile("%s: on the way to another region", who)
		case live.Crawling:
			if terminal {
				fmt.Fprintf(f, "\r\033[K%s: fetching the inventory: %d of %d folders", printable(who), n.Done, n.Total)
				shown = true
			}
		case live.Crawled:
			if n.Done < n.Total {
				c.warn("%s: %d of %d inventory folders could not be fetched", who, n.Total-n.Done, n.Total)
			}
		case live.Disconnected:
			lost = n.Err // which is told with what follows: another login, or the end
		case live.LoggedOut:
			c.sayWhile("%s: logged out", who)
		case live.Retrying:
			why := n.Err
			if why == nil && lost != nil {
				why = fmt.Errorf("disconnected: %s", reasonOf(lost))
			}
			c.showLogin(who, why, n)
		default:
			c.showLogin(who, nil, n)
		}
	}
}

// sayWhile tells an operator about the course of things: while serving always,
// at a prompt only on a terminal, where somebody waits.
func (c *cli) sayWhile(format string, args ...any) {
	if c.mode == serving || isTerminal(c.io.err) {
		c.warn(format, args...)
	}
}

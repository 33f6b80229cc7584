package main

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/wipagent/wipagent/space/store"
)

// storeWithin is how long another process may take to let go of a store.
const storeWithin = 200 * time.Millisecond

// storePath returns the file in which is kept what is known of Hosts, and whether
// the command line names it. It is in the cache folder, since all of it can be
// learned anew.
func (c *cli) storePath() (path string, named bool, err error) {
	if c.Store != "" {
		return c.Store, true, nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", false, err
	}
	return filepath.Join(dir, "wipagent", "known.db"), false, nil
}

// openStore opens the store if the command has one; nil if it has not. Another
// process that has it is no trouble: then nothing is kept by this one. Nor is one
// that nobody has named and that cannot be used.
func (c *cli) openStore(hosts bool) (*store.Store, error) {
	if !hosts || c.Store == "" && !c.lasting && c.mode != serving {
		return nil, nil
	}
	path, named, err := c.storePath()
	if err == nil {
		var s *store.Store
		if s, err = store.Open(path, store.Limits{Wait: storeWithin}); err == nil {
			return s, nil
		}
	}
	if named && !errors.Is(err, store.ErrInUse) {
		return nil, &exitError{exitUnavailable, err}
	}
	c.warn("what is learned of Hosts is not kept: %v", err)
	return nil, nil
}

// closeStore closes the store, if there is one.
func (c *cli) closeStore(s *store.Store) {
	if s == nil {
		return
	}
	if err := s.Close(); err != nil {
		c.warn("what was learned of Hosts was not kept: %v", err)
	}
}

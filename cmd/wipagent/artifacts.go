package main

import artifacts "github.com/wipagent/wipagent/client/artifact"

// keeping is where results are kept that are too large for an answer.
type keeping struct {
	artifacts *artifacts.Store // nil if none are kept
	anyway    bool             // also if no Host is mounted: what a world in this process answers always fits
}

// artifactFlags are those of commands that make more than one call: what one of
// them brings can be read by the next.
type artifactFlags struct {
	Artifacts string `help:"Keep results that are too large for an answer in this folder too, for 30 minutes; else 16 MiB of them in memory, if a Host is mounted that may have such." placeholder:"DIR"`
}

// keep gives the client that the command is about to open a place for results
// that are too large for an answer, until done is called.
func (f artifactFlags) keep(c *cli) (done func(), err error) {
	c.anyway = f.Artifacts != ""
	c.artifacts, err = artifacts.New(&artifacts.Config{Dir: f.Artifacts})
	if err != nil {
		return nil, &exitError{exitUnavailable, err}
	}
	return func() {
		if err := c.artifacts.Close(); err != nil {
			c.warn("removing artifacts: %v", err)
		}
	}, nil
}

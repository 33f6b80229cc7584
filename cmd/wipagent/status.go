package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/resilience"
)

type statusCmd struct{}

// Help shows examples.
func (statusCmd) Help() string {
	return `Each Host is asked now, for its whole tree. A live grid is not logged in to.

What --store has kept of a Host that cannot be reached is counted, and how old that is.

Exit codes: 0 all is well, 1 something is wrong with what a Host told, 2 the command line was wrong, 3 a Host cannot be reached.

Examples:
  wipagent status --mounts mounts.toml
  wipagent status --mount /issues=host:http://127.0.0.1:7070 --json`
}

// statusReport is what status tells, for machines.
type statusReport struct {
	Mounts []mountReport `json:"mounts"`
	Store  *storeReport  `json:"store,omitempty"`
}

type mountReport struct {
	client.MountStatus
	// Host is the world or where the Host is, without credentials.
	Host string `json:"host"`
	// Reached is absent of a grid, which was not asked.
	Reached    *bool  `json:"reached,omitempty"`
	Trouble    string `json:"trouble,omitempty"`
	AgeMillis  *int64 `json:"age_millis,omitempty"` // of the tree; absent if there is none
	Entries    int    `json:"entries"`              // that can be discovered
	Operations int    `json:"operations"`
}

type storeReport struct {
	Path  string `json:"path"`
	Bytes int64  `json:"bytes"` // of the file
}

// Run runs the command.
func (*statusCmd) Run(ctx context.Context, c *cli) error {
	c.afresh = true
	return c.with(ctx, describing, func(_ context.Context, s *session) error {
		report := s.status()
		if s.JSON {
			s.printJSON(report)
		} else {
			s.page().status(report)
		}
		worst := exitDone
		for _, m := range report.Mounts {
			switch {
			case m.Reached != nil && !*m.Reached:
				worst = exitUnavailable
			case m.Trouble != "":
				worst = max(worst, exitFailed)
			}
		}
		if worst != exitDone {
			return &exitError{code: worst}
		}
		return nil
	})
}

// status gathers how each mount is doing.
func (s *session) status() *statusReport {
	report := &statusReport{Mounts: []mountReport{}}
	for _, status := range s.client.Mounts() {
		r := mountReport{MountStatus: status}
		for i := range s.cli.mounted {
			m := &s.cli.mounted[i]
			if m.path != status.Path {
				continue
			}
			r.Host, r.Trouble = withoutUser(m.world), printable(cmp.Or(m.trouble, status.Trouble))
			if m.host != nil || !isGrid(m.world) {
				r.Reached = new(m.trouble == "")
			}
			seen := map[string]bool{}
			for _, op := range m.operations(s.client) {
				seen[op.Node.Path] = true
				r.Operations++
			}
			r.Entries = len(seen)
		}
		if !status.Refreshed.IsZero() {
			r.AgeMillis = new(time.Since(status.Refreshed).Milliseconds())
		}
		report.Mounts = append(report.Mounts, r)
	}
	if path, _, err := s.storePath(); err == nil {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			report.Store = &storeReport{path, info.Size()}
		}
	}
	return report
}

// status shows how each mount is doing.
func (p *page) status(r *statusReport) {
	rows := [][]string{{"MOUNT", "HOST", "TRUST", "REACHED", "TREE", "ENTRIES", "OPERATIONS", "BREAKER"}}
	for _, m := range r.Mounts {
		reached := "not asked"
		if m.Reached != nil {
			reached = yesOrNo(*m.Reached)
		}
		age := "none"
		if m.AgeMillis != nil {
			age = (time.Duration(*m.AgeMillis) * time.Millisecond).Round(time.Second).String() + " old"
		}
		trust := "untrusted"
		if m.Trusted {
			trust = "trusted"
		}
		breaker := "none"
		if m.State != nil {
			breaker = string(m.State.Breaker)
			if m.State.Breaker != resilience.Closed {
				breaker = fmt.Sprintf("%s after %d failures", breaker, m.State.Failures)
			}
		}
		rows = append(rows, []string{m.Path, cmp.Or(m.Host, "in this process"), trust, reached, age, fmt.Sprint(m.Entries), fmt.Sprint(m.Operations), breaker})
	}
	p.table(rows)
	for _, m := range r.Mounts {
		if m.Trouble != "" {
			p.line("%s: %s", m.Path, m.Trouble)
		}
	}
	if r.Store != nil {
		p.line("")
		p.line("known of Hosts is kept in %s (%s)", r.Store.Path, byteSize(r.Store.Bytes))
	}
}

func yesOrNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

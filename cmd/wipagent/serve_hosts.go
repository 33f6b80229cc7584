package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/wipagent/wipagent/client"
)

// hostsEach is how often it is looked whether a Host went down or came back: at
// what is known of it, without asking it.
const hostsEach = time.Second

// downAfter is after how many failures in a row a Host is said to be down: as many
// as there are attempts at a request that may be repeated.
const downAfter = 3

// watchHosts says when a Host goes down or comes back, until done is called.
func (s *session) watchHosts() (done func()) {
	if !slices.ContainsFunc(s.cli.mounted, func(m mount) bool { return m.host != nil }) {
		return func() {}
	}
	ctx, stop := context.WithCancel(context.Background())
	var watching sync.WaitGroup
	w := &hostWatch{say: s.warn, down: map[string]time.Time{}}
	w.look(s.client.Mounts(), true)
	watching.Go(func() {
		tick := time.NewTicker(hostsEach)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				w.look(s.client.Mounts(), false)
			}
		}
	})
	return func() {
		stop()
		watching.Wait()
	}
}

// hostWatch is which Hosts are down.
type hostWatch struct {
	say  func(format string, args ...any)
	down map[string]time.Time // since when, by mount; the zero time of those that began so
}

// look looks at how the mounts are doing. Of a Host that could not be reached when
// it was mounted somebody else has said so, and says when it has been.
func (w *hostWatch) look(mounts []client.MountStatus, first bool) {
	for _, m := range mounts {
		if m.State == nil {
			continue
		}
		since, down := w.down[m.Path]
		switch {
		case !down && (!m.Available || m.State.Failures >= downAfter):
			if w.down[m.Path] = time.Now(); first {
				w.down[m.Path] = time.Time{}
				continue
			}
			why := ""
			if m.State.LastFailure != "" {
				why = fmt.Sprintf(": %s in a row, the latest of class %s", plural(m.State.Failures, "failure"), m.State.LastFailure)
			}
			w.say("%s: the Host is down%s", m.Path, why)
		case down && m.Available && m.State.Failures == 0:
			if delete(w.down, m.Path); !since.IsZero() {
				w.say("%s: the Host is back, after %s", m.Path, time.Since(since).Round(time.Second))
			}
		}
	}
}

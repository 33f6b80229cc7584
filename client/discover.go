package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space"
	"github.com/wipagent/wipagent/space/wip"
)

// Discovery answers what there is for a purpose.
type Discovery = space.Found

// Discover searches the Discoverable Space below scope ("/" for all of it) for
// what serves the query, among what the principal may know (W2, W4). A scope
// that does not exist answers like an empty one. A ranker that takes more than
// 3 s is left, and the answer is the map alone. A Host that does not answer is
// marked, and holds up nothing. The only errors are the context's; every error is
// an *Error.
func (c *Client) Discover(ctx context.Context, p *policy.Principal, scope, query string) (found *Discovery, err error) {
	start := time.Now()
	rec := record(discover, "", p)
	defer c.finish(&rec, start, &err)
	searching, cancel := context.WithTimeout(ctx, idl.DefaultTimeout)
	defer cancel()
	c.refreshStale(ctx)
	answer := c.view(p).Search(searching, scope, query)
	if answer.Err != nil { // the answer is the map; why is for the operator
		rec.Ref = newID()
		c.audit.Fault(rec.Ref, string(discover), answer.Err)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !c.hears(p, scope) {
		answer.Message = strings.TrimSpace(answer.Message + " " + unheard)
	}
	return answer, nil
}

// view returns what the principal may find.
func (c *Client) view(p *policy.Principal) *space.View {
	return c.space.ViewAs(audienceOf(p), func(n *space.Node, op *idl.Operation) bool { return c.allows(p, n, op) })
}

// audienceOf names all that policy looks at of a principal: who has the same may
// see the same.
func audienceOf(p *policy.Principal) string {
	return fmt.Sprintf("%d %q %t %q", p.Audience, p.Grants, p.Intent == nil, p.Intent)
}

// How long a search waits for trees that have grown old, and how long what it
// asked for may go on after it.
const (
	refreshShare  = 250 * time.Millisecond
	refreshWithin = 30 * time.Second
)

// refreshStale asks Hosts for trees that have grown old, or that could not be
// had. A Host that does not answer within a small part of the time of a search
// keeps its old tree for now, and the answer tells how old that is: what it says
// later is for later searches, which do not wait for it.
func (c *Client) refreshStale(ctx context.Context) {
	asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), refreshWithin)
	var asked sync.WaitGroup
	ask := func(tool string, request func(context.Context) error) {
		asked.Go(func() {
			c.faults(tool, request(asking))
		})
	}
	for m := range c.mounts.all {
		if m.due() && m.refreshing.CompareAndSwap(false, true) {
			ask(m.path, func(ctx context.Context) error {
				defer m.refreshing.Store(false)
				return c.space.Refresh(ctx, wip.Caller{}, m.path)
			})
		}
	}
	ask(string(discover), func(ctx context.Context) error { return c.space.RefreshStale(ctx, wip.Caller{}) })
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer cancel()
		asked.Wait()
	}()
	share := time.NewTimer(refreshShare)
	defer share.Stop()
	select {
	case <-done:
	case <-share.C:
	case <-ctx.Done():
	}
}

// faults tells the operator of trouble, each mount's as its own, and the rest as of
// the tool.
func (c *Client) faults(tool string, err error) {
	if err == nil {
		return
	}
	list := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		list = joined.Unwrap()
	}
	of := map[string][]error{}
	for _, err := range list {
		at := tool
		var mount *space.Error
		if errors.As(err, &mount) {
			at = mount.Mount
		}
		of[at] = append(of[at], err)
	}
	for at, list := range of {
		c.audit.Fault(newID(), at, errors.Join(list...))
	}
}

// unheard says that more may be in the scope, where a Host has never told what
// it has and does not answer now.
const unheard = "A Host that may have more in this scope cannot be reached at the moment."

// hears reports whether each Host that may show the principal something in the
// scope has told what it has, or can be asked.
func (c *Client) hears(p *policy.Principal, scope string) bool {
	for m := range c.mounts.all {
		if !m.Available() && m.mayShow(p) && overlap(m.path, scope) && c.space.Refreshed(m.path).IsZero() {
			return false
		}
	}
	return true
}

// mayShow reports whether the mount's rules and the principal's grants leave
// something to see there, whatever it is.
func (m *mounted) mayShow(p *policy.Principal) bool {
	here := func(name string) bool { return strings.HasPrefix(name, strings.TrimSuffix(m.path, "/")+"/") }
	switch {
	case p.Intent != nil && !slices.ContainsFunc(p.Intent, here):
		return false
	case p.Audience == idl.SchedulerRun:
		return slices.ContainsFunc(p.Grants, here)
	}
	return p.Audience > 0 && p.Audience >= m.policy.Audience
}

// overlap reports whether one of two paths is at or above the other.
func overlap(a, b string) bool {
	a, b = strings.Trim(a, "/")+"/", strings.Trim(b, "/")+"/"
	return a == "/" || b == "/" || strings.HasPrefix(a, b) || strings.HasPrefix(b, a)
}

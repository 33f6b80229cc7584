package client_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/client/resilience"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space/wip"
)

// moodyHost is a fakeHost that can be down, and slow to tell its tree.
type moodyHost struct {
	*fakeHost
	down  bool
	slow  time.Duration
	trees int
}

func newMoody() *moodyHost { return &moodyHost{fakeHost: &fakeHost{call: answer(`true`)}} }

func (h *moodyHost) trouble() error {
	if h.down {
		return &wip.Failure{Class: wip.Transient, Message: "SECRET", MaybeDone: true}
	}
	return nil
}

func (h *moodyHost) Fetch(ctx context.Context, caller wip.Caller, path string) (wip.Entry, error) {
	if err := h.trouble(); err != nil {
		return wip.Entry{}, err
	}
	return h.fakeHost.Fetch(ctx, caller, path)
}

func (h *moodyHost) FetchTree(ctx context.Context, caller wip.Caller, path string) (wip.Tree, error) {
	h.trees++
	time.Sleep(h.slow)
	if err := h.trouble(); err != nil {
		return wip.Tree{}, err
	}
	return h.fakeHost.FetchTree(ctx, caller, path)
}

func (h *moodyHost) CallOperation(ctx context.Context, call wip.Call) (wip.Result, error) {
	if err := h.trouble(); err != nil {
		return wip.Result{}, err
	}
	return h.fakeHost.CallOperation(ctx, call)
}

// twoShops mounts a moody Host at /shop and one that is well at /other. The error
// is that of the first.
func twoShops(t *testing.T, moody *moodyHost, limits resilience.Config) (*client.Client, error) {
	t.Helper()
	c := client.New(nil)
	if err := c.Mount(t.Context(), "/other", newMoody(), &client.MountOptions{Trusted: true}); err != nil {
		t.Fatal(err)
	}
	return c, c.Mount(t.Context(), "/shop", moody, &client.MountOptions{Title: "Shop", Trusted: true, Limits: limits})
}

// exhaust lets calls fail until the Host is left alone.
func exhaust(t *testing.T, c *client.Client) {
	t.Helper()
	for range 5 {
		c.Invoke(t.Context(), visitor, call("/shop/shelf", "slow", `{}`))
	}
	if s := c.Mounts()[1]; s.Path != "/shop" || s.Available || s.State.Breaker != resilience.Open {
		t.Fatalf("found %+v", s)
	}
}

// TestMountOfAHostThatIsDown mounts it all the same, and finds what it has once
// it is there.
func TestMountOfAHostThatIsDown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		moody := newMoody()
		moody.down = true
		began := time.Now()
		c, err := twoShops(t, moody, resilience.Config{})
		if err == nil {
			t.Fatal("found no error")
		}
		mounted := time.Now()
		want := []client.MountStatus{
			{Path: "/other", Trusted: true, Available: true, Refreshed: began, State: &resilience.State{Breaker: resilience.Closed, Since: began}},
			{Path: "/shop", Title: "Shop", Trusted: true, State: &resilience.State{
				Breaker: resilience.Closed, Since: began, Failures: 3, LastFailure: wip.Transient, LastFailed: mounted,
			}, Trouble: "mount /shop: the Host answered with a failure of class transient"},
		}
		if diff := cmp.Diff(want, c.Mounts(), cmpopts.EquateApproxTime(0)); diff != "" {
			t.Error(diff)
		}
		search := func(p *client.Principal, scope string) *client.Discovery {
			t.Helper()
			found, err := c.Discover(t.Context(), p, scope, "list things")
			if err != nil {
				t.Fatal(err)
			}
			return found
		}
		const unheard = "cannot be reached"
		for scope, want := range map[string]bool{"/": true, "/shop": true, "/shop/shelf": true, "/other": false, "/sho": false} {
			if found := search(visitor, scope); strings.Contains(found.Message, unheard) != want {
				t.Errorf("%s: found the message %q", scope, found.Message)
			}
		}
		if moody.trees != 3 {
			t.Errorf("found %d requests for a tree, expected none since the mount's", moody.trees)
		}
		if found := search(&client.Principal{Audience: idl.SchedulerRun, Grants: []string{"/other/shelf#list_things"}}, "/"); strings.Contains(found.Message, unheard) {
			t.Errorf("who may see nothing there is told: %q", found.Message)
		}
		time.Sleep(6 * time.Second)
		moody.down = false
		found := search(visitor, "/shop")
		if strings.Contains(found.Message, unheard) || len(found.Hits) == 0 || found.Hits[0].Unavailable {
			t.Errorf("found %+v", found)
		}
		if s := c.Mounts()[1]; !s.Available || s.Refreshed.IsZero() || s.State.Failures != 0 {
			t.Errorf("found %+v", s)
		}
	})
}

// TestAboveWhoMaySee says nothing of a Host to those whom its mount's rules keep
// from it.
func TestAboveWhoMaySee(t *testing.T) {
	c := client.New(nil)
	moody := newMoody()
	moody.down = true
	c.Mount(t.Context(), "/shop", moody, &client.MountOptions{
		Policy: policy.Mount{Audience: idl.LocalOperator}, Limits: resilience.Config{Attempts: 1},
	})
	for p, want := range map[*client.Principal]bool{visitor: false, {Audience: idl.AuthorizedIM}: false, {Audience: idl.LocalOperator}: true} {
		found, err := c.Discover(t.Context(), p, "/", "things")
		if err != nil || strings.Contains(found.Message, "reached") != want {
			t.Errorf("%s: found %q, %v", p.Audience, found.Message, err)
		}
	}
}

// TestMarks shows what is known of a Host that does not answer, marked.
func TestMarks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		moody := newMoody()
		c, err := twoShops(t, moody, resilience.Config{OpenFor: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		moody.down = true
		exhaust(t, c)
		found, err := c.Discover(t.Context(), visitor, "/", "list things")
		if err != nil || len(found.Hits) < 2 {
			t.Fatalf("found %+v, %v", found, err)
		}
		for _, h := range found.Hits {
			if h.Unavailable != strings.HasPrefix(h.Path, "/shop") {
				t.Errorf("%s: found unavailable %v", h.Path, h.Unavailable)
			}
		}
		found, err = c.Discover(t.Context(), visitor, "/", "")
		if err != nil || !strings.Contains(found.Map, "/shop (unavailable)\n") || strings.Count(found.Map, "unavailable") != 1 {
			t.Errorf("found the map\n%s\n%v", found.Map, err)
		}
		for path, want := range map[string]bool{"/shop": true, "/shop/shelf": true, "/other/shelf": false, "/other": false} {
			if got, err := c.Inspect(t.Context(), visitor, path); err != nil || got.Unavailable != want {
				t.Errorf("%s: found %+v, %v", path, got, err)
			}
		}
		_, err = c.Invoke(t.Context(), visitor, call("/shop/shelf", "slow", `{}`))
		e := failure(t, err)
		if e.Class != client.Unavailable || e.Defect() || e.RetryAfter <= 0 || e.Ref == "" || strings.Contains(e.Error(), "SECRET") {
			t.Errorf("found %+v", e)
		}

		// What was known long ago is still shown, with its age; what is not known, or
		// hidden, is answered alike.
		time.Sleep(30 * time.Minute)
		start := time.Now()
		got, err := c.Inspect(t.Context(), visitor, "/shop/shelf#slow")
		if err != nil || !got.Unavailable || got.Age < 30*time.Minute || len(got.Operations) != 1 || time.Since(start) != 0 {
			t.Errorf("found %+v, %v", got, err)
		}
		var answers []string
		for _, path := range []string{"/shop/purse", "/shop/nowhere"} {
			_, err := c.Inspect(t.Context(), visitor, path)
			e := failure(t, err)
			e.Ref = ""
			answers = append(answers, e.Error())
		}
		if answers[0] != answers[1] {
			t.Errorf("a hidden entry and none are answered differently: %q", answers)
		}
	})
}

// TestSlowTree bounds what a Host that is slow to tell its tree takes of a
// search, and of how many; what it tells then is found.
func TestSlowTree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		moody := newMoody()
		c, err := twoShops(t, moody, resilience.Config{})
		if err != nil {
			t.Fatal(err)
		}
		moody.slow = 10 * time.Second
		time.Sleep(10 * time.Minute)
		for i, most := range []time.Duration{250 * time.Millisecond, 0, 0} {
			start := time.Now()
			if _, err := c.Discover(t.Context(), visitor, "/", "things"); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(start); took > most {
				t.Errorf("search %d took %v, expected at most %v", i, took, most)
			}
		}
		time.Sleep(20 * time.Second)
		found, err := c.Discover(t.Context(), visitor, "/shop", "things")
		if err != nil || found.AgeMillis > 31_000 || moody.trees != 2 {
			t.Errorf("found an age of %d ms and %d trees, %v", found.AgeMillis, moody.trees, err)
		}
	})
}

// TestDownForLong asks a Host that stays down no more than its breaker lets.
func TestDownForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		moody := newMoody()
		moody.down = true
		c, err := twoShops(t, moody, resilience.Config{})
		if err == nil {
			t.Fatal("found no error")
		}
		const searches = 600
		for range searches {
			time.Sleep(time.Second)
			if _, err := c.Discover(t.Context(), visitor, "/", "things"); err != nil {
				t.Fatal(err)
			}
		}
		if moody.trees > searches/5+10 || moody.trees < searches/20 {
			t.Errorf("found %d requests in 10 minutes", moody.trees)
		}
	})
}

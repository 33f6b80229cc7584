package space_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/space"
	"github.com/wipagent/wipagent/space/wip"
)

// trees takes from the Host how often it was asked for a tree.
func trees(h *host) int {
	count := 0
	h.change(func() {
		for _, request := range h.asked {
			if request == "tree /" {
				count++
			}
		}
		h.asked = nil
	})
	return count
}

func TestRefreshStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, beside := lampHost(), lampHost()
		s := space.New(&space.Config{MaxAge: time.Minute})
		mount(t, s, "/house", h, nil)
		refresh := func(h *host, asks int, trouble error) {
			t.Helper()
			if err := s.RefreshStale(t.Context(), wip.Caller{}); !errors.Is(err, trouble) {
				t.Errorf("RefreshStale = %v, expected %v", err, trouble)
			}
			if n := trees(h); n != asks {
				t.Errorf("the Host was asked for %d trees, expected %d", n, asks)
			}
		}
		refresh(h, 1, nil) // there was none
		refresh(h, 0, nil)
		h.change(func() { delete(h.entries, "/hall/lamp") })
		time.Sleep(time.Minute - time.Nanosecond)
		refresh(h, 0, nil)
		if diff := cmp.Diff([]string{"/house/hall/lamp"}, discoverable(s)); diff != "" {
			t.Error(diff)
		}
		time.Sleep(time.Nanosecond)
		// A call that has ended asks nothing, and does not count.
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := s.RefreshStale(ctx, wip.Caller{}); !errors.Is(err, context.Canceled) {
			t.Errorf("RefreshStale = %v, expected %v", err, context.Canceled)
		}
		refresh(h, 1, nil)
		if got := discoverable(s); got != nil {
			t.Errorf("%q is still discoverable", got)
		}
		// Trouble keeps the old tree, and is not asked for more often.
		h.change(func() { h.entries["/porch"] = object("/porch", "", "lamp.wip", "Lamp") })
		time.Sleep(time.Minute)
		refresh(h, 1, nil)
		busy := &wip.Failure{Class: wip.Transient, Message: "busy"}
		h.change(func() { h.err = busy })
		time.Sleep(time.Minute)
		refresh(h, 1, busy)
		time.Sleep(time.Second)
		refresh(h, 0, nil)
		if diff := cmp.Diff([]string{"/house/porch"}, discoverable(s)); diff != "" {
			t.Error(diff)
		}
		if age := s.View(all).Age("/"); age != time.Minute+time.Second {
			t.Errorf("after trouble the age is %v, expected that of the old tree", age)
		}
		// What Refresh asked for is fresh too; each mount by itself, and whole.
		h.change(func() { h.err = nil })
		if err := s.Refresh(t.Context(), wip.Caller{}, "/house"); err != nil {
			t.Fatal(err)
		}
		mount(t, s, "/beside", beside, nil)
		time.Sleep(time.Second)
		refresh(beside, 1, nil)
		time.Sleep(time.Minute - time.Second)
		if err := s.Refresh(t.Context(), wip.Caller{}, "/house/porch"); err != nil {
			t.Fatal(err)
		}
		trees(h)
		refresh(h, 1, nil) // a part is not the whole
		refresh(beside, 0, nil)
		time.Sleep(time.Second)
		refresh(beside, 1, nil)
	})
}

// TestRefreshStaleOnce checks that one refresh of a mount is under way at a
// time, and that nobody waits for another's.
func TestRefreshStaleOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &slowTrees{host: lampHost(), slow: true, let: make(chan struct{})}
		s := space.New(&space.Config{MaxAge: time.Minute})
		mount(t, s, "/house", h, nil)
		for _, first := range []func() error{
			func() error { return s.RefreshStale(t.Context(), wip.Caller{}) },
			func() error { return s.Refresh(t.Context(), wip.Caller{}, "/") },
		} {
			done := make(chan error)
			go func() { done <- first() }()
			synctest.Wait()
			for range 3 {
				time.Sleep(time.Minute)
				if err := s.RefreshStale(t.Context(), wip.Caller{}); err != nil {
					t.Error(err)
				}
			}
			if n := trees(h.host); n != 1 {
				t.Errorf("the Host was asked for %d trees, expected 1", n)
			}
			h.let <- struct{}{}
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(discoverable(s), "/house/hall/lamp") {
				t.Error("the tree did not come")
			}
			time.Sleep(time.Minute)
		}
	})
}

package space_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/space"
	"github.com/wipagent/wipagent/space/wip"
)

// TestGoneIsNotDiscoverable removes entries at the Host: once the Host has said
// that there is nothing, a search no longer names what was there.
func TestGoneIsNotDiscoverable(t *testing.T) {
	lamps := func(paths ...string) []wip.Entry {
		var list []wip.Entry
		for _, p := range paths {
			list = append(list, object(p, "", "lamp.wip", "Lamp"))
		}
		return list
	}
	for _, test := range []struct {
		name    string
		trees   []string // the callers whose trees are fetched, in order
		by      string   // who resolves
		path    string
		removed []string
		hides   bool // the Host hides from by instead of removing
		trouble error
		want    []string
	}{
		{"leaf", []string{""}, "", "/m/a/b", []string{"/a/b"}, false, nil, []string{"/m/a", "/m/ab"}},
		{"with what is below", []string{""}, "", "/m/a", []string{"/a", "/a/b"}, false, nil, []string{"/m/ab"}},
		{"of everybody's tree", []string{""}, "me", "/m/a", []string{"/a", "/a/b"}, false, nil, []string{"/m/ab"}},
		{"of its own tree", []string{"me"}, "me", "/m/a", []string{"/a", "/a/b"}, false, nil, []string{"/m/ab"}},
		{"of another's tree", []string{"other"}, "me", "/m/a", []string{"/a", "/a/b"}, false, nil, []string{"/m/a", "/m/a/b", "/m/ab"}},
		{"hidden from one", []string{"other"}, "me", "/m/a", []string{"/a", "/a/b"}, true, nil, []string{"/m/a", "/m/a/b", "/m/ab"}},
		{"another's tree and nobody's answer", []string{"other"}, "", "/m/a", []string{"/a", "/a/b"}, false, nil, []string{"/m/a", "/m/a/b", "/m/ab"}},
		{"the later tree counts", []string{"", "other"}, "me", "/m/a", []string{"/a", "/a/b"}, false, nil, []string{"/m/a", "/m/a/b", "/m/ab"}},
		{"never an entry", []string{""}, "", "/m/c", nil, false, nil, []string{"/m/a", "/m/a/b", "/m/ab"}},
		{"all of it", []string{""}, "", "/m", []string{"/", "/a", "/a/b", "/ab"}, false, nil, nil},
		{"busy", []string{""}, "", "/m/a", []string{"/a", "/a/b"}, false, &wip.Failure{Class: wip.Transient}, []string{"/m/a", "/m/a/b", "/m/ab"}},
		{"broken", []string{""}, "", "/m/a", []string{"/a", "/a/b"}, false, errors.New("broken"), []string{"/m/a", "/m/a/b", "/m/ab"}},
		{"late", []string{""}, "", "/m/a", []string{"/a", "/a/b"}, false, context.DeadlineExceeded, []string{"/m/a", "/m/a/b", "/m/ab"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHost(map[string]string{"lamp.wip": lampDocument}, append(lamps("/a", "/a/b", "/ab"), folder("/", ""))...)
				s := space.New(&space.Config{MaxAge: time.Minute})
				mount(t, s, "/m", h, nil)
				for _, id := range test.trees {
					if err := s.Refresh(t.Context(), wip.Caller{ID: id}, "/"); err != nil {
						t.Fatal(err)
					}
				}
				before := s.View(all)
				time.Sleep(time.Minute)
				h.change(func() {
					h.err = test.trouble
					for _, p := range test.removed {
						if !test.hides {
							delete(h.entries, p)
						}
					}
					if test.hides {
						h.seen = func(c wip.Caller, _ string) bool { return c.ID != test.by }
					}
				})
				_, err := s.Resolve(t.Context(), wip.Caller{ID: test.by}, test.path)
				if test.trouble == nil && !errors.Is(err, space.ErrNotFound) && test.path != "/m" {
					t.Errorf("Resolve = %v, expected %v", err, space.ErrNotFound)
				}
				got := discoverable(s)
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Error(diff)
				}
				if same := s.View(all) == before; same != (len(got) == 3) {
					t.Errorf("with %d of 3 entries left, that the View is the same is %v", len(got), same)
				}
			})
		})
	}
}

// TestBelowNoEntry checks that a path which never was an entry says nothing of
// the entries below it.
func TestBelowNoEntry(t *testing.T) {
	h := newHost(map[string]string{"lamp.wip": lampDocument}, folder("/", ""), object("/far/down", "", "lamp.wip", "Lamp"))
	s := space.New(nil)
	mount(t, s, "/m", h, nil)
	if err := s.Refresh(t.Context(), wip.Caller{}, "/"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Resolve(t.Context(), wip.Caller{}, "/m/far"); !errors.Is(err, space.ErrNotFound) {
		t.Errorf("Resolve = %v, expected %v", err, space.ErrNotFound)
	}
	if diff := cmp.Diff([]string{"/m/far/down"}, discoverable(s)); diff != "" {
		t.Error(diff)
	}
}

// slowTrees is a Host whose trees, once taken, arrive when they are let go.
type slowTrees struct {
	*host
	slow bool
	let  chan struct{}
}

func (h *slowTrees) FetchTree(ctx context.Context, c wip.Caller, path string) (wip.Tree, error) {
	tree, err := h.host.FetchTree(ctx, c, path)
	if h.slow {
		<-h.let
	}
	return tree, err
}

// TestTreeUnderWay checks that a tree which was asked for before the Host said
// that an entry is gone does not bring it back, and that a later one does.
func TestTreeUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := &slowTrees{host: lampHost(object("/hall/lamp/bulb", "", "lamp.wip", "Lamp"), object("/porch", "", "lamp.wip", "Lamp")), slow: true, let: make(chan struct{})}
		s := space.New(nil)
		mount(t, s, "/house", h, nil)
		done := make(chan error)
		go func() { done <- s.Refresh(t.Context(), wip.Caller{}, "/") }()
		synctest.Wait()
		lamp := h.entries["/hall/lamp"]
		h.change(func() { delete(h.entries, "/hall/lamp") })
		if _, err := s.Resolve(t.Context(), wip.Caller{ID: "me"}, "/house/hall/lamp"); !errors.Is(err, space.ErrNotFound) {
			t.Errorf("Resolve = %v, expected %v", err, space.ErrNotFound)
		}
		close(h.let)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"/house/porch"}, discoverable(s)); diff != "" {
			t.Error(diff)
		}
		h.change(func() { h.entries["/hall/lamp"] = lamp })
		if err := s.Refresh(t.Context(), wip.Caller{}, "/"); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"/house/hall/lamp", "/house/hall/lamp/bulb", "/house/porch"}, discoverable(s)); diff != "" {
			t.Error(diff)
		}
	})
}

package space_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space"
	"github.com/wipagent/wipagent/space/wip"
)

// ageless compares what does not change from one moment to the next.
var ageless = cmpopts.IgnoreFields(space.Found{}, "AgeMillis")

// TestFoundAge checks how old a search says that its ground is: as old as the
// oldest tree of what is visible in the scope.
func TestFoundAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := space.New(nil)
		mount(t, s, "/old", lampHost(), nil)
		mount(t, s, "/new", lampHost(object("/attic", "", "lamp.wip", "Mounted")), nil)
		refresh := func(path string) {
			t.Helper()
			if err := s.Refresh(t.Context(), wip.Caller{}, path); err != nil {
				t.Fatal(err)
			}
		}
		refresh("/old")
		time.Sleep(10 * time.Second)
		refresh("/new")
		time.Sleep(time.Second)
		onlyNew := func(n *space.Node, _ *idl.Operation) bool { return n.Mount.Path == "/new" }
		onlyAttic := func(n *space.Node, _ *idl.Operation) bool { return n.Path == "/new/attic" }
		nothing := func(*space.Node, *idl.Operation) bool { return false }
		expect := func(v *space.View, scope string, want int64) {
			t.Helper()
			if f := v.Search(t.Context(), scope, "lamp"); f.AgeMillis != want {
				t.Errorf("in %q the age is %d ms, expected %d", scope, f.AgeMillis, want)
			}
			if age := v.Age(scope); age.Milliseconds() != want {
				t.Errorf("Age(%q) = %v, expected %d ms", scope, age, want)
			}
		}
		old := s.View(all)
		expect(old, "/", 11000)
		expect(old, "", 11000)
		expect(old, "/old", 11000)
		expect(old, "/new", 1000)
		expect(old, "/new/hall/lamp", 1000)
		expect(old, "/nowhere", 0)
		expect(old, "/old/../new", 0)
		expect(s.View(onlyNew), "/", 1000)
		expect(s.View(onlyNew), "/old", 0)
		expect(s.View(nothing), "/", 0)
		// A tree that changes nothing makes its View younger.
		refresh("/old")
		if s.View(all) != old {
			t.Error("an unchanged tree made a new View")
		}
		expect(old, "/old", 0)
		expect(old, "/", 1000)
		time.Sleep(time.Second)
		// A part of a tree says nothing of the rest.
		refresh("/new/hall")
		expect(old, "/new/hall", 2000)
		expect(s.View(onlyAttic), "/", 2000)
		// What another's tree brought is as old as that tree.
		if err := s.Refresh(t.Context(), wip.Caller{ID: "me"}, "/old"); err != nil {
			t.Fatal(err)
		}
		expect(old, "/old", 0)
		// A View of an earlier state is as old as that was.
		mount(t, s, "/third", lampHost(), nil)
		refresh("/")
		expect(s.View(all), "/", 0)
		if age := old.Age("/new"); age != 2*time.Second {
			t.Errorf("an earlier View says %v, expected 2s", age)
		}
	})
}

// TestHiddenMountRoot checks that an Object at a mount's root of which nothing
// is visible does not show in the age of what is.
func TestHiddenMountRoot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHost(map[string]string{"lamp.wip": lampDocument}, object("/", "", "lamp.wip", "Mounted"), object("/lamp", "", "lamp.wip", "Lamp"))
		s := space.New(nil)
		mount(t, s, "/m", h, nil)
		if err := s.Refresh(t.Context(), wip.Caller{ID: "once"}, "/"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		h.seen = func(_ wip.Caller, path string) bool { return path != "/" }
		for _, path := range []string{"/m", "/m/lamp"} {
			if err := s.Refresh(t.Context(), wip.Caller{}, path); err != nil {
				t.Fatal(err)
			}
		}
		v := s.View(func(n *space.Node, _ *idl.Operation) bool { return n.Path == "/m/lamp" })
		if age := v.Age("/"); age != 0 {
			t.Errorf("the age is %v, expected that of the visible entry, 0", age)
		}
		if age := s.View(all).Age("/"); age != time.Second {
			t.Errorf("the age is %v, expected that of the oldest entry, 1s", age)
		}
	})
}

// TestNodeAge checks that no place claims to be fresher than what it is known
// from.
func TestNodeAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := lampHost()
		s := space.New(&space.Config{MaxAge: time.Hour})
		time.Sleep(time.Second)
		mount(t, s, "/a/house", h, nil)
		expect := func(path string, want time.Duration) {
			t.Helper()
			n, err := s.Resolve(t.Context(), wip.Caller{}, path)
			if err != nil || n.Age() != want {
				t.Errorf("Resolve(%q) = %v, %v, expected the age %v", path, n.Age(), err, want)
			}
		}
		child := func(want time.Duration) {
			t.Helper()
			children := s.Children(wip.Caller{ID: "nobody"}, "/a")
			if len(children) != 1 || children[0].Age() != want {
				t.Errorf("the mount is %v old, expected %v", children[0].Age(), want)
			}
		}
		time.Sleep(time.Second)
		child(time.Second) // since it was mounted
		expect("/", 2*time.Second)
		root := h.entries["/"]
		h.entries["/"] = hidden(root)
		if err := s.Refresh(t.Context(), wip.Caller{}, "/"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		child(time.Second) // since its tree
		expect("/a/house", time.Second)
		expect("/a/house/hall", time.Second)
		expect("/a", 3*time.Second)
		expect("/", 3*time.Second)
		// Where the Host has just said that its root is not there, that is what is known.
		delete(h.entries, "/")
		s.Forget(wip.Caller{}, "/a/house")
		expect("/a/house", 0)
		if _, err := s.Resolve(t.Context(), wip.Caller{}, "/a/house/none"); !errors.Is(err, space.ErrNotFound) {
			t.Error(err)
		}
		// Another mount, which may be hidden, does not show in the folders above.
		time.Sleep(time.Second)
		mount(t, s, "/b", lampHost(), nil)
		expect("/", 4*time.Second)
	})
}

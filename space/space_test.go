package space_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space"
	"github.com/wipagent/wipagent/space/wip"
)

const lampDocument = `package lamp;
/// A lamp.
interface Lamp {
  /// Switches the lamp on or off.
  @mutating switch_lamp(on: bool) -> bool;
  /// The colour of the lamp.
  @read_only get_color() -> string;
}
/// What hangs on a wall.
interface Mounted {
  @read_only get_color() -> string;
  @read_only get_wall() -> string;
}
`

func lampHost(more ...wip.Entry) *host {
	return newHost(map[string]string{"lamp.wip": lampDocument}, append([]wip.Entry{
		folder("/", "House"),
		folder("/hall", "Hall"),
		object("/hall/lamp", "Hall lamp", "lamp.wip", "Lamp"),
		hidden(object("/cellar", "Cellar lamp", "lamp.wip", "Lamp")),
	}, more...)...)
}

func lampSpace(t testing.TB, h *host, cfg *space.Config) *space.Space {
	t.Helper()
	s := space.New(cfg)
	mount(t, s, "/house", h, &space.MountOptions{Title: "My house"})
	if err := s.Refresh(t.Context(), wip.Caller{}, "/"); err != nil {
		t.Fatal(err)
	}
	return s
}

// discoverable lists the paths of the entries with operations that a search
// can find.
func discoverable(s *space.Space) []string {
	var paths []string
	s.View(func(n *space.Node, _ *idl.Operation) bool {
		if !slices.Contains(paths, n.Path) {
			paths = append(paths, n.Path)
		}
		return true
	})
	return paths
}

func paths(nodes []*space.Node) []string {
	var list []string
	for _, n := range nodes {
		list = append(list, n.Path)
	}
	return list
}

func TestMount(t *testing.T) {
	for _, test := range []struct {
		path string
		ok   bool
	}{
		{"/grid", true},
		{"/a/b-1_2.c", true},
		{"grid", false},
		{"", false},
		{"/a/", false},
		{"//a", false},
		{"/a b", false},
		{"/a/../b", false},
		{"/ä", false},
		{"/a#b", false},
		{"/" + strings.Repeat("x", 129), false},
		{strings.Repeat("/x", 33), false},
		{"/taken", false},
		{"/taken/below", false},
		{"/takenbeside", true},
		{"/", false},
	} {
		s := space.New(nil)
		mount(t, s, "/taken", lampHost(), nil)
		if err := s.Mount(test.path, lampHost(), nil); (err == nil) != test.ok {
			t.Errorf("Mount(%q) = %v, expected success: %v", test.path, err, test.ok)
		}
	}
}

func TestMountAtRoot(t *testing.T) {
	s := space.New(nil)
	mount(t, s, "/", lampHost(), nil)
	if err := s.Refresh(t.Context(), wip.Caller{}, ""); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"/hall/lamp"}, discoverable(s)); diff != "" {
		t.Error(diff)
	}
	n, err := s.Resolve(t.Context(), wip.Caller{}, "/hall/lamp")
	if err != nil || n.HostPath != "/hall/lamp" || n.ObjectID != "object /hall/lamp" {
		t.Errorf("Resolve = %+v, %v", n, err)
	}
}

func TestResolve(t *testing.T) {
	h := lampHost()
	s := lampSpace(t, h, nil)
	me, other := wip.Caller{ID: "me"}, wip.Caller{ID: "other"}

	for _, test := range []struct {
		path, title string
		err         error
	}{
		{"/", "", nil},
		{"/house", "My house", nil},
		{"/house/hall", "Hall", nil},
		{"/house/hall/lamp", "Hall lamp", nil},
		{"/house/cellar", "Cellar lamp", nil},
		{"/house/attic", "", space.ErrNotFound},
		{"/elsewhere", "", space.ErrNotFound},
		{"/house/", "", space.ErrNotFound},
		{"/house/hall/../cellar", "", space.ErrNotFound},
		{"", "", space.ErrNotFound},
	} {
		n, err := s.Resolve(t.Context(), me, test.path)
		if !errors.Is(err, test.err) {
			t.Errorf("Resolve(%q) = %v, expected %v", test.path, err, test.err)
		} else if err == nil && (n.Path != test.path || n.Title != test.title) {
			t.Errorf("Resolve(%q) = %q %q, expected the title %q", test.path, n.Path, n.Title, test.title)
		}
	}

	// What was fetched is known to whoever fetched it, and to nobody else.
	h.change(func() { h.asked = nil })
	if _, err := s.Resolve(t.Context(), me, "/house/cellar"); err != nil || len(h.asked) != 0 {
		t.Errorf("a known entry was asked for again: %v, %v", h.asked, err)
	}
	if _, err := s.Resolve(t.Context(), other, "/house/cellar"); err != nil || !slices.Contains(h.asked, "fetch /cellar") {
		t.Errorf("one caller's Known Space answered another: %v, %v", h.asked, err)
	}
	if diff := cmp.Diff([]string{"/house/hall/lamp"}, discoverable(s)); diff != "" {
		t.Errorf("fetching made something discoverable:\n%s", diff)
	}
	s.Forget(me, "/house/cellar")
	h.change(func() { delete(h.entries, "/cellar") })
	if _, err := s.Resolve(t.Context(), me, "/house/cellar"); !errors.Is(err, space.ErrNotFound) {
		t.Errorf("a forgotten entry was not asked for again: %v", err)
	}
}

// TestMiss checks that a caller that may not see an entry can be answered as
// if it were not there: with the same requests and the same error.
func TestMiss(t *testing.T) {
	h := lampHost()
	s := lampSpace(t, h, nil)
	for _, trouble := range []error{nil, &wip.Failure{Class: wip.Transient, Message: "busy"}} {
		h.change(func() { h.err, h.asked = trouble, nil })
		_, absent := s.Resolve(t.Context(), wip.Caller{}, "/house/attic")
		asked := strings.ReplaceAll(strings.Join(h.asked, ";"), "/attic", "/hall/lamp")
		h.change(func() { h.asked = nil })
		hidden := s.Miss(t.Context(), wip.Caller{}, "/house/hall/lamp")
		if fmt.Sprint(absent) != fmt.Sprint(hidden) || strings.Join(h.asked, ";") != asked {
			t.Errorf("absent: %v by %s; hidden: %v by %s", absent, asked, hidden, h.asked)
		}
	}
}

func TestMaxAge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := lampHost()
		s := lampSpace(t, h, &space.Config{MaxAge: time.Minute})
		h.change(func() {
			e := h.entries["/hall/lamp"]
			e.Title = "Chandelier"
			h.entries["/hall/lamp"] = e
		})
		for _, step := range []struct {
			wait  time.Duration
			title string
		}{{59 * time.Second, "Hall lamp"}, {time.Second, "Chandelier"}} {
			time.Sleep(step.wait)
			n, err := s.Resolve(t.Context(), wip.Caller{}, "/house/hall/lamp")
			if err != nil || n.Title != step.title {
				t.Errorf("Resolve = %v, %v, expected %q", n, err, step.title)
			}
		}
	})
}

func TestLearn(t *testing.T) {
	h := lampHost()
	for i := range 100 {
		e := hidden(object(fmt.Sprintf("/box/%02d", i), "Spare lamp", "lamp.wip", "Lamp"))
		h.entries[e.Path] = e
	}
	s := lampSpace(t, h, nil)
	me := wip.Caller{ID: "me"}
	nodes, err := s.Learn(t.Context(), me, []string{"/house/cellar", "/house/attic", "/house/cellar", "/etc/passwd", "/house/hall/lamp", "", "/house/hall/../cellar"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"/house/cellar", "/house/hall/lamp"}, paths(nodes)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"/house/hall/lamp"}, discoverable(s)); diff != "" {
		t.Errorf("learning made something discoverable:\n%s", diff)
	}
	var many []string
	for i := range 100 {
		many = append(many, fmt.Sprintf("/house/box/%02d", i))
	}
	if nodes, err := s.Learn(t.Context(), me, many); err != nil || len(nodes) != 64 {
		t.Errorf("Learn returned %d entries, %v, expected the first 64", len(nodes), err)
	}
}

func TestChildren(t *testing.T) {
	s := lampSpace(t, lampHost(), nil)
	mount(t, s, "/far/away/host", lampHost(), &space.MountOptions{Title: "Far"})
	me := wip.Caller{ID: "me"}
	if _, err := s.Resolve(t.Context(), me, "/house/cellar"); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		caller wip.Caller
		path   string
		want   []string
	}{
		{me, "/", []string{"/far", "/house"}},
		{me, "/far", []string{"/far/away"}},
		{me, "/far/away", []string{"/far/away/host"}},
		{me, "/house", []string{"/house/cellar", "/house/hall"}},
		{wip.Caller{ID: "other"}, "/house", []string{"/house/hall"}},
		{me, "/house/hall", []string{"/house/hall/lamp"}},
		{me, "/house/hall/lamp", nil},
		{me, "/nowhere", nil},
	} {
		if diff := cmp.Diff(test.want, paths(s.Children(test.caller, test.path))); diff != "" {
			t.Errorf("Children(%q, %q):\n%s", test.caller.ID, test.path, diff)
		}
	}
}

func TestRefreshMerges(t *testing.T) {
	h := lampHost()
	h.seen = func(c wip.Caller, path string) bool { return path != "/hall/lamp" || c.ID != "stranger" }
	s := lampSpace(t, h, nil)
	refresh := func(id, path string) {
		t.Helper()
		if err := s.Refresh(t.Context(), wip.Caller{ID: id}, path); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, discoverable(s)); diff != "" {
			t.Error(diff)
		}
	}
	v := s.View(all)
	refresh("", "/")
	if s.View(all) != v {
		t.Error("an unchanged tree made a new View")
	}
	// What another caller does not get stays, for it is public.
	refresh("stranger", "/")
	expect("/house/hall/lamp")
	// What the Host adds appears where it is asked for.
	h.change(func() {
		h.entries["/hall/lamp2"] = object("/hall/lamp2", "Second", "lamp.wip", "Lamp")
		h.entries["/porch"] = object("/porch", "Porch", "lamp.wip", "Lamp")
	})
	refresh("", "/house/hall")
	expect("/house/hall/lamp", "/house/hall/lamp2")
	// What it removes, or no longer marks, disappears.
	h.change(func() {
		delete(h.entries, "/hall/lamp")
		h.entries["/hall/lamp2"] = hidden(h.entries["/hall/lamp2"])
	})
	refresh("", "/")
	expect("/house/porch")
	if s.View(all) == v {
		t.Error("a changed tree gave the old View")
	}
	// A Host that does not answer keeps what it had.
	h.change(func() { h.err = &wip.Failure{Class: wip.Transient, Message: "busy"} })
	if err := s.Refresh(t.Context(), wip.Caller{}, "/"); err == nil || !strings.Contains(err.Error(), "mount /house") {
		t.Errorf("Refresh = %v, expected an error that names the mount", err)
	}
	expect("/house/porch")
	// Paths that do not exist are no trouble.
	h.change(func() { h.err = nil })
	refresh("", "/house/nowhere")
	refresh("", "/elsewhere")
	refresh("", "/house/../..")
	expect("/house/porch")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Refresh(ctx, wip.Caller{}, "/"); !errors.Is(err, context.Canceled) {
		t.Errorf("Refresh = %v, expected %v", err, context.Canceled)
	}
}

func TestOperationNames(t *testing.T) {
	h := lampHost(object("/wall", "Wall lamp", "lamp.wip", "Lamp", "Mounted"))
	s := lampSpace(t, h, nil)
	n, err := s.Resolve(t.Context(), wip.Caller{}, "/house/wall")
	if err != nil {
		t.Fatal(err)
	}
	names := func(allowed func(*idl.Operation) bool) []string {
		var list []string
		for _, o := range n.Operations(allowed) {
			list = append(list, o.Name)
			if n.Operation(o.Name, allowed) != o.Operation {
				t.Errorf("%s does not mean the operation that it names", o.Name)
			}
		}
		return list
	}
	if diff := cmp.Diff([]string{"switch_lamp", "get_color", "Mounted.get_color", "get_wall"}, names(nil)); diff != "" {
		t.Error(diff)
	}
	// A hidden operation does not take a name from a visible one.
	onlyMounted := func(op *idl.Operation) bool { return op.Interface.Name == "Mounted" }
	if diff := cmp.Diff([]string{"get_color", "get_wall"}, names(onlyMounted)); diff != "" {
		t.Error(diff)
	}
	if n.Operation("Lamp.get_color", onlyMounted) != nil || n.Operation("switch_lamp", onlyMounted) != nil {
		t.Error("a hidden operation was found")
	}
}

// TestKnownIsBounded checks that neither many entries nor many callers make a
// space grow for ever.
func TestKnownIsBounded(t *testing.T) {
	h := lampHost()
	for i := range 50 {
		e := hidden(object(fmt.Sprintf("/box/%02d", i), "Spare lamp", "lamp.wip", "Lamp"))
		h.entries[e.Path] = e
	}
	s := lampSpace(t, h, &space.Config{MaxKnown: 10, MaxCallers: 2})
	for i := range 50 {
		for _, id := range []string{"a", "b"} {
			if _, err := s.Resolve(t.Context(), wip.Caller{ID: id}, fmt.Sprintf("/house/box/%02d", i)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := len(s.Children(wip.Caller{ID: "a"}, "/house/box")); n != 10 {
		t.Errorf("%d entries are known, expected 10", n)
	}
	if _, err := s.Resolve(t.Context(), wip.Caller{ID: "c"}, "/house/box/00"); err != nil {
		t.Fatal(err)
	}
	if n := len(s.Children(wip.Caller{ID: "b"}, "/house/box")); n != 0 { // a was looked at since
		t.Errorf("%d entries of a caller beyond the bound are known, expected 0", n)
	}
}

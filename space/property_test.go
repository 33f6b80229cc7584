package space_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space"
	"github.com/wipagent/wipagent/space/wip"
)

// TestDiscoverableOnlyByTree runs random sequences of requests against a Host
// that changes, and compares what can be discovered with what the trees
// brought and what the Host has said since to be gone (W2, W3, W11).
func TestDiscoverableOnlyByTree(t *testing.T) {
	places := []string{"/a", "/b", "/a/c", "/a/d", "/a/c/e"}
	rapid.Check(t, func(t *rapid.T) {
		h := newHost(map[string]string{"lamp.wip": lampDocument}, folder("/", ""))
		h.seen = func(c wip.Caller, path string) bool { return c.ID != "half" || !strings.HasPrefix(path, "/b") }
		forgetful := rapid.Bool().Draw(t, "forgetful") // nothing is answered from memory
		cfg := &space.Config{}
		if forgetful {
			cfg.MaxAge = -1
		}
		s := space.New(cfg)
		if err := s.Mount("/m", h, nil); err != nil {
			t.Fatal(err)
		}
		asked := false                 // for the whole tree
		brought := map[string]string{} // path to the caller whose tree brought it last
		type knowledge struct{ caller, path string }
		known := map[knowledge]bool{}
		resolve := func(caller wip.Caller, place string) {
			at := "/m" + place
			by, there := brought[at]
			was := known[knowledge{caller.ID, at}]
			switch {
			case (there || was) && !forgetful:
				return
			case h.entries[place].Path != "" && h.seen(caller, place):
				known[knowledge{caller.ID, at}] = true
				return
			}
			delete(known, knowledge{caller.ID, at})
			if was || there && (by == "" || by == caller.ID) {
				maps.DeleteFunc(brought, func(p, by string) bool {
					return (p == at || strings.HasPrefix(p, at+"/")) && (by == "" || by == caller.ID)
				})
			}
		}
		for range rapid.IntRange(1, 25).Draw(t, "steps") {
			place := rapid.SampledFrom(places).Draw(t, "place")
			caller := wip.Caller{ID: rapid.SampledFrom([]string{"", "full", "half"}).Draw(t, "caller")}
			step := rapid.SampledFrom([]string{"put", "hide", "remove", "refresh", "refresh all", "refresh stale", "resolve", "learn", "forget"}).Draw(t, "step")
			switch step {
			case "put":
				h.entries[place] = object(place, "", "lamp.wip", "Lamp")
			case "hide":
				h.entries[place] = hidden(object(place, "", "lamp.wip", "Lamp"))
			case "remove":
				delete(h.entries, place)
			case "refresh", "refresh all", "refresh stale":
				refresh := func() error { return s.Refresh(t.Context(), caller, "/m"+place) }
				if step != "refresh" {
					place = ""
				}
				if step == "refresh stale" {
					refresh = func() error { return s.RefreshStale(t.Context(), caller) }
				}
				if err := refresh(); err != nil {
					t.Fatal(err)
				}
				if step == "refresh stale" && asked && !forgetful {
					break
				}
				asked = asked || place == ""
				root := "/m" + place
				below := func(p string) bool { return p == root || strings.HasPrefix(p, root+"/") }
				maps.DeleteFunc(brought, func(p, by string) bool { return below(p) && by == caller.ID })
				if place != "" && (h.entries[place].Path == "" || !h.seen(caller, place)) {
					break
				}
				for p, e := range h.entries {
					switch at := "/m" + p; {
					case p == "/" || !below(at) || !h.seen(caller, p):
					case e.Indexable:
						brought[at] = caller.ID
					default:
						delete(brought, at)
						known[knowledge{caller.ID, at}] = true
					}
				}
			case "resolve":
				_, _ = s.Resolve(t.Context(), caller, "/m"+place)
				resolve(caller, place)
			case "learn":
				_, _ = s.Learn(t.Context(), caller, []string{"/m" + place, "/m/a/d"})
				resolve(caller, place)
				resolve(caller, "/a/d")
			case "forget":
				s.Forget(caller, "/m"+place)
				delete(known, knowledge{caller.ID, "/m" + place})
			}
			got := discoverable(s)
			slices.Sort(got)
			if diff := cmp.Diff(slices.Sorted(maps.Keys(brought)), got, cmp.Transformer("nil", func(l []string) []string { return append([]string{}, l...) })); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}

// vocabulary makes names and texts that collide often.
var vocabulary = []string{"light", "lamp", "door", "read", "set", "color", "weather", "issue", "list", "who", "here", "close"}

func phrase(t *rapid.T, label string, most int) []string {
	return rapid.SliceOfN(rapid.SampledFrom(vocabulary), 1, most).Draw(t, label)
}

// TestHiddenChangesNothing compares what one audience finds with what it finds
// in a space in which nothing else exists: the answers are the same, byte for
// byte (T9, B3).
func TestHiddenChangesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		full := newHost(map[string]string{}, folder("/", "All of it"))
		part := newHost(map[string]string{}, folder("/", "All of it"))
		for i := range rapid.IntRange(1, 6).Draw(t, "entries") {
			above := slices.Sorted(maps.Keys(full.entries)) // of which some are hidden
			above[0] = ""
			path := rapid.SampledFrom(append(above, "/a", "/a/b")).Draw(t, "above") + fmt.Sprintf("/%s-%d", phrase(t, "name", 1)[0], i)
			title := strings.Join(phrase(t, "title", 3), " ")
			name := fmt.Sprintf("%d.wip", i)
			if rapid.IntRange(0, 4).Draw(t, "folder") == 0 {
				full.entries[path], part.entries[path] = folder(path, title), folder(path, title)
				continue
			}
			var everything, visible strings.Builder
			for j := range rapid.IntRange(1, 5).Draw(t, "operations") {
				secret := rapid.Bool().Draw(t, "secret")
				op := fmt.Sprintf("  /// %s.\n  @read_only @alias(%q) %s_%d() -> string;\n", strings.Join(phrase(t, "doc", 5), " "),
					strings.Join(phrase(t, "alias", 3), " ")+" it", strings.Join(phrase(t, "operation", 3), "_"), j)
				if secret {
					op = strings.Replace(op, "@read_only", "@read_only @mutating", 1)
					op = strings.Replace(op, "@read_only ", "", 1)
				} else {
					visible.WriteString(op)
				}
				everything.WriteString(op)
			}
			const head = "package p;\ninterface I {\n"
			full.documents[name] = head + everything.String() + "}\n"
			full.entries[path] = object(path, title, name, "I")
			if visible.Len() > 0 {
				part.documents[name] = head + visible.String() + "}\n"
				part.entries[path] = object(path, title, name, "I")
			}
		}
		views := map[*host]*space.View{}
		for _, h := range []*host{full, part} {
			s := space.New(nil)
			if err := s.Mount("/m", h, &space.MountOptions{Title: "Mount"}); err != nil {
				t.Fatal(err)
			}
			if err := s.Refresh(t.Context(), wip.Caller{}, "/"); err != nil {
				t.Fatal(err)
			}
			views[h] = s.View(func(_ *space.Node, op *idl.Operation) bool { return op.Risk == idl.ReadOnly })
		}
		scopes := []string{"", "/", "/m", "/m/a", "/m/a/b", "/nowhere"}
		for path := range full.entries {
			scopes = append(scopes, "/m"+path)
			if a, b := views[full].Contains("/m"+path), views[part].Contains("/m"+path); a != b {
				t.Fatalf("Contains(%q) = %v, without what is hidden %v", path, a, b)
			}
		}
		slices.Sort(scopes)
		for range 5 {
			scope := rapid.SampledFrom(scopes).Draw(t, "scope")
			query := strings.Join(phrase(t, "query", 4), rapid.SampledFrom([]string{" ", "_", "", "x "}).Draw(t, "glue"))
			a, b := views[full].Search(t.Context(), scope, query), views[part].Search(t.Context(), scope, query)
			if diff := cmp.Diff(b, a, ageless); diff != "" {
				t.Fatalf("what is hidden changes the answer to %q in %q:\n%s", query, scope, diff)
			}
		}
	})
}

// TestSearchBounds searches spaces of all sizes for anything at all.
func TestSearchBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := newHost(map[string]string{"lamp.wip": lampDocument}, folder("/", ""))
		long := rapid.StringN(0, 600, -1)
		for i := range rapid.IntRange(0, 60).Draw(t, "entries") {
			p := fmt.Sprintf("/%s%d", strings.Repeat("lamp", rapid.IntRange(1, 25).Draw(t, "length")), i)
			e := object(p, long.Draw(t, "title"), "lamp.wip", "Lamp", "Mounted")
			e.Summary = long.Draw(t, "summary")
			h.entries[p] = e
		}
		s := space.New(nil)
		if err := s.Mount("/m", h, nil); err != nil {
			t.Fatal(err)
		}
		if err := s.Refresh(t.Context(), wip.Caller{}, "/"); err != nil {
			t.Fatal(err)
		}
		v := s.View(all)
		query := rapid.OneOf(long, rapid.Just("the color of the lamp"), rapid.Just("")).Draw(t, "query")
		scope := rapid.OneOf(long, rapid.Just("/m"), rapid.Just("/")).Draw(t, "scope")
		f := v.Search(t.Context(), scope, query)
		checkBounds(t, f)
		if diff := cmp.Diff(f, v.Search(t.Context(), scope, query), ageless); diff != "" {
			t.Errorf("the same question has two answers:\n%s", diff)
		}
	})
}

// checkBounds checks what holds of every answer.
func checkBounds(t interface{ Errorf(string, ...any) }, f *space.Found) {
	size := len(f.Map) + len(f.Message)
	seen := map[string]bool{}
	weak := false
	for _, hit := range f.Hits {
		size += len(hit.Path) + len(hit.Title) + len(hit.Summary)
		if seen[hit.Path] {
			t.Errorf("%q is there twice", hit.Path)
		}
		seen[hit.Path] = true
		if weak && hit.Strength == space.Strong {
			t.Errorf("a strong hit comes after a weak one")
		}
		weak = hit.Strength == space.Weak
		if len(hit.Operations) > 5 {
			t.Errorf("a hit has %d operations, expected no more than 5", len(hit.Operations))
		}
		for _, op := range hit.Operations {
			size += len(op.Name) + len(op.Signature)
			if len(op.Signature) > 512 {
				t.Errorf("a signature has %d bytes, expected no more than 512", len(op.Signature))
			}
		}
	}
	strong := len(f.Hits) > 0 && f.Hits[0].Strength == space.Strong
	switch {
	case len(f.Hits) > 10:
		t.Errorf("%d hits, expected no more than 10", len(f.Hits))
	case len(f.Map) > 2048:
		t.Errorf("the map has %d bytes, expected no more than 2048", len(f.Map))
	case size > 8192:
		t.Errorf("the answer has %d bytes, expected no more than 8192", size)
	case strong == (f.Map != "") && f.Message != "There is nothing in this scope; the scope / is everything.":
		t.Errorf("strong is %v and the map has %d bytes: expected a map if and only if nothing is strong", strong, len(f.Map))
	case !strong && f.Message == "":
		t.Errorf("nothing is strong and the answer does not say so")
	case f.Truncated && !strings.Contains(f.Message, "narrower scope"):
		t.Errorf("a cut answer does not say how to narrow")
	}
}

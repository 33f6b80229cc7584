package space_test

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/objects"
	"github.com/wipagent/wipagent/objects/world"
	"github.com/wipagent/wipagent/space"
	"github.com/wipagent/wipagent/space/wip"
)

// gridSpace mounts the grid's Host alone, as the command does.
func gridSpace(t testing.TB) *space.Space {
	t.Helper()
	s := space.New(nil)
	mount(t, s, "/grid", objects.New(world.New(), nil), &space.MountOptions{Trusted: true})
	if err := s.Refresh(t.Context(), wip.Caller{}, "/"); err != nil {
		t.Fatal(err)
	}
	return s
}

// views are the grid alone as each audience sees it, and the grid among the
// made-up Hosts.
func views(t testing.TB) map[string]*space.View {
	t.Helper()
	views := map[string]*space.View{"among others": questionSpace(t, nil).View(all)}
	alone := gridSpace(t)
	for _, a := range []idl.Audience{idl.PublicChat, idl.AuthorizedIM, idl.LocalOperator} {
		p := &policy.Principal{Audience: a}
		views[a.String()] = alone.View(func(n *space.Node, op *idl.Operation) bool { return p.Allows(nil, n.Path, n.Interfaces, op) })
	}
	return views
}

// TestAliasIsStrong asks every alias that belongs to one operation word for
// word, and in other capitals: its operation comes first, in a strong hit.
func TestAliasIsStrong(t *testing.T) {
	for name, v := range views(t) {
		t.Run(name, func(t *testing.T) {
			owners := map[string]string{}
			for path, op := range operations(v) {
				for _, a := range op.Aliases {
					owner := path + "#" + op.Name
					if other, shared := owners[strings.ToLower(a.Text)]; shared && other != owner {
						owner = "shared"
					}
					owners[strings.ToLower(a.Text)] = owner
				}
			}
			asked := 0
			for path, op := range operations(v) {
				want := path + "#" + op.Name
				for _, a := range op.Aliases {
					if owners[strings.ToLower(a.Text)] != want {
						continue
					}
					for _, query := range []string{a.Text, strings.ToLower(a.Text), strings.ToUpper(a.Text[:1]) + a.Text[1:] + "?"} {
						asked++
						f := v.Search(t.Context(), "", query)
						if got := first(f); got != want+" strong" {
							t.Errorf("%q brings %s, expected %s", query, got, want)
						}
					}
				}
			}
			if asked < 100 {
				t.Errorf("%d questions, expected the aliases of a grid", asked)
			}
		})
	}
}

// TestAnyAliasIsStrong does the same with aliases that say nothing, demand
// something, are long, or differ in the forms of their words alone.
func TestAnyAliasIsStrong(t *testing.T) {
	words := append([]string{"I", "my", "the", "can", "is", "what", "who's", "don't", "it", "thing", "send", "dance", "build", "now", "list",
		"3", "IMs", "lights", "lamps", "reading", "PDFs", "近くに", "café", "zebra"}, vocabulary...)
	rapid.Check(t, func(t *rapid.T) {
		h := newHost(map[string]string{}, folder("/", "Lamps"))
		owners := map[string]string{}
		for i := range rapid.IntRange(1, 4).Draw(t, "entries") {
			path, name := fmt.Sprintf("/%s-%d", phrase(t, "name", 1)[0], i), fmt.Sprintf("%d.wip", i)
			doc := "package p;\ninterface I {\n"
			for j := range rapid.IntRange(1, 4).Draw(t, "operations") {
				op := fmt.Sprintf("%s_%d", strings.Join(phrase(t, "operation", 3), "_"), j)
				owners[strings.Join(space.Split(op), " ")] = "a name"
				doc += "  /// " + strings.Join(phrase(t, "doc", 6), " ") + ".\n"
				for range rapid.IntRange(0, 3).Draw(t, "aliases") {
					alias := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 12).Draw(t, "alias"), " ")
					key := strings.Join(space.Split(alias), " ")
					if owners[key] == "" {
						owners[key] = "/m" + path + "#" + op
						doc += fmt.Sprintf("  @alias(%q)\n", alias)
					}
				}
				doc += rapid.SampledFrom([]string{"  @read_only ", "  @mutating "}).Draw(t, "risk") + op + "() -> string;\n"
			}
			h.documents[name] = doc + "}\n"
			h.entries[path] = object(path, strings.Join(phrase(t, "title", 3), " "), name, "I")
		}
		s := space.New(nil)
		if err := s.Mount("/m", h, nil); err != nil {
			t.Fatal(err)
		}
		if err := s.Refresh(t.Context(), wip.Caller{}, "/"); err != nil {
			t.Fatal(err)
		}
		v := s.View(all)
		for alias, owner := range owners {
			if owner == "a name" {
				continue // which may be that of several, and is none of an alias's
			}
			if got := first(v.Search(t.Context(), "", alias)); got != owner+" strong" {
				t.Errorf("%q brings %s, expected %s", alias, got, owner)
			}
		}
	})
}

// first is the best operation of an answer with its strength.
func first(f *space.Found) string {
	switch {
	case len(f.Hits) == 0:
		return "nothing"
	case len(f.Hits[0].Operations) == 0:
		return f.Hits[0].Path + " " + string(f.Hits[0].Strength)
	}
	return fmt.Sprintf("%s#%s %s", f.Hits[0].Path, f.Hits[0].Operations[0].Name, f.Hits[0].Strength)
}

// strong lists the entries of the strong hits.
func strong(f *space.Found) []string {
	var paths []string
	for _, hit := range f.Hits {
		if hit.Strength == space.Strong {
			paths = append(paths, hit.Path)
		}
	}
	return paths
}

// TestEverydayQuestions asks the grid what people ask first.
func TestEverydayQuestions(t *testing.T) {
	for name, v := range views(t) {
		for _, test := range []struct {
			query string
			want  string // the first hit: a path or path#operation, perhaps with a strength
			never string // no strong hit
		}{
			{"IMs", "/grid/agent#recent_participants strong", "/grid/inventory"},
			{"LMs", "/grid/inventory#received_landmarks strong", "/grid/agent"},
			{"my items", "/grid/inventory#inventory_search", "/grid/region"},
			{"list everything I own", "/grid/inventory", "/grid/agent"},
			{"do I own a hat", "/grid/inventory#inventory_search", ""},
			{"do I have a red hat", "/grid/inventory#inventory_search", ""},
			{"where is my hat", "/grid/inventory#inventory_search", ""},
			{"what does the notice board say", "/grid/region#visible_objects", ""},
			{"what does the notice board say?", "/grid/region#visible_objects", ""},
			{"read the sign", "/grid/region#visible_objects", ""},
			{"where is Juniper Vale", "/grid/region#nearby_avatars", "/grid/inventory"},
			{"Where's Juniper Vale?", "/grid/region#nearby_avatars", "/grid/inventory"},
			{"where is the fountain", "/grid/region#visible_objects", "/grid/inventory"},
			{"where is everybody", "/grid/region#nearby_avatars", "/grid/inventory"},
			{"can I fly here", "/grid/parcel#parcel_environment strong", ""},
			{"may I fly here", "/grid/parcel#parcel_environment strong", ""},
			{"can I build here please", "/grid/parcel#parcel_environment strong", ""},
			{"may I fly over this land", "/grid/parcel#parcel_environment strong", ""},
			{"I'm cold", "", "/grid/agent"},
			{"what am I wearing", "", "/grid/region"},
			{"what is in my bag", "", "/grid/region"},
		} {
			f := v.Search(t.Context(), "", test.query)
			if strings.Contains(test.want, "inventory") && !v.Contains("/grid/inventory") || strings.Contains(test.want, "recent") && !v.Contains("/grid/inventory") {
				continue
			}
			if got := first(f); !strings.HasPrefix(got, test.want) {
				t.Errorf("%s: %q brings %s, expected %s", name, test.query, got, test.want)
			}
			if slices.Contains(strong(f), test.never) {
				t.Errorf("%s: %q has %s among the strong hits %s", name, test.query, test.never, strong(f))
			}
			if len(strong(f)) == 0 && f.Map == "" {
				t.Errorf("%s: %q has neither a strong hit nor a map", name, test.query)
			}
		}
	}
}

// operations returns the operations that a view has, by their entries' paths.
func operations(v *space.View) iter.Seq2[string, *idl.Operation] {
	return func(yield func(string, *idl.Operation) bool) {
		for _, c := range v.Candidates() {
			for _, op := range c.Operations {
				if !yield(c.Node.Path, op.Operation) {
					return
				}
			}
		}
	}
}

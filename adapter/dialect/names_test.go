package dialect_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/wipagent/wipagent/adapter/dialect"
)

// named returns tools of those names, without parameters.
func named(names ...string) []dialect.Tool {
	tools := make([]dialect.Tool, len(names))
	for i, name := range names {
		tools[i].Name = name
	}
	return tools
}

// TestNames exports names of any length, with any prefix: each is short enough
// with the prefix, no two are equal where case does not count, each leads back
// to its tool, and no name depends on the order of the tools.
func TestNames(t *testing.T) {
	allowed := regexp.MustCompile(`^[a-z][a-zA-Z0-9_]*$`)
	rapid.Check(t, func(t *rapid.T) {
		// Few letters and many lengths, so that names are alike.
		list := rapid.SliceOfNDistinct(rapid.StringMatching(`[ab]_?(ab_){0,40}[abAB_]{0,40}`), 1, 20, strings.ToLower).Draw(t, "names")
		prefix := rapid.IntRange(0, 44).Draw(t, "prefix")
		tools := named(list...)
		d := dialect.Lookup("mcp")
		e, err := d.Export(tools, dialect.Options{Prefix: prefix})
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for i, want := range list {
			name := e.Name(i)
			if len(name)+prefix > 64 || !allowed.MatchString(name) || seen[strings.ToLower(name)] {
				t.Fatalf("%q is exported as %q, beside %v", want, name, seen)
			}
			seen[strings.ToLower(name)] = true
			if len(want)+prefix <= 64 && name != want {
				t.Fatalf("%q is exported as %q, which it need not be", want, name)
			}
			if got, ok := e.Index(name); !ok || got != i {
				t.Fatalf("%q leads to tool %d, %t, want %d", name, got, ok, i)
			}
		}
		slices.Reverse(tools)
		back, err := d.Export(tools, dialect.Options{Prefix: prefix})
		if err != nil {
			t.Fatal(err)
		}
		for i := range tools {
			if back.Name(i) != e.Name(len(tools)-1-i) {
				t.Fatalf("%q is %q in this order and %q in the other", tools[i].Name, back.Name(i), e.Name(len(tools)-1-i))
			}
		}
	})
}

// TestIndex reads names as models and gateways send them.
func TestIndex(t *testing.T) {
	names := []string{"discover", "region_nearby_avatars", "nearby_avatars", "avatars", "a__avatars", "close", "look_up", "lookup_all", "look_upall"}
	e := export(t, "mcp", named(names...), dialect.Options{})
	for sent, want := range map[string]string{
		"discover":                     "discover",
		"Discover":                     "discover",
		"mcp__world__discover":         "discover",
		"functions.discover":           "discover",
		"default_api:discover":         "discover",
		"world/Region_Nearby_Avatars":  "region_nearby_avatars",
		"mcp__world__nearby_avatars":   "nearby_avatars",
		"a__avatars":                   "a__avatars",
		"mcp__a__avatars":              "", // avatars of a server a, or a__avatars of a server mcp
		"mcp__a__b__avatars":           "avatars",
		"region-nearby-avatars":        "region_nearby_avatars",
		"regionNearbyAvatars":          "region_nearby_avatars",
		"Region Nearby Avatars":        "region_nearby_avatars",
		"mcp__world__nearbyAvatars":    "nearby_avatars",
		"functions.look-up":            "look_up",
		"lookUpAll":                    "", // lookup_all or look_upall
		"-look-up":                     "",
		"look-up-":                     "",
		"undo_close":                   "", // made up: no gateway's prefix
		"dont_close":                   "",
		"close_all":                    "",
		"__discover":                   "", // no prefix
		".discover":                    "",
		"discover__":                   "",
		"":                             "",
		"mcp__world__":                 "",
		strings.Repeat("a__", 100_000): "",
	} {
		got := ""
		if i, ok := e.Index(sent); ok {
			got = names[i]
		}
		if got != want {
			t.Errorf("%.40q means %q, want %q", sent, got, want)
		}
	}
}

// TestBadNames exports what cannot be told apart, or is no name.
func TestBadNames(t *testing.T) {
	for _, test := range []struct {
		names  []string
		prefix int
		want   string
	}{
		{[]string{""}, 0, `found the name "" of a tool`},
		{[]string{"Discover"}, 0, `found the name "Discover" of a tool`},
		{[]string{"a.b"}, 0, `found the name "a.b" of a tool`},
		{[]string{"a b\u202e"}, 0, `found the name "a b" of a tool`},
		{[]string{strings.Repeat("a", 257)}, 0, `expected a letter in lower case`},
		{[]string{"a", "b", "a"}, 0, `found the names "a" and "a" of tools`},
		{[]string{"a_b", "a_B"}, 0, `found the names "a_b" and "a_B" of tools`},
		{[]string{"a"}, 45, "found a prefix of 45 bytes, expected 0 to 44"},
		{[]string{"a"}, -1, "found a prefix of -1 bytes, expected 0 to 44"},
	} {
		for _, d := range dialect.All() {
			if _, err := d.Export(named(test.names...), dialect.Options{Prefix: test.prefix}); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: %.40q: got %v, want %s", d.Name, test.names, err, test.want)
			}
		}
	}
}

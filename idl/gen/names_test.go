package gen_test

import (
	"go/token"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/wipagent/wipagent/idl/gen"
)

func TestNames(t *testing.T) {
	for _, c := range []struct{ name, snake, pascal, camel string }{
		{"radius_meters", "radius_meters", "RadiusMeters", "radiusMeters"},
		{"Region", "Region", "Region", "region"},
		{"LSL", "LSL", "LSL", "lsl"},
		{"URL_path", "URL_path", "URLPath", "urlPath"},
		{"camelCase", "camelCase", "CamelCase", "camelCase"},
		{"X", "X", "X", "x"},
		{"__init__", "init__", "Init", "init"},
		{"_1st", "x1st", "X1st", "x1st"},
		{"a__b_2", "a__b_2", "AB2", "aB2"},
		{"___", "x", "X", "x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := []string{gen.Snake(c.name), gen.Pascal(c.name), gen.Camel(c.name)}
			if d := cmp.Diff([]string{c.snake, c.pascal, c.camel}, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestAllocate(t *testing.T) {
	for name, c := range map[string]struct{ want, reserved, got []string }{
		"free":               {want: []string{"a", "b"}, got: []string{"a", "b"}},
		"reserved":           {want: []string{"from", "to"}, reserved: []string{"from"}, got: []string{"from_", "to"}},
		"twice":              {want: []string{"a", "a", "a"}, got: []string{"a", "a_", "a__"}},
		"a later name stays": {want: []string{"from", "from_"}, reserved: []string{"from"}, got: []string{"from__", "from_"}},
		"reserved suffixes":  {want: []string{"a"}, reserved: []string{"a", "a_"}, got: []string{"a__"}},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(c.got, gen.Allocate(c.want, c.reserved)); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestAllocateAny: names are different, free and those that were wanted but for
// what stands behind, and no name is changed without need.
func TestAllocateAny(t *testing.T) {
	word := rapid.StringMatching("[ab]_{0,2}")
	rapid.Check(t, func(t *rapid.T) {
		want, reserved := rapid.SliceOf(word).Draw(t, "want"), rapid.SliceOf(word).Draw(t, "reserved")
		got := gen.Allocate(want, reserved)
		for i, name := range got {
			if slices.Contains(reserved, name) || slices.Index(got, name) != i {
				t.Fatalf("found %s reserved or twice in %v", name, got)
			}
			if strings.Trim(strings.TrimPrefix(name, want[i]), "_") != "" {
				t.Fatalf("found %s for %s", name, want[i])
			}
			if name != want[i] && !slices.Contains(reserved, want[i]) && !slices.Contains(want[:i], want[i]) {
				t.Fatalf("found %s for %s without need", name, want[i])
			}
		}
	})
}

// TestAnyNameIsAnIdentifier: whatever the language lets a name be, each
// converter makes an identifier of it that begins with a letter.
func TestAnyNameIsAnIdentifier(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching("[A-Za-z_][A-Za-z0-9_]{0,63}").Draw(t, "name")
		for _, convert := range []func(string) string{gen.Snake, gen.Pascal, gen.Camel} {
			got := convert(name)
			if !identifier(got) {
				t.Fatalf("found %q of %q", got, name)
			}
		}
	})
}

func identifier(s string) bool {
	return s != "" && s[0] != '_' && (token.IsIdentifier(s) || token.IsKeyword(s))
}

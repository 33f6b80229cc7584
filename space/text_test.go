package space_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/wipagent/wipagent/space"
)

func TestSplit(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", ""},
		{"nearby_avatars", "nearby avatars"},
		{"nearbyAvatars", "nearby avatars"},
		{"HTTPServer v2.1", "http server v2 1"},
		{"who's here? Don't know, the dogs' bowl", "who is here dont know the dogs bowl"},
		{"Where’s Maria's hat? It's here", "where is maria hat it is here"},
		{"IMs, LMs of getXs; userIDs isAs", "ims lms of get xs user ids is as"},
		{"O’Neill’s", "o neill"},
		{"Küche/Bücher", "küche bücher"},
		{"近くにいるavatar", "近く くに にい いる avatar"},
		{"猫", "猫"},
		{"e\u0301te\u0301", "e\u0301te\u0301"},
		{"\xff\xfea", "a"},
	} {
		if got := strings.Join(space.Split(test.text), " "); got != test.want {
			t.Errorf("split(%q) = %q, expected %q", test.text, got, test.want)
		}
	}
}

func TestStem(t *testing.T) {
	for _, forms := range [][]string{
		{"light", "lights", "lighting"},
		{"send", "sent", "sends", "sending"},
		{"person", "people", "persons"},
		{"recipe", "recipes"},
	} {
		for _, f := range forms {
			if got := space.Stem(f); got != space.Stem(forms[0]) {
				t.Errorf("stem(%q) = %q, expected that of %q", f, got, forms[0])
			}
		}
	}
}

func TestDistance(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want int // 3: more than 2
	}{
		{"weather", "weather", 0},
		{"wether", "weather", 1},
		{"forecats", "forecast", 1},
		{"ofrecast", "forecast", 1},
		{"vehical", "vehicle", 2},
		{"light", "flight", 3},
		{"house", "mouse", 3},
		{"a", "abcd", 3},
		{"übre", "über", 1},
		{strings.Repeat("a", 70), strings.Repeat("a", 70), 3}, // too long to be a slip
	} {
		if got := min(space.Distance(test.a, test.b, 2), 3); got != test.want {
			t.Errorf("distance(%q, %q) = %d, expected %d", test.a, test.b, got, test.want)
		}
	}
	// Swapping the words changes nothing.
	word := rapid.StringMatching(`[a-c]{1,7}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		if x, y := min(space.Distance(a, b, 2), 3), min(space.Distance(b, a, 2), 3); x != y {
			t.Errorf("distance(%q, %q) = %d, but the other way %d", a, b, x, y)
		}
	})
}

func TestComparePaths(t *testing.T) {
	sorted := []string{"/", "/a", "/a/b", "/a/b/c", "/a/c", "/a b", "/a-b", "/a.b", "/ab", "/b"}
	shuffled := slices.Clone(sorted)
	slices.Reverse(shuffled)
	slices.SortFunc(shuffled, space.ComparePaths)
	if diff := cmp.Diff(sorted, shuffled); diff != "" {
		t.Error(diff)
	}
}

func TestWithin(t *testing.T) {
	for _, test := range []struct {
		path, scope string
		want        bool
	}{
		{"/grid/region", "/", true},
		{"/grid/region", "/grid", true},
		{"/grid", "/grid", true},
		{"/grid", "/grid/region", false},
		{"/gridlock", "/grid", false},
		{"/grid-2/region", "/grid", false},
	} {
		if got := space.Within(test.path, test.scope); got != test.want {
			t.Errorf("within(%q, %q) = %v", test.path, test.scope, got)
		}
	}
}

func FuzzSplit(f *testing.F) {
	for _, seed := range []string{"nearbyAvatars", "who's near me?", "近くにいるavatar", "\xff'sX", "’s", "HTTPServer"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, w := range space.Split(text) {
			if w == "" || !utf8.ValidString(w) || strings.ContainsAny(w, " \t\n_'/") {
				t.Errorf("split(%q) has the word %q", text, w)
			}
			space.Stem(w)
		}
	})
}

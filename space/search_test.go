package space_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/space"
	"github.com/wipagent/wipagent/space/wip"
)

func TestSearchStrong(t *testing.T) {
	v := lampSpace(t, lampHost(), nil).View(all)
	want := &space.Found{Hits: []space.Hit{{
		Path: "/house/hall/lamp", Title: "Hall lamp", Strength: space.Strong, Trust: "untrusted_observed_data",
		Operations: []space.OperationHit{
			{Name: "switch_lamp", Signature: "switch_lamp(on: bool) -> bool"},
			{Name: "get_color", Signature: "get_color() -> string"},
		},
	}}}
	if diff := cmp.Diff(want, v.Search(t.Context(), "", "switch the lamp off"), ageless); diff != "" {
		t.Error(diff)
	}
}

func TestSearchNothing(t *testing.T) {
	v := lampSpace(t, lampHost(), nil).View(all)
	want := &space.Found{
		Hits:    []space.Hit{},
		Message: "Nothing here matches that well; this is what there is:",
		Map:     "/house (My house)\n  /hall/lamp: switch_lamp get_color",
	}
	if diff := cmp.Diff(want, v.Search(t.Context(), "", "cheap flights to Lisbon"), ageless); diff != "" {
		t.Error(diff)
	}
}

// TestSearchWeak checks that hits which are guesses are called that, and not
// denied (B7).
func TestSearchWeak(t *testing.T) {
	v := lampSpace(t, lampHost(), nil).View(all)
	f := v.Search(t.Context(), "", "hang a lamp shade made of Venetian paper")
	if len(f.Hits) != 1 || f.Hits[0].Strength != space.Weak || f.Map == "" {
		t.Fatalf("got %+v, expected a weak hit and the map", f)
	}
	if !strings.Contains(f.Message, "weak guesses") || !strings.Contains(f.Message, "map shows all") || strings.Contains(f.Message, "Nothing here") {
		t.Errorf("the message is %q, expected it to say that the hits are guesses and the map is complete", f.Message)
	}
}

// TestSearchSlips checks which slips in short words are put right: in most,
// another word is meant.
func TestSearchSlips(t *testing.T) {
	v := lampSpace(t, lampHost(object("/hall/shelf", "Bookmarks", "lamp.wip", "Mounted")), nil).View(all)
	for query, want := range map[string]bool{
		"lmap": true, "colr": true, "swithc": true, "bookm": true, "swit": true,
		"lamb": false, "limp": false, "lap": false, "lmp": false, "hal": false, "book": false,
	} {
		if f := v.Search(t.Context(), "", query); (len(f.Hits) > 0) != want {
			t.Errorf("%q has %d hits, expected any: %v", query, len(f.Hits), want)
		}
	}
}

func TestSearchWithoutQuery(t *testing.T) {
	v := lampSpace(t, lampHost(), nil).View(all)
	for _, query := range []string{"", "  \n"} {
		f := v.Search(t.Context(), "/", query)
		if f.Message != "Without a query, this is what there is:" || f.Map == "" || len(f.Hits) != 1 || f.Hits[0].Strength != space.Weak {
			t.Errorf("Search(%q) = %+v, expected the map and weak hits", query, f)
		}
	}
}

func TestSearchScope(t *testing.T) {
	s := lampSpace(t, lampHost(), nil)
	mount(t, s, "/house2", lampHost(), nil)
	if err := s.Refresh(t.Context(), wip.Caller{}, "/house2"); err != nil {
		t.Fatal(err)
	}
	v := s.View(all)
	for _, test := range []struct{ scope, want string }{
		{"", "/house/hall/lamp /house2/hall/lamp"},
		{"/", "/house/hall/lamp /house2/hall/lamp"},
		{"/house", "/house/hall/lamp"},
		{"house", "/house/hall/lamp"},
		{"/house/", "/house/hall/lamp"},
		{"/house2/hall", "/house2/hall/lamp"},
		{"/house/hall/lamp", "/house/hall/lamp"},
		{"/hou", ""},
		{"/house/cellar", ""}, // there, but not discoverable
		{"/house/attic", ""},
		{"/house/../house", ""},
		{"\x00", ""},
	} {
		f := v.Search(t.Context(), test.scope, "switch the lamp")
		var got []string
		for _, hit := range f.Hits {
			got = append(got, hit.Path)
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("in %q: %q, expected %q", test.scope, got, test.want)
		}
		if nothing := (&space.Found{Hits: []space.Hit{}, Message: "There is nothing in this scope; the scope / is everything."}); test.want == "" {
			if diff := cmp.Diff(nothing, f); diff != "" {
				t.Errorf("in %q:\n%s", test.scope, diff)
			}
		}
	}
}

// TestSearchHidden checks what an audience is told that may see nothing, or
// only part of an Object.
func TestSearchHidden(t *testing.T) {
	s := lampSpace(t, lampHost(), nil)
	nothing := s.View(func(*space.Node, *idl.Operation) bool { return false })
	if f := nothing.Search(t.Context(), "", "switch the lamp"); f.Message != "There is nothing in this scope; the scope / is everything." || nothing.Contains("/house") || nothing.Contains("/") {
		t.Errorf("an audience that may see nothing is told %+v", f)
	}
	part := s.View(func(_ *space.Node, op *idl.Operation) bool { return op.Name == "get_color" })
	f := part.Search(t.Context(), "", "switch the lamp")
	if text := fmt.Sprint(f); strings.Contains(text, "switch_lamp") {
		t.Errorf("a hidden operation is in the answer: %s", text)
	}
	for _, path := range []string{"/", "/house", "/house/hall", "/house/hall/lamp"} {
		if !part.Contains(path) {
			t.Errorf("%s is not in the view", path)
		}
	}
}

func TestSearchLongQuery(t *testing.T) {
	v := lampSpace(t, lampHost(), nil).View(all)
	f := v.Search(t.Context(), "", "switch the lamp "+strings.Repeat("é", 1<<20))
	checkBounds(t, f)
	if !strings.Contains(f.Message, "first 512 bytes") {
		t.Errorf("the message is %q, expected it to say that the query was cut", f.Message)
	}
}

func TestSearchTruncated(t *testing.T) {
	h := lampHost()
	for i := range 30 {
		p := fmt.Sprintf("/room/%02d", i)
		h.entries[p] = object(p, "Lamp of a room", "lamp.wip", "Lamp")
	}
	f := lampSpace(t, h, nil).View(all).Search(t.Context(), "", "switch the lamp")
	checkBounds(t, f)
	if len(f.Hits) != 10 || !f.Truncated || !strings.Contains(f.Message, "use a narrower scope") {
		t.Errorf("%d hits, truncated %v, %q: expected 10 and how to narrow", len(f.Hits), f.Truncated, f.Message)
	}
	f = lampSpace(t, h, nil).View(all).Search(t.Context(), "", "")
	if want := "/house (My house)\n  /hall/lamp: switch_lamp get_color\n  /room/00, 01, 02 and 27 more: switch_lamp get_color"; f.Map != want {
		t.Errorf("the map is\n%s\nexpected\n%s", f.Map, want)
	}
}

// TestMapIsCut checks that a map without room for everything shows what the
// query has to do with, and says that it is cut.
func TestMapIsCut(t *testing.T) {
	h := newHost(map[string]string{}, folder("/", ""))
	for i := range 200 {
		name, p := fmt.Sprintf("%d.wip", i), fmt.Sprintf("/place-%d", i)
		h.documents[name] = fmt.Sprintf("package p; interface I { first_%d() -> int; second_%d() -> int; third_%d() -> int; }", i, i, i)
		h.entries[p] = object(p, "", name, "I")
	}
	h.documents["9.wip"] = "package p; interface I { count_sheep() -> int; }"
	v := lampSpace(t, h, nil).View(all)
	f := v.Search(t.Context(), "", "sheep and other animals of the far north")
	checkBounds(t, f)
	if !strings.Contains(f.Map, "/place-9: count_sheep") || !strings.Contains(f.Map, "The map is cut: ") || len(f.Map) < 1500 {
		t.Errorf("the map is\n%s\nexpected it to be full, to say that it is cut and to hold count_sheep", f.Map)
	}
	if f := v.Search(t.Context(), "/house/place-9", "nothing of it"); f.Map != "/house/place-9: count_sheep" {
		t.Errorf("the map of one entry is %q", f.Map)
	}
}

// TestStrangersSignature checks that an untrusted Host's documents cannot bring
// an address to a model through a signature.
func TestStrangersSignature(t *testing.T) {
	h := lampHost()
	h.documents["lamp.wip"] = `package lamp; interface Lamp { switch_lamp(on: string = "see https://evil.example.com/x") -> bool; }`
	s := lampSpace(t, h, nil)
	if text := fmt.Sprint(s.View(all).Search(t.Context(), "", "switch the lamp")); strings.Contains(text, "evil.example.com") || !strings.Contains(text, "switch_lamp(") {
		t.Errorf("the answer is %s", text)
	}
}

// scripted is a Ranker that answers what it is told to.
type scripted struct {
	candidates []space.Candidate
	of         func(*space.Candidate) int32
	fits       []space.Fit
	err        error
}

func (r *scripted) Index(c []space.Candidate, _ space.Index) space.Index { r.candidates = c; return r }

func (r *scripted) Rank(_ context.Context, _ string, from int, of []int32) ([]space.Fit, error) {
	for i := range of {
		of[i] = r.of(&r.candidates[from+i])
	}
	return r.fits, r.err
}

func TestRanker(t *testing.T) {
	r := &scripted{}
	v := lampSpace(t, lampHost(), &space.Config{Ranker: r}).View(all)
	none := space.Score{Value: -1, Strong: true}
	for name, fit := range map[string]space.Fit{
		"two":      {Entry: none, Operations: []space.Score{{Value: math.NaN(), Strong: true}, {Value: 1, Strong: true}}},
		"too many": {Entry: none, Operations: []space.Score{none, {Value: 1, Strong: true}, {Value: 2}, {Value: 3}}},
	} {
		r.fits, r.err = []space.Fit{fit}, nil
		r.of = func(c *space.Candidate) int32 {
			if len(c.Operations) == 0 {
				return 2 // of which there is none
			}
			return 1
		}
		f := v.Search(t.Context(), "/house/hall", "anything")
		if len(f.Hits) != 1 || f.Hits[0].Strength != space.Strong || len(f.Hits[0].Operations) != 1 || f.Hits[0].Operations[0].Name != "get_color" {
			t.Errorf("%s: Search = %+v, expected what the ranker scored", name, f)
		}
		for _, n := range []int32{-1, 2, math.MaxInt32} {
			r.of = func(*space.Candidate) int32 { return n }
			if f := v.Search(t.Context(), "/", "anything"); len(f.Hits) != 0 || f.Map == "" {
				t.Errorf("%s: Search = %+v, expected the map, as no candidate has a fit", name, f)
			}
		}
		r.of, r.err = func(*space.Candidate) int32 { return 1 }, errors.New("no model")
		if f := v.Search(t.Context(), "/", "anything"); len(f.Hits) != 0 || f.Map == "" || !errors.Is(f.Err, r.err) {
			t.Errorf("%s: Search = %+v, expected the map and the ranker's error", name, f)
		}
	}
	r.fits, r.err = []space.Fit{{Entry: space.Score{Value: 1}}}, nil // which says nothing of operations
	if f := v.Search(t.Context(), "/house/hall/lamp", "anything"); len(f.Hits) != 1 || len(f.Hits[0].Operations) != 2 {
		t.Errorf("Search = %+v, expected the entry with its operations", f)
	}
}

// FuzzSearch asks anything in any scope.
func FuzzSearch(f *testing.F) {
	f.Add("/", "who is near me")
	f.Add("/home/../grid", "SwitchLight in the küche 近くに")
	f.Add("", strings.Repeat("a_b ", 300))
	f.Add("/grid/", "\xff\x00")
	v := questionSpace(f, nil).View(all)
	f.Fuzz(func(t *testing.T, scope, query string) {
		checkBounds(t, v.Search(t.Context(), scope, query))
	})
}

func ExampleView_Search() {
	s := space.New(nil)
	if err := s.Mount("/house", lampHost(), &space.MountOptions{Title: "My house"}); err != nil {
		fmt.Println(err)
	}
	ctx := context.Background()
	if err := s.Refresh(ctx, wip.Caller{}, "/"); err != nil {
		fmt.Println(err)
	}
	view := s.View(func(*space.Node, *idl.Operation) bool { return true })
	for _, hit := range view.Search(ctx, "/house", "switch the lamps off").Hits {
		fmt.Println(hit.Path, hit.Strength, hit.Operations[0].Signature)
	}
	fmt.Println(view.Search(ctx, "/house", "water the garden").Message)
	// Output:
	// /house/hall/lamp strong switch_lamp(on: bool) -> bool
	// Nothing here matches that well; this is what there is:
}

package world_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wipagent/wipagent/objects/world"
)

func at(x, y, z float64) world.Vec3 { return world.Vec3{X: x, Y: y, Z: z} }

func prim(localID uint32, parent uint32, position world.Vec3) world.ObjectUpdated {
	return world.ObjectUpdated{Stamp: in(1), LocalID: localID, ID: id(int(localID)), PCode: world.PCodePrim,
		ParentID: parent, Position: position, Scale: at(1, 1, 1)}
}

func avatar(localID uint32, parent uint32, position world.Vec3) world.ObjectUpdated {
	u := prim(localID, parent, position)
	u.PCode, u.FirstName, u.LastName = world.PCodeAvatar, "Second", "Resident"
	return u
}

func own(localID, parent uint32, position world.Vec3) world.ObjectUpdated {
	u := avatar(localID, parent, position)
	u.ID = self
	return u
}

// turned is a quarter turn about the vertical axis: east becomes north.
var turned = world.Quat{Z: math.Sqrt2 / 2, W: math.Sqrt2 / 2}

func with(u world.ObjectUpdated, r world.Quat) world.ObjectUpdated {
	u.Rotation = r
	return u
}

func checkPlace(t *testing.T, got world.Place, want world.Vec3) {
	t.Helper()
	wanted := world.Place{Vec3: want, Known: true, HeightKnown: true}
	if diff := cmp.Diff(wanted, got, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Errorf("place (-want +got):\n%s", diff)
	}
}

func TestSeatedAvatars(t *testing.T) {
	tests := []struct {
		name    string
		updates []world.Update
		want    world.Vec3
	}{
		{"standing", []world.Update{avatar(2, 0, at(100, 100, 30))}, at(100, 100, 30)},
		{"seated", []world.Update{prim(5, 0, at(100, 100, 30)), avatar(2, 5, at(1, 2, 3))}, at(101, 102, 33)},
		{"seated on a turned seat", []world.Update{with(prim(5, 0, at(100, 100, 30)), turned), avatar(2, 5, at(1, 2, 3))}, at(98, 101, 33)},
		{"seated on a linked prim", []world.Update{
			with(prim(5, 0, at(100, 100, 30)), turned),
			with(prim(6, 5, at(10, 0, 0)), turned),
			avatar(2, 6, at(1, 0, 0.5)),
		}, at(99, 110, 30.5)},
		{"the child came first", []world.Update{avatar(2, 5, at(1, 2, 3)), prim(5, 0, at(100, 100, 30))}, at(101, 102, 33)},
		{"the seat moved", []world.Update{prim(5, 0, at(100, 100, 30)), avatar(2, 5, at(1, 2, 3)),
			world.ObjectMoved{Stamp: in(2), LocalID: 5, Position: at(50, 50, 20), Rotation: turned}}, at(48, 51, 23)},
		{"a rotation not of unit length", []world.Update{with(prim(5, 0, at(100, 100, 30)), world.Quat{Z: 5, W: 5}), avatar(2, 5, at(1, 2, 3))}, at(98, 101, 33)},
		{"stood up", []world.Update{prim(5, 0, at(100, 100, 30)), avatar(2, 5, at(1, 2, 3)), avatar(2, 0, at(90, 91, 30))}, at(90, 91, 30)},
		{"a terse update while seated", []world.Update{prim(5, 0, at(100, 100, 30)), avatar(2, 5, at(1, 2, 3)),
			world.ObjectMoved{Stamp: in(2), LocalID: 2, Position: at(0, 0, 1)}}, at(100, 100, 31)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := avatars(t, after(test.updates...))
			if len(got) != 1 {
				t.Fatalf("found %d avatars", len(got))
			}
			checkPlace(t, got[0].Place, test.want)
		})
	}
}

// A place that does not follow is the coarse one, or unknown, but the avatar
// is never left out.
func TestUnresolvedAvatars(t *testing.T) {
	deep := []world.Update{}
	for n := uint32(10); n < 10+world.MaxLinkDepth+1; n++ {
		deep = append(deep, prim(n, n+1, at(1, 0, 0)))
	}
	tests := []struct {
		name    string
		updates []world.Update
	}{
		{"unknown seat", []world.Update{avatar(2, 5, at(1, 2, 3))}},
		{"circle", []world.Update{prim(5, 6, at(1, 1, 1)), prim(6, 5, at(1, 1, 1)), avatar(2, 5, at(1, 2, 3))}},
		{"endless chain", append(deep, avatar(2, 10, at(1, 2, 3)))},
		{"no number", []world.Update{avatar(2, 0, at(math.NaN(), 2, 3))}},
		{"infinite", []world.Update{avatar(2, 0, at(1, math.Inf(-1), 3))}},
		{"out of this world", []world.Update{avatar(2, 0, at(1e200, 2, 3))}},
		{"seat without place", []world.Update{prim(5, 0, at(math.Inf(1), 0, 0)), avatar(2, 5, at(1, 2, 3))}},
		{"seat without rotation", []world.Update{with(prim(5, 0, at(1, 1, 1)), world.Quat{W: math.NaN()}), avatar(2, 5, at(1, 2, 3))}},
		{"killed seat", []world.Update{prim(5, 0, at(9, 9, 9)), avatar(2, 5, at(1, 2, 3)), world.ObjectsKilled{Stamp: in(2), LocalIDs: []uint32{5}}}},
		{"killed seat, its number given anew", []world.Update{prim(5, 0, at(9, 9, 9)), avatar(2, 5, at(1, 2, 3)),
			world.ObjectsKilled{Stamp: in(2), LocalIDs: []uint32{5}},
			world.ObjectUpdated{Stamp: in(3), LocalID: 5, ID: id(99), PCode: world.PCodePrim, Position: at(200, 200, 20)}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := after(test.updates...)
			got := avatars(t, w)
			if len(got) != 1 || got[0].ID != id(2) {
				t.Fatalf("found %d avatars, expected one", len(got))
			}
			if got[0].Place.Known || got[0].DistanceKnown || got[0].Direction != world.NoDirection {
				t.Errorf("found %+v, expected an unknown place", got[0])
			}
			w.Apply(world.CoarseLocations{Stamp: in(4), You: -1, Entries: []world.CoarseLocation{{ID: id(2), X: 100, Y: 110, Z: 6}}})
			checkPlace(t, avatars(t, w)[0].Place, at(100, 110, 24))
		})
	}
}

func TestOwnPlace(t *testing.T) {
	you := world.CoarseLocations{Stamp: in(2), You: 0, Entries: []world.CoarseLocation{{ID: self, X: 20, Y: 30, Z: 5}}}
	tests := []struct {
		name    string
		updates []world.Update
		want    world.Place
		seat    *uint32
	}{
		{"announced", nil, world.Place{Vec3: at(128, 128, 25), Known: true, HeightKnown: true}, nil},
		{"own avatar", []world.Update{own(2, 0, at(120, 121, 22))}, world.Place{Vec3: at(120, 121, 22), Known: true, HeightKnown: true}, ptr(uint32(0))},
		{"own avatar over coarse", []world.Update{own(2, 0, at(120, 121, 22)), you}, world.Place{Vec3: at(120, 121, 22), Known: true, HeightKnown: true}, ptr(uint32(0))},
		{"announced anew", []world.Update{own(2, 0, at(120, 121, 22)), world.AgentPlaced{Stamp: in(2), Position: at(10, 11, 12)}},
			world.Place{Vec3: at(10, 11, 12), Known: true, HeightKnown: true}, ptr(uint32(0))},
		{"corrected", []world.Update{own(2, 0, at(120, 121, 22)), world.AgentPlaced{Stamp: in(2), Position: at(10, 11, 12)},
			world.ObjectMoved{Stamp: in(3), LocalID: 2, Position: at(10, 11, 10)}}, world.Place{Vec3: at(10, 11, 10), Known: true, HeightKnown: true}, ptr(uint32(0))},
		{"seated", []world.Update{with(prim(5, 0, at(100, 100, 30)), turned), own(2, 5, at(1, 2, 3))},
			world.Place{Vec3: at(98, 101, 33), Known: true, HeightKnown: true}, ptr(uint32(5))},
		{"seated somewhere", []world.Update{own(2, 5, at(1, 2, 3))}, world.Place{}, ptr(uint32(5))},
		{"seated somewhere, coarse", []world.Update{own(2, 5, at(1, 2, 3)), you}, world.Place{Vec3: at(20, 30, 20), Known: true, HeightKnown: true}, ptr(uint32(5))},
		{"seat killed", []world.Update{prim(5, 0, at(100, 100, 30)), own(2, 5, at(1, 2, 3)), you, world.ObjectsKilled{Stamp: in(3), LocalIDs: []uint32{5}}},
			world.Place{Vec3: at(20, 30, 20), Known: true, HeightKnown: true}, nil},
		{"own avatar killed", []world.Update{own(2, 0, at(120, 121, 22)), prim(3, 2, at(0, 0, 1)), world.ObjectsKilled{Stamp: in(3), LocalIDs: []uint32{2}}},
			world.Place{Vec3: at(120, 121, 22), Known: true, HeightKnown: true}, ptr(uint32(0))},
		{"a place without sense", []world.Update{world.AgentPlaced{Stamp: in(2), Position: at(math.NaN(), 1, 1)}},
			world.Place{Vec3: at(128, 128, 25), Known: true, HeightKnown: true}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := capture(t, after(test.updates...))
			if diff := cmp.Diff(test.want, s.Scene.Agent, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
				t.Errorf("place (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.seat, s.Scene.Seat); diff != "" {
				t.Errorf("seat (-want +got):\n%s", diff)
			}
			if got, _ := s.Scene.Avatars(256); len(got.Items) != 0 {
				t.Errorf("found the agent itself among %d avatars", len(got.Items))
			}
		})
	}
}

func TestRootsOnly(t *testing.T) {
	tests := []struct {
		name    string
		updates []world.Update
		want    []int
	}{
		{"root", []world.Update{prim(5, 0, at(1, 1, 1))}, []int{5}},
		{"tree", []world.Update{func() world.Update { p := prim(5, 0, at(1, 1, 1)); p.PCode = 255; return p }()}, []int{5}},
		{"linked prim", []world.Update{prim(5, 0, at(1, 1, 1)), prim(6, 5, at(1, 1, 1))}, []int{5}},
		{"avatar", []world.Update{avatar(2, 0, at(1, 1, 1))}, nil},
		{"worn", []world.Update{avatar(2, 0, at(1, 1, 1)), prim(5, 2, at(0, 0, 1))}, nil},
		{"linked to what is worn", []world.Update{avatar(2, 0, at(1, 1, 1)), prim(5, 2, at(0, 0, 1)), prim(6, 5, at(0, 0, 1))}, nil},
		{"worn by the agent", []world.Update{own(2, 0, at(1, 1, 1)), prim(5, 2, at(0, 0, 1))}, nil},
		{"marked as worn", []world.Update{func() world.Update { p := prim(5, 0, at(1, 1, 1)); p.Attachment = true; return p }()}, nil},
		{"mark kept", []world.Update{func() world.Update { p := prim(5, 0, at(1, 1, 1)); p.Attachment = true; return p }(), prim(5, 0, at(2, 2, 2))}, nil},
		{"parent unseen", []world.Update{prim(5, 77, at(1, 1, 1))}, nil},
		{"dropped to the ground", []world.Update{avatar(2, 0, at(1, 1, 1)), prim(5, 2, at(0, 0, 1)), prim(5, 0, at(9, 9, 9))}, []int{5}},
		{"circle", []world.Update{prim(5, 6, at(1, 1, 1)), prim(6, 5, at(1, 1, 1))}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got []int
			for _, o := range objects(t, after(test.updates...)) {
				got = append(got, int(o.LocalID))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestKills(t *testing.T) {
	tests := []struct {
		name    string
		updates []world.Update
		kill    []uint32
		objects int
		avatars int
		stats   world.Stats
	}{
		{"root", []world.Update{prim(5, 0, at(1, 1, 1)), prim(6, 0, at(1, 1, 1))}, []uint32{5}, 1, 0, world.Stats{}},
		{"twice", []world.Update{prim(5, 0, at(1, 1, 1))}, []uint32{5, 5}, 0, 0, world.Stats{Unmatched: 1}},
		{"never described", nil, []uint32{5}, 0, 0, world.Stats{Unmatched: 1}},
		{"avatar with what it wears", []world.Update{avatar(2, 0, at(1, 1, 1)), prim(5, 2, at(0, 0, 1)), prim(6, 5, at(0, 0, 1))}, []uint32{2}, 0, 0, world.Stats{}},
		{"seat", []world.Update{prim(5, 0, at(1, 1, 1)), avatar(2, 5, at(0, 0, 1))}, []uint32{5}, 0, 1, world.Stats{}},
		{"root of a deep seat", []world.Update{prim(5, 0, at(1, 1, 1)), prim(6, 5, at(1, 1, 1)), avatar(2, 6, at(0, 0, 1))}, []uint32{5}, 0, 1, world.Stats{}},
		{"circle", []world.Update{prim(5, 6, at(1, 1, 1)), prim(6, 5, at(1, 1, 1)), prim(7, 0, at(1, 1, 1))}, []uint32{5}, 1, 0, world.Stats{}},
		{"parent never described", []world.Update{prim(6, 5, at(1, 1, 1)), avatar(2, 5, at(1, 1, 1))}, []uint32{5}, 0, 1, world.Stats{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := after(test.updates...)
			w.Apply(world.ObjectsKilled{Stamp: in(2), LocalIDs: test.kill})
			if got := len(objects(t, w)); got != test.objects {
				t.Errorf("found %d objects, expected %d", got, test.objects)
			}
			if got := len(avatars(t, w)); got != test.avatars {
				t.Errorf("found %d avatars, expected %d", got, test.avatars)
			}
			checkStats(t, w, test.stats)
		})
	}
}

// Children of what was killed are gone too: they do not come back as roots or
// count as known.
func TestKillForgetsChildren(t *testing.T) {
	w := after(prim(5, 0, at(1, 1, 1)), prim(6, 5, at(1, 1, 1)), prim(7, 6, at(1, 1, 1)))
	w.Apply(world.ObjectsKilled{Stamp: in(2), LocalIDs: []uint32{5}},
		world.ObjectMoved{Stamp: in(3), LocalID: 6}, world.ObjectMoved{Stamp: in(3), LocalID: 7})
	checkStats(t, w, world.Stats{Unmatched: 2})
}

func TestNewLocalID(t *testing.T) {
	named := prim(5, 0, at(1, 1, 1))
	named.Name, named.Description, named.HoverText = ptr("Box"), ptr("a box"), ptr("hover")
	again := named
	again.LocalID, again.Position = 9, at(2, 2, 2)
	again.Name, again.Description, again.HoverText = nil, nil, nil
	w := after(named, again)
	got := objects(t, w)
	if len(got) != 1 || got[0].LocalID != 9 || got[0].Place.Vec3 != at(2, 2, 2) {
		t.Fatalf("found %+v, expected one row under the new number", got)
	}
	if *got[0].Name != "Box" || *got[0].Description != "a box" || *got[0].HoverText != "hover" {
		t.Error("the names were not kept")
	}
	w.Apply(world.ObjectMoved{Stamp: in(2), LocalID: 5})
	checkStats(t, w, world.Stats{Unmatched: 1})

	other := prim(9, 0, at(3, 3, 3))
	other.ID = id(77)
	w.Apply(other)
	if got := objects(t, w); len(got) != 1 || got[0].ID != id(77) || got[0].Name != nil {
		t.Errorf("found %+v, expected only what got the number last, without the old name", got)
	}
}

func TestObjectTexts(t *testing.T) {
	w := after(prim(5, 0, at(1, 1, 1)))
	got := objects(t, w)[0]
	if got.Name != nil || got.Description != nil || got.HoverText != nil {
		t.Errorf("found %+v, expected unknown texts", got)
	}
	w.Apply(world.ObjectNamed{Stamp: in(2), ID: id(5), Name: "Box", Description: ""},
		world.ObjectNamed{Stamp: in(2), ID: id(6), Name: "Nothing"})
	got = objects(t, w)[0]
	if *got.Name != "Box" || *got.Description != "" || got.HoverText != nil {
		t.Errorf("found %+v", got)
	}
	checkStats(t, w, world.Stats{Unmatched: 1})

	hover := prim(5, 0, at(1, 1, 1))
	hover.HoverText = ptr("old")
	w.Apply(hover)
	hover.HoverText = ptr("")
	w.Apply(hover)
	if got = objects(t, w)[0]; *got.HoverText != "" || *got.Name != "Box" {
		t.Errorf("found %q, %q, expected a cleared hover text and the name kept", *got.HoverText, *got.Name)
	}

	long := prim(6, 0, at(1, 1, 1))
	long.Name = ptr(strings.Repeat("ü", world.MaxText))
	w.Apply(long)
	for _, o := range objects(t, w) {
		if o.LocalID == 6 && (len(*o.Name) != world.MaxText || !strings.HasSuffix(*o.Name, "ü")) {
			t.Errorf("found %d bytes, expected %d, cut on a character boundary", len(*o.Name), world.MaxText)
		}
	}
}

// What a source passes in may be changed by it afterwards.
func TestApplyKeepsNoPointers(t *testing.T) {
	u := prim(5, 0, at(1, 1, 1))
	u.Name = ptr("Box")
	heights := []float32{21}
	bitmap := make([]byte, 512)
	bitmap[0] = 1
	w := after(u, world.AgentPlaced{Stamp: in(1), Position: at(0, 0, 0)},
		world.TerrainUpdated{Stamp: in(1), Width: 1, Height: 1, Heights: heights},
		world.ParcelUpdated{Stamp: in(1), LocalID: 1, Bitmap: bitmap})
	*u.Name, heights[0], bitmap[0] = "changed", 99, 0
	s := capture(t, w)
	if o, _ := s.Scene.Objects(256); *o.Items[0].Name != "Box" {
		t.Errorf("found name %q", *o.Items[0].Name)
	}
	if s.TerrainHeight == nil || *s.TerrainHeight != 21 || s.Parcel == nil {
		t.Errorf("found terrain %v, parcel %v", s.TerrainHeight, s.Parcel)
	}
}

func TestMalformedObjects(t *testing.T) {
	noID := prim(5, 0, at(1, 1, 1))
	noID.ID = world.UUID{}
	w := after(noID, prim(0, 0, at(1, 1, 1)), prim(5, 5, at(1, 1, 1)), world.ObjectMoved{Stamp: in(1), LocalID: 5})
	checkStats(t, w, world.Stats{Malformed: 3, Unmatched: 1})

	odd := prim(6, 0, at(math.NaN(), 1, 1))
	odd.Scale = at(1, math.Inf(1), 1)
	w.Apply(odd)
	got := objects(t, w)
	if len(got) != 1 || got[0].Place.Known || got[0].ScaleKnown {
		t.Errorf("found %+v, expected an object of unknown place and scale", got)
	}
}

func TestAvatarNames(t *testing.T) {
	tests := []struct {
		name        string
		first, last string
		learned     string
		want        string
	}{
		{"legacy", "Second", "Life", "", "Second Life"},
		{"resident", "Second", "Resident", "", "Second"},
		{"no last name", "Second", "", "", "Second"},
		{"none", "", "", "", ""},
		{"placeholder", "Loading...", "", "", ""},
		{"placeholder with ellipsis", "Loading…", "", "", ""},
		{"placeholder in parentheses", "(Loading...)", "", "", ""},
		{"waiting", "(waiting)", "", "", ""},
		{"question marks", "(???)", "(???)", "", ""},
		{"somebody of that name", "Loading", "Resident", "", "Loading"},
		{"learned", "", "", "Ünï 日本", "Ünï 日本"},
		{"learned placeholder", "", "", "Loading...", ""},
		{"described over learned", "Second", "Resident", "Other", "Second"},
		{"spaces", " Second ", "  ", "", "Second"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			u := avatar(2, 0, at(1, 1, 1))
			u.FirstName, u.LastName = test.first, test.last
			w := after(u, world.AvatarNamed{Stamp: in(1), ID: u.ID, Name: test.learned})
			if got := avatars(t, w); len(got) != 1 || got[0].Name != test.want {
				t.Errorf("found %q, expected %q", got[0].Name, test.want)
			}
		})
	}
}

// A later description without a name does not take the name away.
func TestAvatarNameKept(t *testing.T) {
	nameless := avatar(2, 0, at(2, 2, 2))
	nameless.FirstName, nameless.LastName = "", ""
	if got := avatars(t, after(avatar(2, 0, at(1, 1, 1)), nameless)); got[0].Name != "Second" {
		t.Errorf("found %q", got[0].Name)
	}
}

func TestCoarse(t *testing.T) {
	entry := func(n int, x, y, z uint8) world.CoarseLocation {
		return world.CoarseLocation{ID: id(n), X: x, Y: y, Z: z}
	}
	list := func(you int, entries ...world.CoarseLocation) world.CoarseLocations {
		return world.CoarseLocations{Stamp: in(2), You: you, Entries: entries}
	}
	flat := func(x, y float64) world.Place { return world.Place{Vec3: at(x, y, 0), Known: true} }
	full := func(x, y, z float64) world.Place {
		return world.Place{Vec3: at(x, y, z), Known: true, HeightKnown: true}
	}
	tests := []struct {
		name    string
		updates []world.Update
		want    map[int]world.Place
	}{
		{"scaled height", []world.Update{list(-1, entry(2, 130, 128, 6))}, map[int]world.Place{2: full(130, 128, 24)}},
		{"height 0", []world.Update{list(-1, entry(2, 130, 128, 0))}, map[int]world.Place{2: flat(130, 128)}},
		{"height 255", []world.Update{list(-1, entry(2, 130, 128, 255))}, map[int]world.Place{2: {Vec3: at(130, 128, 1020), Known: true}}},
		{"height 254", []world.Update{list(-1, entry(2, 130, 128, 254))}, map[int]world.Place{2: full(130, 128, 1016)}},
		{"you by index", []world.Update{list(1, entry(2, 1, 1, 1), entry(3, 2, 2, 2))}, map[int]world.Place{2: full(1, 1, 4)}},
		{"you by UUID", []world.Update{list(-1, world.CoarseLocation{ID: self, X: 1, Y: 1, Z: 1}, entry(3, 2, 2, 2))}, map[int]world.Place{3: full(2, 2, 8)}},
		{"you out of range", []world.Update{list(9, entry(2, 1, 1, 1))}, map[int]world.Place{2: full(1, 1, 4)}},
		{"without UUID", []world.Update{list(-1, world.CoarseLocation{X: 1, Y: 1, Z: 1})}, map[int]world.Place{}},
		{"twice", []world.Update{list(-1, entry(2, 1, 1, 1), entry(2, 5, 5, 5))}, map[int]world.Place{2: full(1, 1, 4)}},
		{"object wins", []world.Update{list(-1, entry(2, 1, 1, 1)), avatar(2, 0, at(1.5, 1.25, 5.5))}, map[int]world.Place{2: full(1.5, 1.25, 5.5)}},
		{"killed but still listed", []world.Update{avatar(2, 0, at(1.5, 1.25, 5.5)), list(-1, entry(2, 1, 1, 1)),
			world.ObjectsKilled{Stamp: in(3), LocalIDs: []uint32{2}}}, map[int]world.Place{2: full(1, 1, 4)}},
		{"killed and not listed", []world.Update{avatar(2, 0, at(1, 1, 1)), list(-1, entry(2, 1, 1, 1)),
			world.ObjectsKilled{Stamp: in(3), LocalIDs: []uint32{2}}, list(-1)}, map[int]world.Place{}},
		{"replaced", []world.Update{list(-1, entry(2, 1, 1, 1)), list(-1, entry(3, 1, 1, 1))}, map[int]world.Place{3: full(1, 1, 4)}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, want := map[world.UUID]world.Place{}, map[world.UUID]world.Place{}
			for _, a := range avatars(t, after(test.updates...)) {
				got[a.ID] = a.Place
			}
			for n, p := range test.want {
				want[id(n)] = p
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("places (-want +got):\n%s", diff)
			}
		})
	}
}

// Regions larger than 256 m scale the coarse list to their size.
func TestCoarseInLargeRegion(t *testing.T) {
	w := world.New()
	w.Apply(
		world.SessionStarted{Stamp: in(0), Agent: self},
		world.RegionEntered{Stamp: in(0), SizeX: 1024, SizeY: 512},
		world.RegionReady{Stamp: in(0)},
		world.Covered{Stamp: in(0), Collection: world.Avatars},
		world.AgentPlaced{Stamp: in(0), Position: at(500, 300, 25)},
		world.CoarseLocations{Stamp: in(1), You: -1, Entries: []world.CoarseLocation{{ID: id(2), X: 128, Y: 128, Z: 6}}},
	)
	checkPlace(t, avatars(t, w)[0].Place, at(512, 256, 24))
}

// The agent's own place, if only the coarse list has it, may lack a height;
// then all distances are horizontal, and said to be unknown.
func TestCoarseObserver(t *testing.T) {
	w := world.New()
	w.Apply(
		world.SessionStarted{Stamp: in(0), Agent: self},
		world.RegionEntered{Stamp: in(0)},
		world.RegionReady{Stamp: in(0)},
		world.Covered{Stamp: in(0), Collection: world.Objects},
		world.CoarseLocations{Stamp: in(1), You: 0, Entries: []world.CoarseLocation{{ID: self, X: 128, Y: 128, Z: 255}}},
		prim(5, 0, at(131, 132, 900)),
	)
	got, ok := capture(t, w).Scene.Objects(5)
	if !ok || len(got.Items) != 1 {
		t.Fatalf("found %v, %v", got, ok)
	}
	if o := got.Items[0]; o.DistanceKnown || o.Distance != 5 || o.Direction != world.Northeast {
		t.Errorf("found %+v, expected 5 m that are not known to be the distance", o)
	}
}

func TestGone(t *testing.T) {
	here := []world.CoarseLocation{{ID: id(2), X: 1, Y: 1, Z: 1}}
	list := func(seconds float64, entries ...world.CoarseLocation) world.Update {
		return world.CoarseLocations{Stamp: in(seconds), You: -1, Entries: entries}
	}
	var crowd []world.CoarseLocation
	for n := range world.FullCoarse {
		crowd = append(crowd, world.CoarseLocation{ID: id(1000 + n), X: 1, Y: 1, Z: 1})
	}
	limit := world.GoneAfter.Seconds()
	tests := []struct {
		name    string
		updates []world.Update
		present bool
	}{
		{"listed", []world.Update{list(2, here...), list(100, here...)}, true},
		{"never listed", nil, true},
		{"missing for a while", []world.Update{list(2), list(2 + limit)}, true},
		{"missing for too long", []world.Update{list(2), list(2.1 + limit)}, false},
		{"missing, as anything later tells", []world.Update{list(2), world.AgentHealth{Stamp: in(2.1 + limit), Health: 1}}, false},
		{"back in the list", []world.Update{list(2), list(10, here...), list(3 + limit)}, true},
		{"moved meanwhile", []world.Update{list(2), world.ObjectMoved{Stamp: in(10), LocalID: 2}, list(3 + limit)}, true},
		{"a list that may be cut", []world.Update{list(2, crowd...), list(20+limit, crowd...)}, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := after(avatar(2, 0, at(1, 1, 1)), prim(3, 2, at(0, 0, 1)))
			w.Apply(test.updates...)
			present := false
			for _, a := range avatars(t, w) {
				present = present || a.ID == id(2)
			}
			if present != test.present {
				t.Errorf("present: found %v, expected %v", present, test.present)
			}
			if got := len(objects(t, w)); got != 0 {
				t.Errorf("found %d objects, expected what it wears to be none", got)
			}
		})
	}
	t.Run("the agent is never gone", func(t *testing.T) {
		w := after(own(2, 0, at(1, 1, 1)), list(2), list(100))
		if s := capture(t, w); !s.Scene.Agent.Known || s.Scene.Seat == nil {
			t.Error("the agent's own avatar is gone")
		}
	})
}

// An unchanged scene is captured once; whatever changes it is seen.
func TestSceneIsShared(t *testing.T) {
	w := after(prim(5, 0, at(1, 1, 1)))
	first, second := capture(t, w), capture(t, w)
	if first.Scene != second.Scene || first.Belongings != second.Belongings || first.People != second.People {
		t.Error("an unchanged world was captured anew")
	}
	if first.ID == second.ID {
		t.Error("two snapshots have one ID")
	}
	w.Apply(world.ObjectMoved{Stamp: in(2), LocalID: 5, Position: at(9, 9, 9)})
	third := capture(t, w)
	if o, _ := third.Scene.Objects(256); o.Items[0].Place.X != 9 {
		t.Errorf("found %v after the move", o.Items[0].Place)
	}
	if o, _ := first.Scene.Objects(256); o.Items[0].Place.X != 1 {
		t.Errorf("found %v in the old snapshot", o.Items[0].Place)
	}
}

func TestObservedIsNow(t *testing.T) {
	before := time.Now()
	s := capture(t, after())
	if s.Observed.Before(before) || s.Observed.After(time.Now()) {
		t.Errorf("found %v, expected the time of capture", s.Observed)
	}
}

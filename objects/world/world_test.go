package world_test

import (
	"encoding/binary"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/wipagent/wipagent/objects/world"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var (
	regionA = world.MustUUID("aaaaaaaa-0000-4000-8000-000000000001")
	regionB = world.MustUUID("bbbbbbbb-0000-4000-8000-000000000002")
	self    = world.MustUUID("0a0a0a0a-0000-4000-8000-000000000001")
	start   = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
)

// anywhere is a radius that leaves out nothing.
const anywhere = 1e9

// in stamps for generation 1 and region A, some seconds after the start.
func in(seconds float64) world.Stamp {
	return world.Stamp{Generation: 1, Region: regionA, At: start.Add(time.Duration(seconds * float64(time.Second)))}
}

// id makes a UUID whose order is that of n.
func id(n int) (u world.UUID) {
	u[0] = 0x11
	binary.BigEndian.PutUint64(u[8:], uint64(n))
	return u
}

func ptr[T any](v T) *T { return &v }

// login is what a source sends until snapshots exist.
func login() []world.Update {
	return []world.Update{
		world.SessionStarted{Stamp: in(0), Source: "test", Agent: self},
		world.RegionEntered{Stamp: in(0), Name: "Test Region", WaterHeight: ptr(20.0)},
		world.RegionReady{Stamp: in(0)},
		world.Covered{Stamp: in(0), Collection: world.Avatars},
		world.Covered{Stamp: in(0), Collection: world.Objects},
		world.Covered{Stamp: in(0), Collection: world.Inventory},
		world.Covered{Stamp: in(0), Collection: world.Participants},
		world.AgentPlaced{Stamp: in(0), Position: world.Vec3{X: 128, Y: 128, Z: 25}},
	}
}

// after returns a world to which login and then the updates were applied.
func after(updates ...world.Update) *world.World {
	w := world.New()
	w.Apply(login()...)
	w.Apply(updates...)
	return w
}

func capture(t testing.TB, w *world.World) *world.Snapshot {
	t.Helper()
	s, err := w.Capture(t.Context())
	if err != nil {
		t.Fatalf("Capture: %v", err)
	}
	return s
}

func avatars(t testing.TB, w *world.World) []*world.Avatar {
	t.Helper()
	selected, ok := capture(t, w).Scene.Avatars(anywhere)
	if !ok {
		t.Fatal("the avatars are unknown")
	}
	return selected.Items
}

func objects(t testing.TB, w *world.World) []*world.Object {
	t.Helper()
	selected, ok := capture(t, w).Scene.Objects(anywhere)
	if !ok {
		t.Fatal("the objects are unknown")
	}
	return selected.Items
}

func checkStats(t *testing.T, w *world.World, want world.Stats) {
	t.Helper()
	got := w.Stats()
	want.Applied = got.Applied
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stats (-want +got):\n%s", diff)
	}
}

func TestReadiness(t *testing.T) {
	session := world.SessionStarted{Stamp: in(0), Source: "test", Agent: self}
	entered := world.RegionEntered{Stamp: in(0), Name: "A"}
	ready := world.RegionReady{Stamp: in(0)}
	leaving := world.RegionLeaving{Stamp: in(0)}
	inB := world.Stamp{Generation: 1, Region: regionB}
	tests := []struct {
		name    string
		updates []world.Update
		want    error
	}{
		{"nothing", nil, world.ErrNotReady},
		{"session", []world.Update{session}, world.ErrNotReady},
		{"region", []world.Update{session, entered}, world.ErrNotReady},
		{"ready before the region", []world.Update{session, ready, entered}, world.ErrNotReady},
		{"ready", []world.Update{session, entered, ready}, nil},
		{"leaving", []world.Update{session, entered, ready, leaving}, world.ErrMoving},
		{"ready while leaving", []world.Update{session, entered, ready, leaving, ready}, world.ErrMoving},
		{"stayed", []world.Update{session, entered, ready, leaving, world.RegionStayed{Stamp: in(0)}}, nil},
		{"arrived", []world.Update{session, entered, ready, leaving, world.RegionEntered{Stamp: inB}}, world.ErrNotReady},
		{"crossed", []world.Update{session, entered, ready, world.RegionEntered{Stamp: inB}}, world.ErrNotReady},
		{"old region ready", []world.Update{session, entered, world.RegionEntered{Stamp: inB}, ready}, world.ErrNotReady},
		{"ready there", []world.Update{session, entered, ready, world.RegionEntered{Stamp: inB}, world.RegionReady{Stamp: inB}}, nil},
		{"entered again", []world.Update{session, entered, ready, entered}, nil},
		{"left and entered again", []world.Update{session, entered, ready, leaving, entered}, world.ErrNotReady},
		{"disconnected", []world.Update{session, entered, ready, world.Disconnected{Stamp: in(0)}}, world.ErrDisconnected},
		{"disconnected while leaving", []world.Update{session, entered, ready, leaving, world.Disconnected{Stamp: in(0)}}, world.ErrDisconnected},
		{"connected again", []world.Update{session, entered, ready, world.Disconnected{Stamp: in(0)},
			world.SessionStarted{Stamp: world.Stamp{Generation: 2}}}, world.ErrNotReady},
		{"old session again", []world.Update{session, entered, ready, world.Disconnected{Stamp: in(0)}, session, entered, ready}, world.ErrDisconnected},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := world.New()
			w.Apply(test.updates...)
			s, err := w.Capture(t.Context())
			if !errors.Is(err, test.want) {
				t.Errorf("Capture: found %v, expected %v", err, test.want)
			}
			if (s == nil) != (test.want != nil) {
				t.Errorf("Capture: found snapshot %v", s)
			}
		})
	}
}

func TestStaleStamps(t *testing.T) {
	box := world.ObjectUpdated{Stamp: in(1), LocalID: 7, ID: id(7), PCode: world.PCodePrim, Position: world.Vec3{X: 1}}
	folder := world.InventoryFolder{Stamp: in(1), ID: id(1), Name: "F"}
	tests := []struct {
		name   string
		update world.Update
		stale  uint64
	}{
		{"same", box, 0},
		{"other region", func() world.Update { b := box; b.Region = regionB; return b }(), 1},
		{"no region", func() world.Update { b := box; b.Region = world.UUID{}; return b }(), 1},
		{"older session", func() world.Update { b := box; b.Generation = 0; return b }(), 1},
		{"newer session", func() world.Update { b := box; b.Generation = 2; return b }(), 1},
		{"inventory of another region", func() world.Update { f := folder; f.Region = regionB; return f }(), 0},
		{"inventory of another session", func() world.Update { f := folder; f.Generation = 2; return f }(), 1},
		{"the same session again", world.SessionStarted{Stamp: in(1)}, 1},
		{"an older session", world.SessionStarted{Stamp: world.Stamp{Generation: 0}}, 1},
		{"coverage of another region", world.Covered{Stamp: world.Stamp{Generation: 1, Region: regionB}, Collection: world.Objects}, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := after(test.update)
			checkStats(t, w, world.Stats{Stale: test.stale})
			if _, err := w.Fence(); err != nil {
				t.Errorf("Fence: %v", err)
			}
		})
	}
}

// After the end of a session nothing of it is taken in any more.
func TestDisconnectedIsFinal(t *testing.T) {
	w := after(world.Disconnected{Stamp: in(1)})
	w.Apply(login()...)
	w.Apply(prim(5, 0, at(1, 1, 1)), world.Disconnected{Stamp: in(2)})
	checkStats(t, w, world.Stats{Stale: uint64(len(login()) + 2)})
}

// What belongs to a region ends with it, what belongs to the session stays.
func TestCrossing(t *testing.T) {
	w := after(
		world.ObjectUpdated{Stamp: in(1), LocalID: 7, ID: id(7), PCode: world.PCodePrim, Position: world.Vec3{X: 128, Y: 128, Z: 25}},
		world.AvatarNamed{Stamp: in(1), ID: id(2), Name: "Second Resident"},
		world.AgentHealth{Stamp: in(1), Health: 80},
		world.InventoryItem{Stamp: in(1), ID: id(3), Name: "Hat"},
		world.Heard{Stamp: in(1), ID: id(2), Channel: world.DirectIM},
		world.ParcelUpdated{Stamp: in(1), LocalID: 1, Name: "P", Area: 512, Current: true},
		world.TerrainUpdated{Stamp: in(1), X: 128, Y: 128, Width: 1, Height: 1, Heights: []float32{21}},
	)
	before := capture(t, w)
	if before.Parcel == nil || before.TerrainHeight == nil {
		t.Fatal("parcel and terrain are unknown before the crossing")
	}

	inB := world.Stamp{Generation: 1, Region: regionB, At: start.Add(time.Second)}
	w.Apply(
		world.RegionLeaving{Stamp: in(2)},
		world.RegionEntered{Stamp: inB, Name: "B"},
		world.RegionReady{Stamp: inB},
		world.ObjectsKilled{Stamp: in(3), LocalIDs: []uint32{1}}, // from the old region
	)
	s := capture(t, w)
	if s.Region != regionB || s.RegionName != "B" || s.WaterHeight != nil {
		t.Errorf("region: found %v %q %v", s.Region, s.RegionName, s.WaterHeight)
	}
	if s.Scene.Agent.Known || s.Scene.Seat != nil || s.Parcel != nil || s.TerrainHeight != nil {
		t.Errorf("found place %v, seat %v, parcel %v, terrain %v in a region just entered", s.Scene.Agent, s.Scene.Seat, s.Parcel, s.TerrainHeight)
	}
	if _, ok := s.Scene.Objects(256); ok {
		t.Error("the objects are known in a region just entered")
	}
	if found, ok := s.Belongings.Search("hat"); !ok || len(found.Items) != 1 {
		t.Errorf("inventory: found %v, %v", found, ok)
	}
	if recent, ok := s.People.Recent(); !ok || len(recent.Items) != 1 {
		t.Errorf("participants: found %v, %v", recent, ok)
	}
	if s.Health == nil || *s.Health != 80 {
		t.Errorf("health: found %v", s.Health)
	}
	w.Apply(
		world.Covered{Stamp: inB, Collection: world.Avatars},
		world.AgentPlaced{Stamp: inB, Position: world.Vec3{X: 10, Y: 10, Z: 10}},
		world.CoarseLocations{Stamp: inB, You: -1, Entries: []world.CoarseLocation{{ID: id(2), X: 10, Y: 20, Z: 5}}},
	)
	if got := avatars(t, w); len(got) != 1 || got[0].Name != "Second Resident" {
		t.Errorf("avatars: found %v, expected the name learned in the other region", got)
	}

	w.Apply(world.SessionStarted{Stamp: world.Stamp{Generation: 2}, Agent: self},
		world.RegionEntered{Stamp: world.Stamp{Generation: 2, Region: regionA}},
		world.RegionReady{Stamp: world.Stamp{Generation: 2, Region: regionA}})
	s = capture(t, w)
	if _, ok := s.Belongings.Search("hat"); ok || s.Health != nil {
		t.Error("the inventory or health outlived the session")
	}
	if _, ok := s.People.Recent(); ok {
		t.Error("the participants outlived the session")
	}
}

func TestRegionEnteredAgainKeeps(t *testing.T) {
	w := after(
		world.ObjectUpdated{Stamp: in(1), LocalID: 7, ID: id(7), PCode: world.PCodePrim, Position: world.Vec3{X: 128, Y: 128, Z: 25}},
		world.RegionEntered{Stamp: in(2), Name: "Renamed", WaterHeight: ptr(math.Inf(1))},
	)
	s := capture(t, w)
	if s.RegionName != "Renamed" || s.WaterHeight != nil {
		t.Errorf("found name %q, water %v", s.RegionName, s.WaterHeight)
	}
	if got := objects(t, w); len(got) != 1 {
		t.Errorf("found %d objects, expected the one known before", len(got))
	}
}

func TestHealth(t *testing.T) {
	for _, test := range []struct {
		name   string
		health float64
		want   *float64
	}{
		{"dead", 0, ptr(0.0)},
		{"unhurt", 100, ptr(100.0)},
		{"above", 100.5, nil},
		{"below", -1, nil},
		{"no number", math.NaN(), nil},
		{"infinite", math.Inf(1), nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := capture(t, after(world.AgentHealth{Stamp: in(1), Health: test.health})).Health
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	if got := capture(t, after()).Health; got != nil {
		t.Errorf("found health %v before any was reported", *got)
	}
}

func TestAsOf(t *testing.T) {
	w := world.New()
	w.Apply(
		world.SessionStarted{Stamp: in(0), Source: "archive", AsOf: start, OwnLocalIDs: true},
		world.RegionEntered{Stamp: in(0), Name: "Saved"},
		world.RegionReady{Stamp: in(0)},
		world.Covered{Stamp: in(0), Collection: world.Objects},
		world.AgentPlaced{Stamp: in(0), Position: world.Vec3{X: 128, Y: 128, Z: 25}, Assumed: true},
		world.ObjectUpdated{Stamp: in(0), LocalID: 7, ID: id(7), PCode: world.PCodePrim, Position: world.Vec3{X: 131, Y: 132, Z: 25}},
		world.TerrainUpdated{Stamp: in(0), Width: 256, Height: 256, Heights: make([]float32, 256*256)},
	)
	s := capture(t, w)
	if !s.Observed.Equal(start) || s.Source != "archive" || !s.Agent.IsZero() {
		t.Errorf("found %v, %q, %v", s.Observed, s.Source, s.Agent)
	}
	if s.Scene.Agent.Known || !s.Scene.Assumed || s.Scene.Observer.X != 128 || s.Scene.Seat != nil {
		t.Errorf("found agent %v, observer %v, assumed %v", s.Scene.Agent, s.Scene.Observer, s.Scene.Assumed)
	}
	if s.TerrainHeight == nil {
		t.Error("the ground under the assumed observer is unknown")
	}
	found, ok := s.Scene.Objects(5)
	if !ok || len(found.Items) != 1 || found.Items[0].Distance != 5 || found.Items[0].LocalID != 0 {
		t.Errorf("objects: found %+v, %v", found, ok)
	}
	if _, ok := s.Scene.Avatars(256); ok {
		t.Error("an archive knows avatars")
	}
}

func TestUncoveredIsUnknown(t *testing.T) {
	w := world.New()
	w.Apply(
		world.SessionStarted{Stamp: in(0), Agent: self},
		world.RegionEntered{Stamp: in(0)},
		world.RegionReady{Stamp: in(0)},
		world.AgentPlaced{Stamp: in(0), Position: world.Vec3{X: 1, Y: 1, Z: 1}},
	)
	known := func() [4]bool {
		s := capture(t, w)
		_, a := s.Scene.Avatars(256)
		_, o := s.Scene.Objects(256)
		_, i := s.Belongings.Search("x")
		_, p := s.People.Recent()
		if _, l := s.Belongings.Landmarks(); l != i {
			t.Error("landmarks and items differ in being known")
		}
		return [4]bool{a, o, i, p}
	}
	want := [4]bool{}
	if got := known(); got != want {
		t.Errorf("before coverage: found %v", got)
	}
	for i, c := range []world.Collection{world.Avatars, world.Objects, world.Inventory, world.Participants} {
		w.Apply(world.Covered{Stamp: in(1), Collection: c})
		want[i] = true
		if got := known(); got != want {
			t.Errorf("%s covered: found %v, expected %v", c, got, want)
		}
	}
	w.Apply(world.Covered{Stamp: in(1), Collection: "gossip"})
	checkStats(t, w, world.Stats{Malformed: 1})
}

// A source that left something out says so, until it has made up for it.
func TestCoveredTruncated(t *testing.T) {
	w := after()
	check := func(want bool) {
		t.Helper()
		s := capture(t, w)
		a, _ := s.Scene.Avatars(256)
		o, _ := s.Scene.Objects(256)
		i, _ := s.Belongings.Search("x")
		p, _ := s.People.Recent()
		if a.Truncated != want || o.Truncated != want || i.Truncated != want || p.Truncated != want {
			t.Errorf("truncated: found %v %v %v %v, expected %v", a.Truncated, o.Truncated, i.Truncated, p.Truncated, want)
		}
	}
	for _, truncated := range []bool{true, false, true} {
		for _, c := range []world.Collection{world.Avatars, world.Objects, world.Inventory, world.Participants} {
			w.Apply(world.Covered{Stamp: in(1), Collection: c, Truncated: truncated})
		}
		check(truncated)
	}
}

// What the world itself left out stays left out, whatever the source says.
func TestLimitsOutlastCoverage(t *testing.T) {
	w := after()
	crowd := make([]world.CoarseLocation, world.MaxCoarse+1)
	w.Apply(world.CoarseLocations{Stamp: in(1), Entries: crowd, You: -1})
	for n := range world.MaxParticipants + 1 {
		w.Apply(world.Heard{Stamp: in(1), ID: id(n + 1), Channel: world.LocalChat})
	}
	for n := range world.MaxFolders + 1 {
		w.Apply(folder(n+1, 0, "folder"))
	}
	for n := range uint32(world.MaxObjects + 1) {
		w.Apply(prim(n+1, 0, at(1, 1, 1)))
	}
	for _, c := range []world.Collection{world.Avatars, world.Objects, world.Inventory, world.Participants} {
		w.Apply(world.Covered{Stamp: in(2), Collection: c, Truncated: true}, world.Covered{Stamp: in(3), Collection: c})
	}
	s := capture(t, w)
	a, _ := s.Scene.Avatars(256)
	o, _ := s.Scene.Objects(0.5)
	i, _ := s.Belongings.Search("x")
	p, _ := s.People.Recent()
	if !a.Truncated || !o.Truncated || !i.Truncated || !p.Truncated {
		t.Errorf("truncated: found %v %v %v %v", a.Truncated, o.Truncated, i.Truncated, p.Truncated)
	}
}

// A source at its end leaves a world that stands still, until there is another.
// What a region told before it fell silent does not pass for new (B5).
func TestAlive(t *testing.T) {
	w := after()
	heard := time.Now().Add(-40 * time.Second)
	stamp := in(1)
	stamp.At = heard
	w.Apply(world.Alive{Stamp: stamp})
	if s := capture(t, w); !s.Observed.Equal(heard) {
		t.Errorf("found a snapshot of %v, expected that of %v", s.Observed, heard)
	}
	stamp.At = time.Now().Add(time.Hour)
	w.Apply(world.Alive{Stamp: stamp})
	if s := capture(t, w); time.Since(s.Observed) > time.Minute || time.Until(s.Observed) > 0 {
		t.Errorf("found a snapshot of %v, expected one of now", s.Observed)
	}
}

func TestFrozen(t *testing.T) {
	w := after(prim(5, 0, at(1, 1, 1)))
	if s := capture(t, w); time.Since(s.Observed) > time.Minute {
		t.Errorf("before: observed at %v", s.Observed)
	}
	w.Apply(world.Frozen{Stamp: in(60)})
	s := capture(t, w)
	if o, _ := s.Scene.Objects(anywhere); !s.Observed.Equal(in(60).At) || len(o.Items) != 1 {
		t.Errorf("frozen: found %d objects as of %v", len(o.Items), s.Observed)
	}
	again := world.Stamp{Generation: 2, Region: regionA}
	w.Apply(world.SessionStarted{Stamp: again}, world.RegionEntered{Stamp: again}, world.RegionReady{Stamp: again})
	if s := capture(t, w); time.Since(s.Observed) > time.Minute {
		t.Errorf("after: observed at %v", s.Observed)
	}
}

// Without a place to look from, what hangs on distance is unknown.
func TestNoObserver(t *testing.T) {
	w := after(world.ObjectUpdated{Stamp: in(1), LocalID: 7, ID: id(7), PCode: world.PCodePrim})
	w.Apply(world.RegionLeaving{Stamp: in(1)}, world.RegionEntered{Stamp: in(1)}, world.RegionReady{Stamp: in(1)},
		world.Covered{Stamp: in(1), Collection: world.Avatars},
		world.Covered{Stamp: in(1), Collection: world.Objects},
		world.ObjectUpdated{Stamp: in(1), LocalID: 7, ID: id(7), PCode: world.PCodePrim})
	s := capture(t, w)
	if _, ok := s.Scene.Objects(256); ok {
		t.Error("the objects are known without an observer")
	}
	if _, ok := s.Scene.Avatars(256); ok {
		t.Error("the avatars are known without an observer")
	}
}

func TestUUID(t *testing.T) {
	const text = "0a0b0c0d-1e1f-4020-8030-0000deadbeef"
	u, err := world.ParseUUID("0A0B0C0D-1E1F-4020-8030-0000DEADBEEF")
	if err != nil || u.String() != text {
		t.Errorf("found %v, %v", u, err)
	}
	var v world.UUID
	if b, err := u.MarshalText(); err != nil || v.UnmarshalText(b) != nil || v != u {
		t.Errorf("%s does not survive its text: %s, %v", u, b, err)
	}
	for _, bad := range []string{"", text[:35], text + "0", "0a0b0c0d+1e1f-4020-8030-0000deadbeef", "0a0b0c0g-1e1f-4020-8030-0000deadbeef"} {
		if _, err := world.ParseUUID(bad); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

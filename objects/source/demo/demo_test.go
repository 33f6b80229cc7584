package demo_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/objects/source/demo"
	"github.com/wipagent/wipagent/objects/world"
)

var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

func capture(t *testing.T, at time.Time) *world.Snapshot {
	t.Helper()
	w := world.New()
	w.Apply(demo.New(nil).Open(at)...)
	if got := w.Stats(); got.Stale+got.Malformed+got.Unmatched+got.Overflow != 0 {
		t.Errorf("the world refused updates: %+v", got)
	}
	s, err := w.Capture(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func inSight(t *testing.T, s *world.Snapshot) []*world.Object {
	t.Helper()
	found, ok := s.Scene.Objects(math.MaxFloat64)
	if !ok {
		t.Fatal("objects are unknown")
	}
	return found.Items
}

func avatars(t *testing.T, s *world.Snapshot) map[string]*world.Avatar {
	t.Helper()
	found, ok := s.Scene.Avatars(math.MaxFloat64)
	if !ok {
		t.Fatal("avatars are unknown")
	}
	byName := map[string]*world.Avatar{}
	for _, a := range found.Items {
		byName[a.Name] = a
	}
	return byName
}

func TestAgent(t *testing.T) {
	s := capture(t, noon)
	if s.RegionName != "Heron Hollow" || s.Region != demo.RegionID || s.Agent != demo.AgentID || s.Source != "demo" {
		t.Errorf("found %q, %v, %v, %q", s.RegionName, s.Region, s.Agent, s.Source)
	}
	if s.Health == nil || *s.Health != 100 {
		t.Errorf("health is %v, expected 100", s.Health)
	}
	if s.Scene.Seat == nil || *s.Scene.Seat != 0 {
		t.Errorf("seat is %v, expected none", s.Scene.Seat)
	}
	if s.Scene.Assumed || !s.Scene.Agent.Known {
		t.Error("the agent's place is not known")
	}
	if s.Parcel == nil || s.Parcel.LocalID != 1 || s.Parcel.Area != 160*256 {
		t.Errorf("parcel is %+v, expected the first", s.Parcel)
	}
	above := s.Scene.Agent.Z - *s.TerrainHeight
	if above < 0.9 || above > 1 || *s.TerrainHeight <= *s.WaterHeight {
		t.Errorf("the agent is %v m above ground at %v, water at %v", above, *s.TerrainHeight, *s.WaterHeight)
	}
}

func TestObjects(t *testing.T) {
	found := inSight(t, capture(t, noon))
	if n := len(found); n < 30 || n > 60 {
		t.Errorf("found %d objects, expected 30 to 60", n)
	}
	unknown := 0
	for _, o := range found {
		if o.Name == nil {
			unknown++
			continue
		}
		switch *o.Name {
		case "Guide's badge", "Straw hat", "Hat ribbon", "Paper lantern":
			t.Errorf("attachment %q is in sight", *o.Name)
		case "Armchair", "Roof":
			t.Errorf("child %q is in sight", *o.Name)
		}
		if !o.Place.Known || !o.ScaleKnown || o.HoverText == nil || o.LocalID == 0 {
			t.Errorf("%q: something is unknown: %+v", *o.Name, o)
		}
		switch *o.Name {
		case "Jetty", "Rowing boat", "Lily pads", "Heron", "Sunken anchor", "Ferry":
		default:
			if o.Place.Z < 20 {
				t.Errorf("%q is under water at %v", *o.Name, o.Place)
			}
		}
		if !utf8.ValidString(*o.Name + *o.Description + *o.HoverText) {
			t.Errorf("%q: invalid UTF-8", *o.Name)
		}
	}
	if unknown != 2 {
		t.Errorf("found %d objects without a known name, expected 2", unknown)
	}
}

func TestAvatars(t *testing.T) {
	people := avatars(t, capture(t, noon))
	if len(people) != 7 {
		t.Fatalf("found %d avatars, expected 7 besides the agent", len(people))
	}
	if people["Bramble"] == nil {
		t.Error("found no Bramble: the last name Resident stands for none")
	}
	if a := people[""]; a == nil || !a.Place.Known {
		t.Error("found no avatar of unknown name")
	}
	if a := people["Tamsin Ferry"]; a == nil || !a.Place.Known || a.Place.HeightKnown || a.DistanceKnown {
		t.Errorf("the one far away is %+v, expected an unknown height", a)
	}
	// Odette sits 0.5 m above the armchair's middle; the armchair is at
	// (3, 1.5, 0.6) of the tea house, which is turned by 30 degrees.
	sin, cos := math.Sincos(30 * math.Pi / 180)
	a := people["Odette Quill"]
	if a == nil {
		t.Fatal("found nobody in the armchair")
	}
	x, y := 108+3*cos-1.5*sin, 134+3*sin+1.5*cos
	if math.Abs(a.Place.X-x) > 0.01 || math.Abs(a.Place.Y-y) > 0.01 {
		t.Errorf("found the seat at %.2f, %.2f, expected %.2f, %.2f", a.Place.X, a.Place.Y, x, y)
	}
}

func TestInventoryAndPeople(t *testing.T) {
	s := capture(t, noon)
	items, ok := s.Belongings.Search("straw")
	if !ok || len(items.Items) != 1 {
		t.Errorf("found %d straw hats, expected 1", len(items.Items))
	}
	landmarks, _ := s.Belongings.Landmarks()
	if len(landmarks.Items) != 10 {
		t.Errorf("found %d landmarks, expected 10", len(landmarks.Items))
	}
	recent, ok := s.People.Recent()
	channels := map[world.Channel]bool{}
	for _, p := range recent.Items {
		channels[p.Channel] = true
		if p.LastActive.After(noon) || p.LastActive.Before(noon.Add(-48*time.Hour)) {
			t.Errorf("%s was active at %v, expected the last two days", p.Channel, p.LastActive)
		}
	}
	if !ok || len(channels) != 8 {
		t.Errorf("found channels %v, expected all 8", channels)
	}
}

// TestMisleading makes sure that the demo keeps showing what cleaning is for.
func TestMisleading(t *testing.T) {
	var all strings.Builder
	for _, o := range inSight(t, capture(t, noon)) {
		if o.Name != nil {
			all.WriteString(*o.Name + *o.Description)
		}
		all.WriteString(*o.HoverText)
	}
	for _, want := range []string{"\x1b[31m", "\u202e", "\u200b", "\U000E0072", "hxxps://", "ｇｉｆｔ", "javascript:", "</tool_result>", "IGNORE ALL"} {
		if !strings.Contains(all.String(), want) {
			t.Errorf("found no %q in any text", want)
		}
	}
}

func TestMotion(t *testing.T) {
	later := noon.Add(7 * time.Second)
	if diff := cmp.Diff(demo.New(nil).Open(later), demo.New(nil).Open(later)); diff != "" {
		t.Errorf("two demos of one time differ:\n%s", diff)
	}
	before, after := avatars(t, capture(t, noon)), avatars(t, capture(t, later))
	for _, name := range []string{"Juniper Vale", "Marlow Finch"} {
		a, b := before[name].Place, after[name].Place
		walked := math.Hypot(b.X-a.X, b.Y-a.Y)
		if walked < 2 || walked > 12 {
			t.Errorf("%s walked %.1f m in 7 s", name, walked)
		}
	}
	if a, b := before["Odette Quill"].Place, after["Odette Quill"].Place; a != b {
		t.Errorf("Odette moved from %v to %v while seated", a, b)
	}
	// What moves ends up where a world that was opened then has it.
	w := world.New()
	d := demo.New(nil)
	w.Apply(d.Open(noon)...)
	w.Apply(d.Moved(later)...)
	s, err := w.Capture(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, a := range avatars(t, s) {
		if *a != *after[name] {
			t.Errorf("%q is at %v, expected %v", name, a.Place, after[name].Place)
		}
	}
}

func TestStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		w := world.New()
		done := demo.New(&demo.Config{Generation: 3}).Start(ctx, w)
		first, err := w.Capture(ctx)
		if err != nil {
			t.Fatalf("the world is not complete: %v", err)
		}
		if first.Generation != 3 {
			t.Errorf("generation is %d, expected 3", first.Generation)
		}
		// Ten minutes of walking: nobody gets lost on the way.
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		last, err := w.Capture(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := len(avatars(t, first)), len(avatars(t, last)); a != b {
			t.Errorf("found %d avatars after ten minutes, expected %d", b, a)
		}
		recent, _ := last.People.Recent()
		if ago := time.Since(recent.Items[0].LastActive); ago > 3*time.Minute {
			t.Errorf("the last word was %v ago, expected 3 minutes at most", ago)
		}
		cancel()
		<-done
		if _, err := w.Fence(); !errors.Is(err, world.ErrDisconnected) {
			t.Errorf("after the end: %v, expected %v", err, world.ErrDisconnected)
		}
	})
}

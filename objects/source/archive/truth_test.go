package archive_test

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/objects/source/archive"
	"github.com/wipagent/wipagent/objects/world"
)

// truth is what testdata/test-region.json says of the test region.
type truth struct {
	RegionID   string         `json:"region_id"`
	RegionName string         `json:"region_name"`
	SavedAt    int64          `json:"saved_unix_millis"`
	Size       [2]int         `json:"size"`
	Observer   [3]float64     `json:"observer"`
	Water      float64        `json:"water_height"`
	Terrain    float64        `json:"terrain_height"`
	Within     map[string]int `json:"within"`
	Parcels    []truthParcel  `json:"parcels"`
	ParcelAt   []struct {
		X, Y    float64
		LocalID int32 `json:"local_id"`
	} `json:"parcel_at"`
	Heights   []struct{ X, Y, Height float64 } `json:"heights"`
	Objects   []truthObject                    `json:"objects"`
	Folders   []truthFolder                    `json:"folders"`
	Items     []truthItem                      `json:"items"`
	Landmarks []string                         `json:"landmarks"`
	Searches  []struct {
		Query   string   `json:"query"`
		ItemIDs []string `json:"item_ids"`
	} `json:"searches"`
}

type truthParcel struct {
	LocalID       int32  `json:"local_id"`
	Name          string `json:"name"`
	Description   string `json:"description"`
	Area          int    `json:"area"`
	AllowFly      bool   `json:"allow_fly"`
	AllowBuild    bool   `json:"allow_build"`
	AllowScripts  bool   `json:"allow_scripts"`
	DamageEnabled bool   `json:"damage_enabled"`
}

type truthObject struct {
	ID          string     `json:"object_id"`
	Name        string     `json:"name"`
	Description string     `json:"description"`
	HoverText   string     `json:"hover_text"`
	Position    [3]float64 `json:"position"`
	Scale       [3]float64 `json:"scale"`
	Distance    float64    `json:"distance_meters"`
	Children    int        `json:"children"`
}

type truthFolder struct {
	ID     string  `json:"folder_id"`
	Parent *string `json:"parent_id"`
	Path   string  `json:"path"`
}

type truthItem struct {
	ID      string `json:"item_id"`
	Name    string `json:"name"`
	Kind    string `json:"kind"`
	Path    string `json:"path"`
	Created *int64 `json:"creation_time"`
}

func readTruth(tb testing.TB) *truth {
	tb.Helper()
	b, err := os.ReadFile("testdata/test-region.json")
	if err != nil {
		tb.Fatal(err)
	}
	v := new(truth)
	if err := json.Unmarshal(b, v); err != nil {
		tb.Fatal(err)
	}
	return v
}

// eachTestRegion runs a test on the archives of the repository, and on those as
// the simulator saved them if they are there.
func eachTestRegion(t *testing.T, f func(t *testing.T, oar, iar string)) {
	t.Run("stripped", func(t *testing.T) {
		f(t, "testdata/test-region.oar", "testdata/test-region.iar")
	})
	t.Run("whole", func(t *testing.T) {
		dir := os.Getenv("WIPAGENT_TEST_REGION")
		if dir == "" {
			t.Skip("WIPAGENT_TEST_REGION names no directory")
		}
		f(t, filepath.Join(dir, "test-region.oar"), filepath.Join(dir, "inventory.iar"))
	})
}

// loadFiles loads archives from files; an empty name stands for none.
func loadFiles(tb testing.TB, oar, iar string, cfg archive.Config) (*world.World, *archive.Summary) {
	tb.Helper()
	open := func(name string) *os.File {
		f, err := os.Open(name)
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() { f.Close() })
		return f
	}
	if oar != "" {
		cfg.OAR = open(oar)
	}
	if iar != "" {
		cfg.IAR = open(iar)
	}
	w := world.New()
	s, err := archive.Load(context.Background(), w, &cfg)
	if err != nil {
		tb.Fatal(err)
	}
	return w, s
}

func snapshot(tb testing.TB, w *world.World) *world.Snapshot {
	tb.Helper()
	s, err := w.Capture(context.Background())
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance }

func TestTruth(t *testing.T) {
	want := readTruth(t)
	eachTestRegion(t, func(t *testing.T, oar, iar string) {
		w, summary := loadFiles(t, oar, iar, archive.Config{At: &want.Observer})
		if summary.WarningCount != 0 {
			t.Errorf("found warnings: %v", summary.Warnings)
		}
		children := 0
		for _, o := range want.Objects {
			children += o.Children
		}
		summary.Assets, summary.Warnings = 0, nil
		if diff := gocmp.Diff(&archive.Summary{
			Region: want.RegionName, RegionID: world.MustUUID(want.RegionID), SizeX: want.Size[0], SizeY: want.Size[1],
			SavedAt: time.UnixMilli(want.SavedAt), Objects: len(want.Objects), Children: children,
			Parcels: len(want.Parcels), Terrain: true, Folders: len(want.Folders), Items: len(want.Items),
		}, summary); diff != "" {
			t.Errorf("summary (-want +got):\n%s", diff)
		}
		s := snapshot(t, w)
		if s.RegionName != want.RegionName || s.Region.String() != want.RegionID || s.Observed.UnixMilli() != want.SavedAt {
			t.Errorf("found %q, %v, %v", s.RegionName, s.Region, s.Observed)
		}
		if s.Source != "archive" || !s.Agent.IsZero() || s.Health != nil || s.Scene.Seat != nil || s.Scene.Agent.Known || !s.Scene.Assumed {
			t.Error("something is known of an agent")
		}
		if _, ok := s.Scene.Avatars(256); ok {
			t.Error("avatars are known")
		}
		if _, ok := s.People.Recent(); ok {
			t.Error("participants are known")
		}
		if !near(*s.WaterHeight, want.Water, 1e-3) || !near(*s.TerrainHeight, want.Terrain, 1e-3) {
			t.Errorf("water %v, ground %v, expected %v, %v", *s.WaterHeight, *s.TerrainHeight, want.Water, want.Terrain)
		}
		checkObjects(t, s, want)
		checkInventory(t, s, want)
	})
}

func checkObjects(t *testing.T, s *world.Snapshot, want *truth) {
	all, ok := s.Scene.Objects(1e6)
	if !ok || all.Truncated || len(all.Items) != len(want.Objects) {
		t.Fatalf("found %d objects, expected %d", len(all.Items), len(want.Objects))
	}
	for i, o := range all.Items {
		w := want.Objects[i]
		if o.ID.String() != w.ID || *o.Name != w.Name || *o.Description != w.Description || *o.HoverText != w.HoverText {
			t.Errorf("object %d is %v %q %q %q, expected %+v", i, o.ID, *o.Name, *o.Description, *o.HoverText, w)
		}
		got := [7]float64{o.Place.X, o.Place.Y, o.Place.Z, o.Scale.X, o.Scale.Y, o.Scale.Z, o.Distance}
		for j, v := range slices.Concat(w.Position[:], w.Scale[:], []float64{w.Distance}) {
			if !near(got[j], v, 0.001) {
				t.Errorf("object %d (%q): found %v, expected %+v", i, w.Name, got, w)
			}
		}
		if o.LocalID != 0 {
			t.Errorf("object %d: local ID is %d, expected none: it would not last", i, o.LocalID)
		}
	}
	for radius, n := range want.Within {
		r, err := strconv.ParseFloat(radius, 64)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := s.Scene.Objects(r); len(got.Items) != n {
			t.Errorf("found %d objects within %v m, expected %d", len(got.Items), r, n)
		}
	}
}

func checkInventory(t *testing.T, s *world.Snapshot, want *truth) {
	ids := func(items []*world.Item) []string {
		list := []string{}
		for _, i := range items {
			list = append(list, i.ID.String())
		}
		return list
	}
	byID := map[string]truthItem{}
	for _, i := range want.Items {
		byID[i.ID] = i
	}
	landmarks, _ := s.Belongings.Landmarks()
	if diff := gocmp.Diff(want.Landmarks, ids(landmarks.Items)); diff != "" {
		t.Errorf("landmarks (-want +got):\n%s", diff)
	}
	for _, search := range want.Searches {
		found, ok := s.Belongings.Search(search.Query)
		if !ok {
			t.Fatal("the inventory is unknown")
		}
		if diff := gocmp.Diff(search.ItemIDs, ids(found.Items)); diff != "" {
			t.Errorf("search for %q (-want +got):\n%s", search.Query, diff)
		}
	}
	all, _ := s.Belongings.Search("")
	if len(all.Items) != len(want.Items) {
		t.Errorf("found %d items, expected %d", len(all.Items), len(want.Items))
	}
	for i, item := range all.Items {
		w := want.Items[i]
		path, ok := item.Path()
		if item.ID.String() != w.ID || item.Name != w.Name || !ok || path != w.Path {
			t.Errorf("item %d is %v %q %q, expected %+v", i, item.ID, item.Name, path, w)
		}
		if w.Created == nil != item.Created.IsZero() || w.Created != nil && *w.Created != item.Created.UnixMilli() {
			t.Errorf("item %d (%q) was made %v, expected %v", i, w.Name, item.Created, w.Created)
		}
	}
}

// TestTruthLand moves the observer about.
func TestTruthLand(t *testing.T) {
	want := readTruth(t)
	eachTestRegion(t, func(t *testing.T, oar, _ string) {
		w, summary := loadFiles(t, oar, "", archive.Config{})
		look := func(x, y float64) *world.Snapshot {
			stamp := world.Stamp{Generation: 1, Region: summary.RegionID, At: summary.SavedAt}
			w.Apply(world.AgentPlaced{Stamp: stamp, Position: world.Vec3{X: x, Y: y, Z: 30}, Assumed: true})
			return snapshot(t, w)
		}
		for _, h := range want.Heights {
			s := look(h.X, h.Y)
			if s.TerrainHeight == nil || !near(*s.TerrainHeight, h.Height, 1e-3) {
				t.Errorf("at %v,%v the ground is at %v, expected %v", h.X, h.Y, *s.TerrainHeight, h.Height)
			}
		}
		for _, at := range want.ParcelAt {
			p := look(at.X, at.Y).Parcel
			if p == nil {
				t.Errorf("found no parcel at %v,%v, expected %d", at.X, at.Y, at.LocalID)
				continue
			}
			i := slices.IndexFunc(want.Parcels, func(w truthParcel) bool { return w.LocalID == at.LocalID })
			got := truthParcel{p.LocalID, p.Name, p.Description, p.Area, p.AllowFly, p.AllowBuild, p.AllowScripts, p.DamageEnabled}
			if diff := gocmp.Diff(want.Parcels[i], got); diff != "" {
				t.Errorf("parcel at %v,%v (-want +got):\n%s", at.X, at.Y, diff)
			}
		}
	})
}

// TestDefaultObserver stands at the centre, on the ground.
func TestDefaultObserver(t *testing.T) {
	want := readTruth(t)
	w, _ := loadFiles(t, "testdata/test-region.oar", "", archive.Config{})
	s := snapshot(t, w)
	o := s.Scene.Observer
	if !s.Scene.Assumed || o.X != 128 || o.Y != 128 || !near(o.Z, want.Terrain, 1e-3) {
		t.Errorf("the observer is at %v, expected the centre on the ground", o)
	}
	if _, ok := s.Belongings.Search(""); ok {
		t.Error("the inventory is known without an inventory archive")
	}
}

func TestTruthIsInOrder(t *testing.T) {
	want := readTruth(t)
	if !slices.IsSortedFunc(want.Objects, func(a, b truthObject) int {
		return cmp.Or(cmp.Compare(a.Distance, b.Distance), cmp.Compare(a.ID, b.ID))
	}) {
		t.Error("objects are not in the order of distance and UUID")
	}
	if !slices.IsSortedFunc(want.Items, func(a, b truthItem) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.ID, b.ID))
	}) {
		t.Error("items are not in the order of path and UUID")
	}
}

package archive_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/idl/cleantext"
	"github.com/wipagent/wipagent/interfaces"
	"github.com/wipagent/wipagent/objects"
	"github.com/wipagent/wipagent/objects/source/archive"
	"github.com/wipagent/wipagent/space/wip"
)

// grid is the Host of an archive, called and shaped as a client does.
type grid struct {
	host       *objects.Host
	operations map[string]*idl.Operation
}

func newGrid(t *testing.T, host *objects.Host) *grid {
	documents, err := idl.Compile(idl.FSLoader(interfaces.FS()), "agent.wip", "region.wip", "parcel.wip", "inventory.wip")
	if err != nil {
		t.Fatal(err)
	}
	g := &grid{host, map[string]*idl.Operation{}}
	for _, d := range documents {
		for _, i := range d.Interfaces {
			for _, o := range i.Operations {
				g.operations[o.Name] = o
			}
		}
	}
	return g
}

// call runs an operation and shapes its result.
func (g *grid) call(t *testing.T, operation, arguments string) map[string]any {
	t.Helper()
	o := g.operations[operation]
	place := strings.ToLower(o.Interface.Name)
	r, err := g.host.CallOperation(t.Context(), wip.Call{
		Path: "/" + place, Object: place, Interface: o.Interface.Name, Operation: operation, Arguments: json.RawMessage(arguments),
	})
	if err != nil {
		t.Fatalf("%s(%s): %v", operation, arguments, err)
	}
	shaped, err := o.Shape(r.Value, idl.ShapeOptions{})
	if err != nil {
		t.Fatalf("%s(%s): %v", operation, arguments, err)
	}
	var v map[string]any
	if err := json.Unmarshal(shaped.JSON, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// pages collects the items of all pages.
func (g *grid) pages(t *testing.T, operation, argument string) []any {
	t.Helper()
	var items []any
	for page := 1; ; page++ {
		v := g.call(t, operation, fmt.Sprintf(`{%s"page":%d,"page_size":20}`, argument, page))
		got, ok := v["items"].([]any)
		if !ok {
			t.Fatalf("%s: found %v, expected items", operation, v)
		}
		items = append(items, got...)
		if v["next_page"] == nil {
			if total := v["total_matching"].(float64); int(total) != len(items) || v["truncated"] != false || v["source_truncated"] != false {
				t.Errorf("%s: found %d items, a total of %v, truncated %v, %v", operation, len(items), total, v["truncated"], v["source_truncated"])
			}
			return items
		}
	}
}

var unknown = map[string]any{"status": "unknown", "reason": "manager_cache_unavailable"}

// clean is a text as a model gets it.
func clean(s string) string {
	s, _ = cleantext.Clean(s, 256)
	return s
}

// centimetre compares numbers as far as they are right.
var centimetre = gocmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 0.01 })

// TestOperations asks all eight operations about the test region.
func TestOperations(t *testing.T) {
	want := readTruth(t)
	eachTestRegion(t, func(t *testing.T, oar, iar string) {
		w, _ := loadFiles(t, oar, iar, archive.Config{At: &want.Observer})
		g := newGrid(t, objects.New(w, nil))
		const paged = `{"page":1,"page_size":20}`
		for _, test := range []struct {
			operation, arguments string
			want                 map[string]any // of the members that are not the envelope's
		}{
			{"agent_state", "{}", map[string]any{"agent_id": unknown, "position": unknown, "health": unknown, "sitting_on_local_id": unknown}},
			{"world_location", "{}", map[string]any{"region_name": clean(want.RegionName), "position": unknown}},
			{"nearby_avatars", `{"radius_meters":256,"page":1,"page_size":20}`, unknown},
			{"recent_participants", paged, unknown},
			{"parcel_environment", "{}", map[string]any{
				"parcel": map[string]any{
					"status": "observed", "local_id": 1.0, "name": clean(want.Parcels[0].Name), "description": clean(want.Parcels[0].Description),
					"area": float64(want.Parcels[0].Area), "allow_fly": true, "allow_build": true, "allow_scripts": true, "damage_enabled": false,
				},
				"environment": map[string]any{"water_height": want.Water, "terrain_height": want.Terrain},
			}},
		} {
			got := g.call(t, test.operation, test.arguments)
			checkEnvelope(t, test.operation, got, want)
			for name := range got {
				if _, ok := test.want[name]; !ok {
					delete(got, name)
				}
			}
			if parcel, ok := got["parcel"].(map[string]any); ok {
				delete(parcel, "trust")
			}
			if diff := gocmp.Diff(test.want, got, centimetre); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.operation, diff)
			}
		}
		checkObjectItems(t, g, want)
		checkInventoryItems(t, g, want)
	})
}

// checkEnvelope looks at what every observation says.
func checkEnvelope(t *testing.T, operation string, got map[string]any, want *truth) {
	t.Helper()
	provenance, _ := got["provenance"].(map[string]any)
	place := map[string]any{"x": want.Observer[0], "y": want.Observer[1], "z": want.Observer[2]}
	if got["region_id"] != want.RegionID || got["observed_unix_millis"] != float64(want.SavedAt) || got["tool"] != operation ||
		provenance["source"] != "archive" || provenance["model_inference"] != "none" || !gocmp.Equal(provenance["assumed_observer"], any(place)) {
		t.Errorf("%s: found envelope %v", operation, got)
	}
}

func checkObjectItems(t *testing.T, g *grid, want *truth) {
	var expected []any
	for _, o := range want.Objects {
		if o.Distance > 256 {
			continue
		}
		expected = append(expected, map[string]any{
			"object_id": o.ID, "local_id": unknown, "name": clean(o.Name), "description": clean(o.Description), "hover_text": clean(o.HoverText),
			"position": map[string]any{"status": "observed", "x": o.Position[0], "y": o.Position[1], "z": o.Position[2]},
			"scale":    map[string]any{"status": "observed", "x": o.Scale[0], "y": o.Scale[1], "z": o.Scale[2]},
			"trust":    "untrusted_observed_data",
		})
	}
	if len(expected) != want.Within["256"] {
		t.Errorf("the truth has %d objects within 256 m and says %d", len(expected), want.Within["256"])
	}
	if diff := gocmp.Diff(expected, g.pages(t, "visible_objects", `"radius_meters":256,`), centimetre); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
	for radius, n := range want.Within {
		if got := g.pages(t, "visible_objects", `"radius_meters":`+radius+`,`); len(got) != n {
			t.Errorf("found %d objects within %s m, expected %d", len(got), radius, n)
		}
	}
}

func checkInventoryItems(t *testing.T, g *grid, want *truth) {
	byID := map[string]map[string]any{}
	for _, i := range want.Items {
		created := any(unknown)
		if i.Created != nil {
			created = float64(*i.Created)
		}
		byID[i.ID] = map[string]any{
			"item_id": i.ID, "name": clean(i.Name), "kind": i.Kind, "path": clean(i.Path), "creation_time": created,
			"modification_time": unknown, "trust": "untrusted_observed_data",
		}
	}
	for _, search := range want.Searches {
		var expected []any
		for _, id := range search.ItemIDs {
			expected = append(expected, byID[id])
		}
		query, err := json.Marshal(search.Query)
		if err != nil {
			t.Fatal(err)
		}
		if diff := gocmp.Diff(expected, g.pages(t, "inventory_search", `"query":`+string(query)+`,`)); diff != "" {
			t.Errorf("search for %s (-want +got):\n%s", query, diff)
		}
	}
	var expected []any
	for _, id := range want.Landmarks {
		item := byID[id]
		item["region_id"] = unknown
		expected = append(expected, item)
	}
	if diff := gocmp.Diff(expected, g.pages(t, "received_landmarks", "")); diff != "" {
		t.Errorf("landmarks (-want +got):\n%s", diff)
	}
}

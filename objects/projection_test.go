package objects_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/interfaces"
	"github.com/wipagent/wipagent/objects"
	"github.com/wipagent/wipagent/objects/world"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// contract are the eight operations in its order, which is that of the golden
// file; others follow by name.
var contract = []string{
	"world_location", "agent_state", "nearby_avatars", "visible_objects",
	"parcel_environment", "inventory_search", "received_landmarks", "recent_participants",
}

// goldenOrder returns the names of all operations that the documents declare,
// and complains of one that no Object of the Host offers.
func goldenOrder(t *testing.T) []string {
	t.Helper()
	documents, err := fs.Glob(interfaces.FS(), "*.wip")
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := idl.Compile(idl.FSLoader(interfaces.FS()), documents...)
	if err != nil {
		t.Fatal(err)
	}
	names := slices.Clone(contract)
	for _, d := range compiled {
		for _, i := range d.Interfaces {
			for _, o := range i.Operations {
				if operations()[o.Name].Operation == nil {
					t.Errorf("%s declares %s.%s, but no Object offers it: add one in newHost (host.go)", d.Name, i.Name, o.Name)
				} else if !slices.Contains(contract, o.Name) {
					names = append(names, o.Name)
				}
			}
		}
	}
	for _, name := range contract {
		if operations()[name].Operation == nil {
			t.Fatalf("%s is of the contract (spec/perception.md), but no document declares it", name)
		}
	}
	slices.Sort(names[len(contract):])
	return names
}

// scenes are the worlds of the golden file: one that knows everything, one
// that knows nothing but that it is ready, and one that stands still.
func scenes() []struct {
	name    string
	updates []world.Update
} {
	at := func(x, y, z float64) world.Vec3 { return world.Vec3{X: x, Y: y, Z: z} }
	start := func(source string, agent world.UUID) []world.Update {
		return []world.Update{
			world.SessionStarted{Stamp: stamp, Source: source, Agent: agent},
			world.RegionEntered{Stamp: stamp},
			world.RegionReady{Stamp: stamp},
		}
	}
	bitmap := bytes.Repeat([]byte{0xff}, 512)
	things := []world.Update{
		world.ObjectUpdated{Stamp: stamp, LocalID: 12, ID: box, PCode: world.PCodePrim, Position: at(131, 132, 25), Scale: at(0.5, 1, 1.00049),
			Name: ptr("Cube"), Description: ptr("see http://example.invalid/x"), HoverText: ptr("")},
		world.ObjectUpdated{Stamp: stamp, LocalID: 13, ID: there, PCode: world.PCodePrim, Position: at(128, 100, 25.123456), Scale: at(1, 1, math.NaN())},
		world.InventoryFolder{Stamp: stamp, ID: here, Name: "Scripts"},
		world.InventoryItem{Stamp: stamp, ID: self, ParentID: here, Name: "Hat script", AssetType: 10, Created: 1276473600},
		world.InventoryItem{Stamp: stamp, ID: other, ParentID: there, Name: "hat from nowhere", AssetType: 99},
		world.InventoryItem{Stamp: stamp, ID: box, Name: "Home", AssetType: world.AssetLandmark, Created: 1276473601},
		world.ParcelUpdated{Stamp: stamp, LocalID: 1, Name: "Plaza", Description: "by the sea", Area: 36864, AllowFly: true, DamageEnabled: true, Bitmap: bitmap},
		world.TerrainUpdated{Stamp: stamp, X: 128, Y: 128, Width: 2, Height: 2, Heights: []float32{23.745001, 23.745001, 23.745001, 23.745001}},
	}
	all := append([]world.Update{
		world.RegionEntered{Stamp: stamp, Name: "Test Region", WaterHeight: ptr(20.0)},
		world.Covered{Stamp: stamp, Collection: world.Avatars},
		world.Covered{Stamp: stamp, Collection: world.Objects},
		world.Covered{Stamp: stamp, Collection: world.Inventory},
		world.Covered{Stamp: stamp, Collection: world.Participants},
		world.AgentHealth{Stamp: stamp, Health: 87.5},
		world.ObjectUpdated{Stamp: stamp, LocalID: 5, ID: self, PCode: world.PCodeAvatar, ParentID: 12, Position: at(-3, -4, 0.00001)},
		world.ObjectUpdated{Stamp: stamp, LocalID: 6, ID: other, PCode: world.PCodeAvatar, Position: at(128, 131.2, 25.00001), FirstName: "A", LastName: "Resident"},
		world.ObjectUpdated{Stamp: stamp, LocalID: 7, ID: box, PCode: world.PCodeAvatar, ParentID: 77, Position: at(1, 1, 1)},
		world.CoarseLocations{Stamp: stamp, You: 0, Entries: []world.CoarseLocation{{ID: self}, {ID: there, X: 100, Y: 100, Z: 255}}},
		world.Heard{Stamp: stamp, ID: other, Channel: world.DirectIM},
		world.Heard{Stamp: stamp, ID: there, Channel: world.GroupNotice, Active: time.UnixMilli(946684799001)},
	}, things...)
	// The seat is the box, which the avatar of the same UUID may not replace.
	for i, u := range all {
		if o, ok := u.(world.ObjectUpdated); ok && o.LocalID == 7 {
			o.ID = here
			all[i] = o
		}
	}
	archive := append([]world.Update{
		world.SessionStarted{Stamp: stamp, Source: "archive", AsOf: time.UnixMilli(946684000000), OwnLocalIDs: true},
		world.RegionEntered{Stamp: stamp, Name: "Saved Region", WaterHeight: ptr(20.0)},
		world.RegionReady{Stamp: stamp},
		world.Covered{Stamp: stamp, Collection: world.Objects},
		world.Covered{Stamp: stamp, Collection: world.Inventory, Truncated: true},
		world.AgentPlaced{Stamp: stamp, Position: at(128, 128, 25), Assumed: true},
	}, things...)
	return []struct {
		name    string
		updates []world.Update
	}{
		{"full", append(start("session", self), all...)},
		{"empty", start("session", self)},
		{"archive", archive},
	}
}

// TestOperations compares what each operation answers, as a Host returns it
// and as Shape lets it through, with the golden file. A new operation is asked
// too; scenes need what it looks at, unless they hold that already.
func TestOperations(t *testing.T) {
	const golden = "testdata/operations.txtar"
	names := goldenOrder(t)
	got := &txtar.Archive{Comment: []byte("What the operations answer on the worlds of projection_test.go, after shaping.\n\n")}
	synctest.Test(t, func(t *testing.T) {
		for _, scene := range scenes() {
			w := world.New()
			w.Apply(scene.updates...)
			h := objects.New(w, nil)
			for _, name := range names {
				_, r := operate(t, h, name)
				shaped, err := operations()[name].Shape(r.Value, idl.ShapeOptions{})
				if err != nil {
					t.Errorf("%s, %s: %v in %s", scene.name, name, err, r.Value)
					continue
				}
				var b bytes.Buffer
				if err := json.Indent(&b, shaped.JSON, "", "  "); err != nil {
					t.Fatal(err)
				}
				b.WriteByte('\n')
				got.Files = append(got.Files, txtar.File{Name: scene.name + "/" + name, Data: b.Bytes()})
			}
		}
	})
	if *update {
		if err := os.WriteFile(golden, txtar.Format(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	had := map[string]bool{}
	for _, f := range txtar.Parse(want).Files {
		had[f.Name] = true
	}
	for _, f := range got.Files {
		if !had[f.Name] {
			t.Errorf("%s has no answer %s: run go test ./objects -update, and read the diff", golden, f.Name)
		}
	}
	if diff := cmp.Diff(string(want), string(txtar.Format(got))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// crowd is a world with n avatars, one a centimetre.
func crowd(n int) *world.World {
	w := lived()
	for i := 1; i <= n; i++ {
		id := other
		id[14], id[15] = byte(i>>8), byte(i)
		w.Apply(world.ObjectUpdated{Stamp: stamp, LocalID: uint32(i), ID: id, PCode: world.PCodeAvatar,
			Position: world.Vec3{X: 128, Y: 128 + float64(i)/100, Z: 25}, FirstName: "Somebody"})
	}
	return w
}

// Pages put together are the whole selection, and its bound is never shown as
// complete (P13).
func TestPages(t *testing.T) {
	for _, test := range []struct {
		avatars, total, pages int
		truncated             bool
	}{{0, 0, 1, false}, {20, 20, 1, false}, {21, 21, 2, false}, {2048, 2048, 103, false}, {2049, 2048, 103, true}} {
		h := objects.New(crowd(test.avatars), nil)
		seen := 0
		for page := 1; page <= test.pages+1; page++ {
			call := callOf("nearby_avatars")
			call.Arguments = json.RawMessage(fmt.Sprintf(`{"radius_meters":256,"page":%d,"page_size":20}`, page))
			r, err := h.CallOperation(t.Context(), call)
			if err != nil {
				t.Fatal(err)
			}
			var got struct {
				Items []struct {
					Distance float64 `json:"distance_meters"`
				}
				Total           int  `json:"total_matching"`
				Next            *int `json:"next_page"`
				Truncated       bool
				SourceTruncated bool `json:"source_truncated"`
			}
			if err := json.Unmarshal(r.Value, &got); err != nil {
				t.Fatal(err)
			}
			for _, i := range got.Items {
				if seen++; i.Distance != float64(seen)/100 {
					t.Fatalf("%d avatars, page %d: found distance %v in place %d", test.avatars, page, i.Distance, seen)
				}
			}
			more := page < test.pages
			if got.Total != test.total || got.Truncated != more || (got.Next != nil) != more || got.SourceTruncated != test.truncated {
				t.Errorf("%d avatars, page %d: found %+v", test.avatars, page, got)
			}
			if page > test.pages && len(got.Items) != 0 {
				t.Errorf("%d avatars: found %d items past the end", test.avatars, len(got.Items))
			}
		}
		if seen != test.total {
			t.Errorf("%d avatars: found %d on all pages", test.avatars, seen)
		}
	}
}

// One page of 20 of 2,048 avatars from a cached snapshot.
func BenchmarkCachedNearbyAvatars(b *testing.B) {
	h := objects.New(crowd(2048), &objects.Config{TTL: time.Hour})
	call := callOf("nearby_avatars")
	operate(b, h, "nearby_avatars")
	b.ReportAllocs()
	for b.Loop() {
		if r, err := h.CallOperation(b.Context(), call); err != nil || !r.CacheHit {
			b.Fatal(r.CacheHit, err)
		}
	}
}

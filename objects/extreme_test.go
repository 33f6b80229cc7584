package objects_test

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/objects"
	"github.com/wipagent/wipagent/objects/world"
)

// TestExtremeNumbers lets a grid send the largest and the least it can: each
// operation answers, and what it answers fits its type.
func TestExtremeNumbers(t *testing.T) {
	for _, number := range []float64{math.MaxFloat64, -math.MaxFloat64, 1e306, 5e-324, math.MaxFloat32, math.Copysign(0, -1), math.MaxInt64} {
		v := world.Vec3{X: number, Y: number, Z: number}
		w := world.New()
		w.Apply(
			world.SessionStarted{Stamp: stamp, Source: "x", Agent: self},
			world.RegionEntered{Stamp: stamp, Name: "R", WaterHeight: &number},
			world.RegionReady{Stamp: stamp},
			world.Covered{Stamp: stamp, Collection: world.Avatars},
			world.Covered{Stamp: stamp, Collection: world.Objects},
			world.AgentPlaced{Stamp: stamp, Position: world.Vec3{X: 1, Y: 1, Z: 1}},
			world.ObjectUpdated{Stamp: stamp, LocalID: math.MaxUint32, ID: box, PCode: world.PCodePrim, Position: world.Vec3{X: 2, Y: 2, Z: 2}, Scale: v},
			world.ObjectUpdated{Stamp: stamp, LocalID: 2, ID: there, PCode: world.PCodePrim, Position: v, Scale: v},
			world.ObjectUpdated{Stamp: stamp, LocalID: 3, ID: other, PCode: world.PCodeAvatar, Position: world.Vec3{X: 2, Y: 2, Z: number}},
			world.InventoryItem{Stamp: stamp, ID: other, Name: "a", AssetType: math.MaxInt32, Created: math.MaxInt64},
			world.InventoryItem{Stamp: stamp, ID: box, Name: "a", AssetType: world.AssetLandmark, Created: math.MinInt64},
			world.InventoryItem{Stamp: stamp, ID: there, Name: "a", AssetType: world.AssetLandmark, Created: 1 << 53},
			world.Covered{Stamp: stamp, Collection: world.Inventory},
			world.ParcelUpdated{Stamp: stamp, LocalID: math.MaxInt32, Area: math.MaxInt32, Bitmap: nil},
		)
		host := objects.New(w, nil)
		for name, op := range operations() {
			call := op.call
			if name == "inventory_search" {
				call.Arguments = json.RawMessage(`{"query":"a","page":1,"page_size":20}`)
			}
			r, err := host.CallOperation(t.Context(), call)
			if err != nil {
				t.Errorf("%g: %s: %v", number, name, err)
				continue
			}
			if bytes.Contains(r.Value, []byte(`"creation_time":-`)) {
				t.Errorf("a time too far away is told as one in the past: %s", r.Value)
			}
			if shaped, err := op.Shape(r.Value, idl.ShapeOptions{}); err != nil || !json.Valid(shaped.JSON) {
				t.Errorf("%g: %s: %v: %s", number, name, err, r.Value)
			}
		}
	}
}

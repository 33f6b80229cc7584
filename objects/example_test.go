package objects_test

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/wipagent/wipagent/objects"
	"github.com/wipagent/wipagent/objects/world"
	"github.com/wipagent/wipagent/space/wip"
)

// A source tells the world what it observes; the Host answers from that.
func ExampleNew() {
	w := world.New()
	now := world.Stamp{Generation: 1, Region: world.MustUUID("11111111-2222-4333-8444-555555555555")}
	w.Apply(
		world.SessionStarted{Stamp: now, Source: "example", Agent: world.MustUUID("0a0a0a0a-0000-4000-8000-000000000001")},
		world.RegionEntered{Stamp: now, Name: "Test Region"},
		world.RegionReady{Stamp: now},
		world.AgentPlaced{Stamp: now, Position: world.Vec3{X: 128, Y: 64, Z: 24}},
	)
	result, err := objects.New(w, nil).CallOperation(context.Background(), wip.Call{
		Path: "/region", Object: "region", Interface: "Region",
		Operation: "world_location", Arguments: json.RawMessage(`{}`),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	var location struct {
		Region   string `json:"region_name"`
		Position struct{ X, Y, Z float64 }
	}
	if err := json.Unmarshal(result.Value, &location); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(location.Region, location.Position)
	// Output: Test Region {128 64 24}
}

package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/wipagent/wipagent/client"
	"github.com/wipagent/wipagent/client/policy"
	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/objects"
	"github.com/wipagent/wipagent/objects/world"
)

// crowd is a world with 2,048 avatars around the agent.
func crowd() *world.World {
	w := world.New()
	region := world.UUID{1}
	at := world.Stamp{Generation: 1, Region: region, At: time.Now()}
	updates := []world.Update{
		world.SessionStarted{Stamp: at, Source: "bench", Agent: world.UUID{2}},
		world.RegionEntered{Stamp: at, Name: "Crowd"},
		world.AgentPlaced{Stamp: at, Position: world.Vec3{X: 128, Y: 128, Z: 25}},
		world.Covered{Stamp: at, Collection: world.Avatars},
	}
	for i := range 2048 {
		updates = append(updates, world.ObjectUpdated{
			Stamp: at, LocalID: uint32(i + 1), ID: world.UUID{3, byte(i), byte(i >> 8)}, PCode: world.PCodeAvatar,
			Position: world.Vec3{X: float64(i % 256), Y: float64(i / 8), Z: 25}, FirstName: fmt.Sprintf("Avatar%d", i), LastName: "Resident",
		})
	}
	w.Apply(append(updates, world.RegionReady{Stamp: at})...)
	return w
}

// BenchmarkNearbyAvatars measures a call of ours over a cached snapshot of
// 2,048 avatars beside the SDK's own round trip for an empty tool.
func BenchmarkNearbyAvatars(b *testing.B) {
	b.Run("client.Invoke", func(b *testing.B) {
		b.ReportAllocs()
		c := client.New(nil)
		// A snapshot that outlives the run, so that every call finds it.
		if err := c.Mount(b.Context(), "/grid", objects.New(crowd(), &objects.Config{TTL: time.Hour}), &client.MountOptions{Trusted: true}); err != nil {
			b.Fatal(err)
		}
		p := &policy.Principal{ID: "bench", Audience: idl.PublicChat}
		call := client.Call{Target: "/grid/region", Operation: "nearby_avatars", Arguments: json.RawMessage(`{"radius_meters":256}`)}
		for b.Loop() {
			out, err := c.Invoke(b.Context(), p, call)
			if err != nil || len(out.Result) < 2000 {
				b.Fatal(out, err)
			}
		}
	})
	b.Run("SDK round trip", func(b *testing.B) {
		b.ReportAllocs()
		server := sdk.NewServer(&sdk.Implementation{Name: "bare", Version: "1"}, nil)
		type none struct{}
		sdk.AddTool(server, &sdk.Tool{Name: "empty"}, func(context.Context, *sdk.CallToolRequest, none) (*sdk.CallToolResult, none, error) {
			return nil, none{}, nil
		})
		ours, theirs := sdk.NewInMemoryTransports()
		serving, err := server.Connect(b.Context(), ours, nil)
		if err != nil {
			b.Fatal(err)
		}
		s, err := sdk.NewClient(&sdk.Implementation{Name: "bench", Version: "1"}, nil).Connect(b.Context(), theirs, nil)
		if err != nil {
			b.Fatal(err)
		}
		defer func() { _ = s.Close(); _ = serving.Wait() }()
		for b.Loop() {
			if _, err := s.CallTool(b.Context(), &sdk.CallToolParams{Name: "empty"}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

package interfaces_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/wipagent/wipagent/idl"
	"github.com/wipagent/wipagent/interfaces"
)

// crowd is a region of which only the avatars are asked for. It embeds the
// interface, so that a new operation does not concern it.
type crowd struct {
	interfaces.Region[instant]
	projected int
}

type instant struct{}

func (instant) Observation() idl.Observation {
	return idl.Observation{Generation: 1, RegionID: idl.ID{1}, ObservedAt: time.UnixMilli(1), SnapshotID: "1", Source: "bench"}
}

func (c *crowd) NearbyAvatars(context.Context, instant, interfaces.NearbyAvatarsArgs) (idl.FactOf[idl.Selection[interfaces.Avatar]], error) {
	return idl.Known(idl.Select(2048, func(i int) interfaces.Avatar {
		c.projected++
		return interfaces.Avatar{
			AvatarID:       idl.ID{byte(i)},
			Name:           idl.Known("Resident Number Four"),
			Position:       idl.Known(interfaces.Position{X: 12.25, Y: float64(i), Z: idl.Known(24.659999847)}),
			DistanceMeters: idl.Known(17.32050807568877),
			Direction:      idl.Known(interfaces.DirectionNortheast),
		}
	}, false)), nil
}

// BenchmarkNearbyAvatars calls the binding for a page of 20 of 2,048 avatars,
// and shapes what it wrote.
func BenchmarkNearbyAvatars(b *testing.B) {
	op := operation(b, "nearby_avatars")
	args := json.RawMessage(`{"radius_meters":96,"page":2,"page_size":20}`)
	c := &crowd{}
	raw, err := interfaces.CallRegion(b.Context(), c, instant{}, op.Name, args)
	if err != nil {
		b.Fatal(err)
	}
	if c.projected != 20 {
		b.Fatalf("projected %d avatars, want the 20 of the page", c.projected)
	}
	if _, err := op.Shape(raw, idl.ShapeOptions{}); err != nil {
		b.Fatal(err)
	}
	b.Run("call", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := interfaces.CallRegion(b.Context(), c, instant{}, op.Name, args); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("shape", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := op.Shape(raw, idl.ShapeOptions{}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

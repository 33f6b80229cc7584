package demo

import (
	"math"

	"github.com/wipagent/wipagent/objects/world"
)

const (
	size        = 256  // metres a side
	waterHeight = 20.0 // metres
	ferryHeight = waterHeight + 0.5
	border      = 160 // x of the line between the two parcels
	cell        = 4   // metres a side of a parcel bitmap's cell
)

// ground returns the height of the land: hills, a level square in the middle
// of the village and a lake in the south-east.
func ground(x, y float64) float64 {
	hills := 25 + 3.2*math.Sin(x/33) + 2.6*math.Cos(y/29) + 1.4*math.Sin((x+y)/17)
	h := blend(hills, 24.5, bell(x-128, y-132, 26))
	return h - 12*bell(x-196, y-68, 30)
}

// bell is 1 at the middle and fades over some spread in metres.
func bell(dx, dy, spread float64) float64 {
	return math.Exp(-(dx*dx + dy*dy) / (2 * spread * spread))
}

func blend(a, b, share float64) float64 { return a + (b-a)*share }

// onGround returns a place so many metres above the land.
func onGround(x, y, above float64) world.Vec3 {
	return world.Vec3{X: x, Y: y, Z: millimetres(ground(x, y) + above)}
}

// millimetres rounds to what a grid's own numbers are good for.
func millimetres(m float64) float64 { return math.Round(m*1000) / 1000 }

// landUpdates brings the ground and the two parcels.
func landUpdates(s world.Stamp) []world.Update {
	heights := make([]float32, 0, size*size)
	for y := range size {
		for x := range size {
			heights = append(heights, float32(millimetres(ground(float64(x), float64(y)))))
		}
	}
	return []world.Update{
		world.TerrainUpdated{Stamp: s, Width: size, Height: size, Heights: heights},
		world.ParcelUpdated{
			Stamp: s, LocalID: 1, Current: true, Area: border * size, Bitmap: bitmap(0, border),
			Name:        "Heron Hollow Commons",
			Description: "The village green, the tea house and the woods. Visitors welcome! More at http://hollow.example/visit",
			AllowFly:    true, AllowScripts: true,
		},
		world.ParcelUpdated{
			Stamp: s, LocalID: 2, Area: (size - border) * size, Bitmap: bitmap(border, size),
			Name:        "Lakeside Sandbox",
			Description: "Build what you like. Things left here are cleared every Sunday.",
			AllowFly:    true, AllowBuild: true, AllowScripts: true,
		},
	}
}

// bitmap marks the cells of all columns between two lines.
func bitmap(fromX, toX int) []byte {
	const side = size / cell
	b := make([]byte, side*side/8)
	for y := range side {
		for x := fromX / cell; x < toX/cell; x++ {
			i := y*side + x
			b[i/8] |= 1 << (i % 8)
		}
	}
	return b
}
